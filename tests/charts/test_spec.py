"""A figure is refused where it could not be drawn, and says the same on a page and on paper, as its data do."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from matplotlib.figure import Figure as Canvas

from core.charts import still
from core.charts.interactive import plot
from core.charts.spec import COLUMNS, PALETTE, Axis, Figure, Style, series_styles, shortened
from core.errors import InvalidInput
from tests.charts.drawings import EDGES, MAKERS, legend_of_page, legend_of_paper, read_page, read_paper, rounded

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


@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.parametrize("maker", MAKERS)
def test_both_renderers_draw_the_same_as_a_picture_and_a_page_of_what_plotly_knows(
    maker: str, edge: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    figure, canvas = MAKERS[maker](EDGES[edge]), still.canvas
    laid_out: list[Canvas] = []
    monkeypatch.setattr(still, "canvas", lambda *told, **how: laid_out.append(canvas(*told, **how)) or laid_out[-1])
    assert still.drawing(figure).lstrip().startswith(b"<?xml")
    (paper,) = laid_out
    page = plot(figure)
    assert page.to_json()
    go.Figure(page.to_dict())  # raises ValueError at the first property that plotly does not know
    assert read_page(page, figure) == read_paper(paper, figure)
    assert {name: colour.lower() for name, colour in legend_of_page(page).items()} == legend_of_paper(paper)


@pytest.mark.parametrize("maker", MAKERS)
def test_every_value_and_bound_of_the_frame_is_drawn(maker: str) -> None:
    figure = MAKERS[maker](EDGES["usual"])
    drawn = read_page(plot(figure), figure)
    there = {float(each) for panel in drawn for mark in panel.marks for each in mark if each is not None}
    assert {rounded(value) for value in figure.frame["value"]} <= there
    if figure.bounds == "whiskers" and figure.kind != "map":
        ends = {each for panel in drawn for whisker in panel.whiskers for each in whisker[1:]}
        bounds = figure.frame[["low", "high"]].to_numpy(dtype=float).ravel()
        assert {rounded(value) for value in bounds[~np.isnan(bounds)]} == ends


@pytest.mark.parametrize("maker", MAKERS)
def test_the_data_of_a_figure_are_numbers_and_names_alone(maker: str) -> None:
    figure = MAKERS[maker](EDGES["usual"])
    assert set(COLUMNS) <= set(figure.data)
    assert not {"hover", "text", "hollow"} & set(figure.data)
    assert len(figure.data) == len(figure.frame) > 0


@pytest.mark.parametrize("maker", [name for name in MAKERS if name not in ("lab", "training", "curve")])
def test_every_hover_says_its_n(maker: str) -> None:
    figure = plot(MAKERS[maker](EDGES["usual"]))
    texts = [text for trace in figure.data if trace.hoverinfo == "text" for text in np.ravel(trace.hovertext)]
    assert texts
    assert all("n = " in text for text in texts if "no value" not in text)


@pytest.mark.parametrize("maker", MAKERS)
def test_no_name_is_read_as_markup(maker: str) -> None:
    page = plot(MAKERS[maker](EDGES["long names"])).to_json()
    assert "<b>$x" not in page
    assert "\\u003cb\\u003e$x" not in page
