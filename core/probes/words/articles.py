"""Articles that agree with the noun that an edit puts behind them: *a dog*, *an umbrella*, *un perro*, *una silla*.

English articles go by sound. In German, French and Spanish each noun brings its gender and number along, told by the
article or the number that stood before it, and by ``assets/words/nouns.csv`` where that has the noun; kind and case are
those of the new place. The forms: ``assets/lexicons/articles_by_gender.csv``.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from types import MappingProxyType

from core.probes.tables import lexicon_path, read_table, words_path
from core.probes.words.caption_words import Phrase, Word, core_text
from core.probes.words.english import listed
from core.probes.words.grammar import article_like, capital_like, within_sentence

_GENDERS = ("masculine", "feminine", "neuter", "masculine_plural", "feminine_plural")
_CASES = {"dative": ("dative",), "accusative": ("accusative",), "either_case": ("accusative", "dative")}
"""Lists of German prepositions, and the cases that stand after them."""
_GENDERED = ("de", "fr", "es")
_BETWEEN = 2  # adjectives between an article and its noun, at most
Cell = tuple[str, str, str]  # kind, case and gender of a form
_ONE = (["a", ""], ["a", "nominative"])


@dataclass(frozen=True, slots=True)
class Article:
    """The article of a noun, or the number before it."""

    # first, size: where it stands, and how many words it has
    first: int
    size: int
    cells: tuple[Cell, ...]  # what it may be, the likeliest first
    after: str = ""  # the adjective between it and the noun; empty where there is none
    # nouns of one number may stand for each other within it: a French partitive is of what is not counted, and a
    # German plural has another form after most prepositions
    group: str = ""

    @property
    def genders(self) -> tuple[str, ...]:
        """What the noun behind it may be: gender, and number."""
        return tuple(dict.fromkeys(gender for *_, gender in self.cells))


def sounded(before: Word, following: str) -> str:
    """An English word as it is written before a text: *a* or *an* by the text's sound, any other as it stands."""
    if before.core.casefold() not in ("a", "an") or before.trail:
        return before.text
    return before.lead + article_like(before.core, following)


def articles_before(found: Sequence[Word], phrases: Sequence[Phrase], language: str) -> list[Article | None]:
    """What stands before each German, French or Spanish noun phrase; None where it tells neither gender nor number."""
    apart, spans = _apart(found, phrases)
    return [_before(apart, spans, place, language) for place in range(len(spans))]


def placed(
    found: Sequence[Word], phrases: Sequence[Phrase], order: Sequence[int], nouns: Sequence[str], language: str
) -> list[str]:
    """Write a caption with its noun phrases in another order, the articles before them fitted, all else as it stands.
    ``phrases``: where the noun phrases stand. ``language``: of LANGUAGES.
    ``order``: for each place, which of the phrases comes there. ``nouns``: how that is said there.

    >>> from core.probes.words.caption_words import words
    >>> placed(words("a dog under an umbrella"), [(1, 1), (4, 4)], [1, 0], ["umbrella", "dog"], "en")
    ['an', 'umbrella', 'under', 'a', 'dog']
    """
    apart, spans = _apart(found, phrases)
    stands = [_before(apart, spans, place, language) if language in _GENDERED else None for place in range(len(spans))]
    texts = [word.text for word in apart]
    for place, ((first, last), noun) in enumerate(zip(spans, nouns, strict=True)):
        if language == "en":
            noun = _capital(noun, place=first, was=spans[order[place]][0], opening=apart[0].core)
        texts[first : last + 1] = [apart[first].lead + noun + apart[last].trail, *[""] * (last - first)]
        if language == "en" and first and (sound := sounded(apart[first - 1], noun)) != apart[first - 1].text:
            texts[first - 1] = sound
        own, here = stands[order[place]], stands[place]
        if own and here and own is not here:
            before = apart[here.first]
            said = before.lead + capital_like(agreed(own, here, noun, language), before.core)
            texts[here.first : here.first + here.size] = [said, *[""] * (here.size - 1)]
    joined = list[str]()
    for text in texts:  # l' and d' are written to the word behind them again
        if joined and joined[-1].endswith(("'", "’")) and text:
            joined[-1] += text
        elif text:
            joined.append(text)
    return joined


def _capital(noun: str, *, place: int, was: int, opening: str) -> str:
    """An English noun with the capital of a sentence's beginning, and without where it had it for that reason alone."""
    if place == 0 and was and opening[:1].isupper():
        return capital_like(noun, opening)
    return within_sentence(noun) if place and was == 0 else noun


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


