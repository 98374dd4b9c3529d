"""Every format says the same, escapes what it must, and needs nothing from outside."""

import errno
import os
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.charts.spec import Figure
from core.charts.still import drawing
from core.errors import InvalidInput, StoreError
from core.report import html, report_files
from core.report.build import build
from core.report.document import Column, Missing, Report, Table, cells, number
from core.report.fairness_card import card_report
from core.report.report_files import write
from core.settings import ROOT
from core.store.store import Store
from tests.analysis.made_runs import audited, write_run

EXAMPLE = ROOT / "docs" / "example-report"
VOID = {"meta", "br", "img", "link", "path", "circle", "rect", "line", "use"}
NASTY = "a|b_c%d & <script>alert(1)</script> {x} $y$ #1 ~ ^ \\ `z` *w* [v](u)"


def small(text: str = "name") -> Report:
    frame = pd.DataFrame({"who": [text], "value": [-1.25], "low": [-2.0], "high": [float("nan")], "n": [3]})
    columns = (
        Column("who", "Who", kind="text"),
        Column("n", "n", digits=0),
        Column("value", "% change", low="low", high="high"),
    )
    figure = pd.DataFrame(
        {"label": [text], "series": [text], "panel": [""], "value": [1.0], "low": [0.5], "high": [2.0], "n": [3]}
    )
    return Report(
        text,
        "invariscope:0.1.0|sha:0",
        {"Runs": text},
        (Table("T1", text, text, frame, columns, text),),
        (),
        (Missing("T2", text, text),),
        plane=Figure("C-plane", text, text, figure, text),
        short=(Table("T1", text, text, frame, columns, text),),
        lacks=(text,),
    )


