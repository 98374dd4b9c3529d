"""Who does the work of an audit: its own process, several of this machine, or actors of a cluster.

It may import the plan, the rendering and the rows of an audit, evaluators and probes; it writes no file of a run.
Start at :mod:`core.audit.workers.crew`, then
:mod:`core.audit.workers.making`.
"""

__all__ = ["crew", "embedded_captions", "tasks"]
