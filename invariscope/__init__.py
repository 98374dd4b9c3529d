"""Invariscope from Python: ``audit(corpus, evaluators, probes)`` gives a run to ask, ``open_run`` one of before.

``compare(a, b)`` holds two of them against each other.
"""

from typing import TYPE_CHECKING, Any

from core import __version__
from core.api.auditing import audit
from core.api.opened_run import Run, open_run

if TYPE_CHECKING:
    from core.features.compare.sides import compare
    from core.features.compare.two_sides import SidesCompared

__all__ = ["Run", "SidesCompared", "__version__", "audit", "compare", "open_run"]


def __getattr__(name: str) -> Any:
    """What needs tables of scores, imported when it is asked for: importing this package costs nothing."""
    if name not in ("SidesCompared", "compare"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from core.features.compare import sides

    return getattr(sides, name)
