"""Do two scorings order alike? Rank correlations and their permutation test, agreement on a direction.

Source: PROTOCOL section 3 (paper A, 3.3, B.4, B.7).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats
from scipy.sparse import csr_array

from core.errors import InvalidInput
from core.seeds import RUN_SEED
from core.statistics.bootstrap import Interval, too_few
from core.statistics.crossed_sources import crossed_p, first_of, numbered, widening
from core.statistics.resamples import ranks_of, sample_counts, source_means
from core.statistics.shares import share
from core.statistics.wording import counted


@dataclass(frozen=True, slots=True)
class RankAgreement:
    """Rank correlations of two scorings of the same items."""

    spearman: float  # ρ, mean ranks for ties; NaN where undefined
    kendall_b: float  # τ_b, corrected for ties in either scoring
    kendall_c: float  # τ_c (Stuart), for scales of different numbers of levels, e.g. ratings of 1 to 4.
    kendall_p: float  # two-sided, of the hypothesis that both τ are 0; of the sources' means where items share theirs
    n: int  # items that have both scores
    note: str = ""  # why there is no value, or what p is of; empty otherwise


def rank_agreement(one: ArrayLike, other: ArrayLike, *, groups: ArrayLike | None = None) -> RankAgreement:
    """Spearman's ρ and Kendall's τ_b and τ_c. Raises InvalidInput if the shapes differ.
    ``one``: scores, shape [n]; an item with a NaN in either is left out.
    ``other``: scores or human ratings of the same items, shape [n].
    ``groups``: source of each item, shape [n]; None: every item is one of its own. They change no coefficient, but the
    test counts a source once (:mod:`core.statistics.resamples`)."""
    a, b, of = _whole(one, other, groups)
    ranks = ranks_of(of, len(a))
    if len(a) < 2 or np.ptp(a) == 0 or np.ptp(b) == 0:
        why = "fewer than two items" if len(a) < 2 else "one of the scorings is constant"
        return RankAgreement(math.nan, math.nan, math.nan, math.nan, len(a), why)
    rho = stats.spearmanr(a, b)
    tau_b, tau_c = stats.kendalltau(a, b), stats.kendalltau(a, b, variant="c")
    p, note = float(tau_b.pvalue), ""
    if ranks is not None:
        one, other = source_means(a, ranks), source_means(b, ranks)
        p, note = math.nan, f"no test: the means of {counted(len(one), 'source')} do not differ in both scorings"
        if len(one) >= 2 and np.ptp(one) > 0 and np.ptp(other) > 0:
            p, note = float(stats.kendalltau(one, other).pvalue), f"p: means of {counted(len(one), 'source')}"
    p = crossed_p(p, pair_influence(a, b), of)
    if few := too_few(len(a), len(a) if ranks is None else int(ranks.max()) + 1):
        p, note = math.nan, f"{few}, and no test"
    return RankAgreement(float(rho.statistic), float(tau_b.statistic), float(tau_c.statistic), p, len(a), note)


def spearman(one: ArrayLike, other: ArrayLike) -> tuple[float, int]:
    """The ρ of :func:`rank_agreement` and its n, in a tenth of the time: no pair of items is looked at."""
    a, b, _ = _whole(one, other, None)
    if len(a) < 2 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return math.nan, len(a)
    return float(stats.spearmanr(a, b).statistic), len(a)


def pair_influence(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """What a correlation of ranks owes to each item, up to a factor; of two scorings that vary, float64 [n] each."""
    a, b = (stats.rankdata(each) - (len(each) + 1) / 2 for each in (one, other))
    a, b = a / a.std(), b / b.std()
    owed = a * b - (a * b).mean() * (a**2 + b**2) / 2
    return np.asarray(owed - owed.mean())


def direction_agreement(
    shifts: pd.DataFrame, *, reference: str, by: Sequence[str] = ("evaluator", "family")
) -> pd.DataFrame:
    """Does every corpus shift the way the reference corpus does?

    The reference direction of a cell is the sign of its median shift on the reference corpus. An item agrees where its
    own median shift has that sign; an item that does not move counts 0.5. Returns one row a (cell, other corpus):
    ``by`` + corpus, reference_median, median, same_direction (of the two medians; none where one is 0 or missing),
    agreement, low, high, n_items, note. Raises InvalidInput if no row is of the reference corpus.
    ``shifts``: rows of the store's ``shifts`` view; needs the columns in ``by`` and corpus, item, delta; source, where
    items share theirs: which then stand together in an interval; second_source, where they have two.
    ``reference``: name of the reference corpus, e.g. ``"coco"``. ``by``: columns that make a cell.
    Source: paper A, B.4, Table 12, which does not print its formula."""
    if not (shifts["corpus"] == reference).any():
        known = ", ".join(sorted(map(str, shifts["corpus"].unique()))) or "none"
        raise InvalidInput(f"no shift is of the reference corpus {reference!r}; corpora here: {known}")
    keys = list(by)
    shifts = shifts if "source" in shifts else shifts.assign(source=shifts["item"])
    shifts = shifts if "second_source" in shifts else shifts.assign(second_source=shifts["source"])
    named = [*keys, "corpus", "source", "second_source", "item"]
    items = shifts.groupby(named, observed=True)["delta"].median().dropna()
    medians = items.groupby(level=[*keys, "corpus"]).median()
    records = []
    for name, rows in items.reset_index().groupby([*keys, "corpus"], sort=True):
        *cell, corpus = name
        if corpus == reference:
            continue
        expected, median = float(medians.get((*cell, reference), math.nan)), float(rows["delta"].median())
        unknown = math.isnan(expected)
        signs = np.sign(rows["delta"].to_numpy()) * (0 if unknown else np.sign(expected))
        sources = numbered(rows["source"].astype(str), rows["second_source"].astype(str))
        found = share((signs + 1) / 2, groups=sources)
        if unknown or expected == 0:
            found = Interval(math.nan, math.nan, math.nan, len(rows), found.level, "the reference has no direction")
        same = None if unknown or expected * median == 0 else expected * median > 0
        records.append((*cell, corpus, expected, median, same, *found.numbers(), found.n, found.note))
    told = ("reference_median", "median", "same_direction", "agreement", "low", "high", "n_items", "note")
    return pd.DataFrame(records, columns=[*keys, "corpus", *told])


def _whole(
    one: ArrayLike, other: ArrayLike, groups: ArrayLike | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    a, b = (np.asarray(values, dtype=np.float64).ravel() for values in (one, other))
    if a.shape != b.shape:
        raise InvalidInput(f"two scorings of the same items have equal lengths, got {len(a)} and {len(b)}")
    whole = ~(np.isnan(a) | np.isnan(b))
    return a[whole], b[whole], None if groups is None else np.asarray(groups)[whole]


# Spearman's ρ of few points, with the p-value of a permutation test: every order where they can be counted.
#
# Points of several groups whose values cannot be held against each other (modifiers of families with baselines of their
# own) are ranked within their group and change places within it alone.


EXACT_MOST = 9  # points up to which every order is tried: 9! = 362 880
DRAWS = 100_000  # orders drawn where there are more points; the p-value's own standard error is then at most 0.0016
EXACT, DRAWN = "every order", "orders drawn"
_ROUNDING = 1e-12
_CHUNK = 50_000


@dataclass(frozen=True, slots=True)
class RankTest:
    """Spearman's ρ with its permutation p."""

    rho: float  # in [-1, 1], mean ranks for ties; NaN where undefined
    p: float  # two-sided; NaN where undefined
    n: int  # points with both values
    method: str  # EXACT or DRAWN; empty without a test
    orders: int  # how many orders were tried
    # smallest p that these points without ties can give, 2 / n! (over groups, 2 / the product of their factorials);
    # NaN below 2 points
    least: float
    note: str = ""  # why there is no value; empty otherwise


