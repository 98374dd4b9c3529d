"""JSON from outside, read with what a message needs to name a slip."""

import json
from typing import Any

from core.corpora.files import no_memory
from core.errors import BadCorpus

LINES = (".jsonl", ".ndjson")
"""Endings of files that hold one JSON object a line."""

MOST_BYTES = 64 << 20
"""Largest file of captions that is taken from an upload: about half a million captions."""


def parse_json(text: str, where: str, *, unique_keys: bool = False) -> Any:
    """Read JSON that comes from outside.

    Args:
        where: what the text is called in a message.
        unique_keys: refuse an object that holds a key twice.

    Raises:
        BadCorpus: if it is no JSON, or a key stands twice where it must not.
    """

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in pairs:
            if unique_keys and key in found:
                raise BadCorpus(f"{where} holds {key!r} twice; keep one")
            found[key] = value
        return found

    try:
        return json.loads(text, object_pairs_hook=unique)
    except (ValueError, RecursionError) as error:  # also a number of thousands of digits
        raise BadCorpus(f"{where} is not JSON: {error}") from error
    except MemoryError as error:
        raise no_memory(where) from error


def shown(value: object) -> str:
    """A value as it stands in a message, 60 characters of it at most."""
    text = repr(value)
    return text if len(text) <= 60 else text[:60] + "…"
