"""A calibration as measured: calibrated scores made of the evaluator's own scores of every variant of every variant.

λ is chosen by what was measured of the dev split; what is reported is measured of the held-out split.

The calibrated score is linear in λ, Ŝ = S + λ · C(x), and C(x) needs nothing but the scores of x and of its variants,
for the unedited pair and for a variant alike. So one set of scores gives the measured effect at every λ, of every
weighting, of the readings ``orbit`` and ``absolute``; :mod:`core.evaluators.calibrated` computes the same.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from core.evaluators.calibrated import apply
from core.features.calibration.effect import MEASURES, effect_of
from core.features.calibration.fit import Fit
from core.features.calibration.measurement import Measurement, about, composed, read_all
from core.features.calibration.measuring import SAME, difference
from core.features.calibration.orbits import Family, Orbits
from core.features.calibration.readings import CHOSEN_MEASURED, FIXED, Corrections, Terms, calibrator
from core.features.calibration.sweep import Choice, Sweep, choose, raised, sweep_of
from core.probes.base import IDENTITY
from core.statistics.flip_risk import GAPS
from core.store.run_files import Run


@dataclass(frozen=True, slots=True)
class Measured:
    """A calibration on the held-out items, every score of it scored."""

    scores: Orbits  # uncalibrated, of the pairs whose calibrated score is known too
    changes: Corrections  # what λ multiplies, measured
    others: Mapping[str, np.ndarray]  # H by name over the same items
    sweep: Sweep  # along λ, held out; it chose nothing
    dev: Sweep | None  # along λ on the dev split, which chose; None where the measurement lacks some of its items
    choice: Choice | None  # λ* by ``dev``; None likewise
    file: Measurement  # the scores behind it

    @property
    def sweeps(self) -> dict[str, Sweep]:
        """By split as :func:`core.features.calibration.fit.sweep_table` names it."""
        return {"measured": self.sweep} | ({} if self.dev is None else {"measured dev": self.dev})

    def effect(
        self, strength: float, *, gaps: Sequence[float] = GAPS, measures: Collection[str] = MEASURES
    ) -> pd.DataFrame:
        """Before and after at a strength; see :meth:`core.features.calibration.effect.TwoSides.rows`."""
        return effect_of(self.scores, self.changes, strength, self.others, gaps=gaps).rows(measures)

    def caveats(self, strength: float) -> tuple[str, ...]:
        """What the measurement says against a strength, in sentences."""
        said = []
        if self.choice is None:
            said.append(
                "This measurement lacks items of the dev split, so that λ is not chosen by what was measured; measure "
                "again."
            )
        if higher := raised(self.sweep, strength):
            listed = ", ".join(f"{name} ({times:.2f} times)" for name, times in higher.items())
            said.append(f"Measured, this strength moves further than before: {listed}.")
        return tuple(said)


@dataclass(frozen=True, slots=True)
class Settled:
    """The strength of a calibration, where no reader names another."""

    choice: Choice  # the strength, where it was allowed, and what is to be said of it
    whence: str  # where it comes from, one of CHOSEN, CHOSEN_MEASURED and FIXED

    @property
    def strength(self) -> float:
        """λ."""
        return self.choice.strength

    @property
    def chosen(self) -> float | None:
        """λ*; None where nothing chose one."""
        return None if self.whence == FIXED else self.strength

    @property
    def named(self) -> str:
        """The best strength where something chose it; else the strength."""
        return f"{'Strength' if self.chosen is None else 'Best strength'} {self.strength:g}"

    @property
    def told(self) -> str:
        """The strength and what chose it, or that nothing did."""
        return f"{self.named}, {self.whence}"


def settled(found: Fit, own: Measured | None = None) -> Settled:
    """The strength by what was measured where that is known, else by stored scores, else the one that none chose."""
    if own is not None and own.choice is not None:
        return Settled(own.choice, CHOSEN_MEASURED)
    return Settled(found.choice, found.whence)


def measured(found: Fit, file: Measurement) -> Measured:
    """Calibrate both splits by what a measurement holds; it must serve the fit (:func:`unfit`)."""
    scores, changes, others = _of_split(found.scores, found.others, found, file)
    dev = choice = None
    if not lacking(found.dev_scores, file):
        dev = sweep_of(*_of_split(found.dev_scores, found.dev_others, found, file))
        choice = choose(dev, epsilon=found.epsilon)
    return Measured(scores, changes, others, sweep_of(scores, changes, others), dev, choice, file)


def _of_split(
    split: Orbits, others: Mapping[str, np.ndarray], found: Fit, file: Measurement
) -> tuple[Orbits, Corrections, dict[str, np.ndarray]]:
    """What a measurement holds of a split: scores, what λ multiplies, and H."""
    places = {item: place for place, item in enumerate(file.items)}
    where = np.array([places.get(item, -1) for _, item in split.items])
    kept = where >= 0
    own = {name: file.of(name)[where[kept]] for name in file.scores}
    scores, changes = composed_corrections(split.part(kept), own, found.terms)
    return scores, changes, {name: values[kept] for name, values in others.items()}


def lacking(split: Orbits, file: Measurement) -> int:
    """Items of a split that have an unedited score and are not in a measurement."""
    scored = {item for (_, item), value in zip(split.items, split.clean, strict=True) if value == value}
    return len(scored - set(file.items))


def composed_corrections(scores: Orbits, own: Mapping[str, np.ndarray], terms: Terms) -> tuple[Orbits, Corrections]:
    """The scores, and what λ multiplies, for every pair from its own variants; a pair of which one variant has no score
    has neither. ``own``: scores by name of the composition, float64 [n]; ``terms``: of a reading over orbits."""
    model = calibrator(terms, strength=1.0, evaluator=scores.evaluator)

    def correction(first: str) -> np.ndarray:
        orbits = {
            name: np.array([own[composed(first, probe)] for probe in family.probes])
            for name, family in scores.families.items()
            if terms.weights[name] > 0
        }
        change = apply(model, own[first], orbits=orbits) - own[first]
        lacking = [np.isnan(values).any(axis=0) for values in orbits.values()]
        return np.where(np.any(lacking, axis=0), np.nan, change)

    clean = correction(IDENTITY)
    before = _known(own[IDENTITY], clean)
    families, variants, baselines = {}, {}, {}
    for name, family in scores.families.items():
        changes = np.array([correction(probe) for probe in family.probes])
        stored = np.array([own[probe] for probe in family.probes])
        shape = stored.shape
        families[name] = Family(
            family.axis, family.probes, _known(stored, changes), np.broadcast_to(before, shape).copy()
        )
        variants[name], baselines[name] = changes, np.broadcast_to(clean, shape).copy()
    whole = Orbits(scores.evaluator, scores.items, before, families, scores.sources)
    return whole, Corrections(clean, variants, baselines)


def unfit(found: Fit, file: Measurement, run: Run, *, subject: str, language: str) -> str:
    """Why a measurement cannot be shown for a calibration, in a sentence; empty where it can."""
    if (file.evaluator, file.subject, file.language) != (found.evaluator, subject, language):
        return f"It is of {file.evaluator} under captions {file.subject} in {file.language}."
    key, created = about(run)
    if (file.run, file.run_key) != (run.id, key):
        return f"Run {run.id} was made anew with other pairs or another evaluator since; measure again."
    if file.run_created != created:
        return f"Run {run.id} was made anew since (begun {created}, measured for the one of {file.run_created})."
    families = {name: family.probes for name, family in found.scores.families.items()}
    unknown = [name for name, probes in families.items() if not set(probes) <= set(file.families.get(name, ()))]
    if unknown:
        told = ", ".join(file.families)
        return f"It is of a calibrator for {told}; this one is for {', '.join(unknown)} too."
    if missing := lacking(found.scores, file):
        return f"{missing} of {found.n_test} held-out items are not in it; measure again."
    if (apart := difference(found, file)) > SAME:
        return (
            f"Its scores are not those of run {run.id}: the same pairs differ by up to {apart:.3g} SD; measure again."
        )
    return ""


def find(found: Fit, run: Run, *, subject: str, language: str) -> tuple[Measured | None, tuple[str, ...]]:
    """The latest measurement that serves a calibration, if any; and a sentence for each of this evaluator that is stale
    or broken."""
    files, told = read_all(run.id)
    stale = []
    for file in files:
        if file.evaluator != found.evaluator:
            continue
        if not (why := unfit(found, file, run, subject=subject, language=language)):
            return measured(found, file), ()
        stale.append(f"A measurement of {file.made} is not shown. {why}")
    return None, (*stale, *told)


def _known(values: np.ndarray, changes: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(changes), np.nan, values)