def rank_test(one: ArrayLike, other: ArrayLike, *, groups: ArrayLike | None = None) -> RankTest:
    """Spearman's ρ and the share of orders that give at least as large a |ρ|.

    With groups, ρ is that of the ranks within each group, each group's about its own mean: Σ ab / √(Σ a² Σ b²) over all
    points, a and b the centred ranks. Orders are those that keep every point in its group; above EXACT_MOST points
    DRAWS of them are drawn, and the observed one counts as one more, so that p is never 0. Raises InvalidInput if the
    shapes differ or a value is infinite.
    ``one``: shape [n]; a point with a NaN in either is left out. ``other``: shape [n].
    ``groups``: group of each point, shape [n]; None: all are of one. A group of one point says nothing, and is not
    counted.

    >>> rank_test([1, 2, 3, 4], [10, 20, 30, 40]).p
    0.08333333333333333
    """
    a, b = (np.asarray(values, dtype=np.float64).ravel() for values in (one, other))
    own = np.zeros(len(a), dtype=np.intp) if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1]
    if not a.shape == b.shape == own.shape:
        raise InvalidInput(f"two scorings of the same points have equal lengths, got {len(a)}, {len(b)}, {len(own)}")
    if np.isinf(a).any() or np.isinf(b).any():
        raise InvalidInput("ranks need finite values or NaN, got an infinite one")
    whole = ~(np.isnan(a) | np.isnan(b))
    if groups is not None:
        whole &= np.bincount(own[whole], minlength=int(own.max(initial=0)) + 1)[own] > 1
    n, parts = int(whole.sum()), [np.flatnonzero(own[whole] == each) for each in np.unique(own[whole])]
    least = 2 / math.prod(math.factorial(len(part)) for part in parts) if 2 <= n <= 100 else math.nan
    if n < 3:
        return RankTest(math.nan, math.nan, n, "", 0, least, "fewer than three points have no rank correlation")
    first, second = (_centred(values[whole], parts) for values in (a, b))
    if not first.any() or not second.any():
        return RankTest(math.nan, math.nan, n, "", 0, least, "all points have the same value on one side")
    scale = math.sqrt((first @ first) * (second @ second))
    rho = float(np.clip(first @ second / scale, -1, 1))
    if n <= EXACT_MOST:
        sums = np.zeros(1)  # Σ ab under every order within the groups: the sums of the groups' own, each with each
        for part in parts:
            orders = np.array(list(permutations(range(len(part)))), dtype=np.int8)
            sums = (sums[:, None] + second[part][orders] @ first[part]).ravel()
        hits = int((np.abs(sums) / scale >= abs(rho) - _ROUNDING).sum())
        return RankTest(rho, hits / len(sums), n, EXACT, len(sums), least)
    rng, hits = np.random.default_rng(RUN_SEED), 0
    tables = [np.tile(second[part], (_CHUNK, 1)) for part in parts]
    for start in range(0, DRAWS, _CHUNK):
        many = min(_CHUNK, DRAWS - start)
        sums = np.zeros(many)
        for part, table in zip(parts, tables, strict=True):
            sums += rng.permuted(table[:many], axis=1) @ first[part]
        hits += int((np.abs(sums) / scale >= abs(rho) - _ROUNDING).sum())
    return RankTest(rho, (hits + 1) / (DRAWS + 1), n, DRAWN, DRAWS, least)


