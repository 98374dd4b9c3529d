"""Tables of the pages: real minus signs and titles to read, numbers and ids to sort and to take along."""

import json
import math
import re

import numpy as np
import pandas as pd
import pytest
from pandas.io.formats.style import Styler
from streamlit.dataframe_util import convert_anything_to_arrow_bytes, convert_arrow_bytes_to_pandas_df
from streamlit.elements.lib.pandas_styler_utils import marshall_styler
from streamlit.proto.ArrowData_pb2 import ArrowData
from streamlit.testing.v1 import AppTest

from pages.views.common.page_drawings import FAMILIES, NOTHING, _worded, _words, written


def page() -> None:
    import pandas as pd
    import streamlit as st

    from pages.views.common.page_drawings import draw_table

    frame = pd.DataFrame(
        {
            "family": ["vertical-flip", "my-own", None],
            "value": [-12.34, 3.0, float("nan")],
            "plain": [1.5, 2.5, 3.5],
            "count": [-1200, 3, 4],
            "note": [None, "a-b", "c"],
        },
        index=[0, 0, 1],
    )
    number = st.column_config.NumberColumn
    draw_table(
        frame,
        column_config={"value": number("Value", format="%+.1f", help="why"), "plain": number("Plain", format="%.1f")},
    )


def test_words_stand_over_values_that_stay() -> None:
    app = AppTest.from_function(page).run()
    assert not app.exception
    drawn = app.dataframe[0]
    assert drawn.value["value"].tolist()[:2] == [-12.34, 3.0]
    assert drawn.value["family"].tolist()[:2] == ["vertical-flip", "my-own"]
    words = convert_arrow_bytes_to_pandas_df(drawn.proto.arrow_data.styler.display_values)
    assert words.iloc[:, 0].tolist() == ["Upside down", "my-own", "—"]
    assert words.iloc[:, 1].tolist() == ["−12.3", "+3.0", "—"]
    assert words.iloc[:, 3].tolist() == ["−1,200", "3", "4"]
    looks = json.loads(drawn.proto.columns)
    assert looks["value"]["type_config"] == {"type": "number"}
    assert (looks["value"]["label"], looks["value"]["help"]) == ("Value", "why")
    assert looks["plain"]["type_config"]["format"] == "%.1f"
    assert drawn.proto.placeholder == "—"


@pytest.mark.parametrize("value", [-0.5, 0.5, -1e9, math.inf, -math.inf])
def test_a_written_number_reads_as_what_it_is(value: float) -> None:
    said = written(value, form="%.3f")
    assert "-" not in said
    assert float(said.replace("−", "-")) == pytest.approx(value)


def test_whole_numbers_have_commas_and_a_column_of_numbers_is_none_of_families() -> None:
    frame = pd.DataFrame({"n": [2196, 8], "half": [1200.4, 1.0], "nuisance": [0.1, 0.117], "few": [1, 2]})
    words = _words(frame, {"half": {"type_config": {"type": "number", "format": "%.0f"}}}, FAMILIES)
    assert {name: [write(each) for each in frame[name]] for name, write in words.items()} == {
        "n": ["2,196", "8"],
        "half": ["1,200", "1"],
    }
    assert written(1234.5, form="%.1f") == "1234.5"
    assert written(-1234567, form="%+d") == "−1,234,567"


def test_numbers_of_numpy_are_written_alike() -> None:
    assert written(np.float32(-2), form="%d") == "−2" == written(pd.Series([-2])[0], form="%d")


def _sent(styled: Styler) -> tuple[pd.DataFrame, str]:
    proto = ArrowData()
    marshall_styler(proto, styled, "same")
    return convert_arrow_bytes_to_pandas_df(proto.styler.display_values), proto.styler.styles


def test_the_words_are_those_that_pandas_would_write() -> None:
    frame = pd.DataFrame(
        {
            "family": ["vertical-flip", "blur", None],
            "down": [-1.5, np.nan, 2.0],
            "up": [0.123456789, 1, 2],
            "count": [1, 2, 3],
            "text": ["a", None, "b"],
            "mixed": pd.Series([1.25, "z", 2], dtype=object),
            "holes": pd.Series([1.25, "z", None], dtype=object),
            "flag": [True, False, True],
            "whole": pd.array([1, None, -3], dtype="Int64"),
            "kind": pd.Categorical(["q", None, "r"]),
        }
    )
    words = _words(frame, {}, FAMILIES)
    assert set(words) == {"family", "down", "whole"}
    own, style = _sent(_worded(frame, words))
    usual, plain = _sent(frame.style.format(words, na_rep=NOTHING))
    pd.testing.assert_frame_equal(own, usual)
    assert style == plain == ""


def test_the_bytes_are_those_of_words_that_streamlit_sets_cell_by_cell() -> None:
    frame = pd.DataFrame(
        {
            "family": ["vertical-flip", "blur", None],
            "down": [-1.5, np.nan, 2.0],
            "same": [0.125, 1.0, np.inf],
            "count": [-1200, 2, 3],
            "text": ["a", "b", "c"],
            "flag": [True, False, True],
            "kind": pd.Categorical(["q", None, "r"]),
        },
        index=["x", "x", "y"],
    )
    words = _words(frame, {}, FAMILIES)
    protos = ArrowData(), ArrowData()
    for proto, styled in zip(protos, (_worded(frame, words), frame.style.format(words, na_rep=NOTHING)), strict=True):
        marshall_styler(proto, styled, "same")
    assert protos[0].styler.display_values == protos[1].styler.display_values
    values = [convert_anything_to_arrow_bytes(each) for each in (_worded(frame, words), frame)]
    assert values[0] == values[1]


def _unnamed(style: str) -> list[str]:
    """Rules without the name that every table has of its own."""
    return re.sub(r"#T_[0-9a-f]+_", "", style).split("\n")


def test_rows_have_the_looks_that_pandas_would_give_them() -> None:
    frame = pd.DataFrame({"down": [-1.5, 2.0, 3.0], "text": ["a", "b", "c"]})
    looks = ["", "color: grey", "background-color: rgba(0,0,0,0.1)"]
    words = _words(frame, {}, FAMILIES)
    rows = pd.DataFrame([[look] * 2 for look in looks], columns=frame.columns)
    own, style = _sent(_worded(frame, words, looks))
    usual, expected = _sent(frame.style.format(words, na_rep=NOTHING).apply(lambda _: rows, axis=None))
    pd.testing.assert_frame_equal(own, usual)
    assert {*_unnamed(style)} == {*_unnamed(expected)}
    assert "row1_col0" in style
