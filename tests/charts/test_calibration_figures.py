import numpy as np
import pandas as pd
import pytest

from core.charts.interactive import plot
from core.features.calibration.calibration_figures import before_after_dots, sensitivity_along, spearman_along

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
