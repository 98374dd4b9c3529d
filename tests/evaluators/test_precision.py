"""Another precision is another evaluator: its own name and fingerprint, scores near those of the publisher's."""

from pathlib import Path

import numpy as np
import pytest

from core.audit.run import run_audit
from core.errors import InvalidInput, UnknownName
from core.evaluators.base import DualEncoder
from core.evaluators.pool import Pool
from core.evaluators.registry import find
from core.evaluators.weights.fetched import Published
from core.store.store import Store
from tests.audit.squares import build_corpus
from tests.plans import make_plan
from tests.tiny.vlm import write_llava

CAPTIONS = ["A dog.", "a cat on a mat", "Nothing to see here at all, says the sign behind the window."]


@pytest.fixture(scope="module")
def images() -> list[np.ndarray]:
    rng = np.random.default_rng(3)
    return [rng.integers(0, 256, (40, 60, 3), dtype=np.uint8) for _ in CAPTIONS]


def scores(reference: str, images: list[np.ndarray]) -> np.ndarray:
    found = find(reference).load()
    assert isinstance(found, DualEncoder)
    return found.score(images, CAPTIONS)


@pytest.mark.parametrize("name", ["clipscore", "pac-s"])
def test_half_precision_scores_otherwise_by_little_and_single_precision_alike(
    name: str, weights: Path, images: list[np.ndarray]
) -> None:
    published = scores(f"{name}@{weights}", images)
    np.testing.assert_array_equal(scores(f"{name}:fp32@{weights}", images), published)
    half = scores(f"{name}:bf16@{weights}", images)
    assert 0 < np.abs(half - published).max() < 0.05
    assert half.dtype == np.float64


@pytest.mark.parametrize(("low", "precision"), [("bf16", "bfloat16"), ("fp32", "float32"), ("fp16", "float16")])
def test_its_name_and_fingerprint_are_its_own(low: str, precision: str, weights: Path) -> None:
    kind, usual = find(f"clipscore:{low}@{weights}"), find(f"clipscore@{weights}")
    assert kind.spec.name == f"clipscore:{low}@openai"
    assert kind.spec.title == f"{find('clipscore').spec.title}, {low}, openai"
    loaded, published = kind.load(), usual.load()
    assert loaded.fingerprint.precision == precision
    assert loaded.fingerprint.key != published.fingerprint.key
    assert (loaded.fingerprint.weights, loaded.full_batch) == (published.fingerprint.weights, published.full_batch)
    bytes_each = {"bf16": 2, "fp16": 2, "fp32": 4}[low]
    assert kind.needs_mb("cpu") == pytest.approx(usual.needs_mb("cpu") * bytes_each / 4)
    assert find(f"clipscore:{low}@{weights}") is kind


def test_a_model_that_writes_runs_in_another_precision_too(tmp_path: Path) -> None:
    write_llava(tmp_path / "llava")
    loaded = find(f"fleur:bf16@{tmp_path / 'llava'}").load()
    assert isinstance(loaded, Published)
    assert loaded.fingerprint.precision == "bfloat16"


@pytest.mark.parametrize("name", ["conse-lite0", "pickscore", "mcs", "umic"])
def test_what_has_one_precision_says_so(name: str) -> None:
    with pytest.raises(InvalidInput, match=f"evaluator '{name}' has one precision; leave the :bf16 out"):
        find(f"{name}:bf16")


def test_families_take_a_precision_and_what_is_none_is_refused() -> None:
    kind = find("open_clip:ViT-B-32/openai:bf16")
    assert issubclass(kind, Published)
    assert kind.spec.name == "open_clip:ViT-B-32/openai:bf16"
    assert (kind.entry.precision.cpu, kind.entry.precision.gpu) == ("bfloat16", "bfloat16")
    for reference in ("clipscore:int8", "no-such:bf16"):
        with pytest.raises((InvalidInput, UnknownName)):
            find(reference)


def test_both_precisions_stand_side_by_side_in_one_run(tmp_path: Path, weights: Path) -> None:
    names = [f"clipscore@{weights}", f"clipscore:bf16@{weights}"]
    plan = make_plan(build_corpus(tmp_path / "in", 4), evaluators=names, probes=["vflip"])
    run = run_audit(plan, tmp_path / "runs", run_id="r", pool=Pool(2000, "cpu"))
    told = {each["name"]: each["fingerprint"]["precision"] for each in run.manifest["evaluators"]}
    assert told == {"clipscore@openai": "float32", "clipscore:bf16@openai": "bfloat16"}
    with Store.open(run.path) as store:
        rows = store.query("select evaluator, count(score) n from scores group by 1 order by 1")
    assert rows.values.tolist() == [["clipscore:bf16@openai", rows.n[0]], ["clipscore@openai", rows.n[0]]]