def _before(found: Sequence[Word], spans: Sequence[Phrase], place: int, language: str) -> Article | None:
    """The article of a noun phrase, with nothing but adjectives between."""
    first = spans[place][0]
    for end in range(first, max(0, first - _BETWEEN - 1), -1):
        if end < first and not _may_describe(found[end], language):
            return None
        for size in (2, 1):
            said = " ".join(word.core.casefold().replace("’", "'") for word in found[max(0, end - size) : end])
            cells = tuple(  # no form of a feminine before a consonant is *son*
                cell
                for cell in _cells().get((language, said), ())
                if _form((language, *cell[:2]), cell[2], found[end].core) == said
            )
            if end >= size and cells and not any(word.trail for word in found[end - size : end]):
                here = Article(end - size, size, cells, found[end].core if end < first else "")
                if language == "de":
                    here = _in_case(found, spans, place, here)
                if language == "fr" and cells[0][0] == "of the":  # *du* after no noun: a part of what is not counted
                    last = here.first - 1
                    of_noun = found[last].core.casefold() in listed("frames", language)
                    partitive = not of_noun and all(other != last for _, other in spans)
                    here = replace(here, group="partitive" if partitive else "")
                known = _known().get((language, core_text(found, *spans[place], language).casefold()), frozenset())
                sure = tuple(cell for cell in here.cells if cell[2] in known)
                return replace(here, cells=sure or here.cells)
    return None


def _may_describe(word: Word, language: str) -> bool:
    """Whether a word may be an adjective between an article and its noun."""
    text = word.core.casefold()
    if language == "de":
        return (
            word.core.islower() and text.endswith(("e", "en", "er", "es", "em")) and text not in listed("closed", "de")
        )
    return text in listed("before", language)


def _in_case(found: Sequence[Word], spans: Sequence[Phrase], place: int, here: Article) -> Article:
    """A German article in the two cases that are likeliest at its place, or the one that it must have."""
    cases = _cases_of(found, spans, place, here)
    likely = cases[:1] if cases[0] == "genitive" else cases[:2]
    readings = {case: tuple(cell for cell in here.cells if cell[1] == case) for case in cases}
    cells = sum((readings[case] for case in likely), ()) or next(filter(None, readings.values()), ())
    if cases == ("genitive",):  # eine der Frauen
        cells = tuple(cell for cell in cells if cell[2].endswith("plural"))
    before = found[here.first - 1].core.casefold() if here.first else ""
    prepositions = (*_CASES, "contracted")
    several = here.genders[0].endswith("plural") and any(before in listed(name, "de") for name in prepositions)
    return replace(here, cells=cells or here.cells, group="after a preposition" if several else "")


def _cases_of(found: Sequence[Word], spans: Sequence[Phrase], place: int, here: Article) -> Sequence[str]:
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


def agreed(own: Article, here: Article, noun: str, language: str) -> str:
    """The article of a place before another noun; empty where *l'* or *einem* does not tell which one that is.
    ``own``: what stands before the noun. ``here``: what stands at the place.
    ``language``: de, fr or es."""
    row = (language, *here.cells[0][:2])
    forms = {_form(row, gender, here.after or noun) for gender in own.genders}
    return forms.pop() if len(forms) == 1 else ""


def _form(row: Cell, gender: str, following: str) -> str:
    """A form before a word; French has its own before a vowel or a silent h."""
    forms, text = _forms()[row], following.casefold()
    silent = text[:1] == "h" and text.rstrip("sx") not in listed("aspirated", "fr")
    vowel = row[0] == "fr" and not gender.endswith("plural") and (silent or text[:1] in "aeiouàâéèêëîïôûœæ")
    if row[:2] == ("fr", "this") and vowel and gender == "masculine":
        return "cet"
    return (vowel and forms["before_vowel"]) or forms[gender]


@cache
def _known() -> Mapping[tuple[str, str], frozenset[str]]:
    """(language, noun in lower case) -> what its gender may be, of the nouns of ``assets/words/nouns.csv``."""
    found = dict[tuple[str, str], frozenset[str]]()
    for row in read_table(words_path("nouns.csv"), ("label", *_GENDERED, "ja")):
        for language in _GENDERED:
            article, _, noun = row[language].partition(" ")
            cells = _cells().get((language, article), ())
            found[language, noun.casefold()] = frozenset(gender for *kind, gender in cells if kind in _ONE)
    return MappingProxyType(found)


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
