"""Negations: of the template, exact; of an English caption by rules, each refused where it would not negate.

Source: paper D, 4.4.1, which takes its negations from yes/no questions; the rules here are ours.
"""

import re
from dataclasses import dataclass

from core.errors import ProbeRejected
from core.probes.base import PRESUMED, VERIFIED
from core.probes.words.caption_words import Word, join, noun_phrases, words
from core.probes.words.grammar import Number, clean_label, number_of

_NEGATIVE = re.compile(
    r"\b(?:no|not|nobody|no-one|noone|none|nothing|nowhere|never|neither|nor|without|sans|cannot|barely|hardly|scarcely"
    r"|rarely|seldom|(?<!a )few|fewer|only|devoid|absent"
    r"|free of|yet to|refus(?:e|es|ed|ing) to|missing|lack|lacks|lacked|lacking"
    r"|fails? to|failed to|failing to|unable to|far from|anything but"
    r"|(?:is|are|was|were|does|do|did|ca|wo|could|would|should|has|have|had|ai)nt)\b|n['’]t\b",
    re.IGNORECASE,
)
"""Words that deny, wholly or nearly: a second one beside them may undo it."""
_EXISTENTIAL = re.compile(r"^(?P<there>there (?:is|are|was|were)) (?P<rest>.+)$", re.IGNORECASE | re.DOTALL)
_ARTICLES = (
    "a",
    "an",
    "some",
    "several",
    "many",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "multiple",
    "various",
)
_BE = ("is", "are", "was", "were")
_MODALS = ("can", "could", "will", "would", "must", "should")
_PERHAPS = ("may", "might")
"""Of something possible and of its denial both may be true: *the dog may be asleep*, *the dog may not be asleep*."""
_JOINED = re.compile(r"\b(?:and|or|while|as) (?:a|an|the|some|another|two|three|his|her|its|their)\b", re.IGNORECASE)
_NO_COUNT = ("of", "few", "lot", "little", "bit")
"""Words after which *no* is no determiner: *one of the dogs*, *a few dogs*."""
_AMOUNTS = re.compile(r"^a (?:large |small )?(?:couple|number|variety|lot) of |^a couple (?!of )", re.IGNORECASE)
"""Said of how many there are: *no* takes their place, since *no number of cows* is no English."""
_MEDIUM = re.compile(
    r"^(?:an? |the )?(?:\w+ )?(?:close[- ]?up|picture|photo|photograph|image|shot|view) of (?=\w)", re.IGNORECASE
)
"""Said of the picture and not of what it shows: *no picture of a dog* would be no denial of the dog."""
_CANS = ("a", "the", "garbage", "trash", "tin", "watering", "spray", "soda", "beer", "paint", "oil", "gas", "milk")
"""Words after which *can* is a thing."""
_PLACES = ("on", "in", "at", "under", "near", "behind", "beside", "above", "below", "inside", "outside", "over",
           "beneath", "against", "among", "around", "between", "along", "across", "next")  # fmt: skip
"""Prepositions that open a phrase of place."""
_DEFINITE = ("the", "this", "that", "these", "those")
_SUBORDINATE = ("who", "that", "which", "where", "when", "while", "as", "because", "whose", "if", "what", "and", "but")


@dataclass(frozen=True, slots=True)
class Negation:
    """A negated caption.
    ``rule``: ``existential``, ``auxiliary``, ``depicted``, ``noun-phrase``, one of these after ``fronted-``, or
    ``template``.
    ``falsity``: VERIFIED or PRESUMED."""

    text: str
    rule: str
    falsity: str


def negated_template(label: str) -> Negation:
    """Negate ``There is a [object].``; false of every picture of the object.

    >>> negated_template("dog").text, negated_template("scissors").text
    ('There is no dog.', 'There are no scissors.')
    """
    verb = "are" if number_of(label) is Number.PLURAL else "is"
    return Negation(f"There {verb} no {clean_label(label)}.", "template", VERIFIED)


def negate(caption: str) -> Negation:
    """Negate an English caption by the first rule that fits.

    1. *existential*: ``There is a dog on a bed`` → ``There is no dog on a bed``. Exact.
    2. *auxiliary*: ``The dog is asleep`` → ``The dog is not asleep``, ``The bird can fly`` → ``The bird cannot fly``.
       Exact of ``the``; another dog of *a dog* may be awake, so it is presumed.
    3. *noun phrase*: ``A man riding a horse`` → ``No man riding a horse``. Exact, and presumed where a later phrase
       is joined to it, which the *no* may not reach. *A couple of dogs* are ``No dogs``; of *A picture of a dog*
       what is shown is denied: ``A picture of no dog``.
    4. *fronted*: one of the above, after a phrase of place and its comma: ``On the left, a dog sleeps`` → ``On the
       left, no dog sleeps``. As exact as the rule is where the place is definite; of *on a bed* there may be another
       bed, so it is presumed.
    Raises ProbeRejected ``already-negated`` where a negative word is in it; ``no-negation`` where no rule fits: the
    verb stands in a clause beside the main one, two phrases are joined at the beginning, a name or *the* begins a
    caption without an auxiliary, or it says what may be.
    """
    if _NEGATIVE.search(caption):
        raise ProbeRejected("already-negated", f"{caption!r} holds a negative word, so a second one may undo it")
    text = " ".join(caption.split())
    made = _whole(text) or _fronted(text)
    if made is None:
        raise ProbeRejected("no-negation", f"no rule negates {caption!r} as a whole")
    return made


