"""A plan counts its work before it is done and holds every probe that others are compared with."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from core.audit.fingerprints import corpus_fingerprint, told_path
from core.audit.record import first_manifest
from core.corpora.schema import Box, Corpus, Rival
from core.errors import InvalidInput, UnknownName
from core.probes.registry import catalogue, select, with_baselines
from core.probes.tables import words_fingerprint
from core.settings import ROOT
from tests.audit.squares import HISTOGRAM, PAIRED
from tests.plans import make_plan


def test_a_modifier_brings_its_controls_and_the_bare_caption(squares: Corpus) -> None:
    plan = make_plan(squares, evaluators=[HISTOGRAM], probes=["cultural:African"])
    names = {probe.name for probe in plan.probes}
    controls = {probe.name for probe in catalogue() if probe.family == "cultural" and probe.control}
    assert controls
    assert names == {"cultural:African", "base", *controls}
    assert plan.identity_subjects == ("template",)


def test_adding_baselines_changes_nothing_that_is_complete() -> None:
    probes = with_baselines(select(["default"]))
    assert with_baselines(probes) == probes
    assert len({probe.name for probe in probes}) == len(probes)


def test_the_cost_is_an_upper_bound_counted_before_any_image_is_read(squares: Corpus) -> None:
    plan = make_plan(squares, evaluators=[HISTOGRAM, PAIRED], subjects=("human", "template"), limit=5)
    cost = plan.cost()
    images, captions = len(plan.image_probes), len(plan.caption_probes)
    assert cost.items == 5
    assert cost.images == 5 * (1 + images)
    assert cost.pairs == 5 * (2 + 2 * images + captions)
    assert cost.rows == 2 * cost.pairs
    assert cost.captions == 5 + 4 * (captions + 1)


def test_shards_hold_every_item_once_and_in_order(make_squares: Callable[[int], Corpus]) -> None:
    corpus = make_squares(7)
    plan = make_plan(corpus, evaluators=[HISTOGRAM], shard_items=3)
    assert [len(shard) for shard in plan.shards] == [3, 3, 1]
    assert tuple(item for shard in plan.shards for item in shard) == corpus.items


def test_the_fingerprint_follows_what_decides_the_scores_and_not_where_the_images_lie(squares: Corpus) -> None:
    item = squares.items[0]
    moved = replace(squares, items=(replace(item, image_path=Path("elsewhere.png")), *squares.items[1:]))
    assert corpus_fingerprint(moved) == corpus_fingerprint(squares)
    for change in ({"label": "cat"}, {"box": Box(1, 2, 3, 4)}, {"mask": None}, {"captions": {"en": ("Other.",)}}):
        changed = replace(squares, items=(replace(item, **change), *squares.items[1:]))
        assert corpus_fingerprint(changed) != corpus_fingerprint(squares)
    plan = make_plan(squares, evaluators=[HISTOGRAM])
    assert make_plan(squares, evaluators=[HISTOGRAM]).fingerprint() == plan.fingerprint()
    for other in ({"seed": 1}, {"probes": ["base"]}, {"subjects": ("human",)}, {"batch_size": 5}):
        assert make_plan(squares, evaluators=[HISTOGRAM], **other).fingerprint() != plan.fingerprint()


def test_tables_of_words_count_where_a_probe_reads_them(squares: Corpus) -> None:
    assert make_plan(squares, evaluators=[HISTOGRAM], probes=["default"]).words == {}
    assert make_plan(squares, evaluators=[HISTOGRAM], probes=["gender"]).words == {}
    along = make_plan(squares, evaluators=[HISTOGRAM], probes=["reposition-ground"]).words
    assert along == {"words": words_fingerprint(["backdrops"])}
    held = make_plan(squares, evaluators=[HISTOGRAM], probes=["order"], subjects=("human",)).words
    assert held == {"words": words_fingerprint()}


def test_a_path_inside_the_checkout_is_told_relative_to_it() -> None:
    assert told_path(ROOT / "data" / "demo") == "data/demo"
    assert told_path(Path("/somewhere/else")) == "/somewhere/else"


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"evaluators": []}, InvalidInput, "no evaluator is chosen"),
        ({"evaluators": ["nothing-like-it"]}, UnknownName, "nothing-like-it"),
        ({"evaluators": [HISTOGRAM, HISTOGRAM]}, InvalidInput, "chosen once, got histogram, histogram"),
        ({"probes": ["sideways"]}, UnknownName, "sideways"),
        ({"subjects": ["poem"]}, InvalidInput, "template, human, got poem"),
        ({"subjects": []}, InvalidInput, "got none"),
        ({"limit": 0}, InvalidInput, "limit must be at least 1, got 0"),
        ({"sample": 0}, InvalidInput, "sample must be at least 1, got 0"),
        ({"sample": 2, "limit": 2}, InvalidInput, "limit and sample exclude each other"),
        ({"shard_items": -1}, InvalidInput, "shard_items must be at least 1, got -1"),
    ],
)
def test_a_plan_that_cannot_work_is_refused(
    squares: Corpus, options: dict[str, object], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        make_plan(squares, **{"evaluators": [HISTOGRAM], **options})  # type: ignore[arg-type]


def test_a_sample_is_drawn_by_the_seed_of_the_run(squares: Corpus) -> None:
    drawn = [make_plan(squares, evaluators=[HISTOGRAM], sample=2, seed=seed) for seed in range(20)]
    assert {len(plan.corpus) for plan in drawn} == {2}
    assert len({tuple(item.id for item in plan.corpus.items) for plan in drawn}) > 1
    again = make_plan(squares, evaluators=[HISTOGRAM], sample=2, seed=3)
    assert again.fingerprint() == drawn[3].fingerprint()
    told = first_manifest(again, run_id="r", key="k", evaluators=[], device="cpu", command=None)
    assert (told["corpus"]["sample"], told["corpus"]["limit"]) == (2, None)


def test_an_empty_corpus_and_a_repeated_id_are_refused(squares: Corpus) -> None:
    with pytest.raises(InvalidInput, match=r"no items to audit; 1 were left out \(1 [a-z-]+\), e\.g\. .+: ."):
        make_plan(replace(squares, items=()), evaluators=[HISTOGRAM])
    with pytest.raises(InvalidInput, match="names item 'item-0' twice"):
        make_plan(replace(squares, items=(*squares.items, squares.items[0])), evaluators=[HISTOGRAM])


def test_the_fingerprint_follows_the_rivals_and_an_item_without_keeps_the_one_it_had(squares: Corpus) -> None:
    first, *rest = squares.items
    rival = Rival("proto-wrong", Path("a.jpg"), {"value": "2"}, "1" * 64, "2" * 64)

    def with_rival(changed: Rival) -> str:
        return corpus_fingerprint(replace(squares, items=(replace(first, rivals=(changed,)), *rest)))

    assert with_rival(rival) != corpus_fingerprint(squares)
    assert with_rival(replace(rival, path=Path("elsewhere/a.jpg"))) == with_rival(rival)
    for other in ({"role": "proto-right"}, {"facts": {"value": "3"}}, {"bytes_sha256": "3" * 64}):
        assert with_rival(replace(rival, **other)) != with_rival(rival)


def test_a_probe_that_needs_a_field_of_its_own_stays_where_an_item_has_it(squares: Corpus) -> None:
    drawn = replace(squares, items=(replace(squares.items[0], backdrop="meadow"), *squares.items[1:]))
    names = {probe.name for probe in make_plan(drawn, evaluators=[HISTOGRAM], probes=["reposition-true"]).probes}
    assert names == {probe.name for probe in catalogue() if probe.family == "reposition-true"}
    with pytest.raises(InvalidInput, match="no item of corpus 'squares' has backdrop, which reposition-true need"):
        make_plan(squares, evaluators=[HISTOGRAM], probes=["reposition-true"])


def test_a_corpus_without_labels_is_asked_no_template(squares: Corpus) -> None:
    bare = replace(squares, items=tuple(replace(item, label=None) for item in squares.items))
    plan = make_plan(bare, evaluators=[HISTOGRAM], subjects=("human",))
    assert not plan.caption_probes
    assert plan.identity_subjects == ("human",)
    with pytest.raises(InvalidInput, match="has a label to make the template of; choose the subject human"):
        make_plan(bare, evaluators=[HISTOGRAM], probes=["vflip"])
    with pytest.raises(InvalidInput, match="has label, which cultural need"):
        make_plan(bare, evaluators=[HISTOGRAM], subjects=("human",), probes=["cultural"])
