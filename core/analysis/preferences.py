"""How well a score agrees with people on a human-labelled suite.

*Preference accuracy*: of two captions of one image, does the one that people prefer score higher; ties 0.5. A
suite of ratings gives every pair of captions of one image whose mean ratings differ. *τ × 100*: Kendall's τ over all
ratings, τ_b or τ_c as the field reports the suite. Intervals are over images: captions of one image stand together.

Source: paper A, B.7 and Table 17; the conventions of τ: jmhessel/clipscore, flickr8k_example.
"""

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import stats

from core.corpora.suites import ACCURACY, TAU_B, Suite
from core.errors import InvalidInput
from core.seeds import RUN_SEED
from core.statistics.bootstrap import Interval, too_few
from core.statistics.shares import share

TAU_RESAMPLES = 200
"""Bootstrap samples of a τ: each costs a sort of all ratings."""


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
    """Kendall's τ × 100 with a percentile interval over images.

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
    estimate = 100 * float(stats.kendalltau(s, r, variant=variant).statistic)
    codes = np.unique(np.asarray(images, dtype=object)[whole].astype(str), return_inverse=True)[1]
    members = np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1])
    if said := too_few(len(s), len(members)):
        return Interval(estimate, math.nan, math.nan, len(s), level, said)
    rng = np.random.default_rng(RUN_SEED)
    drawn = np.empty(resamples)
    for sample in range(resamples):
        rows = np.concatenate([members[place] for place in rng.integers(len(members), size=len(members))])
        drawn[sample] = 100 * stats.kendalltau(s[rows], r[rows], variant=variant).statistic
    low, high = np.nanquantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return Interval(estimate, float(low), float(high), len(s), level)


def suite_table(suite: Suite, rated: np.ndarray, preferred: np.ndarray, other: np.ndarray) -> pd.DataFrame:
    """What is reported of one evaluator on one suite.

    Args:
        suite: the suite.
        rated: scores of ``suite.rated``.
        preferred: scores of the preferred captions of ``suite.compared``.
        other: of the other ones.

    Returns:
        Columns measure (``tau_b``, ``tau_c`` × 100, ``accuracy`` in percent), group ("" for all), value, low, high,
        n, ties, note. A suite of ratings has τ and the accuracy of its rated pairs, language by language where it has
        several; one of pairs its accuracy, by group too.
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
    return [
        _record(suite.convention, group, found, 1.0, 0), _accuracy(group, preferred, other, list(pairs["image"])),
    ]  # fmt: skip


def _accuracy(group: str, preferred: np.ndarray, other: np.ndarray, images: Sequence[str]) -> dict[str, object]:
    found = accuracy(preferred, other, images)
    return _record(ACCURACY, group, found, 100.0, int((preferred == other).sum()))


def _record(measure: str, group: str, found: Interval, scale: float, ties: int) -> dict[str, object]:
    return {
        "measure": measure, "group": group, "value": scale * found.estimate, "low": scale * found.low,
        "high": scale * found.high, "n": found.n, "ties": ties, "note": found.note,
    }  # fmt: skip
