"""Columns beside rows, as pandas' merge puts them there."""

import math

import pandas as pd
import pytest

from core.analysis.facts import keyed, looked_up
from core.errors import InvalidInput

ROWS = pd.DataFrame({"run": ["a", "b", "a", "c"], "evaluator": ["e", "e", "f", "e"], "n": [1, 2, 3, 4]})
KNOWN = pd.DataFrame({"run": ["b", "a"], "evaluator": ["e", "f"], "sd": [0.5, 2.0], "said": ["x", "y"]})
NAMES = ("run", "evaluator")


def test_rows_are_as_after_a_left_merge() -> None:
    known = zip(keyed(KNOWN, NAMES), keyed(KNOWN, ("sd", "said")), strict=True)
    found = looked_up(ROWS, keyed(ROWS, NAMES), known, {"sd": math.nan, "said": ""})
    merged = ROWS.merge(KNOWN, on=list(NAMES), how="left").fillna({"said": ""})
    pd.testing.assert_frame_equal(found, merged)


def test_no_rows_have_the_columns() -> None:
    found = looked_up(ROWS.head(0), [], [], {"sd": math.nan})
    assert (len(found), list(found)) == (0, ["run", "evaluator", "n", "sd"])


def test_a_key_that_is_known_twice_is_refused() -> None:
    twice = [(("a", "e"), (1.0,)), (("a", "e"), (2.0,))]
    with pytest.raises(InvalidInput, match="of 2 keys that rows are looked up by 1 come again"):
        looked_up(ROWS, keyed(ROWS, NAMES), twice, {"sd": math.nan})
