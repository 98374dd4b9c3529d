"""Scores: what an evaluator is, where each is found, loaded, shared and cached.

It may import the corpora and probes, never a stored run: an evaluator sees images and captions and nothing else.
Start at :mod:`core.evaluators.base`; the files of :mod:`core.evaluators.metrics` are the only ones that evaluators
are looked for in.
"""

__all__ = ["base", "metrics", "pool", "registry", "scoring"]
