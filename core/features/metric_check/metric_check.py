"""A metric's report: what it promises, how far edits that change no meaning move it, and what it fails to see."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from core.audit.record import describe_evaluator
from core.corpora.item_pictures import read_item
from core.corpora.schema import Item
from core.errors import InvalidInput, InvariscopeError
from core.evaluators.base import DualEncoder, Evaluator, PartlyScored
from core.evaluators.cache import EmbeddingCache
from core.evaluators.pool import Pool
from core.evaluators.references import Referenced
from core.features.lab.lab import LabRow, run_lab
from core.features.metric_check.judged_families import (
    BEYOND,
    MOST_FAILURES,
    NOTHING,
    UNDECIDED,
    Broken,
    FamilyEvidence,
    FamilyShift,
    broken,
    evidence_of,
    shifts_of,
)
from core.features.metric_check.regression_gate import MetricBaseline, baseline_of
from core.probes.base import ENGLISH, IDENTITY, Axis, Edits, Expectation, Probe
from core.probes.registry import catalogue
from core.probes.words.mentions import PLACES, place_named
from core.probes.words.templates import base_caption
from core.registry import STRANGERS, line_of
from core.scoring.workbench import Workbench
from core.statistics.changes import WITHHELD
from core.statistics.crossed_sources import numbered
from core.statistics.selectivity import check_distance
from core.statistics.wording import counted

# What every evaluator promises, tried on one of them: a unit test for a metric.
TOLERANCE = 1e-5  # largest difference, relative to the larger of 1 and the score, that batching or order may make
REFERENCES = ("A picture of something.", "Something that a person saw.")
_ALONE = "score each pair by itself, whatever stands beside it"
_ODD = ((1, 1), (1, 60), (60, 1), (37, 200))


@dataclass(frozen=True, slots=True)
class Finding:
    """One promise and whether it was kept."""

    check: str  # short stable name, e.g. ``order``.
    passed: bool
    detail: str  # one sentence; for a broken promise what came, with numbers


def check_contract(evaluator: Evaluator, images: Sequence[np.ndarray], captions: Sequence[str]) -> list[Finding]:
    """Try every promise of an evaluator on at least 3 different pictures, uint8 RGB [H, W, 3], and a caption of each.
    Returns shape, order, determinism, batches, range, nan, inputs, odd-images, fingerprint; for a dual encoder also
    embeddings. A check that an exception stops is broken, and its detail names the exception."""
    checks = [_shape, _order, _determinism, _batches, _range, _nan, _inputs, _odd_images, _fingerprint]
    if isinstance(evaluator, DualEncoder):
        checks.append(_embeddings)
    bench = _Bench(evaluator, tuple(images), tuple(captions))
    return [_try(check.__name__[1:].replace("_", "-"), check, bench) for check in checks]


IGNORES = {
    "caption": "gave all captions tried with a picture the same score: it seems not to read the caption",
    "picture": "gave all pictures tried with a caption the same score: it seems not to see the picture",
}
"""What an evaluator may not look at -> what is said of it."""
_OTHERS = ("Nothing.", "Two red apples lie on the snow beside a sleeping dog and an open umbrella")
"""Captions that no picture of a check has: a short one and a long one."""


def ignored(evaluator: Evaluator, images: Sequence[np.ndarray], captions: Sequence[str]) -> tuple[str, ...]:
    """What a score does not depend on, of :data:`IGNORES`: every picture is scored with every caption, two of each or
    more. Returns ``caption`` where no picture's scores differ between captions by more than TOLERANCE, ``picture``
    likewise; none where fewer than two pairs in a row have a number, or where the evaluator raises."""
    bench = _Bench(evaluator, tuple(images), tuple(captions))
    pairs = [(image, caption) for image in images for caption in captions]
    try:
        found = bench.score(*map(list, zip(*pairs, strict=True)))
    except (InvariscopeError, _Broken, *STRANGERS):  # the promises say what it raises
        return ()
    scores = found.reshape(len(images), len(captions))
    return tuple(name for name, rows in (("caption", scores), ("picture", scores.T)) if _all_alike(rows))


def _all_alike(rows: np.ndarray) -> bool:
    """Whether no row holds two numbers that differ, and some row holds two."""
    known = [row[np.isfinite(row)] for row in rows]
    several = [row for row in known if len(row) > 1]
    return bool(several) and all(np.ptp(row) <= TOLERANCE * max(1.0, float(np.abs(row).max())) for row in several)


class _Broken(Exception):
    """A promise that was not kept; its text says what came."""


@dataclass(frozen=True, slots=True)
class _Bench:
    evaluator: Evaluator
    images: tuple[np.ndarray, ...]
    captions: tuple[str, ...]

    def score(self, images: Sequence[np.ndarray], captions: Sequence[str]) -> np.ndarray:
        try:
            if isinstance(self.evaluator, Referenced):
                found = self.evaluator.score(images, captions, [REFERENCES] * len(captions))
            else:
                found = self.evaluator.score(images, captions)
        except PartlyScored as partly:
            found = partly.scores
        if not isinstance(found, np.ndarray) or found.shape != (len(captions),) or found.dtype.kind != "f":
            shape = getattr(found, "shape", None)
            raise _Broken(
                f"score gave {type(found).__name__} of shape {shape} and type {getattr(found, 'dtype', None)} for "
                f"{len(captions)} pairs; return a float64 array of shape ({len(captions)},)"
            )
        return found


def _try(name: str, check: "Callable[[_Bench], str]", bench: _Bench) -> Finding:
    try:
        return Finding(name, True, check(bench))
    except (_Broken, InvariscopeError) as broken:
        return Finding(name, False, str(broken))
    except STRANGERS as error:  # a stranger's metric may raise anything
        text = " ".join(str(error).split())[:200]
        code = getattr(type(bench.evaluator).score, "__code__", None)
        where = "" if code is None else line_of(error, code.co_filename)
        return Finding(name, False, f"raised {type(error).__name__}: {text}{where}")


def _shape(bench: _Bench) -> str:
    scores = bench.score(bench.images, bench.captions)
    empty = bench.score([], [])
    if np.isnan(scores).all():
        raise _Broken("every score is NaN; an ordinary photograph with a plain caption must have one")
    return f"{len(scores)} pairs give {scores.dtype} [{len(scores)}], no pairs give [{len(empty)}]"


def _order(bench: _Bench) -> str:
    forwards = bench.score(bench.images, bench.captions)
    backwards = bench.score(bench.images[::-1], bench.captions[::-1])[::-1]
    return _same(forwards, backwards, "the pairs in reverse order")


def _determinism(bench: _Bench) -> str:
    first, second = (bench.score(bench.images, bench.captions) for _ in range(2))
    if first.tobytes() != second.tobytes():
        apart = float(np.nanmax(np.abs(first - second)))
        raise _Broken(f"the same call gave other scores the second time, up to {apart:.3g} apart; fix its seed")
    return "the same call gives the same bits"


def _batches(bench: _Bench) -> str:
    together = bench.score(bench.images, bench.captions)
    pairs = zip(bench.images, bench.captions, strict=True)
    alone = np.array([bench.score([image], [caption])[0] for image, caption in pairs])
    return _same(together, alone, "each pair alone")


def _range(bench: _Bench) -> str:
    least, high = bench.evaluator.spec.score_range
    low = -np.inf if least is None else least
    scores = bench.score(bench.images, bench.captions)
    finite = scores[np.isfinite(scores)]
    if not len(finite):
        raise _Broken("no pair of the test scores a number, so the range cannot be looked at")
    outside = finite[(finite < low) | (finite > (np.inf if high is None else high))]
    if len(outside):
        raise _Broken(
            f"score {outside[0]:.6g} lies outside the range {low:g} to {_upper(high)} of its spec; correct one of them"
        )
    return f"{finite.min():.4g} to {finite.max():.4g}, inside {low:g} to {_upper(high)}"


def _nan(bench: _Bench) -> str:
    usual = bench.score(bench.images[:1], bench.captions[:1])
    mixed = bench.score([bench.images[0]] * 2, ["", bench.captions[0]])
    if np.isinf(mixed[0]):
        raise _Broken("an empty caption scores infinity; give NaN for a pair that cannot be scored")
    _same(usual, mixed[1:], "the same pair beside an empty caption")
    if np.isnan(mixed[0]):
        return "an empty caption is NaN and harms no other pair"
    return f"an empty caption scores {mixed[0]:.4g}; NaN is for a pair that cannot be scored"


def _inputs(bench: _Bench) -> str:
    copies = [image.copy() for image in bench.images]
    for copy in copies:
        copy.flags.writeable = False
    bench.score(copies, bench.captions)
    return "read-only images are taken and left as they are"


def _odd_images(bench: _Bench) -> str:
    rng = np.random.default_rng(0)
    images = [rng.integers(0, 256, (*shape, 3), dtype=np.uint8) for shape in _ODD]
    scores = bench.score(images, [bench.captions[0]] * len(images))
    if np.isinf(scores).any():
        raise _Broken("an image of an odd shape scores infinity")
    return "images of 1 × 1, 60 × 1, 1 × 60 and 200 × 37 px are taken"


def _fingerprint(bench: _Bench) -> str:
    evaluator = bench.evaluator
    told = evaluator.fingerprint
    again = type(evaluator).load(device="cpu").fingerprint
    json.dumps(told.as_dict())
    if told.key != again.key:
        raise _Broken("loading it again gives another fingerprint; leave times and counters out of it")
    if told.name != evaluator.spec.name:
        raise _Broken(f"its fingerprint is of {told.name!r} and its spec of {evaluator.spec.name!r}; use one name")
    return f"stable, {told.key}"


def _embeddings(bench: _Bench) -> str:
    evaluator = bench.evaluator
    assert isinstance(evaluator, DualEncoder)
    images, captions = evaluator.encode_images(bench.images), evaluator.encode_captions(bench.captions)
    for what, rows in (("image", images), ("caption", captions)):
        lengths = np.linalg.norm(rows.numpy(), axis=1)
        if not np.allclose(lengths, 1, atol=1e-4):
            raise _Broken(f"{what} embeddings have length {lengths.min():.4g} to {lengths.max():.4g}; normalise them")
    if not isinstance(evaluator, Referenced):
        combined = evaluator.combine(images, captions)
        remedy = "leave score as DualEncoder has it"
        _same(bench.score(bench.images, bench.captions), combined, "encode, then combine", remedy)
    return f"unit length, {images.shape[1]} numbers"


def _same(first: np.ndarray, second: np.ndarray, what: str, remedy: str = _ALONE) -> str:
    if (np.isnan(first) != np.isnan(second)).any():
        raise _Broken(f"{what}: a score is NaN in one call and a number in the other; {remedy}")
    apart = np.abs(first - second) / np.maximum(1.0, np.abs(first))
    worst = float(np.nanmax(apart)) if np.isfinite(apart).any() else 0.0
    if worst > TOLERANCE:
        raise _Broken(f"{what}: scores differ by up to {worst:.3g}, more than {TOLERANCE:g}; {remedy}")
    return f"{what}: the same scores to {TOLERANCE:g}"


def _upper(high: float | None) -> str:
    return "infinity" if high is None else f"{high:g}"


ITEMS = 24
THRESHOLD = 5.0  # percent; the least that a metric developer may want to hear of, not a constant of any paper
PROBES = ("null", "vertical-flip", "horizontal-flip", "rotation", "blur", "cultural", "economic", "gender", "emotion")

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Unscored:
    """Edited pairs that the metric gave no score."""

    count: int = 0  # how many
    pairs: int = 0  # of how many that it was asked for
    why: str = ""  # of the first of them, in a sentence; empty where there is none


@dataclass(frozen=True, slots=True)
class MetricReport:
    """The whole report."""

    evaluator: str
    fingerprint: Mapping[str, Any]
    contract: tuple[Finding, ...]
    families: tuple[FamilyShift, ...]
    items: int
    threshold: float  # most that a family may move the metric, in percent
    failure: str = ""  # why it could not be run at all; empty otherwise
    broken: Broken | None = None  # what it does where the meaning breaks; None where no directional probe was tried
    # of each family with a shift, of two captions of one picture where the items have them and the image is what is
    # edited
    evidence: tuple[FamilyEvidence, ...] = ()
    unscored: Unscored = Unscored()
    # ``name``, ``reference`` and ``file`` of a metric of a file, as a run's manifest has them; else empty
    source: Mapping[str, Any] = field(default_factory=dict)
    baseline: MetricBaseline | None = None  # all of it item by item, for a later check to be held against
    ignores: tuple[str, ...] = ()  # what its score does not depend on, of :data:`IGNORES`

    @property
    def passed(self) -> bool:
        """Whether every promise was kept, no family is shown to move it too far and no broken meaning escapes it."""
        kept = all(each.passed for each in self.contract) and (self.broken is None or self.broken.passed)
        return kept and not self.failure and all(each.verdict != BEYOND for each in self.families)

    @property
    def undecided(self) -> tuple[str, ...]:
        """What these items decide neither way: families, and the selectivity where one is asked for."""
        broken = () if self.broken is None else self.broken.undecided
        return (*(each.family for each in self.families if each.verdict in (UNDECIDED, NOTHING, WITHHELD)), *broken)

    def as_dict(self) -> dict[str, Any]:
        """Plain dictionary for JSON."""
        told = {**asdict(self), "passed": self.passed, "undecided": list(self.undecided)}
        return {name: value for name, value in told.items() if name != "baseline"}


def check_metric(
    reference: str,
    items: Sequence[Item],
    probes: Sequence[Probe],
    *,
    threshold: float = THRESHOLD,
    directional: bool = False,
    most_failures: float = MOST_FAILURES,
    least_above: float | None = None,
    count: int = ITEMS,
    pool: Pool | None = None,
    progress: Progress | None = None,
) -> MetricReport:
    """Check one evaluator, by a name, ``path/to/file.py:Name``, or any other reference. Raises InvalidInput if the
    threshold, the count, the probes or the items cannot be used; NotAvailable if its weights are not here.

    Args:
        items: of a corpus; those with an English caption serve, evenly spread, ``count`` of them.
        threshold: percent; a family fails where the interval of its median |% change| lies above.
        directional: judge the probes that expect the score to drop too, and the selectivity.
        most_failures: percent; a directional family that fails more often fails.
        least_above: how far above the metric's own chance its selectivity must lie; None: it is told and not judged.
    """
    if not threshold > 0 or count < 3:
        raise InvalidInput(f"threshold must be positive and count at least 3, got {threshold:g} and {count}")
    if not 0 <= most_failures <= 100:
        raise InvalidInput(f"failures are a percentage from 0 to 100, got {most_failures:g}")
    check_distance(least_above)
    _check_expectations(probes, directional)
    usable = [item for item in items if item.captions.get(ENGLISH)]
    if len(usable) < 3:
        raise InvalidInput(
            f"the corpus has {counted(len(usable), 'item')} with an English caption; at least 3 are needed"
        )
    places = np.linspace(0, len(usable) - 1, min(count, len(usable))).round().astype(int)
    chosen = [usable[place] for place in places]
    pool = Pool(device="cpu") if pool is None else pool
    benches = [Workbench(item, read_item(item).pixels) for item in chosen]
    with pool.lease(reference) as evaluator:
        images, texts = [bench.pixels for bench in benches[:5]], [item.captions[ENGLISH][0] for item in chosen[:5]]
        contract = check_contract(evaluator, images, texts)
        ignores = ignored(evaluator, images, list(dict.fromkeys((*texts, *_OTHERS))))
        fingerprint, key, name = evaluator.fingerprint.as_dict(), evaluator.fingerprint.key, evaluator.spec.name
        about = describe_evaluator(reference, evaluator)
    captions, cache = [_caption(item, whole=directional) for item in chosen], EmbeddingCache()
    rows, failure = _shifts(reference, benches, captions, probes, pool, cache, progress)
    harmless = [probe for probe in probes if probe.expectation is Expectation.INVARIANT]
    sources = [bench.item.drawn_with(bench.image_key) for bench in benches]
    seconds = [bench.item.second_source or own for bench, own in zip(benches, sources, strict=True)]
    groups = numbered(sources, seconds)
    families = shifts_of(harmless, rows, threshold, groups)
    breaks = None
    if directional and rows:
        breaks = broken(probes, rows, most=most_failures, least_above=least_above, sources=groups[: len(rows)])
    others = _second_shifts(reference, benches[: len(rows)], captions, harmless, pool, cache)
    found = (evidence_of(each.family, rows, others, groups) for each in families)
    evidence = tuple(each for each in found if each.gap.n)
    told = [(bench.item.id, bench.image_key[:16], said) for bench, said in zip(benches, captions, strict=True)]
    kept = baseline_of(name, key, told, list(zip(sources, seconds, strict=True)), probes, rows)
    asked = [row for item in rows for row in item if not row.rejected]
    without = [row for row in asked if row.score is None]
    why = next((row.reason for row in without), "").removeprefix(f"{reference} could not score this pair: ")
    unscored = Unscored(len(without), len(asked), why)
    source = {key: about[key] for key in ("name", "reference", "file")} if "file" in about else {}
    judged = (name, fingerprint, tuple(contract), families, len(chosen), threshold, failure, breaks, evidence)
    return MetricReport(*judged, unscored, source, kept, ignores)


def _second_shifts(
    reference: str, benches: Sequence[Workbench], captions: Sequence[str], probes: Sequence[Probe], *means: Any
) -> dict[int, list[LabRow]]:
    """Rows of a second caption of each item that has one, under edits of the image, by the item's place: its next
    English caption that names no place, else the template of its label."""
    edits = [probe for probe in probes if probe.edits is Edits.IMAGE]
    found = {place: said for place, bench in enumerate(benches) if (said := _second(bench.item, captions[place]))}
    if not edits or not found:
        return {}
    rows, _ = _shifts(reference, [benches[place] for place in found], list(found.values()), edits, *means)
    return dict(zip(found, rows, strict=False))  # fewer where it could not be run


def _second(item: Item, held: str) -> str:
    texts = (text for text in item.captions[ENGLISH] if text != held and not place_named(text, ENGLISH, PLACES))
    try:
        return next(texts, "") or base_caption(item.label or "")
    except InvariscopeError:  # a label that makes no template
        return ""


def _check_expectations(probes: Sequence[Probe], directional: bool) -> None:
    allowed = (Expectation.INVARIANT, Expectation.DIRECTIONAL) if directional else (Expectation.INVARIANT,)
    odd = [probe for probe in probes if probe.expectation not in allowed]
    if odd:
        told = "expects no drop of the score" if directional else "expects the score to move"
        more = "leave it out" if directional else "leave it out, or check the directional ones too"
        raise InvalidInput(f"probe {odd[0].name!r} {told}; {more}")
    if directional and not any(probe.expectation is Expectation.DIRECTIONAL for probe in probes):
        raise InvalidInput("no probe is directional; name one that expects the score to drop")


def _caption(item: Item, *, whole: bool) -> str:
    """The caption that is held: the first that stays true wherever things are, since one that names a place is held
    beside no edit that changes it; with ``whole`` the first of all, since edits of words need a sentence."""
    texts = item.captions[ENGLISH]
    if whole:
        return texts[0]
    return next((text for text in texts if not place_named(text, ENGLISH, PLACES)), texts[0])


def _shifts(
    reference: str,
    benches: Sequence[Workbench],
    captions: Sequence[str],
    probes: Sequence[Probe],
    pool: Pool,
    cache: EmbeddingCache,
    progress: Progress | None = None,
) -> tuple[list[list[LabRow]], str]:
    """Rows of every probe and of edits that nobody can see, an item at a time, and why there are none."""
    rows: list[list[LabRow]] = []
    scored = [*(probe for probe in catalogue() if probe.axis is Axis.NULL), *probes]
    for index, (bench, caption) in enumerate(zip(benches, captions, strict=True)):
        found = run_lab(bench, caption, scored, [reference], pool=pool, cache=cache)
        if found.failures:
            return rows, next(iter(found.failures.values()))
        # without a caption family's neutral controls, which the others are compared with
        shown = (row for row in found.rows if row.probe != IDENTITY and not (row.control and row.baseline != IDENTITY))
        rows.append(list(shown))
        if progress is not None:
            progress(index + 1, len(benches))
    return rows, ""
