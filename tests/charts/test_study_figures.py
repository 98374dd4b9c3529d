"""Figures of a study, a training and a calibration: what was found, with and without what fell out."""

import math

import numpy as np
import pandas as pd
import pytest

from core.charts import still
from core.charts.interactive import plot
from core.features.calibration.calibration_figures import before_after_dots, sensitivity_along, spearman_along
from core.features.human.people_figures import (
    ALL_PAIRS,
    PEOPLE,
    comparison_dots,
    kappa_map,
    outcome_bars,
    reanalysis_dots,
)
from core.features.training.train_command import DROPS, FOUND, LOSS, curves


def test_outcomes_stand_in_their_order_with_n_and_interval() -> None:
    table = pd.DataFrame(
        {"what": ["both", "none"], "share": [0.8, np.nan], "low": [0.7, np.nan], "high": [0.9, np.nan], "n": [40, 0]}
    )
    figure = plot(outcome_bars(table))
    bar = figure.data[0]
    assert [text.split("<br>")[0] for text in figure.layout.yaxis.ticktext] == ["both", "none"]
    assert bar.x.tolist() == [80.0, 0.0]
    assert bar.hovertext == ("<b>both</b><br>80.0 % (95 % CI 70.00 to 90.00)<br>n = 40", "<b>none</b><br>no votes")


def test_every_analysis_stands_beside_all_pairs_with_its_own_interval() -> None:
    row = {
        "evaluator": "one",
        "axis": "spatial",
        "family": "rotation",
        "n_all": 40,
        "median_all": 2.0,
        "low_all": 1.0,
        "high_all": 3.0,
        "n_kept": 30,
        "median_kept": 2.5,
        "low_kept": 1.5,
        "high_kept": 4.0,
    }
    table = pd.DataFrame([{**row, "analysis": "a"}, {**row, "analysis": "b", "n_kept": 20, "median_kept": 1.0}])
    figure = reanalysis_dots(table)
    assert figure.frame["series"].tolist() == [ALL_PAIRS, "a", "b"]
    assert figure.frame[["value", "low", "high", "n"]].values.tolist() == [
        [2.0, 1.0, 3.0, 40],
        [2.5, 1.5, 4.0, 30],
        [1.0, 1.5, 4.0, 20],
    ]
    assert figure.styles[ALL_PAIRS].fill == 0
    few = reanalysis_dots(table.assign(n_all=4, n_kept=[5, 4]))
    assert few.frame["hollow"].tolist() == [True, False, True]


def test_people_stand_beside_evaluators_in_how_often_the_right_side_wins() -> None:
    people = pd.DataFrame(
        {
            "family": ["foil"],
            "n": [8],
            "prefer": [75.0],
            "prefer_low": [40.0],
            "prefer_high": [90.0],
            "higher": [50.0],
            "higher_low": [20.0],
            "higher_high": [80.0],
        }
    )
    evaluators = pd.DataFrame(
        {
            "family": ["foil"],
            "evaluator": ["e"],
            "n": [7],
            "failure": [30.0],
            "failure_low": [10.0],
            "failure_high": [60.0],
        }
    )
    figure = comparison_dots(people, evaluators)
    marks = figure.frame[["series", "value", "low", "high", "n"]].values.tolist()
    assert marks == [[PEOPLE, 75.0, 40.0, 90.0, 8], ["e", 70.0, 40.0, 90.0, 7]]
    rated = comparison_dots(people.assign(prefer=np.nan), evaluators)
    assert rated.frame.loc[0, ["value", "low", "high"]].tolist() == [50.0, 20.0, 80.0]
    assert not figure.frame["hollow"].any()
    assert comparison_dots(people.assign(n=4), evaluators).frame["hollow"].tolist() == [True, False]
    alone = comparison_dots(people, evaluators.head(0))
    assert alone.frame["series"].tolist() == [PEOPLE]


def test_the_loss_stands_above_what_it_does_to_held_out_captions() -> None:
    values = {"total": 3.0, "drop jumble": 5.0, "mean_drop": 5.0, "low": 4.0, "high": 6.5, "spearman": 0.9}
    rows = [
        {"step": step, "kind": "x", "name": name, "value": value} for step in (0, 10) for name, value in values.items()
    ]
    frame = curves(pd.DataFrame(rows)).frame
    assert list(dict.fromkeys(frame["panel"])) == [LOSS, DROPS]
    by_name = frame.groupby("series")["value"].first()
    assert by_name["Spearman's ρ × 100"] == 90.0
    mean = frame[frame["series"] == "mean of the edits"].iloc[0]
    assert (mean["low"], mean["value"], mean["high"]) == (4.0, 5.0, 6.5)
    assert not plot(curves(pd.DataFrame(columns=["step", "kind", "name", "value"]))).data


