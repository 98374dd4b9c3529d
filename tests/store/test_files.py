"""What is written as a whole file: texts of a CSV are texts again when a usual reader reads them."""

import io

import pandas as pd

from core.store.files import csv_text


def test_a_name_that_a_reader_takes_for_nothing_is_still_a_name() -> None:
    names = ["null", "NA", "None", "nan", "n/a", "blur", "none", None, ""]
    table = pd.DataFrame({"family": names, "kind": pd.Categorical(["null"] * 9), "value": [0.1] * 8 + [None]})
    read = pd.read_csv(io.StringIO(csv_text(table)))
    assert read["family"].isna().tolist() == [False] * 7 + [True, True]
    assert read["family"].tolist()[:7] == ["'null'", "'NA'", "'None'", "'nan'", "'n/a'", "blur", "none"]
    assert set(read["kind"]) == {"'null'"}
    assert read["value"].isna().sum() == 1
    assert table["family"].tolist()[0] == "null"


def test_digits_are_those_asked_for() -> None:
    assert csv_text(pd.DataFrame({"x": [1 / 3], "n": [3]}), digits=4) == "x,n\n0.3333,3\n"
    assert csv_text(pd.DataFrame({"x": [1 / 3]})) == "x\n0.3333333333333333\n"
