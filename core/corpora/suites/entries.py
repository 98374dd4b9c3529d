"""One entry of a suite's file, checked."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from core.errors import BadCorpus

if TYPE_CHECKING:
    from pathlib import Path


def entry_of(path: "Path", key: object, entry: object) -> dict[str, Any]:
    """An entry that is an object.

    Raises:
        BadCorpus: naming the file and the key otherwise.
    """
    if not isinstance(entry, dict):
        raise BadCorpus(f"{path}: an entry of {key!r} must be an object, got {str(entry)[:60]!r}")
    return entry


LABELS: Mapping[str, bool] = {"0": False, "0.0": False, "1": True, "1.0": True}
"""What stands for the first and the second of two, also as text."""


def either(value: object, *, where: str, rule: str, known: Mapping[str, bool] = LABELS) -> bool | None:
    """One of two choices; None where there is none: null, an empty text or *nan*.

    Args:
        where: what messages call the entry and its field.
        rule: what the value may be, in words.
        known: choices by their text in small letters.

    Raises:
        BadCorpus: for any other value, which may be a choice that is counted otherwise.
    """
    text = "" if value is None else str(value).strip().casefold()
    if text in ("", "nan"):
        return None
    if text not in known:
        raise BadCorpus(f"{where} must be {rule}, got {str(value)[:60]!r}; write it so")
    return known[text]


def number(value: object) -> float | None:
    """A finite number, also as text; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) else None
