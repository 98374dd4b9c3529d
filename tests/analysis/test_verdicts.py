"""What intervals and tests allow to claim, in words about the quantity beside them."""

import math
from pathlib import Path

import numpy as np
import pytest

from core.analysis.overview import family_contrasts
from core.analysis.reading import read_table
from core.analysis.verdicts import (
    CLAIMS,
    CONSTANT,
    DRIFTS,
    DRIFTS_WITHIN,
    FURTHER,
    HOLDS,
    MEAN_OPEN,
    MEAN_OPPOSED,
    MEAN_SHIFTS,
    MOST_BEYOND,
    NO_FURTHER,
    NOT_TOLD,
    PARTS,
    SCATTERS,
    STILL,
    TOO_FEW,
    TOO_FEW_SOURCES,
    UNDECIDED,
    UNMOVED,
    against_null,
    agreed,
    at_odds,
    beside_mean,
    drift,
    reached,
    scatter,
)
from core.statistics.bootstrap import LEAST_N, Interval, median_bca_levels
from core.store.store import Store
from tests.analysis.made_runs import scores_of, write_run


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
    few = Interval(0.0, 0.0, MOST_BEYOND / 2, 10, 0.95)
    assert scatter(Interval(1, *size, 10, 0.95), few, margin=1.0) == expected


@pytest.mark.parametrize(
    ("beyond", "expected"),
    [((0.0, 0.09), HOLDS), ((0.05, 0.2), UNDECIDED), ((0.11, 0.2), PARTS), ((math.nan, math.nan), UNDECIDED)],
)
def test_items_stay_within_the_margin_only_where_few_lie_beyond_it(beyond: tuple[float, float], expected: str) -> None:
    assert scatter(Interval(0.2, 0.1, 0.9, 60, 0.95), Interval(0.1, *beyond, 60, 0.95), margin=1.0) == expected


def test_changes_that_are_all_0_are_called_so_and_not_undecided() -> None:
    still, few = Interval(0.0, 0.0, 0.0, 10, 0.95), Interval(0.0, 0.0, 0.28, 10, 0.95)
    assert scatter(still, few, largest=0.0) == scatter(still, few, largest=1e-14) == UNMOVED
    assert scatter(still, few, largest=0.003) == scatter(still, few) == UNDECIDED
    assert scatter(still, Interval(0.0, 0.0, 0.09, 40, 0.95), largest=0.0) == HOLDS


def test_nothing_is_claimed_of_fewer_than_ten_items() -> None:
    moved, equivalent = Interval(5, 4, 6, LEAST_N - 1, 0.95), Interval(5, 4, 6, LEAST_N - 1, 0.90)
    assert (drift(moved, equivalent), scatter(moved, moved)) == (TOO_FEW, TOO_FEW)


def test_items_of_too_few_sources_are_said_to_be_so_and_not_undecided() -> None:
    rng = np.random.default_rng(4)
    sources = np.arange(15) % 6
    moved, narrow = median_bca_levels(rng.normal(5, 1, 15), levels=(0.95, 0.90), groups=sources)
    assert (drift(moved, narrow), scatter(moved, moved), against_null(moved)) == (TOO_FEW_SOURCES,) * 3
    alone, narrower = median_bca_levels(rng.normal(5, 1, 15), levels=(0.95, 0.90))
    assert drift(alone, narrower) == DRIFTS
    still = Interval(0, math.nan, math.nan, 40, 0.95, "no interval for another reason")
    assert drift(still, still) == UNDECIDED


def test_the_usual_margin_is_one_percent() -> None:
    inside, outside = (Interval(0, -size, size, 10, 0.90) for size in (0.99, 1.01))
    assert (drift(inside, inside), drift(outside, outside)) == (STILL, UNDECIDED)


