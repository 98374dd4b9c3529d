"""Subjects, languages and ranks of an audit: what is filed where, and what an evaluator does not read."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from core.audit.plan import Plan
from core.audit.run import run_audit
from core.corpora.schema import Corpus
from core.errors import InvalidInput
from core.evaluators.pool import Pool
from core.probes.base import HUMAN, Axis, Edits, Expectation, Probe, Subject, Variant
from core.probes.registry import catalogue
from core.probes.scene import Scene
from core.probes.words.lexical_edits import EDITS
from core.store.run_files import Run
from core.store.store import Store
from tests.audit.squares import ENGLISH, HISTOGRAM, PAIRED
from tests.plans import make_plan

jumble = EDITS["jumble"]


def _jumbled(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
    return Variant("jumbled", caption=jumble(subject.caption, rng, language=subject.language))


JUMBLED = Probe(
    "jumbled",
    Axis.LEXICAL,
    "jumbled",
    Expectation.DIRECTIONAL,
    Edits.CAPTION,
    "The words change places.",
    _jumbled,
    subjects=(HUMAN,),
)
KEY = ["item", "probe", "subject", "language", "rank"]


@pytest.fixture
def spoken(squares: Corpus) -> Corpus:
    """Two English captions each, a German one for all but the last item, a French one for the first."""
    items = []
    for index, item in enumerate(squares.items):
        captions = {"en": (*item.captions["en"], f"Another square, number {index}, on noise.")}
        captions |= {"de": (f"Rauschen Nummer {index} hinter einem Quadrat.",)} if index < len(squares) - 1 else {}
        captions |= {"fr": ("Un carré devant du bruit.",)} if index == 0 else {}
        items.append(replace(item, captions=captions))
    return replace(squares, items=tuple(items))


def plan_of(corpus: Corpus, *more: Probe, **options: object) -> Plan:
    plan = make_plan(corpus, **{"evaluators": [HISTOGRAM], "probes": ["vflip"], "shard_items": 3, **options})  # type: ignore[arg-type]
    return replace(plan, probes=(*plan.probes, *more))


def audited(plan: Plan, folder: Path) -> tuple[Run, pd.DataFrame, pd.DataFrame]:
    run = run_audit(plan, folder, run_id="r", pool=Pool(100, "cpu"))
    with Store.open(run.path) as store:
        assert store.problems == ()
        return run, store.query("select * from scores"), store.query("select * from shifts")


def test_one_row_a_caption_of_every_language_each_beside_its_own_baseline(spoken: Corpus, tmp_path: Path) -> None:
    plan = plan_of(spoken, JUMBLED, subjects=("human",), languages=("en", "de"), captions_each=2)
    run, scores, shifts = audited(plan, tmp_path)
    assert not scores.duplicated(KEY).any()
    held = scores[scores.probe == "identity"].groupby(["language", "rank"]).size().to_dict()
    assert held == {("en", 0): 7, ("en", 1): 7, ("de", 0): 6}
    texts = {item.id: item.captions for item in spoken.items}
    for row in scores[scores.probe.isin(["identity", "vflip"])].itertuples():
        assert row.caption == texts[row.item][row.language][row.rank]
    for row in shifts.itertuples():
        assert row.baseline_caption == texts[row.item][row.language][row.rank]
        assert row.baseline == "identity"
    assert shifts.baseline_score.notna().all()
    assert len(shifts) == 2 * 20
    assert (shifts[shifts.probe == "jumbled"].caption != shifts[shifts.probe == "jumbled"].baseline_caption).all()
    assert set(scores.subject) == {"human"}
    assert (run.manifest["languages"], run.manifest["captions_each"]) == (["en", "de"], 2)
    assert run.manifest["counts"]["pairs"] == len(scores) == 3 * 20


def test_the_first_caption_alone_is_scored_unless_more_are_asked_for(spoken: Corpus, tmp_path: Path) -> None:
    _, scores, _ = audited(plan_of(spoken, subjects=("human",)), tmp_path)
    assert set(zip(scores.language, scores["rank"], strict=True)) == {("en", 0)}


def test_an_item_without_a_caption_in_a_language_is_left_out_for_it_with_the_reason(
    spoken: Corpus, tmp_path: Path
) -> None:
    run, scores, _ = audited(plan_of(spoken, subjects=("human",), languages=("en", "fr")), tmp_path)
    assert set(scores[scores.language == "fr"].item) == {"item-0"}
    with Store.open(run.path) as store:
        told = store.query("select item, probe, detail from rejections where code = 'no-human-caption'")
    assert set(told.item) == {f"item-{index}" for index in range(1, 7)}
    assert set(told.probe) == {"identity"}
    assert told.detail.str.contains("'fr'").all()


def test_more_subjects_change_no_row_of_the_first_english_caption(spoken: Corpus, tmp_path: Path) -> None:
    probes = ["vflip", "reposition-TL", "gender"]
    _, few, _ = audited(plan_of(spoken, JUMBLED, subjects=("human",), probes=probes), tmp_path / "few")
    options = {"subjects": ("template", "human"), "languages": ("de", "en"), "captions_each": 2, "probes": probes}
    _, many, _ = audited(plan_of(spoken, JUMBLED, **options), tmp_path / "many")
    columns = [*KEY, "caption", "baseline", "score", "bg_delta", "seam_energy"]
    few, many = (each[columns].set_index(KEY).sort_index() for each in (few, many))
    assert len(many) > 2 * len(few)
    pd.testing.assert_frame_equal(few, many.loc[few.index], rtol=0, atol=1e-6)


def test_a_probe_of_the_human_caption_brings_no_template_row(spoken: Corpus, tmp_path: Path) -> None:
    plan = plan_of(spoken, JUMBLED, subjects=("human",))
    assert plan.identity_subjects == ("human",)
    _, scores, _ = audited(plan, tmp_path)
    assert set(scores.subject) == {"human"}
    assert set(scores[scores.probe == "jumbled"].baseline) == {"identity"}


def test_a_template_that_a_probe_brings_leaves_the_human_subjects_image_edits_in_place(
    spoken: Corpus, tmp_path: Path
) -> None:
    _, scores, shifts = audited(plan_of(spoken, subjects=("human",), probes=["vflip", "gender"]), tmp_path)
    where = scores.groupby("probe").subject.agg(lambda each: sorted(set(each))).to_dict()
    assert where["vflip"] == ["human"]
    assert where["identity"] == ["human", "template"]
    assert where["gender:male"] == ["template"]
    assert len(scores[scores.probe == "vflip"]) == len(spoken)
    assert shifts.baseline_score.notna().all()


def test_a_probe_and_its_baseline_must_edit_the_same_subject(spoken: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    from core.probes import registry

    odd = replace(JUMBLED, name="odd", baseline="base")
    monkeypatch.setattr(registry, "select", lambda patterns: (odd,))
    with pytest.raises(InvalidInput, match="'odd' edits the subject 'human' and its baseline 'base' does not"):
        registry.with_baselines(registry.select(["odd"]))


def test_what_an_evaluator_does_not_read_is_left_out_with_a_reason_and_never_scored(
    spoken: Corpus, tmp_path: Path
) -> None:
    plan = plan_of(spoken, evaluators=[ENGLISH, PAIRED], subjects=("human",), languages=("en", "de"))
    assert (plan.cost().rows, plan.cost().pairs) == (2 * 7 + 2 * 13, 2 * 13)
    run, scores, _ = audited(plan, tmp_path)
    read = scores.groupby("evaluator").language.agg(lambda each: sorted(set(each))).to_dict()
    assert read == {"english-histogram": ["en"], "paired-histogram": ["de", "en"]}
    assert scores.score.notna().all()
    with Store.open(run.path) as store:
        told = store.query("select item, probe, detail from rejections where code = 'language-not-read'")
    assert len(told) == 6 * 2
    assert set(told.probe) == {"identity", "vflip"}
    assert told.detail.str.startswith("english-histogram reads en and not de").all()
    counts = run.manifest["counts"]
    assert counts["variants_rejected_by_code"]["language-not-read"] == 12
    assert (counts["rows"], counts["pairs"]) == (2 * 7 + 2 * 13, 2 * 13)


def test_an_evaluator_that_does_not_say_what_it_reads_is_scored_with_a_warning(spoken: Corpus, tmp_path: Path) -> None:
    plan = plan_of(spoken, evaluators=[ENGLISH, HISTOGRAM], subjects=("human",), languages=("en", "de"))
    run, _, _ = audited(plan, tmp_path)
    (warning,) = json.loads((run.path / "manifest.json").read_text(encoding="utf-8"))["warnings"]
    assert warning.startswith("histogram does not say which languages it reads")
    assert "captions in de" in warning
    assert plan_of(spoken, evaluators=[HISTOGRAM], subjects=("human",)).warnings == ()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"subjects": ("human",), "languages": ("xx",)}, "is in language 'xx'; it has de, en, fr"),
        ({"subjects": ("human",), "languages": ()}, "no language is chosen"),
        ({"languages": ("de",)}, "the template is English, got de; choose the subject human or both"),
        ({"subjects": ("human",), "captions_each": 0}, "captions_each must be at least 1, got 0"),
        (
            {"subjects": ("human",), "languages": ("de",), "evaluators": [ENGLISH]},
            "no chosen evaluator reads any of de: english-histogram reads en and not de",
        ),
    ],
)
def test_languages_that_cannot_be_scored_are_refused_before_the_run(
    spoken: Corpus, options: dict[str, object], words: str
) -> None:
    with pytest.raises(InvalidInput, match=words):
        plan_of(spoken, **options)


def test_facts_of_variants_stand_beside_the_scores(spoken: Corpus, tmp_path: Path) -> None:
    probes = ["reposition-TL", "cultural:African"]
    plan = plan_of(spoken, subjects=("template", "human"), probes=probes)
    run, scores, _ = audited(plan, tmp_path)
    with Store.open(run.path) as store:
        facts = store.query("select * from variants")
    held = scores[scores.probe.isin([*probes, *(each.name for each in catalogue() if each.family == "cultural")])]
    assert {tuple(row) for row in facts[KEY].to_numpy()} == {tuple(row) for row in held[KEY].to_numpy()}
    assert not facts.duplicated([*KEY, "key"]).any()
    said = facts[(facts.item == "item-0") & (facts.probe == "cultural:African")].set_index("key").value
    assert said.to_dict() == {"modifier": "African", "noun": "bed"}
    moved = facts[facts.probe == "reposition-TL"]
    assert set(moved.subject) == {"template", "human"}
    assert set(moved[moved.key == "anchor"].value) == {"TL"}
    assert moved[moved.key == "redrawn"].value.astype(int).between(0, 50).all()


def test_both_constructions_of_a_word_stand_in_one_run_each_with_its_own_baseline(
    squares: Corpus, tmp_path: Path
) -> None:
    told = ("A dog runs.", "The old dog runs.", "A dog house.")
    dogs = [replace(squares.items[1], id=f"dog-{n}", captions={"en": (text,)}) for n, text in enumerate(told)]
    names = ["cultural:African", "inserted-cultural:African"]
    plan = plan_of(replace(squares, items=tuple(dogs)), probes=names, subjects=["template", "human"])
    run, scores, shifts = audited(plan, tmp_path)
    assert "construction" in json.dumps(run.manifest["probes"])
    captions = scores.set_index(["item", "probe"])["caption"]
    assert captions["dog-0", "inserted-cultural:African"] == "An African dog runs."
    assert captions["dog-1", "inserted-cultural:African"] == "The old African dog runs."
    assert ("dog-2", "inserted-cultural:African") not in captions.index
    for item in ("dog-0", "dog-1", "dog-2"):
        assert captions[item, "cultural:African"] == "There is an African dog."
    assert set(scores[scores["family"] == "cultural"]["subject"]) == {"template"}
    inserted = scores[scores["family"] == "inserted-cultural"]
    assert set(inserted["subject"]) == {"human"}
    assert set(inserted[inserted["control"]]["baseline"]) == {"identity"}
    chosen = {"dog-0": "inserted-cultural:ordinary", "dog-1": "inserted-cultural:typical"}  # by one character, by none
    assert dict(inserted[~inserted["control"]].set_index("item")["baseline"]) == chosen
    shifted = shifts[shifts["probe"] == "inserted-cultural:African"].set_index("item")
    scored = scores.set_index(["item", "probe", "subject"])["score"]
    for item, baseline in chosen.items():
        before, after = (scored[item, name, "human"] for name in (baseline, "inserted-cultural:African"))
        assert shifted.loc[item, "delta"] == pytest.approx(after - before)
    left_out = pq.ParquetDataset(run.path / "rejections").read().to_pandas()
    left_out = left_out.dropna(subset=["probe"])
    assert set(left_out["item"]) == {"dog-2"}
    assert set(left_out["code"]) == {"compound"}
    assert len(left_out) == 4
