"""One calibration from the table of scores: split by source, learn on dev, choose λ* there, report on the test half."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from core.analysis.comparisons import families, pairs
from core.analysis.effects import bounds, ends
from core.analysis.questions.directional import needs
from core.analysis.scores import once
from core.analysis.selectivity import harmless, lack
from core.analysis.table import View
from core.errors import InvalidInput
from core.evaluators.calibrated import base_of
from core.features.calibration.orbits import Orbits, crossed_split, dev_split, orbits
from core.features.calibration.readings import (
    BY_CONSTRUCTION,
    CHOSEN,
    CONSTRUCTED,
    EACH,
    FIXED,
    MEASURED,
    READINGS,
    SENSITIVITY,
    UNIFORM,
    WEIGHTED,
    Terms,
    corrections,
    learn,
    weighed,
)
from core.features.calibration.sweep import Choice, Sweep, Sweeps, calibrated, ceilings_of, choose, raised, sweep
from core.probes.base import IDENTITY
from core.statistics.bootstrap import LEAST_N
from core.statistics.rank_agreement import spearman_bands
from core.statistics.selectivity import Selectivity, selectivity
from core.statistics.wording import counted

ORACLE = "oracle"
WEIGHTS = (UNIFORM, SENSITIVITY, EACH, ORACLE)
"""Uniform; proportional to each family's sensitivity; 1 for each; the best on the test split, an upper bound."""

FEW = 30  # held-out items below which a result is called one of few before any number is
HUMAN = "human ratings"


