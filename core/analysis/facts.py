"""Facts of variants: what a probe told of the edit that it made, item by item, as tables are sliced by them.

Words that may be true: edits of which nobody knows that the picture does not decide them.

*A bed* and *an African bed* are said to mean the same of one photograph. Where the picture shows an African bed they do
not, and a score that moves is right to. Whether a word is true of a picture is in no annotation, so that such a family
heads no finding, unless people were asked and accepted both versions. A flip, a moved object and a JPEG change no word.

Columns of one table beside the rows of another, by a key; pandas' merge takes longer where rows are few.
"""

from collections.abc import Collection, Hashable, Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from core.analysis.scores import once
from core.analysis.table import ScoreTable
from core.errors import InvalidInput
from core.probes.base import FALSITY, KNOWN_WRONG, Axis, Expectation

MAY_BE_TRUE = "a word that may be true"
WHY = "the picture may support the word, and no study shows that people accept both captions"


def may_be_true(table: ScoreTable, accepted: Collection[str] = ()) -> frozenset[str]:
    """Families whose edit puts a word before a noun that the picture may support; ``accepted``: families both of whose
    versions people accept (:func:`core.features.human.study_outcomes.accepted_by_people`)."""
    rows = table.probes
    words = rows.loc[(rows["axis"] == Axis.SOCIETAL.value) & ~rows["control"], "family"].dropna()
    return frozenset(map(str, words.unique())) - frozenset(accepted)


def known_words(table: ScoreTable, accepted: Mapping[str, str]) -> dict[str, str]:
    """Families of such a word that people accept, with what they said; ``accepted``: as for :func:`may_be_true`."""
    return {name: said for name, said in accepted.items() if name in may_be_true(table)}


def keyed(table: pd.DataFrame, names: Iterable[str]) -> list[tuple[Any, ...]]:
    """Some columns of each row, a tuple a row."""
    return list(zip(*(table[name].tolist() for name in names), strict=True))


def looked_up(
    rows: pd.DataFrame,
    keys: Iterable[Hashable],
    known: Iterable[tuple[Hashable, tuple[Any, ...]]],
    usual: Mapping[str, object],
) -> pd.DataFrame:
    """Rows with more columns. ``rows``: [n]. ``keys``: what each row is looked up by, [n]. ``known``: keys, each once,
    with their values in the order of the new columns. ``usual``: new column -> its value where a row's key is not
    known. Raises InvalidInput if a key is known twice."""
    pairs = list(known)
    found = dict(pairs)
    if len(found) < len(pairs):
        raise InvalidInput(f"of {len(pairs)} keys that rows are looked up by {len(pairs) - len(found)} come again")
    told = [found.get(key, tuple(usual.values())) for key in keys]
    return rows.assign(**{name: [each[place] for each in told] for place, name in enumerate(usual)})


MOST_LEVELS = 24  # Values of a fact up to which tables are sliced by it: more are names or numbers, not kinds


@once
def fact(table: ScoreTable, key: str, probes: tuple[str, ...]) -> np.ndarray:
    """What some probes told of every item under one key; ``key``: e.g. ``falsity``, ``domain``. Returns text, object
    [k, N]; the empty text where nothing was told."""
    codes, values = _laid_out(table, key, probes)
    return np.asarray(values[codes])


@once
def verified(table: ScoreTable, probes: tuple[str, ...]) -> np.ndarray:
    """Which variants are known to be wrong, bool [k, N]: those that tell a falsity of KNOWN_WRONG, and no others."""
    codes, values = _laid_out(table, FALSITY, probes)
    found = np.asarray(np.array([value in KNOWN_WRONG for value in values])[codes])
    found.flags.writeable = False
    return found


@once
def untold(table: ScoreTable, probes: tuple[str, ...]) -> np.ndarray:
    """Which stored variants tell nothing of their falsity, bool [k, N]: words in another order, a hollow tail."""
    codes, values = _laid_out(table, FALSITY, probes)
    found = np.asarray(stored(table, probes) & np.array([value == "" for value in values])[codes])
    found.flags.writeable = False
    return found


@once
def stored(table: ScoreTable, probes: tuple[str, ...]) -> np.ndarray:
    """Which variants some evaluator has a row of, scored or not, bool [k, N]."""
    found = np.asarray(table.stored[:, table.places(probes)].any(axis=0))
    found.flags.writeable = False
    return found


def unproven(table: ScoreTable) -> bool:
    """Whether some comparison's wrong side is not known to be wrong: where none is, the verified ones are all."""
    probes = tuple(name for own in table.of_expectation(Expectation.DIRECTIONAL.value).values() for name in own)
    return bool((stored(table, probes) & ~verified(table, probes)).any())


@once
def keys(table: ScoreTable, probes: tuple[str, ...]) -> Mapping[str, tuple[str, ...]]:
    """Facts that tell the variants of some probes apart: key -> its values, sorted; two to MOST_LEVELS of them."""
    rows = facts_of(table)
    rows = rows[rows["probe"].isin(probes)]
    found = {str(key): tuple(sorted(map(str, own["value"].dropna().unique()))) for key, own in rows.groupby("key")}
    return {key: values for key, values in found.items() if 2 <= len(values) <= MOST_LEVELS}


def facts_of(table: ScoreTable) -> pd.DataFrame:
    """Facts of the scope's families that hold more than invariant probes, and whether a photograph held text. Columns
    corpus, item, probe, key, value."""
    return table.about.get("facts", pd.DataFrame(columns=["corpus", "item", "probe", "key", "value"], dtype=object))


def _laid_out(table: ScoreTable, key: str, probes: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
    """What some probes told under one key: number of a value, int [k, N], and the values; the first is the empty text.
    Numbers, since most of a table's facts are asked of one probe after the other, and texts are compared slowly."""
    found = np.zeros((len(probes), len(table.items)), dtype=np.intp)
    rows = facts_of(table)
    if rows.empty:
        return found, np.array([""], dtype=object)
    column = rows["value"].astype("category")
    which = _of_categories(rows["probe"], pd.Index(probes, dtype=object))
    items, told = _item_places(table), column.cat.codes.to_numpy()
    here = (items >= 0) & (which >= 0) & (told >= 0) & (_of_categories(rows["key"], pd.Index([key], dtype=object)) == 0)
    found[which[here], items[here]] = told[here] + 1
    return found, np.array(["", *map(str, column.cat.categories)], dtype=object)


def _of_categories(column: pd.Series, names: pd.Index) -> np.ndarray:
    """Place of each entry of a column among some names, int; -1 where it is none: looked up once for equal entries."""
    own = column.astype("category")
    found = np.append(names.get_indexer(pd.Index(own.cat.categories, dtype=object)), -1)
    return np.asarray(found[own.cat.codes.to_numpy()])


@once
def _item_places(table: ScoreTable) -> np.ndarray:
    """Place of each fact's item in the table, int; -1 where it is none of its items."""
    rows, found = facts_of(table), np.full(len(facts_of(table)), -1)
    items = table.items["item"].to_numpy(dtype=object)
    for corpus in table.corpora:
        own = np.flatnonzero(table.of_corpus(corpus))
        here = _of_categories(rows["corpus"], pd.Index([corpus], dtype=object)) == 0
        at = _of_categories(rows["item"], pd.Index(items[own], dtype=object))[here]
        found[here] = np.where(at >= 0, own[at], -1)
    return found
