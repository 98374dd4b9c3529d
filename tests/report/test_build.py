"""What a report holds, what it says that it cannot hold, and whether its numbers are those of the analysis."""

import re

import numpy as np
import pytest

from core.analysis.flip_risk import flip_risk
from core.audit.store import Store
from core.errors import InvalidInput
from core.report.build import build
from core.report.cells import cells
from core.report.model import Report

PAPER_TABLES = {f"Table {number}" for number in range(2, 18)}
PAPER_FIGURES = {f"Figure {number}" for number in range(2, 16)}


def papers(report: Report) -> set[str]:
    everything = [*report.tables, *report.figures, *report.missing]
    return {found.group() for each in everything if (found := re.match(r"(Table|Figure) \d+", each.paper))}


@pytest.mark.parametrize("which", ["demo_report", "several_report"])
def test_every_table_and_figure_of_the_paper_is_made_or_named_with_a_reason(
    which: str, request: pytest.FixtureRequest
) -> None:
    report: Report = request.getfixturevalue(which)
    assert papers(report) == PAPER_TABLES | PAPER_FIGURES
    assert all(each.reason for each in report.missing)


def test_one_corpus_lacks_what_compares_corpora_and_several_do_not(demo_report: Report, several_report: Report) -> None:
    across = {"T9", "T10", "T11", "T12", "F9", "F10"}
    assert {each.id for each in demo_report.missing} == across | {"T17"}
    assert {each.id for each in several_report.missing} == {"T17"}
    assert across <= {each.id for each in (*several_report.tables, *several_report.figures)}


@pytest.mark.parametrize("which", ["demo_report", "several_report"])
def test_ids_are_unique_and_no_table_is_empty(which: str, request: pytest.FixtureRequest) -> None:
    report: Report = request.getfixturevalue(which)
    ids = [each.id for each in (*report.tables, *report.figures)]
    assert len(ids) == len(set(ids))
    for table in report.tables:
        assert len(table.frame) > 0, table.id
        assert table.note
        assert {column.name for column in table.columns} <= set(table.frame), table.id
        assert all(len(row) == len(table.columns) for row in cells(table))
    for figure in report.figures:
        assert {"label", "series", "panel", "value", "low", "high", "n"} <= set(figure.frame), figure.id


def test_every_number_with_an_interval_has_its_n(demo_report: Report) -> None:
    for table in demo_report.tables:
        if any(column.low for column in table.columns):
            names = {column.name for column in table.columns}
            assert names & {"n", "n_items"}, table.id


def test_intervals_hold_their_estimate(demo_report: Report) -> None:
    for table in demo_report.tables:
        for column in table.columns:
            if column.low and not column.to:
                frame = table.frame.dropna(subset=[column.low])
                assert (frame[column.low] <= frame[column.name] + 1e-9).all(), table.id
                assert (frame[column.name] <= frame[column.high] + 1e-9).all(), table.id


def test_flip_risk_is_that_of_the_stored_shifts(demo_report: Report, demo: Store) -> None:
    table = next(each for each in demo_report.tables if each.id == "T13").frame
    rows = demo.query("select evaluator, family, item, delta from shifts where not control and axis <> 'null'")
    for _, cell in table.iterrows():
        part = rows[(rows["evaluator"] == cell["evaluator"]) & (rows["family"] == cell["family"])]
        expected = 100 * flip_risk(part["delta"], [cell["d"]], items=part["item"])[0]
        assert cell["risk"] == pytest.approx(expected, abs=1e-9)
        assert cell["risk"] <= 50


def test_the_gap_is_the_same_number_on_every_scale(demo_report: Report) -> None:
    table = next(each for each in demo_report.tables if each.id == "T13").frame
    sizes = table.groupby("evaluator")["d"].first()
    assert sizes["conse-lite0"] == pytest.approx(0.007)
    assert sizes["grounding-judge"] == pytest.approx(0.007)


def test_the_economic_table_leaves_persons_out(demo_report: Report, demo: Store) -> None:
    table = next(each for each in demo_report.tables if each.id == "T8").frame
    rows = demo.query(
        "select median(percent) as m from shifts where modifier = 'cheap' and evaluator = 'conse-lite0' "
        "and category <> 'person' and not control"
    )
    cell = table[(table["group"] == "cheap") & (table["evaluator"] == "conse-lite0")]
    assert cell["median_percent"].item() == pytest.approx(float(rows["m"].iloc[0]))


def test_calibration_is_reported_on_the_split_that_it_did_not_learn_from(demo_report: Report) -> None:
    table = next(each for each in demo_report.tables if each.id == "T16").frame
    assert table["n"].max() < 252
    assert np.isfinite(table[["before", "after"]].to_numpy(float)).all()


def test_no_run_and_an_unknown_run_are_refused(demo: Store) -> None:
    with pytest.raises(InvalidInput, match="name a run"):
        build(demo, [])
    with pytest.raises(InvalidInput, match="no run 'x' here; there are: demo"):
        build(demo, ["x"])
    with Store.open([]) as empty, pytest.raises(InvalidInput, match="name a run"):
        build(empty)


def test_a_subject_that_was_not_scored_is_refused(demo: Store) -> None:
    with pytest.raises(InvalidInput, match="no score of subject 'human'"):
        build(demo, subject="human")
