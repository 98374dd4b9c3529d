"""Invariance-calibrated scoring: five readings of one formula, all of the form Ŝ = S + λ · correction.

- ``absolute``, as printed in paper A, 3.5: correction = -Σ w_T · median_t |S(x_t) - S(x)|. For an involution
  (a flip) the term is the same at x and at x_t: it cancels, and no λ changes the sensitivity.
- ``shift`` (default): for a known transform, minus that transform's median shift on the dev split. Constant time.
- ``orbit``: correction = Σ w_T · (m_T - S), m_T the median over the orbit of x under T, x included. λ = 1 is exact
  invariance for a closed orbit and one family; with Σ w_T = 1 over k families each falls by 1/k at most. It needs
  the orbit's scores at inference.
- ``ridge``: minus the item's own median shift under T, shrunk toward the family's dev median by n / (n + k),
  n the item's transforms. It needs the orbit's scores at inference.
- ``quantile``: the perturbed score's quantile on the dev split, mapped to the baselines'. Constant time.

An audit scores the orbit of x, not those of its variants. Under its own family a variant is taken to have the
orbit of x (true for a closed one); under every other family, to have the terms of x. So what ``orbit`` and
``absolute`` do to stored shifts holds by construction (Δ_Ŝ = (1 - λ w_T) Δ for ``orbit``) and is no measurement. Nor
is what ``ridge`` does: it is told each item's own shift and takes a share of it back.

References:
    [1] Paper A, sections 3.5, A.7 and B.6.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from core.errors import InvalidInput
from core.evaluators.calibrated import QUANTILES, Calibrator
from core.features.calibration.orbits import Family, Orbits
from core.statistics.arithmetic import map_quantiles, row_medians

READINGS = ("shift", "orbit", "absolute", "ridge", "quantile")
UNIFORM, SENSITIVITY, EACH = "uniform", "sensitivity", "each"
"""w_T = 1/k; in proportion to each family's sensitivity; 1 for every family, the corrections added."""

WEIGHTED = ("orbit", "absolute")  # readings that know weights; the others correct each family by itself

BY_CONSTRUCTION = ("orbit", "absolute", "ridge")
"""Readings whose effect on stored shifts follows from what they are told or assume, whatever the scores are."""

CONSTRUCTED, MEASURED = "by construction", "measured on stored scores"  # what a number of the held-out split rests on

CHOSEN, CHOSEN_MEASURED, FIXED = "chosen on dev", "chosen on dev, measured", "not chosen: fixed by construction"
"""Where a strength comes from: what it does to stored scores, or to measured ones, of the dev split; or nowhere, since
by construction every larger one lowers every shift, whatever the scores are."""

RIDGE = 1.0  # k of the ridge reading: how many transforms the family's median is worth


@dataclass(frozen=True, slots=True)
class Terms:
    """What was learnt on the dev split."""

    reading: str  # one of READINGS
    weights: Mapping[str, float]  # w_T by family: Σ w_T = 1, or 1 each
    # median shift by family and probe, on the score's scale
    shifts: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    # median over items of their median shift, by family
    family_shifts: Mapping[str, float] = field(default_factory=dict)
    # by family and probe: quantiles of the perturbed scores and of their baselines, [2, QUANTILES]
    quantiles: Mapping[str, Mapping[str, np.ndarray]] = field(default_factory=dict)
    ridge: float = RIDGE  # k of the ridge reading


@dataclass(frozen=True, slots=True)
class Corrections:
    """What λ multiplies."""

    clean: np.ndarray  # of Ŝ(x), float64 [n]; NaN where a family's scores are all missing
    variants: Mapping[str, np.ndarray]  # by family, of Ŝ(x_t), float64 [k, n]
    baselines: Mapping[str, np.ndarray]  # by family, of the calibrated baseline of each variant, float64 [k, n]


