import math

import pandas as pd
import pytest

from core.charts.interactive import plot
from core.charts.spec import Axis
from core.features.lab.lab_figures import (
    BROKEN,
    CAPTION,
    DROPS,
    PERCENT,
    PICTURE,
    STAYS,
    WORD,
    group_of,
    is_cut,
    shift_bars,
    shift_curves,
)
from core.probes.registry import catalogue


def rows(**columns: list) -> pd.DataFrame:
    n = len(columns["percent"])
    usual = {
        "probe": [f"probe-{index}" for index in range(n)],
        "caption": ["x"] * n,
        "score": [0.5] * n,
        "baseline_score": [0.5] * n,
        "delta": [0.0] * n,
        "in_null_band": [None] * n,
        "verdict": [""] * n,
        "reason": [""] * n,
    }
    return pd.DataFrame({**usual, **columns})


def test_bars_keep_the_order_of_the_rows_and_carry_their_number() -> None:
    figure = plot(shift_bars(rows(percent=[3.0, -1.0, 0.0]), low=-0.5, high=0.5, colour="#0079BD"))
    bar = figure.data[0]
    assert list(figure.layout.yaxis.ticktext) == ["probe-0", "probe-1", "probe-2"]
    assert list(bar.x) == [3.0, -1.0, 0.0]
    assert list(bar.text) == ["+3.0 %", "−1.0 %", "0.0 %"]


def test_the_null_band_is_drawn_where_it_lies() -> None:
    figure = shift_bars(rows(percent=[3.0]), low=-0.5, high=0.25, colour="#0079BD")
    assert [(shade.low, shade.high) for shade in figure.shades] == [(-0.5, 0.25)]


def test_without_null_edits_no_band_is_drawn() -> None:
    figure = shift_bars(rows(percent=[3.0]), low=math.nan, high=math.nan, colour="#0079BD")
    assert not figure.shades


def test_a_shift_inside_the_band_is_faint() -> None:
    figure = shift_bars(rows(percent=[3.0, 0.1], in_null_band=[False, True]), low=-1, high=1, colour="#0079BD")
    assert list(plot(figure).data[0].marker.color) == ["rgba(0,121,189,1)", "rgba(0,121,189,0.2)"]


def test_a_probe_without_percent_change_has_a_dash_and_its_reason() -> None:
    table = rows(percent=[None, 2.0], score=[None, 0.4], reason=["the <b>mask</b> is missing", ""])
    bar = plot(shift_bars(table, low=-1, high=1, colour="#0079BD")).data[0]
    assert bar.text[0] == "—"
    assert "the &lt;b&gt;mask&lt;/b&gt; is missing" in bar.hovertext[0]


def test_every_hover_states_the_n_behind_it() -> None:
    bar = plot(shift_bars(rows(percent=[3.0]), low=-1, high=1, colour="#0079BD")).data[0]
    assert "n = 1 image" in bar.hovertext[0]


@pytest.mark.parametrize("percents", [[5.0, 1.0], [-5.0, -1.0], [5.0, -80.0], [0.0, 0.0], [None, None]])
def test_every_bar_and_the_band_fit_on_the_axis(percents: list) -> None:
    low, high = shift_bars(rows(percent=percents), low=-0.5, high=0.5, colour="#0079BD").span
    values = [value for value in percents if value is not None]
    assert low < min(-0.5, *values, 0) <= max(0.5, *values, 0) < high


def test_edits_stand_in_groups_by_what_they_edit_and_broken_meanings_by_themselves() -> None:
    expected = {
        "vflip": PICTURE,
        "cultural:African": WORD,
        "cultural:ordinary": CAPTION,
        "base": CAPTION,
        "order": BROKEN,
    }
    assert {name: group_of(catalogue().get(name)) for name in expected} == expected


def test_a_broken_meaning_is_coloured_by_whether_the_score_drops() -> None:
    table = rows(
        percent=[-9.0, 3.0, 0.1, 0.0],
        dropped=[True, None, None, False],
        in_null_band=[True, False, True, True],
        verdict=["", "more than noise", "within noise", "broken meaning: does not drop"],
    )
    figure = shift_bars(table, low=-1, high=1, colour="#0079BD")
    assert figure.frame["series"].tolist() == [DROPS, PERCENT, PERCENT, STAYS]
    # the noise band says nothing of a claim that the score must drop
    assert figure.frame["hollow"].tolist() == [False, False, True, False]
    assert figure.overlay
    assert figure.frame["hover"].iloc[3].endswith("\nbroken meaning: does not drop")
    bars = {bar.name: bar for bar in plot(figure).data if bar.type == "bar"}
    assert set(bars) == {PERCENT, DROPS, STAYS}
    assert len({bar.width for bar in bars.values()}) == 1
    assert len({str(bar.marker.color) for bar in (bars[DROPS], bars[STAYS])}) == 2


def test_a_curve_has_a_point_for_every_strength_that_has_a_percent_in_rising_order() -> None:
    rows = pd.DataFrame(
        {
            "probe": ["zoom:zoom10", "zoom:zoom1", "zoom:zoom5", "vflip", "zoom:zoom1"],
            "evaluator": ["a", "a", "a", "a", "b"],
            "percent": [4.0, 1.0, None, 9.0, -2.0],
        }
    )
    points = {1.0: "zoom:zoom1", 5.0: "zoom:zoom5", 10.0: "zoom:zoom10"}
    figure = shift_curves(
        rows,
        points,
        title="zoom",
        along=Axis("enlargement", " %"),
        colours={"a": "#112233"},
        reaches={"a": 0.5, "b": math.nan, "c": 2.0},
    )
    drawn = figure.frame[["series", "label", "value"]].to_records(index=False).tolist()
    assert drawn == [("a", 1.0, 1.0), ("a", 10.0, 4.0), ("b", 1.0, -2.0)]
    assert figure.styles["a"].colour == "#112233"
    assert len(plot(figure).data) == 2
    assert [(shade.low, shade.high, shade.colour) for shade in figure.shades] == [(-0.5, 0.5, "#112233")]
    assert "Shaded: each evaluator's noise band" in figure.note


def test_a_null_band_that_would_leave_the_bars_no_room_is_cut_and_said_to_be() -> None:
    few = rows(percent=[-1.0])
    wide, fitting = (shift_bars(few, low=-reach, high=reach, colour="#0072b2") for reach in (37.0, 1.2))
    assert is_cut(wide)
    assert not is_cut(fitting)
