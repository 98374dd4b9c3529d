"""Rows of single pairs, by the way that reads the least."""

from collections.abc import Iterable, Mapping
from typing import Any

from core.store.sql import SHIFTS, column_list, empty_select

Pair = tuple[str, str, str]
"""Run, item and probe."""

MANY = 10_000_000
"""Rows of a copy from which on each pair is sought alone. A value that a sorted column equals is skipped to, in ten
milliseconds a pair and whatever the size; values of a list are compared with every row of the probes, which grows with
the copy: at 5 million rows both take as long."""

_NAMED = ("run", "item", "probe")
_OF = "language = $language and rank = $rank"


def shifts_select(
    large: Mapping[str, str], pairs: Iterable[Pair], *, language: str, rank: int
) -> tuple[str, dict[str, Any]]:
    """SELECT of the rows of ``shifts`` of some pairs, and its parameters.

    Args:
        large: run -> relation of a copy of at least MANY rows that holds it, with the columns of ``shifts``.
        pairs: of any run; those of other runs are looked for in the view, all at once.
        language, rank: of their captions.
    """
    sought = tuple(dict.fromkeys(pairs))
    if not sought:
        return empty_select(SHIFTS), {}
    params: dict[str, Any] = {"language": language, "rank": rank}
    parts = []
    for place, pair in enumerate(each for each in sought if each[0] in large):
        own = dict(zip((f"{name}_{place}" for name in _NAMED), pair, strict=True))
        same = " and ".join(f"{name} = ${key}" for name, key in zip(_NAMED, own, strict=True))
        parts.append(
            f"select {column_list(SHIFTS)} from {large[pair[0]]} where {same} and {_OF} and baseline is not null"
        )
        params |= own
    if others := [each for each in sought if each[0] not in large]:
        columns = dict(zip(_NAMED, zip(*others, strict=True), strict=True))
        some = []
        for name, values in columns.items():  # each column by itself, too: so blocks without one of them are skipped
            own = {f"{name}s_{place}": value for place, value in enumerate(sorted(set(values)))}
            some.append(f"{name} in ({', '.join(f'${key}' for key in own)})")
            params |= own | {f"{name}s": list(values)}
        named = ", ".join(f"unnest(${name}s)" for name in _NAMED)
        parts.append(
            f"select {column_list(SHIFTS)} from shifts where {' and '.join(some)} and {_OF} "
            f"and ({', '.join(_NAMED)}) in (select ({named}))"
        )
    return " union all ".join(parts), params
