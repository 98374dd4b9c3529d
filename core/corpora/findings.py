"""What a loader leaves out, once an item, and what it remarks, counted: a million clipped boxes take one line.

What annotation files state, as tools write it: a number as a number or as its text, a mark as 0, "0" or false.
"""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from core.corpora.schema import Rejection, Remark
from core.errors import InvalidInput
from core.yes_no import yes_or_no

T = TypeVar("T")


@dataclass(slots=True)
class Findings:
    """Collects while a corpus is read."""

    _left_out: dict[str, Rejection] = field(default_factory=dict)
    _remarks: dict[str, Remark] = field(default_factory=dict)

    def leave_out(self, *found: Rejection) -> None:
        """Note what would have been an item; of one subject the first reason stays."""
        for each in found:
            self._left_out.setdefault(each.subject, each)

    def remark(self, *found: Rejection) -> None:
        """Count what costs no item; of one code the first stays as the example."""
        for each in found:
            self.count(each.code, 1, each)

    def count(self, code: str, count: int, example: Rejection) -> None:
        """Count many of one code at once."""
        known = self._remarks.get(code)
        first = known or example
        self._remarks[code] = Remark(code, count + (known.count if known else 0), first.subject, first.detail)

    @property
    def rejected(self) -> tuple[Rejection, ...]:
        """What was left out, in the order in which it was met."""
        return tuple(self._left_out.values())

    @property
    def remarks(self) -> tuple[Remark, ...]:
        """The remarks, most frequent first."""
        return by_frequency(self._remarks.values())


def up_to(most: int | None, made: Iterable[T | None]) -> tuple[list[T], int]:
    """The first ``most`` things that entries make, and how many entries that took; None of one that makes none."""
    found: list[T] = []
    examined = 0
    for each in made:
        examined += 1
        found += [] if each is None else [each]
        if len(found) == most:
            break
    return found, examined


def limited(most: int | None, examined: int, images: int) -> str:
    """What a description adds where not every image was examined."""
    return f"; limited to {most} items, {examined} of {images} images examined" if examined < images else ""


def by_frequency(remarks: Iterable[Remark]) -> tuple[Remark, ...]:
    """Sort remarks, the most frequent first, equal ones by code."""
    return tuple(sorted(remarks, key=lambda each: (-each.count, each.code)))


def whole(value: Any) -> int | None:
    """The whole number that a value states, or None.

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


_POINTED = re.compile(r"\d+\.0", re.ASCII)
"""A whole number as pandas writes it in a column with gaps."""


def key(value: Any) -> str | None:
    """An id as text, the same of ``5``, ``5.0``, ``"5"`` and ``"5.0"``; None where a value is none.

    >>> key(5), key(5.0), key("5"), key("5.0"), key("a 1"), key(None), key(True)
    ('5', '5', '5', '5', 'a 1', None, None)
    """
    if type(value) is int:  # the usual one, a million times
        return str(value)
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, str):
        return value[:-2] if _POINTED.fullmatch(value) else value
    number = whole(value)
    return str(value if number is None else number)


def mark(value: Any) -> bool | None:
    """What a yes or no states; a missing one is no; None where it is neither.

    >>> mark(0), mark("0"), mark(None), mark("True"), mark(1.0), mark(-1)
    (False, False, False, True, True, None)
    """
    if not value or value is True:
        return bool(value)
    try:
        return bool(yes_or_no(value))
    except InvalidInput:
        return None


_COMMA = re.compile(r"[+-]?(\d+,(\d{1,2}|\d{4,})|0,\d+)", re.ASCII)
"""A number with a decimal comma; ``1,234`` may mean thousands."""


def decimal(value: Any) -> float:
    """A number, or the text of one, which may have a decimal comma, as tables with ``;`` between cells do.
    Raises TypeError, ValueError, OverflowError for what is none.

    >>> decimal("4,5"), decimal("0,125"), decimal(" 4.5"), decimal(4)
    (4.5, 0.125, 4.5, 4.0)
    """
    if isinstance(value, bool):
        raise TypeError("a yes or no is no number")
    if not isinstance(value, str):
        return float(value)
    if "_" in value:
        raise ValueError(f"{value!r} is no number")
    return float(value.replace(",", ".") if _COMMA.fullmatch(value.strip()) else value)


def floats(values: Sequence[Any]) -> list[float]:
    """Numbers as floats, NaN for what is none."""
    found = []
    for each in values:
        try:
            found.append(decimal(each))
        except (TypeError, ValueError, OverflowError):
            found.append(math.nan)
    return found
