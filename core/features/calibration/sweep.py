"""The sweep over λ and the choice of λ*.

Source: PROTOCOL section 5 (paper A, 3.5, A.7, B.6).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress

import numpy as np
import pandas as pd

from core.analysis.table import View
from core.errors import InvalidInput
from core.evaluators.calibrated import Calibrator, calibrated_name
from core.features.calibration.orbits import Family, Orbits, median, orbits
from core.features.calibration.readings import (
    Corrections,
    Terms,
    corrections,
    parts,
    sensitivity,
    terms_of,
    together,
    weighted,
)
from core.statistics.arithmetic import row_medians
from core.statistics.bootstrap import LEAST_N
from core.statistics.changes import percent_change, standard_deviation

LAMBDAS = tuple(step / 20 for step in range(21))  # strengths swept: 0, 0.05, …, 1. Source: paper A, A.7.
EPSILONS = (0.005, 0.01, 0.02)  # how much correlation may be lost. Source: paper A, A.7.
_SAME = 1e-9  # sensitivities that differ by less, relatively, differ by rounding


@dataclass(frozen=True, slots=True)
class Sweep:
    """Sensitivity and correlation at every strength, on one split."""

    lambdas: tuple[float, ...]  # strengths, l of them
    # by family, median over items of the item's median |Δ_Ŝ| on the score's own scale, float64 [l]
    sensitivity: Mapping[str, np.ndarray]
    # standard deviation of the calibrated unedited scores, float64 [l]. A correction that shrinks the whole scale
    # lowers every sensitivity and gains nothing: dividing by the spread takes that out.
    spread: np.ndarray
    # sum over the families that have a score of sensitivity over spread, float64 [l]; what λ* minimises
    total: np.ndarray
    # by family, upper end of the 95 % interval of its uncalibrated sensitivity over spread
    ceilings: Mapping[str, float]
    # by other evaluator or human rating H, ρ of Ŝ with H, float64 [l]; NaN where undefined
    spearman: Mapping[str, np.ndarray]
    # by H, items of the split that have an unedited score and one of H: ρ is of these, and NaN of fewer than LEAST_N
    pairs: Mapping[str, int]
    n: int  # items of the split that have an unedited score


@dataclass(frozen=True, slots=True)
class Choice:
    """The strength chosen."""

    strength: float  # λ*, the smallest λ that minimises the total sensitivity among those allowed
    # where ρ(Ŝ, H) ≥ ρ(S, H) - ε for every H, and no family is moved further than the upper end of its uncalibrated
    # interval, bool [l]
    allowed: np.ndarray
    note: str = ""  # what did not constrain, or that nothing is gained; empty otherwise


def sweep(
    scores: Orbits, terms: Terms, others: Mapping[str, np.ndarray], *, lambdas: Sequence[float] = LAMBDAS
) -> Sweep:
    """Follow sensitivity and correlation along λ; every score is linear in λ, so corrections are made once.

    ``others``: H by name, float64 [n] over the same items, NaN where missing. Raises InvalidInput if an H has another
    number of items.
    """
    return sweep_of(scores, corrections(scores, terms), others, lambdas=lambdas)


def sweep_of(
    scores: Orbits, changes: Corrections, others: Mapping[str, np.ndarray], *, lambdas: Sequence[float] = LAMBDAS
) -> Sweep:
    """The same of corrections that were made already, or measured; see :func:`sweep`."""
    for name, ratings in others.items():
        if len(ratings) != len(scores.clean):
            raise InvalidInput(f"{name} has {len(ratings)} scores for {len(scores.clean)} items; align them first")
    along = {
        name: _sensitivities(family, changes.variants[name] - changes.baselines[name], lambdas)
        for name, family in scores.families.items()
    }
    return _swept(scores, along, changes.clean, others, lambdas, ceilings_of(scores))


class Sweeps:
    """Sweeps of one split under many weights: what weights do not change, and families of one weight, are swept
    once."""

    def __init__(
        self, scores: Orbits, terms: Terms, others: Mapping[str, np.ndarray], *, ceilings: Mapping[str, float]
    ) -> None:
        self._scores, self._others, self._ceilings = scores, others, ceilings
        self._parts = parts(scores, terms)
        self._known: dict[tuple[str, float, tuple[float, ...]], np.ndarray] = {}

    def corrections(self, terms: Terms) -> Corrections:
        """As :func:`core.features.calibration.readings.corrections` gives them for the same terms with other
        weights."""
        weighed = {name: weighted(part, name, terms) for name, part in self._parts.items()}
        return together(len(self._scores.clean), weighed)

    def sweep(self, terms: Terms, *, lambdas: Sequence[float] = LAMBDAS) -> Sweep:
        """As :func:`sweep` gives it."""
        along = {name: self._along(name, terms, tuple(lambdas)) for name in self._parts}
        return _swept(self._scores, along, self.corrections(terms).clean, self._others, lambdas, self._ceilings)

    def _along(self, name: str, terms: Terms, lambdas: tuple[float, ...]) -> np.ndarray:
        asked = (name, terms.weights[name], lambdas)
        if asked not in self._known:
            _, variants, baselines = weighted(self._parts[name], name, terms)
            self._known[asked] = _sensitivities(self._scores.families[name], variants - baselines, lambdas)
        return self._known[asked]


def _swept(
    scores: Orbits,
    along: Mapping[str, np.ndarray],
    change: np.ndarray,
    others: Mapping[str, np.ndarray],
    lambdas: Sequence[float],
    ceilings: Mapping[str, float],
) -> Sweep:
    """A sweep from the sensitivities along λ and what λ multiplies in the unedited scores, float64 [n]."""
    spread = np.array([standard_deviation(scores.clean + strength * change) for strength in lambdas])
    spread = np.where(spread > 0, spread, math.nan)
    known = [values / spread for values in along.values() if not np.isnan(values).any()]
    total = np.sum(known, axis=0) if known else np.full(len(lambdas), math.nan)
    spearman = _spearman_along(scores.clean, change, others, lambdas)
    n = {name: int((~np.isnan(scores.clean + ratings)).sum()) for name, ratings in others.items()}
    scored = int((~np.isnan(scores.clean)).sum())
    return Sweep(tuple(lambdas), along, spread, total, ceilings, spearman, n, scored)


def ceilings_of(scores: Orbits) -> dict[str, float]:
    """By family, upper end of the 95 % interval of its uncalibrated sensitivity over spread; NaN where undefined."""
    spread = standard_deviation(scores.clean) or math.nan
    return {
        name: median(row_medians(np.abs(family.shifts)), scores.sources).high / spread
        for name, family in scores.families.items()
    }


def raised(swept: Sweep, strength: float) -> dict[str, float]:
    """Families that a strength moves beyond the upper end of their uncalibrated interval -> times as far as before."""
    at, found = swept.lambdas.index(strength), {}
    for name, values in swept.sensitivity.items():
        relative = values / swept.spread
        if relative[at] > swept.ceilings[name]:
            found[name] = float(relative[at] / relative[0]) if relative[0] > 0 else math.inf
    return found


def choose(swept: Sweep, *, epsilon: float = 0.01) -> Choice:
    """Choose λ*: the smallest λ minimising the total among those that keep every correlation and raise no family.

    A correlation that is undefined at λ = 0 constrains nothing; the note names it. Raises InvalidInput if epsilon is
    negative, or the sweep does not start at 0.
    """
    if not epsilon >= 0:
        raise InvalidInput(f"epsilon must be at least 0, got {epsilon!r}")
    if not swept.lambdas or swept.lambdas[0] != 0:
        raise InvalidInput(f"the sweep must start at 0, the uncalibrated score, got {swept.lambdas[:1]}")
    allowed = np.ones(len(swept.lambdas), dtype=bool)
    for values in swept.spearman.values():
        if not math.isnan(values[0]):
            allowed &= values >= values[0] - epsilon - 1e-12  # an undefined later one compares false
    for step, strength in enumerate(swept.lambdas):
        allowed[step] &= not raised(swept, strength)
    notes = [f"no correlation with {name} to keep" for name, values in swept.spearman.items() if math.isnan(values[0])]
    if np.isnan(swept.total).any():
        return Choice(0.0, allowed, "no family has a score on this split, or every score is the same")
    best = swept.total[allowed].min()
    within = allowed & (swept.total <= best + _SAME * max(abs(swept.total[0]), 1e-300))
    chosen = int(np.flatnonzero(within)[0])
    if chosen == 0:
        notes.append("no strength lowers the sensitivity")
    return Choice(swept.lambdas[chosen], allowed, "; ".join(notes))


def calibrated(scores: Orbits, terms: Terms, strength: float) -> Orbits:
    """All scores of a split after calibration, in the same arrangement."""
    return moved(scores, corrections(scores, terms), strength)


def moved(scores: Orbits, changes: Corrections, strength: float) -> Orbits:
    """All scores with a share of their corrections, in the same arrangement."""
    families = {
        name: Family(
            family.axis,
            family.probes,
            family.scores + strength * changes.variants[name],
            family.baselines + strength * changes.baselines[name],
        )
        for name, family in scores.families.items()
    }
    return Orbits(scores.evaluator, scores.items, scores.clean + strength * changes.clean, families, scores.sources)


def _sensitivities(family: Family, change: np.ndarray, lambdas: Sequence[float]) -> np.ndarray:
    """Sensitivity at each λ; items without any shift are dropped once, not at every λ."""
    shifts = family.shifts
    some = ~np.isnan(shifts).all(axis=0)
    if not some.all():
        shifts, change = shifts[:, some], change[:, some]
    scale = _common_scale(shifts, change)
    if scale is not None:  # |shift + λ · scale · shift|: its medians scale alike
        start = sensitivity(shifts)
        return np.array([abs(1 + strength * scale) * start for strength in lambdas])
    found, buffer = np.empty(len(lambdas)), np.empty_like(shifts)
    for step, strength in enumerate(lambdas):
        np.multiply(change, strength, out=buffer)
        buffer += shifts
        np.abs(buffer, out=buffer)
        found[step] = np.median(row_medians(buffer, overwrite=True)) if some.any() else math.nan
    return found


def _common_scale(shifts: np.ndarray, change: np.ndarray) -> float | None:
    """The number c with change = c · shifts, to rounding; None where there is none."""
    at, moved = np.nan_to_num(shifts), np.nan_to_num(change)
    _, power = np.frexp(max(np.abs(at).max(initial=0), np.abs(moved).max(initial=0)))  # squares stay numbers
    at, moved = np.ldexp(at, -int(power)), np.ldexp(moved, -int(power))
    square = float((at * at).sum())
    if square == 0:
        return None
    scale = float((at * moved).sum()) / square
    return scale if np.abs(moved - scale * at).max() <= 1e-12 * np.abs(at).max() else None


def _spearman_along(
    clean: np.ndarray, change: np.ndarray, others: Mapping[str, np.ndarray], lambdas: Sequence[float]
) -> dict[str, np.ndarray]:
    groups: dict[bytes, list[str]] = {}
    for name, ratings in others.items():
        groups.setdefault((~(np.isnan(clean) | np.isnan(ratings))).tobytes(), []).append(name)
    found: dict[str, np.ndarray] = {}
    for mask, names in groups.items():
        whole = np.frombuffer(mask, dtype=bool)
        if whole.sum() < LEAST_N:
            found.update({name: np.full(len(lambdas), math.nan) for name in names})
            continue
        targets = np.array([_standard_ranks(others[name][whole]) for name in names])
        still = not change[whole].any()  # readings that leave unedited scores alone need one ranking
        rows = [
            targets @ _standard_ranks(clean[whole] + strength * change[whole])
            for strength in (lambdas[:1] if still else lambdas)
        ]
        values = np.array(rows * len(lambdas) if still else rows)
        found.update({name: values[:, column] for column, name in enumerate(names)})
    return {name: found[name] for name in others}


def _standard_ranks(values: np.ndarray) -> np.ndarray:
    """Mean ranks, centred, of length 1: their product is Spearman's ρ. NaN where all values are equal."""
    n = len(values)
    if n < 2:
        return np.full(n, math.nan)
    order = np.argsort(values)
    ordered = values[order]
    ranks = np.arange(n, dtype=np.float64)
    new = np.empty(n, dtype=bool)
    new[0] = True
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    if not new.all():
        starts = np.flatnonzero(new)
        ends = np.append(starts[1:], n)
        ranks = np.repeat((starts + ends - 1) / 2, ends - starts)
    ranks -= (n - 1) / 2
    length = math.sqrt(ranks @ ranks)
    placed = np.empty(n)
    placed[order] = ranks / length if length else math.nan
    return placed


