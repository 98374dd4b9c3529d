"""Linear mixed models with up to two crossed random intercepts, by REML (:mod:`core.statistics.reml`).

References:
    [1] Bates, D. et al. (2015). Fitting linear mixed-effects models using lme4. JSS 67(1), section 3.4.
    [2] Kuznetsova, A. et al. (2017). lmerTest: tests in linear mixed effects models. JSS 82(13), section 2
        (Satterthwaite's degrees of freedom, and those of an F test of several combinations).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from scipy.special import stdtr, stdtrit

from core.errors import InvalidInput
from core.statistics.one_thread import one_thread
from core.statistics.reml import BOUNDARY, Problem
from core.statistics.wording import counted

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


@dataclass(frozen=True, eq=False)
class CrossedModel:
    """A fitted model.

    Args:
        effects: β of the columns of the design, float64 [k]; NaN where there is no fit.
        covariance: of β, float64 [k, k].
        deviations: standard deviation of each of the two intercepts; NaN for one that is left out.
        residual: standard deviation of what remains.
        n: rows behind the fit.
        groups: groups of each intercept.
        certainty: asked where an error is, for how the covariance moves with each variance parameter, float64
            [q, k, k]: the log of the residual variance, then each intercept's deviation in residual ones; none of an
            intercept without any spread; and for the covariance of these parameters, float64 [q, q].
        note: why there is no fit, which intercept is left out, or what is on the boundary; empty otherwise.
    """

    effects: np.ndarray
    covariance: np.ndarray
    deviations: tuple[float, float]
    residual: float
    n: int
    groups: tuple[int, int]
    certainty: Callable[[], tuple[np.ndarray, np.ndarray]]
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

    @cached_property
    def _certainty(self) -> tuple[np.ndarray, np.ndarray]:
        return self.certainty()

    def _freedom(self, w: np.ndarray) -> float:
        """2 V² / Var(V) of the variance V of w'β, by the delta method: from 1 to the rows less the effects."""
        slopes, uncertainty = self._certainty
        steps = np.einsum("i,qij,j->q", w, slopes, w)
        spread = float(steps @ uncertainty @ steps)
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
                            (sizes[0], sizes[1]), lambda: (np.empty((0, k, k)), np.empty((0, 0))), reason)  # fmt: skip
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
                        partial(problem.certainty, theta), "; ".join(notes))  # fmt: skip


_LARGEST = 1e150


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
