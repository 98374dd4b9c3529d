"""A figure is refused where it could not be drawn, and its data are what lies behind it."""

import pandas as pd
import pytest

from core.charts.spec import COLUMNS, PALETTE, Axis, Figure, Style, series_styles, shortened
from core.errors import InvalidInput

FRAME = pd.DataFrame([("a", "one", "", 1.0, 0.5, 2.0, 7), ("a", "two", "", 2.0, 1.5, 3.0, 7)], columns=list(COLUMNS))


def figure(**how) -> Figure:
    return Figure("F1", "Title", "Note", **{"frame": FRAME, "axis": "median % change", **how})


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"kind": "pie"}, "kind is one of dots, lines, bars, scatter, map, got 'pie'"),
        ({"frame": FRAME.drop(columns=["low", "n"])}, "figure 'F1' needs .*; add low, n"),
        ({"mark": "chosen"}, "add chosen"),
        ({"kind": "scatter"}, "add x"),
        ({"kind": "scatter", "frame": FRAME.assign(x=1.0)}, "both ends of both axes"),
    ],
)
def test_what_cannot_be_drawn_is_refused_with_what_is_lacking(how: dict, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        figure(**how)


def test_a_scatter_with_its_ends_is_a_figure() -> None:
    how = {"kind": "scatter", "frame": FRAME.assign(x=1.0), "span": (0, 1), "along": Axis(span=(0, 1))}
    assert figure(**how).upright


def test_the_data_leave_out_what_is_for_the_eye_alone() -> None:
    looked = figure(frame=FRAME.assign(hover="x", text="y", hollow=True, chosen=False), mark="chosen")
    assert list(looked.data) == [*COLUMNS, "chosen"]


def test_a_series_without_a_style_gets_a_colour_and_a_symbol_of_its_own() -> None:
    styles = series_styles(figure(styles={"two": Style(PALETTE[3])}))
    assert list(styles) == ["two", "one"]
    assert styles["two"].colour == PALETTE[3]
    usual = series_styles(figure())
    assert list(usual) == ["one", "two"]
    assert usual["one"].colour != usual["two"].colour
    assert usual["one"].symbol != usual["two"].symbol


def test_a_style_of_a_series_that_is_not_there_is_not_in_the_legend() -> None:
    assert list(series_styles(figure(styles={"three": Style()}))) == ["one", "two"]


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("short", "short"),
        ("reposition-bottom-right", "repos…right"),
        ("exactly-11c", "exactly-11c"),
        (" a \n b ", "a b"),
    ],
)
def test_a_long_name_keeps_both_its_ends(text: str, short: str) -> None:
    assert shortened(text, most=11) == short
