"""Right against wrong: what the scores of both sides of a comparison say of an evaluator.

A comparison is a right and a wrong side of one item, e.g. a caption and the same caption negated. The papers disagree
on whether a tie is a failure, so that the share of ties, and of near ties, always stands beside the failures.

References:
    [1] Failure as wrong ≥ right, margins of correct and incorrect rankings: paper E, section 4.
    [2] Drop of means, detection of broken captions: paper B, section 5.
    [3] Near ties, min-max scaled means, the independent t test: paper D, sections 3 and 4.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations, permutations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from core.errors import InvalidInput
from core.statistics.bootstrap import Interval, few, median_bca
from core.statistics.changes import SHIFT_FLOOR, WITHHELD, percent_changes, standard_deviation
from core.statistics.crossed_sources import crossed, first_of, widening
from core.statistics.power import reach
from core.statistics.ratios import ratio_bca
from core.statistics.shares import share, share_of_flags, share_of_sums
from core.statistics.shift_tests import PairedTest, cliffs_delta, paired_test

RIGHT = "prefers the right one"
WRONG = "prefers the wrong one"
OPEN = "cannot tell"

NEAR = 0.01
"""A near tie: sides closer than this share of the span of the experiment's scores. Source: [3], 0.01 of a CLIPScore."""


NO_SIGN = 2  # in the place of the sign of wrong minus right where a comparison lacks a score
_NUMBERS = 64  # numbers up to so many times as large as there are entries are counted off, not sorted


@dataclass(frozen=True, slots=True)
class Side:
    """Mean distance of the two sides over the comparisons that were ranked one way."""

    mean: float  # on scores scaled to [0, 1]; NaN where there is none
    n: int  # comparisons


@dataclass(frozen=True, slots=True)
class Comparison:
    """What the two sides of some comparisons say of one evaluator."""

    failure: Interval  # share with wrong ≥ right [1], Wilson's interval, comparisons of one source together
    ties: Interval  # share with wrong = right exactly, likewise
    near: Interval  # share with |right - wrong| < ``tau``, ties among them, likewise
    tau: float  # on the evaluator's own scale; 0 where the scores have no span
    beaten: Interval  # share with wrong > right, likewise
    detection: Interval  # share with wrong < right [2], likewise
    # Pr[a right score lies above a wrong one], ties half, of any two items: the wrong ones told by the score alone;
    # (Cliff's δ + 1) / 2
    auroc: float
    mean_right: float  # mean_right, mean_wrong: raw means over comparisons
    mean_wrong: float
    sd_right: float  # sd_right, sd_wrong: their standard deviations
    sd_wrong: float
    # scaled_right, scaled_wrong: the same means, scaled so that the experiment's scores run from 0 to 1 [3]
    scaled_right: float
    scaled_wrong: float
    scaled_sd_right: float  # scaled_sd_right, scaled_sd_wrong: the standard deviations on that scale
    scaled_sd_wrong: float
    # 100 · (mean wrong - mean right) / mean right, in percent [2]: a ratio of means; BCa over sources. None where a
    # right side is negative.
    drop: Interval
    # median over items of an item's median % change, in percent: the convention of paper A; likewise
    median_drop: Interval
    correct: Side  # right - wrong where right > wrong [1]
    incorrect: Side  # wrong - right where wrong ≥ right [1]
    test: PairedTest  # paired test of the items' means, or of those of the sources that items share
    # t, t_p: two-sample t of all scores as if they were independent, which paired scores are not [3]; NaN of too few
    # for a claim
    t: float
    t_p: float
    n: int  # comparisons with both scores
    n_items: int  # items of theirs
    verdict: str  # see :func:`verdict`
    # beside a verdict of OPEN, the distance of the failures from one half that these comparisons show in four of five
    # such runs; else NaN
    detectable: float


@dataclass(frozen=True, slots=True)
class Rates:
    """How often each side scores higher, of some comparisons under one evaluator: the shares of :class:`Comparison`."""

    failure: Interval  # failure, ties, beaten, n, n_items, verdict: as there
    ties: Interval
    beaten: Interval
    n: int
    n_items: int
    verdict: str


