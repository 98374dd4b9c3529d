"""The one memory of what was worked out of a table of scores; it lives as long as what it is of."""

import math
from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import wraps
from threading import Lock
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, cast

A = TypeVar("A")
P = ParamSpec("P")


class Memo:
    """Answers by their kind and by what was asked.

    Safe under threads, which may work an answer out twice but never see half of it. Nobody writes into an answer.
    """

    def __init__(self) -> None:
        self._known, self._lock = dict[Hashable, OrderedDict[Hashable, Any]](), Lock()

    def get(self, kind: Hashable, asked: Hashable, answer: Callable[[], A], *, most: float = math.inf) -> A:
        """The answer that is kept; worked out, and kept, where there is none.

        Args:
            kind: of answer: usually the function that gives it.
            most: answers of this kind that are kept; the one that was asked for longest ago goes first.
        """
        with self._lock:
            known = self._known.setdefault(kind, OrderedDict())
            if asked in known:
                known.move_to_end(asked)
                kept: A = known[asked]
                return kept
        found = answer()
        with self._lock:
            known[asked] = found
            while len(known) > most:
                known.popitem(last=False)
        return found


class _Remembers(Protocol):
    """A table of scores, or a view of it."""

    def memo(self, function: Callable[..., A], /, *arguments: Any, **named: Any) -> A: ...


S = TypeVar("S", bound=_Remembers)


def once(answer: Callable[Concatenate[S, P], A]) -> Callable[Concatenate[S, P], A]:
    """Work an answer out once for each table, or each slice of it, and the other arguments: by its ``memo``."""

    @wraps(answer)
    def asked(of: S, *args: P.args, **kwargs: P.kwargs) -> A:
        return of.memo(answer, *args, **kwargs)

    return cast(Callable[Concatenate[S, P], A], asked)