def learn(dev: Orbits, *, reading: str = "shift", weights: str | Mapping[str, float] = UNIFORM) -> Terms:
    """Learn a reading's terms on the dev split; raises InvalidInput for an unknown reading or weights, or without a
    family.

    ``weights``: UNIFORM, SENSITIVITY (proportional to the family's median |Δ|; uniform where nothing moves), EACH, or
    non-negative numbers by family, which are scaled to the sum of 1.
    """
    if reading not in READINGS:
        raise InvalidInput(f"reading must be one of {', '.join(READINGS)}, got {reading!r}")
    if not dev.families:
        raise InvalidInput("there is no family to calibrate for; audit some invariant probes first")
    families = dev.families
    return Terms(
        reading=reading,
        weights=_weights(dev, weights),
        shifts={name: dict(zip(f.probes, _medians(f.shifts), strict=True)) for name, f in families.items()},
        family_shifts={name: _medians([row_medians(f.shifts)])[0] for name, f in families.items()},
        quantiles={name: _quantile_maps(f) for name, f in families.items()} if reading == "quantile" else {},
    )


def weighed(terms: Terms, dev: Orbits, weights: str | Mapping[str, float]) -> Terms:
    """The same terms with other weights: what :func:`learn` gives for them, without learning anything anew."""
    return replace(terms, weights=_weights(dev, weights))


Part = tuple[np.ndarray, np.ndarray, np.ndarray]
"""A family's corrections of the unedited score, float64 [n], of its variants and of their baselines, [k, n] each."""


def corrections(scores: Orbits, terms: Terms) -> Corrections:
    """Corrections of every score, on any split; see the head of this module for each reading. Raises InvalidInput if a
    family or probe was not there when the terms were learnt."""
    return together(
        len(scores.clean), {name: weighted(part, name, terms) for name, part in parts(scores, terms).items()}
    )


def parts(scores: Orbits, terms: Terms) -> dict[str, Part]:
    """By family, the corrections before they are weighted: they are the same for all weights; raises InvalidInput as
    :func:`corrections`."""
    unknown = sorted(
        [name for name in scores.families if name not in terms.weights]
        + [p for name, f in scores.families.items() for p in f.probes if p not in terms.shifts.get(name, {})]
    )
    if unknown:
        raise InvalidInput(f"{', '.join(unknown)} was not calibrated; learn the terms on a split that has it")
    of_family = _FAMILY_CORRECTIONS[terms.reading]
    return {name: of_family(scores.clean, family, name, terms) for name, family in scores.families.items()}


def weighted(part: Part, name: str, terms: Terms) -> Part:
    """A family's corrections with its weight, where the reading knows weights."""
    if terms.reading not in WEIGHTED:
        return part
    weight = terms.weights[name]
    return weight * part[0], weight * part[1], weight * part[2]


def together(n: int, families: Mapping[str, Part]) -> Corrections:
    """Corrections of n items from those of every family, weighted."""
    clean = np.zeros(n)
    for at_clean, _, _ in families.values():
        # an item without any score of a family has no orbit there: it stays as it is
        clean += np.where(np.isnan(at_clean), 0.0, at_clean)
    variants, baselines = ({name: part[place] for name, part in families.items()} for place in (1, 2))
    return Corrections(clean, variants, baselines)


def sensitivity(shifts: np.ndarray) -> float:
    """Median over items of an item's median |shift|, shifts float64 [k, n]; NaN without a score."""
    return _median(row_medians(np.abs(shifts)))


def _orbit(clean: np.ndarray, family: Family, _name: str, _terms: Terms) -> Part:
    middle = row_medians(np.vstack([clean[None], family.scores]))
    return middle - clean, middle - family.scores, middle - family.baselines


def _absolute(clean: np.ndarray, family: Family, _name: str, _terms: Terms) -> Part:
    scores = family.scores
    at_clean = row_medians(np.abs(scores - clean))
    at_baselines = np.array([row_medians(np.abs(scores - baseline)) for baseline in family.baselines])
    at_variants = np.empty_like(scores)
    for t, (variant, baseline) in enumerate(zip(scores, family.baselines, strict=True)):
        others = np.vstack([baseline[None], np.delete(scores, t, axis=0)])
        at_variants[t] = row_medians(np.abs(others - variant))
    return -at_clean, -at_variants, -at_baselines


def _shift(clean: np.ndarray, family: Family, name: str, terms: Terms) -> Part:
    medians = np.array([terms.shifts[name][probe] for probe in family.probes])
    return _only_variants(clean, family, np.broadcast_to(-medians[:, None], family.scores.shape))


