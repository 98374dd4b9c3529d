"""What the columns of a caption table are called, and which of them says what."""

import re
from functools import lru_cache
from typing import NamedTuple

IMAGE = ("image", "file_name", "filename", "image_path", "image_file", "image_name", "img", "img_path", "filepath",
         "path")  # fmt: skip
"""Names of the column that says which picture a line is about; of several the first counts."""

KEY = ("id", "image_id", "imgid", "img_id", "cocoid", "key")
"""Likewise of an id, of the line or of its picture."""

SAID = ("prediction", "predictions", "candidate", "caption", "captions", "caption_str", "text", "sentence", "sentences",
        "comment", "raw")  # fmt: skip
"""Likewise of the caption: a captioner's comes before one by people."""

CAPTIONERS = SAID[:3]

PEOPLE = ("references", "reference", "refs", "reference_strs")
"""Likewise of captions by people beside a captioner's."""

NUMBER = ("comment_number",)
"""Likewise of the number of a caption among those of its picture."""


class Roles(NamedTuple):
    """Which cell of a record is what, by its name in the record; what is nothing known, also by its plain name."""

    image: str | None
    key: str | None
    number: str | None
    said: str | None
    people: str | None
    rest: tuple[tuple[str, str], ...]


@lru_cache(maxsize=1000)
def roles_of(names: tuple[str, ...]) -> Roles:
    """Which cell of a record with such names is what; the name of one, None where there is none.

    Beside a captioner's caption, one by people is a reference.
    """
    own = {plain_name(name): name for name in names}
    image, key, number, said, people = (
        next((name for name in known if name in own), None) for known in (IMAGE, KEY, NUMBER, SAID, PEOPLE)
    )
    if people is None and said in CAPTIONERS:
        people = next((name for name in SAID if name in own and name not in CAPTIONERS), None)
    used = (image, key, number, said, people)
    rest = tuple((plain, name) for plain, name in own.items() if plain and plain not in used)
    image, key, number, said, people = (own[name] if name else None for name in used)
    return Roles(image, key, number, said, people, rest)


@lru_cache(maxsize=1000)
def plain_name(cell: str) -> str:
    """The plain name of a column; empty for the numbers of rows that pandas writes."""
    name = re.sub(r"[\s-]+", "_", cell.strip().casefold())
    return "" if name.startswith("unnamed:") else name
