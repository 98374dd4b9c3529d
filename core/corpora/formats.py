"""Endings and sizes of the files of captions."""

LINES = (".jsonl", ".ndjson")
"""Endings of files that hold one JSON object a line."""

MOST_BYTES = 64 << 20
"""Largest file of captions that is taken from an upload: about half a million captions."""