def calibrated_shifts(view: View, model: Calibrator, *, name: str | None = None) -> pd.DataFrame:
    """Shifts of one evaluator after calibration, by default under the name that :mod:`core.evaluators.calibrated` gives
    it. Returns one row a scored shift of the calibrated families and probes: evaluator, corpus, item, axis, family,
    probe, subject, language, baseline_score, score, delta, percent; all of them calibrated. Raises InvalidInput if no
    score is of the evaluator, or none of a calibrated probe."""
    if model.evaluator not in view.evaluators:
        here = ", ".join(view.evaluators) or "none"
        raise InvalidInput(f"the calibrator is for {model.evaluator!r}; evaluators here: {here}")
    before, families = orbits(view, model.evaluator), {}
    for of, family in before.families.items():
        known = np.array([probe in model.shifts.get(of, {}) for probe in family.probes])
        if known.any():
            probes = tuple(compress(family.probes, known.tolist()))
            families[of] = Family(family.axis, probes, family.scores[known], family.baselines[known])
    before = replace(before, families=families)
    if not before.families:
        raise InvalidInput(f"no score is of a calibrated probe; the calibrator knows {', '.join(sorted(model.shifts))}")
    after = calibrated(before, terms_of(model), model.strength)
    frames = [_rows(after, family, each) for family, each in after.families.items()]
    scope, found = view.table.scope, pd.concat(frames, ignore_index=True)
    found.insert(0, "evaluator", name or calibrated_name(model))
    found.insert(6, "subject", scope.subject)
    found.insert(7, "language", scope.language)
    return found


def _rows(scores: Orbits, name: str, family: Family) -> pd.DataFrame:
    probe, item = np.nonzero(~np.isnan(family.shifts))
    after, before = family.scores[probe, item], family.baselines[probe, item]
    corpus, names = zip(*(scores.items[place] for place in item), strict=True) if len(item) else ((), ())
    return pd.DataFrame(
        {
            "corpus": corpus,
            "item": names,
            "axis": family.axis,
            "family": name,
            "probe": [family.probes[place] for place in probe],
            "baseline_score": before,
            "score": after,
            "delta": after - before,
            "percent": percent_change(after, before),
        }
    )