@dataclass(frozen=True, slots=True)
class Fit:
    """A calibration with everything that the page and the command report of it."""

    evaluator: str  # whose scores are calibrated
    terms: Terms  # learnt on the dev split
    choice: Choice  # of a strength, and where the constraint holds, on the dev split; see :attr:`whence` for its worth
    dev: Sweep  # sweep over the dev split, which chose
    test: Sweep  # sweep over the held-out split, which is reported
    scores: Orbits  # the test split
    others: Mapping[str, np.ndarray]  # H by name over the test split, float64 [n]
    dev_scores: Orbits  # dev_scores, dev_others: the same of the dev split
    dev_others: Mapping[str, np.ndarray]
    epsilon: float  # correlation with each H that may be lost
    oracle: bool  # whether the weights saw the test split: an upper bound, no result
    n_dev: int  # items with an unedited score
    n_test: int  # likewise
    n_left_out: int  # items in neither, since one of their two sources stands on either side
    n_rated: tuple[int, int] = (0, 0)  # items of the dev and of the test split whose unedited pair people rated

    @property
    def people(self) -> str:
        """Whether people's ratings are an H, and of how many items, in a sentence; empty where nobody rated any."""
        if not any(self.n_rated):
            return ""
        rated = f"People rated {counted(self.n_rated[0], 'dev item')} and {self.n_rated[1]} held out"
        if min(self.n_rated) < LEAST_N:
            return (
                f"{rated}: of fewer than {LEAST_N} on either side no correlation is known, so nothing is held to them."
            )
        return f"{rated}: the score is {'' if HUMAN in self.others else 'not '}held to their order too."

    @property
    def basis(self) -> str:
        """What the held-out numbers rest on: the formula, or scores that were stored."""
        return CONSTRUCTED if self.terms.reading in BY_CONSTRUCTION else MEASURED

    @property
    def whence(self) -> str:
        """Where the strength comes from: one of CHOSEN and FIXED."""
        return CHOSEN if self.basis == MEASURED else FIXED

    @property
    def left_out(self) -> str:
        """How many items neither split holds, in a sentence; empty where each is in one of them."""
        if not self.n_left_out:
            return ""
        many = f"{counted(self.n_left_out, 'item')} {'is' if self.n_left_out == 1 else 'are'}"
        return f"{many} in neither split, since each shares a source with either."

    def caveats(self, strength: float, *, measured: bool = False) -> tuple[str, ...]:
        """What must be said before any number of this calibration at a strength λ, in sentences, the gravest first;
        ``measured``: whether what was measured of it stands beside."""
        said = []
        if self.n_test < FEW:
            many = f"{counted(self.n_test, 'item')} {'is' if self.n_test == 1 else 'are'}"
            said.append(f"Only {many} held out: what is reported of them says little.")
        if self.terms.reading in BY_CONSTRUCTION:
            said.append(self._constructed(strength, measured))
        if higher := raised(self.test, strength):
            listed = ", ".join(f"{name} ({times:.2f} times)" for name, times in higher.items())
            said.append(f"On the held-out split this strength moves further than before: {listed}.")
        if self.oracle:
            said.append("Oracle weights have seen the held-out split: an upper bound, not a result.")
        return tuple(said)

    def _constructed(self, strength: float, measured: bool) -> str:
        weights = self.terms.weights
        if self.terms.reading == "ridge":
            return (
                f"By construction in large part: the ridge reading is told each item's own n shifts under a family and "
                f"takes λ · n / (n + {self.terms.ridge:g}) of their median back."
            )
        if self.terms.reading == "absolute":
            return (
                "By construction, not measured: the absolute reading cancels on involutions, so no λ changes a shift "
                "under a flip on the score's own scale; only its spread changes."
            )
        cap, at = max(weights.values()), self.test.lambdas.index(strength)
        more = (
            "What was measured stands beside it, and chooses λ where it holds the dev split."
            if measured
            else "Score the variants of the variants to measure it, and to choose λ by what the dev split then says."
        )
        return (
            f"By construction, not measured: at λ = {strength:g} every shift is multiplied by 1 − λ·w on the score's "
            f"own scale. With {len(weights)} {'family' if len(weights) == 1 else 'families'} the largest weight is "
            f"{cap:.3g}, so no shift falls by more than {100 * cap:.3g} %, whatever the scores are, and a larger λ "
            f"always lowers it further: the sweep chooses no λ. {self._shrunk(at)}{more}"
        )

    def _shrunk(self, at: int) -> str:
        """What of a fall is only a smaller scale."""
        share = self.test.spread[at] / self.test.spread[0]
        if np.isnan(share):
            return ""
        if share >= 1:
            return "The spread of the unedited scores, which sensitivities are divided by, does not shrink. "
        return (
            f"The spread of the unedited scores, which sensitivities are divided by, shrinks to {100 * share:.1f} % of "
            "what it was: that much of the fall is no gain. "
        )

    def bands(self, *, level: float = 0.95) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Bootstrap band of ρ along λ by H, on the test split; see :func:`spearman_bands`."""
        change = corrections(self.scores, self.terms).clean
        return spearman_bands(
            self.scores.clean, change, self.others, self.test.lambdas, level=level, sources=self.scores.sources
        )


def fit(
    view: View,
    *,
    evaluator: str,
    reading: str = READINGS[0],
    weights: str = UNIFORM,
    epsilon: float = 0.01,
    against: Sequence[str] | None = None,
    ratings: pd.DataFrame | None = None,
    judged: Mapping[str, pd.Series] = MappingProxyType({}),
) -> Fit:
    """Learn, choose and hold out, over one corpus of the table of scores; ``epsilon``: correlation with each H that may
    be lost. Raises InvalidInput if the evaluator has no shifts, weights or an H is not known, or a split would be
    empty.

    Args:
        against: names of H; None: every other evaluator of the table, and people where ``ratings`` has LEAST_N items
            on either side of the split.
        ratings: columns corpus, item, probe, subject, rating (more is better): people's; those of the unedited
            pair are used, averaged an item.
        judged: further H by name, a number of the unedited pair by (corpus, item); see
            :mod:`core.features.calibration.reference_order`.
    """
    if weights not in WEIGHTS:
        raise InvalidInput(f"weights must be one of {', '.join(WEIGHTS)}, got {weights!r}")
    dev, test, dev_others, test_others = halves(
        view, evaluator=evaluator, against=against, ratings=ratings, judged=judged
    )
    oracle = weights == ORACLE and reading in WEIGHTED
    terms = (
        oracle_terms(dev, test, test_others, reading=reading, epsilon=epsilon)
        if oracle
        else learn(dev, reading=reading, weights=weights if reading in WEIGHTED else UNIFORM)
    )
    swept = sweep(dev, terms, dev_others)
    return Fit(
        evaluator=evaluator,
        terms=terms,
        choice=choose(swept, epsilon=epsilon),
        dev=swept,
        test=sweep(test, terms, test_others),
        scores=test,
        others=test_others,
        dev_scores=dev,
        dev_others=dev_others,
        epsilon=epsilon,
        oracle=oracle,
        n_dev=swept.n,
        n_test=int((~np.isnan(test.clean)).sum()),
        n_left_out=int(view.items.sum()) - len(dev.items) - len(test.items),
        n_rated=(_n_rated(view, dev, ratings), _n_rated(view, test, ratings)),
    )


def halves(
    view: View,
    *,
    evaluator: str,
    against: Sequence[str] | None = None,
    ratings: pd.DataFrame | None = None,
    judged: Mapping[str, pd.Series] = MappingProxyType({}),
) -> tuple[Orbits, Orbits, dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Scores of the dev and of the test split, and what each is held to; see :func:`fit`. Raises InvalidInput if the
    evaluator has no shifts, an H is not known, or a split would be empty."""
    own = orbits(view, evaluator)
    table, people = view.table, _rated(view, own, ratings)
    others = {name: table.clean(name)[view.items] for name in table.evaluators if name != own.evaluator}
    if not np.isnan(people).all():
        others[HUMAN] = people
    if judged:
        items = pd.MultiIndex.from_tuples(own.items)
        others |= {name: values.reindex(items).to_numpy(dtype=np.float64) for name, values in judged.items()}
    if unknown := [name for name in against or () if name not in others]:
        raise InvalidInput(f"nothing to hold the score to is named {unknown[0]!r}; there are: {', '.join(others)}")
    others = {name: others[name] for name in (others if against is None else against)}
    on_dev, on_test = (each[view.items] for each in _split(view.table.view()))
    if not on_dev.any() or not on_test.any():
        many = counted(len(own.items), "item")
        raise InvalidInput(f"{many} cannot be split into dev and test; audit items of more sources")
    dev_others = {name: values[on_dev] for name, values in others.items()}
    test_others = {name: values[on_test] for name, values in others.items()}
    dev, test = own.part(on_dev), own.part(on_test)
    if against is None and min(_n_rated(view, dev, ratings), _n_rated(view, test, ratings)) < LEAST_N:
        for named in (dev_others, test_others):
            named.pop(HUMAN, None)
    return dev, test, dev_others, test_others


