"""A word put before the noun of an object in a sentence that somebody wrote.

The noun is the object's label, in the singular or the plural, as a separate word. Nothing else of the sentence
changes but what English asks for: *a* or *an* before the word that now follows it, and the capital of a noun that
began the sentence.

The noun must stand for itself (:mod:`core.probes.words.insertion`): no *dog house*, *police dog* or *hot dog*. Where
the rules cannot tell, the sentence is left alone and the reason is told. Source: paper A, A.12, extended.

Societal words in a sentence that somebody wrote: which fit, where they go, and which neutral word holds the length.

One place for all words of a family, so that a modifier and its control differ in the word alone. Mood and price say
what somebody thinks of the thing and stand before its adjectives (*a happy brown dog*); every other family says what
kind it is and stands next to the noun (*a brown African dog*), as English orders adjectives. Source: paper A, A.12,
extended.

Whether a noun stands for itself in an English sentence, or is a part of another noun; and what describes it.

The rules of natural captions (:mod:`core.probes.words.natural_captions`), told apart a little further with
lemminflect's dictionary. They are rules, not a parser: where they cannot tell, the noun counts as part of another.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from core.errors import ProbeRejected
from core.probes.tables import lexicon_path
from core.probes.words.caption_words import Word, closed_words, is_adjective, may_be_noun, noun_phrases, words
from core.probes.words.categories import after_the_noun, every_noun, forms
from core.probes.words.english import colours, dictionary
from core.probes.words.grammar import article_like, clean_label
from core.probes.words.screening import Family, Modifier, accepted_controls, family, screen
from core.probes.words.templates import closest_control

Span = tuple[int, int]
"""Index of a noun's first and last word."""

_LONGEST_NAME = 4
"""Words of a known noun, e.g. *hot dog*, that the label may be a part of."""

_ONE_THING = frozenset(("a", "an", "one", "this", "that", "each", "every", "another"))
"""Determiners after which the head of the phrase is singular: a plural that follows the noun is then a verb."""

_LIMITERS = frozenset(("first", "last", "main", "next", "only", "other", "own", "same", "second", "such", "third"))
"""Words that stand between a determiner and the adjectives; the dictionary takes some of them for nouns."""

_DENIES = frozenset(
    ("no", "neither", "nor", "not", "never", "without", "hardly", "barely", "scarcely", "lacks", "lacking")
)

_THINGS = frozenset(
    (
        "bedding", "building", "ceiling", "clothing", "covering", "crossing", "drawing", "dressing", "filling",
        "frosting", "grooming", "housing", "icing", "landing", "lighting", "painting", "parking", "pudding", "racing",
        "railing", "stuffing", "topping", "training", "wedding",
    )
)  # fmt: skip
"""Nouns in -ing, which make a compound where another word in -ing says what the object does."""

_PURPOSES = frozenset(
    (
        "baking", "boxing", "cooking", "cutting", "dining", "fishing", "frying", "living", "measuring", "mixing",
        "rocking", "rowing", "sailing", "serving", "sewing", "shopping", "swimming", "washing", "watering",
    )
)  # fmt: skip
"""Words in -ing that say before a noun what the thing is for, where others say what it does: *a fishing boat*."""

_TRUE_ADJECTIVES = frozenset(("adult", "remote"))
"""Nouns of the tables that describe another noun as adjectives."""

_NOUNS = frozenset(("pickup",))
"""Nouns before another noun that the dictionary has as adjectives, too."""

_PARTS = frozenset(("bottom", "bunch", "couple", "front", "group", "number", "pair", "piece", "set", "side", "top"))
"""Nouns among the closed words: *dog group* is a group."""


def named_spans(found: Sequence[Word], label: str) -> list[Span]:
    """First and last word of every place that says the label, singular or plural."""
    names = {tuple(form.casefold().split()) for form in forms(label)}
    size = len(label.split())
    return [
        (first, first + size - 1)
        for first in range(len(found) - size + 1)
        if tuple(word.core.casefold() for word in found[first : first + size]) in names
        and not any(word.trail for word in found[first : first + size - 1])
        and not any(word.lead for word in found[first + 1 : first + size])
    ]


