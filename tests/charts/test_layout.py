"""Panels stand where plotly would put them, each with its name, one scale where they share it, legible on a phone."""

import re

import numpy as np
import pandas as pd
import pytest
from plotly.subplots import make_subplots

from core.charts.interactive import plot
from core.charts.layout import GAP, LINE, ROW, WIDE, legend_above, number, spare
from core.charts.panels import panels
from core.charts.spec import COLUMNS, Axis, Figure, Reference, Shade, colours
from core.charts.still import canvas
from core.settings import ROOT
from pages.views.common.page_drawings import MOST_SPARE

COUNTS = {"<b>one</b>": 4, "two": 1, "three": 7}


def figure(**how) -> Figure:
    rows = [
        (f"label {place}", series, panel, 1.0, 0.5, 2.0, 7)
        for panel, count in COUNTS.items()
        for place in range(count)
        for series in ("a", "b", "c")
    ]
    usual = {"frame": pd.DataFrame(rows, columns=list(COLUMNS)), "axis": "median <% change>"}
    return Figure("F1", "", "", **usual | how)


def drawn(**how):
    return plot(figure(**how)).layout


def area(layout) -> float:
    return layout.height - layout.margin.t - layout.margin.b


@pytest.mark.parametrize("how", [{}, {"free": True}, {"kind": "lines"}, {"kind": "lines", "free": True}])
def test_panels_stand_where_plotly_would_put_them(how: dict) -> None:
    ours = drawn(**how)
    heights = [np.ptp(ours[f"yaxis{number(place)}"].domain) for place in range(3)]
    other = make_subplots(rows=3, cols=1, row_heights=heights, vertical_spacing=GAP / area(ours)).layout
    for name in (f"{axis}axis{number(place)}" for axis in "xy" for place in range(3)):
        assert ours[name].domain == pytest.approx(other[name].domain)
        assert ours[name].anchor == other[name].anchor


def test_a_panel_is_as_tall_as_its_marks() -> None:
    layout = drawn()
    heights = [area(layout) * np.ptp(layout[f"yaxis{number(place)}"].domain) for place in range(3)]
    assert heights == pytest.approx([3 * ROW * count for count in COUNTS.values()])


def test_shared_panels_follow_the_scale_of_the_last_and_free_ones_none() -> None:
    assert [drawn()[f"xaxis{number(place)}"].matches for place in range(3)] == ["x3", "x3", None]
    assert not any(drawn(free=True)[f"xaxis{number(place)}"].matches for place in range(3))
    lines = drawn(kind="lines", free=True)
    assert [lines[f"xaxis{number(place)}"].matches for place in range(3)] == ["x3", "x3", None]
    assert not any(lines[f"yaxis{number(place)}"].matches for place in range(3))


def test_a_panels_name_is_no_markup_and_one_nameless_panel_has_none() -> None:
    assert [note.text for note in drawn().annotations] == ["&lt;b&gt;one&lt;/b&gt;", "two", "three"]
    assert not drawn(frame=figure().frame.assign(panel="")).annotations


def test_the_axis_is_named_once_and_its_name_is_no_markup() -> None:
    layout = drawn()
    titles = [layout[f"xaxis{number(place)}"].title.text for place in range(3)]
    assert titles == [None, None, "median &lt;% change&gt;"]


def test_a_long_title_is_broken_and_gets_room() -> None:
    short, long = drawn(axis="score"), drawn(axis="median Δ of each side, % of the baseline score")
    assert "<br>" in long.xaxis3.title.text
    assert long.margin.b > short.margin.b


MANY = figure(
    frame=pd.DataFrame(
        [(f"l{place}", f"series number {place}", "", 1.0, 0.5, 2.0, 7) for place in range(8)], columns=list(COLUMNS)
    )
)


def test_a_short_legend_stands_above_and_one_of_many_names_below() -> None:
    short, long = drawn(), plot(MANY).layout
    assert short.legend.yref == long.legend.yref == "container"
    assert (short.legend.yanchor, long.legend.yanchor) == ("bottom", "top")
    assert legend_above(figure()) > 0 == legend_above(MANY)
    assert short.legend.y * short.height == pytest.approx(short.height - legend_above(figure()))
    assert long.margin.b > short.margin.b
    assert not drawn(frame=figure().frame.assign(series="a")).showlegend


def test_a_legend_below_begins_under_the_axis_and_its_spare_lines_lie_beyond_it() -> None:
    layout = plot(MANY).layout
    room = layout.legend.y * layout.height  # from the figure's lower edge to the legend's upper one
    assert 0 < spare(MANY, panels(MANY)) < room
    bare = plot(figure(frame=MANY.frame.assign(series="a"))).layout
    assert layout.margin.b - room == pytest.approx(bare.margin.b)
    for short in (figure(), figure(frame=MANY.frame.assign(series="a"))):
        assert spare(short, panels(short)) == 0


