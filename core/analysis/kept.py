"""Answers that many questions share, worked out once: the last so many of them."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

A = TypeVar("A")


class Answers(Generic[A]):
    """The last answers by what was asked; safe under threads, which may work one out twice but never see half of it.

    Args:
        most: answers that are kept; the one that was asked for longest ago goes first.
    """

    def __init__(self, most: int) -> None:
        self._most, self._known, self._lock = most, OrderedDict[Hashable, A](), Lock()

    def get(self, key: Hashable, answer: Callable[[], A]) -> A:
        """The answer kept under a key; worked out, and kept, where there is none."""
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                return self._known[key]
        found = answer()
        with self._lock:
            self._known[key] = found
            while len(self._known) > self._most:
                self._known.popitem(last=False)
        return found
