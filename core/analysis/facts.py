"""Facts of variants: what a probe told of the edit that it made, item by item, as tables are sliced by them."""

from collections.abc import Mapping
from functools import cache
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd

from core.analysis.table import ScoreTable
from core.probes.base import FALSITY, KNOWN_WRONG, Expectation

MOST_LEVELS = 24
"""Values of a fact up to which tables are sliced by it: more are names or numbers, not kinds."""

_known: WeakKeyDictionary[ScoreTable, dict[tuple[str, tuple[str, ...]], np.ndarray]] = WeakKeyDictionary()

_verified: WeakKeyDictionary[ScoreTable, dict[tuple[str, ...], np.ndarray]] = WeakKeyDictionary()

_untold: WeakKeyDictionary[ScoreTable, dict[tuple[str, ...], np.ndarray]] = WeakKeyDictionary()

_stored: WeakKeyDictionary[ScoreTable, dict[tuple[str, ...], np.ndarray]] = WeakKeyDictionary()

_levels: WeakKeyDictionary[ScoreTable, dict[tuple[str, ...], Mapping[str, tuple[str, ...]]]] = WeakKeyDictionary()


def fact(table: ScoreTable, key: str, probes: tuple[str, ...]) -> np.ndarray:
    """What some probes told of every item under one key.

    Args:
        table: of the scores.
        key: e.g. ``falsity``, ``domain``.
        probes: names, all of the table.

    Returns:
        Text, object [k, N]; the empty text where nothing was told.
    """
    own = _known.setdefault(table, {})
    if (key, probes) not in own:
        own[key, probes] = _laid_out(table, key, probes)
    return own[key, probes]


def verified(table: ScoreTable, probes: tuple[str, ...]) -> np.ndarray:
    """Which variants are known to be wrong, bool [k, N]: those that tell a falsity of KNOWN_WRONG, and no others."""
    own = _verified.setdefault(table, {})
    if probes not in own:
        own[probes] = np.isin(fact(table, FALSITY, probes).astype(str), KNOWN_WRONG)
        own[probes].flags.writeable = False
    return own[probes]


def untold(table: ScoreTable, probes: tuple[str, ...]) -> np.ndarray:
    """Which stored variants tell nothing of their falsity, bool [k, N]: words in another order, a hollow tail."""
    own = _untold.setdefault(table, {})
    if probes not in own:
        own[probes] = np.asarray(stored(table, probes) & (fact(table, FALSITY, probes) == ""))
        own[probes].flags.writeable = False
    return own[probes]


def stored(table: ScoreTable, probes: tuple[str, ...]) -> np.ndarray:
    """Which variants some evaluator has a row of, scored or not, bool [k, N]."""
    own = _stored.setdefault(table, {})
    if probes not in own:
        own[probes] = np.asarray(table.stored[:, table.places(probes)].any(axis=0))
        own[probes].flags.writeable = False
    return own[probes]


def unproven(table: ScoreTable) -> bool:
    """Whether some comparison's wrong side is not known to be wrong: where none is, the verified ones are all."""
    probes = tuple(name for own in table.of_expectation(Expectation.DIRECTIONAL.value).values() for name in own)
    return bool((stored(table, probes) & ~verified(table, probes)).any())


def keys(table: ScoreTable, probes: tuple[str, ...]) -> Mapping[str, tuple[str, ...]]:
    """Facts that tell the variants of some probes apart: key -> its values, sorted; two to MOST_LEVELS of them."""
    known = _levels.setdefault(table, {})
    if probes not in known:
        rows = facts_of(table)
        rows = rows[rows["probe"].isin(probes)]
        found = {str(key): tuple(sorted(map(str, own["value"].dropna().unique()))) for key, own in rows.groupby("key")}
        known[probes] = {key: values for key, values in found.items() if 2 <= len(values) <= MOST_LEVELS}
    return known[probes]


def facts_of(table: ScoreTable) -> pd.DataFrame:
    """Facts of the scope's families that hold more than invariant probes, and whether a photograph held text.

    Columns corpus, item, probe, key, value.
    """
    return table.about.get("facts", _nothing())


@cache
def _nothing() -> pd.DataFrame:
    return pd.DataFrame({name: pd.Series(dtype=object) for name in ("corpus", "item", "probe", "key", "value")})


def _laid_out(table: ScoreTable, key: str, probes: tuple[str, ...]) -> np.ndarray:
    found = np.full((len(probes), len(table.items)), "", dtype=object)
    rows = facts_of(table)
    rows = rows[(rows["key"] == key) & rows["probe"].isin(probes) & rows["value"].notna()]
    if len(rows):
        names = pd.MultiIndex.from_frame(table.items[["corpus", "item"]].astype(object))
        items = names.get_indexer(pd.MultiIndex.from_frame(rows[["corpus", "item"]].astype(object)))
        which = pd.Index(probes).get_indexer(pd.Index(rows["probe"].astype(object)))
        here = items >= 0
        found[which[here], items[here]] = rows["value"].astype(str).to_numpy(dtype=object)[here]
    return found
