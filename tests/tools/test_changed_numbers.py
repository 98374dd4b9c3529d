"""The page of changed numbers is that of the report that stands beside it."""

import pandas as pd

from tools.changed_numbers import DOCS, PAGE, WHY, numbers, page, why


def test_the_page_is_the_one_that_the_tool_writes_now() -> None:
    assert PAGE.read_text(encoding="utf-8") == page()


def test_every_row_that_reads_otherwise_has_a_reason_that_is_explained() -> None:
    rows = numbers()
    assert len(rows) == len(pd.read_csv(DOCS / "first-numbers.csv"))
    for row in rows.to_dict("records"):
        told = why(row)
        same = all(row[name] == row[f"{name}_now"] for name in ("n_items", "median_percent", "low", "high"))
        assert set(told.split()) <= set(WHY)
        assert not (told and same)
