"""Curves against functions that are known, and on too few points."""

import math

import numpy as np
import pytest
from patsy import dmatrix
from scipy import stats
from scipy.interpolate import CubicSpline

from core.errors import InvalidInput
from core.statistics.splines import KNOTS, LEAST_SOURCES, spline_curve


def test_the_curve_follows_a_known_function_and_its_band_holds_it() -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 1, size=1500)
    curve = spline_curve(x, np.sin(3 * x) + rng.normal(scale=0.2, size=1500))
    truth = np.sin(3 * curve["x"])
    assert np.abs(curve["y"] - truth).max() < 0.1
    assert ((curve["low"] <= truth) & (truth <= curve["high"])).mean() > 0.7
    assert (curve["n"] == 1500).all()


def test_a_straight_line_stays_one() -> None:
    x = np.linspace(2, 9, 30)
    curve = spline_curve(x, 3 * x + 1)
    np.testing.assert_allclose(curve["y"], 3 * curve["x"] + 1, rtol=1e-6)


def test_the_unit_of_x_does_not_matter() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.uniform(size=60), rng.normal(size=60)
    np.testing.assert_allclose(spline_curve(x, y)["y"], spline_curve(1e-4 * x, y)["y"], atol=1e-6)


def test_a_natural_spline_with_the_same_knots_is_found_again() -> None:
    rng = np.random.default_rng(2)
    x = rng.uniform(size=200)
    truth = CubicSpline(np.quantile(x, np.linspace(0, 1, 5)), rng.normal(size=5), bc_type="natural")
    curve = spline_curve(x, truth(x))
    np.testing.assert_allclose(curve["y"], truth(curve["x"]), atol=1e-9)
    np.testing.assert_allclose(curve["low"], curve["high"], atol=1e-9)


def test_the_fit_equals_patsys_natural_spline() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.uniform(size=300), rng.normal(size=300)
    design = np.asarray(dmatrix("cr(x, knots=inner) - 1", {"x": x, "inner": np.quantile(x, [0.25, 0.5, 0.75])}))
    expected = design @ np.linalg.lstsq(design, y, rcond=None)[0]
    curve = spline_curve(x, y, points=4001)
    np.testing.assert_allclose(np.interp(x, curve["x"], curve["y"]), expected, atol=1e-4)


def test_repeated_places_are_averaged() -> None:
    x = np.repeat(np.arange(6.0), 4)
    curve = spline_curve(x, np.tile([0.0, 1.0, 2.0, 3.0], 6), points=3)
    np.testing.assert_allclose(curve["y"], 1.5, atol=1e-6)


@pytest.mark.parametrize("x", [[], [1.0, 2.0, 3.0, 4.0], [1.0] * 9, [1.0, 2.0, 3.0, 4.0, math.nan]])
def test_too_few_places_make_no_curve(x: list[float]) -> None:
    curve = spline_curve(x, [0.5] * len(x))
    assert curve.empty
    assert list(curve.columns) == ["x", "y", "low", "high", "n"]


@pytest.mark.parametrize(("n", "sources"), [(LEAST_SOURCES - 1, LEAST_SOURCES - 1), (60, LEAST_SOURCES - 1)])
def test_a_curve_of_too_few_points_or_sources_has_no_band(n: int, sources: int) -> None:
    x = np.linspace(0, 1, n)
    curve = spline_curve(x, x**2, groups=np.arange(n) % sources)
    assert len(curve) == 101
    assert curve["y"].notna().all()
    assert curve[["low", "high"]].isna().all(axis=None)


def test_unequal_and_infinite_columns_are_refused() -> None:
    with pytest.raises(InvalidInput, match="2 and 1"):
        spline_curve([1.0, 2.0], [1.0])
    with pytest.raises(InvalidInput, match="infinite"):
        spline_curve([1.0, math.inf], [1.0, 2.0])


def test_a_band_over_items_of_several_places_is_that_of_items_drawn_whole() -> None:
    rng = np.random.default_rng(6)
    places, items = np.linspace(0, 1, 20), 40
    x, item = np.tile(places, items), np.repeat(np.arange(items), len(places))
    y = rng.normal(size=items)[item] + x * rng.normal(size=items)[item] + rng.normal(scale=0.1, size=len(x))
    found, alone = spline_curve(x, y, groups=item, points=11), spline_curve(x, y, points=11)
    about = {"knots": np.quantile(x, [0.25, 0.5, 0.75]), "low": 0.0, "high": 1.0}
    basis = "cr(x, knots=knots, lower_bound=low, upper_bound=high) - 1"
    design, drawn_at = (np.asarray(dmatrix(basis, {"x": at, **about})) for at in (x, found["x"].to_numpy()))
    curves = []
    for _ in range(1000):
        rows = np.concatenate([np.flatnonzero(item == one) for one in rng.integers(items, size=items)])
        curves.append(drawn_at @ np.linalg.lstsq(design[rows], y[rows], rcond=None)[0])
    reach = stats.t.ppf(0.975, items - KNOTS) * math.sqrt(items / (items - KNOTS))
    low, high = np.quantile(curves, stats.norm.cdf([-reach, reach]), axis=0)
    np.testing.assert_allclose(found["low"], low, atol=0.12 * (high - low).max())
    np.testing.assert_allclose(found["high"], high, atol=0.12 * (high - low).max())
    np.testing.assert_array_equal(found["y"], alone["y"])
    assert (found["high"] - found["low"]).mean() > 1.5 * (alone["high"] - alone["low"]).mean()
    assert (found["n"] == len(x)).all()
