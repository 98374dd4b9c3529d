"""Marks stand beside their labels, none hides another, and those without an interval are open."""

import itertools

import numpy as np
import pandas as pd
import pytest

from core.charts.panels import colour_span, hollow, panels, reach
from core.charts.spec import COLUMNS, Figure

NAMES = ["vertical-flip", "rotation", "reposition"]


def frame() -> pd.DataFrame:
    cells = itertools.product(NAMES, ["conse-lite0", "judge"], ["coco", "own"])
    rows = [
        (label, series, panel, float(place), place - 0.5, place + 1.0, 7 + place % 2)
        for place, (panel, label, series) in enumerate(cells)
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def figure(data: pd.DataFrame | None = None, **how) -> Figure:
    return Figure("F1", "", "", frame() if data is None else data, "median % change", **how)


def test_every_mark_has_a_place_of_its_own_near_its_label() -> None:
    for panel in panels(figure()):
        places = np.concatenate([marks.along for marks in panel.marks])
        assert len(set(places)) == len(places) == 4
        assert sorted(np.round(places).astype(int)) == [0, 0, 1, 1]
        assert panel.names == ("conse-lite0", "judge")


def test_series_that_lie_on_one_height_share_their_places() -> None:
    assert {tuple(marks.along) for marks in panels(figure(overlay=True))[0].marks} == {(0.0, 1.0)}


def test_panels_come_as_in_the_frame_and_a_panel_has_its_own_labels_alone() -> None:
    found = panels(figure(frame().iloc[:-2]))
    assert [panel.title for panel in found] == NAMES
    assert found[-1].names == ("conse-lite0",)
    assert found[-1].marks[0].along[0] == pytest.approx(found[0].marks[0].along[0])


def test_the_order_that_is_asked_for_comes_first() -> None:
    assert panels(figure(order=("judge", "nobody")))[0].names == ("judge", "conse-lite0")


def test_lines_over_levels_have_every_level_in_every_panel() -> None:
    found = panels(figure(frame().drop(index=[8, 9]), kind="lines"))
    assert {panel.names for panel in found} == {("conse-lite0", "judge")}
    assert np.round(found[-1].marks[0].along).tolist() == [1]


def test_lines_over_numbers_stand_at_their_numbers() -> None:
    found = panels(figure(frame().assign(label=[0.0, 0.0, 0.5, 0.5] * 3), kind="lines"))
    assert found[0].names == ()
    assert found[0].marks[0].along.tolist() == [0.0, 0.5]


def test_n_is_counted_a_label_from_fewest_to_most() -> None:
    assert panels(figure(counts=True))[0].counts == ("n 7–8", "n 7–8")
    assert panels(figure(frame().assign(n=5), counts=True))[0].counts == ("n 5", "n 5")
    assert panels(figure())[0].counts == ()


def test_a_mark_without_an_interval_among_marks_that_have_one_is_open() -> None:
    data = frame()
    data.loc[0, ["low", "high"]] = np.nan
    assert np.flatnonzero(hollow(figure(data))).tolist() == [0]
    assert not hollow(figure(data.assign(low=np.nan, high=np.nan))).any()
    assert np.flatnonzero(hollow(figure(frame().assign(hollow=frame().index == 3)))).tolist() == [3]


def test_the_mark_in_the_legend_is_a_filled_one() -> None:
    data = frame()
    data.loc[0, ["low", "high"]] = np.nan
    marks = panels(figure(data))[0].marks[0]
    assert marks.hollow.tolist() == [False, True]
    assert marks.value.tolist() == [2.0, 0.0]


def test_a_whisker_reaches_to_its_bounds_or_is_none() -> None:
    data = frame()
    data.loc[0, ["low", "high"]] = np.nan
    data.loc[2, "low"] = np.nan
    below, above = reach(panels(figure(data, overlay=True))[0].marks[0])
    assert np.isnan([below[1], above[1]]).all()
    assert (below[0], above[0]) == (0.0, 1.0)


def test_without_a_row_there_is_one_empty_panel() -> None:
    (panel,) = panels(figure(frame().iloc[:0]))
    assert (panel.title, panel.marks, panel.names) == ("", (), ())


def test_the_colours_of_shifts_run_alike_both_ways_and_those_of_a_risk_to_its_bound() -> None:
    assert colour_span(figure(kind="map", diverging=True)) == (-11.0, 11.0)
    assert colour_span(figure(kind="map", span=(0, 50))) == (0, 50)
    assert colour_span(figure(frame().iloc[:0], kind="map")) == (0.0, 1.0)
