"""One entry of a suite's file, checked."""

import math
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


def number(value: object) -> float | None:
    """A finite number, also as text; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) else None
