"""One line that says what a report's numbers depend on, to be cited beside them, as sacreBLEU's signatures are.

``invariscope:0.1.0|runs:demo|corpora:demo@1c1d4390|evaluators:a@c2e808a4+b@21ea389a|subject:template|seed:2025|boot:10000|margin:1|sha:0123456789abcdef``

The same stored scores and the same Invariscope give the same line. ``sha`` covers every score.

References:
    [1] Post, M. (2018). A call for clarity in reporting BLEU scores. WMT.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote, unquote

from core import __version__
from core.analysis.table import ScoreTable
from core.analysis.verdicts import MARGIN
from core.errors import InvalidInput
from core.seeds import RUN_SEED
from core.statistics.bootstrap import RESAMPLES
from core.store.manifest import Run

FIELDS = ("invariscope", "runs", "corpora", "evaluators", "subject", "seed", "boot", "margin", "sha")
"""Fields, in order."""

LISTS = ("runs", "corpora", "evaluators")
"""Fields of several values: ``a+b``; a value with a fingerprint is ``name@digits``."""

_DIGITS = re.compile(r"[0-9a-f]{16}")


def signature(values: Mapping[str, str | Sequence[str]]) -> str:
    """Write a signature.

    Args:
        values: of every field of FIELDS; those of LISTS as sequences.

    Raises:
        InvalidInput: if a field is missing or unknown.

    Example:
        >>> one = {"invariscope": "0.1.0", "runs": ["a|b"], "corpora": ["c@1"], "evaluators": ["e@2", "f@3"],
        ...        "subject": "template", "seed": "2025", "boot": "10000", "margin": "1", "sha": "0" * 16}
        >>> signature(one)
        'invariscope:0.1.0|runs:a%7Cb|corpora:c@1|evaluators:e@2+f@3|subject:template|seed:2025|boot:10000|margin:1|sha:0000000000000000'
    """
    if set(values) != set(FIELDS):
        raise InvalidInput(f"a signature has the fields {', '.join(FIELDS)}, got {', '.join(values)}")
    return "|".join(f"{name}:{_written(values[name])}" for name in FIELDS)


def signature_of(table: ScoreTable, runs: Iterable[Run]) -> str:
    """Write the signature of the numbers that a table of scores gives.

    Args:
        table: the scores.
        runs: that are open; those that the table is not of are passed over.
    """
    told = [run.manifest for run in runs if run.id in table.scope.run_ids]
    corpora = {f"{each['corpus'].get('name')}@{str(each['corpus'].get('fingerprint'))[:8]}" for each in told}
    listed = [entry for each in told for entry in _evaluators(each) if entry.get("name") in table.evaluators]
    evaluators = {f"{entry['name']}@{str(entry.get('fingerprint', {}).get('key'))[:8]}" for entry in listed}
    return signature(
        {
            "invariscope": __version__,
            "runs": sorted(table.scope.run_ids),
            "corpora": sorted(corpora),
            "evaluators": sorted(evaluators),
            "subject": table.scope.subject,
            "seed": str(RUN_SEED),
            "boot": str(RESAMPLES),
            "margin": f"{MARGIN:g}",
            "sha": table.digest(),
        }
    )


def fingerprints(runs: Iterable[Run]) -> dict[str, set[str]]:
    """Keys of the fingerprints that each evaluator has in some runs; those without one are left out."""
    found: dict[str, set[str]] = {}
    for run in runs:
        for entry in _evaluators(run.manifest):
            told = entry.get("fingerprint")
            if isinstance(told, Mapping) and told.get("key"):
                found.setdefault(str(entry.get("name")), set()).add(str(told["key"]))
    return found


def _evaluators(manifest: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    entries = manifest.get("evaluators")
    return [each for each in entries if isinstance(each, Mapping)] if isinstance(entries, list) else []


def parse_signature(text: str) -> dict[str, str | list[str]]:
    """Read a signature back.

    Returns:
        What :func:`signature` was given: lists for the fields of LISTS, text for the others.

    Raises:
        InvalidInput: if it is none, naming the field.
    """
    parts = [part.partition(":") for part in text.strip().split("|")]
    names = [name for name, _, _ in parts]
    if names != list(FIELDS) or not all(separator for _, separator, _ in parts):
        raise InvalidInput(f"a signature is {'|'.join(f'{name}:…' for name in FIELDS)}, got {text[:200]!r}")
    found: dict[str, str | list[str]] = {
        name: [unquote(each) for each in raw.split("+") if each] if name in LISTS else unquote(raw)
        for name, _, raw in parts
    }
    if not _DIGITS.fullmatch(str(found["sha"])):
        raise InvalidInput(f"sha has 16 hexadecimal digits, got {found['sha']!r}")
    return found


def _written(value: str | Sequence[str]) -> str:
    each = [value] if isinstance(value, str) else value
    return "+".join(quote(one, safe="@.-_~") for one in each)
