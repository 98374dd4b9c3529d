"""Articles that agree with the noun that an edit puts behind them: *a dog*, *an umbrella*, *un perro*, *una silla*.

English articles go by sound. In German, French and Spanish each noun brings its gender and number along, told by the
article that stood before it, in Spanish by its ending where none did; kind and case are those of the new place. Where
nothing tells a noun's gender the article stays as it is. The forms: ``assets/lexicons/articles_by_gender.csv``.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from core.probes.tables import lexicon_path, read_table
from core.probes.words.caption_words import Phrase, Word, core_text
from core.probes.words.english import dictionary, listed
from core.probes.words.grammar import article_like, capital_like, is_plural

_GENDERS = ("masculine", "feminine", "neuter", "masculine_plural", "feminine_plural")
_ENDINGS = {"a": "feminine", "o": "masculine", "as": "feminine_plural", "os": "masculine_plural"}
_CASES = {"dative": ("dative",), "accusative": ("accusative",), "either_case": ("accusative", "dative")}
"""Lists of German prepositions, and the cases that stand after them."""
_GENDERED = ("de", "fr", "es")
_BETWEEN = 2
"""Adjectives between an article and its noun, at most."""

Cell = tuple[str, str, str]
"""Kind, case and gender of a form."""


@dataclass(frozen=True, slots=True)
class _Article:
    """The article of a noun: where it stands among the words, how many words it has, and what it may be."""

    first: int
    size: int
    said: str
    cells: tuple[Cell, ...]

    @property
    def genders(self) -> tuple[str, ...]:
        """What the noun behind it may be; a singular where it may be either."""
        one = tuple(gender for *_, gender in self.cells if not gender.endswith("plural"))
        return one or tuple(gender for *_, gender in self.cells)


def sounded(before: Word, following: str) -> str:
    """An English word as it is written before a text: *a* or *an* by the text's sound, any other as it stands."""
    if before.core.casefold() not in ("a", "an") or before.trail:
        return before.text
    return before.lead + article_like(before.core, following)


def _several(noun: str) -> bool:
    head = noun.split(" ")[-1]
    return not head.isupper() and is_plural(head.casefold())


def _some(before: Word) -> str:
    """A word before a plural: *some* for *a*."""
    if before.core.casefold() not in ("a", "an") or before.trail:
        return before.text
    return before.lead + capital_like("some", before.core)


def placed(found: Sequence[Word], phrases: Sequence[Phrase], order: Sequence[int], language: str) -> list[str]:
    """Write a caption with its noun phrases in another order, the articles before them fitted, all else as it stands.

    Args:
        found: the words of the caption.
        phrases: where the noun phrases stand.
        order: for each place, which of the phrases comes there.
        language: of LANGUAGES.

    Example:
        >>> from core.probes.words.caption_words import words
        >>> placed(words("a dog under an umbrella"), [(1, 1), (4, 4)], [1, 0], "en")
        ['an', 'umbrella', 'under', 'a', 'dog']
    """
    apart, spans = _apart(found, phrases)
    nouns = [core_text(apart, *span, language) for span in spans]
    stands = [_before(apart, spans, place, language) if language in _GENDERED else None for place in range(len(spans))]
    texts = [word.text for word in apart]
    for place, (first, last) in enumerate(spans):
        noun = nouns[order[place]]
        if language == "en":
            noun = _capital(noun, place=first, was=spans[order[place]][0], opening=apart[0].core)
        texts[first : last + 1] = [apart[first].lead + noun + apart[last].trail, *[""] * (last - first)]
        if language == "en" and first:
            texts[first - 1] = _some(apart[first - 1]) if _several(noun) else sounded(apart[first - 1], noun)
        if (here := stands[place]) and order[place] != place:
            own = stands[order[place]]
            genders = _numbered(own.genders if own else _by_ending(noun, language), apart, here, language)
            after = noun if here.first + here.size == first else apart[here.first + here.size].core
            said = capital_like(_agreeing(here, genders, after, language), apart[here.first].core)
            texts[here.first : here.first + here.size] = [apart[here.first].lead + said, *[""] * (here.size - 1)]
    return _together(texts)


def _capital(noun: str, *, place: int, was: int, opening: str) -> str:
    """An English noun with the capital of a sentence's beginning, and without where it had it for that reason alone."""
    if place == 0 and was and opening[:1].isupper():
        return capital_like(noun, opening)
    first = noun.split(" ")[0]
    began = place and was == 0 and first[1:].islower() and dictionary(first.casefold())
    return noun[:1].lower() + noun[1:] if began else noun


def _numbered(genders: Collection[str], found: Sequence[Word], here: _Article, language: str) -> list[str]:
    """The genders of a noun, in the plural after *one of the*."""
    before = found[here.first - 1].core.casefold() if here.first else ""
    several = here.cells[0][2].endswith("plural") and before in listed("counts", language)
    many = {"feminine": "feminine_plural"}
    return [
        many.get(gender, "masculine_plural") if several and "plural" not in gender else gender for gender in genders
    ]


def _apart(found: Sequence[Word], phrases: Sequence[Phrase]) -> tuple[list[Word], list[Phrase]]:
    """Words with French l' and d' as their own words, and where the phrases stand among them."""
    apart, places = list[Word](), list[int]()
    for word in found:
        if word.kind == "elided":
            signs = len(word.lead.rstrip('"“«‹([{')) if not word.lead.endswith(("'", "’")) else len(word.lead)
            apart.append(Word(word.lead[: signs - 2], word.lead[signs - 2 : signs], ""))
            word = Word(word.lead[signs:], word.core, word.trail)
        places.append(len(apart))
        apart.append(word)
    return apart, [(places[first], places[last]) for first, last in phrases]


