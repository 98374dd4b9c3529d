"""Linear mixed models with up to two crossed random intercepts, by REML, exact at any n.

statsmodels handles crossed intercepts with dense matrices: minutes at a few thousand rows. Here the groups of the
first intercept (images: many, of few rows each) are a diagonal block and are eliminated first. What then is left of
the second (categories, labels) is diagonal too where every image is of one category, and a small dense block
otherwise. Groups of as many rows are summed once, so that an evaluation does not depend on the number of images.

References:
    [1] Bates, D. et al. (2015). Fitting linear mixed-effects models using lme4. JSS 67(1), section 3.4.
    [2] Kuznetsova, A. et al. (2017). lmerTest: tests in linear mixed effects models. JSS 82(13), section 2
        (Satterthwaite's degrees of freedom, and those of an F test of several combinations).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg, optimize, sparse, stats
from scipy.special import stdtr, stdtrit

from core.errors import InvalidInput
from core.statistics.one_thread import one_thread
from core.statistics.wording import counted

BOUNDARY = 1e-4
"""Deviation of an intercept, in residual ones, below which it is said to have no spread."""

INTERCEPTS = (("image", "images"), ("category", "categories"))
"""Names of the usual intercepts, of one group and of several."""


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


@dataclass(frozen=True, slots=True, eq=False)
class CrossedModel:
    """A fitted model.

    Args:
        effects: β of the columns of the design, float64 [k]; NaN where there is no fit.
        covariance: of β, float64 [k, k].
        deviations: standard deviation of each of the two intercepts; NaN for one that is left out.
        residual: standard deviation of what remains.
        n: rows behind the fit.
        groups: groups of each intercept.
        slopes: how the covariance moves with each variance parameter, float64 [q, k, k]: the log of the residual
            variance, then each intercept's deviation in residual ones; none of an intercept without any spread.
        uncertainty: covariance of these parameters, float64 [q, q].
        note: why there is no fit, which intercept is left out, or what is on the boundary; empty otherwise.
    """

    effects: np.ndarray
    covariance: np.ndarray
    deviations: tuple[float, float]
    residual: float
    n: int
    groups: tuple[int, int]
    slopes: np.ndarray
    uncertainty: np.ndarray
    note: str = ""

    def estimate(self, weights: ArrayLike, *, level: float = 0.95) -> Estimate:
        """A combination w'β of the effects, by Student's t with Satterthwaite's degrees of freedom [2].

        Args:
            weights: w, shape [k].
            level: confidence level of the interval.
        """
        w = np.asarray(weights, dtype=np.float64)
        value, error = float(w @ self.effects), math.sqrt(max(float(w @ self.covariance @ w), 0.0))
        if not error > 0:
            return Estimate(value, math.nan, math.nan, math.nan)
        freedom = self._freedom(w)
        half = float(stdtrit(freedom, (1 + level) / 2)) * error
        return Estimate(value, value - half, value + half, float(2 * stdtr(freedom, -abs(value / error))), freedom)

    def _freedom(self, w: np.ndarray) -> float:
        """2 V² / Var(V) of the variance V of w'β, by the delta method: from 1 to the rows less the effects."""
        steps = np.einsum("i,qij,j->q", w, self.slopes, w)
        spread = float(steps @ self.uncertainty @ steps)
        most = float(self.n - len(self.effects))
        return min(max(2 * float(w @ self.covariance @ w) ** 2 / spread, 1.0), most) if spread > 0 else most

    def joint(self, contrasts: ArrayLike) -> Joint:
        """Test that several combinations are 0: F, its second degrees of freedom by Satterthwaite [2].

        Args:
            contrasts: one a row, shape [r, k], linearly independent.

        Returns:
            NaN where there is no fit; p is NaN where the error has 2 degrees of freedom or fewer.
        """
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
    3. Minimise the profiled REML criterion over θ ≥ 0.

    An intercept that cannot be told from another part of the model is left out, and the note says so: the first where
    no group has two rows (it is the residual), the second where there is one group (it is the mean).

    Args:
        scores: shape [n], finite.
        design: fixed effects, the constant among them, shape [n, k].
        first: group of each row, e.g. the image, shape [n]; many groups of few rows.
        second: likewise, e.g. the category; few groups.
        names: of the two, of one group and of several, for the notes.

    Returns:
        The model; without a fit where rows are too few, the design is not of full rank, or nothing remains.

    Raises:
        InvalidInput: if the shapes differ or a value is not finite.
    """
    y, x = np.asarray(scores, dtype=np.float64).ravel(), np.atleast_2d(np.asarray(design, dtype=np.float64))
    groups = [np.unique(np.asarray(each), return_inverse=True)[1] for each in (first, second)]
    if len({len(y), len(x), *map(len, groups)}) != 1:
        raise InvalidInput(f"scores, design and groups come in equal numbers, got {len(y)}, {len(x)} and "
                           f"{[len(each) for each in groups]}")  # fmt: skip
    if not (np.isfinite(y).all() and np.isfinite(x).all()):
        raise InvalidInput("scores and design must be finite; leave rows with a NaN out and count them")
    sizes = tuple(int(each.max()) + 1 if len(each) else 0 for each in groups)
    if reason := _no_fit(y, x):
        k = x.shape[1]
        return CrossedModel(np.full(k, math.nan), np.full((k, k), math.nan), (math.nan, math.nan), math.nan, len(y),
                            (sizes[0], sizes[1]), np.empty((0, k, k)), np.empty((0, 0)), reason)  # fmt: skip
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
    return CrossedModel(beta, covariance, (scaled[0] * sigma, scaled[1] * sigma), sigma, len(y), (sizes[0], sizes[1]),
                        *problem.certainty(theta), "; ".join(notes))  # fmt: skip


_LARGEST = 1e150


@one_thread
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


class Problem:
    """Cross products of one fit; Z₁ and Z₂ the two intercepts, X the fixed effects, y.

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
        self.products = dense.T @ dense
        self.first = first is not None
        # groups of as many rows weigh the same whatever θ is, so their products are summed once
        ranks = np.empty(0, dtype=np.intp) if first is None else first
        counts = np.bincount(ranks)
        one = sparse.csr_array((np.ones(len(ranks)), (ranks, np.arange(len(ranks)))), shape=(len(counts), n))
        by_group = one @ dense
        self.counts, self.images = np.unique(counts, return_counts=True)
        self.by_count = np.array([by_group[counts == each].T @ by_group[counts == each] for each in self.counts])
        self.nested = first is None or second is None or _nested(first, second)

    def reduce(self, theta: np.ndarray) -> tuple[np.ndarray, float]:
        """Cross products of (X, y) with the intercepts eliminated, and the log determinant of what went."""
        left, log_det = self.products, 0.0
        if self.first:
            weight = theta[0] ** 2 / (theta[0] ** 2 * self.counts + 1)
            left = left - np.einsum("c,cij->ij", weight, self.by_count)
            log_det = float(self.images @ np.log1p(theta[0] ** 2 * self.counts))
        k = self.levels
        if not k:
            return left, log_det
        square = theta[-1] ** 2
        if self.nested:
            block = square * np.diagonal(left)[:k] + 1
            inner = left[k:, k:] - square * left[k:, :k] @ (left[:k, k:] / block[:, None])
            return inner, log_det + float(np.log(block).sum())
        factor = linalg.cho_factor(square * left[:k, :k] + np.eye(k), lower=True, check_finite=False)
        solved = linalg.cho_solve(factor, left[:k, k:], check_finite=False)
        inner = left[k:, k:] - square * left[k:, :k] @ solved
        return inner, log_det + 2 * float(np.log(np.diag(factor[0])).sum())

    def criterion(self, theta: np.ndarray) -> float:
        """Profiled REML deviance up to a constant."""
        log_det, residual = self._parts(theta)
        return float(log_det + (self.n - self.columns) * math.log(max(residual, 1e-300)))

    def _parts(self, theta: np.ndarray) -> tuple[float, float]:
        """Log determinants and the sum of squares that remains, of which the deviance is made."""
        inner, log_det = self.reduce(theta)
        k = self.columns
        residual = inner[k, k] - inner[k, :k] @ np.linalg.solve(inner[:k, :k], inner[:k, k])
        return log_det + float(np.linalg.slogdet(inner[:k, :k])[1]), float(residual)

    def certainty(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """How the covariance of β moves with the variance parameters, and their covariance; see CrossedModel.

        By central differences of the REML deviance at its minimum. An intercept on the boundary is as good as left out.
        """
        moving, k = np.flatnonzero(theta >= BOUNDARY), self.columns
        variance = self._parts(theta)[1] / (self.n - k)

        def at(log_variance: float, *own: float) -> tuple[float, np.ndarray]:
            place = theta.copy()
            place[moving] = own
            log_det, residual = self._parts(place)
            deviance: float = log_det + (self.n - k) * log_variance + residual / math.exp(log_variance)
            return deviance, math.exp(log_variance) * np.linalg.inv(self.reduce(place)[0][:k, :k])

        here = np.array([math.log(variance), *theta[moving]])
        steps = np.diag([1e-3, *(1e-3 * theta[moving])])
        moved = {sign: [at(*(here + sign * step)) for step in steps] for sign in (-1, 1)}
        width = 2 * np.diagonal(steps)
        slopes = np.array([(up[1] - down[1]) / w for up, down, w in zip(moved[1], moved[-1], width, strict=True)])
        curve = np.empty((len(here), len(here)))
        for i, one in enumerate(steps):
            for j, other in enumerate(steps):
                corners = [a * b * at(*(here + a * one + b * other))[0] for a in (-1, 1) for b in (-1, 1)]
                curve[i, j] = sum(corners) / (width[i] * width[j])
        return slopes * self.scale**2, 2 * np.linalg.pinv(curve, hermitian=True)

    def minimise(self) -> np.ndarray:
        """θ at the smallest deviance, one entry an intercept that is in the model."""
        size = int(self.first) + int(self.levels > 0)
        if not size:
            return np.empty(0)
        found = [
            optimize.minimize(
                self.criterion,
                np.full(size, start),
                method="Nelder-Mead",
                bounds=[(0.0, 1e6)] * size,
                options={"xatol": 1e-7, "fatol": 1e-9, "maxiter": 2000},
            )
            for start in (0.3, 5.0)
        ]
        return np.asarray(min(found, key=lambda each: each.fun).x)

    def solve(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """β, its covariance and σ, in the scores' own units."""
        inner, _ = self.reduce(theta)
        k = self.columns
        inverse = np.linalg.inv(inner[:k, :k])
        beta = inverse @ inner[:k, k]
        variance = float(inner[k, k] - inner[k, :k] @ beta) / (self.n - k)
        beta = beta * self.scale
        if self.centre:  # what was taken off y is given back to the columns that span the constant
            beta = beta + self.centre * np.linalg.lstsq(self.x, np.ones(self.n), rcond=None)[0]
        return beta, inverse * variance * self.scale**2, math.sqrt(variance) * self.scale


@one_thread
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
