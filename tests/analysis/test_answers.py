"""What a figure of Findings answers, in a sentence."""

import pandas as pd
import pytest

from core.analysis.questions import artefacts, controls, families
from core.analysis.verdicts import CONSTANT, SCATTERS, TOO_FEW


def test_families_are_counted_by_their_verdict_and_controls_are_not_counted() -> None:
    rows = pd.DataFrame(
        {
            "evaluator": ["a", "a", "a", "b", "b", "b"],
            "corpus": "c",
            "axis": ["spatial", "spatial", "null"] * 2,
            "label": ["vertical-flip", "blur", "null"] * 2,
            "tests": ["x", "", "x"] * 2,
            "scatter": [SCATTERS, SCATTERS, SCATTERS, TOO_FEW, SCATTERS, TOO_FEW],
        }
    )
    assert (
        families.changed(rows, 2.5) == "Surely changed by more than 2.5 %: a under 1 of 1 kind of edit. "
        "Too few pictures to tell of b whether an edit changes a score by more than 2.5 %."
    )
    few = families.changed(rows.assign(scatter=TOO_FEW), 1.0)
    assert few == "Too few pictures to tell of a and b whether an edit changes a score by more than 1 %."
    assert families.changed(rows.assign(tests=""), 1.0) == ""
    silent = rows.assign(scatter=rows["scatter"].where(rows["evaluator"] == "a", CONSTANT))
    assert families.changed(silent, 1.0) == "Surely changed by more than 1 %: a under 1 of 1 kind of edit."
    assert families.changed(pd.concat([rows, rows.assign(corpus="d")]), 1.0) == ""


@pytest.mark.parametrize(
    ("said", "value", "told"),
    [
        (controls.PASSES, 1.25, "Place changes the score more than blur: a by 1.2 points."),
        (controls.FAILS, -2.71, "Blur changes the score more than place: a by 2.7 points."),
        (controls.OPEN, 0.0, "Unclear: a."),
        (TOO_FEW, 8.0, "Unclear: a."),
    ],
)
def test_the_blur_control_says_which_changes_more_and_by_how_much(said: str, value: float, told: str) -> None:
    frame = pd.DataFrame({"evaluator": ["a"], "corpus": ["c"], "said": [said], "value": [value]})
    assert controls._says(frame, 1.0) == told


def test_filling_is_told_by_verdict() -> None:
    verdicts = [artefacts.OPEN, artefacts.ADDS, artefacts.OPEN, artefacts.STILL]
    frame = pd.DataFrame({"evaluator": list("abcd"), "corpus": "c", "said": verdicts, "share": [1.0, 12.4, -3.0, None]})
    assert artefacts._filling_says(frame, 1.0) == (
        "Filling the gap: no effect shown in a and c. Filling the gap makes a part of the change: b (12 %). "
        "Nothing moves on the filled plate, so that there is no share: d."
    )
