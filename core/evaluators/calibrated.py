"""An evaluator under a calibration: any registered evaluator with a calibrator file, ``path/to/calibrator.json``.

The readings ``orbit`` and ``absolute`` render the image's own variants and score them too: with k variants an image
costs 1 + k times as much. The readings ``shift``, ``ridge`` and ``quantile`` correct a score only where the edit is
known, which an evaluator is not told; they are for stored scores. How a calibration is learnt stands in
:mod:`core.features.calibration.readings`.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from pydantic import BaseModel, ConfigDict, Field, model_validator

from core.corpora.images import pixel_hash
from core.corpora.schema import Item, Mask
from core.corpora.versioned_files import read_small
from core.errors import InvalidInput, ProbeRejected
from core.evaluators.base import Around, Availability, Evaluator, EvaluatorSpec, Fingerprint, Sight, check_lengths
from core.evaluators.cache import EmbeddingCache
from core.evaluators.scoring import score_pairs
from core.probes import registry as probes
from core.probes.base import Edits, Probe
from core.probes.pairs import Pairs
from core.statistics.arithmetic import map_quantiles, row_medians

QUANTILES = 101  # points of a quantile map
MOST_BYTES = 4 << 20  # a calibrator's file is small; a larger one is refused before it is read
Finite = Annotated[float, Field(allow_inf_nan=False)]
Curve = Annotated[list[Finite], Field(min_length=QUANTILES, max_length=QUANTILES)]
CALIBRATED = "-calibrated-"  # between an evaluator's name and its calibrator's digest in the calibrated one's name


def base_of(name: str) -> str:
    """Name of the evaluator that a calibrated one is made of; empty for one that is not calibrated.

    >>> base_of("conse-lite0-calibrated-1a2b3c"), base_of("conse-lite0")
    ('conse-lite0', '')
    """
    base, between, digest = name.rpartition(CALIBRATED)
    return base if between and len(digest) == 6 else ""


class Calibrator(BaseModel):
    """What applies a calibration."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Literal[1] = 1  # of this file format
    evaluator: Annotated[str, Field(min_length=1, max_length=500)]
    # that evaluator's fingerprint, as the run's manifest has it
    fingerprint: Annotated[str, Field(max_length=500)] = ""
    # how the formula is read; see :mod:`core.features.calibration.readings`
    reading: Literal["orbit", "absolute", "shift", "ridge", "quantile"]
    strength: Annotated[float, Field(ge=0, le=1)]  # λ, in [0, 1]
    weights: dict[str, Annotated[float, Field(ge=0, le=1)]]  # w_T by family: they sum to 1, or are 1 each
    shifts: dict[str, dict[str, Finite]]  # median dev shift by family and probe
    family_shifts: dict[str, Finite]  # median dev shift by family
    # by family and probe: quantiles of perturbed scores, and of their baselines
    quantiles: dict[str, dict[str, tuple[Curve, Curve]]] = {}
    ridge: Annotated[float, Field(gt=0, allow_inf_nan=False)]  # k of the ridge reading

    @property
    def variants(self) -> int:
        """Variants of an image that are scored beside it; 0 where the reading needs none."""
        if self.reading not in OVER_ORBITS:
            return 0
        return sum(len(self.shifts[name]) for name, weight in self.weights.items() if weight > 0)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        total, each = sum(self.weights.values()), all(weight == 1 for weight in self.weights.values())
        if abs(total - 1) > 1e-6 and not each:
            raise ValueError(f"weights must sum to 1, or be 1 each, got a sum of {total}")
        if not set(self.shifts) == set(self.family_shifts) == set(self.weights):
            raise ValueError("weights, shifts and family_shifts must name the same families")
        if self.reading == "quantile" and {n: set(p) for n, p in self.quantiles.items()} != {
            n: set(p) for n, p in self.shifts.items()
        }:
            raise ValueError("the quantile reading needs quantiles of every family and probe of shifts")
        if any(
            sorted(curve) != list(curve) for maps in self.quantiles.values() for pair in maps.values() for curve in pair
        ):
            raise ValueError("quantiles must not fall")
        return self


def read_calibrator(path: Path) -> Calibrator:
    """Read an exported calibrator. Raises InvalidInput if the file is missing, too large, or no calibrator."""
    return read_small(
        path, Calibrator, most=MOST_BYTES, called="a calibrator", anew="check the path, or export it again"
    )


def apply(
    model: Calibrator,
    scores: ArrayLike,
    *,
    probe: tuple[str, str] | None = None,
    orbits: Mapping[str, ArrayLike] | None = None,
) -> np.ndarray:
    """Calibrate scores: Ŝ = S + λ · correction.
    ``model``: exported by :func:`core.features.calibration.readings.calibrator`, or from :func:`read_calibrator`.
    ``scores``: S, float64 [n]; NaN stays NaN.
    ``probe``: (family, probe) of the edit that the scored pairs underwent; None for unedited pairs. The readings
    ``shift``, ``ridge`` and ``quantile`` correct edited pairs only.
    ``orbits``: what ``orbit``, ``absolute`` and ``ridge`` need at inference, by family, float64 [k, n]: the scores of
    the pair's variants under the family, the pair itself not included; for ``ridge`` the baseline-to- variant *shifts*
    of the item under the family of ``probe``. NaN where missing. Returns float64 [n].
    Raises InvalidInput if the family, probe or orbit that the reading needs is not there, or has another shape."""
    values = np.asarray(scores, dtype=np.float64)
    if model.reading in ("orbit", "absolute"):
        change = np.zeros_like(values)
        for name, weight in model.weights.items():
            if weight == 0:
                continue
            variants = _orbit(name, values, orbits)
            if model.reading == "orbit":
                moved = row_medians(np.vstack([values[None], variants])) - values
            else:
                moved = -row_medians(np.abs(variants - values))
            change += weight * np.where(np.isnan(moved), 0.0, moved)
        return values + model.strength * change
    if probe is None:
        return values.copy()
    family, name = probe
    if name not in model.shifts.get(family, {}):
        known = ", ".join(sorted(p for probes in model.shifts.values() for p in probes))
        raise InvalidInput(f"probe {name!r} of family {family!r} was not calibrated; known: {known}")
    if model.reading == "shift":
        return values - model.strength * model.shifts[family][name]
    if model.reading == "quantile":
        curves = np.array(model.quantiles[family][name])
        return values + model.strength * (map_quantiles(values, curves) - values)
    shifts = _orbit(family, values, orbits)
    own, count = row_medians(shifts), (~np.isnan(shifts)).sum(axis=0)
    middle = model.family_shifts[family]
    shrunk = middle + count / (count + model.ridge) * (np.where(count > 0, own, middle) - middle)
    return np.asarray(values - model.strength * shrunk)


