"""What every evaluator promises, tried on one of them: a unit test for a metric."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from core.evaluators.base import DualEncoder, Evaluator, PartlyScored
from core.evaluators.references import Referenced
from core.registry import STRANGERS

TOLERANCE = 1e-5
"""Largest difference, relative to the larger of 1 and the score, that batching or order may make."""
REFERENCES = ("A picture of something.", "Something that a person saw.")
_ODD = ((1, 1), (1, 60), (60, 1), (37, 200))


@dataclass(frozen=True, slots=True)
class Finding:
    """One promise and whether it was kept.

    Args:
        check: short stable name, e.g. ``order``.
        detail: one sentence; for a broken promise what came, with numbers.
    """

    check: str
    passed: bool
    detail: str


def check_contract(evaluator: Evaluator, images: Sequence[np.ndarray], captions: Sequence[str]) -> list[Finding]:
    """Try every promise of an evaluator on a few pairs.

    Args:
        evaluator: loaded.
        images: at least 3 arrays, uint8 RGB [H, W, 3], of different pictures.
        captions: one an image.

    Returns:
        shape, order, determinism, batches, range, nan, inputs, odd-images, fingerprint; for a dual encoder also
        embeddings. A check that an exception stops is broken, and its detail names the exception.
    """
    checks: list[tuple[str, Callable[[_Bench], str]]] = [
        ("shape", _shape), ("order", _order), ("determinism", _determinism), ("batches", _batches),
        ("range", _range), ("nan", _nan), ("inputs", _inputs), ("odd-images", _odd_images),
        ("fingerprint", _fingerprint),
    ]  # fmt: skip
    if isinstance(evaluator, DualEncoder):
        checks.append(("embeddings", _embeddings))
    bench = _Bench(evaluator, tuple(images), tuple(captions))
    return [_try(name, check, bench) for name, check in checks]


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
    except _Broken as broken:
        return Finding(name, False, str(broken))
    except STRANGERS as error:  # a stranger's metric may raise anything
        text = " ".join(str(error).split())
        return Finding(name, False, f"raised {type(error).__name__}: {text[:200]}")


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
        raise _Broken(f"score {outside[0]:.6g} lies outside the range {low:g} to {_upper(high)} of its spec")
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
        _same(bench.score(bench.images, bench.captions), evaluator.combine(images, captions), "encode, then combine")
    return f"unit length, {images.shape[1]} numbers"


def _same(first: np.ndarray, second: np.ndarray, what: str) -> str:
    if (np.isnan(first) != np.isnan(second)).any():
        raise _Broken(f"{what}: a score is NaN in one call and a number in the other")
    apart = np.abs(first - second) / np.maximum(1.0, np.abs(first))
    worst = float(np.nanmax(apart)) if np.isfinite(apart).any() else 0.0
    if worst > TOLERANCE:
        raise _Broken(f"{what}: scores differ by up to {worst:.3g}, more than {TOLERANCE:g}")
    return f"{what}: the same scores to {TOLERANCE:g}"


def _upper(high: float | None) -> str:
    return "infinity" if high is None else f"{high:g}"
