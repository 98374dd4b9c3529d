"""How well a score agrees with people on a human-labelled suite.

*Preference accuracy*: of two captions of one image, does the one that people prefer score higher; ties 0.5. A
suite of ratings gives every pair of captions of one image whose mean ratings differ. *τ × 100*: Kendall's τ over all
ratings, τ_b or τ_c as the field reports the suite; Spearman's ρ and Pearson's r stand beside it. *Length*: Spearman's
ρ × 100 of score and number of words, and the same with the ratings held, which is what length gives a caption that
people do not. Intervals are over images: captions of one image stand together.

Source: paper A, B.7 and Table 17; the conventions of τ: jmhessel/clipscore, flickr8k_example.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats
from scipy.special import expit, logit, stdtrit

from core.corpora.suites.model import TAU_B, TAU_B_RATERS, TAU_C
from core.errors import InvalidInput
from core.seeds import RUN_SEED
from core.statistics.bootstrap import Interval, too_few, widened
from core.statistics.crossed_sources import first_of
from core.statistics.rank_agreement import pair_influence, sample_correlations
from core.statistics.resamples import sample_counts
from core.statistics.shares import share

RHO = "rho"  # Spearman's ρ of two scorings of the same items
PEARSON = "pearson"  # Pearson's r of scores and ratings. Source: paper B, Table 3

RHO_RATERS, PEARSON_RATERS = "rho_raters", "pearson_raters"
"""Spearman's ρ and Pearson's r of each annotator's ratings alone, the mean over annotators."""

TAU_RESAMPLES = 200  # Bootstrap samples of a correlation
MEAN_RESAMPLES = 1000  # Bootstrap samples of a mean over groups

LEAST_IMAGES = 20
"""Fewest images for the interval of a correlation over images; of 10, 89 to 99 of 100 intervals held it."""


LEVEL = 0.95  # Of every interval here


def _bare(estimate: float, count: int, why: str) -> Interval:
    return Interval(estimate, math.nan, math.nan, count, LEVEL, why)


def _none(count: int, why: str) -> Interval:
    return _bare(math.nan, count, why)


def accuracy(preferred: np.ndarray, other: np.ndarray, images: Sequence[str], *, strict: bool = False) -> Interval:
    """Preference accuracy with its Wilson interval, the images being its units; ``preferred``: score of the preferred
    caption of each pair, float64 [n], or [draws, n]: a pair's outcome is then the mean over draws; pairs with a NaN are
    left out. Returns in [0, 1]; ``n`` counts pairs. One image has no interval, and a note. Raises InvalidInput if the
    lengths differ."""
    right, names = outcomes(preferred, other, images, strict=strict)
    if len(right) == 0:
        return _none(0, "no pair has both scores")
    if (names == names[0]).all():
        return _bare(float(right.mean()), len(right), "one image, or text, has no interval")
    return share(right, groups=names)


