"""Nouns that name an object in a human caption: the table of them, and the rule that finds one in a text."""

import re
from functools import cache
from pathlib import Path

from core.corpora.schema import CATEGORIES, EXTRA_CATEGORIES
from core.probes.tables import lexicon_path, read_table
from core.probes.words.english import OTHER, dictionary, kinds
from core.probes.words.grammar import plural

WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")

SIGN_OR_WORD = re.compile(rf"{WORD.pattern}|\d+|[^\w\s]")

LONGEST_NOUN = 3
"""Words of a noun, at most, e.g. ``police officer`` has two."""


def noun_at(text: str, position: int) -> tuple[int, str, str] | None:
    """Read the longest known noun that begins at a place of a text.

    Args:
        text: a caption.
        position: where the noun's first word begins; blanks alone part its words.

    Returns:
        Where the noun ends, its singular in lower case, its category; None where no known noun stands there.
    """
    nouns = object_nouns(lexicon_path("object_nouns.csv"))
    words, best = list[str](), None
    following = WORD.match(text, position)
    while following is not None and len(words) < LONGEST_NOUN:
        words.append(following.group().casefold())
        if (said := " ".join(words)) in nouns:
            best = following.end(), *nouns[said]
        blanks = re.compile(r"[ ]+").match(text, following.end())
        following = WORD.match(text, blanks.end()) if blanks else None
    return best


def group_ends(text: str, position: int) -> bool:
    """Whether a noun group ends here: by a sign, a word of ``after_the_noun.csv``, -ing, -ed, a verb.

    Whether a word is a verb: :mod:`core.probes.words.english` (*a man drives a car*, but *a dog house*).
    """
    rest = text[position:]
    if not rest.strip() or rest.lstrip()[0] in '.,;:!?()"':
        return True
    following = re.compile(r"\s+(" + WORD.pattern + ")").match(rest)
    word = following[1].casefold() if following else ""
    listed = word in after_the_noun(lexicon_path("after_the_noun.csv")) or word.endswith(("ing", "ed"))
    return listed or _is_verb(text[:position], text[position:])


def _is_verb(before: str, after: str) -> bool:
    """Whether the word that follows a place of a text is the verb of what stands before it."""
    said = [SIGN_OR_WORD.findall(part.casefold()) for part in (before, after)]
    place = len(said[0])
    words = [*said[0], *said[1]][: place + 3]
    return place < len(words) and "VERB" in dictionary(words[place]) and kinds(words)[place] == OTHER


@cache
def object_nouns(path: Path) -> dict[str, tuple[str, str]]:
    """Read ``object_nouns.csv``: noun or its plural, in lower case -> (singular, category)."""
    found: dict[str, tuple[str, str]] = {}
    for row in read_table(path, ("noun", "category")):
        noun = " ".join(row.required("noun").casefold().split())
        if len(noun.split()) > LONGEST_NOUN:
            row.fail(f"the noun {noun!r} is longer than {LONGEST_NOUN} words; write its last words")
        if noun in found:
            row.fail(f"the noun {noun!r} stands twice; keep one line")
        found[noun] = noun, row.one_of("category", CATEGORIES + EXTRA_CATEGORIES)
    return {plural(noun): entry for noun, entry in found.items()} | found


@cache
def after_the_noun(path: Path) -> frozenset[str]:
    """Read ``after_the_noun.csv``: words, in lower case, that end a noun group."""
    return frozenset(row.required("word").casefold() for row in read_table(path, ("word",)))
