"""What all sessions share: the latest few values, and how what a page is asked with enters the keys of caches."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import RLock
from typing import Any, Generic, TypeVar

from core.analysis.questions import Options
from core.analysis.scope import Narrowed, Scope
from core.analysis.slices import Slice

V = TypeVar("V")


class Shelf(Generic[V]):
    """At most ``size`` values by key, the least recently used dropped first; safe between threads.

    Args:
        leave: told of each value that is dropped, for what somebody may still hold.
    """

    def __init__(self, size: int, leave: Callable[[V], object] | None = None) -> None:
        self._size, self._leave = size, leave
        self._values: OrderedDict[Hashable, V] = OrderedDict()
        self._lock = RLock()

    def get(self, key: Hashable) -> V | None:
        """Return a value, or None where it is not (or no longer) there."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def put(self, key: Hashable, value: V) -> V:
        """Keep a value and return it."""
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            while len(self._values) > self._size:
                _, dropped = self._values.popitem(last=False)
                if self._leave is not None:
                    self._leave(dropped)
            return value

    def get_or(self, key: Hashable, make: Callable[[], V]) -> V:
        """Return the value of a key, made now where it is missing; two sessions may make it twice, harmlessly."""
        found = self.get(key)
        return self.put(key, make()) if found is None else found


KEYED: dict[str | type[Any], Callable[[Any], Any]] = {Narrowed: repr, Scope: repr, Slice: repr, Options: repr}
"""For ``hash_funcs``: their text says all of them, in a hundredth of the time that hashing part by part takes."""
