"""Smooth curves: score against coverage, score against the distance of the object from the centre."""

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.interpolate import CubicSpline

from core.errors import InvalidInput
from core.seeds import RUN_SEED

KNOTS = 5
"""Knots of a curve: the smallest and the largest x, and quantiles between them."""

BAND_RESAMPLES = 1000
_CHUNK = 2_000_000  # weights held at once: 16 MB


def spline_curve(
    x: ArrayLike, y: ArrayLike, *, points: int = 101, level: float = 0.95, seed: int = RUN_SEED
) -> pd.DataFrame:
    """Natural cubic regression spline with a pointwise bootstrap band.

    1. Place the knots at the smallest x, the largest, and equally spaced quantiles between them.
    2. Least squares over the natural cubic splines with these knots (their basis: 1 at one knot, 0 at the others).
    3. Refit samples of the points drawn with replacement; the band holds the middle ``level`` of the curves.

    Args:
        x: coverage (0..1) or normalised radius, shape [n]; points with a NaN are left out.
        y: score or percent change, shape [n].
        points: places at which the curve is evaluated, evenly from the smallest x to the largest.
        level: of the band.
        seed: of the draws.

    Returns:
        Columns x, y, low, high, n (values behind the curve). Empty where there are fewer than KNOTS distinct x:
        no curve is drawn through so little.

    Raises:
        InvalidInput: if the shapes differ or a value is infinite.

    Source: PROTOCOL section 1 (paper A, A.4, A.8).
    """
    at, values = (np.asarray(column, dtype=np.float64).ravel() for column in (x, y))
    if at.shape != values.shape:
        raise InvalidInput(f"a curve needs as many x as y, got {len(at)} and {len(values)}")
    if np.isinf(at).any() or np.isinf(values).any():
        raise InvalidInput("a curve needs finite values or NaN, got an infinite one; drop it and count it")
    whole = ~(np.isnan(at) | np.isnan(values))
    at, values = at[whole], values[whole]
    if len(np.unique(at)) < KNOTS:
        return pd.DataFrame({name: np.empty(0) for name in ("x", "y", "low", "high")} | {"n": np.empty(0, dtype=int)})
    grid = np.linspace(at.min(), at.max(), points)
    basis = _basis(at)
    design, drawn_at = basis(at), basis(grid)
    fitted = drawn_at @ np.linalg.lstsq(design, values, rcond=None)[0]
    curves = _resampled(design, values, np.random.default_rng(seed)) @ drawn_at.T
    low, high = np.quantile(curves, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return pd.DataFrame({"x": grid, "y": fitted, "low": low, "high": high, "n": len(at)})


def spline_design(x: np.ndarray) -> np.ndarray:
    """Values of the natural cubic splines that span a curve's shapes, their sum 1 everywhere; for a model of its own.

    Args:
        x: finite, float64 [n].

    Returns:
        float64 [n, KNOTS]; with fewer than KNOTS distinct x a straight line's, [n, 2], or for one alone [n, 1].
    """
    distinct = np.unique(x)
    if len(distinct) >= KNOTS:
        return np.asarray(_basis(x)(x))
    if len(distinct) < 2:
        return np.ones((len(x), 1))
    share = (x - distinct[0]) / (distinct[-1] - distinct[0])
    return np.column_stack([1 - share, share])


def _basis(at: np.ndarray) -> CubicSpline:
    distinct = np.unique(at)
    knots = np.unique(np.quantile(at, np.linspace(0, 1, KNOTS)))
    if len(knots) < KNOTS:  # many points at one place: spread the knots over the places instead
        knots = np.quantile(distinct, np.linspace(0, 1, KNOTS))
    return CubicSpline(knots, np.eye(KNOTS), bc_type="natural")


def _resampled(design: np.ndarray, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Coefficients of bootstrap samples, shape [BAND_RESAMPLES, KNOTS]."""
    n = len(values)
    squares = (design[:, :, None] * design[:, None, :]).reshape(n, -1)
    found = np.empty((BAND_RESAMPLES, KNOTS))
    step = max(1, _CHUNK // n)
    for start in range(0, BAND_RESAMPLES, step):
        rows = min(step, BAND_RESAMPLES - start)
        picks = rng.integers(n, size=(rows, n)) + n * np.arange(rows)[:, None]
        counts = np.bincount(picks.ravel(), minlength=rows * n).reshape(rows, n).astype(np.float64)
        left = (counts @ squares).reshape(rows, KNOTS, KNOTS)
        right = counts @ (design * values[:, None])
        # a sample may leave a knot without points: the smallest coefficients that fit
        found[start : start + rows] = (np.linalg.pinv(left, rcond=1e-10, hermitian=True) @ right[:, :, None])[:, :, 0]
    return found
