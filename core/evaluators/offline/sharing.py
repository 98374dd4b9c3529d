"""One copy of a tower a process, for as long as somebody uses it."""

import threading
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar
from weakref import WeakValueDictionary

T = TypeVar("T")


class Shared(Generic[T]):
    """Makes a thing once a key and hands the same one to all, until the last holder lets go.

    References are weak, so that a pool which drops an evaluator frees its towers too.

    Args:
        make: called with the key's parts when nobody holds the thing.
    """

    def __init__(self, make: Callable[..., T]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._alive: WeakValueDictionary[tuple[Hashable, ...], T] = WeakValueDictionary()

    def get(self, *key: Hashable) -> T:
        """Return the thing of that key, made now if nobody holds one."""
        with self._lock:  # held while making: two threads must not load the same weights twice
            thing = self._alive.get(key)
            if thing is None:
                thing = self._make(*key)
                self._alive[key] = thing
            return thing
