"""The REML deviance of a mixed model with up to two crossed random intercepts, and its minimum; exact at any n.

statsmodels handles crossed intercepts with dense matrices: minutes at a few thousand rows. Here the groups of the
first intercept (images: many, of few rows each) are a diagonal block and are eliminated first. What then is left of
the second (categories, labels) is diagonal too where every image is of one category, and a small dense block
otherwise. Groups of as many rows are summed once, so that an evaluation does not depend on the number of images.

References:
    [1] Bates, D. et al. (2015). Fitting linear mixed-effects models using lme4. JSS 67(1), section 3.4.
"""

import math
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np
from scipy import linalg, optimize, sparse

from core.statistics.one_thread import one_thread

BOUNDARY = 1e-4
"""Deviation of an intercept, in residual ones, below which it is said to have no spread."""

_MOST_RATIO = 1e12


class _Reduced(NamedTuple):
    """What is left of the cross products at some ratios, and how it moves with them.

    Args:
        inner: cross products of (X, y) with both intercepts eliminated, float64 [m, m].
        log_det: log determinant of what went.
        slopes: of ``inner`` and of ``log_det``, a pair for each ratio.
    """

    inner: np.ndarray
    log_det: float
    slopes: tuple[tuple[np.ndarray, float], ...]


class _Diagonal:
    """B = θ²·D + 1, where no group of the first intercept lies in two of the second: D is kept as its diagonal."""

    def __init__(self, diagonal: np.ndarray, ratio: float) -> None:
        self._block = ratio * diagonal + 1
        self.log_det = float(np.log(self._block).sum())

    def solve(self, columns: np.ndarray) -> np.ndarray:
        """B⁻¹ C, shape of C, [k, m]."""
        return columns / self._block[:, None]

    def trace(self, diagonal: np.ndarray) -> float:
        """tr(B⁻¹ E) of a matrix E of D's kind."""
        return float((diagonal / self._block).sum())

    def within(self, columns: np.ndarray, diagonal: np.ndarray) -> np.ndarray:
        """C' E C, shape [m, m]."""
        return np.asarray((columns.T * diagonal) @ columns)


class _Dense:
    """The same where D is any symmetric matrix."""

    def __init__(self, matrix: np.ndarray, ratio: float) -> None:
        self._factor = linalg.cho_factor(ratio * matrix + np.eye(len(matrix)), lower=True, check_finite=False)
        self.log_det = 2 * float(np.log(np.diag(self._factor[0])).sum())

    def solve(self, columns: np.ndarray) -> np.ndarray:
        return np.asarray(linalg.cho_solve(self._factor, columns, check_finite=False))

    def trace(self, matrix: np.ndarray) -> float:
        return float(np.trace(self.solve(matrix)))

    def within(self, columns: np.ndarray, matrix: np.ndarray) -> np.ndarray:
        return np.asarray(columns.T @ matrix @ columns)


class Problem:
    """Cross products of one fit; Z₁ and Z₂ the two intercepts, X the fixed effects, y.

    Its variables are ratios θ² of an intercept's variance to the residual one: unlike θ itself, the deviance has a
    slope in them at 0, so that a minimum on the boundary is told from a point that is merely flat.

    Args:
        y: scores, float64 [n].
        x: design, float64 [n, k].
        first: rank of each row's group, int [n]; None: no such intercept.
        second: likewise.
    """

    def __init__(self, y: np.ndarray, x: np.ndarray, first: np.ndarray | None, second: np.ndarray | None) -> None:
        n = len(y)
        self.n, self.columns = n, x.shape[1]
        self.centre, self.scale = (float(y.mean()) if _holds_constant(x) else 0.0), float(y.std(ddof=0)) or 1.0
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
        self.nested = first is None or second is None or _nested(first, second)
        self._products = self._laid_out(np.array([dense.T @ dense, *(-each for each in by_count)]))

    def _laid_out(self, products: np.ndarray) -> np.ndarray:
        """A row for all rows, and one to be weighed off for each count: see :meth:`_blocks` for what it holds.

        Where every group of the first lies in one of the second, the products within are a diagonal and kept as such.
        """
        k = self.levels
        within = np.diagonal(products, axis1=1, axis2=2)[:, :k] if self.nested else products[:, :k, :k]
        parts = (within, products[:, :k, k:], products[:, k:, k:])
        return np.concatenate([each.reshape(len(products), -1) for each in parts], axis=1)

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
        self, left: tuple[np.ndarray, ...], moved: tuple[np.ndarray, ...], ratios: np.ndarray, log_det: float,
        log_slope: float,
    ) -> _Reduced:  # fmt: skip
        """Eliminate the second intercept of what the first left; ``moved`` is how that moves with the first's ratio."""
        (within, between, rest), k = left, self.levels
        if not k:
            return _Reduced(rest, log_det, ((moved[2], log_slope),) if moved else ())
        ratio = float(ratios[-1])
        block = _Diagonal(within, ratio) if self.nested else _Dense(within, ratio)
        solved = block.solve(between)
        slopes = [(-(solved.T @ solved), block.trace(within))]
        if moved:
            half = moved[1].T @ solved
            own = moved[2] - ratio * (half + half.T) + ratio**2 * block.within(solved, moved[0])
            slopes.insert(0, (own, log_slope + ratio * block.trace(moved[0])))
        log_det += block.log_det
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
        slopes = np.array([(covariance(here + step) - covariance(here - step)) / w
                           for step, w in zip(steps, width, strict=True)])  # fmt: skip
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
        found = [
            optimize.minimize(
                self.deviance,
                np.full(size, start**2),
                jac=True,
                method="L-BFGS-B",
                bounds=[(0.0, _MOST_RATIO)] * size,
                options={"ftol": 1e-14, "gtol": 1e-7, "maxiter": 500},
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


def _holds_constant(x: np.ndarray) -> bool:
    """Whether the columns span the constant, so that y may be centred without changing the fit."""
    one = np.ones(len(x))
    return bool(np.abs(x @ np.linalg.lstsq(x, one, rcond=None)[0] - one).max() < 1e-9)


def _nested(first: np.ndarray, second: np.ndarray) -> bool:
    """Whether every group of the first lies in one of the second."""
    least, most = np.full(first.max() + 1, second.max()), np.zeros(first.max() + 1, dtype=second.dtype)
    np.minimum.at(least, first, second)
    np.maximum.at(most, first, second)
    return bool((least == most).all())
