"""What annotation files state, as tools write it: a number as a number or as its text, a mark as 0, "0" or false."""

import math
from collections.abc import Sequence
from typing import Any

from core.errors import InvalidInput
from core.yes_no import yes_or_no


def whole(value: Any) -> int | None:
    """The whole number that a value states, or None.

    Example:
        >>> whole(640), whole("640"), whole(640.0), whole(True), whole("64.5")
        (640, 640, 640, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value) if not isinstance(value, int) else value
        return int(number) if number == int(number) else None
    except (ValueError, OverflowError):
        return None


def count(value: Any) -> int | None:
    """The whole number above 0 that a value states, or None."""
    number = whole(value)
    return number if number is not None and number > 0 else None


def key(value: Any) -> str | None:
    """An id as text, the same of ``5``, ``5.0`` and ``"5"``; None where a value is none.

    Example:
        >>> key(5), key(5.0), key("5"), key("a 1"), key(None), key(True)
        ('5', '5', '5', 'a 1', None, None)
    """
    if type(value) is int:  # the usual one, a million times
        return str(value)
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    number = whole(value) if isinstance(value, float) else None
    return str(value if number is None else number)


def mark(value: Any) -> bool | None:
    """What a yes or no states; a missing one is no; None where it is neither.

    Example:
        >>> mark(0), mark("0"), mark(None), mark("True"), mark(1.0), mark(-1)
        (False, False, False, True, True, None)
    """
    if not value or value is True:
        return bool(value)
    try:
        return bool(yes_or_no(value))
    except InvalidInput:
        return None


def floats(values: Sequence[Any]) -> list[float]:
    """Numbers as floats, NaN for what is none."""
    found = []
    for each in values:
        try:
            found.append(math.nan if isinstance(each, bool) else float(each))
        except (TypeError, ValueError, OverflowError):
            found.append(math.nan)
    return found
