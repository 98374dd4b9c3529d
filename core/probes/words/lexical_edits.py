"""Lexical edits of a caption: words repeated, removed, masked, jumbled, and nouns that change places.

Each is a pure function of a caption and a random generator. Source: paper B, section 5.2 and Algorithm 1.

A noun takes the number of the noun that it replaces. An English count noun is inflected for it, and goes wherever
another is counted; one that no word determines in the singular (*food*) goes where another such stood. Of the other
languages the one form is known that is said: their nouns go where the article or the number before them says as many,
in Japanese where the same counter stands. An adjective that stays asks for its own gender. A noun whose number nothing
tells stays. Nouns that only *and*, *beside* or the like parts say the same the other way round (*a cat beside a dog*).

Shuffles of a caption's words, as paper D makes them: without the final full stop, lower case, a capital, the stop.
Source: paper D, 4.4.2 and its code, which draws without a seed, so that its captions cannot be made again; shuffles of
a part of the words: Yuksekgonul et al., When and why vision-language models behave like bags-of-words, ICLR 2023 (ARO).
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import NoReturn

import numpy as np

from core.errors import ProbeRejected
from core.probes.words.articles import Article, agreed, articles_before, placed, sounded
from core.probes.words.caption_words import (
    Phrase,
    Word,
    closed_words,
    core_text,
    join,
    kind_of,
    named_phrases,
    nouns_and_adjectives,
    whole_phrases,
    words,
)
from core.probes.words.english import listed
from core.probes.words.grammar import Number, in_number, number_of
from core.probes.words.whole_names import describing, noun_places, of_several, whole_name

_STOPS = (".", "。")


@dataclass(frozen=True, slots=True)
class _Place:
    """A noun where it stands."""

    noun: str  # as it is said
    kind: Hashable  # nouns of one kind may stand for each other; None: it stays
    many: bool = False  # whether it is said of several, by which an English noun is inflected
    described: bool = False  # whether an adjective stays beside it
    article: Article | None = None  # what stands before it in German, French and Spanish

    def said(self, place: "_Place", language: str) -> str:
        """This noun as it is said at a place; empty where it cannot stand there."""
        if self is place:
            return self.noun
        if self.kind is None or self.kind != place.kind:
            return ""
        if self.article and place.article:
            one = len(place.article.genders) == 1 or (language == "de" and "plural" in place.article.genders[0])
            agrees = not place.described or (one and set(self.article.genders) == set(place.article.genders))
            return self.noun if agrees and agreed(self.article, place.article, self.noun, language) else ""
        return in_number(self.noun, many=place.many) if language == "en" else self.noun


class Exchange:
    """The nouns of a caption in other orders. ``language``: of LANGUAGES."""

    def __init__(self, found: Sequence[Word], phrases: Sequence[Phrase], language: str) -> None:
        phrases = tuple(_whole(found, phrases)) if language == "en" else phrases
        self._found, self._phrases, self._language = found, phrases, language
        self._places = tuple(_PLACES.get(language, _by_article)(found, phrases, language))
        self._groups = tuple(_groups(found, phrases, self._places, language))
        self._now = self._reading([place.noun for place in self._places])

    @property
    def count(self) -> int:
        """How many nouns may be asked to change places."""
        return len(self._places)

    def nearest(self, order: Sequence[int]) -> list[int]:
        """An order of the nouns, changed where one cannot stand so; cut off where none is left for a place."""
        left, made = dict.fromkeys(order), list[int]()
        for place, wanted in enumerate(order):
            stays = self._places[place].kind is None
            fits = (
                each for each in ((place,) if stays else (wanted, *left)) if each in left and self._said(each, place)
            )
            chosen = next(fits, None)
            if chosen is None:
                break
            made.append(chosen)
            del left[chosen]
        return made

    def written(self, order: Sequence[int]) -> list[str]:
        """The words of the caption with its nouns in an order; none where one cannot stand so, or the same is said.
        ``order``: for each place, which of the nouns comes there."""
        nouns = [self._said(noun, place) for place, noun in enumerate(order)]
        if len(nouns) < len(self._places) or not all(nouns) or self._reading(nouns) == self._now:
            return []
        return placed(self._found, self._phrases, order, nouns, self._language)

    def _said(self, noun: int, place: int) -> str:
        return self._places[noun].said(self._places[place], self._language)

    def _reading(self, nouns: Sequence[str]) -> list[tuple[int, str]]:
        """What is said: which nouns stand in each group of places that may be read in any order."""
        return sorted(zip(self._groups, (noun.casefold() for noun in nouns), strict=False))


def _whole(found: Sequence[Word], phrases: Sequence[Phrase]) -> Iterator[Phrase]:
    """English nouns with what makes a longer name of them (*polar bear*), without those that are no head of one."""
    nouns = noun_places(found)
    for first, last in phrases:
        noun = core_text(found, first, last, "en")
        name = whole_name(found, nouns, first, last, in_number(noun, many=False) or noun)
        if name is None or not name.sure:
            yield (name.first if name and name.headed else first, last)


def _english(found: Sequence[Word], phrases: Sequence[Phrase], language: str) -> Iterator[_Place]:
    for first, last in phrases:
        noun, start = core_text(found, first, last, language), describing(found, first)
        before, many = found[start - 1].core.casefold() if start else "", of_several(found, first, last)
        if many is None:
            yield _Place(noun, None)
            continue
        mass = number_of(noun) is Number.MASS
        determined = closed_words(before, ("determiners",)) or before.endswith(("'s", "’s", "s'", "s’"))
        bare = start > 0 and (before in listed("amounting") or bool(found[start - 1].trail) or not determined)
        counted = many or before in listed("of_one") or not (mass or bare)
        yield _Place(noun, "counted" if counted else "uncounted", many, described=start < first)


def _by_article(found: Sequence[Word], phrases: Sequence[Phrase], language: str) -> Iterator[_Place]:
    for (first, last), here in zip(phrases, articles_before(found, phrases, language), strict=True):
        noun = core_text(found, first, last, language)
        many = {gender.endswith("plural") for gender in here.genders} if here else set[bool]()
        weak = language == "de" and noun.endswith(_WEAK) and here and here.genders[0] in ("masculine", "neuter")
        if here is None or len(many) > 1 or weak:
            yield _Place(noun, None)
            continue
        described = bool(here.after) or _described(found, last, here.genders, language)
        yield _Place(noun, (many == {True}, here.group), described=described, article=here)


_WEAK = ("e", "ant", "ist", "aut", "bär", "Bär")
"""Endings of German masculines that change with the case: *ein Löwe*, but *im Löwen*."""

_ARTICLES = frozenset(("un", "une", "des", "le", "la", "les", "una", "unos", "unas", "el", "los", "las"))


def _described(found: Sequence[Word], last: int, genders: Sequence[str], language: str) -> bool:
    """Whether the word after a French or Spanish noun may be an adjective with the ending of its gender.
    What an article follows is a verb: *la fille porte un chapeau*."""
    if language == "de" or found[last].trail or last + 1 == len(found):
        return False
    text, after = found[last + 1].core.casefold(), found[last + 2 : last + 3]
    if kind_of(text, language) != "open" or (after and after[0].core.casefold() in _ARTICLES):
        return False
    if genders[0].endswith("plural"):
        return text.endswith("s")
    feminine = any(gender.startswith("feminine") for gender in genders)
    if language == "es":
        return text.endswith("a" if feminine else "o")
    return text.endswith("e") == feminine


def _by_counter(found: Sequence[Word], phrases: Sequence[Phrase], language: str) -> Iterator[_Place]:
    for first, last in phrases:
        before = found[first - 2] if first > 1 and found[first - 1].core == "の" else Word("", "", "")
        one_word = before.core in listed("frames", "ja") and before.core[:1] in _NUMBERS
        counted = before.core.lstrip(_NUMBERS) if one_word or before.kind.startswith(_COUNTER) else ""
        yield _Place(core_text(found, first, last, language), counted)


_COUNTER = "名詞,接尾,助数詞"
_NUMBERS = "一二三四五六七八九十"
_PLACES: Mapping[str, Callable[[Sequence[Word], Sequence[Phrase], str], Iterator[_Place]]] = MappingProxyType(
    {"en": _english, "ja": _by_counter}
)


def _groups(found: Sequence[Word], phrases: Sequence[Phrase], places: Sequence[_Place], language: str) -> Iterator[int]:
    """A number for each place, that of the place before where *and*, *beside* or their like part them alone."""
    group = 0
    for index, (first, _) in enumerate(phrases):
        if not index or places[index - 1].described or not _parted(found, phrases[index - 1][1], first, language):
            group = index
        yield group


def _parted(found: Sequence[Word], last: int, first: int, language: str) -> bool:
    """Whether what stands between a noun's last word and the next one's first says the same the other way round."""
    between = found[last + 1 : first]
    if found[last].trail not in ("", ",") or any(word.trail for word in between):
        return False
    texts = {word.core.casefold() for word in between}
    either = listed("either_way", language)
    return bool(found[last].trail or texts & either) and texts <= either | listed("either_way_too", language)


def drop_nouns(found: Sequence[Word], language: str) -> list[str]:
    """Leave every noun out; signs beside it go with it.
    Raises ProbeRejected ``few-nouns`` where the caption has none, or nothing else."""
    phrases = _nouns(found, language, least=1)
    gone = {index for first, last in phrases for index in range(first, last + 1)}
    if len(gone) == len(found):
        raise ProbeRejected("few-nouns", f"nothing is left of {join(found, language)!r} without its nouns")
    return [word.text for index, word in enumerate(found) if index not in gone]


def repeat_first_noun(found: Sequence[Word], language: str) -> list[str]:
    """Say the first noun once more before the last word.
    Raises ProbeRejected ``few-nouns`` where the caption has none."""
    phrases = _nouns(found, language, least=1)
    end = max(index for index, word in enumerate(found) if any(sign.isalnum() for sign in word.core))
    texts, noun = [word.text for word in found], core_text(found, *phrases[0], language)
    if language == "en" and end:
        texts[end - 1] = sounded(found[end - 1], noun)
    return [*texts[:end], noun, *texts[end:]]


def swap_first_and_last_noun(found: Sequence[Word], language: str) -> list[str]:
    """Let the first and the last noun change places, each in the other's number, the articles before them fitted.
    Raises ProbeRejected ``few-nouns`` where there is one, one cannot stand in the other's place, or it says the same.
    """
    phrases = _nouns(found, language, least=2)
    exchange = Exchange(found, phrases, language)
    order = list(range(exchange.count))
    order[:1], order[-1:] = order[-1:], order[:1]
    return exchange.written(order) or _refuse(found, phrases, language)


NOUN_EDITS: Mapping[str, Callable[[Sequence[Word], str], list[str]]] = MappingProxyType(
    {"drop-nouns": drop_nouns, "repeat-first-noun": repeat_first_noun, "swap-nouns": swap_first_and_last_noun}
)
"""The three edits by name; each takes (words of a caption, language) and returns the words of the edited one."""


def _nouns(found: Sequence[Word], language: str, *, least: int) -> tuple[Phrase, ...]:
    phrases = whole_phrases(found, language)
    if len(phrases) < least:
        named = ", ".join(repr(core_text(found, *each, language)) for each in phrases) or "none"
        raise ProbeRejected("few-nouns", f"{least} nouns are needed; {join(found, language)!r} has {named}")
    return phrases


def _refuse(found: Sequence[Word], phrases: Sequence[Phrase], language: str) -> NoReturn:
    named = ", ".join(repr(core_text(found, *each, language)) for each in phrases) or "none"
    told = "two different nouns must change places, each in the other's number, and something else be said"
    raise ProbeRejected("few-nouns", f"{told}; {join(found, language)!r} has {named}")


SHARE = 0.4  # probability that a word is hit. Source: paper B, section 5.2 (its Algorithm 1 leaves the threshold open).
MASK = "[MASK]"

_TRIES = 20

Edit = Callable[[Sequence[Word], np.random.Generator, str, float], list[str]]
"""(words of a caption, generator, language, share) -> the words of the edited one, as they are written."""


def repeated(found: Sequence[Word], rng: np.random.Generator, language: str, share: float) -> list[str]:  # noqa: ARG001
    """Say each word twice with probability ``share``; one word where chance chose none.

    >>> repeated(words("I am a boy"), np.random.default_rng(3), "en", SHARE)
    ['I', 'I', 'am', 'am', 'a', 'boy']
    """
    hit = _hits(len(found), rng, share)
    return [word.text for word, twice in zip(found, hit, strict=True) for _ in range(1 + int(twice))]


def removed(found: Sequence[Word], rng: np.random.Generator, language: str, share: float) -> list[str]:  # noqa: ARG001
    """Leave each word out with probability ``share``: at least one word goes, and at least one stays.
    A caption of one word stays as it is."""
    hit = _hits(len(found), rng, share, most=max(len(found) - 1, 0))
    return [word.text for word, gone in zip(found, hit, strict=True) if not gone]


def kept(found: Sequence[Word], rng: np.random.Generator, language: str, share: float) -> list[str]:  # noqa: ARG001
    """Keep each word with probability ``share`` and leave the others out: removal as paper B's Algorithm 1 prints it.
    The draws are those of :func:`repeated` and :func:`masked` under the same generator: the words that those double or
    hide are the ones that stay. A caption of one word stays as it is."""
    hit = _hits(len(found), rng, share, most=max(len(found) - 1, 1))
    return [word.text for word, stays in zip(found, hit, strict=True) if stays]


def masked(found: Sequence[Word], rng: np.random.Generator, language: str, share: float) -> list[str]:  # noqa: ARG001
    """Put ``[MASK]`` in the place of each word with probability ``share``; of one word where chance chose none."""
    hit = _hits(len(found), rng, share)
    return [MASK if hidden else word.text for word, hidden in zip(found, hit, strict=True)]


def jumbled(found: Sequence[Word], rng: np.random.Generator, language: str, share: float) -> list[str]:  # noqa: ARG001
    """Put all words into a random order; the old one only where there is no other (one word, or one repeated)."""
    return [found[index].text for index in other_order(found, rng)]


def substituted(
    found: Sequence[Word],
    rng: np.random.Generator,
    language: str,
    share: float,  # noqa: ARG001
    *,
    names: Sequence[str] = (),
) -> list[str]:
    """Let the nouns change places: a random order that says something else; all other words but their articles stay.
    What a noun is in each language: :func:`core.probes.words.caption_words.whole_phrases`; which of them may change
    places: :mod:`core.probes.words.lexical_edits`. A noun of several words is one word.
    ``names``: what changes places, as the caption says it; empty: the nouns that are found.
    Raises ProbeRejected code ``few-nouns``, where fewer than two may."""
    phrases = named_phrases(found, names, language) if names else whole_phrases(found, language)
    exchange = Exchange(found, phrases, language)
    for _ in range(_TRIES):
        drawn = [int(index) for index in rng.permutation(exchange.count)]
        if written := exchange.written(exchange.nearest(drawn)):
            return written
    _refuse(found, phrases, language)


ON_WORDS: Mapping[str, Edit] = MappingProxyType(
    {
        "repetition": repeated,
        "removal": removed,
        "masking": masked,
        "jumble": jumbled,
        "substitution": substituted,
        "kept": kept,
    }
)
"""The edits of a caption that is split already; ``kept`` is removal as printed."""


def _on_text(edit: Edit) -> Callable[..., str]:
    def edited(caption: str, rng: np.random.Generator, *, language: str = "en", share: float = SHARE) -> str:
        return join(edit(words(caption, language), rng, language, share), language)

    return edited


EDITS: Mapping[str, Callable[..., str]] = MappingProxyType(
    {name: _on_text(edit) for name, edit in ON_WORDS.items() if name != "kept"}
)
"""The five edits of paper B by name; each takes ``(caption, rng, *, language, share)``."""


def _hits(count: int, rng: np.random.Generator, share: float, *, most: int | None = None) -> np.ndarray:
    """Which of ``count`` words are hit, bool [count]; at least one: an edit that changes nothing tests nothing.
    A word is hit where its draw, uniform in [0, 1), is below ``share``. Where none is, the smallest draw is hit; above
    ``most`` hits, the largest draws are spared. So a larger share of the same draws hits the same words and more."""
    draws = rng.random(count)
    allowed = count if most is None else most
    wanted = min(max(int((draws < share).sum()), min(1, count)), allowed)
    hit = np.zeros(count, dtype=bool)
    hit[np.argsort(draws, kind="stable")[:wanted]] = True
    return hit


def other_order(found: Sequence[object], rng: np.random.Generator) -> list[int]:
    """A random order that reads differently, where one exists."""
    keys = [each.text if isinstance(each, Word) else each for each in found]
    for _ in range(_TRIES):
        order = [int(index) for index in rng.permutation(len(keys))]
        if [keys[index] for index in order] != keys:
            return order
    order = list(range(len(keys)))
    other = next((index for index in order if keys[index] != keys[0]), None)
    if other is not None:
        order[0], order[other] = other, 0
    return order


def shuffle(caption: str, rng: np.random.Generator, *, language: str = "en") -> tuple[str, str]:
    """Shuffle the words of a caption until their order differs.

    English words are written in lower case, as paper D has them; elsewhere the first word alone, since the capital of a
    German noun belongs to the word.
    Returns (the caption as it would be written without the shuffle, the shuffled one); they are equal where no other
    order reads differently.

    >>> shuffle("A man rides.", np.random.default_rng(0))
    ('A man rides.', 'Rides a man.')
    """
    text = caption.strip()
    stop = next((each for each in _STOPS if text.endswith(each)), "")
    found = [each.text for each in words(text.removesuffix(stop), language)]
    english = language == "en"
    lowered = [each.lower() if english or place == 0 else each for place, each in enumerate(found)]
    order = other_order([Word("", each, "") for each in lowered], rng)
    return written(lowered, stop, language), written([lowered[index] for index in order], stop, language)


def shuffle_part(caption: str, rng: np.random.Generator, part: str) -> tuple[str, str]:
    """Shuffle a part of an English caption's words until their order differs; see :func:`shuffle`.
    ``part``: of PARTS.
    Returns (the caption as it would be written without the shuffle, the shuffled one); they are equal where no other
    order of the part reads differently.

    >>> shuffle_part("A red dog on grass.", np.random.default_rng(0), "nouns-and-adjectives")
    ('A red dog on grass.', 'A grass red on dog.')
    """
    text = caption.strip()
    stop = next((each for each in _STOPS if text.endswith(each)), "")
    found = [Word("", each.text.lower(), "") for each in words(text.removesuffix(stop))]
    after = PARTS[part](found, rng)
    return written([each.text for each in found], stop), written([each.text for each in after], stop)


def _among(found: Sequence[Word], places: Sequence[int], rng: np.random.Generator) -> list[Word]:
    """Put the words of some places into another order; all others stay."""
    after = list(found)
    for place, index in zip(places, other_order([found[each] for each in places], rng), strict=True):
        after[place] = found[places[index]]
    return after


def _of_kind(found: Sequence[Word], rng: np.random.Generator, *, content: bool) -> list[Word]:
    return _among(found, [place for place, said in enumerate(nouns_and_adjectives(found)) if said == content], rng)


def _within(found: Sequence[Word], rng: np.random.Generator) -> list[Word]:
    return [word for three in _threes(found) for word in _among(three, range(len(three)), rng)]


def _trigrams(found: Sequence[Word], rng: np.random.Generator) -> list[Word]:
    threes = _threes(found)
    said = [Word("", join(three), "") for three in threes]
    return [word for index in other_order(said, rng) for word in threes[index]]


def _threes(found: Sequence[Word]) -> list[Sequence[Word]]:
    return [found[start : start + 3] for start in range(0, len(found), 3)]


PARTS: Mapping[str, Callable[[Sequence[Word], np.random.Generator], list[Word]]] = MappingProxyType(
    {
        "nouns-and-adjectives": partial(_of_kind, content=True),
        "all-but-nouns-and-adjectives": partial(_of_kind, content=False),
        "within-trigrams": _within,
        "trigrams": _trigrams,
    }
)
"""Which words change places: of a kind among themselves, within every three in a row, or the threes as wholes."""


def written(found: Sequence[str], stop: str, language: str = "en") -> str:
    """Write words as a sentence: a capital at its beginning, the stop at its end."""
    text = join(found, language)
    return text[:1].upper() + text[1:] + stop
