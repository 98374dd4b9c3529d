"""A report in GitHub's Markdown."""

import re

from core.charts.spec import Figure
from core.report.cells import cells, of_paper
from core.report.model import CAUTIONS, WORDS, Missing, Opening, Report, Table

_MARKS = re.compile(r"([\\`*_\[\]<>|#~$])")


def markdown(report: Report) -> str:
    """Write the whole document; figures are links to ``figures/ID.svg``."""
    lines = [f"# {escaped(report.title)}", "", *_opening(report.opening), f"`{report.signature}`", ""]
    lines += [f"- **{name}:** {escaped(told)}" for name, told in report.about.items()]
    for heading, tables in report.sections():
        lines += ["", f"## {heading}", "", *(part for each in tables for part in (table(each), ""))]
    lines += ["## Figures", ""]
    for figure in report.figures:
        lines += [_figure(figure), ""]
    if report.missing:
        lines += ["## What these runs cannot give", "", _missing(report.missing), ""]
    return "\n".join(lines)


def _opening(said: Opening | None) -> list[str]:
    if said is None:
        return []
    lines = [f"## {WORDS}", "", *(part for each in said.audited for part in (escaped(each), ""))]
    for name, sentences in said.evaluators.items():
        lines += [f"### {escaped(name)}", "", escaped(" ".join(sentences)), ""]
    return [
        *lines,
        f"### {CAUTIONS}",
        "",
        *(f"- {escaped(each)}" for each in said.cautions),
        "",
        "## These numbers",
        "",
    ]


def table(each: Table) -> str:
    """Write one table with its heading and note.

    Example:
        ``### T3 · Vertical flips … (paper A, Table 3)``
    """
    headers = [escaped(column.header) for column in each.columns]
    ruler = [":--" if column.kind == "text" else "--:" for column in each.columns]
    rows = [[escaped(cell) for cell in row] for row in cells(each)]
    lines = [_heading(each.id, each.title, each.paper), "", *(_row(row) for row in (headers, ruler, *rows))]
    return "\n".join([*lines, "", escaped(each.note)])


def escaped(text: str) -> str:
    """Return text that Markdown shows as it is, on one line, with no cell border in it.

    Example:
        >>> escaped("a|b *c*")
        'a\\\\|b \\\\*c\\\\*'
    """
    return _MARKS.sub(r"\\\1", " ".join(str(text).split()))


def _heading(name: str, title: str, paper: str) -> str:
    return f"### {name} · {escaped(title)}" + (f" ({escaped(of_paper(paper))})" if paper else "")


def _figure(each: Figure) -> str:
    picture = f"![{escaped(each.title)}](figures/{each.id}.svg)"
    return f"{_heading(each.id, each.title, each.paper)}\n\n{picture}\n\n{escaped(each.note)}"


def _missing(missing: tuple[Missing, ...]) -> str:
    rows = [[escaped(each.id), _short(each.paper), escaped(each.reason)] for each in missing]
    return "\n".join(_row(row) for row in (["", "Paper", "Why not"], [":--", ":--", ":--"], *rows))


def _short(paper: str) -> str:
    return escaped(of_paper(paper).removeprefix("paper ")) if paper else ""


def _row(row: list[str]) -> str:
    return f"| {' | '.join(row)} |"
