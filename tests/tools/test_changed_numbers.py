"""The page of changed numbers is that of the report that stands beside it."""

import pandas as pd
import pytest

from tools.changed_numbers import DOCS, FILE, PAGE, WHY, file, numbers, page, said


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    return numbers()


def test_page_and_file_are_what_the_tool_writes_now(rows: pd.DataFrame) -> None:
    assert PAGE.read_text(encoding="utf-8") == page(rows)
    assert FILE.read_text(encoding="utf-8") == file(rows)


def test_every_first_number_is_told_once_and_nearly_all_are_still_published(rows: pd.DataFrame) -> None:
    assert len(rows) == len(pd.read_csv(DOCS / "first-numbers.csv"))
    gone = rows[rows["why"] == "f"]
    either = {("T2", f"without the top {share} % by either") for share in (5, 10)}  # it is by seam or fill now
    assert set(zip(gone["table"], gone["row"], strict=True)) == {("S1", "base")} | either


def test_a_number_has_a_reason_that_is_explained_where_it_reads_otherwise_and_none_elsewhere(
    rows: pd.DataFrame,
) -> None:
    for row in rows.to_dict("records"):
        assert set(row["why"].split()) <= set(WHY)
        assert bool(row["why"]) == (said(row, "") != said(row, "_now")), row


def test_the_numbers_are_those_that_the_report_prints(rows: pd.DataFrame) -> None:
    s1 = pd.read_csv(DOCS / "example-report" / "data" / "S1.csv").set_index(["evaluator", "label"])
    kept = rows[(rows["table"] == "S1") & (rows["quantity"] == "median %Δ") & (rows["row"] != "base")]
    for row in kept.to_dict("records"):
        label = "'null'" if row["row"] == "null" else row["row"]
        there = s1.loc[(row["evaluator"], label if label in s1.loc[row["evaluator"]].index else row["row"])]
        assert (row["value_now"], row["n_now"]) == pytest.approx((there["median_percent"], there["n_items"]))
