"""How far annotators agree: measures that survive skew, beside those that do not, each with n and interval.

With 93 of 100 items unanimous Fleiss' κ can be 0.10 while 95 % of all pairs of votes are equal; no single number is
enough, so all of them are given. Votes may differ in number from item to item; an item with one vote says nothing of
agreement and is counted apart.

References:
    [1] Fleiss (1971), Psychological Bulletin 76, 378-382; for unequal numbers of votes as in [3], 2.4.
    [2] Randolph (2005), free-marginal multirater kappa.
    [3] Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed., 2.4 and 2.5 (AC1).
    [4] Krippendorff (2011), Computing Krippendorff's alpha-reliability.
    [5] Cohen (1968), Psychological Bulletin 70, 213-220: weighted κ.
    [6] Landis and Koch (1977), Biometrics 33, 159-174: words for κ.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from core.errors import InvalidInput
from core.seeds import RUN_SEED
from core.statistics.bootstrap import LEAST_N, RESAMPLES, Interval, acceleration, bca_bounds, expanded, too_few, widened
from core.statistics.crossed_sources import crossed, numbered
from core.statistics.resamples import ranks_of

LEAST_CHANCE = 30
"""Fewest items for the interval of Fleiss' κ, α or a weighted κ, whose chance is as the votes show it: of 10 items 73
to 93 of 100 intervals held the truth, by how skewed the answers are; of 30 expanded ones 92 to 98."""
NOTHING = "no item has two votes"
ONE_ANSWER = "every vote is the same answer: there is no disagreement to expect, so nothing can be corrected for chance"


LANDIS_KOCH = ((0.2, "slight"), (0.4, "fair"), (0.6, "moderate"), (0.8, "substantial"), (1.0, "almost perfect"))
"""Upper ends of κ, as printed to two digits, and their words [6]; below 0 it is poor. The authors call their limits
arbitrary."""

STEADY = ("percent", "randolph", "gwet")  # measures whose chance is none, fixed, or hardly moved by a few items' votes


def in_words(kappa: float) -> str:
    """The word that Landis and Koch [6] have for a κ; empty where it is not defined.

    >>> in_words(0.45)
    'moderate'
    """
    if math.isnan(kappa):
        return ""
    if kappa < 0:
        return "poor"
    return next(word for most, word in LANDIS_KOCH if round(min(kappa, 1.0), 2) <= most)


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement on one question."""

    question: str  # name of the question
    percent: Interval  # share of equal pairs of votes within an item, in [0, 1]
    fleiss: Interval  # Fleiss' κ [1]
    randolph: Interval  # Randolph's free-marginal κ [2]
    gwet: Interval  # Gwet's AC1 [3]
    alpha: Interval  # Krippendorff's α [4], nominal, or ordinal where the answers are ordered
    n_items: int  # items (clusters) with at least two votes
    n_votes: int  # their votes

    def rows(self) -> list[dict[str, object]]:
        """One row a measure: question, measure, estimate, low, high, n_items, n_votes, note."""
        names = ("percent agreement", "Fleiss κ", "Randolph κ", "Gwet AC1", "Krippendorff α")
        measures = (self.percent, self.fleiss, self.randolph, self.gwet, self.alpha)
        behind: dict[str, object] = {"n_items": self.n_items, "n_votes": self.n_votes}
        return [
            {"question": self.question, "measure": name}
            | dict(zip(("estimate", "low", "high"), found.numbers(), strict=True))
            | behind
            | {"note": found.note}
            for name, found in zip(names, measures, strict=True)
        ]


