"""Why some scores cannot answer a question: nobody audited it, or the scope leaves it out."""

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd

from core.analysis.table import ScoreTable
from core.probes.base import IDENTITY

AUDIT = "python -m core audit --corpus demo --evaluators conse-lite0 --probes"


def no_probe(table: ScoreTable, probes: Sequence[str], *, what: str, some: bool = False) -> str:
    """Why these scores lack one of some probes; empty where all are here.

    Args:
        table: of the scope.
        probes: names that are needed.
        what: what they are together, e.g. "a vertical flip".
        some: whether one of them is enough.
    """
    absent = [name for name in probes if name not in table.probes.index]
    there = len(absent) < len(probes) if some else not absent
    return "" if there else _lack(table, "probe", absent, what)


def no_family(table: ScoreTable, family: str, *, what: str) -> str:
    """Why these scores lack a family; empty where they hold an invariant probe of it."""
    return "" if family in table.families(controls=True) else _lack(table, "family", [family], what)


def no_family_of(table: ScoreTable, family: str, expectation: str, *, what: str) -> str:
    """Why these scores lack probes of a family that expect something; empty where they are here."""
    rows = table.probes
    there = ((rows["family"] == family) & (rows["expectation"] == expectation)).any()
    return "" if there else _lack(table, "family", [family], what)


def no_clean(table: ScoreTable) -> str:
    """Why there is no score of an unedited pair; empty where there is one."""
    if any(np.isfinite(table.clean(name)).any() for name in table.evaluators):
        return ""
    return f"no run scored an unedited image with its caption ({IDENTITY}); audit with this version, which always does"


def several_corpora(table: ScoreTable) -> str:
    """Why corpora cannot be held against each other; empty where the scope holds two or more."""
    if len(table.corpora) > 1:
        return ""
    others = sorted(set(left_out(table, "corpus")["corpus"]))
    said = f"it compares corpora and the scope holds one, {table.corpora[0]}; "
    if others:
        return f"{said}corpus {others[0]} is open too, but the scope leaves it out: choose its run and subject"
    return f"{said}audit a second one and open both runs: python -m core audit --corpus coco --root path/to/coco"


def _lack(table: ScoreTable, column: str, names: Sequence[str], what: str) -> str:
    rows = left_out(table, column, names)
    if rows.empty:
        return f"no run holds {what}; an audit with it: {AUDIT} {','.join(names)}"
    return elsewhere(table, rows, what)


def elsewhere(table: ScoreTable, rows: pd.DataFrame, what: str) -> str:
    """Say which choice of the reader would show what the scope leaves out: the one that differs least from theirs.

    Args:
        table: of the scope.
        rows: of the open probes (:attr:`ScoreTable.about`), one or more.
        what: they hold.
    """
    scope = table.scope
    mine = {"subject": scope.subject, "language": scope.language, "rank": scope.rank}
    differs = pd.DataFrame({name: rows[name] != value for name, value in mine.items()})
    differs["evaluator"] = ~rows["evaluator"].isin(table.evaluators)
    first = rows.iloc[int(differs.sum(axis=1).to_numpy().argmin())]
    apart = [f"{name} {first[name]} (not {name} {value})" for name, value in mine.items() if first[name] != value]
    apart += [] if first["evaluator"] in table.evaluators else [f"evaluator {first['evaluator']}"]
    under = f" under {' and '.join(apart)}" if apart else ""
    return f"the scope leaves out what holds {what}: run {first['run']} does{under}; choose that to see it"


_ELSEWHERE = re.compile(r": run (\S+) does(?: under (.+))?; choose that to see it$")
_CHOICE = re.compile(r"(subject|language|evaluator) (\S+)")


def choice(reason: str) -> dict[str, str]:
    """What a reader must choose to see what the scope leaves out: run, and where they differ subject and language.

    Args:
        reason: of :func:`elsewhere`, or any other one.

    Returns:
        Nothing for a reason that names no run.

    Example:
        >>> choice("the scope leaves out what holds a flip: run r does under subject human (not subject template); "
        ...        "choose that to see it")
        {'run': 'r', 'subject': 'human'}
    """
    found = _ELSEWHERE.search(reason)
    if found is None:
        return {}
    under = re.sub(r" \(not [^)]*\)", "", found[2] or "")
    asked = {name: value for name, value in _CHOICE.findall(under) if name != "evaluator"}
    return {"run": found[1], **asked}


def left_out(table: ScoreTable, column: str, names: Sequence[str] | None = None) -> pd.DataFrame:
    """What is open outside the scope: rows of ``about["open"]`` with these names, or any that are not here.

    Args:
        table: of the scope.
        column: ``probe``, ``family``, ``corpus`` or ``evaluator``.
        names: values of the column; None: those that the table does not have.
    """
    rows = table.about.get("open")
    if rows is None:
        return pd.DataFrame(columns=[column])
    here = {"corpus": table.corpora, "evaluator": table.evaluators}.get(column, ())
    return rows[rows[column].isin(list(names)) if names is not None else ~rows[column].isin(here)]
