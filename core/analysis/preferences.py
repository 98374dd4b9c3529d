"""How well a score agrees with people on a human-labelled suite.

*Preference accuracy*: of two captions of one image, does the one that people prefer score higher; ties 0.5. A
suite of ratings gives every pair of captions of one image whose mean ratings differ. *τ × 100*: Kendall's τ over all
ratings, τ_b or τ_c as the field reports the suite. *Length*: Spearman's ρ × 100 of score and number of words, and the
same with the ratings held, which is what length gives a caption that people do not. Intervals are over images:
captions of one image stand together.

Source: paper A, B.7 and Table 17; the conventions of τ: jmhessel/clipscore, flickr8k_example.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from scipy import stats
from scipy.special import stdtrit

from core.corpora.suites import ACCURACY, TAU_B, Suite
from core.errors import InvalidInput
from core.probes.words.caption_words import LANGUAGES, words
from core.seeds import RUN_SEED
from core.statistics.bootstrap import Interval, too_few
from core.statistics.shares import share

TAU_RESAMPLES = 200
"""Bootstrap samples of a τ: each costs a sort of all ratings."""

LEAST_IMAGES = 20
"""Fewest images for the interval of a correlation over images; of 10, 89 to 99 of 100 intervals held it."""


def accuracy(preferred: np.ndarray, other: np.ndarray, images: Sequence[str], *, level: float = 0.95) -> Interval:
    """Preference accuracy with its Wilson interval, the images being its units.

    Args:
        preferred: score of the preferred caption of each pair, float64 [n]; pairs with a NaN are left out.
        other: score of the other one, float64 [n].
        images: image of each pair.
        level: confidence level in (0, 1).

    Returns:
        In [0, 1]; ``n`` counts pairs. One image has no interval, and a note.

    Raises:
        InvalidInput: if the lengths differ.
    """
    if not len(preferred) == len(other) == len(images):
        raise InvalidInput(f"a pair has two scores and an image, got {len(preferred)}, {len(other)}, {len(images)}")
    whole = ~(np.isnan(preferred) | np.isnan(other))
    right = (preferred[whole] > other[whole]) + 0.5 * (preferred[whole] == other[whole])
    if len(right) == 0:
        return Interval(math.nan, math.nan, math.nan, 0, level, "no pair has both scores")
    names = np.asarray(images, dtype=object)[whole].astype(str)
    if (names == names[0]).all():
        return Interval(float(right.mean()), math.nan, math.nan, len(right), level, "one image has no interval")
    return share(right, groups=names, level=level)


def rated_pairs(table: pd.DataFrame) -> pd.DataFrame:
    """Every two captions of one image that people rated differently.

    Args:
        table: columns image, caption, rating, score; several ratings of a caption are averaged.

    Returns:
        Columns image, preferred, other: scores of the better and of the worse rated caption.
    """
    captions = table.groupby(["image", "caption"], sort=True, observed=True)[["rating", "score"]].mean().reset_index()
    both = captions.merge(captions, on="image", suffixes=("", "_other"))
    better = both[both["rating"] > both["rating_other"]]
    return pd.DataFrame(
        {"image": better["image"], "preferred": better["score"], "other": better["score_other"]}
    ).reset_index(drop=True)


def tau(
    scores: np.ndarray,
    ratings: np.ndarray,
    images: Sequence[str],
    *,
    convention: str,
    level: float = 0.95,
    resamples: int = TAU_RESAMPLES,
) -> Interval:
    """Kendall's τ × 100 with an interval over images; see :func:`_over_images`.

    Args:
        scores: float64 [n]; a rating without a score is left out.
        ratings: by people, float64 [n].
        images: image of each rating.
        convention: TAU_B or TAU_C of :mod:`core.corpora.suites`.
        level: confidence level in (0, 1).
        resamples: bootstrap samples of images.
    """
    whole = ~(np.isnan(scores) | np.isnan(ratings))
    s, r = scores[whole], ratings[whole]
    if len(s) < 2 or np.ptp(s) == 0 or np.ptp(r) == 0:
        return Interval(math.nan, math.nan, math.nan, len(s), level, "fewer than two ratings, or all alike")
    variant = "b" if convention == TAU_B else "c"

    def of(rows: np.ndarray) -> float:
        return 100 * float(stats.kendalltau(s[rows], r[rows], variant=variant).statistic)

    return _over_images(of, np.asarray(images, dtype=object)[whole].astype(str), level=level, resamples=resamples)


def length(
    scores: np.ndarray,
    words: np.ndarray,
    images: Sequence[str],
    *,
    ratings: np.ndarray | None = None,
    level: float = 0.95,
    resamples: int = TAU_RESAMPLES,
) -> Interval:
    """Spearman's ρ × 100 of score and number of words, with an interval over images; see :func:`_over_images`.

    Args:
        scores: float64 [n]; a caption without a score or a rating is left out.
        words: of the captions, [n].
        images: image of each caption.
        ratings: by people, float64 [n]: their ranks are held by partial correlation. None: nothing is held.
        level: confidence level in (0, 1).
        resamples: bootstrap samples of images.
    """
    columns = [scores, words, *([] if ratings is None else [ratings])]
    whole = ~np.isnan(np.array(columns, dtype=np.float64)).any(axis=0)
    known = [np.asarray(each, dtype=np.float64)[whole] for each in columns]
    count = int(whole.sum())
    if count < 3 or any(np.ptp(each) == 0 for each in known):
        return Interval(math.nan, math.nan, math.nan, count, level, "fewer than three captions, or all alike")

    def of(rows: np.ndarray) -> float:
        ranks = np.array([stats.rankdata(each[rows]) for each in known])
        if (np.ptp(ranks, axis=1) == 0).any():
            return math.nan
        return 100 * _partial(np.corrcoef(ranks))

    return _over_images(of, np.asarray(images, dtype=object)[whole].astype(str), level=level, resamples=resamples)


def _partial(correlations: np.ndarray) -> float:
    """The first two, the third held where there is one; NaN where the third leaves nothing to correlate."""
    if len(correlations) == 2:
        return float(correlations[0, 1])
    (_, both, one), (_, _, other) = correlations[:2]
    left = (1 - one**2) * (1 - other**2)
    return float((both - one * other) / math.sqrt(left)) if left > 1e-12 else math.nan


def _over_images(
    statistic: Callable[[np.ndarray], float], images: np.ndarray, *, level: float, resamples: int
) -> Interval:
    """A correlation × 100 of rows, given by their places, with its interval over images.

    Fisher's z of the correlation ± Student's quantile times the standard deviation of z over bootstrap samples of
    images, stretched by √(m / (m - 1)) for m images: quantiles of few images' samples lie too near, and 200 samples
    tell a standard deviation and no tail [1].

    References:
        [1] Efron, B. and Tibshirani, R. (1993). An Introduction to the Bootstrap, 12.2 and 12.6.
    """
    count = len(images)
    estimate = statistic(np.arange(count))
    codes = np.unique(images, return_inverse=True)[1]
    members = np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1])
    if said := too_few(count, len(members), least=LEAST_IMAGES):
        return Interval(estimate, math.nan, math.nan, count, level, said)
    if not abs(estimate) < 100:
        return Interval(estimate, math.nan, math.nan, count, level, "no interval: the order is the same throughout")
    rng = np.random.default_rng(RUN_SEED)
    drawn = np.empty(resamples)
    for sample in range(resamples):
        drawn[sample] = statistic(
            np.concatenate([members[place] for place in rng.integers(len(members), size=len(members))])
        )
    drawn = drawn[np.abs(drawn) < 100]  # neither undefined nor without a z
    if len(drawn) < resamples // 2:
        return Interval(estimate, math.nan, math.nan, count, level, "no interval: half of the samples have no order")
    stretch = math.sqrt(len(members) / (len(members) - 1)) * float(stdtrit(len(members) - 1, (1 + level) / 2))
    middle, half = math.atanh(estimate / 100), stretch * float(np.arctanh(drawn / 100).std(ddof=1))
    return Interval(estimate, 100 * math.tanh(middle - half), 100 * math.tanh(middle + half), count, level)


def suite_table(suite: Suite, rated: np.ndarray, preferred: np.ndarray, other: np.ndarray) -> pd.DataFrame:
    """What is reported of one evaluator on one suite.

    Args:
        suite: the suite.
        rated: scores of ``suite.rated``.
        preferred: scores of the preferred captions of ``suite.compared``.
        other: of the other ones.

    Returns:
        Columns measure (``tau_b``, ``tau_c``, ``length`` and ``length_rated`` × 100, ``accuracy`` in percent), group
        ("" for all), value, low, high, n, ties, note. A suite of ratings has τ, the accuracy of its rated pairs and
        what length gives, language by language where it has several; one of pairs its accuracy, by group too.
    """
    records = []
    if suite.convention != ACCURACY:
        table = pd.DataFrame(
            {
                "image": [each.image for each in suite.rated], "caption": [each.caption for each in suite.rated],
                "rating": [each.rating for each in suite.rated], "score": rated,
                "language": [each.language for each in suite.rated],
            }
        )  # fmt: skip
        languages = list(dict.fromkeys(table["language"]))
        for group in languages if len(languages) > 1 else [""]:  # scores of two languages have no common order
            records += _of_ratings(suite, table[table["language"] == group] if group else table, group)
    else:
        images, groups = [each.image for each in suite.compared], [each.group for each in suite.compared]
        records.append(_accuracy("", preferred, other, images))
        for group in dict.fromkeys(groups) if len(set(groups)) > 1 else ():
            chosen = np.array([each == group for each in groups])
            part = [image for image, keep in zip(images, chosen, strict=True) if keep]
            records.append(_accuracy(group, preferred[chosen], other[chosen], part))
    return pd.DataFrame(records, columns=["measure", "group", "value", "low", "high", "n", "ties", "note"])


def _of_ratings(suite: Suite, table: pd.DataFrame, group: str) -> list[dict[str, object]]:
    scores, ratings = table["score"].to_numpy(), table["rating"].to_numpy()
    found = tau(scores, ratings, list(table["image"]), convention=suite.convention)
    pairs = rated_pairs(table)
    preferred, other = pairs["preferred"].to_numpy(), pairs["other"].to_numpy()
    told = [(each.caption, each.language if each.language in LANGUAGES else "en") for each in suite.rated]
    many = np.array([len(words(caption, language)) for caption, language in told])[table.index]
    images = list(table["image"])
    return [
        _record(suite.convention, group, found, 1.0, 0),
        _accuracy(group, preferred, other, list(pairs["image"])),
        _record("length", group, length(scores, many, images), 1.0, 0),
        _record("length_rated", group, length(scores, many, images, ratings=ratings), 1.0, 0),
    ]


def _accuracy(group: str, preferred: np.ndarray, other: np.ndarray, images: Sequence[str]) -> dict[str, object]:
    found = accuracy(preferred, other, images)
    return _record(ACCURACY, group, found, 100.0, int((preferred == other).sum()))


def _record(measure: str, group: str, found: Interval, scale: float, ties: int) -> dict[str, object]:
    return {
        "measure": measure, "group": group, "value": scale * found.estimate, "low": scale * found.low,
        "high": scale * found.high, "n": found.n, "ties": ties, "note": found.note,
    }  # fmt: skip
