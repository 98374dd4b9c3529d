"""Columns of one table beside the rows of another, by a key; pandas' merge takes longer where rows are few."""

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import pandas as pd

from core.errors import InvalidInput


def keyed(table: pd.DataFrame, names: Iterable[str]) -> list[tuple[Any, ...]]:
    """Some columns of each row, a tuple a row."""
    return list(zip(*(table[name].tolist() for name in names), strict=True))


def looked_up(
    rows: pd.DataFrame,
    keys: Iterable[Hashable],
    known: Iterable[tuple[Hashable, tuple[Any, ...]]],
    usual: Mapping[str, object],
) -> pd.DataFrame:
    """Rows with more columns.

    Args:
        rows: [n].
        keys: what each row is looked up by, [n].
        known: keys, each once, with their values in the order of the new columns.
        usual: new column -> its value where a row's key is not known.

    Raises:
        InvalidInput: if a key is known twice.
    """
    pairs = list(known)
    found = dict(pairs)
    if len(found) < len(pairs):
        raise InvalidInput(f"of {len(pairs)} keys that rows are looked up by {len(pairs) - len(found)} come again")
    told = [found.get(key, tuple(usual.values())) for key in keys]
    return rows.assign(**{name: [each[place] for each in told] for place, name in enumerate(usual)})
