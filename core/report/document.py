"""What a report is made of before any format: tables, their cells as text; figures are of :mod:`core.charts.spec`.

One line that says what a report's numbers depend on, to be cited beside them, as sacreBLEU's signatures are.

``invariscope:0.1.0|runs:demo|corpora:demo@1c1d4390|evaluators:a@c2e808a4+b@21ea389a|subject:template|seed:2025|boot:10000|margin:1|sha:0123456789abcdef``

The same stored scores and the same Invariscope give the same line. ``sha`` covers every score.

References:
    [1] Post, M. (2018). A call for clarity in reporting BLEU scores. WMT.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import quote, unquote

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from core import __version__
from core.analysis.questions.question import Column
from core.analysis.table import ScoreTable
from core.analysis.verdicts import MARGIN
from core.charts.spec import Figure
from core.corpora.versioned_files import read_versioned
from core.errors import InvalidInput
from core.seeds import RUN_SEED
from core.statistics.bootstrap import RESAMPLES
from core.store.run_files import Run

FORMATS = {"md": "report.md", "html": "report.html", "latex": "report.tex"}
"""Format -> file that :func:`core.report.report_files.write` writes it to."""


@dataclass(frozen=True, slots=True)
class Table:
    """One table."""

    id: str  # short and stable, e.g. ``T3``; ``S…`` for what the paper has no number for.
    title: str  # in plain words
    note: str  # how to read it: what a row is, the tests, what was left out
    frame: pd.DataFrame  # the bare values, one row a line
    columns: tuple[Column, ...]  # which of them are shown, in order
    paper: str = ""  # the paper's counterpart, e.g. ``Table 3``; empty where it has none.


@dataclass(frozen=True, slots=True)
class Missing:
    """What these runs cannot give."""

    id: str  # the table or figure that is not there
    paper: str  # the paper's counterpart
    reason: str  # what the runs lack, in one sentence


@dataclass(slots=True)
class Made:
    """What of a report is made in one place: tables to be shown, details as data only, figures of these, and what is
    missing, with its reasons."""

    tables: list[Table] = field(default_factory=list)
    details: list[Table] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    missing: list[Missing] = field(default_factory=list)

    def take(self, other: "Made") -> None:
        """Take in what was made elsewhere."""
        self.tables += other.tables
        self.details += other.details
        self.figures += other.figures
        self.missing += other.missing


@dataclass(frozen=True, slots=True)
class Opening:
    """The first page, in words."""

    audited: tuple[str, ...]  # what is asked, and of what, a paragraph each
    evaluators: Mapping[str, tuple[str, ...]]  # evaluator -> three sentences, by name
    cautions: tuple[str, ...]  # what must not be concluded, five lines at most


WORDS, CAUTIONS, FIGURE = "In words", "What must not be concluded", "In one figure"
TABLES, METHODS = "Tables of the papers, short", "Methods"
LACKS, CITE = "What these runs cannot give", "To be cited"
"""Headings of a report, in their order."""

DATA = (
    "Every table with its tests, counts and remarks is data: data/INDEX.md lists each in a line, data/NOTES.md says "
    "how to read it; `python -m core report RUN --tables all` writes those that were not made. Paper A is Agarwal et "
    "al., Do Image–Text Metrics Respect Semantic Invariances?"
)
"""Last line of a report."""


@dataclass(frozen=True, slots=True)
class Report:
    """A report: the document that is read, and the data behind it; made by :func:`core.report.build.build`."""

    title: str  # of the document
    signature: str  # one line that says what the numbers depend on; see :mod:`core.report.document`
    about: Mapping[str, str]  # sentences on the runs, by heading
    tables: tuple[Table, ...]  # every table that was made, whole, in order; data
    figures: tuple[Figure, ...] = ()  # every figure that was asked for, in order
    missing: tuple[Missing, ...] = ()  # what these runs cannot give, and why
    details: tuple[Table, ...] = ()  # answers whose rows another table sums up, or holds already; data
    opening: Opening | None = None  # the first page in words; None: there is none
    plane: Figure | None = None  # the one figure; None: there is nothing to draw
    short: tuple[Table, ...] = ()  # the papers' tables as the document shows them
    lacks: tuple[str, ...] = ()  # which of the papers' tables these runs cannot give, one line a reason
    unmade: Mapping[str, str] = field(default_factory=dict)  # tables that nobody asked for: id -> title
    # what features say of the methods, behind :data:`core.report.opening_words.METHODS`, a paragraph each
    methods: tuple[str, ...] = ()


NOTHING = "—"
BRACKETS, SPOKEN = "[{}, {}]", "({} to {})"  # Ways to write the ends of an interval: of a report, and of a command
_LONG, _LONG_COUNT = 1e7, 1e12  # A number, and one without decimals, from which on it is written by its power of ten


def cells(table: Table, *, ends: str = BRACKETS) -> list[list[str]]:
    """Write every shown cell of a table. Returns one list a row, as many texts as the table has columns."""
    columns = [column_texts(table.frame, column, ends=ends) for column in table.columns]
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


def column_texts(frame: pd.DataFrame, column: Column, *, ends: str = BRACKETS) -> list[str]:
    """Write one column of a frame, a text a row; ``ends``: how the ends of an interval are written."""
    values = frame[column.name].tolist()
    if column.kind == "text":
        return [NOTHING if _missing(value) else str(value) for value in values]
    if column.kind == "p":
        return [p_value(value) for value in values]
    texts = [number(value, digits=column.digits, signed=column.signed) for value in values]
    if column.low:
        texts = _with(texts, frame, column, column.low, column.high, ends)
    if column.to:
        after = [number(value, digits=column.digits, signed=column.signed) for value in frame[column.to]]
        if column.low:
            after = _with(after, frame, column, f"{column.to}_low", f"{column.to}_high", ends)
        both = zip(texts, after, strict=True)
        texts = [NOTHING if one == other == NOTHING else f"{one} → {other}" for one, other in both]
    return texts


def _with(texts: list[str], frame: pd.DataFrame, column: Column, low: str, high: str, ends: str) -> list[str]:
    def written(value: float) -> str:
        return number(value, digits=column.digits, signed=column.signed)

    bounds = zip(frame[low].tolist(), frame[high].tolist(), strict=True)
    return [
        text if _missing(one) or _missing(other) else f"{text} {ends.format(written(one), written(other))}"
        for text, (one, other) in zip(texts, bounds, strict=True)
    ]


def _missing(value: object) -> bool:
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value)) or value is pd.NA


FIELDS = ("invariscope", "runs", "corpora", "evaluators", "subject", "seed", "boot", "margin", "sha")
"""Fields, in order."""

LISTS = ("runs", "corpora", "evaluators")
"""Fields of several values: ``a+b``; a value with a fingerprint is ``name@digits``."""

_DIGITS = re.compile(r"[0-9a-f]{16}")


def signature(values: Mapping[str, str | Sequence[str]]) -> str:
    """Write a signature; ``values``: of every field of FIELDS; those of LISTS as sequences. Raises InvalidInput if a
    field is missing or unknown.

    Example:
        >>> one = {"invariscope": "0.1.0", "runs": ["a|b"], "corpora": ["c@1"], "evaluators": ["e@2", "f@3"],
        ...        "subject": "template", "seed": "2025", "boot": "10000", "margin": "1", "sha": "0" * 16}
        >>> signature(one)
        'invariscope:0.1.0|runs:a%7Cb|corpora:c@1|evaluators:e@2+f@3|subject:template|seed:2025|boot:10000|margin:1|sha:0000000000000000'
    """
    if set(values) != set(FIELDS):
        raise InvalidInput(f"a signature has the fields {', '.join(FIELDS)}, got {', '.join(values)}")
    return "|".join(f"{name}:{_written(values[name])}" for name in FIELDS)


def signature_of(table: ScoreTable, runs: Iterable[Run]) -> str:
    """Write the signature of the numbers that a table of scores gives; ``runs``: that are open; those that the table is
    not of are passed over."""
    told = [run.manifest for run in runs if run.id in table.scope.run_ids]
    corpora = {f"{each['corpus'].get('name')}@{str(each['corpus'].get('fingerprint'))[:8]}" for each in told}
    listed = [entry for each in told for entry in _evaluators(each) if entry.get("name") in table.evaluators]
    evaluators = {f"{entry['name']}@{str(entry.get('fingerprint', {}).get('key'))[:8]}" for entry in listed}
    scores = {"runs": sorted(table.scope.run_ids), "corpora": sorted(corpora), "evaluators": sorted(evaluators)}
    set_to = {"seed": str(RUN_SEED), "boot": str(RESAMPLES), "margin": f"{MARGIN:g}", "sha": table.digest()}
    return signature({"invariscope": __version__, **scores, "subject": table.scope.subject, **set_to})


def fingerprints(runs: Iterable[Run]) -> dict[str, set[str]]:
    """Keys of the fingerprints that each evaluator has in some runs; those without one are left out."""
    found: dict[str, set[str]] = {}
    for run in runs:
        for entry in _evaluators(run.manifest):
            told = entry.get("fingerprint")
            if isinstance(told, Mapping) and told.get("key"):
                found.setdefault(str(entry.get("name")), set()).add(str(told["key"]))
    return found


def _evaluators(manifest: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    entries = manifest.get("evaluators")
    return [each for each in entries if isinstance(each, Mapping)] if isinstance(entries, list) else []


def parse_signature(text: str) -> dict[str, str | list[str]]:
    """Read a signature back. Returns what :func:`signature` was given: lists for the fields of LISTS, text for the
    others. Raises InvalidInput if it is none, naming the field."""
    parts = [part.partition(":") for part in text.strip().split("|")]
    names = [name for name, _, _ in parts]
    if names != list(FIELDS) or not all(separator for _, separator, _ in parts):
        raise InvalidInput(f"a signature is {'|'.join(f'{name}:…' for name in FIELDS)}, got {text[:200]!r}")
    found: dict[str, str | list[str]] = {
        name: [unquote(each) for each in raw.split("+") if each] if name in LISTS else unquote(raw)
        for name, _, raw in parts
    }
    if not _DIGITS.fullmatch(str(found["sha"])):
        raise InvalidInput(f"sha has 16 hexadecimal digits, got {found['sha']!r}")
    return found


def _written(value: str | Sequence[str]) -> str:
    each = [value] if isinstance(value, str) else value
    return "+".join(quote(one, safe="@.-_~") for one in each)


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
    named = [each for each in table.columns if each.name == SHORT.get(table.id, "")]
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
    found = tuple(each for table in report.tables if (each := _of(table)) is not None)
    captions = report.about.get("Captions", "")
    return Headlines(title=report.title, signature=report.signature, captions=captions, questions=found)


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
        numbers = [_plain(frame[name]) if name in frame else [None] * len(frame) for name in names]
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
