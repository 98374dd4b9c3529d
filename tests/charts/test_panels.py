"""A report's figure stands as plotly would set it, follows one scale where it shares one, and hides no mark."""

import itertools

import numpy as np
import pandas as pd
import pytest
from plotly.subplots import make_subplots

from core.charts.panels import COLUMNS, panels
from core.charts.stacked import number

NAMES = ["vertical-flip", "<b>rotation</b>", "reposition"]
COLUMNS_OF = ["panel", "label", "series", "value", "low", "high", "n"]


def marks() -> pd.DataFrame:
    cells = itertools.product(NAMES, ["conse-lite0", "judge"], ["coco", "own"])
    rows = [(*cell, float(place), place - 0.5, place + 1.0, 7) for place, cell in enumerate(cells)]
    frame = pd.DataFrame(rows, columns=COLUMNS_OF)
    frame.loc[0, ["low", "high"]] = np.nan
    return frame


@pytest.mark.parametrize(
    ("how", "shared"),
    [({}, {"shared_xaxes": "all"}), ({"lines": True}, {"shared_yaxes": "all"}), ({"free": True}, {})],
)
def test_panels_stand_and_follow_each_other_as_plotlys_own(how: dict, shared: dict) -> None:
    ours = panels(marks(), axis="median %Δ", **how).layout
    plot = ours.height - ours.margin.t - ours.margin.b
    other = make_subplots(rows=2, cols=2, horizontal_spacing=0.16, vertical_spacing=76 / plot, **shared).layout
    for name in (f"{axis}axis{number(place)}" for axis in "xy" for place in range(4)):
        assert ours[name].domain == pytest.approx(other[name].domain)
        assert (ours[name].anchor, ours[name].matches) == (other[name].anchor, other[name].matches)


def test_every_mark_is_drawn_once_with_its_interval_and_tells_its_n() -> None:
    figure, frame = panels(marks(), axis="median %Δ"), marks()
    assert sorted(value for trace in figure.data for value in trace.x) == sorted(frame["value"])
    assert len(figure.data) == len(NAMES) * COLUMNS
    first = figure.data[0]
    assert list(first.error_x.array) == [0.0, 1.0]
    assert list(first.error_x.arrayminus) == [0.0, 0.5]
    assert first.hovertext == ("coco, conse-lite0: 0<br>n = 7", "coco, judge: 2 (95 % CI 1.5 to 3)<br>n = 7")


def test_no_mark_of_a_label_hides_another() -> None:
    figure = panels(marks()[lambda frame: frame["panel"] == NAMES[0]], axis="median %Δ")
    heights = [height for trace in figure.data for height in trace.y]
    assert len(set(heights)) == len(heights) == 4
    assert figure.layout.yaxis.ticktext == ("conse-lite0", "judge")


def test_a_series_has_one_colour_and_one_place_in_the_legend() -> None:
    figure = panels(marks(), axis="median %Δ")
    for series in ("coco", "own"):
        own = [trace for trace in figure.data if trace.name == series]
        assert [trace.showlegend for trace in own] == [True, False, False]
        assert len({trace.marker.color for trace in own} | {trace.line.color for trace in own}) == 1


def test_a_line_marks_the_point_chosen() -> None:
    frame = marks().assign(label=[0.0, 0.0, 0.5, 0.5] * 3, chosen=[False, False, True, True] * 3)
    figure = panels(frame, axis="Spearman’s ρ", lines=True, mark="chosen")
    assert all(trace.marker.size == (6, 13) and list(trace.x) == [0.0, 0.5] for trace in figure.data)


def test_a_panels_name_is_no_markup_and_one_panel_has_none() -> None:
    assert [note.text for note in panels(marks(), axis="").layout.annotations][1] == "&lt;b&gt;rotation&lt;/b&gt;"
    assert not panels(marks().assign(panel=""), axis="").layout.annotations


@pytest.mark.parametrize("lines", [False, True])
def test_without_a_mark_there_is_one_empty_panel(lines: bool) -> None:
    figure = panels(pd.DataFrame(columns=COLUMNS_OF), axis="median %Δ", lines=lines)
    assert not figure.data
    assert tuple(figure.layout.yaxis.domain) == (0, 1)