def rates_of_signs(signs: np.ndarray, *, sources: np.ndarray | None = None) -> Rates:
    """The shares of :func:`compare` and nothing else, for a cell of a map: counted, in a fraction of its time.
    ``signs``: of wrong minus right, int8 [k, n], k comparisons of each of n items; NO_SIGN where one lacks a score.
    ``sources``: number of each item's source, int [n], or of two, [n, 2]; None: each item is one of its own."""
    sizes = np.count_nonzero(signs != NO_SIGN, axis=0)
    there = sizes > 0
    tied, above = (np.count_nonzero(signs == each, axis=0)[there] for each in (0, 1))
    sums = [tied + above, tied, above]
    sizes = sizes[there]
    n_items = n_sources = len(sizes)
    times = [1.0] * len(sums)
    if sources is not None:
        of = sources[there]
        if crossed(of) and n_items:
            times = [widening(each - each.sum() / sizes.sum() * sizes, of) for each in sums]
        ranks = np.unique(first_of(of), return_inverse=True)[1]
        sums, sizes = [np.bincount(ranks, each) for each in sums], np.bincount(ranks, sizes)
        n_sources = len(sizes)
    failure, ties, beaten = (share_of_sums(each, sizes, times=more) for each, more in zip(sums, times, strict=True))
    said = verdict(failure, beaten, items=n_items, sources=n_sources)
    return Rates(failure, ties, beaten, failure.n, n_items, said)


def compare(
    right: ArrayLike,
    wrong: ArrayLike,
    *,
    items: ArrayLike | None = None,
    sources: ArrayLike | None = None,
    span: tuple[float, float] | None = None,
    drops: bool = True,
) -> Comparison:
    """Compare the right and the wrong sides. Raises InvalidInput if the shapes differ, a score is infinite, or the span
    is not one.
    ``right``: scores of the right sides, shape [n]; a comparison with a NaN is left out.
    ``wrong``: scores of the wrong sides, shape [n].
    ``items``: item of each comparison, shape [n]; None: each is of its own item.
    ``sources``: source of each comparison, shape [n], or two, [n, 2]: those of one source are resampled together. None:
    the items.
    ``span``: lowest and highest score of the experiment, which scaled numbers are scaled by; None: of these scores.
    ``drops``: draw the interval of the drop, the one number here that takes a bootstrap; otherwise its bounds are NaN.
    """
    r, w, item, source = _checked(right, wrong, items, sources)
    low, high = _span(r, w, span)
    width = high - low
    tau, distance = NEAR * width, r - w
    names, rank, n_sources, of_items = _by_item(item, source)
    groups = None if n_sources == len(source) and not crossed(source) else source
    ranks = groups if groups is None or crossed(groups) else _ranked(groups)[2]
    flags = (w >= r, w == r, (np.abs(distance) < tau) | (w == r), w > r, w < r)
    failure, ties, near, beaten, detection = (share_of_flags(each, ranks=ranks) for each in flags)
    said = verdict(failure, beaten, items=len(names), sources=n_sources)
    medians = percent_changes(w, r)
    if not (rank[1:] > rank[:-1]).all():  # an item of several comparisons counts by their median
        medians = pd.Series(medians).groupby(rank).median().to_numpy(dtype=np.float64)
    mean_r, mean_w = (float(each.mean()) if len(each) else math.nan for each in (r, w))
    sd_r, sd_w = standard_deviation(r), standard_deviation(w)
    t = t_p = math.nan
    if max(sd_r, sd_w) > 0 and not few(len(names), n_sources):
        t, t_p = map(float, stats.ttest_ind_from_stats(mean_w, sd_w, len(w), mean_r, sd_r, len(r)))
    return Comparison(
        failure,
        ties,
        near,
        tau,
        beaten,
        detection,
        (cliffs_delta(r, w) + 1) / 2,
        mean_r,
        mean_w,
        sd_r,
        sd_w,
        _scaled(mean_r, low, width),
        _scaled(mean_w, low, width),
        _scaled(sd_r, 0.0, width),
        _scaled(sd_w, 0.0, width),
        _drop(r, w, groups, drops),
        _noted(median_bca(medians, groups=of_items), r, width),
        _side(distance[distance > 0], width),
        _side(-distance[distance <= 0], width),
        _paired(r, w, rank, of_items),
        t,
        t_p,
        len(r),
        len(names),
        said,
        reach(failure, margin=math.nan).detectable if said == OPEN else math.nan,
    )


def paired_items(
    right: ArrayLike, wrong: ArrayLike, *, items: ArrayLike | None = None, sources: ArrayLike | None = None
) -> PairedTest:
    """The paired test of :func:`compare` and nothing else, for what only counts in a correction. Raises InvalidInput as
    there."""
    r, w, item, source = _checked(right, wrong, items, sources)
    _, rank, _, of_items = _by_item(item, source)
    return _paired(r, w, rank, of_items)


