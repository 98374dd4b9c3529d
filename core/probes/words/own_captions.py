"""Societal words in a sentence that somebody wrote: which fit, where they go, and which neutral word holds the length.

One place for all words of a family, so that a modifier and its control differ in the word alone. Mood and price say
what somebody thinks of the thing and stand before its adjectives (*a happy brown dog*); every other family says what
kind it is and stands next to the noun (*a brown African dog*), as English orders adjectives. Source: paper A, A.12,
extended.
"""

import re
from collections.abc import Callable

from core.errors import ProbeRejected
from core.probes.words.insertion import Inserted, NounPlace, noun_place
from core.probes.words.lexicons import Family, Modifier, family
from core.probes.words.screening import accepted_controls, screen
from core.probes.words.templates import closest_control

PREFIX = "inserted-"
"""Before the name of a family of the lexicon: the family of its words in one's own caption."""

BEFORE_ADJECTIVES = frozenset(("economic", "emotion"))
"""Families whose words stand before the adjectives of the noun."""

GENDER_FAMILIES = ("gender", "gender-colloquial")
GENDERED = re.compile(r"\b(?:he|him|his|himself|she|her|hers|herself)\b", re.IGNORECASE)
"""Words that a word of gender may contradict."""


def insert_word(caption: str, label: str, category: str | None, word: Modifier) -> tuple[NounPlace, Inserted]:
    """Put a modifier or a control before the noun of the object in an English caption.

    Returns:
        Where the noun stands, and the caption with the word.

    Raises:
        ProbeRejected: a code of :func:`core.probes.words.insertion.noun_place` or of
            :func:`core.probes.words.screening.screen`, which reads the noun with its adjectives (*African wild dog*);
            ``family-word`` where the caption says a word of the family already; ``contradiction`` where a word of
            gender meets *his* or *her*.

    Example:
        >>> african = family("cultural").get("African")
        >>> insert_word("A dog is tied to a fire hydrant.", "dog", "animal", african)[1].text
        'An African dog is tied to a fire hydrant.'
    """
    owner = family(word.family)
    place = noun_place(caption, label)
    said = _family_word(place, owner)
    if said:
        raise ProbeRejected("family-word", f"the caption says {said!r} already, a word of the family {owner.name}")
    rejection = screen(place.phrase, category, owner.name, word.word)
    if rejection is not None:
        raise ProbeRejected(rejection.code, rejection.detail)
    if owner.name in GENDER_FAMILIES and not word.control and (other := GENDERED.search(caption)):
        raise ProbeRejected("contradiction", f"the caption says {other[0]!r}, which {word.word!r} may contradict")
    return place, _insert(place, word)


def length_matched_in(
    caption: str,
    modified: str,
    label: str,
    family_name: str,
    *,
    count_tokens: Callable[[str], int | None] | None = None,
) -> str:
    """Name the neutral control whose insertion into the same caption is the closest in length to the modified one.

    Args:
        caption: as it was written.
        modified: with a modifier of the family.
        label: the object's.
        family_name: of the lexicon.
        count_tokens: see :func:`core.probes.words.templates.length_matched`.

    Returns:
        A probe name, e.g. ``inserted-cultural:typical``.

    Raises:
        ProbeRejected: where the caption has no place for it.

    Example:
        >>> length_matched_in("A dog sits.", "An African dog sits.", "dog", "cultural")
        'inserted-cultural:typical'
    """
    place = noun_place(caption, label)
    controls = accepted_controls(place.phrase, family_name)
    closest = closest_control(
        controls, modified, lambda word: _insert(place, family(family_name).get(word)).text, count_tokens=count_tokens
    )
    return f"{PREFIX}{closest.probe}"


def _insert(place: NounPlace, word: Modifier) -> Inserted:
    return place.insert(word.word, before_adjectives=word.family in BEFORE_ADJECTIVES)


def _family_word(place: NounPlace, owner: Family) -> str:
    """A word of the family in the caption: an adjective anywhere, a control or a noun where it describes the object."""
    anywhere = {each.word.casefold() for each in owner.modifiers if each.part_of_speech == "adjective"}
    beside = {each.word.casefold() for each in owner.words}
    texts = (each.strip(".,;:!?\"'“”‘’()[]") for each in place.caption.casefold().split())
    return next((text for text in (*place.described, *texts) if text in anywhere), "") or next(
        (text for text in place.described if text in beside), ""
    )
