"""What a report is made of: tables and figures as data, before any format."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

FORMATS = {"md": "report.md", "html": "report.html", "latex": "report.tex"}
"""Format -> file that :meth:`Report.write` writes it to."""


@dataclass(frozen=True, slots=True)
class Column:
    """How one column of a table is written; the frame keeps the bare numbers.

    Args:
        name: column of the frame.
        header: what a reader sees above it.
        digits: decimal places.
        signed: write a plus before positive numbers.
        low: column of the lower bound, written in brackets; empty for none.
        high: column of the upper bound.
        to: column of the value after a change, written ``before → after``; empty for none.
        kind: ``number``, ``p`` (a p-value), or ``text``.
    """

    name: str
    header: str
    digits: int = 2
    signed: bool = False
    low: str = ""
    high: str = ""
    to: str = ""
    kind: str = "number"


@dataclass(frozen=True, slots=True)
class Table:
    """One table.

    Args:
        id: short and stable, e.g. ``T3``; ``S…`` for what the paper has no number for.
        title: in plain words.
        note: how to read it: what a row is, the tests, what was left out.
        frame: the bare values, one row a line.
        columns: which of them are shown, in order.
        paper: the paper's counterpart, e.g. ``Table 3``; empty where it has none.
    """

    id: str
    title: str
    note: str
    frame: pd.DataFrame
    columns: tuple[Column, ...]
    paper: str = ""


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure: intervals beside labels, or lines, in one colour a series and one panel a value.

    Args:
        id: e.g. ``F2``.
        title: in plain words.
        note: how to read it.
        frame: columns label, series, panel, value, low, high, n; one row a mark. For lines, label is the x.
        axis: name and unit of the values.
        lines: connect the marks of a series.
        mark: column of the frame that marks one point of each series, e.g. the strength chosen; empty for none.
        free: every panel has a value axis of its own.
        paper: the paper's counterpart.
    """

    id: str
    title: str
    note: str
    frame: pd.DataFrame
    axis: str
    lines: bool = False
    mark: str = ""
    free: bool = False
    paper: str = ""


@dataclass(frozen=True, slots=True)
class Missing:
    """What these runs cannot give.

    Args:
        id: the table or figure that is not there.
        paper: the paper's counterpart.
        reason: what the runs lack, in one sentence.
    """

    id: str
    paper: str
    reason: str


@dataclass(frozen=True, slots=True)
class Part:
    """What one module adds to a report."""

    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    missing: tuple[Missing, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """A whole report; made by :func:`core.report.build.build`.

    Args:
        title: of the document.
        signature: one line that says what the numbers depend on; see :mod:`core.report.signature`.
        about: sentences on the runs, by heading.
        tables: in order.
        figures: in order.
        missing: what these runs cannot give, and why.
    """

    title: str
    signature: str
    about: Mapping[str, str]
    tables: tuple[Table, ...]
    figures: tuple[Figure, ...]
    missing: tuple[Missing, ...] = field(default=())

    def markdown(self) -> str:
        """The report in GitHub's Markdown; figures are links to ``figures/ID.svg``."""
        from core.report.markdown import markdown

        return markdown(self)

    def html(self, *, interactive: bool = True) -> str:
        """The report as one HTML file without any outside resource.

        Args:
            interactive: figures by plotly, its library inlined once (about 5 MB); otherwise as drawings (SVG).
        """
        from core.report.html import html

        return html(self, interactive=interactive)

    def latex(self) -> str:
        """The report as one LaTeX document (booktabs, longtable); figures are ``figures/ID.pdf``."""
        from core.report.latex import latex

        return latex(self)

    def write(self, folder: Path, *, formats: tuple[str, ...] = tuple(FORMATS), interactive: bool = True) -> list[Path]:
        """Write the report, the figures that the formats need, and the data of every table and figure as CSV.

        Args:
            folder: made where it is not there; files of the same names are replaced.
            formats: of ``md``, ``html``, ``latex``.
            interactive: of the HTML's figures.

        Returns:
            The files written.

        Raises:
            InvalidInput: for a format that is not known.
        """
        from core.report.write import write

        return write(self, Path(folder), formats=formats, interactive=interactive)