def _by_item(item: np.ndarray, source: np.ndarray) -> tuple[np.ndarray, np.ndarray, int, np.ndarray | None]:
    """Items, the rank of each comparison's item, how many sources, and each item's source; None where all differ."""
    names, first, rank = _ranked(item)
    if source is item:
        return names, rank, len(names), None
    of_items, count = source[first], len(_ranked(first_of(source))[0])
    return names, rank, count, of_items if count < len(first) or crossed(source) else None


def _paired(r: np.ndarray, w: np.ndarray, rank: np.ndarray, of_items: np.ndarray | None) -> PairedTest:
    means = (np.bincount(rank, each) / np.bincount(rank) if len(each) else each for each in (r, w))
    return paired_test(*means, groups=of_items)


def failures(right: np.ndarray, wrong: np.ndarray, *, groups: np.ndarray | None = None) -> tuple[Interval, Interval]:
    """Share with wrong ≥ right [1] and, among them, share with wrong = right, each with Wilson's interval. ``right``,
    ``wrong``: scores without NaN, shape [n]; ``groups``: source of each comparison, shape [n]; None: each is of its own
    source."""
    return share(wrong >= right, groups=groups), share(wrong == right, groups=groups)


def verdict(failure: Interval, beaten: Interval, *, items: int, sources: int) -> str:
    """Say which side an evaluator prefers, by the intervals against one half.

    Ties count as failures, so that few failures mean that the right side is preferred. Many failures mean that the
    wrong one is only where it is truly above in more than half: an evaluator that returns one number prefers neither.
    ``failure``: interval of the share with wrong ≥ right. ``beaten``: interval of the share with wrong > right.
    ``sources``: that these items are of; as many where each is its own."""
    if said := few(items, sources):
        return said
    if failure.high < 0.5:
        return RIGHT
    return WRONG if beaten.low > 0.5 else OPEN


