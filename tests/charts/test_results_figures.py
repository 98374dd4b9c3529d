"""Figures of results and comparisons: what is drawn is what the table says, n at every mark, nothing as markup."""

import numpy as np
import pandas as pd
import pytest

from core.charts.interactive import plot
from core.charts.spec import NEUTRAL
from core.features.compare.comparison_figures import differences, dumbbell
from core.features.flips.flip_risk_figures import BOUND, family_styles, reliability, risk_curves, risk_map
from tests.charts.built_figures import cells, curve, intervals, score_levels


def drawn(draw, *tables: pd.DataFrame, **how):
    return plot(draw(*tables, **how))


def effects() -> pd.DataFrame:
    rows = [
        {
            "evaluator": evaluator,
            "corpus": corpus,
            "label": label,
            "value": value,
            "low": value - 1,
            "high": value + 2,
            "n_items": n,
            "drift": drift,
            "scatter": "undecided",
        }
        for evaluator, corpus, label, value, n, drift in [
            ("one", "demo", "vflip", -3.0, 40, "drifts"),
            ("two", "demo", "vflip", 1.5, 38, "undecided"),
            ("one", "demo", "<b>x</b>", 0.0, 5, "too few items"),
            ("two", "demo", "<b>x</b>", np.nan, 0, "undecided"),
        ]
    ]
    return pd.DataFrame(rows)


def test_every_series_has_its_own_colour_and_marker() -> None:
    figure = drawn(intervals, effects(), labels=["vflip", "<b>x</b>"], series="evaluator", panel=None, unit=" %")
    one, two = figure.data
    assert one.marker.symbol != two.marker.symbol
    assert one.marker.line.color != two.marker.line.color
    assert figure.layout.showlegend


def test_the_marks_are_the_medians_with_their_intervals() -> None:
    figure = drawn(intervals, effects(), labels=["vflip", "<b>x</b>"], series="evaluator", panel=None, unit=" %")
    assert list(figure.data[0].x) == [-3.0, 0.0]
    assert list(figure.data[0].error_x.array) == [2, 2]
    assert list(figure.data[0].error_x.arrayminus) == [1, 1]
    assert list(figure.data[1].x) == [1.5]  # no mark without a median


def test_n_stands_beside_every_label_and_in_every_hover() -> None:
    figure = drawn(intervals, effects(), labels=["vflip", "<b>x</b>"], series="evaluator", panel=None, unit=" %")
    ticks = figure.layout.yaxis.ticktext
    assert "n 38–40" in ticks[0]
    assert "n 5" in ticks[1]
    assert all("n = " in text for trace in figure.data for text in trace.hovertext)


def test_a_cell_of_too_few_items_is_faint() -> None:
    figure = drawn(intervals, effects(), labels=["vflip", "<b>x</b>"], series="evaluator", panel=None, unit=" %")
    solid, faint = figure.data[0].marker.color
    assert solid.endswith(",1)")
    assert faint.endswith(",0.2)")


def test_text_from_data_is_no_markup() -> None:
    figure = drawn(intervals, effects(), labels=["<b>x</b>"], series="evaluator", panel="corpus", unit="")
    assert "<b>x</b>" not in figure.layout.yaxis.ticktext[0]
    assert "&lt;b&gt;x" in figure.layout.yaxis.ticktext[0]


def test_raw_scales_have_an_axis_each() -> None:
    figure = drawn(intervals, effects(), labels=["vflip"], series="corpus", panel="evaluator", unit="", free=True)
    assert {trace.xaxis for trace in figure.data} == {"x", "x2"}
    assert figure.layout.xaxis.matches is None
    assert figure.layout.xaxis2.matches is None


def test_a_panel_is_as_tall_as_its_lines() -> None:
    more = effects().assign(evaluator="one", label=[f"l{place}" for place in range(4)]).dropna(subset=["value"])
    table = pd.concat([effects(), more])
    labels = ["vflip", *more["label"]]
    figure = drawn(intervals, table, labels=labels, series="corpus", panel="evaluator", unit="", free=True)
    one, two = (np.ptp(axis.domain) for axis in (figure.layout.yaxis, figure.layout.yaxis2))
    assert one / two == pytest.approx(4)


