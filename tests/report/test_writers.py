"""Every format says the same, escapes what it must, and needs nothing from outside."""

import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plotly.offline import get_plotlyjs

from core.audit.store import Store
from core.errors import InvalidInput
from core.report import drawing as drawing_module
from core.report import html, latex, markdown
from core.report.card import card_report
from core.report.cells import cells, number
from core.report.drawing import draw_all, drawing, drawings
from core.report.model import Column, Figure, Missing, Report, Table
from core.settings import ROOT

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
    figure = pd.DataFrame({"label": [text], "series": [text], "panel": [""], "value": [1.0], "low": [0.5],
                           "high": [2.0], "n": [3]})  # fmt: skip
    return Report(text, "invariscope:0.1.0|sha:0", {"Runs": text}, (Table("T1", text, text, frame, columns, text),),
                  (Figure("F1", text, text, figure, text),), (Missing("T2", text, text),))  # fmt: skip


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
    text = demo_report.latex()
    assert balanced(text)
    for name in ("document", "longtable", "itemize"):
        assert text.count(rf"\begin{{{name}}}") == text.count(rf"\end{{{name}}}") > 0
    for block in re.findall(r"\\begin{longtable}{@{}([lr]+)@{}}(.*?)\\end{longtable}", text, re.DOTALL):
        for line in block[1].splitlines():
            if line.endswith(r"\\"):
                assert len(re.findall(r"(?<!\\)&", line)) == len(block[0]) - 1
    assert text.isascii() or not set(re.findall(r"[^\x00-\x7f]", text)) - set("é")


def test_latex_escapes_everything() -> None:
    text = latex.latex(small(NASTY))
    assert balanced(text)
    assert r"a$|$b\_c\%d \& $<$script$>$" in text


@given(st.text(max_size=60))
def test_whatever_a_name_holds_latex_stays_balanced(text: str) -> None:
    escaped = latex.escaped(text)
    assert balanced(escaped)
    assert not re.search(r"(?<!\\)[%&#_]", escaped)


def test_html_is_balanced_and_runs_no_name(demo_report: Report) -> None:
    for text in (html.html(small(NASTY), interactive=False), demo_report.html(interactive=False)):
        parser = Balance()
        parser.feed(text)
        assert parser.open == []
        assert "script" not in parser.seen
    assert "&lt;script&gt;" in html.html(small(NASTY), interactive=False)


def test_interactive_html_holds_plotly_once_and_no_outside_address(demo_report: Report) -> None:
    text = demo_report.html()
    assert text.count("plotly.js v") == 1
    own = text.replace(get_plotlyjs(), "")
    assert len(own) < 300_000
    assert not re.search(r'(?:src|href)="(?:https?:)?//', own)
    assert "default-src 'none'" in own  # nor may the library fetch anything
    assert all(f'id="plot-{figure.id}"' in text for figure in demo_report.figures)
    nasty = html.html(small("</script><script>alert(1)</script>")).replace(get_plotlyjs(), "")
    assert "<script>alert" not in nasty


def test_markdown_has_as_many_cells_in_every_row(demo_report: Report) -> None:
    for report in (demo_report, small(NASTY)):
        for block in re.findall(r"(?:^\|.*\|\n)+", report.markdown(), re.MULTILINE):
            counts = {len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}
            assert len(counts) == 1
    assert "<script>" not in markdown.markdown(small(NASTY)).replace(r"\<script\>", "")


@pytest.mark.parametrize("write", ["markdown", "html", "latex"])
def test_every_format_says_every_number(demo_report: Report, write: str) -> None:
    text = demo_report.html(interactive=False) if write == "html" else getattr(demo_report, write)()
    escape = {"markdown": markdown.escaped, "latex": latex.escaped, "html": html.escape}[write]
    for table in demo_report.tables:
        for row in cells(table):
            assert all(escape(cell) in text for cell in row), (table.id, row)