@pytest.mark.parametrize("at", range(1, 8))
def test_a_report_on_a_disk_that_fills_up_is_the_old_one(
    folder: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    """A report is written over another, and its n-th file finds the disk full."""

    def content() -> dict[str, bytes]:
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    write(small("old"), folder, formats=("md",))
    before, calls, real = content(), [0], Path.write_bytes

    def write_bytes(path: Path, data: bytes) -> int:
        calls[0] += 1
        if calls[0] == at:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(path, data)

    monkeypatch.setattr(Path, "write_bytes", write_bytes)
    if at <= len(before):
        with pytest.raises(StoreError, match="the disk is full"):
            write(small("new"), folder, formats=("md",))
    assert content() == before
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


class Balance(HTMLParser):
    """Counts the tags that are open, and collects what the document says."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.said: list[str] = []

    def handle_starttag(self, tag: str, attrs: list) -> None:
        self.seen.append(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.said.append(data)


def balanced(text: str) -> bool:
    """Whether unescaped braces close in order, and dollars in pairs."""
    bare = re.sub(r"\\[\\{}$&#%_]", "", text)
    depth = 0
    for character in bare:
        depth += {"{": 1, "}": -1}.get(character, 0)
        if depth < 0:
            return False
    return depth == 0 and bare.count("$") % 2 == 0


def test_the_demo_report_is_whole_latex(demo_report: Report) -> None:
    text = report_files.latex(demo_report)
    assert balanced(text)
    for name in ("document", "longtable", "itemize"):
        assert text.count(rf"\begin{{{name}}}") == text.count(rf"\end{{{name}}}") > 0
    for block in re.findall(r"\\begin{longtable}{@{}([lr]+)@{}}(.*?)\\end{longtable}", text, re.DOTALL):
        for line in block[1].splitlines():
            if line.endswith(r"\\"):
                assert len(re.findall(r"(?<!\\)&", line)) == len(block[0]) - 1
    assert text.isascii() or not set(re.findall(r"[^\x00-\x7f]", text)) - set("é")


def test_latex_escapes_everything() -> None:
    text = report_files.latex(small(NASTY))
    assert balanced(text)
    assert r"a$|$b\_c\%d \& $<$script$>$" in text


@given(st.text(max_size=60))
@example("₁ of a_b² \\$5")
def test_whatever_a_name_holds_latex_stays_balanced(text: str) -> None:
    escaped = report_files.latex_escaped(text)
    assert balanced(escaped)
    words = re.sub(r"(?<!\\)\$[^$]*\$", "", escaped)  # ₁ is typeset as a formula, with its own mark of a subscript
    assert not re.search(r"(?<!\\)[%&#_]", words)


def test_html_is_balanced_and_runs_no_name(demo_report: Report) -> None:
    for text in (html.html(small(NASTY)), html.html(demo_report)):
        parser = Balance()
        parser.feed(text)
        assert parser.open == []
        assert "script" not in parser.seen
    assert "&lt;script&gt;" in html.html(small(NASTY))


def test_html_asks_nothing_of_outside_and_folds_what_is_not_read_at_once(demo_report: Report) -> None:
    text = html.html(demo_report)
    assert not re.search(r'(?:src|href)="(?:https?:)?//', text)
    assert "default-src 'none'" in text
    assert "<script" not in text
    assert text.count("<details>") == len(demo_report.short) + 2
    assert text.index("<svg") < text.index("<details>")


def test_markdown_has_as_many_cells_in_every_row(demo_report: Report) -> None:
    for report in (demo_report, small(NASTY)):
        for block in re.findall(r"(?:^\|.*\|\n)+", report_files.markdown(report), re.MULTILINE):
            counts = {len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}
            assert len(counts) == 1
    assert "<script>" not in report_files.markdown(small(NASTY)).replace(r"\<script\>", "")


@pytest.mark.parametrize(
    ("written", "escape"),
    [
        (report_files.markdown, report_files.markdown_escaped),
        (report_files.latex, report_files.latex_escaped),
        (html.html, html.escape),
    ],
    ids=["markdown", "latex", "html"],
)
def test_every_format_says_every_number_of_the_short_tables(demo_report: Report, written, escape) -> None:
    text = written(demo_report)
    for table in demo_report.short:
        for row in cells(table):
            assert all(escape(cell) in text for cell in row), (table.id, row)


def test_cells_write_intervals_changes_and_what_is_missing() -> None:
    frame = pd.DataFrame(
        {
            "a": [1.0, float("nan")],
            "a_low": [0.5, float("nan")],
            "a_high": [1.5, float("nan")],
            "b": [0.25, 2.0],
            "b_low": [0.1, float("nan")],
            "b_high": [0.4, 3.0],
            "t": ["x", None],
            "p": [1e-6, 0.5],
        }
    )
    columns = (
        Column("a", "", low="a_low", high="a_high", to="b"),
        Column("t", "", kind="text"),
        Column("p", "", kind="p"),
    )
    assert cells(Table("T", "", "", frame, columns)) == [
        ["1.00 [0.50, 1.50] → 0.25 [0.10, 0.40]", "x", "<0.001"],
        ["— → 2.00", "—", "0.500"],
    ]
    assert number(-0.0004, digits=3) == "0.000"


@pytest.mark.parametrize(
    ("value", "digits", "written"),
    [
        (8.305713612094e202, 4, "8.306e202"),
        (-1e200, 2, "−1.000e200"),
        (8119051769831.36, 4, "8.119e12"),
        (25743016.0, 0, "25743016"),
        (9999999.4, 1, "9999999.4"),
    ],
)
def test_a_number_too_long_to_read_is_written_by_its_power_of_ten(value: float, digits: int, written: str) -> None:
    assert number(value, digits=digits) == written


def test_a_name_with_a_dollar_is_drawn_as_it_is() -> None:
    assert b"$y$" in drawing(small("$y$").plane)


def test_a_report_is_written_with_its_figure_and_its_data_listed_in_a_line_each(
    paper_report: Report, folder: Path
) -> None:
    written = write(paper_report, folder, formats=("md", "latex"))
    assert all(path.is_file() for path in written)
    links = re.findall(r"!\[[^]]*\]\(([^)]+)\)", (folder / "report.md").read_text("utf-8"))
    links += re.findall(r"{(figures/[^}]+)}", (folder / "report.tex").read_text("utf-8"))
    assert links == ["figures/C-plane.svg", "figures/C-plane.pdf"]
    assert {path.name for path in (folder / "figures").iterdir()} == {"C-plane.svg", "C-plane.pdf"}
    index = (folder / "data" / "INDEX.md").read_text("utf-8")
    for table in (*paper_report.tables, *paper_report.details):
        read = pd.read_csv(folder / "data" / f"{table.id}.csv")
        whole = pd.read_parquet(folder / "data" / f"{table.id}.parquet")
        assert len(read) == len(whole) == len(table.frame)
        assert list(read) == list(whole)
        (line,) = [each for each in index.splitlines() if each.startswith(f"| {table.id} |")]
        assert f"| {len(table.frame)} | {table.id}.csv, {table.id}.parquet |" in line
        for name in (each.name for each in table.columns if each.kind == "text"):
            there = np.array([value not in ("", None) and value == value for value in table.frame[name]])
            assert (read[name].notna() == there).all(), (table.id, name)
    for id_ in paper_report.unmade:
        assert f"| {id_} |" in index
    assert index.count("with --tables all") == len(paper_report.unmade) > 20
    notes = (folder / "data" / "NOTES.md").read_text("utf-8")
    assert all(f"**{table.id}**" in notes for table in paper_report.tables)
    assert not (folder / "report.html").exists()


def test_every_figure_is_drawn_where_it_was_asked_for(made_small: Store, folder: Path) -> None:
    report = build(made_small)
    write(report, folder, formats=("md",))
    drawn = {path.stem for path in (folder / "figures").iterdir()}
    assert drawn == {each.id for each in report.figures} | {"C-plane"}
    assert all((folder / "data" / f"{each.id}-marks.csv").is_file() for each in report.figures)


@pytest.fixture
def made_small(tmp_path: Path) -> Iterator[Store]:
    with Store.open(write_run(tmp_path / "small", audited("vflip", "rotate-5", "rotate+5", items=12))) as store:
        yield store


@pytest.mark.parametrize("formats", [(), ("pdf",)])
def test_formats_that_are_not_known_are_refused(demo_report: Report, folder: Path, formats: tuple[str, ...]) -> None:
    with pytest.raises(InvalidInput, match="formats are md, html, latex"):
        write(demo_report, folder, formats=formats)


def test_the_example_under_docs_is_what_the_shipped_run_gives(paper_report: Report) -> None:
    """After a change that moves a number: make examples."""
    assert (EXAMPLE / "report.md").read_text("utf-8") == report_files.markdown(paper_report)
    assert {path.stem for path in (EXAMPLE / "data").glob("*.csv")} == {each.id for each in paper_report.tables}


def test_the_card_is_one_balanced_page_with_every_worst_family(demo: Store) -> None:
    text = card_report(demo)
    parser = Balance()
    parser.feed(text)
    assert parser.open == []
    assert "script" not in parser.seen
    assert not re.search(r"src=|@import", text)
    assert not re.search(r"href=|url\(", text)
    said = " ".join(parser.said)
    for name in (
        "conse-lite0",
        "conse-lite2",
        "grounding-judge",
        "vertical-flip (of 5, the worst in",
        "a word that may be true",
        "invariscope:0.1.0|runs:demo",
    ):
        assert name in said
    assert "size: A4" in text


def test_the_card_is_one_screen_a_row_an_evaluator_and_axis(demo: Store) -> None:
    """1280 px hold some 170 letters a line at its size; 800 px some 40 lines."""
    seen = re.sub(r"<details>.*?</details>", "", card_report(demo), flags=re.DOTALL)
    rows = re.findall(r"<tr>.*?</tr>", seen)
    assert len(rows) == 1 + 3 * 2
    texts = [[re.sub(r"<[^>]+>", "", cell) for cell in re.findall(r"<t[dh].*?</t[dh]>", row)] for row in rows]
    lines = sum(1 + max(map(len, row)) // 40 for row in texts)
    assert lines < 34
    assert "<svg" not in seen


def test_an_empty_store_has_no_card() -> None:
    with Store.open([]) as empty, pytest.raises(InvalidInput, match="no run has a score"):
        card_report(empty)