def _orbit(family: str, values: np.ndarray, orbits: Mapping[str, ArrayLike] | None) -> np.ndarray:
    if orbits is None or family not in orbits:
        raise InvalidInput(f"this reading needs the scores of every item's variants under {family!r}; pass orbits")
    variants = np.asarray(orbits[family], dtype=np.float64)
    if variants.ndim != 2 or variants.shape[1:] != values.shape:
        raise InvalidInput(f"the orbit under {family!r} needs shape [k, {len(values)}], got {variants.shape}")
    return variants


OVER_ORBITS = ("orbit", "absolute")  # readings that calibrate a pair of which nothing but the pair is known
_MEMORY_MB = 64.0


class Calibrated(Around):
    """A loaded evaluator under a calibrator; :func:`calibrated` makes the class for a file."""

    model: ClassVar[Calibrator]

    def __init__(self, model: Calibrator, base: Evaluator) -> None:
        super().__init__(base)
        self._model = model
        used = [name for name, weight in model.weights.items() if weight > 0]
        self._probes = {name: orbit_probes(name, model.shifts[name]) for name in used}
        self._cache = EmbeddingCache(None, memory_mb=_MEMORY_MB)

    @classmethod
    def availability(cls) -> Availability:
        ready = super().availability()
        if not ready.ready:
            return ready
        return Availability(True) if not (why := refusal(cls.model)) else Availability(False, why, _again(cls.model))

    @classmethod
    def load(cls, *, device: str = "cpu") -> Self:
        """Load what the calibrator was learnt for. Raises InvalidInput if it cannot be applied to images alone."""
        if why := refusal(cls.model):
            raise InvalidInput(f"{why}; make another with: {_again(cls.model)}")
        return cls(cls.model, cls.base_kind.load(device=device))

    @property
    def fingerprint(self) -> Fingerprint:
        own = self.base.fingerprint
        settings = {**own.settings, "calibrator": digest(self._model), "strength": self._model.strength}
        return replace(own, name=calibrated_name(self._model), settings=settings)

    def score(self, images: Sequence[np.ndarray], captions: Sequence[str]) -> np.ndarray:
        """Score n pairs and the variants of their images; float64 [n], NaN where the pair itself has no score.
        Raises InvalidInput if the reading corrects known edits only, or a probe cannot edit one of the images."""
        check_lengths(images, captions)
        if self._model.reading not in OVER_ORBITS:
            raise InvalidInput(refusal(self._model))
        hashes = {id(image): pixel_hash(image) for image in images}
        sources: dict[str, np.ndarray | Callable[[], np.ndarray]] = {}
        pairs: list[tuple[str, str]] = []
        for image, caption in zip(images, captions, strict=True):
            own = hashes[id(image)]
            sources[own] = image
            pairs.append((own, caption))
            for probe in (probe for group in self._probes.values() for probe in group):
                key = f"{own}:{probe.name}"
                sources[key] = partial(edit_alone, probe, own, image)
                pairs.append((key, caption))
        edges = np.cumsum([1, *map(len, self._probes.values())])  # the pair itself, then the variants of each family
        table = score_pairs(self.base, sources, pairs, cache=self._cache).reshape(len(images), edges[-1]).T
        orbits = {name: table[start:stop] for name, (start, stop) in zip(self._probes, pairwise(edges), strict=True)}
        return apply(self._model, table[0], orbits=orbits)

    def forget(self) -> None:
        self._cache = EmbeddingCache(None, memory_mb=_MEMORY_MB)
        super().forget()

    def see(self, image: np.ndarray, caption: str, *, object_mask: Mask | None = None) -> Sight:
        seen = self.base.see(image, caption, object_mask=object_mask)
        variants = sum(map(len, self._probes.values()))
        model = self._model
        note = f"Calibrated, reading {model.reading}, λ = {model.strength:g}: {variants} variants are scored too."
        return replace(seen, notes=(*seen.notes, note))

    def object_inside(self, object_mask: Mask | None) -> float | None:
        return self.base.object_inside(object_mask)


def calibrated(model: Calibrator, base: type[Evaluator]) -> type[Evaluator]:
    """Return the class of an evaluator under a calibrator."""
    cost = f"; {1 + model.variants} times the cost" if model.variants else ""
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
    Raises InvalidInput if one is not registered, edits the caption, or needs an object's box or mask."""
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
    ``key``: hash of the image's pixels; what is random follows from it. ``image``: uint8 RGB [H, W, 3].
    Raises InvalidInput if the probe needs more than the image."""
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
