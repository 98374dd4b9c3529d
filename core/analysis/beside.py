"""Tables beside the one of a scope: the same runs under another caption, or in another language.

An item counts once, so that a table is of one caption and one language. Some tests come with their own caption
(which of two objects is named is written, not found), and a paper averages over languages. What is asked of another
caption or language is asked of its own table, by the same definitions, and stands in a row that names it.
"""

from dataclasses import replace

import pandas as pd

from core.analysis.scores import once
from core.analysis.table import ScoreTable
from core.errors import InvalidInput
from core.probes.base import Expectation

CLAIMS = (Expectation.DIRECTIONAL.value, Expectation.RESPONSE.value)  # of tests that may come with their own caption


def every_caption(table: ScoreTable) -> tuple[ScoreTable, ...]:
    """The table, and one for every other caption under which its runs have directional or response probes. Another
    caption is read in the language of the scope where it is stored in it, else in the first that it has."""
    return (table, *_other_captions(table))


@once
def _other_captions(table: ScoreTable) -> tuple[ScoreTable, ...]:
    rows, scope, found = _open(table, CLAIMS), table.scope, list[ScoreTable]()
    for subject in sorted(set(rows["subject"]) - {scope.subject}):
        there = sorted(set(map(str, rows.loc[rows["subject"] == subject, "language"])))
        found += _other(table, rows, str(subject), scope.language if scope.language in there else there[0])
    return tuple(found)


def every_language(table: ScoreTable, axis: str) -> tuple[ScoreTable, ...]:
    """The table of every language in which its runs have directional probes of an axis under its caption, by name."""
    rows, scope, found = _open(table, CLAIMS[:1]), table.scope, list[ScoreTable]()
    rows = rows[(rows["axis"] == axis) & (rows["subject"] == scope.subject)]
    for name in sorted(set(map(str, rows["language"]))):
        found += [table] if name == scope.language else _other(table, rows, scope.subject, name)
    return tuple(found)


@once
def other_captions(table: ScoreTable) -> tuple[ScoreTable, ...]:
    """A table for every other caption that those of the scope are held against under invariant probes: the runs' others
    in its language; of an evaluator that scored none of these, its captions in the other languages."""
    rows, found = _others(table), list[ScoreTable]()
    for subject, language, rank in sorted({*rows[["subject", "language", "rank"]].itertuples(index=False, name=None)}):
        found += _other(table, rows, str(subject), str(language), rank=int(rank))
    return tuple(found)


def several_captions(table: ScoreTable) -> bool:
    """Whether there is such a table; nothing is read for the answer."""
    return table.reader is not None and len(_others(table)) > 0


def _others(table: ScoreTable) -> pd.DataFrame:
    """What is open of the captions of :func:`other_captions`."""
    rows, scope = _open(table, (Expectation.INVARIANT.value,), further=True), table.scope
    rows = rows[rows["evaluator"].isin(table.evaluators)]
    own = (rows["subject"] == scope.subject) & (rows["language"] == scope.language) & (rows["rank"] == scope.rank)
    rows = rows[~own]
    near = rows["language"] == scope.language
    return rows[near | ~rows["evaluator"].isin(rows.loc[near, "evaluator"])]


def caption_of(table: ScoreTable) -> str:
    """Which caption a table is of, in words, e.g. ``template, en``."""
    return f"{table.scope.subject}, {table.scope.language}"


def _open(table: ScoreTable, expectations: tuple[str, ...], *, further: bool = False) -> pd.DataFrame:
    """What the runs of the scope hold of some expectations; ``further``: of every caption, not of the first alone."""
    scope = table.scope
    names = ["run", "subject", "language", "rank", "evaluator", "axis", "expectation"]
    rows = table.about.get("open", pd.DataFrame(columns=names))
    rows = rows[rows["run"].isin(scope.run_ids) & rows["expectation"].isin(expectations)]
    return rows if further else rows[rows["rank"] == scope.rank]


def _other(
    table: ScoreTable, rows: pd.DataFrame, subject: str, language: str, *, rank: int | None = None
) -> list[ScoreTable]:
    """One table; none where no evaluator of the scope scored it, or none of the items that the scope asks for."""
    rank = table.scope.rank if rank is None else rank
    own = rows[(rows["subject"] == subject) & (rows["language"] == language) & (rows["rank"] == rank)]
    names = tuple(name for name in table.evaluators if name in set(own["evaluator"]))
    try:
        return [_read(table, subject, language, rank, names)] if table.reader and names else []
    except InvalidInput:
        if not table.scope.told:
            raise
        return []


@once
def _read(table: ScoreTable, subject: str, language: str, rank: int, evaluators: tuple[str, ...]) -> ScoreTable:
    assert table.reader is not None  # :func:`_other` asks
    scope = replace(table.scope, subject=subject, language=language, rank=rank, evaluators=evaluators)
    return table.reader(replace(scope, left_out=(), left_out_in_view=()))