@once
def _split(whole: View) -> tuple[np.ndarray, np.ndarray]:
    """Which items of a table are on the dev and on the test side, whatever a slice keeps of them, bool [N] each."""
    items, sources = whole.table.items, whole.table.sources
    first = items["source"].astype(str).tolist()
    if sources is not None and sources.ndim == 2:
        return crossed_split(first, items["second_source"].astype(str).tolist())
    on_dev = dev_split(first)
    return on_dev, ~on_dev


def _rated(view: View, own: Orbits, ratings: pd.DataFrame | None) -> np.ndarray:
    """People's mean rating of the unedited pair of some items, float64 [n]; NaN where nobody rated it."""
    if ratings is None or ratings.empty:
        return np.full(len(own.items), np.nan)
    rated = ratings[(ratings["probe"] == IDENTITY) & (ratings["subject"] == view.table.scope.subject)]
    people = rated.groupby(["corpus", "item"], observed=True)["rating"].mean()
    return people.reindex(pd.MultiIndex.from_tuples(own.items)).to_numpy(dtype=np.float64)


def _n_rated(view: View, own: Orbits, ratings: pd.DataFrame | None) -> int:
    """Items of a split that people rated and that have an unedited score."""
    return int((~np.isnan(_rated(view, own, ratings) + own.clean)).sum())


