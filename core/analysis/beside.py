"""Tables beside the one of a scope: the same runs under another caption, or in another language.

An item counts once, so that a table is of one caption and one language. Some tests come with a caption of their own
(which of two objects is named is written, not found), and a paper averages over languages. What is asked of another
caption or language is asked of its own table, by the same definitions, and stands in a row that names it.
"""

from dataclasses import replace

import pandas as pd

from core.analysis.memo import once
from core.analysis.table import ScoreTable
from core.errors import InvalidInput
from core.probes.base import Expectation

CLAIMS = (Expectation.DIRECTIONAL.value, Expectation.RESPONSE.value)
"""Expectations of the tests that may come with a caption of their own."""


def every_caption(table: ScoreTable) -> tuple[ScoreTable, ...]:
    """The table, and one for every other caption under which its runs hold directional or response probes.

    Another caption is read in the language of the scope where it is stored in it, else in the first that it has.
    """
    return (table, *_other_captions(table))


@once
def _other_captions(table: ScoreTable) -> tuple[ScoreTable, ...]:
    rows, scope, found = _open(table, CLAIMS), table.scope, list[ScoreTable]()
    for subject in sorted(set(rows["subject"]) - {scope.subject}):
        there = sorted(set(map(str, rows.loc[rows["subject"] == subject, "language"])))
        found += _other(table, rows, str(subject), scope.language if scope.language in there else there[0])
    return tuple(found)


def every_language(table: ScoreTable, axis: str) -> tuple[ScoreTable, ...]:
    """The table of every language in which its runs hold directional probes of an axis under its caption, by name."""
    rows = _open(table, CLAIMS[:1])
    rows = rows[(rows["axis"] == axis) & (rows["subject"] == table.scope.subject)]
    names = sorted(set(map(str, rows["language"])))
    scope = table.scope
    found = [[table] if name == scope.language else _other(table, rows, scope.subject, name) for name in names]
    return tuple(each for own in found for each in own)


def caption_of(table: ScoreTable) -> str:
    """Which caption a table is of, in words.

    Example: ``template, en``.
    """
    return f"{table.scope.subject}, {table.scope.language}"


def _open(table: ScoreTable, expectations: tuple[str, ...]) -> pd.DataFrame:
    """What the runs of the scope hold of some expectations."""
    scope = table.scope
    rows = table.about.get("open", pd.DataFrame(columns=["run", "subject", "language", "rank", "axis", "expectation"]))
    rows = rows[rows["run"].isin(scope.run_ids) & rows["expectation"].isin(expectations)]
    return rows[rows["rank"] == scope.rank]


def _other(table: ScoreTable, rows: pd.DataFrame, subject: str, language: str) -> list[ScoreTable]:
    """One table; none where no evaluator of the scope scored it, or none of the items that the scope asks for."""
    own = rows[(rows["subject"] == subject) & (rows["language"] == language)]
    names = tuple(name for name in table.evaluators if name in set(own["evaluator"]))
    try:
        return [_read(table, subject, language, names)] if table.reader and names else []
    except InvalidInput:
        if not table.scope.told:
            raise
        return []


@once
def _read(table: ScoreTable, subject: str, language: str, evaluators: tuple[str, ...]) -> ScoreTable:
    assert table.reader is not None  # :func:`_other` asks
    found: ScoreTable = table.reader(
        replace(
            table.scope, subject=subject, language=language, evaluators=evaluators, left_out=(), left_out_in_view=()
        )
    )
    return found
