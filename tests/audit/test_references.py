"""Evaluators that compare with reference captions: the corpus gives them, and without any there is no score."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from core.audit.run import run_audit
from core.corpora.item_pictures import read_item
from core.corpora.schema import Corpus, Item
from core.evaluators.cache import EmbeddingCache
from core.evaluators.pool import Pool
from core.evaluators.references import ReferencedDualEncoder, references_of
from core.evaluators.registry import find
from core.evaluators.scoring import score_pairs_with_errors
from core.features.lab.lab import run_lab
from core.probes.registry import select
from core.probes.words.templates import base_caption
from core.scoring.caption_scores import CaptionedImage, score_captions
from core.scoring.workbench import Workbench
from tests.plans import make_plan
from tests.tiny import clip

OTHERS = ("A shape of one colour.", "Something on a plain ground.")


@pytest.fixture(scope="module")
def metric(tmp_path_factory: pytest.TempPathFactory) -> str:
    return f"refclipscore@{clip.write_openai(tmp_path_factory.mktemp('clip') / 'tiny.pt')}"


@pytest.fixture
def pool() -> Pool:
    return Pool(2000, "cpu")


@pytest.fixture
def corpus(squares: Corpus) -> Corpus:
    """Every item but the first has two captions beside its first one."""
    first, *rest = squares.items[:4]
    more = [replace(item, captions={"en": (item.captions["en"][0], *OTHERS)}) for item in rest]
    return replace(squares, items=(replace(first, captions={"en": first.captions["en"][:1]}), *more))


def by_hand(metric: str, item: Item, caption: str, references: tuple[str, ...], pixels: np.ndarray) -> float:
    loaded = find(metric).load()
    assert isinstance(loaded, ReferencedDualEncoder)
    return float(loaded.score([pixels], [caption], [references])[0])


def test_references_are_the_other_captions_in_the_same_language() -> None:
    captions = {"en": ("A cat.", "A pet.", "A pet."), "de": ("Eine Katze.", "Ein Tier.")}
    assert references_of(captions, "A cat.") == ("A pet.",)
    assert references_of(captions, "Ein Tier.") == ("Eine Katze.",)
    assert references_of(captions, "There is a cat.") == ("A cat.", "A pet.")
    assert references_of({}, "A cat.") == ()


def test_an_audit_scores_against_the_items_other_captions(
    corpus: Corpus, metric: str, pool: Pool, tmp_path: Path
) -> None:
    plan = make_plan(corpus, evaluators=[metric], probes=["hflip"], subjects=("template", "human"))
    run = run_audit(plan, tmp_path / "runs", run_id="r", pool=pool)
    table = pq.read_table(run.path / "scores").to_pandas()
    second = corpus.items[1]
    own = table[(table["item"] == second.id) & (table["probe"] == "identity")].set_index("subject")["score"]
    pixels = read_item(second).pixels
    human, template = second.captions["en"][0], base_caption(str(second.label))
    assert own["human"] == pytest.approx(by_hand(metric, second, human, OTHERS, pixels), abs=1e-6)
    assert own["template"] == pytest.approx(by_hand(metric, second, template, (human, *OTHERS), pixels), abs=1e-6)


def test_an_item_without_another_caption_has_no_score_and_says_why(
    corpus: Corpus, metric: str, pool: Pool, tmp_path: Path
) -> None:
    plan = make_plan(corpus, evaluators=[metric], probes=["hflip"], subjects=("human",))
    run = run_audit(plan, tmp_path / "runs", run_id="r", pool=pool)
    table = pq.read_table(run.path / "scores").to_pandas()
    alone = table[table["item"] == corpus.items[0].id]
    assert alone["score"].isna().all()
    assert alone["error"].str.contains("compares with reference captions and this item has no other").all()
    assert table[table["item"] != corpus.items[0].id]["score"].notna().all()


def test_the_lab_says_that_references_are_missing(corpus: Corpus, metric: str, pool: Pool) -> None:
    for item, scored in ((corpus.items[0], False), (corpus.items[1], True)):
        bench = Workbench(item, read_item(item).pixels)
        result = run_lab(bench, item.captions["en"][0], select(["hflip"]), [metric], pool=pool)
        assert all((row.score is not None) is scored for row in result.rows)
        if not scored:
            assert all("compares with reference captions" in row.reason for row in result.rows)


def test_the_same_pair_with_other_references_has_another_score(metric: str) -> None:
    loaded = find(metric).load()
    draws = [np.random.default_rng(seed).integers(0, 40 + seed * 10, (60, 60, 3), dtype=np.uint8) for seed in range(20)]
    tried = [(image, text) for image in draws for text in ("cat", "a dog", "sun and sea", "12 boats")]
    image, caption = max(tried, key=lambda pair: _own(metric, *pair))
    assert _own(metric, image, caption) > 0.05
    cache = EmbeddingCache()
    lists = [("a red boat",), (caption,), ("",), ()]
    found = [
        score_pairs_with_errors(loaded, {"i": image}, [("i", caption)], references=[each], cache=cache)
        for each in lists
    ]
    assert found[0].scores[0] < found[1].scores[0]
    assert all(np.isnan(each.scores[0]) for each in found[2:])
    assert "no other caption" in str(found[3].errors[0])


def _own(metric: str, image: np.ndarray, caption: str) -> float:
    return float(find(metric.removeprefix("ref")).load().score([image], [caption])[0])


def test_a_captioners_lines_bring_their_own_references(corpus: Corpus, metric: str) -> None:
    loaded = find(metric).load()
    item = corpus.items[1]
    assert item.image_path is not None
    lines = [CaptionedImage("a", "a square", item.image_path, OTHERS), CaptionedImage("b", "a square", item.image_path)]
    with_some, without = score_captions(loaded, lines)
    expected = by_hand(metric, item, "a square", OTHERS, read_item(item).pixels)
    assert with_some.score == pytest.approx(expected, abs=1e-6)
    assert with_some.with_references is None
    assert without.score is None
    assert "reference captions" in without.error
