"""Every format says the same, escapes what it must, and needs nothing from outside."""

import errno
import os
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from plotly.offline import get_plotlyjs

from core.analysis.overview import family_contrasts
from core.analysis.reading import read_table
from core.charts.spec import Figure
from core.charts.still import drawing
from core.errors import InvalidInput, StoreError
from core.report import html, markup
from core.report.document import Column, Missing, Report, Table, cells, number
from core.report.fairness_card import card_report
from core.report.report_files import write
from core.settings import ROOT
from core.store.store import Store

EXAMPLE = ROOT / "docs" / "example-report"
VOID = {"meta", "br", "img", "link", "path", "circle", "rect", "line", "use"}
NASTY = "a|b_c%d & <script>alert(1)</script> {x} $y$ #1 ~ ^ \\ `z` *w* [v](u)"


def small(text: str = "name") -> Report:
    frame = pd.DataFrame({"who": [text], "value": [-1.25], "low": [-2.0], "high": [float("nan")], "n": [3]})
    columns = (
        Column("who", "Who", kind="text"),
        Column("n", "n", digits=0),
        Column("value", "%Δ", low="low", high="high"),
    )
    figure = pd.DataFrame(
        {"label": [text], "series": [text], "panel": [""], "value": [1.0], "low": [0.5], "high": [2.0], "n": [3]}
    )
    return Report(
        text,
        "invariscope:0.1.0|sha:0",
        {"Runs": text},
        (Table("T1", text, text, frame, columns, text),),
        (Figure("F1", text, text, figure, text),),
        (Missing("T2", text, text),),
    )


@pytest.mark.parametrize("at", range(1, 6))
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
    text = markup.latex(demo_report)
    assert balanced(text)
    for name in ("document", "longtable", "itemize"):
        assert text.count(rf"\begin{{{name}}}") == text.count(rf"\end{{{name}}}") > 0
    for block in re.findall(r"\\begin{longtable}{@{}([lr]+)@{}}(.*?)\\end{longtable}", text, re.DOTALL):
        for line in block[1].splitlines():
            if line.endswith(r"\\"):
                assert len(re.findall(r"(?<!\\)&", line)) == len(block[0]) - 1
    assert text.isascii() or not set(re.findall(r"[^\x00-\x7f]", text)) - set("é")


def test_latex_escapes_everything() -> None:
    text = markup.latex(small(NASTY))
    assert balanced(text)
    assert r"a$|$b\_c\%d \& $<$script$>$" in text


@given(st.text(max_size=60))
@example("₁ of a_b² \\$5")
def test_whatever_a_name_holds_latex_stays_balanced(text: str) -> None:
    escaped = markup.latex_escaped(text)
    assert balanced(escaped)
    words = re.sub(r"(?<!\\)\$[^$]*\$", "", escaped)  # ₁ is typeset as a formula, with its own mark of a subscript
    assert not re.search(r"(?<!\\)[%&#_]", words)


def test_html_is_balanced_and_runs_no_name(demo_report: Report) -> None:
    for text in (html.html(small(NASTY), interactive=False), html.html(demo_report, interactive=False)):
        parser = Balance()
        parser.feed(text)
        assert parser.open == []
        assert "script" not in parser.seen
    assert "&lt;script&gt;" in html.html(small(NASTY), interactive=False)


def test_interactive_html_holds_plotly_once_and_no_outside_address(demo_report: Report) -> None:
    text = html.html(demo_report)
    assert text.count("plotly.js v") == 1
    own = text.replace(get_plotlyjs(), "")
    assert len(own) < 1_200_000
    assert not re.search(r'(?:src|href)="(?:https?:)?//', own)
    assert "default-src 'none'" in own  # nor may the library fetch anything
    assert all(f'id="plot-{figure.id}"' in text for figure in demo_report.figures)
    nasty = html.html(small("</script><script>alert(1)</script>")).replace(get_plotlyjs(), "")
    assert "<script>alert" not in nasty


def test_markdown_has_as_many_cells_in_every_row(demo_report: Report) -> None:
    for report in (demo_report, small(NASTY)):
        for block in re.findall(r"(?:^\|.*\|\n)+", markup.markdown(report), re.MULTILINE):
            counts = {len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}
            assert len(counts) == 1
    assert "<script>" not in markup.markdown(small(NASTY)).replace(r"\<script\>", "")


