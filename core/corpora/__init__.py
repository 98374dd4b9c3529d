"""Items: their schema, one loader of corpora a file, what is kept of a source and the categories of its labels.

It may import the foundation and :mod:`core.statistics`, and knows nothing of probes, scores or runs.
Start at :mod:`core.corpora.schema` for what an item is, and at :mod:`core.corpora.demo` for a loader to copy.
"""

__all__ = ["curation", "images", "labels", "registry", "schema", "suites"]
