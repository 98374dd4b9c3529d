"""Cells of a table as text: numbers with their unit of precision, intervals, p-values, a dash for nothing."""

import math
import re

import pandas as pd

from core.analysis.questions.base import Column
from core.report.model import Table

NOTHING = "—"

_LONG, _LONG_COUNT = 1e7, 1e12
"""A number, and one without decimals, from which on it is written by its power of ten."""


def cells(table: Table) -> list[list[str]]:
    """Write every shown cell of a table.

    Returns:
        One list a row, as many texts as the table has columns.
    """
    columns = [_column(table.frame, column) for column in table.columns]
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


def _column(frame: pd.DataFrame, column: Column) -> list[str]:
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
        text if _missing(one) or _missing(other) else
        f"{text} [{number(one, digits=column.digits, signed=column.signed)}, "
        f"{number(other, digits=column.digits, signed=column.signed)}]"
        for text, (one, other) in zip(texts, bounds, strict=True)
    ]  # fmt: skip


def _missing(value: object) -> bool:
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value)) or value is pd.NA
