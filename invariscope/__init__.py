"""Invariscope from Python: ``audit(corpus, evaluators, probes)`` gives a run to ask, ``open_run`` one of before."""

from core import __version__
from core.api.auditing import audit
from core.api.opened_run import Run, open_run

__all__ = ["Run", "__version__", "audit", "open_run"]
