"""The headline number of every row of a report's tables: what its short tables show, and what two reports share."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from core.analysis.questions.question import Column
from core.corpora.versioned_files import read_versioned
from core.errors import InvalidInput
from core.report.document import NOTHING, Report, Table

FILE = "headlines.json"

_OF_VALUE = {
    "median_percent": "T2 T3 T4 T7 T8 T9 T10 T11 C19 C20",
    "value": "T5 T6 T13 C14 C29 C18-differences",
    "before": "T14 T15 T16",
    "failure": "C3 C16 C21 C23 C-rewards",
    "drop": "C2 C24",
    "share": "C18 C-crossed",
    "after": "T17",
    "mean": "C13",
    "same": "C17",
    "correct": "C25",
    "rises": "C-nested",
    "each": "C11-siblings",
    "both": "C21-both",
    "": "C4 C9 C10 C11 C12 C27",
}

SHORT: Mapping[str, str] = {id_: value for value, ids in _OF_VALUE.items() for id_ in ids.split()}
"""Tables of the papers -> the column that their short form shows; empty: the first with an interval. Table 12, whose
intervals take as long as ten others, is made where all are."""

_OF_WHAT = ("leaderboard", "suite", "corpus", "caption", "captions", "axis", "family", "reading", "name", "key")
_KEYS = (*_OF_WHAT, "label", "level", "below", "above", "other", "order", "language", "of", "system", "told", "item")
"""Columns that say what a row is of, in this order."""


def row_keys(table: Table) -> list[str]:
    """The columns of a table that say what a row is of, the evaluator aside."""
    return [name for name in _KEYS if any(each.name == name for each in table.columns)]


def headline(table: Table) -> Column | None:
    """The column of a table's headline number: that of its short form, else the first with an interval."""
    wanted = SHORT.get(table.id, "")
    named = [each for each in table.columns if each.name == wanted]
    return next(iter([*named, *(each for each in table.columns if each.low)]), None)


def item_counts(frame: pd.DataFrame) -> "pd.Series[float]":
    """How many items each row of a table's frame is of; NaN where it does not say so."""
    name = next((each for each in ("n_items", "n") if each in frame), "")
    return frame[name].astype(float) if name else pd.Series(float("nan"), index=frame.index)


Text = Annotated[str, StringConstraints(max_length=2000)]
Number = Annotated[float, Field(allow_inf_nan=False)]


class HeadlineRow(BaseModel):
    """One number: of which evaluator and which row of the table, its 95 % interval and n where it has them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    evaluator: Text
    row: Text
    value: Number
    low: Number | None
    high: Number | None
    n: Number | None


class QuestionHeadlines(BaseModel):
    """The numbers of one question; ``of`` is the header of their column, which is written with such digits."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: Text
    title: Text
    of: Text
    digits: Annotated[int, Field(ge=0, le=20)]
    signed: bool
    rows: Annotated[tuple[HeadlineRow, ...], Field(max_length=100_000)]


class Headlines(BaseModel):
    """The headline numbers of a report, with its title, signature, and whose captions in which language it is of."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal[1] = 1
    title: Text
    signature: Annotated[str, StringConstraints(max_length=100_000)]
    captions: Text
    questions: Annotated[tuple[QuestionHeadlines, ...], Field(max_length=10_000)]


def headlines(report: Report) -> Headlines:
    """The headline numbers of a report's tables; of a table whose rows have one name twice there are none."""
    found = [each for table in report.tables if (each := _of(table)) is not None]
    return Headlines(
        title=report.title,
        signature=report.signature,
        captions=report.about.get("Captions", ""),
        questions=tuple(found),
    )


def _of(table: Table) -> QuestionHeadlines | None:
    column, frame = headline(table), table.frame
    if column is None or "evaluator" not in frame or column.kind == "text":
        return None
    said = [frame[name].map(lambda value: NOTHING if pd.isna(value) else str(value)) for name in row_keys(table)]
    named = [", ".join(each) for each in zip(*said, strict=True)] or ["all"] * len(frame)
    if len({*zip(frame["evaluator"], named, strict=True)}) < len(frame):
        return None
    rows = list[HeadlineRow]()
    ends = {"before": (column.name, column.low, column.high)} | (
        {"after": (column.to, f"{column.to}_low", f"{column.to}_high")} if column.to else {}
    )
    for when, names in ends.items():
        numbers = [_numbers(frame, name) for name in names]
        for evaluator, name, n, *values in zip(
            frame["evaluator"], named, _plain(item_counts(frame)), *numbers, strict=True
        ):
            if values[0] is not None:
                row = f"{name}, {when}" if column.to else name
                low, high = values[1:]
                rows.append(HeadlineRow(evaluator=str(evaluator), row=row, value=values[0], low=low, high=high, n=n))
    if not rows:
        return None
    return QuestionHeadlines(
        id=table.id, title=table.title, of=column.header, digits=column.digits, signed=column.signed, rows=tuple(rows)
    )


def _numbers(frame: pd.DataFrame, name: str) -> list[float | None]:
    return _plain(frame[name]) if name in frame else [None] * len(frame)


def _plain(values: "pd.Series[float]") -> list[float | None]:
    told = pd.to_numeric(values, errors="coerce").astype(float)
    return [float(each) if abs(each) < float("inf") else None for each in told]


def place(folder: Path) -> Path | None:
    """Where the headline numbers lie of a report's folder, of its ``data``, or of the file itself; None: it is none.
    Raises InvalidInput for a report that was written without them."""
    if folder.name == FILE:
        return folder
    for each in (folder / "data", folder):
        if (each / FILE).is_file():
            return each / FILE
        if (each / "INDEX.md").is_file():
            raise InvalidInput(f"the report {folder} has no {FILE}; write it anew: python -m core report RUN -o folder")
    return None


def read_headlines(path: Path) -> Headlines:
    """Read what a report wrote. Raises InvalidInput if it is cut off, of a newer version, or no such file; one
    sentence."""
    return read_versioned(path, Headlines, called="the headline numbers of a report", anew="write the report anew")