def _together(texts: Sequence[str]) -> list[str]:
    """Write l' and d' to the word behind them again."""
    joined = list[str]()
    for text in texts:
        if joined and joined[-1].endswith(("'", "’")) and text:
            joined[-1] += text
        elif text:
            joined.append(text)
    return joined


def _before(found: Sequence[Word], spans: Sequence[Phrase], place: int, language: str) -> _Article | None:
    """The article of a noun phrase, with nothing but adjectives between."""
    first = spans[place][0]
    for end in range(first, max(0, first - _BETWEEN - 1), -1):
        if end < first and not _may_describe(found[end], language):
            return None
        for size in (2, 1):
            said = " ".join(word.core.casefold().replace("’", "'") for word in found[max(0, end - size) : end])
            cells = _cells().get((language, said), ())
            if end >= size and cells and not any(word.trail for word in found[end - size : end]):
                here = _Article(end - size, size, said, cells)
                return _in_case(found, spans, place, here) if language == "de" else here
    return None


def _may_describe(word: Word, language: str) -> bool:
    """Whether a word may be an adjective between an article and its noun."""
    text = word.core.casefold()
    if language == "de":
        return (
            word.core.islower() and text.endswith(("e", "en", "er", "es", "em")) and text not in listed("closed", "de")
        )
    return text in listed("before", language)


def _in_case(found: Sequence[Word], spans: Sequence[Phrase], place: int, here: _Article) -> _Article:
    """A German article with those of its readings that its place allows, likeliest first."""
    cases = _cases_of(found, spans, place, here)
    cells = tuple(cell for case in cases for cell in here.cells if cell[1] == case)
    if cases == ("genitive",):  # eine der Frauen
        cells = tuple(cell for cell in cells if cell[2].endswith("plural"))
    return _Article(here.first, here.size, here.said, cells or here.cells)


def _cases_of(found: Sequence[Word], spans: Sequence[Phrase], place: int, here: _Article) -> Sequence[str]:
    before = found[here.first - 1] if here.first else Word("", "", "")
    text = before.core.casefold()
    prepositions = next((cases for name, cases in _CASES.items() if text in listed(name, "de")), None)
    if prepositions or here.size == 2:
        return prepositions or ("dative", "accusative")
    if text in listed("counts", "de"):
        return ("genitive",)
    if any(last == here.first - 1 for _, last in spans) and not before.trail:
        return ("genitive", "nominative", "accusative", "dative")
    subject = text != "gibt" and not any(_is_subject(found, first) for first, _ in spans[:place])
    if subject or (place == 1 and text in listed("joins", "de")):
        return ("nominative", "accusative", "dative", "genitive")
    return ("accusative", "nominative", "dative", "genitive")


def _is_subject(found: Sequence[Word], first: int) -> bool:
    """Whether no preposition stands right before a noun, its article and adjectives."""
    inner = {word.core.casefold() for word in found[max(0, first - _BETWEEN - 2) : first]}
    return not any(inner & listed(name, "de") for name in (*_CASES, "contracted"))


def _agreeing(here: _Article, genders: Collection[str], following: str, language: str) -> str:
    """The form for a noun of some genders, in the kind and case of the article that stands there."""
    candidates = [
        form
        for kind, case in dict.fromkeys((kind, case) for kind, case, _ in here.cells)
        for gender in genders
        if (form := _form((language, kind, case), gender, following))
    ]
    return candidates[0] if candidates and here.said not in candidates else here.said


def _form(row: Cell, gender: str, following: str) -> str:
    forms = _forms()[row]
    vowel = row[0] == "fr" and not gender.endswith("plural") and _elides(following)
    if row[:2] == ("fr", "this") and vowel and gender == "masculine":
        return "cet"
    return (vowel and forms["before_vowel"]) or forms[gender]


def _elides(following: str) -> bool:
    """Whether a French word begins with a vowel or a silent h."""
    text = following.casefold()
    return text[:1] in "aeiouàâéèêëîïôûœæ" or (text[:1] == "h" and text.rstrip("sx") not in listed("aspirated", "fr"))


def _by_ending(noun: str, language: str) -> tuple[str, ...]:
    """Gender and number by a Spanish noun's ending; empty where nothing tells it."""
    text = noun.split()[0].casefold() if noun.split() else ""
    if language != "es":
        return ()
    return tuple(gender for ending, gender in _ENDINGS.items() if text.endswith(ending))


@cache
def _forms() -> Mapping[Cell, Mapping[str, str]]:
    """(language, kind, case) -> gender -> form."""
    columns = ("language", "kind", "case", *_GENDERS, "before_vowel")
    rows = read_table(lexicon_path("articles_by_gender.csv"), columns)
    return MappingProxyType(
        {(row["language"], row["kind"], row["case"]): {name: row[name] for name in columns[3:]} for row in rows}
    )


@cache
def _cells() -> Mapping[tuple[str, str], tuple[Cell, ...]]:
    """(language, form) -> everything that it may be."""
    found = defaultdict[tuple[str, str], list[Cell]](list)
    for (language, kind, case), forms in _forms().items():
        for gender in _GENDERS:
            found[language, forms[gender]].append((kind, case, gender))
            if forms["before_vowel"] and not gender.endswith("plural") and forms[gender]:
                found[language, forms["before_vowel"]].append((kind, case, gender))
    found.pop(("", ""), None)
    return MappingProxyType({key: tuple(dict.fromkeys(cells)) for key, cells in found.items() if key[1]})
