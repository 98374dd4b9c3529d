"""Which nouns of a caption may change places, and how each is said at another's.

A noun takes the number of the noun that it replaces. An English count noun is inflected for it, and goes wherever
another is counted; one that no word determines in the singular (*food*) goes where another such stood. Of the other
languages the one form is known that is said: their nouns go where the article or the number before them says as many,
in Japanese where the same counter stands. An adjective that stays asks for its own gender. A noun whose number nothing
tells stays.

Nouns that only *and*, *beside* or the like parts say the same the other way round (*a cat beside a dog*).
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from core.probes.words.articles import Article, agreed, articles_before, placed
from core.probes.words.caption_words import Phrase, Word, closed_words, core_text, kind_of
from core.probes.words.english import listed
from core.probes.words.grammar import Number, in_number, number_of
from core.probes.words.whole_names import describing, noun_places, of_several, whole_name


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
        bare = start > 0 and (before in listed("amounting") or not _determines(found[start - 1]))
        counted = many or before in listed("of_one") or not (mass or bare)
        yield _Place(noun, "counted" if counted else "uncounted", many, described=start < first)


def _determines(word: Word) -> bool:
    text = word.core.casefold()
    return not word.trail and (closed_words(text, ("determiners",)) or text.endswith(("'s", "’s", "s'", "s’")))


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

    What an article follows is a verb: *la fille porte un chapeau*.
    """
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
