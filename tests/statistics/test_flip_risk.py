"""Flip risk against every pair written out, against scipy's bootstrap, and against its own bound."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from core.errors import InvalidInput
from core.statistics.flip_risk import FEW, flip_risk, flip_risk_intervals
from core.statistics.shift_pairs import CURVE_ERROR, ShiftPairs

# multiples of 1/64 subtract without rounding, so that both sides compare the same numbers
shifts_st = st.lists(st.integers(-200, 200).map(lambda k: k / 64), min_size=1, max_size=40)
gap_st = st.integers(0, 128).map(lambda k: k / 64)


def every_pair(shifts: np.ndarray, gap: float, items: np.ndarray) -> float:
    """Pr[δ′ - δ > d] over two different items and one shift of each."""
    names = sorted(set(items.tolist()))
    if len(names) < 2:
        return math.nan
    shares = [
        np.mean([late - early > gap for early in shifts[items == one] for late in shifts[items == other]])
        for one, other in itertools.permutations(names, 2)
    ]
    return float(np.mean(shares))


@given(shifts_st, gap_st)
def test_the_risk_equals_that_of_every_pair(shifts: list[float], gap: float) -> None:
    expected = every_pair(np.array(shifts), gap, np.arange(len(shifts)))
    assert flip_risk(shifts, gap)[0] == pytest.approx(expected, abs=1e-12, nan_ok=True)


@given(st.data(), gap_st)
def test_every_item_weighs_the_same_however_many_transforms_it_has(data: st.DataObject, gap: float) -> None:
    shifts = np.array(data.draw(shifts_st))
    items = np.array(data.draw(st.lists(st.integers(0, 5), min_size=len(shifts), max_size=len(shifts))))
    assert flip_risk(shifts, gap, items=items)[0] == pytest.approx(
        every_pair(shifts, gap, items), abs=1e-12, nan_ok=True
    )


@given(st.lists(st.floats(-1e6, 1e6, allow_nan=False), min_size=1, max_size=60), st.floats(0, 1e6), st.integers(1, 9))
def test_the_risk_never_exceeds_one_half(shifts: list[float], gap: float, every: int) -> None:
    items = np.arange(len(shifts)) // every
    risks = [flip_risk(shifts, gap)[0], flip_risk(shifts, gap, items=items)[0]]
    assert all(math.isnan(risk) or risk <= 0.5 + 1e-12 for risk in risks)


@given(shifts_st, gap_st, gap_st)
def test_a_wider_gap_never_flips_more(shifts: list[float], one: float, other: float) -> None:
    narrow, wide = flip_risk(shifts, sorted([one, other]))
    assert narrow >= wide or len(shifts) == 1


@given(shifts_st, gap_st, st.integers(-64, 64))
def test_moving_every_score_alike_flips_nothing(shifts: list[float], gap: float, moved: int) -> None:
    np.testing.assert_array_equal(flip_risk(np.array(shifts) + moved, gap), flip_risk(shifts, gap))


def test_missing_shifts_are_left_out() -> None:
    assert flip_risk([0.0, math.nan, 1.0], 0.5)[0] == 0.5


def test_no_shift_at_all_has_no_risk() -> None:
    assert math.isnan(flip_risk([math.nan], 0.1)[0])
    assert "no shifts" in flip_risk_intervals([], [0.1])[0].note


def test_equal_shifts_flip_nothing_and_say_why() -> None:
    interval = flip_risk_intervals([0.3] * 8, [0.1])[0]
    assert (interval.estimate, interval.low, interval.high, interval.n) == (0.0, 0.0, 0.0, 8)
    assert "gap" in interval.note


def test_one_item_makes_no_pair() -> None:
    interval = flip_risk_intervals([0.0, 1.0], [0.5], items=["a", "a"])[0]
    assert interval.n == 1
    assert math.isnan(interval.estimate)
    assert "one item" in interval.note


def test_two_items_have_a_risk_whatever_sample_is_drawn() -> None:
    interval = flip_risk_intervals([0.0, 1.0], [0.5])[0]
    assert (interval.estimate, interval.low, interval.high) == (0.5, 0.5, 0.5)
    assert "same risk" in interval.note
    notes = {flip_risk_intervals([0.0, 1.0], [0.5], resamples=1, seed=seed)[0].note for seed in range(20)}
    assert "no sample has two items" in notes


def test_a_gap_of_zero_is_a_coin_toss_where_no_shift_is_tied() -> None:
    interval = flip_risk_intervals([0.1, 0.5, -0.2, 0.3], [0.0])[0]
    assert (interval.estimate, interval.low, interval.high) == (0.5, 0.5, 0.5)


def test_an_infinite_shift_and_a_lost_item_are_refused() -> None:
    with pytest.raises(InvalidInput, match="infinite"):
        flip_risk([1.0, math.inf], 0.1)
    with pytest.raises(InvalidInput, match="2 shifts and 1 items"):
        flip_risk([1.0, 2.0], 0.1, items=["a"])


def risk_of_sample(table: np.ndarray, gap: float, sample: np.ndarray) -> float:
    drawn = table[sample]
    exceed = (drawn[None, :, None, :] - drawn[:, None, :, None] > gap).mean(axis=(2, 3))
    return float(exceed[sample[:, None] != sample[None, :]].mean())


@pytest.mark.parametrize(("transforms", "gap"), [(1, 0.3), (1, 1.5), (3, 0.1), (3, 0.5)])
def test_intervals_equal_scipys_bootstrap_over_items(transforms: int, gap: float) -> None:
    rng = np.random.default_rng(3)
    table = rng.gamma(2.0, size=(40, 1)) + rng.normal(scale=0.3, size=(40, transforms))
    reference = stats.bootstrap(
        (np.arange(40),), lambda sample: risk_of_sample(table, gap, sample), n_resamples=3000, method="BCa",
        rng=1, vectorized=False,
    )  # fmt: skip
    items = np.repeat(np.arange(40), transforms)
    ours = flip_risk_intervals(table.ravel(), [gap], items=items, resamples=3000)[0]
    assert ours.low == pytest.approx(reference.confidence_interval.low, abs=0.25 * reference.standard_error)
    assert ours.high == pytest.approx(reference.confidence_interval.high, abs=0.25 * reference.standard_error)


@pytest.mark.parametrize("transforms", [1, 4])
@pytest.mark.parametrize("gap", [0.1, 0.5, 1.5])
def test_the_closed_form_is_the_interval_that_drawing_tends_to(transforms: int, gap: float) -> None:
    rng = np.random.default_rng(4)
    table = rng.gamma(2.0, size=(250, 1)) + rng.normal(scale=0.3, size=(250, transforms))
    items = np.repeat(np.arange(250), transforms)
    drawn = flip_risk_intervals(table.ravel(), [gap], items=items, resamples=20_000)[0]
    closed = flip_risk_intervals(table.ravel(), [gap], items=items)[0]
    error = (drawn.high - drawn.low) / 3.92
    assert closed.estimate == drawn.estimate
    assert closed.low == pytest.approx(drawn.low, abs=0.2 * error)
    assert closed.high == pytest.approx(drawn.high, abs=0.2 * error)


@settings(deadline=None)
@given(st.lists(st.integers(-40, 40).map(lambda k: k / 64), min_size=FEW, max_size=90), gap_st, st.integers(1, 3))
def test_a_closed_form_interval_holds_its_risk_and_keeps_the_bound(shifts: list[float], gap: float, k: int) -> None:
    found = flip_risk_intervals(shifts * k, [gap], items=np.tile(np.arange(len(shifts)), k))[0]
    assert 0 <= found.low <= found.high <= 0.5
    assert found.low - 1e-9 <= found.estimate <= found.high + 1e-9


@pytest.mark.parametrize(("gap", "resamples"), [(0.5, 600), (0.5, None), (2.5, None)])
def test_coverage_of_the_95_percent_interval_by_simulation(gap: float, resamples: int | None) -> None:
    rng = np.random.default_rng(8)
    truth = stats.norm.sf(gap / math.sqrt(2))  # δ′ - δ of standard normal shifts
    hits = sum(
        interval.low <= truth <= interval.high
        for interval in (flip_risk_intervals(rng.normal(size=80), [gap], resamples=resamples)[0] for _ in range(400))
    )
    assert stats.binomtest(hits, 400, 0.95).pvalue > 1e-3


@settings(deadline=None, max_examples=40)
@given(
    st.integers(0, 99), st.integers(1, 4), st.sampled_from(["normal", "heavy", "whole", "few"]),
    st.lists(st.floats(0, 4), min_size=1, max_size=6),
)  # fmt: skip
def test_a_curve_keeps_to_its_bound_of_error(seed: int, transforms: int, shape: str, gaps: list[float]) -> None:
    rng = np.random.default_rng(seed)
    size = 2500 * transforms
    made = {
        "normal": rng.normal(size=size),
        "heavy": rng.standard_cauchy(size=size),
        "whole": np.round(3 * rng.normal(size=size)),
        "few": rng.choice([0.0, 1e-3, 7.0], size=size),
    }[shape]
    made[rng.random(size) < 0.1] = math.nan
    pairs = ShiftPairs(made, np.arange(size) % 2500)
    wanted = np.array([*gaps, 0.0, 1e-3, 1.0, 1e9])
    np.testing.assert_allclose(pairs.curve(wanted), pairs.risks(wanted), atol=CURVE_ERROR)


def test_curves_of_smooth_shifts_are_far_closer_than_their_bound() -> None:
    rng = np.random.default_rng(5)
    pairs = ShiftPairs(rng.normal(size=40_000), np.arange(40_000) // 4)
    gaps = np.array([0.001, 0.01, 0.1, 1.0])
    np.testing.assert_allclose(pairs.curve(gaps), pairs.risks(gaps), atol=CURVE_ERROR / 50)
