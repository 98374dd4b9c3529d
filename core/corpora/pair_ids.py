"""Names of pairs that are scored elsewhere, and the files that carry them there."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

PAIRS, CANDIDATES, REFERENCES = "pairs.jsonl", "candidates.json", "references.json"
"""CaptionEvalKit's lines, clipscore's captions, clipscore's references."""

DIGITS = 31
"""Hexadecimal digits of an id: 124 bits, so that two pairs of any corpus differ in them."""


@dataclass(frozen=True, slots=True)
class GivenPair:
    """One pair that is given out.

    Args:
        id: of :func:`pair_id`.
        image: path of the image.
        references: captions by people that it may be compared with, in its language.
    """

    id: str
    image: str
    caption: str
    language: str
    references: tuple[str, ...] = ()

    def line(self) -> str:
        """The pair as a line of ``pairs.jsonl``, without its end."""
        record = {"id": self.id, "image": self.image, "caption": self.caption, "language": self.language}
        return _json(record | ({"references": self.references} if self.references else {}))


def pair_id(image: str, caption: str, language: str, references: Iterable[str]) -> str:
    """Name of a pair, made of all that may decide its score: the same pair has the same name in every export.

    It begins with a letter, so that no spreadsheet takes it for a number.

    Args:
        image: what names the image's content.

    Example:
        >>> pair_id("0" * 64, "A cat.", "en", ())
        'pe192488cdf65ed2dbba17ca3361e39f'
    """
    text = _json([image, caption, language, list(references)])
    return "p" + hashlib.sha256(text.encode(errors="backslashreplace")).hexdigest()[:DIGITS]


def write_lines(path: Path, pairs: Iterable[GivenPair]) -> None:
    """Write CaptionEvalKit's ``predictions.jsonl``: a line a pair, with its references where there are any."""
    with _open(path) as file:
        for pair in pairs:
            file.write(f"{pair.line()}\n")


def write_candidates(path: Path, pairs: Iterable[GivenPair]) -> None:
    """Write clipscore's ``{id: caption}``."""
    _write_object(path, ((pair.id, pair.caption) for pair in pairs))


def write_references(path: Path, pairs: Iterable[GivenPair]) -> None:
    """Write clipscore's ``{id: [references]}``; a pair without any is left out."""
    _write_object(path, ((pair.id, pair.references) for pair in pairs if pair.references))


def _write_object(path: Path, entries: Iterable[tuple[str, object]]) -> None:
    with _open(path) as file:
        _fill(file, entries)


def _open(path: Path) -> TextIO:
    """Half a surrogate pair, which is no text, is written as the escape that JSON has for it."""
    return path.open("w", encoding="utf-8", errors="backslashreplace", newline="\n")


def _fill(file: TextIO, entries: Iterable[tuple[str, object]]) -> None:
    """Write one object entry by entry: there may be millions."""
    file.write("{")
    for place, (key, value) in enumerate(entries):
        file.write(f"{',' if place else ''}\n{_json(key)}: {_json(value)}")
    file.write("\n}\n")


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