def agreement(
    counts: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    question: str = "",
    ordinal: bool = False,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = RUN_SEED,
) -> Agreement:
    """All measures of one question, with BCa intervals over items.

    Percent agreement, Randolph's κ and AC1, which skewed answers hardly disturb, have one from LEAST_N items on,
    Fleiss' κ and α from LEAST_CHANCE on; each at a level that is :func:`core.statistics.bootstrap.expanded` for the
    number of items.

    Items of the same counts are one pattern: a bootstrap sample of items is one multinomial draw over patterns, and
    every measure is a function of how often each pattern occurs, so 10 000 resamples take milliseconds. Raises
    InvalidInput for another shape, fewer than two answers, or counts that are no counts.
    ``counts``: votes for each answer, shape [items, answers] or [items, versions, answers]: the versions of an item are
    judged apart and resampled together.
    ``groups``: source of each item, shape [items]: items of one source are resampled together, and count once for the
    fewest that have an interval. None: each item is one of its own. Of two sources, [items, 2], the second makes
    intervals :func:`core.statistics.bootstrap.widened`."""
    votes = np.asarray(counts, dtype=np.float64)
    votes = votes[:, None, :] if votes.ndim == 2 else votes
    if votes.ndim != 3 or votes.shape[2] < 2:
        raise InvalidInput(f"counts have shape [items, answers] with two or more answers, got {np.shape(counts)}")
    if (votes < 0).any() or (votes != np.floor(votes)).any():
        raise InvalidInput("counts of votes are whole numbers of 0 or more")
    totals = votes.sum(axis=2)
    usable = (totals >= 2).any(axis=1)
    ranks = ranks_of(groups, len(votes))
    votes = np.where((totals >= 2)[:, :, None], votes, 0.0)[usable]
    units = votes if ranks is None else _of_sources(votes, ranks[usable])
    patterns, times = np.unique(units, axis=0, return_counts=True) if len(units) else (units, np.zeros(0, dtype=int))
    found = _Patterns(patterns, times, ordinal=ordinal, items=len(votes))
    drawn = found.draw(resamples, seed)
    measured = {
        name: found.interval(measure, drawn, level, chance=name not in STEADY)
        for name, measure in found.measures().items()
    }
    if groups is not None and crossed(groups) and len(votes):
        kinds, place, often = np.unique(votes, axis=0, return_inverse=True, return_counts=True)
        alone, of = _Patterns(kinds, often, ordinal=ordinal, items=len(votes)), np.asarray(groups)[usable]
        for name, measure in alone.measures().items():
            owed, ends = alone.influence(measure)[place.ravel()], (0.0 if name == "percent" else -1.0, 1.0)
            measured[name] = widened(measured[name], owed, of, within=ends)
    return Agreement(question=question, **measured, n_items=len(votes), n_votes=int(votes.sum()))


