"""What intervals and tests allow to claim, in words about the quantity beside them."""

import math

import numpy as np
import pytest

from core.analysis.verdicts import (
    DRIFTS,
    DRIFTS_WITHIN,
    HOLDS,
    LEAST_N,
    SCATTERS,
    STILL,
    TOO_FEW,
    UNDECIDED,
    agreed,
    drift,
    reached,
    scatter,
)
from core.statistics.bootstrap import Interval, median_bca, median_bca_levels


@pytest.mark.parametrize(
    ("moved", "equivalent", "expected"),
    [
        ((2.0, 4.0), (2.1, 3.9), DRIFTS),
        ((-4.0, -2.0), (-3.9, -2.1), DRIFTS),
        ((0.1, 0.5), (0.15, 0.45), DRIFTS_WITHIN),
        ((-0.5, 0.5), (-0.4, 0.4), STILL),
        ((-3.0, 3.0), (-2.0, 2.0), UNDECIDED),
        ((-1.0, 1.0), (-1.0, 1.0), UNDECIDED),
        ((0.0, 0.5), (0.0, 0.5), STILL),
        ((-50.0, 0.0), (0.0, 0.0), UNDECIDED),
        ((math.nan, math.nan), (math.nan, math.nan), UNDECIDED),
    ],
)
def test_a_drift_is_about_the_signed_median(
    moved: tuple[float, float], equivalent: tuple[float, float], expected: str
) -> None:
    assert drift(Interval(0, *moved, 10, 0.95), Interval(0, *equivalent, 10, 0.90), margin=1.0) == expected


@pytest.mark.parametrize(
    ("size", "expected"),
    [((1.1, 4.0), SCATTERS), ((0.1, 0.9), HOLDS), ((0.5, 1.5), UNDECIDED), ((math.nan, math.nan), UNDECIDED)],
)
def test_a_scatter_is_about_the_size_of_shifts(size: tuple[float, float], expected: str) -> None:
    assert scatter(Interval(1, *size, 10, 0.95), margin=1.0) == expected


def test_nothing_is_claimed_of_fewer_than_ten_items() -> None:
    moved, equivalent = Interval(5, 4, 6, LEAST_N - 1, 0.95), Interval(5, 4, 6, LEAST_N - 1, 0.90)
    assert (drift(moved, equivalent), scatter(moved)) == (TOO_FEW, TOO_FEW)


def test_the_usual_margin_is_one_percent() -> None:
    inside, outside = (Interval(0, -size, size, 10, 0.90) for size in (0.99, 1.01))
    assert (drift(inside, inside), drift(outside, outside)) == (STILL, UNDECIDED)


@pytest.mark.parametrize(
    ("found", "p", "expected", "named"),
    [
        (DRIFTS, 0.01, DRIFTS, False), (DRIFTS, 0.2, UNDECIDED, True), (DRIFTS_WITHIN, 0.05, UNDECIDED, True),
        (STILL, 0.01, STILL, True), (STILL, 0.4, STILL, False), (UNDECIDED, 0.01, UNDECIDED, True),
        (UNDECIDED, 0.4, UNDECIDED, False), (DRIFTS, math.nan, DRIFTS, False), (TOO_FEW, 0.01, TOO_FEW, False),
    ],
)  # fmt: skip
def test_no_claim_stands_against_its_corrected_test_without_a_word(
    found: str, p: float, expected: str, named: bool
) -> None:
    held = agreed(found, p)
    assert (held.drift, bool(held.conflict)) == (expected, named)


def test_a_family_of_which_a_third_falls_by_a_fifth_is_never_called_still_and_close() -> None:
    rng = np.random.default_rng(4)
    for _ in range(300):
        percent = np.where(rng.uniform(size=100) < 0.3, -rng.uniform(20, 25, size=100), rng.normal(0, 0.01, size=100))
        percent[:40] = np.where(rng.uniform(size=40) < 0.7, -rng.uniform(20, 25, size=40), percent[:40])
        moved, narrow = median_bca_levels(percent, levels=(0.95, 0.90), resamples=500)
        claims = drift(moved, narrow), scatter(median_bca(np.abs(percent), resamples=500))
        assert claims != (STILL, HOLDS)


def test_beside_an_undecided_drift_stands_what_would_have_shown_and_beside_no_other_claim() -> None:
    said = reached(UNDECIDED, 1.234, 857.0)
    assert said == (
        "a drift from 1.23 % on would have shown; 857 items would show that it lies within the margin if it is 0"
    )
    assert reached(UNDECIDED, 1.234, math.nan) == "a drift from 1.23 % on would have shown"
    assert reached(UNDECIDED, math.nan, math.nan) == ""
    assert reached(STILL, 1.0, 10.0) == ""
