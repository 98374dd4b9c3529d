import math

import pandas as pd
import pytest

from core.analysis.both_demands import FALLS, FEW, NO_FALL, balance


def told(*rows: tuple[str, str, float]) -> str:
    return balance(pd.DataFrame(rows, columns=["evaluator", "falls", "ratio"]))


def test_the_balance_names_first_what_drops_furthest_beside_its_harmless_changes() -> None:
    said = told(("a", FALLS, 2.94), ("b", FALLS, 12.4), ("c", NO_FALL, 0.0), ("d", FALLS, 0.42))
    assert said == (
        "b drops 12 × as much when the meaning breaks as it changes under harmless edits, a 2.9 ×, d 0.42 ×. "
        "Typically does not drop when the meaning breaks: c."
    )


@pytest.mark.parametrize("ratio", [math.nan, math.inf])
def test_without_a_harmless_change_no_ratio_is_told(ratio: float) -> None:
    assert told(("a", FALLS, ratio)) == "Typically drops when the meaning breaks: a."


def test_few_items_and_no_metric_make_no_claim() -> None:
    assert told(("a", FEW, 3.0)) == "Has too few broken meanings to tell whether it drops at them: a."
    assert told() == ""
