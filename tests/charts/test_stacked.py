"""Panels one above the other where plotly would put them, each with its name, one scale where they share it."""

import numpy as np
import pytest
from plotly.subplots import make_subplots

from core.charts.stacked import GAP, number, stacked

HEIGHTS = [100, 40, 250]


def drawn(**how):
    upward = [{"range": [place, 0]} for place in range(len(HEIGHTS))]
    usual = {"heights": HEIGHTS, "titles": ["<b>one</b>", "", "three"], "shared": True, "legend": False, "titled": True}
    traces = [
        {"type": "scatter", "x": [1], "y": [1], "xaxis": f"x{number(place)}", "yaxis": f"y{number(place)}"}
        for place in range(len(HEIGHTS))
    ]
    return stacked(traces, **usual | {"across": {"nticks": 6}, "upward": upward} | how)


def test_panels_stand_where_plotly_would_put_them() -> None:
    area = sum(HEIGHTS) + 2 * GAP
    other = make_subplots(rows=3, cols=1, row_heights=HEIGHTS, vertical_spacing=GAP / area)
    for name in ("yaxis", "yaxis2", "yaxis3"):
        assert drawn().layout[name].domain == pytest.approx(other.layout[name].domain)
        assert drawn().layout[name].anchor == other.layout[name].anchor


def test_a_panel_is_as_many_pixels_tall_as_asked_for() -> None:
    layout = drawn().layout
    plot = layout.height - layout.margin.t - layout.margin.b
    assert [plot * np.ptp(layout[f"yaxis{number(place)}"].domain) for place in range(3)] == pytest.approx(HEIGHTS)


def test_shared_panels_follow_the_scale_of_the_last() -> None:
    assert [drawn().layout[name].matches for name in ("xaxis", "xaxis2", "xaxis3")] == ["x3", "x3", None]
    assert drawn(shared=False).layout.xaxis.matches is None


def test_a_title_is_no_markup_and_an_empty_one_is_not_drawn() -> None:
    assert [note.text for note in drawn().layout.annotations] == ["&lt;b&gt;one&lt;/b&gt;", "three"]


def test_every_axis_has_the_shared_style_and_its_own() -> None:
    layout = drawn().layout
    assert layout.yaxis2.range == (1, 0)
    assert layout.yaxis2.fixedrange
    assert layout.xaxis2.nticks == 6


def test_without_a_panel_there_is_an_empty_one() -> None:
    figure = stacked([], heights=[], titles=[], shared=True, legend=False, titled=False, across={}, upward=[])
    assert figure.layout.yaxis.domain == (0, 1)


def test_a_title_stands_under_the_last_panel_alone_and_takes_room_of_its_own() -> None:
    layout = drawn(axis="median %Δ <b>", below=54).layout
    assert [layout[name].title.text for name in ("xaxis", "xaxis2", "xaxis3")] == [None, None, "median %Δ &lt;b&gt;"]
    plot = layout.height - layout.margin.t - layout.margin.b
    assert plot * np.ptp(layout.yaxis3.domain) == pytest.approx(HEIGHTS[2])
