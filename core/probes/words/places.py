"""Places in the picture that a caption names: where one changes, the caption is no longer true.

``assets/words/places.csv`` lists the words; a language without a line there is not looked at.
"""

import re
from collections.abc import Iterable, Mapping
from functools import cache

from core.probes.tables import read_table, words_path

PLACES = SIDE, HEIGHT, SPOT = ("side", "height", "spot")
"""What a mirror changes; what standing on its head changes; what moving the object changes besides."""

_WHOLE = "ja"
"""Written without blanks: its words are looked for anywhere."""


def place_named(caption: str, language: str, places: Iterable[str]) -> str:
    """Return the first word of a caption that names one of some places; empty where none does.

    Args:
        caption: of a person.
        language: ISO 639-1 code.
        places: of PLACES.

    Example:
        >>> place_named("A dog on the Left of a bench.", "en", ("side",))
        'Left'
    """
    known = [word for place in places for word in _words().get((language, place), ())]
    if not known:
        return ""
    either = "|".join(map(re.escape, sorted(known, key=len, reverse=True)))
    found = re.search(either if language == _WHOLE else rf"(?<!\w)(?:{either})(?!\w)", caption, re.IGNORECASE)
    return found.group() if found else ""


@cache
def _words() -> Mapping[tuple[str, str], tuple[str, ...]]:
    rows = read_table(words_path("places.csv"), ("language", "place", "words"))
    return {(row.required("language"), row.one_of("place", PLACES)): row.alternatives("words") for row in rows}
