"""What the columns of a caption table are called, and which of them says what."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

IMAGE = ("image", "file_name", "filename", "image_path", "image_file", "image_name", "img", "img_path", "filepath",
         "path")  # fmt: skip
"""Names of the column that says which picture a line is about; of several the first counts."""

KEY = ("id", "image_id", "imgid", "img_id", "cocoid", "key")
"""Likewise of an id, of the line or of its picture."""

SAID = ("prediction", "predictions", "candidate", "caption", "captions", "caption_str", "text", "sentence", "sentences",
        "comment")  # fmt: skip
"""Likewise of the caption: a captioner's comes before one by people."""

CAPTIONERS = SAID[:3]

PEOPLE = ("references", "reference", "refs", "reference_strs")
"""Likewise of captions by people beside a captioner's."""

NUMBER = ("comment_number",)
"""Likewise of the number of a caption among those of its picture."""


class Roles(NamedTuple):
    """Which cell of a record is what; the names of those that are nothing known are the rest."""

    image: str | None
    key: str | None
    number: str | None
    said: str | None
    people: str | None
    rest: tuple[str, ...]


@lru_cache(maxsize=1000)
def roles_of(names: tuple[str, ...]) -> Roles:
    """Which cell of a record with such names is what; the name of one, None where there is none.

    Beside a captioner's caption, one by people is a reference.
    """
    image, key, number, said, people = (
        next((name for name in known if name in names), None) for known in (IMAGE, KEY, NUMBER, SAID, PEOPLE)
    )
    if people is None and said in CAPTIONERS:
        people = next((name for name in SAID if name in names and name not in CAPTIONERS), None)
    used = (image, key, number, said, people, "")
    return Roles(image, key, number, said, people, tuple(name for name in names if name not in used))


@lru_cache(maxsize=1000)
def plain_name(cell: str) -> str:
    """The plain name of a column; empty for the numbers of rows that pandas writes."""
    name = re.sub(r"[\s-]+", "_", cell.strip().casefold())
    return "" if name.startswith("unnamed:") else name


def plain(record: Mapping[str, Any]) -> dict[str, Any]:
    """The cells of a record by the plain names of their columns."""
    return {plain_name(name): cell for name, cell in record.items()}
