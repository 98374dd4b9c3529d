"""Tables: what the stored scores and the votes say, every number with its n and its interval.

It may import the statistics, the store, the studies and what describes probes and evaluators, and never a figure.
Start at :mod:`core.analysis.questions`, what an audit asks and what answers it.
"""

__all__ = ["failures", "overview", "questions"]
