"""Nouns that name an object in a human caption: the table of them, and the rule that finds one in a text."""

import re
from functools import cache
from pathlib import Path

from core.corpora.schema import CATEGORIES, EXTRA_CATEGORIES
from core.probes.tables import lexicon_path, read_table
from core.probes.words.grammar import plural

WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")

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
    """Whether nothing that could continue a noun group follows: a sign, a word of ``after_the_noun.csv``, -ing, -ed."""
    rest = text[position:]
    if not rest.strip() or rest.lstrip()[0] in '.,;:!?()"':
        return True
    following = re.compile(r"\s+(" + WORD.pattern + ")").match(rest)
    word = following[1].casefold() if following else ""
    return word in after_the_noun(lexicon_path("after_the_noun.csv")) or word.endswith(("ing", "ed"))


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
