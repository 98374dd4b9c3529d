"""The health of captions: what a captioner that was trained on a metric's score learns to do. English.

References:
    [1] paper C, 5.8 and table 9 (Rep-n, incorrect endings, length).
    [2] Li, J. et al. (2016). A diversity-promoting objective function for neural conversation models (distinct-n).
    [3] Rohrbach, A. et al. (2018). Object hallucination in image captioning (CHAIR).
"""

from collections.abc import Collection, Iterable, Sequence
from functools import cache, lru_cache

from core.corpora.schema import Item
from core.probes.families.tails import tail_of_length, tails
from core.probes.tables import read_table
from core.probes.words.caption_words import words
from core.probes.words.categories import MOST_WORDS, annotated, every_name, looked_for, named_in, vocabulary
from core.settings import assets_dir

MOST_REPEATED = 4  # longest n of Rep-n. Source: [1].

_KINDS = ("determiner", "conjunction", "preposition")


@lru_cache(maxsize=8192)
def plain_words(caption: str) -> tuple[str, ...]:
    """Words of a caption in lower case, without signs.

    >>> plain_words("A man, on a bench.")
    ('a', 'man', 'on', 'a', 'bench')
    """
    return tuple(word.core.casefold() for word in words(caption) if word.core)


def grams(said: Sequence[str], n: int) -> tuple[tuple[str, ...], ...]:
    """Every n words in a row, from the left."""
    return tuple(tuple(said[start : start + n]) for start in range(len(said) - n + 1))


def repeated(caption: str, n: int) -> int:
    """Rep-n of one caption: how many of its n-grams were there before [1].

    >>> repeated("a dog and a dog", 1), repeated("a dog and a dog", 2)
    (2, 1)
    """
    found = grams(plain_words(caption), n)
    return len(found) - len(set(found))


def distinct(captions: Iterable[str], n: int) -> tuple[int, int]:
    """Different n-grams of some captions, and all of them: distinct-n is their ratio [2]."""
    found = [each for caption in captions for each in grams(plain_words(caption), n)]
    return len(set(found)), len(found)


def ends_wrongly(caption: str) -> bool:
    """Whether a caption breaks off: its last word is in ``assets/health/endings.csv``.

    >>> ends_wrongly("A man sits on a."), ends_wrongly("A man sits down.")
    (True, False)
    """
    said = plain_words(caption)
    return bool(said) and said[-1] in endings()


def ends_hollow(caption: str) -> bool:
    """Whether a caption ends in words about nothing: a tail of ``assets/words/tails.csv``, or the same words again.

    >>> ends_hollow("A man in the background of setting area"), ends_hollow("A dog dog."), ends_hollow("A dog.")
    (True, True, False)
    """
    said = plain_words(caption)
    again = any(len(said) >= 2 * n and said[-n:] == said[-2 * n : -n] for n in (1, 2))
    return again or any(
        said[-length:] == tuple(tail_of_length(tail, unit, length).split())
        for tail, unit in tails("hollow")
        for length in range(len(tail.split()), len(said) + 1)  # longer than the tail, its unit is repeated
    )


def is_hollow(caption: str) -> bool:
    """Whether a caption ends wrongly or in words about nothing."""
    return ends_hollow(caption) or ends_wrongly(caption)


@cache
def endings() -> frozenset[str]:
    """Words on which a caption cannot well end, in lower case."""
    rows = read_table(assets_dir() / "health" / "endings.csv", ("word", "kind"))
    return frozenset(row.required("word").casefold() for row in rows if row.one_of("kind", _KINDS))


def objects_named(caption: str) -> tuple[frozenset[str], ...]:
    """COCO categories that an English caption names, a set a mention: the categories that its word may stand for.
    The longest name counts at each place, so that a *baseball bat* is no bat."""
    said = tuple("".join(sign if sign.isalnum() else " " for sign in caption.casefold()).split())
    found: list[frozenset[str]] = []
    place = 0
    while place < len(said):
        size = next((size for size in range(MOST_WORDS, 0, -1) if said[place : place + size] in every_name()), 0)
        found += [every_name()[said[place : place + size]]] if size else []
        place += size or 1
    return tuple(found)


def objects_there(item: Item, references: Collection[str]) -> frozenset[str]:
    """Categories that an item shows: annotated ones, and those that captions by people name [3].
    ``item``: of :func:`known_instances`. ``references``: captions by people other than the one that is looked at."""
    return frozenset(annotated(item)) | frozenset(label for text in references for label in named_in(text))


def known_instances(items: Iterable[Item]) -> frozenset[str]:
    """Ids of the items whose things are annotated, all with COCO's categories, each of which the source looked for.
    Empty where no item has several things: a corpus of one object an item says nothing of the others in the picture."""
    given = list(items)
    if not any(item.others for item in given):
        return frozenset()
    known = vocabulary().keys()
    return frozenset(
        item.id for item in given if annotated(item) and annotated(item).keys() <= known <= looked_for(item.looked_for)
    )
