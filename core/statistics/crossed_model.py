"""Linear mixed models with up to two crossed random intercepts, by REML (:mod:`core.statistics.crossed_model`).

References:
    [1] Bates, D. et al. (2015). Fitting linear mixed-effects models using lme4. JSS 67(1), section 3.4.
    [2] Kuznetsova, A. et al. (2017). lmerTest: tests in linear mixed effects models. JSS 82(13), section 2
        (Satterthwaite's degrees of freedom, and those of an F test of several combinations).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg, optimize, sparse, stats
from scipy.special import stdtr, stdtrit

from core.errors import InvalidInput
from core.statistics.arithmetic import one_thread
from core.statistics.wording import counted

INTERCEPTS = (("image", "images"), ("category", "categories"))
"""Names of the usual intercepts, of one group and of several."""

_LARGEST = 1e150


@dataclass(frozen=True, slots=True)
class Estimate:
    """A linear combination of fixed effects with its interval, two-sided p, and the degrees of freedom of both."""

    value: float
    low: float
    high: float
    p: float
    freedom: float = math.nan


@dataclass(frozen=True, slots=True)
class Joint:
    """A test that several combinations of fixed effects are 0: F with its degrees of freedom and p."""

    f: float
    df: int
    freedom: float
    p: float


@dataclass(frozen=True, eq=False)
class CrossedModel:
    """A fitted model."""

    effects: np.ndarray  # β of the columns of the design, float64 [k]; NaN where there is no fit
    covariance: np.ndarray  # of β, float64 [k, k]
    deviations: tuple[float, float]  # standard deviation of each of the two intercepts; NaN for one that is left out
    residual: float  # standard deviation of what remains
    n: int  # rows behind the fit
    groups: tuple[int, int]  # groups of each intercept
    # asked where an error is, for how the covariance moves with each variance parameter, float64 [q, k, k]: the log
    # of the residual variance, then each intercept's deviation in residual ones; none of an intercept without any
    # spread; and for the covariance of these parameters, float64 [q, q]
    certainty: Callable[[], tuple[np.ndarray, np.ndarray]]
    note: str = ""  # why there is no fit, which intercept is left out, or what is on the boundary; empty otherwise

    def estimate(self, weights: ArrayLike, *, level: float = 0.95) -> Estimate:
        """A combination w'β of the effects, by Student's t with Satterthwaite's degrees of freedom [2]. ``weights``: w,
        shape [k]; ``level``: confidence level of the interval."""
        w = np.asarray(weights, dtype=np.float64)
        value, error = float(w @ self.effects), math.sqrt(max(float(w @ self.covariance @ w), 0.0))
        if not error > 0:
            return Estimate(value, math.nan, math.nan, math.nan)
        freedom = self._freedom(w)
        half = float(stdtrit(freedom, (1 + level) / 2)) * error
        return Estimate(value, value - half, value + half, float(2 * stdtr(freedom, -abs(value / error))), freedom)

    def _freedom(self, w: np.ndarray) -> float:
        """2 V² / Var(V) of the variance V of w'β, by the delta method: from 1 to the rows less the effects."""
        slopes, uncertainty = self.certainty()
        steps = np.einsum("i,qij,j->q", w, slopes, w)
        spread = float(steps @ uncertainty @ steps)
        most = float(self.n - len(self.effects))
        return min(max(2 * float(w @ self.covariance @ w) ** 2 / spread, 1.0), most) if spread > 0 else most

    def joint(self, contrasts: ArrayLike) -> Joint:
        """Test that several combinations are 0: F, its second degrees of freedom by Satterthwaite [2]. ``contrasts``:
        one a row, shape [r, k], linearly independent. Returns NaN where there is no fit; p is NaN where the error has 2
        degrees of freedom or fewer."""
        rows = np.atleast_2d(np.asarray(contrasts, dtype=np.float64))
        r = len(rows)
        if np.isnan(self.effects).any():
            return Joint(math.nan, r, math.nan, math.nan)
        sizes, apart = np.linalg.eigh(rows @ self.covariance @ rows.T)
        each = apart.T @ rows
        found = float(((each @ self.effects) ** 2 / sizes).sum()) / r
        own = np.array([self._freedom(w) for w in each])
        reach = float((own[own > 2] / (own[own > 2] - 2)).sum())
        freedom = 2 * reach / (reach - r) if reach > r else (float(own[0]) if r == 1 else math.nan)
        return Joint(found, r, freedom, float(stats.f.sf(found, r, freedom)))