def outcomes(
    preferred: np.ndarray, other: np.ndarray, images: Sequence[str], *, strict: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Outcome of each pair that has both scores, in [0, 1], and its image; see :func:`accuracy`. Raises InvalidInput if
    the lengths differ."""
    one, two = np.atleast_2d(preferred), np.atleast_2d(other)
    if not one.shape[1] == two.shape[1] == len(images):
        raise InvalidInput(f"a pair has two scores and an image, got {one.shape[1]}, {two.shape[1]}, {len(images)}")
    whole = ~(np.isnan(one) | np.isnan(two)).any(axis=0)
    right = ((one > two) + (0.0 if strict else 0.5) * (one == two)).mean(axis=0)
    return right[whole], np.asarray(images, dtype=object)[whole].astype(str)


def mean_of_groups(right: np.ndarray, images: np.ndarray, groups: np.ndarray) -> Interval:
    """Mean over groups of each group's accuracy, with an interval over images; see :func:`_intervals`; ``right``:
    outcome of each pair, in [0, 1], [n]."""
    if len(right) == 0:
        return _none(0, "no pair has both scores")
    codes = np.unique(groups, return_inverse=True)[1]
    many = int(codes.max()) + 1

    def of(rows: np.ndarray) -> float:
        counts = np.bincount(codes[rows], minlength=many)
        sums = np.bincount(codes[rows], right[rows], minlength=many)
        return float((sums / counts).mean()) if counts.all() else math.nan

    return _resampled(lambda rows: np.array([of(rows)]), images, resamples=MEAN_RESAMPLES, on=SHARES)[0]


def rated_pairs(table: pd.DataFrame) -> pd.DataFrame:
    """Scores of the better (preferred) and of the worse rated caption (other) of every two of one image that people
    rated differently; several ratings of a caption are averaged; ``table``: columns image, caption, rating, score."""
    captions = table.groupby(["image", "caption"], sort=True, observed=True)[["rating", "score"]].mean().reset_index()
    both = captions.merge(captions, on="image", suffixes=("", "_other"))
    better = both[both["rating"] > both["rating_other"]].reset_index(drop=True)
    return pd.DataFrame({"image": better["image"], "preferred": better["score"], "other": better["score_other"]})


def correlations(
    scores: np.ndarray, ratings: np.ndarray, images: Sequence[str], *, resamples: int = TAU_RESAMPLES
) -> dict[str, Interval]:
    """Kendall's τ_b and τ_c, Spearman's ρ and Pearson's r × 100, intervals over images; see :func:`_intervals`.
    ``scores``: float64 [n], or [draws, n]: the mean over draws; a rating without a score is left out. ``ratings``: by
    people, float64 [n]. Returns by TAU_B, TAU_C, RHO and PEARSON."""
    drawn, names = np.atleast_2d(scores), (TAU_B, TAU_C, RHO, PEARSON)
    whole = ~(np.isnan(drawn).any(axis=0) | np.isnan(ratings))
    s, r = drawn[:, whole], ratings[whole]
    if s.shape[1] < 2:
        return dict.fromkeys(names, _none(s.shape[1], "fewer than two ratings"))
    if np.ptp(r) == 0:
        return dict.fromkeys(names, _none(s.shape[1], f"no correlation: every rating is {r[0]:g}"))
    if (np.ptp(s, axis=1) == 0).any():
        return dict.fromkeys(names, _none(s.shape[1], "no correlation: every score is the same"))

    def of(counts: np.ndarray) -> np.ndarray:
        found = [(*sample_correlations(each, r, counts), sample_pearson(each, r, counts)) for each in s]
        rho, tau_b, tau_c, pearson = 100 * np.mean(found, axis=0)
        return np.array([tau_b, tau_c, rho, pearson])

    of_images = np.asarray(images, dtype=object)[whole].astype(str)
    return dict(zip(names, _counted(of, of_images, resamples=resamples), strict=True))


def _both(scores: np.ndarray, ratings: np.ndarray) -> tuple[float, float]:
    """τ_b and τ_c of one sort: they differ in what the surplus of concordant pairs is divided by."""
    tau_c = float(stats.kendalltau(scores, ratings, variant="c").statistic)
    n = len(scores)
    counts = [np.unique(each, return_counts=True)[1].astype(np.float64) for each in (scores, ratings)]
    least = min(map(len, counts))
    if least < 2:
        return math.nan, math.nan
    surplus = tau_c * n**2 * (least - 1) / (2 * least)
    untied = [n * (n - 1) / 2 - float((each * (each - 1) / 2).sum()) for each in counts]
    return surplus / math.sqrt(untied[0] * untied[1]), tau_c


def rank_correlations(one: np.ndarray, other: np.ndarray, sources: Sequence[str] | np.ndarray) -> dict[str, Interval]:
    """Spearman's ρ and Kendall's τ_b and τ_c × 100 of two scorings, intervals over sources; see :func:`_intervals`.
    ``one``, ``other``: float64 [n]; an item that lacks one of them is left out. ``sources``: what each item is of, [n],
    or two, [n, 2]. Returns by RHO, TAU_B and TAU_C."""
    whole = ~(np.isnan(one) | np.isnan(other))
    a, b = one[whole], other[whole]
    if len(a) < 3 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return dict.fromkeys((RHO, TAU_B, TAU_C), _none(len(a), "fewer than three items, or all alike"))

    def of(counts: np.ndarray) -> np.ndarray:
        return 100 * sample_correlations(a, b, counts)

    groups = np.asarray(sources)[whole]
    found = _counted(of, first_of(groups).astype(str))
    owed = pair_influence(a, b)
    return {name: widened(each, owed, groups) for name, each in zip((RHO, TAU_B, TAU_C), found, strict=True)}


def by_rater(
    scores: np.ndarray, ratings: np.ndarray, raters: Sequence[str], images: Sequence[str]
) -> dict[str, Interval]:
    """Kendall's τ_b, Spearman's ρ and Pearson's r × 100 of each annotator's ratings alone, the mean over annotators.
    With intervals over images; see :func:`_intervals`. Source: Shi et al., EMScore (2022), and their code. ``scores``:
    float64 [n], or [draws, n]: the mean over draws; a rating without a score is left out. ``ratings``: by people,
    float64 [n]. ``raters``: who gave each rating, [n]. Returns by TAU_B_RATERS, RHO_RATERS and PEARSON_RATERS; none of
    them where somebody's ratings are all alike."""
    drawn, measures = np.atleast_2d(scores), (TAU_B_RATERS, RHO_RATERS, PEARSON_RATERS)
    whole = ~(np.isnan(drawn).any(axis=0) | np.isnan(ratings))
    s, r = drawn[:, whole], ratings[whole]
    codes = np.unique(np.asarray(raters, dtype=object)[whole].astype(str), return_inverse=True)[1]
    several = int(codes.max()) + 1 if len(codes) else 0
    alone = [codes == each for each in range(several)]
    if not several or any(
        each.sum() < 2 or np.ptp(r[each]) == 0 or (np.ptp(s[:, each], axis=1) == 0).any() for each in alone
    ):
        said = "no mean over raters: fewer than two ratings of somebody, or ratings or scores that are all alike"
        return dict.fromkeys(measures, _none(s.shape[1], said))

    def of(rows: np.ndarray) -> np.ndarray:
        held = [rows[codes[rows] == each] for each in range(several)]
        sides = [(each[one], r[one]) for each in s for one in held]
        found = [(_both(*each)[0], _pearson(*map(stats.rankdata, each)), _pearson(*each)) for each in sides]
        return np.asarray(100 * np.mean(found, axis=0))

    names = np.asarray(images, dtype=object)[whole].astype(str)
    return dict(zip(measures, _resampled(of, names), strict=True))


def _pearson(scores: np.ndarray, ratings: np.ndarray) -> float:
    """r; NaN where one side is all alike."""
    return float(np.corrcoef(scores, ratings)[0, 1]) if np.ptp(scores) > 0 and np.ptp(ratings) > 0 else math.nan


def length(
    scores: np.ndarray,
    words: np.ndarray,
    images: Sequence[str],
    *,
    ratings: np.ndarray | None = None,
    resamples: int = TAU_RESAMPLES,
) -> Interval:
    """Spearman's ρ × 100 of score and number of words, with an interval over images; see :func:`_intervals`.
    ``scores``: float64 [n]; a caption without a score or a rating is left out. ``words``: of the captions, [n].
    ``ratings``: by people, float64 [n]: their ranks are held by partial correlation. None: nothing is held."""
    columns = [scores, words, *([] if ratings is None else [ratings])]
    whole = ~np.isnan(np.array(columns, dtype=np.float64)).any(axis=0)
    known = [np.asarray(each, dtype=np.float64)[whole] for each in columns]
    count = int(whole.sum())
    if count < 3 or any(np.ptp(each) == 0 for each in known):
        return _none(count, "fewer than three captions, or all alike")

    def of(rows: np.ndarray) -> float:
        ranks = np.array([stats.rankdata(each[rows]) for each in known])
        if (np.ptp(ranks, axis=1) == 0).any():
            return math.nan
        found = np.corrcoef(ranks)
        if ratings is None:
            return 100 * float(found[0, 1])
        (_, both, one), (_, _, other) = found[:2]
        left = (1 - one**2) * (1 - other**2)  # NaN where the ratings leave nothing to correlate
        return 100 * float((both - one * other) / math.sqrt(left)) if left > 1e-12 else math.nan

    names = np.asarray(images, dtype=object)[whole].astype(str)
    return _resampled(lambda rows: np.array([of(rows)]), names, resamples=resamples)[0]


class _Scale(NamedTuple):
    """A scale on which samples of a bounded quantity are nearly normal, its way back, and the bounds."""

    there: Callable[[np.ndarray], np.ndarray]
    back: Callable[[np.ndarray], np.ndarray]
    low: float
    high: float


CORRELATIONS = _Scale(lambda values: np.arctanh(values / 100), lambda values: 100 * np.tanh(values), -100.0, 100.0)
"""Correlations × 100, by Fisher's z."""

SHARES = _Scale(logit, expit, 0.0, 1.0)


def _resampled(
    statistics: Callable[[np.ndarray], np.ndarray],
    images: np.ndarray,
    *,
    resamples: int = TAU_RESAMPLES,
    on: _Scale = CORRELATIONS,
) -> list[Interval]:
    """Several statistics of the same rows, given by their places, with intervals over images; see :func:`_intervals`.
    ``statistics``: of some rows, by their places, int [k]: float64 [statistics]; one without a value is left out."""
    codes = np.unique(images, return_inverse=True)[1]
    members = np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1])

    def drawn() -> np.ndarray:
        rng = np.random.default_rng(RUN_SEED)
        picks = (rng.integers(len(members), size=len(members)) for _ in range(resamples))
        return np.array([statistics(np.concatenate([members[place] for place in each])) for each in picks]).T

    estimate = np.asarray(statistics(np.arange(len(images))), dtype=np.float64)
    return _intervals(estimate, drawn, len(images), len(members), on)