def sweep_table(
    found: Fit,
    bands: Mapping[str, tuple[np.ndarray, np.ndarray]] | None = None,
    *,
    measured: Mapping[str, Sweep] = MappingProxyType({}),
    allowed: np.ndarray | None = None,
) -> pd.DataFrame:
    """Both sweeps of a fit as one long table: what the page draws and the command writes.

    Args:
        bands: of :meth:`Fit.bands`; they belong to the test split.
        measured: sweeps with every score of them scored, by split (``measured`` on the test split, ``measured dev``).
        allowed: strengths that were allowed where λ was chosen, bool [l]; None: those of the fit.

    Returns:
        Columns split (dev, test, and those measured), strength, allowed, measure (``sensitivity`` by family and
        ``axis sensitivity``, both over the spread of the calibrated unedited scores; ``total sensitivity``, their sum
        over families; ``spread``, on the score's own scale; ``spearman`` by H), name, value, low, high, n (items; of
        ``spearman`` those that H has an order of too).
    """
    rows: list[tuple[Any, ...]] = []
    inside_bounds = found.choice.allowed if allowed is None else allowed
    for split, swept in {"dev": found.dev, "test": found.test, **measured}.items():
        series = [("sensitivity", name, values / swept.spread) for name, values in swept.sensitivity.items()]
        series += [("axis sensitivity", axis, values) for axis, values in axis_sensitivity(found, swept).items()]
        series += [("total sensitivity", "", swept.total), ("spread", "", swept.spread)]
        series += [("spearman", name, values) for name, values in swept.spearman.items()]
        for measure, name, values in series:
            nothing = np.full(len(swept.lambdas), np.nan)
            inside = measure == "spearman" and split == "test" and bands is not None and name in bands
            low, high = bands[name] if inside and bands is not None else (nothing, nothing)
            along = zip(swept.lambdas, inside_bounds, values, low, high, strict=True)
            n = swept.pairs[name] if measure == "spearman" else swept.n
            rows += [(split, at, kept, measure, name, *told, n) for at, kept, *told in along]
    columns = ("split", "strength", "allowed", "measure", "name", "value", "low", "high", "n")
    return pd.DataFrame(rows, columns=list(columns))


def axis_sensitivity(found: Fit, swept: Sweep) -> dict[str, np.ndarray]:
    """Mean over each axis' families of sensitivity over spread along λ; families without a score are left out."""
    axes: dict[str, list[np.ndarray]] = {}
    for name, family in found.scores.families.items():
        if not np.isnan(swept.sensitivity[name]).any():
            axes.setdefault(family.axis, []).append(swept.sensitivity[name] / swept.spread)
    return {axis: np.mean(values, axis=0) for axis, values in sorted(axes.items())}


# Oracle weights: those that look best on the held-out split itself, an upper bound and never a result.
def oracle_terms(
    dev: Orbits, test: Orbits, others: Mapping[str, np.ndarray], *, reading: str, epsilon: float = 0.01
) -> Terms:
    """The weights that look best on the test split itself, uniform, sensitivity-proportional, 1 for each family, or all
    on one family; everything else is learnt on the dev split."""
    learnt = learn(dev, reading=reading)
    sweeps = Sweeps(test, learnt, others, ceilings=ceilings_of(test))
    return best_of(oracle_candidates(dev, learnt, sweeps), epsilon=epsilon)


def oracle_candidates(dev: Orbits, terms: Terms, sweeps: Sweeps) -> list[tuple[Terms, Sweep]]:
    """Every weighting that the oracle chooses among, of terms learnt on the dev split, swept on the test split."""
    single = [{name: float(name == one) for name in dev.families} for one in dev.families]
    weights: list[str | Mapping[str, float]] = [UNIFORM, SENSITIVITY, EACH, *single]
    candidates = [weighed(terms, dev, each) for each in weights]
    return [(each, sweeps.sweep(each)) for each in candidates]


