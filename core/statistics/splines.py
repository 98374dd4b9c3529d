"""Smooth curves: score against coverage, score against the distance of the object from the centre."""

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.interpolate import CubicSpline

from core.errors import InvalidInput
from core.seeds import RUN_SEED
from core.statistics.bootstrap import expanded, too_few
from core.statistics.crossed_sources import first_of
from core.statistics.resamples import source_sums

KNOTS = 5  # knots of a curve: the smallest and the largest x, and quantiles between them

LEAST_SOURCES = 4 * KNOTS
"""Fewest points, and sources of them, for the band of a curve: of 10, 99 of 100 held the curve."""

BAND_RESAMPLES = 1000
_CHUNK = 2_000_000  # weights held at once: 16 MB


def spline_curve(x: ArrayLike, y: ArrayLike, *, groups: np.ndarray | None = None, points: int = 101) -> pd.DataFrame:
    """The curve of one y; see :func:`spline_curves`, whose errors it raises."""
    values = np.asarray(y, dtype=np.float64).ravel()
    return spline_curves(x, values[None], groups=groups, points=points)[0]


def spline_curves(
    x: ArrayLike, ys: np.ndarray, *, groups: np.ndarray | None = None, points: int = 101
) -> list[pd.DataFrame]:
    """Natural cubic regression splines of several y over one x, each with a pointwise 95 % bootstrap band.

    1. Place the knots at the smallest x, the largest, and equally spaced quantiles between them.
    2. Least squares over the natural cubic splines with these knots (their basis: 1 at one knot, 0 at the others).
    3. Refit samples of the points, or of their sources, drawn with replacement; the band holds the middle of the
       curves, at a level expanded for what KNOTS parameters take from so many sources. Curves through the same points
       are refitted from the same samples.

    Returns for each y the columns x, y, low, high, n (values behind the curve). Empty where there are fewer than KNOTS
    distinct x: no curve is drawn through so little. Fewer than LEAST_SOURCES points or sources: no band, low and high
    NaN. Raises InvalidInput if the shapes differ or a value is infinite.
    ``x``: coverage (0..1) or normalised radius, shape [n]; points with a NaN are left out.
    ``ys``: scores or percent changes, shape [k, n].
    ``groups``: number of the source of each point, int [n]: points of one source are drawn together. None: every point
    is one of its own.
    ``points``: places at which a curve is evaluated, evenly from the smallest x to the largest.
    Source: PROTOCOL section 1 (paper A, A.4, A.8)."""
    at = np.asarray(x, dtype=np.float64).ravel()
    if ys.shape[1:] != at.shape:
        raise InvalidInput(f"a curve needs as many x as y, got {len(at)} and {ys.shape[-1]}")
    if np.isinf(at).any() or np.isinf(ys).any():
        raise InvalidInput("a curve needs finite values or NaN, got an infinite one; drop it and count it")
    sources = np.arange(len(at)) if groups is None else first_of(groups)
    whole = ~(np.isnan(at) | np.isnan(ys))
    found: list[pd.DataFrame] = [_no_curve()] * len(ys)
    for points_of in {row.tobytes() for row in whole}:
        same = [place for place, row in enumerate(whole) if row.tobytes() == points_of]
        keep = whole[same[0]]
        curves = _curves(at[keep], ys[same][:, keep], sources[keep], points)
        for place, curve in zip(same, curves, strict=True):
            found[place] = curve
    return found


def _no_curve() -> pd.DataFrame:
    return pd.DataFrame({name: np.empty(0) for name in ("x", "y", "low", "high")} | {"n": np.empty(0, dtype=int)})


def _curves(at: np.ndarray, ys: np.ndarray, sources: np.ndarray, points: int) -> list[pd.DataFrame]:
    """See :func:`spline_curves`; no value is missing."""
    if len(np.unique(at)) < KNOTS:
        return [_no_curve() for _ in ys]
    grid = np.linspace(at.min(), at.max(), points)
    basis = _basis(at)
    design, drawn_at = basis(at), basis(grid)
    fitted = drawn_at @ np.linalg.lstsq(design, ys.T, rcond=None)[0]
    bands, count = np.full((len(ys), 2, points), np.nan), len(np.unique(sources))
    if not too_few(len(at), count, least=LEAST_SOURCES):
        level = expanded(0.95, count, fitted=KNOTS)
        ends = [(1 - level) / 2, (1 + level) / 2]
        drawn = _resampled(design, ys, sources, np.random.default_rng(RUN_SEED))
        bands = np.array([np.quantile(each @ drawn_at.T, ends, axis=0) for each in drawn])
    return [
        pd.DataFrame({"x": grid, "y": line, "low": low, "high": high, "n": len(at)})
        for line, (low, high) in zip(fitted.T, bands, strict=True)
    ]


def spline_design(x: np.ndarray) -> np.ndarray:
    """Values of the natural cubic splines that span a curve's shapes, their sum 1 everywhere; for its own model. ``x``:
    finite, float64 [n]. Returns float64 [n, KNOTS]; with fewer than KNOTS distinct x a straight line's, [n, 2], or for
    one alone [n, 1]."""
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


def _resampled(design: np.ndarray, ys: np.ndarray, sources: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Coefficients of bootstrap samples of the sources, shape [len(ys), BAND_RESAMPLES, KNOTS]."""
    _, ranks = np.unique(sources, return_inverse=True)
    n = int(ranks.max()) + 1
    squares = source_sums((design[:, :, None] * design[:, None, :]).reshape(len(design), -1), ranks)
    products = [source_sums(design * values[:, None], ranks) for values in ys]
    found = np.empty((len(ys), BAND_RESAMPLES, KNOTS))
    step = max(1, _CHUNK // n)
    for start in range(0, BAND_RESAMPLES, step):
        rows = min(step, BAND_RESAMPLES - start)
        picks = rng.integers(n, size=(rows, n)) + n * np.arange(rows)[:, None]
        counts = np.bincount(picks.ravel(), minlength=rows * n).reshape(rows, n).astype(np.float64)
        # a sample may leave a knot without points: the smallest coefficients that fit
        inverse = np.linalg.pinv((counts @ squares).reshape(rows, KNOTS, KNOTS), rcond=1e-10, hermitian=True)
        for own, product in zip(found, products, strict=True):
            own[start : start + rows] = (inverse @ (counts @ product)[:, :, None])[:, :, 0]
    return found