def _counted(
    statistics: Callable[[np.ndarray], np.ndarray], images: np.ndarray, *, resamples: int = TAU_RESAMPLES
) -> list[Interval]:
    """The same of the same samples, all at once: float64 [statistics, samples], where the statistics need only how
    often each sample has each row, int [n, samples]."""
    codes, count = np.unique(images, return_inverse=True)[1], len(images)

    def drawn() -> np.ndarray:
        return statistics(sample_counts(count, resamples, sources=codes).T)

    estimate = statistics(np.ones((count, 1), dtype=np.int16))[:, 0]
    return _intervals(estimate, drawn, count, int(codes.max()) + 1, CORRELATIONS)


def _intervals(
    estimate: np.ndarray, drawn: Callable[[], np.ndarray], count: int, images: int, on: _Scale
) -> list[Interval]:
    """Intervals of several statistics over images.

    The statistic on its scale ± Student's quantile times the standard deviation there over bootstrap samples of images,
    stretched by √(m / (m - 1)) for m images: quantiles of few images' samples lie too near, and 200 samples tell a
    standard deviation and no tail [1]. ``estimate``: of the rows themselves, float64 [statistics]. ``drawn``: gives
    those of bootstrap samples of images, float64 [statistics, samples].

    References:
        [1] Efron, B. and Tibshirani, R. (1993). An Introduction to the Bootstrap, 12.2 and 12.6.
    """
    if said := too_few(count, images, least=LEAST_IMAGES):
        return [_bare(float(each), count, said) for each in estimate]
    stretch = math.sqrt(images / (images - 1)) * float(stdtrit(images - 1, (1 + LEVEL) / 2))
    return [_around(float(one), own, stretch, count, on) for one, own in zip(estimate, drawn(), strict=True)]