def test_an_empty_table_gives_an_empty_figure() -> None:
    figure = drawn(intervals, effects().iloc[:0], labels=[], series="evaluator", panel=None, unit=" %")
    assert len(figure.data) == 0


def test_scores_of_evaluators_have_an_axis_each() -> None:
    table = effects().rename(columns={"label": "coverage_bin"}).drop(columns=["drift", "scatter"])
    figure = drawn(score_levels, table, levels=["vflip", "<b>x</b>"], level="coverage_bin")
    assert {trace.yaxis for trace in figure.data} == {"y", "y2"}
    assert "n 38–40" in figure.layout.xaxis.ticktext[0]


def test_a_map_says_n_in_every_cell_and_leaves_gaps_empty() -> None:
    table = effects().rename(columns={"label": "group"})
    table = table[table["evaluator"] == "one"].assign(label=["a", "b"])
    figure = drawn(
        cells,
        table,
        rows=["vflip", "<b>x</b>"],
        columns=["a", "b"],
        row="group",
        column="label",
        unit=" %",
        diverging=True,
    )
    texts = figure.data[0].text
    assert texts[0][0] == "−3.00 %<br><span style='font-size:11px'>n 40</span>"
    assert texts[0][1] == ""
    assert figure.data[0].zmin == -figure.data[0].zmax


def test_a_curve_has_its_band_and_its_n() -> None:
    table = pd.DataFrame({"x": [0, 1.0], "y": [1, 2.0], "low": [0.5, 1.5], "high": [1.5, 2.5], "n": [9, 9]})
    band, line = drawn(curve, table, x="coverage", y="score", colour="#0079BD").data
    assert band.fill == "toself"
    assert list(line.y) == [1, 2]
    assert "n = 9" in line.hovertext[0]


def test_a_curve_over_shares_is_written_in_percent() -> None:
    table = pd.DataFrame({"x": [0.1, 0.5], "y": [1, 2.0], "low": [0.5, 1.5], "high": [1.5, 2.5], "n": [9, 9]})
    figure = drawn(curve, table, x="coverage", y="score", colour="#0079BD", percent_x=True)
    assert list(figure.data[1].x) == [10, 50]
    assert figure.layout.xaxis.ticksuffix == " %"


@pytest.fixture
def compared() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "label": ["vflip", "rotation"],
            "a_value": [1.0, 2.0],
            "a_low": [0.0, 1.0],
            "a_high": [2.0, 3.0],
            "a_n": [9, 8],
            "b_value": [0.0, 4.0],
            "b_low": [-1.0, 3.0],
            "b_high": [1.0, 5.0],
            "b_n": [7, 8],
            "difference": [1.0, -2.0],
            "low": [0.5, -3.0],
            "high": [1.5, -1.0],
            "n_items": [16, 8],
            "how": ["independent", "paired by item"],
            "verdict": ["drift differs", "drift differs"],
        }
    )


def test_a_dumbbell_joins_both_sides(compared: pd.DataFrame) -> None:
    figure = drawn(dumbbell, compared, unit=" %", digits=2)
    assert figure.layout.xaxis.title.text == "median change, % of the unedited<br>score"
    line, *sides = figure.data
    assert [value for value in line.x if value == value] == [1.0, 0.0, 2.0, 4.0]
    assert [value for value in line.x[2::3] if value == value] == []
    assert [side.name for side in sides] == ["A", "B"]
    assert sides[0].marker.symbol != sides[1].marker.symbol
    assert "n 7–9" in figure.layout.yaxis.ticktext[0]