def compound(found: Sequence[Word], nouns: set[int], first: int, last: int, label: str) -> str:
    """Why the noun is part of another one; empty where it stands for itself.

    Args:
        found: the words of the sentence.
        nouns: indices of those that are nouns.
        first, last: of the noun.
        label: the noun in the singular.
    """
    longer = _known_longer(found, first, last, label)
    if longer:
        return f"{longer!r} is a name by itself"
    if first and _modifies(found, nouns, first):
        return f"{found[first - 1].core.casefold()!r} before {label!r} makes another noun of it"
    if _goes_on(found, first, last, label):
        return f"{found[last + 1].core.casefold()!r} after {label!r} may make another noun of it"
    return ""


def _modifies(found: Sequence[Word], nouns: set[int], first: int) -> bool:
    """Whether the word before the noun makes a compound of it: *police dog*, *fishing boat*, *dining room table*."""
    before = found[first - 1]
    text = before.core.casefold()
    if before.trail or found[first].lead or text in _LIMITERS or text in _TRUE_ADJECTIVES or text in colours():
        return False
    if first - 1 in nouns or text in _NOUNS or text in every_noun():
        return True
    base = text in dictionary(text).get("NOUN", ())
    if text.endswith("ing"):  # "a fishing boat", but "a man riding horses" and "a sleeping dog"
        return text in _THINGS or text in _PURPOSES or (base and (first == 1 or _introduces(found[first - 2])))
    after_ing = first > 1 and found[first - 2].core.casefold().endswith("ing") and not found[first - 2].trail
    return after_ing and base and may_be_noun(text) and not is_adjective(text)


def _introduces(word: Word) -> bool:
    text = word.core.casefold()
    return bool(word.trail) or is_adjective(text) or closed_words(text, ("determiners", "prepositions"))


def _known_longer(found: Sequence[Word], first: int, last: int, label: str) -> str:
    """A longer noun of the tables that holds the label here: *hot dog*, *teddy bear*."""
    for start in range(max(0, last + 1 - _LONGEST_NAME), first + 1):
        for end in range(last, min(len(found), start + _LONGEST_NAME)):
            if (start, end) == (first, last):
                continue
            inner = found[start : end + 1]
            if any(word.trail for word in inner[:-1]) or any(word.lead for word in inner[1:]):
                continue
            text = [word.core.casefold() for word in inner]
            singular = [*text[: first - start], label.casefold(), *text[last - start + 1 :]]
            for name in (" ".join(text), " ".join(singular)):
                if name in every_noun():
                    return name
    return ""


def _goes_on(found: Sequence[Word], first: int, last: int, label: str) -> bool:
    """Whether the word after the noun may be the head of a compound, as in *dog house* or *dog friendly café*."""
    if last + 1 >= len(found) or found[last].trail or found[last + 1].lead:
        return False
    word = found[last + 1].core.casefold()
    if word in _PARTS:
        return True
    if word in after_the_noun(lexicon_path("after_the_noun.csv")) or closed_words(word):
        return False
    head = re.split(r"['’]", word.rpartition("-")[2])[0]
    classes = dictionary(head)
    if not classes:
        return True
    if "VERB" in classes and head not in classes["VERB"] and (head.endswith("ing") or "NOUN" not in classes):
        return head in _THINGS  # a participle or a verb's third person: "a dog sitting", "a dog eats", "a dog tied"
    if "NOUN" in classes:
        return "VERB" not in classes or not _agrees(found, first, last, label, plural=head not in classes["NOUN"])
    if "ADJ" not in classes or last + 2 >= len(found) or found[last + 1].trail:
        return False
    return not closed_words(found[last + 2].core.casefold())  # "a dog asleep on a bed", but "a dog friendly café"


def _agrees(found: Sequence[Word], first: int, last: int, label: str, *, plural: bool) -> bool:
    """Whether a word that may be noun or verb must be the verb: *a car drives*, *two dogs play*.

    After *a*, no plural noun can be the head; and a plural noun is hardly ever the first half of a compound.
    """
    many = " ".join(word.core for word in found[first : last + 1]).casefold() != label.casefold()
    return (many and not plural) or (_one(found, first) and plural)