def _of_sources(votes: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """Counts of each source, its items as so many more versions, [sources, most items × versions, answers]."""
    sources = np.unique(ranks, return_inverse=True)[1]
    order = np.argsort(sources, kind="stable")
    sizes = np.bincount(sources)
    place = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    found = np.zeros((len(sizes), int(sizes.max(initial=0)), *votes.shape[1:]))
    found[sources[order], place] = votes[order]
    return found.reshape(len(sizes), -1, votes.shape[2])


class _Patterns:
    """Distinct patterns of counts; every measure maps weights [draws, patterns] to values [draws]."""

    def __init__(self, patterns: np.ndarray, times: np.ndarray, *, ordinal: bool, items: int) -> None:
        self.times, self._items = times, items
        self._ordinal = ordinal
        self._answers = patterns.shape[2] if patterns.ndim == 3 else 2
        totals = patterns.sum(axis=2)
        judged = totals >= 2
        pairs = np.where(judged, totals * (totals - 1), 1.0)
        self._units = judged.sum(axis=1).astype(float)
        self._equal = np.where(judged, (patterns * (patterns - 1)).sum(axis=2) / pairs, 0.0).sum(axis=1)
        self._shares = (patterns / np.where(judged, totals, 1.0)[:, :, None]).sum(axis=1)
        off = np.eye(self._answers)
        both = patterns[:, :, :, None] * (patterns[:, :, None, :] - off)
        self._coincidence = (both / np.where(judged, totals - 1, 1.0)[:, :, None, None]).sum(axis=1)

    def measures(self) -> dict[str, Callable[[np.ndarray], np.ndarray]]:
        return {
            "percent": self._percent,
            "fleiss": lambda weights: self._corrected(weights, (self._marginals(weights) ** 2).sum(axis=1)),
            "randolph": lambda weights: self._corrected(weights, np.full(len(weights), 1 / self._answers)),
            "gwet": self._gwet,
            "alpha": self._alpha,
        }

    def draw(self, resamples: int, seed: int) -> np.ndarray:
        n = int(self.times.sum())
        if n < 2:
            return np.zeros((0, len(self.times)))
        return np.random.default_rng(seed).multinomial(n, self.times / n, size=resamples).astype(float)

    def interval(
        self, measure: Callable[[np.ndarray], np.ndarray], drawn: np.ndarray, level: float, *, chance: bool
    ) -> Interval:
        n, sources = self._items, int(self.times.sum())
        if n == 0:
            return Interval(math.nan, math.nan, math.nan, 0, level, NOTHING)
        estimate = float(measure(self.times[None, :].astype(float))[0])
        if math.isnan(estimate):
            return Interval(math.nan, math.nan, math.nan, n, level, ONE_ANSWER)
        if said := too_few(n, sources, least=LEAST_CHANCE if chance else LEAST_N):
            return Interval(estimate, math.nan, math.nan, n, level, said)
        values = measure(drawn)
        defined = values[~np.isnan(values)]
        if len(self.times) == 1 or np.ptp(defined) == 0:
            return Interval(estimate, math.nan, math.nan, n, level, "no interval: all items have the same votes")
        influence, at = np.repeat(self.influence(measure), self.times), expanded(level, sources)
        low, high = bca_bounds(defined, estimate=estimate, acceleration=acceleration(influence), level=at)
        lost = len(values) - len(defined)
        note = f"{lost} of {len(values)} resamples hold one answer only and are left out" if lost else ""
        return Interval(estimate, low, high, n, level, note)

    def influence(self, measure: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """What a measure owes to one unit of each pattern, by the jackknife; zeros where it is not defined."""
        whole = measure(self.times[None, :].astype(float))
        left_out = measure(self.times[None, :] - np.eye(len(self.times)))
        if np.isnan(whole).any() or np.isnan(left_out).all():
            return np.zeros(len(self.times))
        return np.asarray(np.nanmean(left_out) - np.where(np.isnan(left_out), whole, left_out))

    def _percent(self, weights: np.ndarray) -> np.ndarray:
        return np.asarray(weights @ self._equal / (weights @ self._units))

    def _marginals(self, weights: np.ndarray) -> np.ndarray:
        return np.asarray(weights @ self._shares / (weights @ self._units)[:, None])

    def _gwet(self, weights: np.ndarray) -> np.ndarray:
        marginals = self._marginals(weights)
        return self._corrected(weights, (marginals * (1 - marginals)).sum(axis=1) / (self._answers - 1))

    def _corrected(self, weights: np.ndarray, expected: np.ndarray) -> np.ndarray:
        """(observed - expected) / (1 - expected), NaN where chance alone explains everything."""
        room = 1 - expected
        possible = room > 1e-12
        return np.where(possible, (self._percent(weights) - expected) / np.where(possible, room, 1.0), np.nan)

    def _alpha(self, weights: np.ndarray) -> np.ndarray:
        """1 - observed / expected disagreement of the coincidence matrix [4]."""
        matrix = np.einsum("bp,pkc->bkc", weights, self._coincidence)
        marginal = matrix.sum(axis=2)
        n = marginal.sum(axis=1)
        distance = 1 - np.eye(self._answers)
        if self._ordinal:
            middle = np.cumsum(marginal, axis=1) - marginal / 2
            distance = (middle[:, :, None] - middle[:, None, :]) ** 2
        observed = (matrix * distance).sum(axis=(1, 2))
        expected = (marginal[:, :, None] * marginal[:, None, :] * distance).sum(axis=(1, 2)) / np.maximum(n - 1, 1)
        return np.where(expected > 0, 1 - observed / np.where(expected > 0, expected, 1.0), np.nan)


def weighted_kappa(
    one: ArrayLike, other: ArrayLike, *, answers: int, groups: ArrayLike | None = None, resamples: int = RESAMPLES
) -> Interval:
    """Cohen's κ of two annotators with quadratic weights [5], for an ordered scale; its 95 % BCa interval is over
    sources, LEAST_CHANCE or more. Raises InvalidInput if the shapes differ or an answer is not on the scale.
    ``one``: answers 0 … answers - 1 of the first, shape [n].
    ``groups``: source of each item, shape [n]: those of one are resampled together. None: each is one of its own. Of
    two sources, [n, 2], the second makes the interval :func:`core.statistics.bootstrap.widened`.
    Source: PROTOCOL section 6 (paper E, 5.2).

    >>> round(weighted_kappa([0, 1, 2, 2], [0, 1, 1, 2], answers=3).estimate, 3)
    0.8
    """
    a, b = np.asarray(one, dtype=np.int64), np.asarray(other, dtype=np.int64)
    if a.shape != b.shape or a.ndim != 1:
        raise InvalidInput(f"two annotators answer the same items, got {a.shape} and {b.shape} answers")
    if len(a) and not 0 <= min(a.min(), b.min()) <= max(a.max(), b.max()) < answers:
        raise InvalidInput(f"answers lie in 0 … {answers - 1}, got {min(a.min(), b.min())} to {max(a.max(), b.max())}")
    n, ranks = len(a), ranks_of(groups, len(a))
    cells = a * answers + b
    own = np.arange(n) if ranks is None else ranks
    of_sources = np.zeros((int(own.max(initial=-1)) + 1, answers**2))  # each source's table of two annotators
    np.add.at(of_sources, (own, cells), 1.0)
    table = of_sources.sum(axis=0)
    if n == 0:
        return Interval(math.nan, math.nan, math.nan, 0, 0.95, "no item that both answered")
    rank = np.arange(answers)
    weight = ((rank[:, None] - rank[None, :]) ** 2).astype(float).ravel()

    def measure(tables: np.ndarray) -> np.ndarray:
        square = tables.reshape(-1, answers, answers)
        chance = square.sum(axis=2)[:, :, None] * square.sum(axis=1)[:, None, :] / tables.sum(axis=1)[:, None, None]
        expected = chance.reshape(len(tables), -1) @ weight
        return np.where(expected > 0, 1 - tables @ weight / np.where(expected > 0, expected, 1.0), np.nan)

    estimate = float(measure(table[None])[0])
    if math.isnan(estimate):
        return Interval(math.nan, math.nan, math.nan, n, 0.95, "both gave one and the same answer throughout")
    sources = len(of_sources)
    if said := too_few(n, sources, least=LEAST_CHANCE):
        return Interval(estimate, math.nan, math.nan, n, 0.95, said)
    patterns, times = np.unique(of_sources, axis=0, return_counts=True)
    picks = np.random.default_rng(RUN_SEED).multinomial(sources, times / sources, size=resamples)
    drawn = measure(picks @ patterns)
    drawn = drawn[~np.isnan(drawn)]
    if np.ptp(drawn) == 0:
        return Interval(estimate, math.nan, math.nan, n, 0.95, "no interval: every resample gives the same value")
    left_out = measure(table[None] - patterns)
    influence = np.repeat(np.nanmean(left_out) - np.nan_to_num(left_out, nan=estimate), times)
    at = expanded(0.95, sources)
    low, high = bca_bounds(drawn, estimate=estimate, acceleration=acceleration(influence), level=at)
    there, place = np.unique(cells, return_inverse=True)
    owed = estimate - np.nan_to_num(measure(table - np.eye(answers**2)[there]), nan=estimate)[place]
    return widened(Interval(estimate, low, high, n, 0.95), owed - owed.mean(), groups, within=(-1.0, 1.0))


def pairwise_kappas(
    answers: pd.DataFrame, *, levels: Sequence[float], sources: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Weighted κ of every pair of annotators who share two units or more. Returns one, other, kappa, low, high, n,
    note; the largest n first.
    ``answers``: columns annotator, unit, answer; one row an annotator and unit.
    ``sources``: both sources of each unit, by its name: units of one are resampled together, and the second counts too.
    None: each is one of its own."""
    place = {value: index for index, value in enumerate(levels)}
    wide = answers.assign(place=answers["answer"].map(place)).pivot_table(
        index="unit", columns="annotator", values="place"
    )
    rows = []
    for one, other in combinations(wide.columns, 2):
        both = wide[[one, other]].dropna()
        if len(both) >= 2:
            groups = None if sources is None else numbered(*sources.loc[both.index].astype(str).to_numpy().T)
            a, b = (both[name].astype(int) for name in (one, other))
            found = weighted_kappa(a, b, answers=len(place), groups=groups)
            rows.append((one, other, *found.numbers(), found.n, found.note))
    table = pd.DataFrame(rows, columns=["one", "other", "kappa", "low", "high", "n", "note"])
    return table.sort_values(["n", "one", "other"], ascending=[False, True, True], ignore_index=True)