def test_a_difference_is_filled_where_it_is_paired(compared: pd.DataFrame) -> None:
    figure = drawn(differences, compared, unit=" pp", digits=2, margin=1.0)
    assert figure.layout.xaxis.title.text == "A − B, percentage points; grey:<br>counts as alike"
    independent, paired = figure.data[0].marker.color
    assert independent.endswith(",0.2)")
    assert paired.endswith(",1)")
    assert len(figure.layout.shapes) == 1
    assert not differences(compared, unit=" SD", digits=2, margin=None).shades


def cell(evaluator: str, axis: str, family: str, risk: float, gap: float = 0.007) -> dict:
    return {
        "evaluator": evaluator,
        "axis": axis,
        "family": family,
        "gap": gap,
        "d": gap,
        "risk": risk,
        "low": risk - 0.01,
        "high": risk + 0.01,
        "n_items": 40,
        "n_shifts": 80,
        "n_missing": 0,
        "note": "",
    }


CELLS = pd.DataFrame(
    [
        cell("b", "null", "null", 0.1),
        cell("b", "spatial", "<b>rotation</b>", 0.4),
        cell("a", "societal", "gender", 0.2),
        cell("a", "spatial", "<b>rotation</b>", 0.3),
    ]
)


def test_the_map_runs_to_the_bound_and_holds_the_noise_floor_last() -> None:
    figure = plot(risk_map(CELLS))
    heat = figure.data[0]
    assert (heat.zmin, heat.zmax) == (0, BOUND)
    assert list(figure.layout.xaxis.ticktext) == ["a", "b"]
    assert list(figure.layout.yaxis.ticktext) == ["gender", "&lt;b&gt;rotation&lt;/b&gt;", "null"]
    assert heat.z[1].tolist() == [30.0, 40.0]
    assert heat.text[1][0] == "30.0"
    assert "n = 40 items" in heat.hovertext[1][0]
    assert heat.hovertext[0][1] == "<b>gender, b</b><br>no value"


def test_axes_differ_by_their_dash_and_null_edits_are_grey() -> None:
    styles = family_styles(CELLS)
    assert styles["gender"][1] != styles["<b>rotation</b>"][1]
    assert styles["null"] == (NEUTRAL, "dot")


def test_curves_leave_the_gap_of_zero_out_of_the_logarithm() -> None:
    rows = pd.DataFrame(
        [cell("a", "spatial", "flip", risk, gap) for gap, risk in ((0.0, 0.5), (0.01, 0.4), (0.1, 0.2))]
    )
    figure = plot(risk_curves(rows, gap=0.01, styles=family_styles(rows)))
    assert list(figure.data[0].x) == [1.0, 10.0]
    assert len(figure.layout.shapes) == 2
    assert len(risk_curves(rows, gap=0.0, styles=family_styles(rows)).references) == 1


def test_curves_of_several_evaluators_share_one_legend() -> None:
    rows = pd.DataFrame(
        [cell(name, "spatial", family, 0.3, gap) for name in "ab" for family in ("flip", "turn") for gap in (0.01, 0.1)]
    )
    figure = plot(risk_curves(rows, gap=0.01, styles=family_styles(rows)))
    assert [each.text for each in figure.layout.annotations] == ["a", "b"]
    assert sorted(trace.name for trace in figure.data if trace.showlegend) == ["flip", "turn"]


def test_what_was_told_of_near_ties_stands_against_what_turned_and_the_independent_number_is_a_ring() -> None:
    row = {"evaluator": "e", "corpus": "c", "family": "every family", "told_of": "10 to 20 %", "told": 15.0}
    row |= {"apart": 30.0, "turned": 14.0, "low": 8.0, "high": 22.0, "n_items": 40, "n_pairs": 80}
    figure = reliability(pd.DataFrame([row, {**row, "told_of": "5 % or more"}, {**row, "family": "flip"}]))
    assert figure.frame["x"].tolist() == [30.0, 15.0]
    assert figure.frame["low"].isna().tolist() == [True, False]
    assert "14.0 % turned (95 % CI 8.0 to 22.0)" in figure.frame["hover"].iloc[1]
    assert "n = 40" in figure.frame["hover"].iloc[1]
    assert len(plot(figure).data) >= 2