def test_cells_write_intervals_changes_and_what_is_missing() -> None:
    frame = pd.DataFrame({"a": [1.0, float("nan")], "a_low": [0.5, float("nan")], "a_high": [1.5, float("nan")],
                          "b": [0.25, 2.0], "b_low": [0.1, float("nan")], "b_high": [0.4, 3.0], "t": ["x", None],
                          "p": [1e-6, 0.5]})  # fmt: skip
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


def test_drawings_are_the_same_bytes_each_time_and_are_what_they_say(demo_report: Report) -> None:
    figure = demo_report.figures[0]
    first, second = drawing(figure), drawing(figure)
    assert first == second
    ElementTree.fromstring(first)
    both = drawings(figure, kinds=("svg", "pdf"))
    assert both["pdf"].startswith(b"%PDF-")
    assert both["pdf"] == drawings(figure, kinds=("svg", "pdf"))["pdf"]


def test_a_name_with_a_dollar_is_drawn_as_it_is() -> None:
    assert b"$y$" in drawing(small("$y$").figures[0])


def test_a_report_is_written_with_its_figures_and_data(demo_report: Report, folder: Path) -> None:
    written = demo_report.write(folder, formats=("md", "latex"))
    assert all(path.is_file() for path in written)
    links = re.findall(r"!\[[^]]*\]\(([^)]+)\)", (folder / "report.md").read_text("utf-8"))
    links += re.findall(r"{(figures/[^}]+)}", (folder / "report.tex").read_text("utf-8"))
    assert len(links) == 2 * len(demo_report.figures)
    assert all((folder / link).is_file() for link in links)
    for table in demo_report.tables:
        assert len(pd.read_csv(folder / "data" / f"{table.id}.csv")) == len(table.frame)
    assert not (folder / "report.html").exists()


@pytest.mark.parametrize("formats", [(), ("pdf",)])
def test_formats_that_are_not_known_are_refused(demo_report: Report, folder: Path, formats: tuple[str, ...]) -> None:
    with pytest.raises(InvalidInput, match="formats are md, html, latex"):
        demo_report.write(folder, formats=formats)


def test_the_example_under_docs_is_what_the_shipped_run_gives(demo_report: Report) -> None:
    """After a change that moves a number: python -m core report demo -o docs/example-report --drawings --overwrite."""
    assert (EXAMPLE / "report.md").read_text("utf-8") == demo_report.markdown()
    assert (EXAMPLE / "report.tex").read_text("utf-8") == demo_report.latex()
    assert {path.stem for path in (EXAMPLE / "figures").glob("*.svg")} == {each.id for each in demo_report.figures}


def test_the_example_under_docs_is_small() -> None:
    assert sum(path.stat().st_size for path in EXAMPLE.rglob("*") if path.is_file()) < 2_000_000


def test_the_card_is_one_balanced_page_with_every_worst_family(demo: Store) -> None:
    text = card_report(demo)
    parser = Balance()
    parser.feed(text)
    assert parser.open == []
    assert "script" not in parser.seen
    assert not re.search(r"(?:src|href)=|url\(|@import", text)
    said = " ".join(parser.said)
    for name in (
        "conse-lite0",
        "conse-lite2",
        "grounding-judge",
        "vertical-flip (of 4)",
        "invariscope:0.1.0|runs:demo",
    ):
        assert name in said
    assert "size: A4" in text


def test_the_scales_of_the_card_have_round_numbers(demo: Store) -> None:
    ticks = [float(each) for each in re.findall(r'fill="#444">([\d.]+) %</text>', card_report(demo))]
    assert len(ticks) >= 9
    assert all(round(2 * tick, 6).is_integer() for tick in ticks)


def test_an_empty_store_has_no_card() -> None:
    with Store.open([]) as empty, pytest.raises(InvalidInput, match="no percent change"):
        card_report(empty)


def test_figures_drawn_in_processes_of_their_own_have_the_same_bytes(
    demo_report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    figures = demo_report.figures[:3]
    here = draw_all(figures, kinds=("svg", "pdf"))
    monkeypatch.setattr(drawing_module, "WORTH_A_PROCESS", 0)
    monkeypatch.setattr(drawing_module.os, "cpu_count", lambda: 2)
    assert draw_all(figures, kinds=("svg", "pdf")) == here