def _around(estimate: float, drawn: np.ndarray, stretch: float, count: int, on: _Scale) -> Interval:
    """Interval of one statistic from its bootstrap samples."""
    if not on.low < estimate < on.high:
        return _bare(estimate, count, "no interval: at the end of its range")
    inside = drawn[(drawn > on.low) & (drawn < on.high)]  # neither undefined nor at infinity on the scale
    if len(inside) < len(drawn) // 2:
        return _bare(estimate, count, "no interval: half of the samples have none")
    half = stretch * float(on.there(inside).std(ddof=1))
    low, high = on.back(on.there(np.array([estimate])) + np.array([-half, half]))
    return Interval(estimate, float(low), float(high), count, LEVEL)


_ALIKE = 1e-12  # Share of the items' variance below which a sample's is rounding alone: its items are all alike


def sample_pearson(one: np.ndarray, other: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Pearson's r of each sample of two finite scorings of the same items, float64 [n], n ≥ 1; ``counts``: how often it
    has each item, int [n, samples]. Returns float64 [samples] in [-1, 1]; NaN where a side is all alike."""
    a, b = (each - each.mean() for each in (one, other))
    spread = [float((each**2).mean()) for each in (a, b)]
    # each row's products, so that one product of matrices gives every sum of every sample
    sums = np.stack([np.ones(len(a)), a, b, a * a, b * b, a * b]) @ counts
    mean_a, mean_b, square_a, square_b, product = sums[1:] / sums[0]
    variances = square_a - mean_a**2, square_b - mean_b**2
    varied = np.all([own > _ALIKE * whole for own, whole in zip(variances, spread, strict=True)], axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        found = (product - mean_a * mean_b) / np.sqrt(variances[0] * variances[1])
    return np.where(varied, np.clip(found, -1.0, 1.0), math.nan)