@pytest.mark.parametrize(
    ("written", "escape"),
    [
        (markup.markdown, markup.markdown_escaped),
        (markup.latex, markup.latex_escaped),
        (lambda report: html.html(report, interactive=False), html.escape),
    ],
    ids=["markdown", "latex", "html"],
)
def test_every_format_says_every_number(demo_report: Report, written, escape) -> None:
    text = written(demo_report)
    for table in demo_report.tables:
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
    assert b"$y$" in drawing(small("$y$").figures[0])


def test_a_report_is_written_with_its_figures_and_data(demo_report: Report, folder: Path) -> None:
    written = write(demo_report, folder, formats=("md", "latex"))
    assert all(path.is_file() for path in written)
    links = re.findall(r"!\[[^]]*\]\(([^)]+)\)", (folder / "report.md").read_text("utf-8"))
    links += re.findall(r"{(figures/[^}]+)}", (folder / "report.tex").read_text("utf-8"))
    assert len(links) == 2 * len(demo_report.figures)
    assert all((folder / link).is_file() for link in links)
    for table in demo_report.tables:
        read = pd.read_csv(folder / "data" / f"{table.id}.csv")
        assert len(read) == len(table.frame)
        for name in (each.name for each in table.columns if each.kind == "text"):
            there = np.array([value not in ("", None) and value == value for value in table.frame[name]])
            assert (read[name].notna() == there).all(), (table.id, name)
    assert not (folder / "report.html").exists()


@pytest.mark.parametrize("formats", [(), ("pdf",)])
def test_formats_that_are_not_known_are_refused(demo_report: Report, folder: Path, formats: tuple[str, ...]) -> None:
    with pytest.raises(InvalidInput, match="formats are md, html, latex"):
        write(demo_report, folder, formats=formats)


def test_the_example_under_docs_is_what_the_shipped_run_gives(demo_report: Report) -> None:
    """After a change that moves a number: make examples."""
    assert (EXAMPLE / "report.md").read_text("utf-8") == markup.markdown(demo_report)
    assert {path.stem for path in (EXAMPLE / "figures").glob("*.svg")} == {each.id for each in demo_report.figures}


def test_the_example_under_docs_is_small() -> None:
    assert sum(path.stat().st_size for path in EXAMPLE.rglob("*") if path.is_file()) < 2_200_000


def test_the_card_is_one_balanced_page_with_every_worst_family(demo: Store) -> None:
    text = card_report(demo)
    parser = Balance()
    parser.feed(text)
    assert parser.open == []
    assert "script" not in parser.seen
    assert not re.search(r"src=|@import", text)
    assert set(re.findall(r'(?:href="|url\()(.)', text)) == {"#"}  # the drawings point to themselves alone
    said = " ".join(parser.said)
    for name in (
        "conse-lite0",
        "conse-lite2",
        "grounding-judge",
        "vertical-flip (of 5, the worst in",
        "invariscope:0.1.0|runs:demo",
    ):
        assert name in said
    assert "size: A4" in text


def test_the_scales_of_the_card_have_round_numbers(demo: Store) -> None:
    ticks = [float(each) for each in re.findall(r">([\d.]+) %</text>", card_report(demo))]
    assert len(ticks) >= 9
    assert all(round(2 * tick, 6).is_integer() for tick in ticks)


def test_the_card_draws_every_family_of_every_evaluator_once(demo: Store) -> None:
    families = family_contrasts(read_table(demo).view())
    families = families[families["axis"] != "null"].dropna(subset=["median_abs_percent"])
    drawn = re.findall(r"<figure.*?</figure>", card_report(demo), re.DOTALL)
    assert len(drawn) == families["evaluator"].nunique()
    for picture, (_, rows) in zip(drawn, families.groupby("evaluator", sort=False), strict=True):
        labels = [each for each in re.findall(r">([^<>]+)</text>", picture) if not each.endswith(" %")]
        assert sorted(labels) == sorted(rows["family"])
    ids = re.findall(r' id="([^"]+)"', " ".join(drawn))
    assert len(ids) == len(set(ids))


def test_an_empty_store_has_no_card() -> None:
    with Store.open([]) as empty, pytest.raises(InvalidInput, match="no run holds a score"):
        card_report(empty)
