"""The papers' tables as they are read: one number a cell, an evaluator a column, nine columns and a dozen rows.

The whole table, with every test and remark, is data; see :mod:`core.report.data_files`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from core.analysis.questions.question import Column
from core.charts.spec import shortened
from core.report.document import NOTHING, Table, column_texts

MOST_COLUMNS, MOST_ROWS, MOST_LETTERS = 9, 12, 120
"""Of a short table and of a cell of it."""

_MOST_KEYS, _MOST_EVALUATORS = 3, 5

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

_KEYS = (
    "leaderboard",
    "suite",
    "corpus",
    "caption",
    "captions",
    "axis",
    "family",
    "reading",
    "name",
    "key",
    "label",
    "level",
    "below",
    "above",
    "other",
    "order",
    "language",
    "of",
    "system",
    "told",
    "item",
)
"""Columns that say what a row is of, in this order; one that has a single value stands below the table instead."""

_ACROSS = ("T9", "T10", "T11")
"""Tables that hold corpora against each other: theirs all stay."""


def short_tables(tables: Sequence[Table], *, corpus: str) -> list[Table]:
    """The short form of those of some tables that are a paper's.

    Args:
        tables: as they are written as data.
        corpus: that is in view; of several corpora its rows stay.
    """
    return [_short(each, corpus) for each in tables if each.id in SHORT and each.columns and len(each.frame)]


def _short(table: Table, corpus: str) -> Table:
    frame, kept = _of_corpus(table, corpus)
    keys = [name for name in _KEYS if any(each.name == name for each in table.columns)]
    told = [f"{_header(table, name)} {_cell(frame[name].iloc[0])}" for name in keys if not _several(frame[name])]
    varying = [name for name in keys if _several(frame[name])]
    value = _value(table)
    if "evaluator" not in frame or value is None:
        return _plain(table, frame, told)
    rows = frame.assign(_text=column_texts(frame, value), _n=_counts(frame))
    rows = rows[rows["_text"] != NOTHING]
    if rows.empty:
        return _plain(table, frame, told)
    rows["_again"] = rows.groupby(["evaluator", *varying], dropna=False, sort=False).cumcount()
    places = {key: at for at, key in enumerate(dict.fromkeys(_keys_of(rows, varying)))}
    rows["_row"] = [places[key] for key in _keys_of(rows, varying)]
    shown = _most_items(rows)
    grid = _grid(table, rows[rows["_row"].isin(shown)], varying)
    left = len(places) - len(shown)
    said = [
        f"{value.header}.",
        f"{'; '.join(told)}." if told else "",
        f"{kept}." if kept else "",
        f"{len(shown)} of {len(places)} rows, those of the most items." if left else "",
    ]
    columns = tuple(Column(str(name), str(name), kind="text") for name in grid.columns)
    return Table(table.id, table.title, " ".join(filter(None, said)), grid, columns, table.paper)


def _of_corpus(table: Table, corpus: str) -> tuple[pd.DataFrame, str]:
    """Rows of the corpus in view, where a table has several and does not hold them against each other."""
    frame = table.frame
    if "corpus" not in frame or table.id in _ACROSS or frame["corpus"].nunique() < 2:
        return frame, ""
    own = frame[frame["corpus"] == corpus]
    own = own if len(own) else frame[frame["corpus"] == frame["corpus"].iloc[0]]
    others = frame["corpus"].nunique() - 1
    return own, f"Rows of {others} more {'corpus are' if others == 1 else 'corpora are'} in the data"


def _value(table: Table) -> Column | None:
    wanted = SHORT[table.id]
    named = [each for each in table.columns if each.name == wanted]
    return next(iter([*named, *(each for each in table.columns if each.low)]), None)


def _counts(frame: pd.DataFrame) -> "pd.Series[float]":
    name = next((each for each in ("n_items", "n") if each in frame), "")
    return frame[name].astype(float) if name else pd.Series(float("nan"), index=frame.index)


def _keys_of(rows: pd.DataFrame, names: list[str]) -> list[tuple[object, ...]]:
    return list(rows[[*names, "_again"]].astype(str).itertuples(index=False, name=None))


def _most_items(rows: pd.DataFrame) -> list[int]:
    """Places of the rows that are shown, in their order: of too many those of the most items, whatever was found."""
    order = sorted(rows["_row"].unique())
    if len(order) <= MOST_ROWS:
        return order
    most = rows.groupby("_row")["_n"].max().fillna(0)
    return sorted(most.sort_values(ascending=False, kind="stable").index[:MOST_ROWS])


def _grid(table: Table, rows: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Keys, n and a column an evaluator; of more evaluators than that an evaluator a row and the keys across."""
    evaluators = list(dict.fromkeys(map(str, rows["evaluator"])))
    across = len(evaluators) > _MOST_EVALUATORS
    records = []
    for _, own in rows.groupby("_row", sort=True):
        first, counts = own.iloc[0], own["_n"].dropna()
        record: dict[str, str] = {_header(table, name): _cell(first[name]) for name in keys}
        if len(keys) > _MOST_KEYS:
            last = keys[_MOST_KEYS - 1 :]
            record = {_header(table, name): record[_header(table, name)] for name in keys[: _MOST_KEYS - 1]}
            record[", ".join(_header(table, name) for name in last)] = ", ".join(_cell(first[name]) for name in last)
        if len(counts):
            record["n"] = _range(counts)
        cells = dict(zip(own["evaluator"].astype(str), own["_text"], strict=True))
        records.append(record | {name: cells.get(name, NOTHING) for name in evaluators})
    grid = pd.DataFrame(records)
    return _turned(grid, evaluators) if across else grid


def _turned(grid: pd.DataFrame, evaluators: list[str]) -> pd.DataFrame:
    """An evaluator a row, the first keys across, each with its n."""
    head = [name for name in grid.columns if name not in evaluators]
    named = [
        ", ".join(f"n {row[name]}" if name == "n" else row[name] for name in head) or "all"
        for _, row in grid.head(MOST_COLUMNS - 1).iterrows()
    ]
    turned = grid.head(MOST_COLUMNS - 1)[evaluators].T.set_axis(named, axis=1)
    return turned.rename_axis("Evaluator").reset_index()


def _plain(table: Table, frame: pd.DataFrame, told: list[str]) -> Table:
    """A table without an evaluator's column as it is, its first columns and rows; what all rows share stands below."""
    shown = [each for each in table.columns if len(frame) == 1 or _several(frame[each.name])]
    shown = shown[:MOST_COLUMNS]
    cut = frame.head(MOST_ROWS).reset_index(drop=True)
    texts = {each.header: [_cell(text) for text in column_texts(cut, each)] for each in shown}
    more = f"{MOST_ROWS} of {len(frame)} rows." if len(frame) > MOST_ROWS else ""
    note = " ".join(filter(None, [f"{'; '.join(told)}." if told else "", more]))
    columns = tuple(Column(each.header, each.header, kind="text") for each in shown)
    return Table(table.id, table.title, note, pd.DataFrame(texts), columns, table.paper)


def _several(values: "pd.Series[Any]") -> bool:
    """Whether a column has several values."""
    return len(values.astype(str).unique()) > 1


def _header(table: Table, name: str) -> str:
    return next(each.header for each in table.columns if each.name == name)


def _cell(value: object) -> str:
    return NOTHING if value is None or value != value or value == "" else shortened(str(value), most=MOST_LETTERS)


def _range(counts: "pd.Series[float]") -> str:
    return "–".join(dict.fromkeys(f"{each:.0f}" for each in (counts.min(), counts.max())))
