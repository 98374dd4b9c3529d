"""Products of a few thousand values by one thread: waking the others costs more, and they wait by spinning.

What they take is lost to whatever else the machine does, a report's drawings among it. A sum may round otherwise in
another number of threads: so this is for what only decides something, or is one sum a row.
"""

from collections.abc import Callable
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar

from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

P = ParamSpec("P")
R = TypeVar("R")


def one_thread(function: Callable[P, R]) -> Callable[P, R]:
    """Have NumPy's matrix library keep to one thread while a function runs."""

    @wraps(function)
    def kept(*given: P.args, **named: P.kwargs) -> R:
        with _matrix_libraries().limit(limits=1):
            return function(*given, **named)

    return kept


@cache
def _matrix_libraries() -> Any:
    """Those that are loaded; looked for once, since that takes longer than a product."""
    return ThreadpoolController().select(internal_api="openblas")
