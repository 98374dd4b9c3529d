"""One line that says what a report's numbers depend on, to be cited beside them, as sacreBLEU's signatures are.

``invariscope:0.1.0|runs:demo|corpora:demo@08d66b90|evaluators:a@c2e808a4+b@21ea389a|subject:template|seed:2025|boot:10000|margin:1|sha:0123456789abcdef``

The same stored scores and the same Invariscope give the same line. ``sha`` covers every score.

References:
    [1] Post, M. (2018). A call for clarity in reporting BLEU scores. WMT.
"""

import re
from collections.abc import Mapping, Sequence
from urllib.parse import quote, unquote

from core.errors import InvalidInput

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