@pytest.mark.parametrize(
    ("found", "p", "expected", "named"),
    [
        (DRIFTS, 0.01, DRIFTS, False),
        (DRIFTS, 0.2, UNDECIDED, True),
        (DRIFTS_WITHIN, 0.05, UNDECIDED, True),
        (STILL, 0.01, STILL, True),
        (STILL, 0.4, STILL, False),
        (UNDECIDED, 0.01, UNDECIDED, True),
        (UNDECIDED, 0.4, UNDECIDED, False),
        (TOO_FEW, 0.01, TOO_FEW, False),
        (TOO_FEW_SOURCES, 0.01, TOO_FEW_SOURCES, False),
        (CONSTANT, 0.01, CONSTANT, False),
    ],
)
def test_no_claim_stands_against_its_corrected_test_without_a_word(
    found: str, p: float, expected: str, named: bool
) -> None:
    held, alone = agreed(found, p), agreed(found, math.nan, p)
    assert (held.drift, bool(held.conflict)) == (alone.drift, bool(alone.conflict)) == (expected, named)
    assert agreed(found, p, 1 - p) == held
    assert ("corrected" in held.conflict) == (found in CLAIMS and named)
    assert "corrected" not in alone.conflict
    assert agreed(found, math.nan, math.nan).drift == agreed(found, math.nan).drift == found


@pytest.mark.parametrize(
    ("found", "median", "mean", "expected"),
    [
        (UNDECIDED, -0.1, (-1.3, -0.8), MEAN_SHIFTS),
        (STILL, -0.1, (0.1, 0.2), MEAN_SHIFTS),
        (UNDECIDED, -0.1, (-1.3, 0.8), ""),
        (DRIFTS, -3.0, (-1.3, -0.8), ""),
        (DRIFTS, -3.0, (-1.3, 0.8), MEAN_OPEN),
        (DRIFTS_WITHIN, 0.3, (-1.3, -0.8), MEAN_OPPOSED),
        (DRIFTS, 3.0, (0.8, 1.3), ""),
        (UNDECIDED, -0.1, (math.nan, math.nan), ""),
        (DRIFTS, 3.0, (math.nan, math.nan), ""),
        (TOO_FEW, 3.0, (0.8, 1.3), ""),
        (CONSTANT, 0.0, (0.8, 1.3), ""),
    ],
)
def test_a_drift_beside_a_mean_shift_that_says_something_else_names_it(
    found: str, median: float, mean: tuple[float, float], expected: str
) -> None:
    assert beside_mean(found, median, Interval(0.0, *mean, 30, 0.95)) == expected


def test_an_uncorrected_test_is_not_called_a_corrected_one() -> None:
    apart, across = Interval(2.0, 1.0, 3.0, 20, 0.95), Interval(2.0, -1.0, 3.0, 20, 0.95)
    assert at_odds(apart, 0.2) == "the interval excludes 0, the corrected test does not reject"
    assert at_odds(apart, 0.2, corrected=False) == "the interval excludes 0, the test does not reject"
    assert at_odds(across, 0.01) == at_odds(across, 0.01, corrected=False) != ""


def test_beside_an_undecided_drift_stands_what_would_have_shown_and_beside_no_other_claim() -> None:
    said = reached(UNDECIDED, 1.234, 857.0)
    assert said == (
        "a drift from 1.23 % on would have shown in four of five such runs; 857 items would show that it lies within "
        "the margin if it is 0"
    )
    assert reached(UNDECIDED, 1.234, math.nan) == "a drift from 1.23 % on would have shown in four of five such runs"
    assert reached(UNDECIDED, math.nan, math.nan) == ""
    assert reached(STILL, 1.0, 10.0) == ""


@pytest.mark.parametrize(
    ("over", "expected"),
    [
        ((0.51, 0.9), FURTHER),
        ((0.49, 0.9), NOT_TOLD),
        ((0.2, 0.5), NO_FURTHER),
        ((0.2, 0.4), NO_FURTHER),
    ],
)
def test_edits_are_held_against_the_null_edits_of_their_item(over: tuple[float, float], expected: str) -> None:
    assert against_null(Interval(1, *over, 10, 0.95)) == expected
    assert against_null(Interval(1, *over, LEAST_N - 1, 0.95)) == TOO_FEW


def test_a_family_that_changes_nothing_is_said_to_change_nothing(tmp_path: Path) -> None:
    rows = scores_of(["identity", "vflip", "hflip"], 12, lambda probe, item: 0.3 + item / 50 + (probe == "hflip") / 9)
    with Store.open(write_run(tmp_path / "r", rows)) as store:
        found = family_contrasts(read_table(store).view()).set_index("family")
    assert found.loc["vertical-flip", ["abs_low", "abs_high", "scatter"]].tolist() == [0.0, 0.0, UNMOVED]
    assert found.loc["horizontal-flip", "scatter"] == SCATTERS
