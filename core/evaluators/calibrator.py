"""A calibration as a small JSON file, and its use on new scores.

It stands among the evaluators because applying it needs scores and no audit: :mod:`core.evaluators.calibrated`
scores with it. How one is learnt stands in :mod:`core.features.calibration.readings`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from core.errors import InvalidInput
from core.statistics.arithmetic import map_quantiles, row_medians

QUANTILES = 101
"""Points of a quantile map."""

MOST_BYTES = 4 << 20
"""A calibrator's file is small; a larger one is refused before it is read."""

Finite = Annotated[float, Field(allow_inf_nan=False)]
Curve = Annotated[list[Finite], Field(min_length=QUANTILES, max_length=QUANTILES)]


CALIBRATED = "-calibrated-"
"""Stands between an evaluator's name and the digest of its calibrator in the name of the calibrated evaluator."""


def base_of(name: str) -> str:
    """Name of the evaluator that a calibrated one is made of; empty for one that is not calibrated.

    Example:
        >>> base_of("conse-lite0-calibrated-1a2b3c"), base_of("conse-lite0")
        ('conse-lite0', '')
    """
    base, between, digest = name.rpartition(CALIBRATED)
    return base if between and len(digest) == 6 else ""


class Calibrator(BaseModel):
    """What applies a calibration.

    Args:
        version: of this file format.
        evaluator: name of the evaluator that it was learnt for.
        fingerprint: that evaluator's fingerprint, as the run's manifest has it.
        reading: how the formula is read; see :mod:`core.features.calibration.readings`.
        strength: λ, in [0, 1].
        weights: w_T by family: they sum to 1, or are 1 each.
        shifts: median dev shift by family and probe.
        family_shifts: median dev shift by family.
        quantiles: by family and probe: quantiles of perturbed scores, and of their baselines.
        ridge: k of the ridge reading.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Literal[1] = 1
    evaluator: Annotated[str, Field(min_length=1, max_length=500)]
    fingerprint: Annotated[str, Field(max_length=500)] = ""
    reading: Literal["orbit", "absolute", "shift", "ridge", "quantile"]
    strength: Annotated[float, Field(ge=0, le=1)]
    weights: dict[str, Annotated[float, Field(ge=0, le=1)]]
    shifts: dict[str, dict[str, Finite]]
    family_shifts: dict[str, Finite]
    quantiles: dict[str, dict[str, tuple[Curve, Curve]]] = {}
    ridge: Annotated[float, Field(gt=0, allow_inf_nan=False)]

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
    """Read and check an exported calibrator.

    Raises:
        InvalidInput: if the file is missing, too large, or no calibrator.
    """
    try:
        if path.stat().st_size > MOST_BYTES:
            raise InvalidInput(f"{path} is larger than {MOST_BYTES} bytes; a calibrator is a small JSON file")
        return Calibrator.model_validate_json(path.read_bytes())
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}; check the path") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        raise InvalidInput(f"{path} is no calibrator: {place}: {first['msg']}; export it again") from error


def apply(
    model: Calibrator,
    scores: ArrayLike,
    *,
    probe: tuple[str, str] | None = None,
    orbits: Mapping[str, ArrayLike] | None = None,
) -> np.ndarray:
    """Calibrate scores: Ŝ = S + λ · correction.

    Args:
        model: exported by :func:`core.features.calibration.readings.calibrator`, or from :func:`read_calibrator`.
        scores: S, float64 [n]; NaN stays NaN.
        probe: (family, probe) of the edit that the scored pairs underwent; None for unedited pairs. The readings
            ``shift``, ``ridge`` and ``quantile`` correct edited pairs only.
        orbits: what ``orbit``, ``absolute`` and ``ridge`` need at inference, by family, float64 [k, n]: the scores
            of the pair's variants under the family, the pair itself not included; for ``ridge`` the baseline-to-
            variant *shifts* of the item under the family of ``probe``. NaN where missing.

    Returns:
        float64 [n].

    Raises:
        InvalidInput: if the family, probe or orbit that the reading needs is not there, or has another shape.
    """
    values = np.asarray(scores, dtype=np.float64)
    if model.reading in ("orbit", "absolute"):
        return values + model.strength * _over_orbits(model, values, orbits)
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


def _over_orbits(model: Calibrator, values: np.ndarray, orbits: Mapping[str, ArrayLike] | None) -> np.ndarray:
    change = np.zeros_like(values)
    for family, weight in model.weights.items():
        if weight == 0:
            continue
        variants = _orbit(family, values, orbits)
        if model.reading == "orbit":
            moved = row_medians(np.vstack([values[None], variants])) - values
        else:
            moved = -row_medians(np.abs(variants - values))
        change += weight * np.where(np.isnan(moved), 0.0, moved)
    return change


def _orbit(family: str, values: np.ndarray, orbits: Mapping[str, ArrayLike] | None) -> np.ndarray:
    if orbits is None or family not in orbits:
        raise InvalidInput(f"this reading needs the scores of every item's variants under {family!r}; pass orbits")
    variants = np.asarray(orbits[family], dtype=np.float64)
    if variants.ndim != 2 or variants.shape[1:] != values.shape:
        raise InvalidInput(f"the orbit under {family!r} needs shape [k, {len(values)}], got {variants.shape}")
    return variants
