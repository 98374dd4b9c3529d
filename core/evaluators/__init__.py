"""Scores: the protocol, the registry, the pool, one family of evaluators a file."""