def _centred(values: np.ndarray, parts: Sequence[np.ndarray]) -> np.ndarray:
    ranks = np.empty(len(values))
    for part in parts:
        own = stats.rankdata(values[part])
        ranks[part] = own - own.mean()
    return ranks


# Rank correlations of bootstrap samples, from how often each has each item: nothing is sorted again for a sample.
#
# Ranks, ties and pairs are whole numbers or halves of them, so that no sum of them is rounded, in whatever order it is
# taken: the coefficients are to the bit those of scipy and numpy over the rows of the sample itself.


_AT_ONCE = 100_000  # counts (items × samples) that are looked at together: they stay in the processor's cache


def sample_correlations(one: np.ndarray, other: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Spearman's ρ and Kendall's τ_b and τ_c of each sample. ``one``, ``other``: two scorings of the same items,
    finite, float64 [n], n ≥ 1; ``counts``: how often each sample has each item, int [n, samples]. Returns float64 [3,
    samples], each in [-1, 1]; NaN where a side of the sample is all alike."""
    step = max(1, _AT_ONCE // len(one))
    parts = [counts[:, start : start + step].astype(np.float64) for start in range(0, counts.shape[1], step)]
    return np.concatenate([np.empty((3, 0)), *(_correlations(one, other, own) for own in parts)], axis=1)


def _correlations(one: np.ndarray, other: np.ndarray, counts: np.ndarray) -> np.ndarray:
    total = counts.sum(axis=0)
    first, second = (_Alike.of(counts, each) for each in (one, other))
    # where either side has no two items alike, none are so on both
    both = _Alike.of(counts, other, one) if first.some and second.some else second if first.some else first
    rising = np.lexsort((other, one))  # of items alike on the first side, those lower on the second come first
    ranks = np.empty(len(one), dtype=np.intp)
    ranks[np.argsort(other[rising], kind="stable")] = np.arange(len(one))
    pairs, levels = total * (total - 1) / 2, np.minimum(first.levels, second.levels)
    surplus = pairs - first.pairs - second.pairs + both.pairs - 2 * _falling(ranks, counts[rising])
    with np.errstate(invalid="ignore", divide="ignore"):
        tau_c = np.clip(2 * surplus / (total**2 * (levels - 1) / levels), -1.0, 1.0)
        untied = (pairs - first.pairs) * (pairs - second.pairs)
        tau_b = tau_c * total**2 * (levels - 1) / (2 * levels) / np.sqrt(untied)
        # the correlation of the ranks of each sample's rows, in the steps of :func:`numpy.corrcoef`
        (own, other_ranks), share_of_one = (_ranks(each, counts) for each in (one, other)), 1 / (total - 1)
        weighted = counts * own
        covariance = (weighted * other_ranks).sum(axis=0) * share_of_one
        sums = ((weighted * own).sum(axis=0), (counts * other_ranks**2).sum(axis=0))
        spreads = [np.sqrt(each * share_of_one) for each in sums]
        rho = np.clip(covariance / spreads[0] / spreads[1], -1.0, 1.0)
        found = np.array([rho, tau_b, tau_c])
    return np.where(levels > 1, found, math.nan)


@dataclass(frozen=True, slots=True, eq=False)
class _Alike:
    """Items of equal keys."""

    counts: np.ndarray  # how often each sample has a key, float64 [keys, samples]
    some: bool  # whether two items have one key

    @classmethod
    def of(cls, counts: np.ndarray, *keys: np.ndarray) -> "_Alike":
        """Args: float64 [n, samples], and keys [n] as :func:`numpy.lexsort` takes them."""
        order = np.lexsort(keys)
        new = np.any([np.diff(each[order], prepend=math.nan) != 0 for each in keys], axis=0)
        own = counts[order]
        return cls(own if new.all() else np.add.reduceat(own, np.flatnonzero(new), axis=0), not new.all())

    @property
    def levels(self) -> np.ndarray:
        """Different keys of each sample, float64 [samples]."""
        return np.asarray(np.minimum(self.counts, 1).sum(axis=0))

    @property
    def pairs(self) -> np.ndarray:
        """Pairs of rows of one key, float64 [samples]."""
        return np.asarray((self.counts * (self.counts - 1) / 2).sum(axis=0))


def _falling(ranks: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Pairs of each sample whose first item stands before the second and ranks above it.

    Places and ranks are cut into √n blocks of √n. A pair lies in one block of places, or in two but in one of ranks:
    both are products of small matrices; or in two of either, which running sums over the blocks count. ``ranks``: of
    the items in the order in which they stand, a permutation [n]; ``counts``: float64 [n, samples]. Returns float64
    [samples]."""
    n, side = len(ranks), math.isqrt(len(ranks) - 1) + 1
    padded = np.zeros((side * side, counts.shape[1]))
    padded[:n] = counts
    every = np.concatenate([ranks, np.arange(n, side * side)])
    placed = np.argsort(every)
    found = _falling_within(every, padded, side) + _falling_within(placed // side, padded[placed], side)
    cells = np.arange(side * side) // side * side + every // side
    spread = csr_array((np.ones(len(cells)), (cells, np.arange(len(cells)))), shape=(len(cells), len(cells)))
    blocks = (spread @ padded).reshape(side, side, -1)
    before = blocks[:-1].cumsum(axis=0)  # places of earlier blocks, by their block of ranks
    above = before[:, :0:-1].cumsum(axis=1)[:, ::-1]
    return np.asarray(found + (above * blocks[1:, :-1]).sum(axis=(0, 1)))


def _falling_within(keys: np.ndarray, counts: np.ndarray, side: int) -> np.ndarray:
    """Pairs within a block whose first has the larger key, float64 [samples]; keys [side²], counts [side², samples]."""
    key, own = keys.reshape(side, side), counts.reshape(side, side, -1)
    falls = (key[:, None, :] > key[:, :, None]) & np.tri(side, k=-1, dtype=bool)
    return np.asarray(((falls.astype(np.float64) @ own) * own).sum(axis=(0, 1)))


# Bootstrap of Spearman's ρ along λ, for all strengths and all resamples at once.


BAND_RESAMPLES = 200
"""Bootstrap samples of a band: enough for a band that is looked at, few enough to follow a choice at once."""

WORK = 4_000_000
"""Ranks (items × resamples × strengths) that a band may take; beyond it, strengths are left out and interpolated."""

ROUNDED = 1e-9  # width that rounding may leave between bounds that are one: no interval
_EXACT = 2**24  # whole numbers below it, and their halves below half of it, are exact as float32


def spearman_bands(
    clean: np.ndarray,
    change: np.ndarray,
    others: Mapping[str, np.ndarray],
    lambdas: Sequence[float],
    *,
    level: float = 0.95,
    sources: np.ndarray | None = None,
    resamples: int = BAND_RESAMPLES,
    seed: int = RUN_SEED,
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Percentile bands of ρ(S + λ · change, H) over items, one for each H, the same samples at every λ.

    A sample is a vector of counts. Ordered once by score, the mean ranks of the sample are running sums of its counts
    (ties share the mean of theirs), so nothing is sorted again. Raises InvalidInput if level is out of range. Returns
    by H: lower and upper bound, float64 [l] each; NaN where fewer than LEAST_N items or sources are whole, where a
    scoring is constant, and where no sample's ρ differs, as of two that order all items alike.
    ``clean``: S, float64 [n]; an item with a NaN in any of the three is left out.
    ``change``: what λ multiplies, float64 [n].
    ``others``: H by name, float64 [n] each; those rated on the same items share the ranks of Ŝ.
    ``sources``: number of each item's source, int [n]: items of one source are drawn together; None: each is its own.
    """
    if not 0 < level < 1:
        raise InvalidInput(f"level must lie in (0, 1), got {level!r}")
    groups: dict[bytes, list[str]] = {}
    for name, ratings in others.items():
        whole = ~(np.isnan(clean) | np.isnan(ratings) | np.isnan(change))
        groups.setdefault(whole.tobytes(), []).append(name)
    found: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    strengths = np.asarray(lambdas, dtype=np.float64)
    for mask, names in groups.items():
        whole = np.frombuffer(mask, dtype=bool)
        n = int(whole.sum())
        targets = [others[name][whole] for name in names]
        own = None if sources is None else np.unique(first_of(sources)[whole], return_inverse=True)[1]
        bounds = _group(clean[whole], change[whole], targets, strengths, level, own, resamples, seed)
        for name, target, (low, high) in zip(names, targets, bounds, strict=True):
            if sources is not None and n > 1 and np.ptp(clean[whole]) > 0 and np.ptp(target) > 0:  # the second source
                times = widening(pair_influence(clean[whole], target), sources[whole], level=level)
                more = (times - 1) * (high - low) / 2
                if times != 1:
                    low, high = np.maximum(low - more, -1.0), np.minimum(high + more, 1.0)
            found[name] = low, high
    return {name: found[name] for name in others}


def _group(
    s: np.ndarray,
    c: np.ndarray,
    targets: Sequence[np.ndarray],
    strengths: np.ndarray,
    level: float,
    sources: np.ndarray | None,
    resamples: int,
    seed: int,
) -> list[tuple[np.ndarray, np.ndarray]]:
    n = len(s)
    if too_few(n, n if sources is None else int(sources.max(initial=-1)) + 1) or len(strengths) == 0:
        return [(np.full(len(strengths), math.nan), np.full(len(strengths), math.nan)) for _ in targets]
    if not c.any():
        # no strength moves a rank: readings that leave unedited scores alone ask this again for every choice of edits
        asked = (s.tobytes(), tuple(each.tobytes() for each in targets), None if sources is None else sources.tobytes())
        return [
            (np.full(len(strengths), low), np.full(len(strengths), high))
            for low, high in _unmoved(*asked, level, resamples, seed)
        ]
    # all strengths, or as many as the work allows, the ends always
    most = max(2, min(len(strengths), WORK // (n * resamples)))
    at = np.unique(np.linspace(0, len(strengths) - 1, most).round().astype(int))
    bounds = _drawn_bounds([s + strengths[step] * c for step in at], targets, level, sources, resamples, seed)
    return [
        (np.interp(strengths, strengths[at], low), np.interp(strengths, strengths[at], high))
        for low, high in (each.T for each in bounds)
    ]


@lru_cache(maxsize=32)  # 0.3 MB each for four H of 8 000 items
def _unmoved(
    s: bytes, targets: tuple[bytes, ...], sources: bytes | None, level: float, resamples: int, seed: int
) -> tuple[tuple[float, float], ...]:
    """Bounds of ρ(S, H) for each H, from the bytes of the arrays of :func:`_group`."""
    scored, *others = (np.frombuffer(each) for each in (s, *targets))
    own = None if sources is None else np.frombuffer(sources, dtype=np.intp)
    found = _drawn_bounds([scored], others, level, own, resamples, seed)
    return tuple((float(low), float(high)) for [[low, high]] in found)


def _drawn_bounds(
    scorings: Sequence[np.ndarray],
    targets: Sequence[np.ndarray],
    level: float,
    sources: np.ndarray | None,
    resamples: int,
    seed: int,
) -> np.ndarray:
    """Bounds of ρ of every scoring with every H, the same samples for all, float64 [targets, scorings, 2]."""
    # one column a sample: what every sample does with an item then lies side by side in memory
    counts = sample_counts(len(scorings[0]), resamples, sources=sources, seed=seed).T.astype(np.float64)
    ranked = [_ranks(target, counts) for target in targets]
    sizes = [np.einsum("ij,ij,ij->j", counts, each, each) for each in ranked]
    bounds = np.full((len(targets), len(scorings), 2), math.nan)
    for place, scores in enumerate(scorings):
        ranks = _ranks(scores, counts)
        own = np.einsum("ij,ij,ij->j", counts, ranks, ranks)
        for row, (each, size) in enumerate(zip(ranked, sizes, strict=True)):
            both, scale = np.einsum("ij,ij,ij->j", counts, each, ranks), own * size
            drawn = np.divide(both, np.sqrt(scale), out=np.full(resamples, math.nan), where=scale > 0)
            known = drawn[~np.isnan(drawn)]  # a sample may hold one value only
            if len(known):
                low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
                bounds[row, place] = (low, high) if high - low > ROUNDED else math.nan
    return bounds


def _ranks(values: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Centred mean ranks of every sample, float64 [n, resamples], in the order of the items."""
    order = np.argsort(values)  # equal values share a rank, in whatever order they stand
    ordered = values[order]
    # sums of counts are whole numbers, exact in half the bytes as long as twice them is
    exact = 2 * len(values) * counts.max(initial=0) < _EXACT
    below = np.zeros((len(values) + 1, counts.shape[1]), dtype=np.float32 if exact else np.float64)
    np.cumsum(counts.astype(below.dtype, copy=False)[order], axis=0, out=below[1:])
    if (ordered[1:] == ordered[:-1]).any():
        ends = [np.searchsorted(ordered, ordered, side=side) for side in ("left", "right")]
        twice = below[ends[0]] + below[ends[1]]
    else:  # every value ends where the next one starts
        twice = below[:-1] + below[1:]
    twice -= below[-1]
    twice /= 2
    ranks = np.empty_like(counts)
    ranks[order] = twice
    return ranks