def _checked(
    right: ArrayLike, wrong: ArrayLike, items: ArrayLike | None, sources: ArrayLike | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    r, w = (np.asarray(each, dtype=np.float64).ravel() for each in (right, wrong))
    item = np.arange(len(r)) if items is None else np.asarray(items).ravel()
    source = item if sources is None else np.asarray(sources)
    if not len(r) == len(w) == len(item) == len(source):
        raise InvalidInput(
            f"a comparison has two scores, an item and a source, got {len(r)}, {len(w)}, {len(item)} "
            f"and {len(source)} of them"
        )
    if np.isinf(r).any() or np.isinf(w).any():
        raise InvalidInput("scores must be finite or NaN, got an infinite one; drop it and count it")
    both = ~(np.isnan(r) | np.isnan(w))
    kept = item[both]
    return r[both], w[both], kept, kept if source is item else source[both]


def _ranked(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Different codes in their order, the place where each comes first, and the rank of every entry's."""
    if len(codes) and (codes[1:] > codes[:-1]).all():  # all differ and are in order: nothing to sort
        places = np.arange(len(codes))
        return codes, places, places
    if not (len(codes) and codes.dtype.kind == "i" and codes.min() >= 0 and codes.max() < _NUMBERS * len(codes)):
        return np.unique(codes, return_index=True, return_inverse=True)
    first = np.full(int(codes.max()) + 1, -1)
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)  # of equal ones the first is written last
    names = np.flatnonzero(first >= 0)
    ranks = np.empty(len(first), dtype=np.intp)
    ranks[names] = np.arange(len(names))
    return names, first[names], ranks[codes]


def _span(r: np.ndarray, w: np.ndarray, given: tuple[float, float] | None) -> tuple[float, float]:
    if given is not None:
        if not given[0] <= given[1]:
            raise InvalidInput(f"a span runs from its lowest to its highest score, got {given}")
        return given
    both = np.concatenate([r, w])
    return (float(both.min()), float(both.max())) if len(both) else (math.nan, math.nan)


def _drop(r: np.ndarray, w: np.ndarray, groups: np.ndarray | None, bounds: bool) -> Interval:
    if (r < 0).any():
        return Interval(math.nan, math.nan, math.nan, len(r), 0.95, WITHHELD)
    if len(r) and r.mean() < SHIFT_FLOOR:
        return Interval(math.nan, math.nan, math.nan, len(r), 0.95, "the mean of the right sides is not above 0")
    found = ratio_bca(w - r, r, groups=groups, bounds=bounds)
    return Interval(*found.numbers(100), found.n, found.level, found.note)


def _noted(found: Interval, right: np.ndarray, width: float) -> Interval:
    if width == 0:
        found = replace(found, low=math.nan, high=math.nan, note="every score is the same: no interval")
    return replace(found, note=WITHHELD) if (right < 0).any() else found


def _side(distances: np.ndarray, width: float) -> Side:
    if len(distances) == 0:
        return Side(math.nan, 0)
    return Side(float(distances.mean() / width) if width > 0 else 0.0, len(distances))


def _scaled(value: float, low: float, width: float) -> float:
    return (value - low) / width if width > 0 else math.nan


# In which order the scores of several groups stand, item by item: e.g. a caption and three kinds of wrong ones.
#
# Source: paper D, section 4 and the authors' code, which prints every order with its share.


MOST = 4  # groups whose orders are listed, at most: 24 orders
TIED = "tied"  # stands for the items two of whose scores are equal


def orders(groups: Mapping[str, ArrayLike], *, sources: ArrayLike | None = None) -> pd.DataFrame:
    """How often the scores of each item's groups stand in each order. Raises InvalidInput if there are fewer than two
    groups, too many, or their lengths differ. Returns one row an order of all groups, highest first: order (names
    joined by `` > ``), n (items whose scores stand in it without a tie), n_items (items with every score), n_sources
    (of these items), share. Ties have their own row, named ``tied``. The most frequent first, ties last.
    ``groups``: name of a group -> a score of every item, shape [n]; two to MOST groups. An item that lacks one is left
    out.
    ``sources``: what each item is of, [n]; the intervals take items of one source together. None: each is its own.

    >>> orders({"a": [3.0, 1.0], "b": [2.0, 2.0]})["order"].tolist()
    ['a > b', 'b > a', 'tied']
    """
    names, scores, of = _grouped(groups, sources)
    ranked = np.argsort(-scores, axis=0, kind="stable")
    ordered = np.sort(scores, axis=0)
    tied = (ordered[1:] == ordered[:-1]).any(axis=0) if scores.shape[1] else np.zeros(0, dtype=bool)
    found = [
        (" > ".join(names[place] for place in order), (ranked == np.array(order)[:, None]).all(axis=0) & ~tied)
        for order in permutations(range(len(names)))
    ]
    found.sort(key=lambda each: -int(each[1].sum()))
    records = []
    for said, hits in (*found, (TIED, tied)):
        own = share(hits, groups=of)
        records.append((said, int(hits.sum()), own.n, _sources(of, own.n), *own.numbers()))
    return pd.DataFrame(records, columns=["order", "n", "n_items", "n_sources", "share", "low", "high"])


def pairwise_orders(groups: Mapping[str, ArrayLike], *, sources: ArrayLike | None = None) -> pd.DataFrame:
    """How often one group lies above another, for every two of some groups; see :func:`orders`. Returns columns above,
    below, n, n_items, n_sources, share, ties (share of equal ones), with Wilson's intervals low to high and ties_low to
    ties_high."""
    names, scores, of = _grouped(groups, sources)
    records = []
    for one, other in combinations(range(len(names)), 2):
        for above, below in ((one, other), (other, one)):
            found, ties = (
                share(each, groups=of) for each in (scores[above] > scores[below], scores[above] == scores[below])
            )
            n = int((scores[above] > scores[below]).sum())
            counts = (n, found.n, _sources(of, found.n))
            records.append((names[above], names[below], *counts, *found.numbers(), *ties.numbers()))
    shares = ("share", "low", "high", "ties", "ties_low", "ties_high")
    return pd.DataFrame(records, columns=["above", "below", "n", "n_items", "n_sources", *shares])


def _grouped(
    groups: Mapping[str, ArrayLike], sources: ArrayLike | None
) -> tuple[list[str], np.ndarray, np.ndarray | None]:
    if not 2 <= len(groups) <= MOST:
        raise InvalidInput(f"orders are of 2 to {MOST} groups, got {len(groups)}")
    columns = [np.asarray(each, dtype=np.float64).ravel() for each in groups.values()]
    if len({len(each) for each in columns}) != 1:
        raise InvalidInput(f"every group has a score of every item, got {[len(each) for each in columns]}")
    scores = np.stack(columns)
    whole = ~np.isnan(scores).any(axis=0)
    return list(groups), scores[:, whole], None if sources is None else np.asarray(sources)[whole]


def _sources(of: np.ndarray | None, items: int) -> int:
    return items if of is None else len(np.unique(first_of(of)))
