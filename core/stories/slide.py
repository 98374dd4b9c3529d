"""A slide: what was seen of one pair, figure or lab view, with the numbers beside it, frozen when it was collected.

Runs go, corpora move, an evaluator gets another version: what somebody shows to others stays what they saw. The link
leads to the live view.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.errors import InvalidInput

MOST_TEXT = 400
"""Characters of a title or of a sentence."""

MOST_NOTE = 4000
"""Characters of a reader's note."""

MOST_ROWS = 60
"""Rows of a slide's table."""

MOST_PICTURE = 4_000_000
"""Bytes of a picture."""

_BEGIN = {"jpg": b"\xff\xd8\xff", "png": b"\x89PNG\r\n\x1a\n", "svg": b"<svg"}


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture of a slide."""

    alt: str  # what it shows
    kind: str  # ``jpg``, ``png`` or ``svg``
    data: bytes  # the file; empty where it is lost or no longer what it was

    @property
    def name(self) -> str:
        """Name of its file: what it has, so that a file that changed is found out."""
        return f"{hashlib.sha256(self.data).hexdigest()[:32]}.{self.kind}"

    def checked(self) -> "Picture":
        """This picture.

        Raises:
            InvalidInput: if it is not of its kind, or too large.
        """
        if self.kind not in _BEGIN or not self.data.startswith(_BEGIN[self.kind]):
            raise InvalidInput(f"a slide's picture is a whole {', '.join(_BEGIN)} file, got {self.kind!r}")
        if len(self.data) > MOST_PICTURE:
            most = f"{MOST_PICTURE // 10**6} MB"
            raise InvalidInput(f"a slide's picture takes at most {most}, got {len(self.data) / 1e6:.1f} MB")
        return self


@dataclass(frozen=True, slots=True)
class Slide:
    """One slide."""

    title: str  # in plain words
    said: tuple[str, ...] = ()  # sentences below the pictures: the caption, what the edit changed, how to read it
    pictures: tuple[Picture, ...] = ()  # beside each other
    # heads of the table; the first column holds words, the others numbers as they are written
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()  # of the table, each as long as ``columns``
    of: str = ""  # which rows of which runs went into it, in words
    signature: str = ""  # of the numbers, to be cited; empty where they are of no stored run
    page: str = ""  # name of the view that shows it live, e.g. ``failures``; the file of a page in slides of before.
    link: Mapping[str, str] | None = None  # parameters of that view's link
    note: str = ""  # the reader's own words
    id: str = ""  # its name in the story; empty until it is in one
    at: str = ""  # when it was collected, ISO 8601, UTC

    @property
    def when(self) -> str:
        """When it was collected, in words; empty where nobody did."""
        return self.at and f"{self.at[:16].replace('T', ' ')} UTC"

    def checked(self) -> "Slide":
        """This slide.

        Raises:
            InvalidInput: if a text is too long, the table is not even, or a picture is not one.
        """
        self.checked_texts()
        for picture in self.pictures:
            picture.checked()
        return self

    def checked_texts(self) -> "Slide":
        """This slide, its pictures unseen.

        Raises:
            InvalidInput: if a text is too long, or the table is not even.
        """
        for text in (self.title, *self.said, self.of):
            _short(text, MOST_TEXT)
        check_note(self.note)
        if not self.title.strip():
            raise InvalidInput("a slide needs a title")
        if len(self.rows) > MOST_ROWS or any(len(row) != len(self.columns) for row in self.rows):
            raise InvalidInput(f"a slide's table has at most {MOST_ROWS} rows, each as long as its head")
        return self


def check_note(note: str) -> str:
    """Return a note.

    Raises:
        InvalidInput: if it is too long.
    """
    return _short(note, MOST_NOTE)


def to_row(slide: Slide) -> dict[str, Any]:
    """The slide as a row of the story's log; its pictures by name."""
    head = {"row": "slide", "id": slide.id, "at": slide.at, "title": slide.title, "said": list(slide.said)}
    pictures = [{"alt": each.alt, "file": each.name} for each in slide.pictures]
    table = {"columns": list(slide.columns), "rows": [list(row) for row in slide.rows]}
    source = {"of": slide.of, "signature": slide.signature, "page": slide.page, "link": dict(slide.link or {})}
    return {**head, "pictures": pictures, **table, **source, "note": slide.note}


def from_row(row: Mapping[str, Any], pictures: Sequence[Picture]) -> Slide:
    """The slide of a row that :func:`to_row` made."""
    return Slide(
        str(row["title"]),
        tuple(map(str, row["said"])),
        tuple(pictures),
        tuple(map(str, row["columns"])),
        tuple(tuple(map(str, each)) for each in row["rows"]),
        str(row["of"]),
        str(row["signature"]),
        str(row["page"]),
        {str(name): str(text) for name, text in row["link"].items()},
        str(row["note"]),
        str(row["id"]),
        str(row["at"]),
    )


def _short(text: str, most: int) -> str:
    if len(text) > most:
        raise InvalidInput(f"a text of {len(text)} characters is too long here; at most {most}")
    return text
