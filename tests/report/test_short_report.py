"""A report that is read: how long it may be, how wide its tables, and what it says that a run cannot give."""

import re
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from core.charts.spec import Figure
from core.report.build import MOST_COLUMNS, MOST_LETTERS, MOST_ROWS, build, short_tables
from core.report.document import SHORT, Column, Report, Table, cells, headlines, number
from core.report.report_files import markdown, write
from core.settings import ROOT
from core.store.store import Store
from tests.analysis.broken_runs import rows_of, write_broken
from tests.analysis.made_runs import audited, write_run

EXAMPLES = {"example-report": 6000, "example-contrast": 8000}
"""Example under docs -> most words of its report."""


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_is_short_and_its_folder_small(name: str) -> None:
    folder = ROOT / "docs" / name
    assert len((folder / "report.md").read_text("utf-8").split()) <= EXAMPLES[name]
    assert sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) <= 3_000_000
    index = (folder / "data" / "INDEX.md").read_text("utf-8")
    assert ".parquet" not in index
    assert not [*folder.rglob("*.parquet")]  # each table once
    for path in (folder / "data").glob("*.csv"):
        assert f"| {path.stem} |" in index


def rows(report: Report) -> Iterator[tuple[str, list[str]]]:
    for table in report.short:
        assert len(table.columns) <= MOST_COLUMNS, table.id
        assert len(table.frame) <= max(MOST_ROWS, len({*report.about["Evaluators"].split(", ")})), table.id
        for row in cells(table):
            yield table.id, row


