"""An evaluator under a calibration: any registered evaluator with a calibrator file.

``path/to/calibrator.json`` is a reference like a registered name. The readings ``orbit`` and ``absolute`` render
the image's own variants and score them too: with k variants an image costs 1 + k times as much. The readings
``shift``, ``ridge`` and ``quantile`` correct a score only where the edit is known, which an evaluator is not told;
they are for stored scores.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import ClassVar, Self

import numpy as np

from core.corpora.images import pixel_hash
from core.corpora.schema import Box, Item, Mask
from core.errors import InvalidInput, ProbeRejected
from core.evaluators.base import Availability, Evaluator, EvaluatorSpec, Fingerprint, Footprint, Sight, check_lengths
from core.evaluators.cache import EmbeddingCache
from core.evaluators.calibrator import CALIBRATED, Calibrator, apply
from core.evaluators.scoring import score_pairs
from core.probes import registry as probes
from core.probes.base import Edits, Probe
from core.probes.pairs import Pairs

OVER_ORBITS = ("orbit", "absolute")
"""Readings that calibrate a pair of which nothing but the pair is known."""

_MEMORY_MB = 64.0


class Calibrated(Evaluator):
    """A loaded evaluator under a calibrator; :func:`calibrated` makes the class for a file.

    Args:
        model: learnt for this evaluator.
        base: the evaluator, loaded.
    """

    model: ClassVar[Calibrator]
    base_kind: ClassVar[type[Evaluator]]

    def __init__(self, model: Calibrator, base: Evaluator) -> None:
        self._model = model
        self._base = base
        self._probes = {
            name: orbit_probes(name, model.shifts[name]) for name, weight in model.weights.items() if weight > 0
        }
        self._cache = EmbeddingCache(None, memory_mb=_MEMORY_MB)

    @classmethod
    def availability(cls) -> Availability:
        """Whether the evaluator can be loaded, and its calibrator applied to pairs of which nothing is known."""
        ready = cls.base_kind.availability()
        if not ready.ready:
            return ready
        return Availability(True) if not (why := refusal(cls.model)) else Availability(False, why, _again(cls.model))

    @classmethod
    def load(cls, *, device: str = "cpu") -> Self:
        """Load the evaluator that the calibrator was learnt for.

        Raises:
            InvalidInput: if the calibrator cannot be applied to images alone.
        """
        if why := refusal(cls.model):
            raise InvalidInput(f"{why}; make another with: {_again(cls.model)}")
        return cls(cls.model, cls.base_kind.load(device=device))

    @classmethod
    def needs_mb(cls, device: str) -> float:
        """What the evaluator itself needs."""
        return cls.base_kind.needs_mb(device)

    def footprint(self) -> Footprint | None:
        """What the evaluator itself takes."""
        return self._base.footprint()

    @property
    def fingerprint(self) -> Fingerprint:
        """The evaluator's own fingerprint with the calibrator's digest."""
        own = self._base.fingerprint
        settings = {**own.settings, "calibrator": digest(self._model), "strength": self._model.strength}
        return replace(own, name=calibrated_name(self._model), settings=settings)

    def score(self, images: Sequence[np.ndarray], captions: Sequence[str]) -> np.ndarray:
        """Score n pairs and the variants of their images; float64 [n], NaN where the pair itself has no score.

        Raises:
            InvalidInput: if the reading corrects known edits only, or a probe cannot edit one of the images.
        """
        check_lengths(images, captions)
        if self._model.reading not in OVER_ORBITS:
            raise InvalidInput(refusal(self._model))
        scores, orbits = self._with_orbits(images, captions, self._probes)
        return apply(self._model, scores, orbits=orbits)

    def forget(self) -> None:
        """Drop the embeddings of images and captions that were met before."""
        self._cache = EmbeddingCache(None, memory_mb=_MEMORY_MB)
        self._base.forget()

    def crop(self, width: int, height: int) -> Box:
        """As the evaluator itself."""
        return self._base.crop(width, height)

    def see(self, image: np.ndarray, caption: str, *, object_mask: Mask | None = None) -> Sight:
        """What the evaluator saw of the pair itself, with a sentence about the calibration."""
        seen = self._base.see(image, caption, object_mask=object_mask)
        variants = sum(map(len, self._probes.values()))
        model = self._model
        note = f"Calibrated, reading {model.reading}, λ = {model.strength:g}: {variants} variants are scored too."
        return replace(seen, notes=(*seen.notes, note))

    def object_inside(self, object_mask: Mask | None) -> float | None:
        """As the evaluator itself."""
        return self._base.object_inside(object_mask)

    def count_tokens(self, caption: str) -> int | None:
        """As the evaluator itself."""
        return self._base.count_tokens(caption)

    def truncates(self, caption: str) -> bool:
        """As the evaluator itself."""
        return self._base.truncates(caption)

    def _with_orbits(
        self, images: Sequence[np.ndarray], captions: Sequence[str], families: Mapping[str, Sequence[Probe]]
    ) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Scores of the pairs, float64 [n], and of their variants by family, float64 [k, n]."""
        hashes = {id(image): pixel_hash(image) for image in images}
        sources: dict[str, np.ndarray | Callable[[], np.ndarray]] = {}
        pairs: list[tuple[str, str]] = []
        for image, caption in zip(images, captions, strict=True):
            own = hashes[id(image)]
            sources[own] = image
            pairs.append((own, caption))
            for probe in (probe for group in families.values() for probe in group):
                key = f"{own}:{probe.name}"
                sources[key] = partial(edit_alone, probe, own, image)
                pairs.append((key, caption))
        width = 1 + sum(map(len, families.values()))
        table = score_pairs(self._base, sources, pairs, cache=self._cache).reshape(len(images), width).T
        edges = np.cumsum([1, *map(len, families.values())])
        return table[0], {
            name: table[start:stop] for name, start, stop in zip(families, edges[:-1], edges[1:], strict=True)
        }


