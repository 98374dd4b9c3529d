"""Two systems on tables small enough to count by hand."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from core.errors import InvalidInput
from core.features.flips.system_pairs import flipped_pairs, system_flips


def pairs(*rows: tuple[str, str, float, float, float, float]) -> pd.DataFrame:
    columns = ["item", "probe", "a_before", "b_before", "a_after", "b_after"]
    return pd.DataFrame(rows, columns=columns).assign(corpus="c")


HAND = pairs(
    ("x", "vflip", 2, 1, 1, 2),  # changes sides
    ("y", "vflip", 2, 1, 3, 1),  # stays
    ("z", "vflip", 1, 1, 2, 1),  # a tie is broken
    ("w", "vflip", 1, 2, 1, 1),  # a lead becomes a tie
)


def test_flips_and_ties_are_counted_apart() -> None:
    found = system_flips(HAND, resamples=100)
    assert (found.pointwise.estimate, found.strict.estimate) == (0.75, 0.25)
    assert (found.tied_before, found.tied_after, found.n_pairs) == (1, 1, 4)


def test_the_order_of_the_means_is_judged_per_transform() -> None:
    found = system_flips(HAND, resamples=2000)
    row = found.gaps.iloc[0]
    assert (row["gap_before"], row["gap_after"], row["flips"], row["n_items"]) == (0.25, 0.5, False, 4)
    assert found.system == 0.0
    assert 0 < row["unstable"] < 1
    assert found.gap == 0.25


def test_a_transform_that_turns_the_means_round_is_a_system_flip() -> None:
    rows = [(str(i), probe, 1.0, 0.5, after, 0.5) for i in range(5) for probe, after in (("one", 0.0), ("two", 1.0))]
    found = system_flips(pairs(*rows), resamples=100)
    assert found.system == 0.5
    assert found.gaps.set_index("probe")["unstable"].to_dict() == {"one": 1.0, "two": 0.0}


def test_an_item_counts_once_however_many_transforms_it_has() -> None:
    rows = [("x", str(i), 2, 1, 1, 2) for i in range(9)] + [("y", "0", 2, 1, 2, 1)]
    assert system_flips(pairs(*rows), resamples=100).pointwise.estimate == 0.5


def test_the_interval_equals_scipys_within_monte_carlo_error() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(80, 4))
    found = system_flips(pairs(*[(str(i), "t", *row) for i, row in enumerate(values)]), resamples=5000)
    flips = (np.sign(values[:, 0] - values[:, 1]) != np.sign(values[:, 2] - values[:, 3])).astype(float)
    reference = stats.bootstrap((flips,), np.mean, n_resamples=5000, method="BCa", rng=1)
    assert found.pointwise.low == pytest.approx(reference.confidence_interval.low, abs=0.02)
    assert found.pointwise.high == pytest.approx(reference.confidence_interval.high, abs=0.02)


def test_items_of_one_source_count_once_in_both_intervals() -> None:
    rng = np.random.default_rng(1)
    one = pairs(*[(f"{place:02d}", "t", *row) for place, row in enumerate(rng.normal(size=(30, 4)))])
    copies = pd.concat([one.assign(item=one["item"] + f"-{copy}", source=one["item"]) for copy in range(5)])
    alone, together = system_flips(one, resamples=2000), system_flips(copies, resamples=2000)
    apart = system_flips(copies.drop(columns="source"), resamples=2000)
    for risk in ("pointwise", "strict"):
        own, repeated, blind = (getattr(each, risk) for each in (alone, together, apart))
        assert (repeated.estimate, repeated.n) == (pytest.approx(own.estimate), 150)
        assert repeated.high - repeated.low >= own.high - own.low  # Student's quantile: the variance was estimated
        assert repeated.high - repeated.low < 1.2 * (own.high - own.low)
        assert blind.high - blind.low < 0.6 * (own.high - own.low)
    pd.testing.assert_frame_equal(together.gaps.drop(columns="n_items"), alone.gaps.drop(columns="n_items"))
    certain, own = (abs(each.gaps["unstable"].iloc[0] - 0.5) for each in (apart, alone))
    assert certain > own


def test_pairs_that_lack_a_score_are_counted_and_left_out() -> None:
    found = system_flips(pairs(("x", "t", 2, 1, math.nan, 2), ("y", "t", 2, 1, 1, 2)), resamples=100)
    assert (found.n_pairs, found.n_missing, found.pointwise.n) == (1, 1, 1)
    assert "one item" in found.pointwise.note


def test_no_whole_pair_gives_no_risk_and_says_so() -> None:
    found = system_flips(pairs(("x", "t", 2, 1, math.nan, 2)), resamples=100)
    assert math.isnan(found.pointwise.estimate)
    assert math.isnan(found.system)
    assert found.pointwise.note == "no pairs"


def test_pairs_are_marked_for_browsing() -> None:
    assert flipped_pairs(HAND)["flips"].tolist() == [True, False, True, True]
    assert flipped_pairs(HAND)["changes_sides"].tolist() == [True, False, False, False]


def test_a_missing_column_is_named() -> None:
    with pytest.raises(InvalidInput, match="lacks b_after"):
        system_flips(HAND.drop(columns="b_after"))
