import math

import pandas as pd
import pytest

from core.charts.interactive import plot
from core.report.fairness_card import family_shifts, shared_top


def contrast(axis: str, family: str, size: float, *, null: float = 0.5) -> dict:
    return {
        "axis": axis,
        "family": family,
        "median_abs_percent": size,
        "abs_low": size - 0.2,
        "abs_high": size + 0.3,
        "median_percent": -size,
        "low": -size - 0.3,
        "high": -size + 0.2,
        "n_items": 40,
        "n_shifts": 80,
        "drift": "drifts one way",
        "scatter": "unstable (beyond the margin)",
        "null_median": null,
    }


TABLE = pd.DataFrame(
    [
        contrast("spatial", "rotation", 2.0),
        contrast("spatial", "vertical-flip", 6.0),
        contrast("null", "jpeg", 0.4),
        contrast("societal", "emotion", 9.0),
    ]
)
CARD = TABLE.iloc[[1, 3]]


def test_families_stand_by_axis_and_size_and_null_edits_are_the_band() -> None:
    figure = plot(family_shifts(TABLE, CARD, colour="#0079BD"))
    assert list(figure.layout.yaxis.ticktext) == ["emotion", "vertical-flip", "rotation"]
    assert [(shape.x0, shape.x1) for shape in figure.layout.shapes] == [(0, 0.5)]


def test_the_worst_family_of_each_axis_is_filled() -> None:
    colours = list(plot(family_shifts(TABLE, CARD, colour="#0079BD")).data[0].marker.color)
    assert [colour.endswith(",1)") for colour in colours] == [True, True, False]


def test_intervals_reach_from_low_to_high() -> None:
    bars = plot(family_shifts(TABLE, CARD, colour="#0079BD")).data[0].error_x
    assert list(bars.array) == pytest.approx([0.3] * 3)
    assert list(bars.arrayminus) == pytest.approx([0.2] * 3)


def test_every_hover_states_n_interval_and_claims() -> None:
    for text in plot(family_shifts(TABLE, CARD, colour="#0079BD")).data[0].hovertext:
        assert "n = 40 items" in text
        assert "95 % CI" in text
        assert "drifts one way; unstable (beyond the margin)" in text


def test_without_null_edits_no_band_is_drawn() -> None:
    assert not family_shifts(TABLE, CARD.assign(null_median=math.nan), colour="#0079BD").shades


def test_a_family_without_percent_change_is_left_out() -> None:
    table = pd.concat([TABLE, pd.DataFrame([contrast("spatial", "blur", math.nan)])])
    assert "blur" not in set(family_shifts(table, CARD, colour="#0079BD").frame["label"])


def test_every_interval_fits_on_the_axis() -> None:
    low, high = family_shifts(TABLE, CARD, colour="#0079BD").span
    assert low == 0
    assert high >= 9.3


def test_figures_that_stand_side_by_side_end_at_the_furthest_of_them() -> None:
    small, large = TABLE.iloc[:2], TABLE.iloc[[3]]
    top = shared_top(TABLE, CARD)
    assert top == pytest.approx(9.3)
    for each in (small, large):
        assert family_shifts(each, CARD, colour="#0079BD", top=top).span == (0, pytest.approx(1.08 * 9.3))
    assert family_shifts(small, CARD.iloc[:1], colour="#0079BD").span == (0, pytest.approx(1.08 * 6.3))