@one_thread
def crossed_model(
    scores: ArrayLike,
    design: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    *,
    names: Sequence[tuple[str, str]] = INTERCEPTS,
) -> CrossedModel:
    """Fit score ~ design + (1 | first) + (1 | second) by REML.

    1. Scale both intercepts' deviations by the residual one, θ.
    2. For a θ, eliminate both intercepts and profile out β and σ² [1].
    3. Minimise the profiled REML deviance over θ² ≥ 0, along its slopes, from a small and from a large start.

    An intercept that cannot be distinguished from another part of the model is left out, and the note says so: the
    first where no group has two rows (it is the residual), the second where there is one group (it is the mean).
    Returns the model; without a fit where rows are too few, the design is not of full rank, or nothing remains. Raises
    InvalidInput if the shapes differ or a value is not finite.
    ``scores``: shape [n], finite. ``design``: fixed effects, the constant among them, shape [n, k].
    ``first``: group of each row, e.g. the image, shape [n]; many groups of few rows.
    ``second``: likewise, e.g. the category; few groups.
    ``names``: of the two, of one group and of several, for the notes."""
    y, x = np.asarray(scores, dtype=np.float64).ravel(), np.atleast_2d(np.asarray(design, dtype=np.float64))
    groups = [np.unique(np.asarray(each), return_inverse=True)[1] for each in (first, second)]
    if len({len(y), len(x), *map(len, groups)}) != 1:
        raise InvalidInput(
            f"scores, design and groups come in equal numbers, got {len(y)}, {len(x)} and "
            f"{[len(each) for each in groups]}"
        )
    if not (np.isfinite(y).all() and np.isfinite(x).all()):
        raise InvalidInput("scores and design must be finite; leave rows with a NaN out and count them")
    sizes = tuple(int(each.max()) + 1 if len(each) else 0 for each in groups)
    if reason := _no_fit(y, x):
        k = x.shape[1]
        none = np.full(k, math.nan), np.full((k, k), math.nan), (math.nan, math.nan), math.nan
        nothing = np.empty((0, k, k)), np.empty((0, 0))
        return CrossedModel(*none, len(y), (sizes[0], sizes[1]), lambda: nothing, reason)
    repeated = bool(np.bincount(groups[0]).max() > 1)
    notes = [] if repeated else [f"one row of each {names[0][0]}: the intercept is the residual"]
    notes += [f"one {names[1][0]}: no intercept for it"] if sizes[1] == 1 else []
    problem = Problem(y, x, groups[0] if repeated else None, groups[1] if sizes[1] > 1 else None)
    theta = problem.minimise()
    beta, covariance, sigma = problem.solve(theta)
    there = [repeated, sizes[1] > 1]
    spreads = iter(theta)
    scaled = [float(next(spreads)) if kept else math.nan for kept in there]
    notes += [f"no spread between {name}" for (_, name), size in zip(names, scaled, strict=True) if size < BOUNDARY]
    deviations, certainty = (scaled[0] * sigma, scaled[1] * sigma), cache(partial(problem.certainty, theta))
    told = len(y), (sizes[0], sizes[1]), certainty, "; ".join(notes)
    return CrossedModel(beta, covariance, deviations, sigma, *told)


def _no_fit(y: np.ndarray, x: np.ndarray) -> str:
    n, k = x.shape
    if n <= k:
        return f"{counted(n, 'row')} for {counted(k, 'fixed effect')}"
    if np.linalg.matrix_rank(x) < k:
        return "the fixed effects cannot be told apart"
    if np.abs(y).max() > _LARGEST:
        return f"scores beyond {_LARGEST:g} have no square"
    left = y - x @ np.linalg.lstsq(x, y, rcond=None)[0]
    return "nothing remains beside the fixed effects" if np.abs(left).max() <= 1e-12 * np.abs(y).max() else ""


# The REML deviance of a mixed model with up to two crossed random intercepts, and its minimum; exact at any n.
#
# statsmodels handles crossed intercepts with dense matrices: minutes at a few thousand rows. Here the groups of the
# first intercept (images: many, of few rows each) are a diagonal block and are eliminated first. What then is left of
# the second (categories, labels) is diagonal too where every image is of one category, and a small dense block
# otherwise. Groups of as many rows are summed once, so that an evaluation does not depend on the number of images.
#
# References:
#     [1] Bates, D. et al. (2015). Fitting linear mixed-effects models using lme4. JSS 67(1), section 3.4.


BOUNDARY = 1e-4  # deviation of an intercept, in residual ones, below which it is said to have no spread
_MOST_RATIO = 1e12


class _Reduced(NamedTuple):
    """What is left of the cross products at some ratios, and how it moves with them."""

    inner: np.ndarray  # cross products of (X, y) with both intercepts eliminated, float64 [m, m]
    log_det: float  # log determinant of what went
    slopes: tuple[tuple[np.ndarray, float], ...]  # of ``inner`` and of ``log_det``, a pair for each ratio