def _one(found: Sequence[Word], first: int) -> bool:
    """Whether the phrase is said of one thing by its determiner."""
    start = describing(found, first)
    return start > 0 and found[start - 1].core.casefold() in _ONE_THING


def denied(found: Sequence[Word], first: int) -> bool:
    """Whether the noun stands under a negative word: *no dog*, *without a dog*."""
    start = describing(found, first)
    return bool(_DENIES & {word.core.casefold() for word in found[max(0, start - 2) : start]})


def describing(found: Sequence[Word], first: int) -> int:
    """The first of the words that describe the noun; ``first`` where none does."""
    start = first
    while start and _describes(found, start - 1):
        start -= 1
    return start


def _describes(found: Sequence[Word], index: int) -> bool:
    word = found[index]
    text = word.core.casefold()
    joins = text == "and" and index > 0 and _quality(found, index - 1)
    return word.trail in ("", ",") and (text in _LIMITERS or _quality(found, index) or joins)


def _quality(found: Sequence[Word], index: int) -> bool:
    """Whether a word is an adjective, by the dictionary or by its form: *brown*, *Italian*, *long-haired*, *parked*."""
    text, core = found[index].core.casefold(), found[index].core
    if text in _LIMITERS or (closed_words(text) and not is_adjective(text)):
        return False
    proper = index > 0 and core[:1].isupper() and core.isalpha() and not dictionary(text)
    formed = "-" in text or (text.endswith(("ed", "ing")) and "VERB" in dictionary(text))
    return is_adjective(text) or proper or formed


def first_adjective(found: Sequence[Word], first: int) -> int:
    """The first of the adjectives in a row before the noun, where a determiner or a preposition stands before them.

    Otherwise ``first``: before *very big*, *black and white* or *big, brown* no word can be put without a change of
    meaning or of signs, and a participle may be a verb (*a man riding brown horses*).
    """
    start = first
    while start and _plain_adjective(found, start - 1):
        start -= 1
    before = found[start - 1] if start else None
    if before is None or before.trail or any(word.lead for word in found[start : first + 1]):
        return first
    text = before.core.casefold()
    ends = text in _LIMITERS or text.isdigit() or closed_words(text, ("determiners", "prepositions"))
    return start if ends or text.endswith(("'s", "’s")) else first


def _plain_adjective(found: Sequence[Word], index: int) -> bool:
    """Whether a word is an adjective that needs no sign and no other word beside it."""
    word = found[index]
    formed = word.core.casefold().endswith(("ed", "ing")) and not is_adjective(word.core.casefold())
    return not word.trail and not formed and _quality(found, index)


_ARTICLE = re.compile(r"(?<![\w'’-])(an?)(\s+[\"'“‘«(\[]*)$", re.IGNORECASE)
_LEADING_ARTICLE = re.compile(r"^(?:an?|the) (?=\S)", re.IGNORECASE)
_OPENS = re.compile(r"(?:^|[.!?]\s+)[\s\"'“‘«(\[]*$")


