"""What a report is made of before any format: tables, their cells as text; figures are of :mod:`core.charts.spec`."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import pandas as pd

from core.analysis.questions.question import Column
from core.charts.spec import Figure

FORMATS = {"md": "report.md", "html": "report.html", "latex": "report.tex"}
"""Format -> file that :func:`core.report.report_files.write` writes it to."""


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
class Opening:
    """The first page, in words.

    Args:
        audited: what is asked, and of what, a paragraph each.
        evaluators: evaluator -> three sentences, by name.
        cautions: what must not be concluded, five lines at most.
    """

    audited: tuple[str, ...]
    evaluators: Mapping[str, tuple[str, ...]]
    cautions: tuple[str, ...]


WORDS, CAUTIONS, FIGURE, TABLES, METHODS, LACKS, CITE = (
    "In words",
    "What must not be concluded",
    "In one figure",
    "Tables of the papers, short",
    "Methods",
    "What these runs cannot give",
    "To be cited",
)
"""Headings of a report, in their order."""

DATA = (
    "Every table with its tests, counts and remarks is data: data/INDEX.md lists each in a line, data/NOTES.md says "
    "how to read it; `python -m core report RUN --tables all` writes those that were not made. Paper A is Agarwal et "
    "al., Do Image–Text Metrics Respect Semantic Invariances?"
)
"""Last line of a report."""


@dataclass(frozen=True, slots=True)
class Report:
    """A report: the document that is read, and the data behind it; made by :func:`core.report.build.build`.

    Args:
        title: of the document.
        signature: one line that says what the numbers depend on; see :mod:`core.report.signature`.
        about: sentences on the runs, by heading.
        tables: every table that was made, whole, in order; data.
        figures: every figure that was asked for, in order.
        missing: what these runs cannot give, and why.
        details: answers whose rows another table sums up, or holds already; data.
        opening: the first page in words; None: there is none.
        plane: the one figure; None: there is nothing to draw.
        short: the papers' tables as the document shows them.
        lacks: which of the papers' tables these runs cannot give, one line a reason.
        unmade: tables that nobody asked for: id -> title.
    """

    title: str
    signature: str
    about: Mapping[str, str]
    tables: tuple[Table, ...]
    figures: tuple[Figure, ...] = ()
    missing: tuple[Missing, ...] = ()
    details: tuple[Table, ...] = ()
    opening: Opening | None = None
    plane: Figure | None = None
    short: tuple[Table, ...] = ()
    lacks: tuple[str, ...] = ()
    unmade: Mapping[str, str] = field(default_factory=dict)


NOTHING = "—"

_LONG, _LONG_COUNT = 1e7, 1e12
"""A number, and one without decimals, from which on it is written by its power of ten."""


def cells(table: Table) -> list[list[str]]:
    """Write every shown cell of a table.

    Returns:
        One list a row, as many texts as the table has columns.
    """
    columns = [column_texts(table.frame, column) for column in table.columns]
    return [list(row) for row in zip(*columns, strict=True)]


def of_paper(paper: str) -> str:
    """Name the paper of a counterpart: paper A where no other is named.

    Example:
        >>> of_paper("Table 3"), of_paper("D, Table 6")
        ('paper A, Table 3', 'paper D, Table 6')
    """
    return f"paper {paper}" if re.match(r"[B-E], ", paper) else f"paper A, {paper}"


def number(value: float | None, *, digits: int = 2, signed: bool = False) -> str:
    """Write a number; a dash where there is none; never ``-0``.

    Example:
        >>> number(-2.345), number(2.0, signed=True), number(float("nan")), number(-0.001)
        ('−2.35', '+2.00', '—', '0.00')
    """
    if value is None or pd.isna(value):
        return NOTHING
    text = decimals(value, digits=digits)
    if float(text) == 0:
        return text
    return ("−" if value < 0 else "+" if signed else "") + text


def decimals(value: float, *, digits: int) -> str:
    """Write a number without its sign; one too long to read by its power of ten.

    Example:
        >>> decimals(-1234.5678, digits=2), decimals(8.305e202, digits=4), decimals(25743016, digits=0)
        ('1234.57', '8.305e202', '25743016')
    """
    if abs(value) < (_LONG if digits else _LONG_COUNT):
        return f"{abs(value):.{digits}f}"
    front, power = f"{abs(value):.3e}".split("e")
    return f"{front}e{int(power)}"


def p_value(p: float | None) -> str:
    """Write a p-value; those below 0.001 as a bound.

    Example:
        >>> p_value(0.0312), p_value(1e-9), p_value(1.0)
        ('0.031', '<0.001', '1.000')
    """
    if p is None or pd.isna(p):
        return NOTHING
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def column_texts(frame: pd.DataFrame, column: Column) -> list[str]:
    """Write one column of a frame, a text a row."""
    values = frame[column.name].tolist()
    if column.kind == "text":
        return [NOTHING if _missing(value) else str(value) for value in values]
    if column.kind == "p":
        return [p_value(value) for value in values]
    texts = [number(value, digits=column.digits, signed=column.signed) for value in values]
    if column.low:
        texts = _with(texts, frame, column, column.low, column.high)
    if column.to:
        after = [number(value, digits=column.digits, signed=column.signed) for value in frame[column.to]]
        if column.low:
            after = _with(after, frame, column, f"{column.to}_low", f"{column.to}_high")
        texts = [f"{one} → {other}" for one, other in zip(texts, after, strict=True)]
    return texts


def _with(texts: list[str], frame: pd.DataFrame, column: Column, low: str, high: str) -> list[str]:
    bounds = zip(frame[low].tolist(), frame[high].tolist(), strict=True)
    return [
        text
        if _missing(one) or _missing(other)
        else f"{text} [{number(one, digits=column.digits, signed=column.signed)}, "
        f"{number(other, digits=column.digits, signed=column.signed)}]"
        for text, (one, other) in zip(texts, bounds, strict=True)
    ]


def _missing(value: object) -> bool:
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value)) or value is pd.NA
