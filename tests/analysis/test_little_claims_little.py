"""Of runs that hold too little, no question prints an interval of no width, a bare p or a rank, and says why."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest

from core.analysis.questions import Options, Question, catalogue
from core.analysis.reading import read_table
from core.analysis.scope import Scope
from core.analysis.scores import Memo
from core.analysis.table import ScoreTable
from core.settings import results_dir
from core.statistics.bootstrap import LEAST_N
from core.store.store import Store

Spoil = Callable[[ScoreTable], ScoreTable]


def some(table: ScoreTable, items: slice) -> ScoreTable:
    return table.at(np.arange(len(table.items))[items])


def one_source(table: ScoreTable) -> ScoreTable:
    own = some(table, slice(0, None, 6))
    return replace(own, items=own.items.assign(source="s", second_source="s"), kept=Memo())


def equal(table: ScoreTable) -> ScoreTable:
    own = some(table, slice(0, None, 6))
    return replace(own, scores=np.where(np.isnan(own.scores), np.nan, 0.5), kept=Memo())


def without(table: ScoreTable, axis: bool) -> ScoreTable:
    """Without null edits, or without the other controls."""
    own = some(table, slice(0, None, 6))
    null = (own.probes["axis"] == "null").to_numpy()
    gone = null if axis else own.probes["control"].to_numpy(dtype=bool) & ~null
    stored, scores = own.stored.copy(), own.scores.copy()
    stored[:, gone], scores[:, gone] = False, np.nan
    return replace(own, stored=stored, scores=scores, kept=Memo())


LITTLE: Mapping[str, Spoil] = {
    "one item": lambda table: some(table, slice(1)),
    "two items": lambda table: some(table, slice(2)),
    "nine items": lambda table: some(table, slice(9)),
    "one source": one_source,
    "equal scores": equal,
    "no null edits": lambda table: without(table, axis=True),
    "no controls": lambda table: without(table, axis=False),
}
"""Too little of a run -> how a table of scores is brought to it."""

CLAIMS_NOTHING = ("one item", "two items", "nine items", "one source", "equal scores")
RUNS = {"demo": "template", "demo-captions": "human", "demo-prototypes": "human", "demo-sweeps": "template"}
OF_LEVELS = "δ: Cliff's"
"""In the notes of questions whose tests ask for five items a level, not ten in all."""


CASES = [
    pytest.param(run, kind, id=f"{run}-{kind}", marks=pytest.mark.whole if both else ())
    for run in RUNS
    for kind in LITTLE
    for both in [kind not in CLAIMS_NOTHING and run == "demo-captions"]
]
"""The dearest are of the run of broken captions without one of the controls."""


@pytest.fixture(scope="module")
def tables() -> Iterator[Callable[[str], ScoreTable]]:
    """The table of a run, which reads each scope that a question asks for once, whatever is then done to it."""
    with ExitStack() as opened:

        @cache
        def of(run: str) -> ScoreTable:
            store = opened.enter_context(Store.open(results_dir() / run))
            table = read_table(store, Scope(subject=RUNS[run], language="en"))
            return replace(table, reader=cache(table.reader))

        yield of


def spoilt(table: ScoreTable, spoil: Spoil) -> ScoreTable:
    """A table with too little, and so is whatever a question reads beside it."""
    read = table.reader
    return replace(spoil(table), reader=lambda scope: spoil(read(scope)))


def answers(table: ScoreTable, kind: str) -> Iterator[tuple[Question, pd.DataFrame]]:
    little = spoilt(table, LITTLE[kind])
    for question in catalogue(little):
        if not question.needs(little):
            yield question, question.compute(little.view(), Options())


def offences(kind: str, question: Question, frame: pd.DataFrame) -> Iterator[str]:
    said = [" ".join(map(str, row)) for row in frame.itertuples(index=False)]
    few = kind in CLAIMS_NOTHING
    for column in (each for each in question.columns if each.name in frame):
        if column.low:
            pointed = (frame[column.low].astype(float) == frame[column.high].astype(float)).to_numpy()
            bad = [row for row, point in zip(said, pointed, strict=True) if point and (few or "exact bound" not in row)]
            if bad:
                yield f"{question.id}.{column.name} of no width: {bad[0]}"
        own = frame[column.name]
        told = own[own.notna() & (own != "")] if few else own[:0]
        if kind == "nine items" and OF_LEVELS in question.note:
            continue
        if column.kind == "p" and len(told):
            yield f"{question.id}.{column.name} is bare: {told.iloc[0]}"
        if column.name in ("strongest", "worst_in", "rank", "winner") and len(told):
            yield f"{question.id}.{column.name} ranks: {told.iloc[0]}"


@pytest.mark.parametrize(("run", "kind"), CASES)
def test_no_question_prints_an_interval_of_no_width_a_bare_p_or_a_rank(
    tables: Callable[[str], ScoreTable], run: str, kind: str
) -> None:
    assert LEAST_N == 10
    found = [each for question, frame in answers(tables(run), kind) for each in offences(kind, question, frame)]
    assert not found, "\n".join(found)
