"""Places in the picture that a caption names: where one changes, the caption is no longer true.

``assets/words/places.csv`` lists the words, ``assets/video/motions.csv`` those that say so of a motion and count beside
a video; a language without a line there is not looked at.
"""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from core.probes.tables import read_table, words_path
from core.settings import assets_dir

PLACES = SIDE, HEIGHT, SPOT = ("side", "height", "spot")
"""What a mirror changes; what standing on its head changes; what moving the object changes besides."""

VIDEO = "video"
"""Folder of the tables that are read beside videos alone."""

_WHOLE = "ja"
"""Written without blanks: its words are looked for anywhere."""


def place_named(caption: str, language: str, places: Iterable[str], *, moving: bool = False) -> str:
    """Return the first word of a caption that names one of some places; empty where none does.

    Args:
        caption: of a person.
        language: ISO 639-1 code.
        places: of PLACES.
        moving: whether the way of a motion counts too: beside a video.

    Example:
        >>> place_named("A dog on the Left of a bench.", "en", ("side",))
        'Left'
    """
    tables = (_words(), _motions()) if moving else (_words(),)
    known = [word for table in tables for place in places for word in table.get((language, place), ())]
    if not known:
        return ""
    either = "|".join(map(re.escape, sorted(known, key=len, reverse=True)))
    found = re.search(either if language == _WHOLE else rf"(?<!\w)(?:{either})(?!\w)", caption, re.IGNORECASE)
    return found.group() if found else ""


@cache
def _words() -> Mapping[tuple[str, str], tuple[str, ...]]:
    return _read(words_path("places.csv"))


@cache
def _motions() -> Mapping[tuple[str, str], tuple[str, ...]]:
    return _read(assets_dir() / VIDEO / "motions.csv")


def _read(path: Path) -> Mapping[tuple[str, str], tuple[str, ...]]:
    rows = read_table(path, ("language", "place", "words"))
    return {(row.required("language"), row.one_of("place", PLACES)): row.alternatives("words") for row in rows}
