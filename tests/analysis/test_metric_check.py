"""The check of a metric: a good one passes, and every broken promise is told."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.analysis.flip_shifts import APART, SAME
from core.corpora.item_pictures import read_item
from core.corpora.registry import catalogue
from core.errors import InvalidInput
from core.evaluators.base import DualEncoder, Evaluator, Fingerprint, evaluator
from core.evaluators.cache import EmbeddingCache
from core.evaluators.pool import Pool
from core.evaluators.references import Referenced
from core.features.lab.lab import run_lab
from core.features.metric_check.metric_check import check_contract, check_metric, ignored
from core.probes.registry import select
from core.scoring.workbench import Workbench
from core.settings import assets_dir
from core.statistics.changes import WITHHELD

TEMPLATE = f"{assets_dir() / 'templates' / 'metric.py'}:MyMetric"
PLACES = re.compile(
    r"\b(left|right|top|bottom|above|below|upper|lower|middle|centre|center|corner|edge)\b", re.IGNORECASE
)
IMAGES = [np.random.default_rng(seed).integers(0, 256, (20 + seed, 30, 3), dtype=np.uint8) for seed in range(4)]
CAPTIONS = ["a cat", "a dog on a mat", "two red apples", "nothing"]


@evaluator(
    name="length",
    title="Length",
    summary="Words.",
    family="example",
    score_range=(0.0, None),
    memory_mb=1,
    offline=True,
    source="here",
    licence="none",
)
class Length(Evaluator):
    """Good: scores the number of words."""

    @classmethod
    def load(cls, *, device: str = "cpu") -> "Length":
        return cls()

    @property
    def fingerprint(self) -> Fingerprint:
        return Fingerprint(name="length", weights="none", preprocessing="none", precision="float64")

    def score(self, images: Any, captions: Any) -> Any:
        return np.array([float(len(caption.split())) or np.nan for caption in captions], dtype=np.float64)


def broken(method: Any, *, name: str = "score") -> Evaluator:
    kind = type("Broken", (Length,), {name: method})
    kind.spec = Length.spec
    return kind()


def findings(metric: Evaluator) -> dict[str, tuple[bool, str]]:
    return {each.check: (each.passed, each.detail) for each in check_contract(metric, IMAGES, CAPTIONS)}


def test_a_good_metric_keeps_every_promise() -> None:
    assert all(passed for passed, _ in findings(Length()).values())


def test_what_a_metric_does_not_look_at_is_named() -> None:
    def of(score: Any) -> tuple[str, ...]:
        return ignored(broken(score), IMAGES, CAPTIONS)

    def by_picture(self: object, images: Any, captions: Any) -> Any:
        return np.array([image.mean() for image in images])

    def by_both(self: object, images: Any, captions: Any) -> Any:
        return np.array([image.mean() + len(said) for image, said in zip(images, captions, strict=True)])

    def of_one_number(self: object, images: Any, captions: Any) -> Any:
        return np.array([np.nan] * (len(captions) - 1) + [1.0])

    assert of(by_picture) == ("caption",)
    assert ignored(Length(), IMAGES, CAPTIONS) == ("picture",)
    assert of(lambda self, images, captions: np.ones(len(captions))) == ("caption", "picture")
    assert of(by_both) == of(of_one_number) == ()
    assert of(lambda self, images, captions: 1 / 0) == (), "what it raises, the promises say"


def good(captions: Any) -> np.ndarray:
    return np.array([float(len(caption.split())) for caption in captions])


def counting(self: Any, images: Any, captions: Any) -> np.ndarray:
    self.calls = getattr(self, "calls", 0) + 1
    return good(captions) + self.calls


def writing(self: Any, images: Any, captions: Any) -> np.ndarray:
    for image in images:
        image[0, 0] = 0
    return good(captions)


def demanding(self: Any, images: Any, captions: Any) -> np.ndarray:
    assert all(captions), "empty caption"
    return good(captions)


@pytest.mark.parametrize(
    ("method", "check", "detail"),
    [
        (lambda self, images, captions: list(good(captions)), "shape", "gave list of shape None"),
        (lambda self, images, captions: good(captions)[:, None], "shape", r"shape \(4, 1\)"),
        (lambda self, images, captions: good(captions).astype(int), "shape", "type int64"),
        (lambda self, images, captions: good(captions) * np.nan, "shape", "every score is NaN"),
        (lambda self, images, captions: good(captions) * np.nan, "range", "no pair of the test scores a number"),
        (lambda self, images, captions: good(captions) + np.arange(len(captions)), "order", "differ by up to"),
        (lambda self, images, captions: good(captions) / max(len(captions), 1), "batches", "each pair alone: .*differ"),
        (lambda self, images, captions: -good(captions), "range", "lies outside the range 0 to infinity"),
        (counting, "determinism", "other scores the second time"),
        (writing, "inputs", "ValueError"),
        (demanding, "nan", "AssertionError: empty caption"),
        (lambda self, images, captions: 1 / np.maximum(good(captions), 0.0), "nan", "infinity|RuntimeWarning"),
        (lambda self, images, captions: 1 / 0, "shape", "raised ZeroDivisionError"),
    ],
)
def test_a_broken_promise_is_told(method: Any, check: str, detail: str) -> None:
    passed, told = findings(broken(method))[check]
    assert not passed
    assert re.search(detail, told), told


def test_a_fingerprint_that_changes_is_told() -> None:
    names = iter("abcdefghijklmnop")
    changing = property(lambda self: Fingerprint(next(names), "none", "none", "float64"))
    assert findings(broken(changing, name="fingerprint"))["fingerprint"][0] is False


def test_embeddings_that_are_not_normalised_are_told() -> None:
    import torch

    class Long(DualEncoder, Length):
        spec = Length.spec

        def encode_images(self, images: Any) -> Any:
            return torch.ones(len(images), 4)

        encode_captions = encode_images

        def combine(self, image_embeddings: Any, caption_embeddings: Any) -> Any:
            return (image_embeddings * caption_embeddings).sum(dim=1).double().numpy()

    passed, told = findings(Long())["embeddings"]
    assert not passed
    assert "length 2 to 2; normalise" in told


def test_a_metric_with_references_gets_some() -> None:
    class Closest(Referenced, Length):
        spec = Length.spec

        def score(self, images: Any, captions: Any, references: Any = None) -> Any:
            assert references is not None
            assert len(references) == len(captions)
            return good(captions)

    assert findings(Closest())["order"][0]


def test_the_template_passes_its_own_check() -> None:
    items = catalogue().get("demo").load().items
    report = check_metric(TEMPLATE, items, select(["null", "horizontal-flip"]), count=4)
    assert all(each.passed for each in report.contract), report.contract
    by_family = {each.family: each for each in report.families}
    assert by_family["horizontal-flip"].size.estimate == 0.0
    assert by_family["horizontal-flip"].size.n == 4
    assert by_family["null"].size.n == 4


@pytest.fixture
def top_row(tmp_path: Path) -> str:
    """A metric that reads the first row of the picture: a vertical flip moves it, a horizontal one does not."""
    code = Path(TEMPLATE.split(":")[0]).read_text(encoding="utf-8")
    scored = code.replace(
        "        words = caption", "        return 0.2 + image[0].mean() / 400\n        words = caption"
    )
    (tmp_path / "top_row.py").write_text(scored, encoding="utf-8")
    return f"{tmp_path / 'top_row.py'}:MyMetric"


def test_a_family_above_the_threshold_fails(top_row: str) -> None:
    items = catalogue().get("demo").load().items
    report = check_metric(top_row, items, select(["vertical-flip", "horizontal-flip"]), count=12, threshold=1.0)
    verdicts = {each.family: each.verdict for each in report.families}
    assert verdicts["vertical-flip"] == "beyond"
    assert verdicts["horizontal-flip"] == "within"
    assert not report.passed
    said = {each.family: each.direction for each in report.families}
    assert said["horizontal-flip"] == ""
    assert said["vertical-flip"] == "" or any(way in said["vertical-flip"] for way in ("fall", "rise"))


def test_a_family_is_judged_by_its_interval_and_undecided_where_that_lies_astride(top_row: str) -> None:
    items, probes = catalogue().get("demo").load().items, select(["vertical-flip"])
    (flip,) = [each for each in check_metric(top_row, items, probes, count=12).families if each.axis != "null"]
    assert flip.size.low < flip.size.estimate < flip.size.high
    for threshold, verdict in (
        (flip.size.high * 1.01, "within"),
        (flip.size.low * 0.99, "beyond"),
        ((flip.size.low + flip.size.estimate) / 2, "undecided"),
        ((flip.size.high + flip.size.estimate) / 2, "undecided"),
    ):
        again = check_metric(top_row, items, probes, count=12, threshold=threshold)
        (found,) = [each for each in again.families if each.axis != "null"]
        assert found.verdict == verdict
        assert again.passed == (verdict != "beyond")
        assert ("vertical-flip" in again.undecided) == (verdict == "undecided")


def test_items_of_one_source_are_one_unit_of_the_check(top_row: str) -> None:
    items, probes = catalogue().get("demo").load().items, select(["vertical-flip"])
    twins = [replace(item, id=f"{item.id}-{copy}", group=item.id) for item in items[::12] for copy in range(2)]
    found = []
    for chosen in (twins, [replace(item, group=None) for item in twins], twins[:18]):
        report = check_metric(top_row, chosen, probes, count=len(chosen))
        found += [each.size for each in report.families if each.axis != "null"]
    together, apart, few = found
    assert together.n == apart.n == len(twins) >= 20
    assert together.estimate == apart.estimate
    assert (together.low, together.high) == (apart.low, apart.high)  # equal pixels are one source, named or not
    assert few.note == "no interval (18 items of 9 sources, below 10)"


def test_a_metric_of_both_signs_has_no_percent_and_passes_for_nothing(tmp_path: Path) -> None:
    """By the pixels of the first row less their middle, so that flips move it and some baselines are negative."""
    code = Path(TEMPLATE.split(":")[0]).read_text(encoding="utf-8")
    (tmp_path / "signed.py").write_text(
        code.replace("        words = caption", "        return image[0].mean() / 400 - 0.3\n        words = caption"),
        encoding="utf-8",
    )
    items = catalogue().get("demo").load().items
    report = check_metric(f"{tmp_path / 'signed.py'}:MyMetric", items, select(["vertical-flip"]), count=12)
    assert {each.verdict for each in report.families} == {WITHHELD}
    assert all(each.size.n == 0 for each in report.families)
    assert set(report.undecided) == {"null", "vertical-flip"}


def test_few_items_decide_nothing() -> None:
    report = check_metric(TEMPLATE, catalogue().get("demo").load().items, select(["horizontal-flip"]), count=4)
    assert report.ignores == (), "the template looks for the colour of the picture in the caption"
    assert {each.verdict for each in report.families} == {"undecided"}
    assert report.passed


def test_an_item_counts_once_in_a_family_by_the_median_over_its_probes() -> None:
    items, probes = catalogue().get("demo").load().items, select(["rotation"])
    (rotation,) = [each for each in check_metric("conse-lite0", items, probes, count=3).families if each.axis != "null"]
    pool, sizes, shifts = Pool(device="cpu"), [], []
    places = np.linspace(0, len(items) - 1, 3).round().astype(int)
    for item in (items[place] for place in places):
        bench = Workbench(item, read_item(item).pixels)
        caption = next((text for text in item.captions["en"] if not PLACES.search(text)), item.captions["en"][0])
        rows = run_lab(bench, caption, probes, ["conse-lite0"], pool=pool, cache=EmbeddingCache()).rows
        percent = [row.percent for row in rows if row.family == "rotation"]
        assert len(percent) == 4
        sizes.append(np.median(np.abs(percent)))
        shifts.append(np.median(percent))
    assert (rotation.size.n, rotation.missing) == (3, 0)
    assert rotation.size.estimate == pytest.approx(np.median(sizes))
    assert rotation.shift.estimate == pytest.approx(np.median(shifts))


@pytest.mark.parametrize(
    ("options", "match"), [({"threshold": 0.0}, "threshold must be positive"), ({"count": 2}, "count at least 3")]
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], match: str) -> None:
    with pytest.raises(InvalidInput, match=match):
        check_metric(TEMPLATE, catalogue().get("demo").load().items, select(["null"]), **options)


def test_what_is_no_evidence_is_of_two_captions_of_a_picture_where_the_image_is_edited() -> None:
    report = check_metric(TEMPLATE, catalogue().get("demo").load().items, select(("null", "vertical-flip", "gender")))
    found = {each.family: each for each in report.evidence}
    flip, gender = found["vertical-flip"], found["gender"]
    assert (flip.pairs, flip.gap.n, flip.apart.n) == (SAME, 24, 24)
    assert flip.gap.note == "no interval (n = 24, below 40)"
    assert flip.gap.estimate == 0  # it never looks at the picture
    assert gender.pairs == APART
    assert gender.gap == gender.apart
    assert report.as_dict()["evidence"][0]["family"] == "null"


def test_pairs_that_the_metric_raises_at_are_counted_with_the_line(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("def score(image, caption):\n    return 1 / (len(caption.split()) % 2)\n")
    items = catalogue().get("demo").load().items
    report = check_metric(f"{path}:score", items, select(["vflip", "cultural"]), count=6)
    told = report.unscored
    assert 0 < told.count < told.pairs
    assert "score raised ZeroDivisionError: " in told.why
    assert "(line 2: return 1 / (len(caption" in told.why
    whole = check_metric(TEMPLATE, items, select(["vflip"]), count=3)
    assert (whole.unscored.count, whole.unscored.pairs, whole.unscored.why) == (0, 12, "")
    assert whole.source["reference"].endswith("metric.py:MyMetric")
    assert check_metric("blind-length", items, select(["vflip"]), count=3).source == {}
