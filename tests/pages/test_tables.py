"""Tables of the pages: real minus signs and titles to read, numbers and ids to sort and to take along."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from streamlit.dataframe_util import convert_arrow_bytes_to_pandas_df
from streamlit.testing.v1 import AppTest

from pages.views.common.tables import written


def page() -> None:
    import pandas as pd
    import streamlit as st

    from pages.views.common.tables import draw_table

    frame = pd.DataFrame(
        {"family": ["vertical-flip", "my-own", None], "value": [-12.34, 3.0, float("nan")], "plain": [1.5, 2.5, 3.5],
         "count": [-1200, 3, 4], "note": [None, "a-b", "c"]}, index=[0, 0, 1],
    )  # fmt: skip
    number = st.column_config.NumberColumn
    draw_table(frame, column_config={"value": number("Value", format="%+.1f", help="why"),
                                     "plain": number("Plain", format="%.1f")})  # fmt: skip


def test_words_stand_over_values_that_stay() -> None:
    app = AppTest.from_function(page).run()
    assert not app.exception
    drawn = app.dataframe[0]
    assert drawn.value["value"].tolist()[:2] == [-12.34, 3.0]
    assert drawn.value["family"].tolist()[:2] == ["vertical-flip", "my-own"]
    words = convert_arrow_bytes_to_pandas_df(drawn.proto.arrow_data.styler.display_values)
    assert words.iloc[:, 0].tolist() == ["Upside down", "my-own", "—"]
    assert words.iloc[:, 1].tolist() == ["−12.3", "+3.0", "—"]
    assert words.iloc[:, 3].tolist() == ["−1200", "3", "4"]
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


def test_numbers_of_numpy_are_written_alike() -> None:
    assert written(np.float32(-2), form="%d") == "−2" == written(pd.Series([-2])[0], form="%d")
