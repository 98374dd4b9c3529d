"""What a page draws: hovers with n and interval, one trace a series, and a file that stands alone."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from plotly.io import to_json

from core.charts import still
from core.charts.interactive import page, plot
from core.charts.panels import panels
from core.charts.spec import CHALK, COLUMNS, INK, PALETTE, UPWARD, UPWARD_DARK, Axis, Figure, Ray, Style
from core.errors import InvalidInput
from tests.charts.drawings import EDGES, MAKERS

FRAME = pd.DataFrame(
    [
        ("<i>a</i>", "one", "left", -1.0, -2.0, 0.5, 7),
        ("b", "one", "left", 2.0, np.nan, np.nan, 3),
        ("b", "two", "right", 3.0, 2.0, 4.0, 5),
    ],
    columns=list(COLUMNS),
)


def figure(**how) -> Figure:
    return Figure("F1", "Vertical <flips>", "", **{"frame": FRAME, "axis": "median % change", "unit": " %"} | how)


def test_a_hover_says_series_label_value_interval_and_n() -> None:
    texts = plot(figure()).data[0].hovertext
    assert texts[0] == "<b>one, &lt;i&gt;a&lt;/i&gt;</b><br>−1 % (95 % CI −2 to 0.5 %)<br>n = 7"
    assert texts[1] == "<b>one, b</b><br>2 % (no interval)<br>n = 3"


def test_words_of_the_frame_are_said_with_the_first_line_bold_and_are_no_markup() -> None:
    said = plot(figure(frame=FRAME.assign(hover="<u>name</u>\nmore & more"))).data[0].hovertext[0]
    assert said == "<b>&lt;u&gt;name&lt;/u&gt;</b><br>more &amp; more"


def test_a_series_has_one_trace_a_panel_and_one_place_in_the_legend() -> None:
    both = pd.concat([FRAME, FRAME.assign(panel="below")])
    traces = plot(figure(frame=both)).data
    assert len(traces) == 4
    for name in ("one", "two"):
        own = [trace for trace in traces if trace.name == name]
        assert sum(trace.showlegend for trace in own) == 1
        assert len({trace.marker.line.color for trace in own}) == 1


def test_a_mark_without_interval_has_no_whisker_and_no_filling() -> None:
    trace = plot(figure()).data[0]
    assert np.isnan(trace.error_x.array[1])
    assert trace.marker.color[1].endswith(",0.2)")
    assert trace.marker.color[0].endswith(",1)")


def test_the_chosen_mark_of_a_line_is_large() -> None:
    marked = figure(frame=FRAME.assign(label=[0.0, 0.5, 0.5], chosen=[False, True, False]), kind="lines", mark="chosen")
    small, large = plot(marked).data[0].marker.size
    assert large > 2 * small


def test_a_ring_is_empty() -> None:
    trace = plot(figure(styles={"one": Style(PALETTE[0], fill=0)})).data[0]
    assert all(colour.endswith(",0)") for colour in trace.marker.color)


def test_a_page_stands_alone_under_its_title() -> None:
    text = page(figure(), title="Shifts by <family>").decode()
    assert "Shifts by \\u0026lt;family\\u0026gt;" in text or "Shifts by &lt;family&gt;" in text
    assert 'src="http' not in text
    assert "plotly.js v" in text


@pytest.mark.parametrize("maker", MAKERS)
def test_a_figure_on_a_page_has_no_ground_of_its_own(maker: str) -> None:
    layout = plot(MAKERS[maker](EDGES["usual"])).layout
    assert layout.paper_bgcolor == layout.plot_bgcolor == "rgba(0,0,0,0)"
    assert layout.font.color is None


def test_an_arrow_leads_from_one_series_to_another_in_every_panel_that_has_both() -> None:
    frame = pd.DataFrame(
        {
            "label": ["a", "b", "a"],
            "series": ["a", "b", "a"],
            "panel": ["p", "p", "q"],
            "x": [0.1, 0.3, 0.2],
            "value": [0.5, 0.4, 0.6],
            "low": np.nan,
            "high": np.nan,
            "n": 3,
        }
    )
    made = Figure(
        "f",
        "t",
        "n",
        frame,
        "v",
        kind="scatter",
        span=(0.0, 1.0),
        along=Axis("x", span=(0.0, 1.0)),
        moves=(("a", "b"), ("b", "gone")),
    )
    drawn = [each for each in plot(made).layout.annotations if each.axref and each.axref != "pixel"]
    assert [(each.ax, each.ay, each.x, each.y, each.xref) for each in drawn] == [(0.1, 0.5, 0.3, 0.4, "x")]
    paper = still.canvas(made)
    ends = [
        (each.xyann, each.xy)
        for place in paper.axes
        for each in place.texts
        if getattr(each, "arrow_patch", None) and not each.get_text()
    ]
    assert ends == [((0.1, 0.5), (0.3, 0.4))]


def plane() -> Figure:
    frame = pd.DataFrame(
        {
            "label": ["a", "b"],
            "series": ["a", "b"],
            "panel": "",
            "x": [0.2, 0.5],
            "x_low": [0.1, np.nan],
            "x_high": [0.4, np.nan],
            "value": [0.5, 1.0],
            "low": [0.3, 0.8],
            "high": [0.9, 1.5],
            "n": 3,
        }
    )
    return Figure(
        "f",
        "t",
        "n",
        frame,
        "v",
        kind="scatter",
        span=(0.0, 2.0),
        along=Axis("x", span=(0.0, 1.0)),
        rays=(Ray(1.0, "1 ×"), Ray(4.0, "4 ×")),
    )


def test_a_point_of_a_plane_has_an_interval_on_either_axis_in_both_renderers() -> None:
    one, other = plot(plane()).data
    assert (one.error_x.arrayminus[0], one.error_x.array[0]) == (pytest.approx(0.1), pytest.approx(0.2))
    assert (one.error_y.arrayminus[0], one.error_y.array[0]) == (pytest.approx(0.2), pytest.approx(0.4))
    assert other.error_x.array is None
    (axes,) = still.canvas(plane()).axes
    drawn = [each for lines in axes.containers for each in lines[2]]
    ends = sorted(tuple(np.round(path.vertices.ravel(), 6)) for each in drawn for path in each.get_paths())
    assert ends == [(0.1, 0.5, 0.4, 0.5), (0.2, 0.3, 0.2, 0.9), (0.5, 0.8, 0.5, 1.5)]


def test_a_line_of_equal_ratio_runs_from_the_origin_to_the_edge_with_its_words_in_both_renderers() -> None:
    layout = plot(plane()).layout
    lines = [(each.x0, each.y0, each.x1, each.y1) for each in layout.shapes if each.layer == "below"]
    assert lines == [(0, 0, 1.0, 1.0), (0, 0, 0.5, 2.0)]
    assert {(each.text, each.x, each.y) for each in layout.annotations if "×" in each.text} == {
        ("1 ×", 1.0, 1.0),
        ("4 ×", 0.5, 2.0),
    }
    (axes,) = still.canvas(plane()).axes
    rays = [tuple(each.get_xydata().ravel()) for each in axes.lines if each.get_linestyle() == ":"]
    assert rays == [(0, 0, 1.0, 1.0), (0, 0, 0.5, 2.0)]
    assert {("1 ×", (1.0, 1.0)), ("4 ×", (0.5, 2.0))} <= {(each.get_text(), each.xy) for each in axes.texts}


@pytest.mark.parametrize("change", [{"rays": (Ray(0.0),)}, {"rays": (Ray(1.0),), "kind": "dots"}])
def test_a_ray_is_a_positive_ratio_of_a_scatter(change: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match="rays are positive ratios of a scatter"):
        replace(plane(), **change)


def test_a_mark_says_that_it_can_be_clicked_and_carries_what_it_opens() -> None:
    drawn = plot(figure(frame=FRAME.assign(opens=['{"families": "blur"}', "", '{"families": "flip"}'])), clicks=True)
    assert [list(trace.customdata) for trace in drawn.data] == [['{"families": "blur"}', ""], ['{"families": "flip"}']]
    assert [text.endswith("click for its pairs</i>") for text in drawn.data[0].hovertext] == [True, False]


def test_over_the_width_of_every_cell_of_a_map_lie_marks_that_can_be_clicked() -> None:
    drawn = plot(figure(kind="map", frame=FRAME.assign(panel="", opens=["first", "", "third"])), clicks=True).data
    assert [trace.type for trace in drawn] == ["heatmap", "scatter"]
    at = [(round(x), y) for x, y in zip(drawn[1].x, drawn[1].y, strict=True)]
    assert {*zip(at, drawn[1].customdata, strict=True)} == {((0, 0), "first"), ((0, 1), ""), ((1, 1), "third")}
    first = [x for x, cell in zip(drawn[1].x, at, strict=True) if cell == (0, 0)]
    assert min(first) < -0.3
    assert max(first) > 0.3
    assert drawn[1].marker.opacity == 0


def test_the_cells_of_a_map_are_of_the_page_that_they_stand_on() -> None:
    cells = [plot(figure(kind="map"), dark=dark).data[0] for dark in (False, True)]
    assert [tuple(colour for _, colour in each.colorscale) for each in cells] == [UPWARD, UPWARD_DARK]
    assert [each.textfont.color for each in cells] == [INK, CHALK]


def test_a_file_has_nothing_to_open() -> None:
    bare = plot(figure(frame=FRAME.assign(opens="{}"))).data[0]
    assert bare.customdata is None
    assert "click for" not in bare.hovertext[0]
    assert b"click for" not in page(figure(frame=FRAME.assign(opens="{}")))
    assert "opens" not in figure(frame=FRAME.assign(opens="{}")).data


def test_negative_numbers_of_any_hover_have_a_real_minus_and_names_keep_their_hyphen() -> None:
    said = "conse-lite0, gpt-4\nmedian % change -1.5 % (-2 to +0.1), rotate-10 on 2026-11-25, bins 10-20"
    drawn = plot(figure(frame=FRAME.assign(hover=said))).data[0].hovertext[0]
    assert drawn == (
        "<b>conse-lite0, gpt-4</b><br>median % change −1.5 % (−2 to +0.1), rotate-10 on 2026-11-25, bins 10-20"
    )


@pytest.mark.parametrize("clicks", [False, True])
@pytest.mark.parametrize("kind", ["dots", "lines", "bars", "map"])
def test_panels_that_are_known_change_nothing(kind: str, clicks: bool) -> None:
    drawn = figure(kind=kind, frame=FRAME.assign(opens=["a", "", "b"]))
    known = plot(drawn, clicks=clicks, found=panels(drawn))
    assert to_json(known, validate=False) == to_json(plot(drawn, clicks=clicks), validate=False)
