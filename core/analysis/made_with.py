"""What two runs were made with that is not the same."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from core.store.manifest import Run


def manifest_differences(one: Run, other: Run) -> pd.DataFrame:
    """What two runs were made with that is not the same.

    Returns:
        One row a difference: what (a path such as ``evaluators.conse-lite0.fingerprint.weights``), a, b; missing
        entries are empty. When, where and how fast the runs were made is left out, and their counts.
    """
    a, b = (dict(_flat(_identity(run.manifest))) for run in (one, other))
    records = [
        {"what": path, "a": a.get(path, ""), "b": b.get(path, "")}
        for path in sorted({*a, *b})
        if a.get(path) != b.get(path)
    ]
    return pd.DataFrame(records, columns=["what", "a", "b"])


_MADE_WITH = (
    "invariscope",
    "corpus",
    "subjects",
    "seed",
    "evaluators",
    "probes",
    "lexicons",
    "words",
    "constants",
    "versions",
)
_ABOUT = ("corpus.root", "corpus.folder", "corpus.description", "corpus.items")


def _identity(manifest: Mapping[str, Any]) -> dict[str, Any]:
    return {name: manifest[name] for name in _MADE_WITH if name in manifest}


def _flat(value: object, path: str = "") -> list[tuple[str, str]]:
    """Leaves of nested data by their path; a list of named entries goes by the names."""
    if path in _ABOUT:
        return []
    if isinstance(value, Mapping):
        return [leaf for name in value for leaf in _flat(value[name], f"{path}.{name}".lstrip("."))]
    if isinstance(value, list) and value and all(isinstance(each, Mapping) and "name" in each for each in value):
        return [leaf for each in value for leaf in _flat({**each, "name": "present"}, f"{path}.{each['name']}")]
    return [(path, ", ".join(map(str, value)) if isinstance(value, list) else str(value))]
