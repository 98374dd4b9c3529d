"""Why some scores cannot answer a question: nobody audited it, or the scope leaves it out."""

from collections.abc import Mapping, Sequence
from typing import Self

import numpy as np
import pandas as pd

from core.analysis.table import ScoreTable
from core.probes.base import IDENTITY
from core.statistics.wording import remarks

AUDIT = "python -m core audit --corpus demo --evaluators conse-lite0 --probes"
NO_SHIFT = "no run has the shift of an invariant family; audit some invariant probes"
_SECOND_CORPUS = "python -m core audit --corpus coco --root path/to/coco"


class Lack(str):
    """Why scores cannot give something: a sentence that keeps what it was worded of, so that nobody reads it back.
    ``what``: the lack alone, in words; empty where nothing is lacking. ``choose``: what a reader chooses to see what
    the scope leaves out: run, and where they differ subject and language.

    Attributes:
        said: lack and remedy without the command.

    Example:
        >>> lack = Lack("no run has a flip", "an audit with it", command="python -m core audit --probes vflip")
        >>> print(lack)
        no run has a flip; an audit with it: python -m core audit --probes vflip
        >>> lack.said
        'no run has a flip; an audit with it'
    """

    what: str
    said: str
    command: str
    choose: Mapping[str, str]
    n: int

    def __new__(
        cls, what: str, remedy: str = "", *, command: str = "", choose: Mapping[str, str] | None = None, n: int = 0
    ) -> Self:
        """Word it."""
        said = remarks(what, remedy)
        lack = super().__new__(cls, f"{said}: {command}" if command else said)
        lack.what, lack.said, lack.command, lack.choose, lack.n = what, said, command, choose or {}, n
        return lack

    @classmethod
    def of(cls, reason: str) -> "Lack":
        """A reason as a lack; a plain sentence names no command and nothing to choose."""
        return reason if isinstance(reason, cls) else cls(reason)


NOTHING = Lack("")


def no_probe(table: ScoreTable, probes: Sequence[str], *, what: str, some: bool = False) -> Lack:
    """Why these scores lack one of some probes; empty where all are here; ``what``: what they are together, e.g. "a
    vertical flip"."""
    absent = [name for name in probes if name not in table.probes.index]
    return NOTHING if len(absent) < (len(probes) if some else 1) else _lack(table, "probe", absent, what)


def no_family(table: ScoreTable, family: str, *, what: str) -> Lack:
    """Why these scores lack a family; empty where they hold an invariant probe of it."""
    return NOTHING if family in table.families(controls=True) else _lack(table, "family", [family], what)


def no_family_of(table: ScoreTable, family: str, expectation: str, *, what: str) -> Lack:
    """Why these scores lack probes of a family that expect something; empty where they are here."""
    rows = table.probes
    there = ((rows["family"] == family) & (rows["expectation"] == expectation)).any()
    return NOTHING if there else _lack(table, "family", [family], what)


def no_clean(table: ScoreTable) -> Lack:
    """Why there is no score of an unedited pair; empty where there is one."""
    if any(np.isfinite(table.clean(name)).any() for name in table.evaluators):
        return NOTHING
    return Lack(
        f"no run scored an unedited image with its caption ({IDENTITY})", "audit with this version, which always does"
    )


def several_corpora(table: ScoreTable) -> Lack:
    """Why corpora cannot be held against each other; empty where the scope has two or more."""
    if len(table.corpora) > 1:
        return NOTHING
    others = sorted(set(left_out(table, "corpus")["corpus"]))
    what = f"it compares corpora and the scope has one, {table.corpora[0]}"
    if others:
        return Lack(what, f"corpus {others[0]} is open too, but the scope leaves it out: choose its run and subject")
    return Lack(what, "audit a second one and open both runs", command=_SECOND_CORPUS)


def _lack(table: ScoreTable, column: str, names: Sequence[str], what: str) -> Lack:
    rows = left_out(table, column, names)
    if rows.empty:
        return Lack(f"no run has {what}", "an audit with it", command=f"{AUDIT} {','.join(names)}")
    return elsewhere(table, rows, what)


_CALLED = {"subject": "caption", "language": "language", "rank": "rank"}
"""What a reader chooses by, as the scope bar calls it."""


def elsewhere(table: ScoreTable, rows: pd.DataFrame, what: str) -> Lack:
    """Say which choice of the reader would show what the scope leaves out, by one or more rows of the open probes
    (:attr:`ScoreTable.about`): the one that differs least from theirs, of their own run before another's, which is of
    other pictures."""
    scope = table.scope
    mine = {"subject": scope.subject, "language": scope.language, "rank": scope.rank}
    differs = pd.DataFrame({name: rows[name] != value for name, value in mine.items()})
    differs["evaluator"] = ~rows["evaluator"].isin(table.evaluators)
    away = differs.sum(axis=1) + len(differs.columns) * ~rows["run"].isin(scope.run_ids)
    first = rows.iloc[int(away.to_numpy().argmin())]
    other = {name: str(first[name]) for name, value in mine.items() if first[name] != value}
    apart = [f", {_CALLED[name]} {value} (not {mine[name]})" for name, value in other.items()]
    apart += [] if first["evaluator"] in table.evaluators else [f", evaluator {first['evaluator']}"]
    there = (rows[["run", "subject", "language"]] == first[["run", "subject", "language"]]).all(axis=1)
    return Lack(
        f"not in this scope: {what}; choose run {first['run']}{''.join(apart)}",
        choose={"run": str(first["run"]), **{name: other[name] for name in ("subject", "language") if name in other}},
        n=int(rows.loc[there, "n"].sum()),
    )


def left_out(table: ScoreTable, column: str, names: Sequence[str] | None = None) -> pd.DataFrame:
    """What is open outside the scope: rows of ``about["open"]`` whose ``column`` (``probe``, ``family``, ``corpus`` or
    ``evaluator``) has one of these names; None: one that the table does not have."""
    rows = table.about["open"]
    here = {"corpus": table.corpora, "evaluator": table.evaluators}.get(column, ())
    return rows[rows[column].isin(list(names)) if names is not None else ~rows[column].isin(here)]


def no_column(table: ScoreTable, *columns: str) -> str:
    """Which of some columns no item has; empty where every one is there."""
    missing = next((name for name in columns if table.items[name].isna().all()), "").removesuffix("_bin")
    return missing and f"the items have no {missing}; a corpus with boxes and categories gives them"
