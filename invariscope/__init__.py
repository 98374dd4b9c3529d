"""Invariscope from Python: ``audit(corpus, evaluators, probes)`` gives a run to ask, ``open_run`` one of before.

``compare(a, b)`` holds two of them against each other. ``Reward(evaluator)`` is a reward for training a captioner.
"""

from typing import TYPE_CHECKING, Any

from core import __version__
from core.api.auditing import audit
from core.api.opened_run import Run, open_run

if TYPE_CHECKING:
    from core.features.compare.sides import compare
    from core.features.compare.two_sides import SidesCompared
    from core.features.training.reward import Reward, drift, drift_figure

__all__ = [
    "Reward",
    "Run",
    "SidesCompared",
    "__version__",
    "audit",
    "compare",
    "drift",
    "drift_figure",
    "open_run",
]

_LATER = {
    "SidesCompared": "core.features.compare.sides",
    "compare": "core.features.compare.sides",
    "Reward": "core.features.training.reward",
    "drift": "core.features.training.reward",
    "drift_figure": "core.features.training.reward",
}


def __getattr__(name: str) -> Any:
    """What needs more than an audit does, imported when it is asked for: importing this package costs nothing."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_LATER[name]), name)