def test_the_style_sheet_takes_away_what_is_spare_where_the_figure_is_wide() -> None:
    css = (ROOT / "assets/style/app.css").read_text()
    assert f"@container (min-width: {WIDE}px)" in css
    taken = [(int(name), int(px)) for name, px in re.findall(r"st-key-spare_(\d+)_\D*?margin-bottom: -(\d+)px", css)]
    assert taken == [(px, px) for px in range(LINE, MOST_SPARE + LINE, LINE)]
    assert spare(MANY, panels(MANY)) % LINE == 0


def test_figures_side_by_side_begin_on_one_height() -> None:
    with_legend, bare = figure(), figure(frame=figure().frame.assign(series="a"), head=legend_above(figure()))
    tops = [plot(each).layout.margin.t for each in (with_legend, bare)]
    assert tops[0] == tops[1]
    assert plot(figure(frame=figure().frame.assign(series="a"))).layout.margin.t < tops[0]


def test_shades_and_lines_cross_the_axis_that_they_are_on() -> None:
    marks = {
        "shades": (Shade(-1, 1), Shade(0, 2, "along")),
        "references": (Reference(3), Reference(4, "along", "here")),
    }
    layout = drawn(frame=figure().frame.assign(panel=""), kind="lines", along=Axis("x"), **marks)
    ends = [(each.x0, each.x1, each.y0, each.y1) for each in layout.shapes]
    assert ends == [(0, 1, -1, 1), (0, 2, 0, 1), (0, 1, 3, 3), (4, 4, 0, 1)]
    assert [each.text for each in layout.annotations] == ["here"]
    dots = drawn(frame=figure().frame.assign(panel=""), shades=(Shade(-1, 1),)).shapes[0]
    assert (dots.x0, dots.x1, dots.y0, dots.y1) == (-1, 1, 0, 1)


def test_every_panel_is_shaded() -> None:
    assert [each.xref for each in drawn(shades=(Shade(-1, 1),)).shapes] == ["x", "x2", "x3"]


def test_ends_ticks_and_units_are_those_of_the_figure() -> None:
    layout = drawn(kind="lines", span=(0, None), unit=" %", along=Axis("gap", log=True, ticks=(0.1, 1)))
    assert layout.yaxis.rangemode == "tozero"
    assert layout.yaxis.range is None
    assert tuple(drawn(span=(1, 5)).xaxis.range) == (1, 5)
    assert layout.yaxis.ticksuffix == " %"


def test_no_axis_can_be_dragged() -> None:
    layout = drawn()
    assert layout.dragmode is False
    assert all(layout[f"{axis}axis{number(place)}"].fixedrange for axis in "xy" for place in range(3))


@pytest.mark.parametrize("kind", ["dots", "map"])
def test_a_long_label_is_folded_into_lines_that_leave_a_phone_room_and_is_not_cut(kind: str) -> None:
    label = "Wrong object (FOIL), like <Upside down>"
    rows = [(label, "a", "", 1.0, 0.5, 2.0, 7), ("short", "a", "", 1.0, 0.5, 2.0, 7)]
    long, short = (drawn(frame=pd.DataFrame(rows[at:], columns=list(COLUMNS)), kind=kind) for at in (0, 1))
    said = long.yaxis.ticktext[0].split("<br>")
    assert " ".join(said) == "Wrong object (FOIL), like &lt;Upside down&gt;"
    assert max(map(len, said)) <= 26 + 6  # escaped signs
    each = area(long) / 2
    assert each >= (38 if kind == "map" else area(short) + 14)


def test_long_names_of_a_legend_are_folded_and_get_room() -> None:
    names = [
        "An airplane moves from right to left in a blue sky.",
        "An airplane moves from left to right in a blue sky.",
    ]
    rows = [("label", name, "", 1.0, 0.5, 2.0, 7) for name in names]
    made = plot(figure(frame=pd.DataFrame(rows, columns=list(COLUMNS))))
    said = [each.name.split("<br>") for each in made.data]
    assert [" ".join(each) for each in said] == names
    short = plot(
        figure(frame=pd.DataFrame([("label", name, "", 1.0, 0.5, 2.0, 7) for name in "ab"], columns=list(COLUMNS)))
    )
    assert made.layout.margin.t + made.layout.margin.b > short.layout.margin.t + short.layout.margin.b + 20


def test_a_legend_that_would_say_the_labels_again_is_left_out_on_page_and_paper() -> None:
    rows = [(name, name, "", 1.0, 0.5, 2.0, 7) for name in ("conse-lite0", "grounding-judge")]
    named = figure(frame=pd.DataFrame(rows, columns=list(COLUMNS)), overlay=True)
    drawn_on_page = plot(named)
    assert not drawn_on_page.layout.showlegend
    own = colours(["conse-lite0", "grounding-judge"])
    assert [trace.marker.line.color for trace in drawn_on_page.data] == list(own.values())
    assert drawn_on_page.data[0].hovertext[0].startswith("<b>conse-lite0</b>")
    assert not canvas(named).legends
    assert canvas(figure()).legends
