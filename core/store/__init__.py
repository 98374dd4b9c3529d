"""Runs as they lie on disk and as DuckDB answers for them, read-only.

It may import the foundation, and in fact knows neither probes nor evaluators, only columns
(:mod:`core.store.schema`). Start at :mod:`core.store.store`.
"""

__all__ = ["log", "publishing", "run_files", "schema", "store"]