def calibrated(model: Calibrator, base: type[Evaluator]) -> type[Evaluator]:
    """Return the class of an evaluator under a calibrator.

    Args:
        model: of :func:`core.evaluators.calibrator.read_calibrator`.
        base: the evaluator that ``model`` names.
    """
    known = sum(len(model.shifts[name]) for name, weight in model.weights.items() if weight > 0)
    cost = f"; {1 + known} times the cost" if model.reading in OVER_ORBITS else ""
    spec: EvaluatorSpec = replace(
        base.spec,
        name=calibrated_name(model),
        title=f"{base.spec.title}, calibrated",
        summary=f"{base.spec.summary} Calibrated: reading {model.reading}, λ = {model.strength:g}{cost}.",
        takes_references=False,
    )
    told = {"spec": spec, "model": model, "base_kind": base, "one_process": base.one_process}
    return type("CalibratedFromFile", (Calibrated,), told)


def calibrated_name(model: Calibrator) -> str:
    """Name of an evaluator under a calibrator; another calibrator gives another name."""
    return f"{model.evaluator}{CALIBRATED}{digest(model)[:6]}"


def digest(model: Calibrator) -> str:
    """sha256, in hex, of what the calibrator says, however its file is laid out."""
    return hashlib.sha256(model.model_dump_json().encode()).hexdigest()


def refusal(model: Calibrator) -> str:
    """Why a calibrator cannot be applied to pairs of which nothing but the image is known; empty where it can."""
    if model.reading not in OVER_ORBITS:
        return (
            f"the reading {model.reading!r} corrects a score only where the edit is known, which an evaluator is "
            "not told; python -m core calibrate apply corrects a run's scores"
        )
    try:
        for name, weight in model.weights.items():
            if weight > 0:
                orbit_probes(name, model.shifts[name])
    except InvalidInput as error:
        return str(error)
    return ""


def orbit_probes(family: str, names: Iterable[str]) -> tuple[Probe, ...]:
    """Probes of a family that can be applied to any image.

    Args:
        family: that they are of.
        names: of the probes.

    Raises:
        InvalidInput: if one is not registered, edits the caption, or needs an object's box or mask.
    """
    known = probes.catalogue()
    found = []
    for name in names:
        if name not in known:
            raise InvalidInput(f"probe {name!r} of family {family!r} is not on this machine; install what brings it")
        probe = known.get(name)
        if probe.edits is not Edits.IMAGE:
            raise InvalidInput(f"family {family!r} edits the caption, so an image alone has no orbit under it")
        edit_alone(probe, "plain", np.full((64, 64, 3), 127, dtype=np.uint8))
        found.append(probe)
    return tuple(found)


def edit_alone(probe: Probe, key: str, image: np.ndarray) -> np.ndarray:
    """Apply a probe to an image of which nothing else is known.

    Args:
        probe: an edit of the image.
        key: hash of the image's pixels; what is random follows from it.
        image: uint8 RGB [H, W, 3].

    Raises:
        InvalidInput: if the probe needs more than the image.
    """
    item = Item(id=key, corpus="calibrated", image_path=None, width=image.shape[1], height=image.shape[0])
    made = Pairs(item, image).make(probe)
    if isinstance(made, ProbeRejected):
        raise InvalidInput(f"family {probe.family!r} needs more than the image ({probe.name}: {made.detail})")
    return image if made.pixels is None else made.pixels


def _again(model: Calibrator) -> str:
    return (
        f"python -m core calibrate RUN --evaluator {model.evaluator} --reading orbit "
        "--families vertical-flip,horizontal-flip,rotation"
    )