def test_texts_that_are_found_have_a_panel_of_their_own() -> None:
    values = {"total": 0.5, "found de": 40.0, "found ja": 20.0, "mean_found": 30.0, "low": 25.0, "high": 36.0}
    frame = curves(pd.DataFrame({"step": 0, "kind": "x", "name": list(values), "value": list(values.values())})).frame
    assert dict(zip(frame["series"], frame["panel"], strict=True)) == {
        "whole loss": LOSS,
        "de": FOUND,
        "ja": FOUND,
        "mean of the languages": FOUND,
    }
    mean = frame[frame["series"] == "mean of the languages"].iloc[0]
    assert (mean["low"], mean["value"], mean["high"]) == (25.0, 30.0, 36.0)


def test_a_cell_of_few_shared_items_is_an_outline_with_its_words_in_both_renderers() -> None:
    pairs = pd.DataFrame(
        {
            "one": ["a", "a", "b"],
            "other": ["b", "c", "c"],
            "kappa": [0.5, 0.25, -0.1],
            "low": math.nan,
            "high": math.nan,
            "n": [40, 8, 60],
            "n_items": [20, 4, 30],
        }
    )
    figure = kappa_map(pairs)
    coloured, outlined = plot(figure).data
    assert [trace.type for trace in (coloured, outlined)] == ["heatmap", "scatter"]
    names = ["a", "b", "c"]
    told = {(names[down], names[across]) for down, across in zip(outlined.y, outlined.x, strict=True)}
    assert told == {("a", "c"), ("c", "a")}
    assert set(outlined.text) == {"0.25<br><span style='font-size:11px'>n 4</span>"}
    assert outlined.marker.symbol == "square-open"
    values = np.asarray(coloured.z, dtype=float)
    assert np.isnan(values[0, 2])
    assert np.isnan(values[2, 0])
    assert (values[0, 1], values[1, 2]) == (0.5, -0.1)
    drawn = still.drawing(figure).decode()
    assert drawn.count("n 4") == 2
    assert len(drawn) > len(still.drawing(kappa_map(pairs.assign(n_items=[20, 8, 30]))).decode())  # two outlines more


LAMBDAS = np.array([0.0, 0.25, 0.5, 0.75, 1.0])


def along(measure: str, allowed: list[bool]) -> pd.DataFrame:
    return pd.concat(
        [
            pd.DataFrame(
                {
                    "split": split,
                    "strength": LAMBDAS,
                    "allowed": allowed,
                    "measure": measure,
                    "name": "H",
                    "value": 0.9 - 0.1 * LAMBDAS,
                    "low": 0.8 if split == "test" else np.nan,
                    "high": 0.95 if split == "test" else np.nan,
                    "n": 50,
                }
            )
            for split in ("dev", "test")
        ]
    )


@pytest.mark.parametrize("draw", [spearman_along, sensitivity_along])
def test_strengths_that_are_not_allowed_are_shaded_and_both_strengths_marked(draw) -> None:
    figure = plot(
        draw(along("x", [True, True, False, True, False]), strength=0.5, chosen=0.25, colour={"H": "#0079BD"})
    )
    areas = [(shape.x0, shape.x1) for shape in figure.layout.shapes if shape.type == "rect"]
    assert areas == [(0.375, 0.625), (0.875, 1.0)]
    assert [note.text for note in figure.layout.annotations] == ["best", "here"]
    one = plot(draw(along("x", [True] * 5), strength=0.25, chosen=0.25, colour={"H": "#0079BD"}))
    assert [note.text for note in one.layout.annotations] == ["best"]
    assert not [shape for shape in one.layout.shapes if shape.type == "rect"]


def test_of_one_split_a_line_is_called_by_what_it_is_of_alone() -> None:
    rows = along("spearman", [True] * 5)
    figure = spearman_along(rows[rows["split"] == "test"], strength=0.0, chosen=0.0, colour={"H": "#0079BD"})
    assert [(trace.name, trace.line.dash) for trace in plot(figure).data if trace.name] == [("H", "solid")]


def test_the_held_out_split_has_the_band_and_the_dev_split_is_dashed() -> None:
    figure = spearman_along(along("spearman", [True] * 5), strength=0.0, chosen=0.0, colour={"H": "#0079BD"})
    dev, band, test = plot(figure).data
    assert band.fill == "toself"
    assert (dev.line.dash, test.line.dash) == ("dash", "solid")
    assert "95 % band 0.8 to 0.95" in test.hovertext[0]
    assert "n = 50 items" in dev.hovertext[0]


def test_dots_stand_before_first_with_their_intervals() -> None:
    table = pd.DataFrame(
        [
            {
                "name": "<i>flip</i>",
                "before": 0.2,
                "before_low": 0.1,
                "before_high": 0.4,
                "after": 0.1,
                "after_low": np.nan,
                "after_high": np.nan,
                "n": 7,
            }
        ]
    )
    before, after = plot(before_after_dots(table, colour="#0079BD", unit=" %")).data
    assert (before.name, after.name) == ("before", "after")
    assert before.y[0] < after.y[0]
    assert before.error_x.array[0] == pytest.approx(0.2)
    assert after.error_x.array is None
    assert "no interval" in after.hovertext[0]
    assert "n = 7 items" in after.hovertext[0]