@dataclass(frozen=True, slots=True)
class Inserted:
    """A sentence with one word more.

    Args:
        text: the whole sentence.
        start, end: where the word stands in it, in characters.
    """

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class NounPlace:
    """Where a sentence names an object.

    Args:
        caption: the sentence.
        noun: where the noun begins, in characters.
        adjectives: where its adjectives begin, in characters; as ``noun`` where it has none, or where they cannot be
            told for sure.
        described: the words that stand between the determiner and the noun, in lower case.
        label: the noun as the label has it.
        written: the noun as the sentence has it, in lower case.
        titled: whether the sentence is written as a title, With Capitals.
    """

    caption: str
    noun: int
    adjectives: int
    described: tuple[str, ...]
    label: str
    written: str
    titled: bool

    @property
    def phrase(self) -> str:
        """Adjectives and singular noun: what the compatibility screen reads (*wild dog*)."""
        return " ".join((*self.described, self.label))

    def insert(self, word: str, *, before_adjectives: bool = False) -> Inserted:
        """Put a word before the noun, or before the adjectives of the noun.

        Example:
            >>> place = noun_place("A big dog is tied to a fire hydrant.", "dog")
            >>> place.insert("African").text
            'A big African dog is tied to a fire hydrant.'
            >>> place.insert("happy", before_adjectives=True).text
            'A happy big dog is tied to a fire hydrant.'
        """
        at = self.adjectives if before_adjectives else self.noun
        before, after = self.caption[:at], self.caption[at:]
        opens = _OPENS.search(before) is not None
        fitted = self._fit_case(word, after, opens=opens)
        if opens and not self.titled and self._lowers(after):
            after = after[0].lower() + after[1:]
        before = _with_article(before, fitted, shouted=self._shouted)
        return Inserted(f"{before}{fitted} {after}", len(before), len(before) + len(fitted))

    @property
    def _shouted(self) -> bool:
        return self.caption.isupper()

    def _fit_case(self, word: str, after: str, *, opens: bool) -> str:
        if self._shouted:
            return word.upper()
        if self.titled or (opens and after[0].isupper()):
            return word[0].upper() + word[1:]
        return word

    def _lowers(self, after: str) -> bool:
        """Whether the noun had its capital only because it began the sentence: not *TV*, not *Christmas tree*."""
        first = after.split()[0].rstrip(".,;:!?\"'”’»)]")
        return not (len(first) > 1 and first.isupper()) and (
            self.label[0].islower() or bool(dictionary(first.casefold()))
        )


@dataclass(frozen=True, slots=True)
class _Refused:
    code: str
    detail: str


def noun_place(caption: str, label: str) -> NounPlace:
    """Find where an English sentence names an object.

    Args:
        caption: the sentence.
        label: the object's noun in the singular; an article before it is passed over.

    Raises:
        InvalidInput: for an empty label.
        ProbeRejected: ``not-named`` where it does not say the label's noun; ``named-twice`` where it says it more than
            once; ``compound`` where the noun is part of another one; ``already-negated`` where it is denied.

    Example:
        >>> noun_place("There are two dogs in a dog house.", "dog").written
        'dogs'
    """
    found = _noun_place(caption, _LEADING_ARTICLE.sub("", clean_label(label)))
    if isinstance(found, _Refused):
        raise ProbeRejected(found.code, found.detail)
    return found


@lru_cache(maxsize=4096)
def _noun_place(caption: str, label: str) -> NounPlace | _Refused:
    found = words(caption)
    nouns = {index for first, last in noun_phrases(found, "en") for index in range(first, last + 1)}
    spans = named_spans(found, label)
    refused = [(span, compound(found, nouns, *span, label)) for span in spans]
    alone = [span for span, reason in refused if not reason]
    if not spans:
        told = f"the caption does not say {label!r} as a separate word; name the object as the caption does"
        return _Refused("not-named", told)
    if not alone:
        return _Refused("compound", f"in the caption, {refused[0][1]}")
    if len(alone) > 1:
        return _Refused("named-twice", f"the caption says {label!r} more than once, so nobody can say which is meant")
    first, last = alone[0]
    if denied(found, first):
        return _Refused("already-negated", f"the caption denies that there is {label!r}")
    return _place(caption, found, first, last, label)


def _place(caption: str, found: Sequence[Word], first: int, last: int, label: str) -> NounPlace:
    starts = [match.start() + len(word.lead) for match, word in zip(re.finditer(r"\S+", caption), found, strict=True)]
    begin = describing(found, first)
    described = tuple(word.core.casefold() for word in found[begin:first])
    outer = first_adjective(found, first)
    written = " ".join(word.core.casefold() for word in found[first : last + 1])
    return NounPlace(caption, starts[first], starts[outer], described, label, written, _titled(found))


def _titled(found: Sequence[Word]) -> bool:
    long = [word.core for word in found if len(word.core) > 3]
    return len(long) > 1 and all(word[0].isupper() for word in long) and not all(word.isupper() for word in long)


def _with_article(before: str, word: str, *, shouted: bool) -> str:
    """The text before a word, with the *a* or *an* at its end fitted to it."""
    match = _ARTICLE.search(before)
    if match is None:
        return before
    return before[: match.start()] + article_like(match[1], word, shouted=shouted) + match[2]


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
