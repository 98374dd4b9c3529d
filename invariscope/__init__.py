"""Invariscope from Python: ``audit(corpus, evaluators, probes)`` gives a run to ask, ``open_run`` one of before.

``compare(a, b)`` holds two of them against each other.
"""

from core import __version__
from core.api.auditing import audit
from core.api.opened_run import Run, open_run
from core.features.compare.sides import SidesCompared, compare

__all__ = ["Run", "SidesCompared", "__version__", "audit", "compare", "open_run"]
