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
    x: ArrayLike,
    y: ArrayLike,
    *,
    groups: np.ndarray | None = None,
    points: int = 101,
    level: float = 0.95,
    seed: int = RUN_SEED,
) -> pd.DataFrame:
    """Natural cubic regression spline with a pointwise bootstrap band.

    1. Place the knots at the smallest x, the largest, and equally spaced quantiles between them.
    2. Least squares over the natural cubic splines with these knots (their basis: 1 at one knot, 0 at the others).
    3. Refit samples of the points, or of their sources, drawn with replacement; the band holds the middle ``level`` of
       the curves.

    Args:
        x: coverage (0..1) or normalised radius, shape [n]; points with a NaN are left out.
        y: score or percent change, shape [n].
        groups: number of the source of each point, int [n]: points of one source are drawn together. None: every
            point is one of its own.
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
    _, sources = np.unique(np.arange(len(at)) if groups is None else groups[whole], return_inverse=True)
    if len(np.unique(at)) < KNOTS:
        return pd.DataFrame({name: np.empty(0) for name in ("x", "y", "low", "high")} | {"n": np.empty(0, dtype=int)})
    grid = np.linspace(at.min(), at.max(), points)
    basis = _basis(at)
    design, drawn_at = basis(at), basis(grid)
    fitted = drawn_at @ np.linalg.lstsq(design, values, rcond=None)[0]
    curves = _resampled(design, values, sources, np.random.default_rng(seed)) @ drawn_at.T
    low, high = np.quantile(curves, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return pd.DataFrame({"x": grid, "y": fitted, "low": low, "high": high, "n": len(at)})


def _basis(at: np.ndarray) -> CubicSpline:
    distinct = np.unique(at)
    knots = np.unique(np.quantile(at, np.linspace(0, 1, KNOTS)))
    if len(knots) < KNOTS:  # many points at one place: spread the knots over the places instead
        knots = np.quantile(distinct, np.linspace(0, 1, KNOTS))
    return CubicSpline(knots, np.eye(KNOTS), bc_type="natural")


def _resampled(design: np.ndarray, values: np.ndarray, sources: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Coefficients of bootstrap samples of the sources, shape [BAND_RESAMPLES, KNOTS]."""
    n = int(sources.max()) + 1
    squares = _sums((design[:, :, None] * design[:, None, :]).reshape(len(values), -1), sources, n)
    products = _sums(design * values[:, None], sources, n)
    found = np.empty((BAND_RESAMPLES, KNOTS))
    step = max(1, _CHUNK // n)
    for start in range(0, BAND_RESAMPLES, step):
        rows = min(step, BAND_RESAMPLES - start)
        picks = rng.integers(n, size=(rows, n)) + n * np.arange(rows)[:, None]
        counts = np.bincount(picks.ravel(), minlength=rows * n).reshape(rows, n).astype(np.float64)
        left = (counts @ squares).reshape(rows, KNOTS, KNOTS)
        right = counts @ products
        # a sample may leave a knot without points: the smallest coefficients that fit
        found[start : start + rows] = (np.linalg.pinv(left, rcond=1e-10, hermitian=True) @ right[:, :, None])[:, :, 0]
    return found


def _sums(rows: np.ndarray, sources: np.ndarray, count: int) -> np.ndarray:
    """Sum of the rows of each source, shape [count, columns]; as they are where each row is one of its own."""
    if count == len(rows):
        return rows[np.argsort(sources)]
    found = np.zeros((count, rows.shape[1]))
    np.add.at(found, sources, rows)
    return found