@pytest.fixture(scope="session", params=["demo", "several", "many", "broken"])
def report(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Report:
    if request.param == "demo":
        return request.getfixturevalue("paper_report")
    if request.param == "several":
        return request.getfixturevalue("several_report")
    folder = tmp_path_factory.mktemp("short") / "r"
    if request.param == "broken":
        write_broken(folder, rows_of(("e", "truth")))
    else:
        names = [f"evaluator-{place}" for place in range(11)]
        write_run(folder, [row for each in names for row in audited("vflip", "rotate-5", "rotate+5", evaluator=each)])
    with Store.open(folder) as store:
        return build(store, whole=False, figures=False)


def test_every_row_of_every_table_is_readable(report: Report) -> None:
    told = list(rows(report))
    assert told
    for id_, row in told:
        assert all(len(cell) <= MOST_LETTERS for cell in row), (id_, row)
    assert {id_ for id_, _ in told} <= set(SHORT)
    assert len(markdown(report).split()) <= 8000


def test_every_cell_is_the_number_of_its_table(paper_report: Report) -> None:
    whole = {each.id: each for each in paper_report.tables}
    for table in paper_report.short:
        known = {cell for row in cells(whole[table.id]) for cell in row} | {"—"}
        for name in {"conse-lite0", "conse-lite2", "grounding-judge"} & set(table.frame):
            assert set(table.frame[name]) <= known, (table.id, name)


def test_a_headline_number_is_the_one_that_the_short_table_shows(paper_report: Report) -> None:
    held = {each.id: each for each in headlines(paper_report).questions}
    assert {"T2", "T3", "T5", "T7", "T13", "T14", "S1"} <= set(held)
    for table in paper_report.short:
        if table.id not in held or "before → after" in held[table.id].of:
            continue
        shown = {text for row in cells(table) for text in row}
        own = held[table.id]
        told = [number(row.value, digits=own.digits, signed=own.signed) for row in own.rows]
        assert sum(any(each == text.split(" [")[0] for text in shown) for each in told) >= min(len(told), 3), table.id


def test_a_number_stands_in_the_row_and_column_of_its_family_and_evaluator(paper_report: Report) -> None:
    short = next(each for each in paper_report.short if each.id == "T7").frame.set_index("Word")
    whole = next(each for each in paper_report.tables if each.id == "T7")
    place = [each.name for each in whole.columns].index("median_percent")
    for row in cells(whole):
        assert short.loc[row[2], row[0]] == row[place]


def test_of_too_many_rows_those_of_the_most_items_stand_whatever_was_found() -> None:
    made = pd.DataFrame(
        {"evaluator": "e", "corpus": "c", "family": [f"f{at:02d}" for at in range(20)], "n_items": range(20),
         "failure": range(20, 0, -1), "failure_low": 0.0, "failure_high": 30.0}
    )  # fmt: skip
    columns = (
        Column("evaluator", "Evaluator", kind="text"),
        Column("corpus", "Corpus", kind="text"),
        Column("family", "What breaks", kind="text", help="A kind of broken meaning"),
        Column("n_items", "n", digits=0),
        Column("failure", "Failures, %", low="failure_low", high="failure_high"),
    )
    (short,) = short_tables([Table("C3", "t", "n", made, columns)], corpus="c")
    assert short.frame["What breaks"].tolist() == [f"f{at:02d}" for at in range(8, 20)]
    assert short.note == "Failures, %. A kind of broken meaning. Corpus c. 12 of 20 rows; none left out has more items."


def test_a_row_of_composites_that_drops_nothing_is_not_called_one_without_them(demo_report: Report) -> None:
    rows = next(each for each in demo_report.tables if each.id == "T2").frame
    for _, own in rows.groupby("evaluator"):
        every = own.set_index("filter")["n_items"]["none"]
        cut = own[own["label"].str.startswith("without the top")]
        assert len(cut)
        assert (cut["n_items"] < every).all()


def test_what_a_run_cannot_give_is_one_line_a_reason(report: Report) -> None:
    reasons = [re.sub(r" \([^()]*\)\.$", "", each) for each in report.lacks]
    assert len(reasons) == len(set(reasons))
    assert len(reasons) <= 15
    assert all(len(each) <= 400 and "\n" not in each for each in report.lacks)


@pytest.mark.parametrize(
    ("probes", "items", "lack"),
    [
        (("vflip",), 24, "No run has a directional probe"),
        (("vflip",), 1, "It compares corpora and the scope has one, c"),
        (("gender:boy",), 24, "No run has a vertical flip"),
    ],
    ids=["no broken meaning", "one item", "words alone"],
)
def test_a_run_that_holds_little_says_what_it_lacks_and_ranks_nobody(
    tmp_path: Path, probes: tuple[str, ...], items: int, lack: str
) -> None:
    told = [row for name in ("e", "f") for row in audited(*probes, items=items, evaluator=name)]
    with Store.open(write_run(tmp_path / "r", told, corpus={"name": "c"})) as store:
        made = build(store, whole=False, figures=False)
        write(made, tmp_path / "out")
    assert any(each.startswith(lack) for each in made.lacks), made.lacks
    text = (tmp_path / "out" / "report.md").read_text("utf-8")
    assert "Half of the question is open" in text
    assert not re.search(r"\b(rank|best|calmest)\b", text)
    assert not re.search(r"\[(\S+), \1\\?\]", text.replace("0.00, 0.00", ""))


def test_the_figure_of_one_half_has_one_axis_and_evaluators_by_name(paper_report: Report) -> None:
    plane = paper_report.plane
    assert isinstance(plane, Figure)
    assert plane.kind == "dots"
    assert plane.order == ("conse-lite0", "conse-lite2", "grounding-judge")
    assert plane.note.startswith("Half of the question is open")


def test_the_figure_of_both_halves_is_a_plane_of_the_numbers_of_the_tables(tmp_path: Path) -> None:
    with Store.open(write_broken(tmp_path / "r", rows_of(("e", "truth")))) as store:
        made = build(store)
    plane, whole = made.plane, next(each for each in made.tables if each.id == "C-selectivity").frame
    assert isinstance(plane, Figure)
    assert plane.kind == "scatter"
    for row in plane.frame.itertuples():
        (own,) = whole[(whole["evaluator"] == row.label) & (whole["of"] == "untold")].to_dict("records")
        assert (row.x, row.value) == (own["nuisance"], own["signal"])
        assert row.panel == "no comparison is verified, these are untold"
