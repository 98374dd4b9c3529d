"""Two sources of an item that cross, such as a cut-out and its background: how much longer an interval becomes.

What a statistic owes to each value, its influence, is summed within the sources. The variance by two of them is that by
the first, and by the second, less that by both at once [1]. Where an interval by the first source is known, it becomes
as many times longer as the root of the two variances' ratio; Student's quantile is that of the source of fewer names
[2], and a p-value follows the same ratio, so that the two agree. Nothing is drawn anew, and with one source nothing
changes.

Groups are shape [n], one source a value, or [n, 2], two of them.

References:
    [1] Cameron, A. C., Gelbach, J. B. and Miller, D. L. (2011). Robust inference with multiway clustering. Journal of
        Business & Economic Statistics 29(2), 238-249.
    [2] Cameron, A. C. and Miller, D. L. (2015). A practitioner's guide to cluster-robust inference. Journal of Human
        Resources 50(2), 317-372, VI.D.
    [3] Carter, A. V., Schnepel, K. T. and Steigerwald, D. G. (2017). Asymptotic behavior of a t-test robust to cluster
        heterogeneity. Review of Economics and Statistics 99(4), 698-709.
"""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr, stdtrit

from core.errors import InvalidInput

LEAST_SECOND = 4.0
"""Fewest second sources, counted as equal ones [3], that are reckoned with: what fewer share is unclear."""

FIRST_ALONE = "by the first source alone"  # said beside what reckons with one source where items name two


def crossed(groups: ArrayLike | None) -> bool:
    """Whether values name two sources each."""
    return groups is not None and np.ndim(groups) == 2


def first_of(groups: ArrayLike) -> np.ndarray:
    """First source of each value, shape [n], of groups [n] or [n, 2]. Raises InvalidInput of more than two."""
    given = np.asarray(groups)
    if given.ndim == 2 and given.shape[1] != 2:
        raise InvalidInput(f"values name one source each or two, got {given.shape[1]}; keep the first two")
    return given[:, 0] if given.ndim == 2 else given.ravel()


def numbered(first: ArrayLike, second: ArrayLike) -> np.ndarray:
    """Numbers of the sources that values name, int [n, 2]; [n] where the second ones join no values of different first.

    >>> numbered(["frog", "owl", "owl"], ["sand", "sand", "sky"]).tolist()
    [[0, 0], [1, 0], [1, 1]]
    """
    codes, seconds = (np.unique(np.asarray(each), return_inverse=True)[1] for each in (first, second))
    pairs = len(np.unique(codes * (int(seconds.max(initial=0)) + 1) + seconds))
    alone = len(set(seconds.tolist()))
    return codes if alone in (1, pairs) else np.stack([codes, seconds], axis=1)


def first_alone(groups: ArrayLike | None) -> str:
    """FIRST_ALONE of an estimate that knows one source, where values name two; empty otherwise.

    >>> first_alone([[0, 0], [1, 0]]), first_alone([0, 1])
    ('by the first source alone', '')
    """
    return FIRST_ALONE if crossed(groups) else ""


def unreckoned(groups: ArrayLike | None) -> str:
    """Why the second source of some values does not count, in words; empty where it does or none is named.

    >>> unreckoned([[0, 0], [1, 0]])
    'by the first source alone: all are of one second source'
    """
    if not crossed(groups):
        return ""
    many = _equal(np.unique(np.asarray(groups)[:, 1], return_counts=True)[1])
    if many == 1:
        return f"{FIRST_ALONE}: all are of one second source"
    said = f"{FIRST_ALONE}: the second ones are as uneven as {many:.1f} equal ones, below {LEAST_SECOND:g}"
    return said if many < LEAST_SECOND else ""


def widening(influence: ArrayLike, groups: ArrayLike | None, *, level: float = 0.95) -> float:
    """How many times as long an interval by the first source becomes with the second, 1 or more. ``influence``: what
    the statistic owes to each value, up to a factor, shape [n]: of a mean the values less it, of a median their signs
    about it; ``groups``: sources of the values, [n] or [n, 2]. Returns 1 with one source, with fewer than LEAST_SECOND
    second ones, and where nothing has any influence. Never below the variance by either source alone, which rounding
    and few sources may take the sum of the three under.

    >>> round(widening([1.0, 1.0, -1.0, -1.0] * 5, np.stack([np.arange(20), np.arange(20) // 2], axis=1)), 2)
    1.57
    """
    ratio, first, fewest = _ratio(influence, groups)
    if ratio == 1 and first == fewest:
        return 1.0
    return math.sqrt(ratio) * float(stdtrit(fewest - 1, (1 + level) / 2) / stdtrit(first - 1, (1 + level) / 2))


def crossed_p(p: float, influence: ArrayLike, groups: ArrayLike | None) -> float:
    """Two-sided p of a test by the first source once the second counts, as :func:`widening` does for its interval.
    ``p``: by the first source; NaN stays NaN; ``influence``, ``groups``: see :func:`widening`."""
    ratio, first, fewest = _ratio(influence, groups)
    if math.isnan(p) or (ratio == 1 and first == fewest):
        return p
    reach = -float(stdtrit(first - 1, max(p / 2, 1e-300))) / math.sqrt(ratio)
    return min(1.0, 2 * float(stdtr(fewest - 1, -reach)))


def _ratio(influence: ArrayLike, groups: ArrayLike | None) -> tuple[float, float, float]:
    """Variance by two sources over that by the first, how many equal first ones there are, how many of the fewer."""
    if not crossed(groups):
        return 1.0, 0.0, 0.0
    owed = np.asarray(influence, dtype=np.float64)
    first, second = (np.unique(each, return_inverse=True)[1] for each in np.asarray(groups).T)
    scale = np.abs(owed).max(initial=0.0)
    if not first.any() or not scale > 0:
        return 1.0, 0.0, 0.0
    codes = (first, second, first * (int(second.max()) + 1) + second)
    sizes = [_equal(np.bincount(each)) for each in codes]
    if sizes[1] < LEAST_SECOND:
        return 1.0, 0.0, 0.0
    owed = owed / scale  # a ratio has no unit: squares of huge or tiny values stay numbers
    one, other, both = (
        float((np.bincount(each, owed) ** 2).sum()) * many / (many - 1) for each, many in zip(codes, sizes, strict=True)
    )
    ratio = max(one + other - both, one, other) / one if one > 0 else 1.0
    return (ratio if ratio > 1 + 1e-9 else 1.0), sizes[0], min(sizes[:2])  # what rounding adds is no variance


def _equal(sizes: np.ndarray) -> float:
    """How many sources of one size weigh as evenly as those of some sizes [3]; 0 without a value."""
    squares = float((sizes.astype(np.float64) ** 2).sum())
    return float(sizes.sum()) ** 2 / squares if squares else 0.0