class Problem:
    """Cross products of one fit; Z₁ and Z₂ the two intercepts, X the fixed effects, y.

    Its variables are ratios θ² of an intercept's variance to the residual one: unlike θ itself, the deviance has a
    slope in them at 0, so that a minimum on the boundary is told from a point that is merely flat.
    ``y``: scores, float64 [n]. ``x``: design, float64 [n, k].
    ``first``: rank of each row's group, int [n]; None: no such intercept."""

    def __init__(self, y: np.ndarray, x: np.ndarray, first: np.ndarray | None, second: np.ndarray | None) -> None:
        n = len(y)
        self.n, self.columns = n, x.shape[1]
        one = np.ones(n)  # where the columns span it, y is centred without changing the fit
        centred = np.abs(x @ np.linalg.lstsq(x, one, rcond=None)[0] - one).max() < 1e-9
        self.centre, self.scale = (float(y.mean()) if centred else 0.0), float(y.std(ddof=0)) or 1.0
        self.x = x
        self.levels = 0 if second is None else int(second.max()) + 1
        dummies = np.empty((n, 0)) if second is None else np.eye(self.levels)[second]
        dense = np.hstack([dummies, x, ((y - self.centre) / self.scale)[:, None]])
        self.first = first is not None
        # groups of as many rows weigh the same whatever the ratio is, so their products are summed once
        ranks = np.empty(0, dtype=np.intp) if first is None else first
        counts = np.bincount(ranks)
        one = sparse.csr_array((np.ones(len(ranks)), (ranks, np.arange(len(ranks)))), shape=(len(counts), n))
        by_group = one @ dense
        self.counts, self.images = np.unique(counts, return_counts=True)
        by_count = [by_group[counts == each].T @ by_group[counts == each] for each in self.counts]
        self.nested = True
        if first is not None and second is not None:  # whether every group of the first lies in one of the second
            least, most = np.full(first.max() + 1, second.max()), np.zeros(first.max() + 1, dtype=second.dtype)
            np.minimum.at(least, first, second)
            np.maximum.at(most, first, second)
            self.nested = bool((least == most).all())
        # a row for all rows, and one to be weighed off for each count; see :meth:`_blocks` for what it has. Where every
        # group of the first lies in one of the second, the products within are a diagonal and kept as such
        products, k = np.array([dense.T @ dense, *(-each for each in by_count)]), self.levels
        within = np.diagonal(products, axis1=1, axis2=2)[:, :k] if self.nested else products[:, :k, :k]
        parts = (within, products[:, :k, k:], products[:, k:, k:])
        self._products = np.concatenate([each.reshape(len(products), -1) for each in parts], axis=1)

    def _blocks(self, row: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Products within the second intercept, between it and (X, y), and within those."""
        k, m = self.levels, self.columns + 1
        own = k if self.nested else k * k
        within = row[:own] if self.nested else row[:own].reshape(k, k)
        return within, row[own : own + k * m].reshape(k, m), row[own + k * m :].reshape(m, m)

    def reduce(self, ratios: np.ndarray) -> _Reduced:
        """Eliminate both intercepts at ratios θ², one an intercept that is in the model."""
        if not self.first:
            return self._without_second(self._blocks(self._products[0]), (), ratios, 0.0, 0.0)
        spread = ratios[0] * self.counts + 1
        weights = np.array([[1.0, *(ratios[0] / spread)], [0.0, *(1 / spread**2)]])
        left, moved = map(self._blocks, weights @ self._products)
        logs, slopes = self.images @ np.log(spread), self.images @ (self.counts / spread)
        return self._without_second(left, moved, ratios, float(logs), float(slopes))

    def _without_second(
        self,
        left: tuple[np.ndarray, ...],
        moved: tuple[np.ndarray, ...],
        ratios: np.ndarray,
        log_det: float,
        log_slope: float,
    ) -> _Reduced:
        """Eliminate the second intercept of what the first left; ``moved`` is how that moves with the first's ratio."""
        (within, between, rest), k = left, self.levels
        if not k:
            return _Reduced(rest, log_det, ((moved[2], log_slope),) if moved else ())
        ratio, traced = float(ratios[-1]), (within, *moved[:1])
        if self.nested:  # no group of the first lies in two of the second: a diagonal, kept as such
            block = ratio * within + 1
            log_det += float(np.log(block).sum())
            solved, traces = between / block[:, None], [float((each / block).sum()) for each in traced]
        else:
            factor = linalg.cho_factor(ratio * within + np.eye(k), lower=True, check_finite=False)
            log_det += 2 * float(np.log(np.diag(factor[0])).sum())
            solved, *rows = (linalg.cho_solve(factor, each, check_finite=False) for each in (between, *traced))
            traces = [float(np.trace(each)) for each in rows]
        slopes = [(-(solved.T @ solved), traces[0])]
        if moved:
            half, inner = moved[1].T @ solved, solved.T * moved[0] if self.nested else solved.T @ moved[0]
            own = moved[2] - ratio * (half + half.T) + ratio**2 * (inner @ solved)
            slopes.insert(0, (own, log_slope + ratio * traces[1]))
        return _Reduced(rest - ratio * (between.T @ solved), log_det, tuple(slopes))

    def deviance(self, ratios: np.ndarray) -> tuple[float, np.ndarray]:
        """Profiled REML deviance up to a constant, and its slope along each ratio."""
        found, k, rest = self.reduce(ratios), self.columns, self.n - self.columns
        inverse = np.linalg.inv(found.inner[:k, :k])
        beta = inverse @ found.inner[:k, k]
        residual = max(float(found.inner[k, k] - found.inner[:k, k] @ beta), 1e-300)
        left = np.append(-beta, 1.0)
        slopes = [
            log_slope + float((inverse * slope[:k, :k]).sum()) + rest * float(left @ slope @ left) / residual
            for slope, log_slope in found.slopes
        ]
        log_det = found.log_det + float(np.linalg.slogdet(found.inner[:k, :k])[1])
        return log_det + rest * math.log(residual), np.array(slopes)

    def _parts(self, ratios: np.ndarray) -> tuple[float, float, np.ndarray]:
        """Log determinants, the sum of squares that remains, and what the covariance of β is the inverse of."""
        inner, log_det, _ = self.reduce(ratios)
        k = self.columns
        residual = inner[k, k] - inner[k, :k] @ np.linalg.solve(inner[:k, :k], inner[:k, k])
        return log_det + float(np.linalg.slogdet(inner[:k, :k])[1]), float(residual), inner[:k, :k]

    @one_thread
    def certainty(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """How the covariance of β moves with the variance parameters, and their covariance; see CrossedModel.

        By central differences of the REML deviance at its minimum. An intercept on the boundary is as good as left out.
        """
        moving, k = np.flatnonzero(theta >= BOUNDARY), self.columns
        variance = self._parts(theta**2)[1] / (self.n - k)

        def parts(at: np.ndarray) -> tuple[float, float, np.ndarray]:
            place = theta.copy()
            place[moving] = at[1:]
            return self._parts(place**2)

        def deviance(at: np.ndarray) -> float:
            log_det, residual, _ = parts(at)
            value: float = log_det + (self.n - k) * float(at[0]) + residual / math.exp(at[0])
            return value

        def covariance(at: np.ndarray) -> np.ndarray:
            return np.asarray(math.exp(at[0]) * np.linalg.inv(parts(at)[2]))

        here = np.array([math.log(variance), *theta[moving]])
        steps = np.diag([1e-3, *(1e-3 * theta[moving])])
        width = 2 * np.diagonal(steps)
        slopes = np.array(
            [(covariance(here + step) - covariance(here - step)) / w for step, w in zip(steps, width, strict=True)]
        )
        curve = np.empty((len(here), len(here)))
        for i, j in combinations_with_replacement(range(len(here)), 2):
            corners = [a * b * deviance(here + a * steps[i] + b * steps[j]) for a in (-1, 1) for b in (-1, 1)]
            curve[i, j] = curve[j, i] = sum(corners) / (width[i] * width[j])
        return slopes * self.scale**2, 2 * np.linalg.pinv(curve, hermitian=True)

    def minimise(self) -> np.ndarray:
        """θ at the smallest deviance, one entry an intercept that is in the model."""
        size = int(self.first) + int(self.levels > 0)
        if not size:
            return np.empty(0)
        ends, how = [(0.0, _MOST_RATIO)] * size, {"ftol": 1e-14, "gtol": 1e-7, "maxiter": 500}
        found = [
            optimize.minimize(
                self.deviance, np.full(size, start**2), jac=True, method="L-BFGS-B", bounds=ends, options=how
            )
            for start in (0.3, 5.0)
        ]
        return np.asarray(np.sqrt(min(found, key=lambda each: each.fun).x))

    def solve(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """β, its covariance and σ, in the scores' own units."""
        inner = self.reduce(theta**2).inner
        k = self.columns
        inverse = np.linalg.inv(inner[:k, :k])
        beta = inverse @ inner[:k, k]
        variance = float(inner[k, k] - inner[k, :k] @ beta) / (self.n - k)
        beta = beta * self.scale
        if self.centre:  # what was taken off y is given back to the columns that span the constant
            beta = beta + self.centre * np.linalg.lstsq(self.x, np.ones(self.n), rcond=None)[0]
        return beta, inverse * variance * self.scale**2, math.sqrt(variance) * self.scale
