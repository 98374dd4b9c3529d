"""What a report is made of, before any format: tables as data, figures as :mod:`core.charts.spec` has them."""

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from core.analysis.questions.base import Column
from core.charts.spec import Figure

FORMATS = {"md": "report.md", "html": "report.html", "latex": "report.tex"}
"""Format -> file that :func:`core.report.write.write` writes it to."""


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
        audited: paragraphs: what is asked, and what was audited.
        evaluators: evaluator -> three sentences.
        cautions: what must not be concluded, a sentence each; each goes on from "It must not be concluded:".
    """

    audited: tuple[str, ...]
    evaluators: Mapping[str, tuple[str, ...]]
    cautions: tuple[str, ...]


WORDS, CAUTIONS = "In words", "What must not be concluded"
"""Headings of the first page."""


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
        details: answers whose rows another table sums up, or holds already; written as data only.
        opening: the first page in words; None: there is none.
    """

    title: str
    signature: str
    about: Mapping[str, str]
    tables: tuple[Table, ...]
    figures: tuple[Figure, ...]
    missing: tuple[Missing, ...] = ()
    details: tuple[Table, ...] = ()
    opening: Opening | None = None

    def sections(self) -> tuple[tuple[str, tuple[Table, ...]], ...]:
        """Tables by heading: the summary, those of the paper, those of broken meanings, the others; none empty."""
        summary = tuple(each for each in self.tables if each.id == SUMMARY)
        papers = tuple(each for each in self.tables if each.id.startswith("T"))
        broken = tuple(each for each in self.tables if each.id.startswith("C"))
        others = tuple(each for each in self.tables if each.id != SUMMARY and not each.id.startswith(("T", "C")))
        parts = (
            ("Summary", summary), ("Tables of the paper", papers), ("Where the meaning breaks: papers B to E", broken),
            ("Further tables", others),
        )  # fmt: skip
        return tuple(each for each in parts if each[1])


SUMMARY = "S1"
"""The table that sums up every family; it stands before the paper's."""