def _ridge(clean: np.ndarray, family: Family, name: str, terms: Terms) -> Part:
    own, count = row_medians(family.shifts), (~np.isnan(family.shifts)).sum(axis=0)
    middle = terms.family_shifts[name]
    estimate = middle + count / (count + terms.ridge) * (np.where(count > 0, own, middle) - middle)
    return _only_variants(clean, family, np.broadcast_to(-estimate, family.scores.shape))


def _quantile(clean: np.ndarray, family: Family, name: str, terms: Terms) -> Part:
    mapped = [map_quantiles(s, terms.quantiles[name][p]) for p, s in zip(family.probes, family.scores, strict=True)]
    return _only_variants(clean, family, np.array(mapped) - family.scores)


_FAMILY_CORRECTIONS = {"orbit": _orbit, "absolute": _absolute, "shift": _shift, "ridge": _ridge, "quantile": _quantile}


def _only_variants(clean: np.ndarray, family: Family, variants: np.ndarray) -> Part:
    return np.zeros_like(clean), variants, np.zeros_like(family.baselines)


def _quantile_maps(family: Family) -> dict[str, np.ndarray]:
    maps = {}
    for probe, scores, baselines in zip(family.probes, family.scores, family.baselines, strict=True):
        whole = ~(np.isnan(scores) | np.isnan(baselines))
        at = np.linspace(0, 1, QUANTILES)
        same = np.zeros(QUANTILES)  # nothing known: moves nothing
        maps[probe] = (
            np.array([np.quantile(scores[whole], at), np.quantile(baselines[whole], at)])
            if whole.any()
            else np.array([same, same])
        )
    return maps


def _weights(dev: Orbits, weights: str | Mapping[str, float]) -> dict[str, float]:
    names = list(dev.families)
    if weights == EACH:
        return dict.fromkeys(names, 1.0)
    if weights == UNIFORM:
        sizes = np.ones(len(names))
    elif weights == SENSITIVITY:
        sizes = np.nan_to_num([sensitivity(family.shifts) for family in dev.families.values()])
    elif isinstance(weights, Mapping) and set(weights) == set(names):
        sizes = np.array([weights[name] for name in names], dtype=np.float64)
    else:
        raise InvalidInput(
            f"weights must be {UNIFORM!r}, {SENSITIVITY!r}, {EACH!r} or a number for each of {names}, got {weights!r}"
        )
    if not (np.isfinite(sizes).all() and (sizes >= 0).all()):
        raise InvalidInput(
            f"weights must be finite and at least 0, got {dict(zip(names, sizes.tolist(), strict=True))}"
        )
    if sizes.sum() == 0:
        sizes = np.ones(len(names))
    return dict(zip(names, (sizes / sizes.sum()).tolist(), strict=True))


def _median(values: np.ndarray) -> float:
    present = values[~np.isnan(values)]
    return float(np.median(present)) if len(present) else float("nan")


def _medians(shifts: Iterable[np.ndarray]) -> list[float]:
    """Median of each row; 0, no correction, where there is no score on this split."""
    return [float(np.nan_to_num(_median(row))) for row in shifts]


def calibrator(terms: Terms, *, strength: float, evaluator: str, fingerprint: str = "") -> Calibrator:
    """Put learnt terms and a chosen λ into what is exported."""
    return Calibrator(
        evaluator=evaluator,
        fingerprint=fingerprint,
        reading=terms.reading,  # type: ignore[arg-type]  # checked by the model
        strength=strength,
        weights=dict(terms.weights),
        shifts={name: dict(probes) for name, probes in terms.shifts.items()},
        family_shifts=dict(terms.family_shifts),
        quantiles={
            name: {probe: (pair[0].tolist(), pair[1].tolist()) for probe, pair in maps.items()}
            for name, maps in terms.quantiles.items()
        },
        ridge=terms.ridge,
    )


def terms_of(model: Calibrator) -> Terms:
    """The terms that a calibrator was made of."""
    return Terms(
        reading=model.reading,
        weights=dict(model.weights),
        shifts={name: dict(probes) for name, probes in model.shifts.items()},
        family_shifts=dict(model.family_shifts),
        quantiles={
            name: {probe: np.array(pair) for probe, pair in maps.items()} for name, maps in model.quantiles.items()
        },
        ridge=model.ridge,
    )