def _whole(text: str) -> Negation | None:
    found = words(text)
    if any(word.core in _PERHAPS for word in found):  # May with a capital is the month
        return None
    return (
        _existential(text) or _auxiliary(found) or _depicted(text) or _noun_phrase(words(_AMOUNTS.sub("some ", text)))
    )


def _depicted(text: str) -> Negation | None:
    """Negate what stands behind *a picture of*; None where the caption begins otherwise."""
    match = _MEDIUM.match(text)
    shown = match and _noun_phrase(words(_AMOUNTS.sub("some ", text[match.end() :])))
    if not match or not shown:
        return None
    return Negation(match.group() + shown.text[:1].lower() + shown.text[1:], "depicted", shown.falsity)


def _fronted(text: str) -> Negation | None:
    """Negate what stands after a phrase of place that opens a caption: no clause, and the only thing before a comma."""
    place, comma, rest = text.partition(", ")
    inside = [word.core.casefold() for word in words(place)]
    clause = {*_SUBORDINATE, *_BE, *_MODALS, *_PERHAPS, "or"} & set(inside)
    if not comma or len(inside) < 2 or inside[0] not in _PLACES or inside[1].endswith("ing") or clause:
        return None
    made = _whole(rest) if rest[:1].islower() else None
    if made is None:
        return None
    exact = set(inside) & set(_DEFINITE) and not set(inside) & set(_ARTICLES)
    said = made.text[:1].lower() + made.text[1:]
    return Negation(f"{place}, {said}", f"fronted-{made.rule}", made.falsity if exact else PRESUMED)


def _existential(text: str) -> Negation | None:
    match = _EXISTENTIAL.match(text)
    if match is None:
        return None
    first, _, rest = match["rest"].partition(" ")
    if first.casefold() in _ARTICLES and rest and rest.split()[0].casefold() not in _NO_COUNT:
        if re.search(r"\band (?:a|an|the|some|two|three)\b", rest, re.IGNORECASE):
            return None  # "no dog and a cat" negates one of two
        return Negation(f"{match['there']} no {rest}", "existential", VERIFIED)
    return None


def _auxiliary(found: tuple[Word, ...]) -> Negation | None:
    if found and found[0].core.casefold() == "there":
        return None
    for index, word in enumerate(found[:-1]):
        text = word.core.casefold()
        if text in _SUBORDINATE or (index and found[index - 1].trail):
            return None
        if index and not word.trail and text in (*_BE, *_MODALS) and not _is_thing(found, index):
            if text == "can":  # one word: *can not fly* may be read as being able to leave it
                return _with_word((*found[:index], *found[index + 1 :]), index, word.text + "not")
            return _with_word(found, index + 1, "not")
        if index and not word.trail and text in ("has", "have") and found[index + 1].core.casefold() == "been":
            return _with_word(found, index + 1, "not")
    return None


def _is_thing(found: tuple[Word, ...], index: int) -> bool:
    """Whether *can* is a thing: *a garbage can on a street*, *the can on a table*."""
    before, after = (found[place].core.casefold() for place in (index - 1, index + 1))
    return found[index].core.casefold() == "can" and (before in _CANS or after in (*_PLACES, "of", "with"))


def _with_word(found: tuple[Word, ...], place: int, word: str) -> Negation:
    definite = found[0].core.casefold() in _DEFINITE
    texts = [each.text for each in found]
    return Negation(join([*texts[:place], word, *texts[place:]]), "auxiliary", VERIFIED if definite else PRESUMED)


def _noun_phrase(found: tuple[Word, ...]) -> Negation | None:
    phrases = noun_phrases(found, "en")
    if not phrases or found[0].lead:
        return None
    first = found[0].core.casefold()
    head = phrases[0][1]
    if head + 1 < len(found) and (found[head + 1].core.casefold() in ("and", "or") or found[head].trail):
        return None
    texts = [word.text for word in found]
    falsity = PRESUMED if _JOINED.search(join(found[head + 1 :])) else VERIFIED
    if first in _ARTICLES and len(texts) > 1 and found[1].core.casefold() in _NO_COUNT:
        return None
    if first in _ARTICLES and len(texts) > 1:
        return Negation(join(["No", *texts[1:]]), "noun-phrase", falsity)
    if phrases[0][0] == 0 and not found[0].trail:
        return Negation(join(["No", texts[0][:1].lower() + texts[0][1:], *texts[1:]]), "noun-phrase", falsity)
    return None