def best_of(candidates: Sequence[tuple[Terms, Sweep]], *, epsilon: float) -> Terms:
    """The terms that lower the total most under the constraint."""

    def reached(candidate: tuple[Terms, Sweep]) -> float:
        swept = candidate[1]
        return float(swept.total[swept.lambdas.index(choose(swept, epsilon=epsilon).strength)])

    return min(candidates, key=reached)[0]


# Selectivity before and after a calibration: does it buy calm by going deaf?
#
# The harms are those of the edits that are calibrated for, on the held-out items; the drops are what broken meanings
# cost the same items. A reading that corrects known edits leaves right and wrong sides as they are, since neither is
# such an edit. What ``orbit`` and ``absolute`` do to a wrong side needs the scores of its own orbit, which no run
# holds.
#
# Source: :mod:`core.statistics.selectivity`.
NEEDS_ORBITS = (
    "What {reading} does to a broken meaning needs the scores of its own edits, and no run has them: audit the "
    "calibrator file beside the evaluator, with directional probes. The plane here then joins both by an arrow."
)


@dataclass(frozen=True, slots=True)
class Change:
    """Selectivity on the held-out items under the calibrated families."""

    # before, after: see :class:`core.statistics.selectivity.Selectivity`; signal and nuisance in standard deviations of
    # the unedited scores
    before: Selectivity
    after: Selectivity
    families: tuple[str, ...]  # whose edits are the harms


def lacking(view: View, found: Fit) -> str:
    """Why a change of selectivity cannot be given, in a sentence; empty where it can."""
    if why := needs(view.table) or lack(view):
        return f"{why[0].upper()}{why[1:]}."
    if found.terms.reading in WEIGHTED:
        return NEEDS_ORBITS.format(reading=found.terms.reading)
    return "" if _names(view, found) else "None of the calibrated families is a harmless edit."


def change(view: View, found: Fit, strength: float) -> Change:
    """Selectivity before and after a strength of a reading that corrects known edits (see :func:`lacking`); only drops
    that are known to break the meaning count. The view may hold more families than the fit."""
    names = _names(view, found)
    wrongs = [name for probes in families(view).values() for name in probes]
    both = pairs(view, found.evaluator, wrongs, known=True)
    items = view.table.items
    index = pd.MultiIndex.from_arrays([items["corpus"].astype(str), items["item"].astype(str)])
    places = index.get_indexer(pd.MultiIndex.from_tuples([tuple(map(str, each)) for each in found.scores.items]))
    drops = (both.right - both.wrong)[:, places]
    unit = view.table.spread(found.evaluator, view.table.scope.corpus)
    ends = (found.scores, calibrated(found.scores, found.terms, strength))
    harms = (np.abs(np.concatenate([each.families[name].shifts for name in names])) for each in ends)
    before, after = (selectivity(drops, each, unit=unit, sources=found.scores.sources) for each in harms)
    return Change(before, after, names)


def moved(made: Change, name: str, after: str) -> pd.DataFrame:
    """Both ends of a change as rows of :func:`core.analysis.questions.selective.plane`, named as the evaluator as it is
    and the calibrated one."""
    return pd.DataFrame([_end(name, made.before), _end(after, made.after)])


def _end(name: str, found: Selectivity) -> dict[str, object]:
    of = {part: ends(getattr(found, part), bounds(part)) for part in ("above", "nuisance", "signal")}
    about = {"evaluator": name, "n_items": found.value.n, "value": found.value.estimate, "chance": found.chance}
    return {**about, **of["above"], **of["nuisance"], **of["signal"]}


def measured_beside(view: View, found: Fit) -> tuple[str, ...]:
    """Calibrated evaluators of the run that are made of the one that is fitted, each scored by an audit."""
    return tuple(name for name in view.table.evaluators if base_of(name) == found.evaluator)


def _names(view: View, found: Fit) -> tuple[str, ...]:
    return tuple(name for name in harmless(view) if name in found.scores.families)
