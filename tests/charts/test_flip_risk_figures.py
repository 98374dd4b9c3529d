import pandas as pd

from core.charts.interactive import plot
from core.charts.spec import NEUTRAL
from core.features.flips.flip_risk_figures import BOUND, family_styles, flip_shares, reliability, risk_curves, risk_map


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


def test_shares_have_their_interval_and_the_share_without_ties() -> None:
    row = {"family": "flip", "share": 0.2, "low": 0.1, "high": 0.4, "strict": 0.15, "n_items": 9, "n_pairs": 18}
    dots, rings = plot(flip_shares(pd.DataFrame([row]), colour="#0079BD")).data
    assert (dots.x[0], rings.x[0]) == (20.0, 15.0)
    assert round(dots.error_x.array[0], 6) == 20.0
    assert "n = 9 items, 18 pairs" in dots.hovertext[0]
