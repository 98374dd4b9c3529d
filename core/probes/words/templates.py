"""Captions from templates: the bare one, the modified one, the neutral one of the same length, in five languages.

Templates: base ``There is a [object].``, attribute ``There is a [adjective] [object].``, with the right
article and number. Source: paper A, 3.1 and A.3. Each is affirmed and negated. In the other languages the noun and its
article come from ``assets/words/nouns.csv``; Japanese asks whether the thing is alive, which its category says.

Templates that name several objects, their shuffles and their negations.

``There is a dog, a cat and a chair.``: the verb agrees with the first object. A shuffle keeps each noun phrase whole,
with its comma; its order is that of one draw for every word of the longest template, so that the shuffles of one, two
and three objects are one permutation seen through fewer words. Paper D's code glues surplus words on without a blank;
that is not copied. Source: paper D, 4.3 and 4.5.

Negations: of the template, exact; of an English caption by rules, each refused where it would not negate. Source: paper
D, 4.4.1, which takes its negations from yes/no questions; the rules here are ours.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from core.corpora.schema import ANIMATE_CATEGORIES, Item
from core.errors import ProbeRejected
from core.probes.base import PRESUMED, VERIFIED
from core.probes.tables import Row, read_table, words_path
from core.probes.words.caption_words import Word, join, noun_phrases, words
from core.probes.words.categories import vocabulary
from core.probes.words.grammar import Number, clean_label, noun_group, number_of
from core.probes.words.screening import Modifier, accepted_controls

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
_NUMBERS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_DETERMINERS = ("a", "an", "some", "several", "many", "one", *_NUMBERS, "multiple", "various")
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
    ``template``."""

    text: str
    rule: str  # ``existential``, ``auxiliary``, ``depicted``, ``noun-phrase``, one of these after ``fronted-``, or
    falsity: str  # VERIFIED or PRESUMED


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
    caption without an auxiliary, or it says what may be."""
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
    exact = set(inside) & set(_DEFINITE) and not set(inside) & set(_DETERMINERS)
    said = made.text[:1].lower() + made.text[1:]
    return Negation(f"{place}, {said}", f"fronted-{made.rule}", made.falsity if exact else PRESUMED)


def _existential(text: str) -> Negation | None:
    match = _EXISTENTIAL.match(text)
    if match is None:
        return None
    first, _, rest = match["rest"].partition(" ")
    if first.casefold() in _DETERMINERS and rest and rest.split()[0].casefold() not in _NO_COUNT:
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
    if first in _DETERMINERS and len(texts) > 1 and found[1].core.casefold() in _NO_COUNT:
        return None
    if first in _DETERMINERS and len(texts) > 1:
        return Negation(join(["No", *texts[1:]]), "noun-phrase", falsity)
    if phrases[0][0] == 0 and not found[0].trail:
        return Negation(join(["No", texts[0][:1].lower() + texts[0][1:], *texts[1:]]), "noun-phrase", falsity)
    return None


def base_caption(label: str) -> str:
    """Return the bare caption of a label. Raises InvalidInput if the label is empty.

    >>> base_caption("umbrella"), base_caption("scissors"), base_caption("broccoli")
    ('There is an umbrella.', 'There are scissors.', 'There is broccoli.')
    """
    return f"There {noun_group(label)}."


def attribute_caption(label: str, adjective: str) -> str:
    """Return the caption of a label with one modifier before it.
    ``adjective``: adjective, or noun used attributively, in the casing of the lexicon.
    Raises InvalidInput if either is empty.

    >>> attribute_caption("umbrella", "plain"), attribute_caption("bed", "African")
    ('There is a plain umbrella.', 'There is an African bed.')
    """
    return f"There {noun_group(label, adjective=adjective)}."


def length_matched(
    family: str, caption: str, label: str, *, count_tokens: Callable[[str], int | None] | None = None
) -> str:
    """Name the neutral control whose caption is the closest in length: the baseline of a modified caption.

    Closest in characters (Unicode code points of the whole caption, article included), then in tokens,
    then first in the alphabet. Controls that the screen keeps away from this noun do not compete.
    ``count_tokens``: counts the tokens of a caption by the evaluator's own tokenizer; may return None.
    Returns a probe name, e.g. ``cultural:typical``.
    Raises UnknownName if there is no such family; InvalidInput if the label is empty.

    >>> length_matched("cultural", "There is a Russian bed.", "bed")
    'cultural:typical'
    """
    controls = accepted_controls(label, family)
    return closest_control(
        controls, caption, lambda word: attribute_caption(label, word), count_tokens=count_tokens
    ).probe


def closest_control(
    controls: Iterable[Modifier],
    caption: str,
    write: Callable[[str], str],
    *,
    count_tokens: Callable[[str], int | None] | None = None,
) -> Modifier:
    """The neutral control whose caption is the closest in length, as :func:`length_matched` says.
    ``controls``: at least one. ``write``: makes the caption of a control's word.
    ``count_tokens``: as there."""

    def distance(control: Modifier) -> tuple[int, int, str]:
        text = write(control.word)
        first, second = (count_tokens(each) if count_tokens else None for each in (caption, text))
        tokens = 0 if first is None or second is None else abs(first - second)
        return abs(len(text) - len(caption)), tokens, control.word

    return min(controls, key=distance)


def item_label(item: Item) -> str:
    """Return the label of an item. Raises ProbeRejected ``no-label`` where it has none."""
    if item.label is None or not item.label.split():
        raise ProbeRejected("no-label", f"item {item.id!r} has no label, so no caption can be made of the template")
    return item.label


_ARTICLES = {"de": ("ein", "eine", "-"), "fr": ("un", "une", "des", "du"), "es": ("un", "una", "unos", "unas", "-")}
_ELIDED = tuple("aeiouhàâäéèêëîïôöùûüœæ")
_ASPIRATED = ("hot-dog", "hibou", "hérisson", "homard", "haricot", "hamac", "hache", "harpe", "hamster", "héron")
"""French nouns before which nothing is elided though they begin with h."""


@dataclass(frozen=True, slots=True)
class TemplateWords:
    """A label's template in one language."""

    label: str
    affirmed: str
    negated: str


def template_words(label: str, category: str | None, language: str) -> TemplateWords:
    """Write the template of a label and its negation.
    ``category``: harmonised; says in Japanese whether the object is alive, and which of two things of one name it is.
    ``language``: en, de, fr, es or ja.
    Raises ProbeRejected ``no-noun`` where the table does not have the label, ``no-category`` where Japanese needs one.

    >>> template_words("dog", "animal", "de").negated
    'Da ist kein Hund.'
    """
    name = clean_label(label)
    if language == "en":
        return TemplateWords(name, base_caption(name), negated_template(name).text)
    row = nouns().get(f"{name} ({category})".casefold()) or nouns().get(name.casefold())
    if row is None:
        raise ProbeRejected("no-noun", f"assets/words/nouns.csv has no line for the label {name!r}; add one")
    if language == "ja":
        kind, noun = category or vocabulary().get(name), row["ja"]
        if kind is None:
            raise ProbeRejected("no-category", f"{name!r} has no category, so nobody can say whether it is alive")
        there, gone = ("います", "いません") if kind in ANIMATE_CATEGORIES else ("あります", "ありません")
        return TemplateWords(name, f"{noun}が{there}。", f"{noun}は{gone}。")
    article, _, noun = row[language].partition(" ")
    bare = noun if article == "-" else f"{article} {noun}"
    if language == "de":
        verb, said = ("sind", "eine") if article == "-" else ("ist", article)
        return TemplateWords(name, f"Da {verb} {bare}.", f"Da {verb} k{said} {noun}.")
    if language == "fr":
        elided = noun.casefold().startswith(_ELIDED) and not noun.casefold().startswith(_ASPIRATED)
        of = "d'" if elided else "de "
        return TemplateWords(name, f"Il y a {bare}.", f"Il n'y a pas {of}{noun}.")
    none = {"un": "ningún ", "una": "ninguna "}.get(article, "")
    return TemplateWords(name, f"Hay {bare}.", f"No hay {none}{noun}.")


@cache
def nouns() -> dict[str, Row]:
    """Read ``nouns.csv``: label in lower case -> its line; each cell is an article, ``-`` for none, and the noun.
    A line of ``label (category)`` goes before that of the label: in Japanese the animal and the thing have other names.
    """
    found: dict[str, Row] = {}
    for row in read_table(words_path("nouns.csv"), ("label", "de", "fr", "es", "ja")):
        label = row.required("label").casefold()
        if label in found:
            row.fail(f"the label {label!r} stands twice; keep one line")
        for language, articles in _ARTICLES.items():
            article, _, noun = row.required(language).partition(" ")
            if article not in articles or not noun:
                row.fail(f"{language} is {row[language]!r}; write one of {', '.join(articles)}, a blank and the noun")
        row.required("ja")
        found[label] = row
    return found


def named_objects(labels: Sequence[str]) -> str:
    """Name objects in one sentence.

    >>> named_objects(["dog", "umbrella", "chair"])
    'There is a dog, an umbrella and a chair.'
    """
    return " ".join(_tokens(labels)) + "."


def denied_objects(labels: Sequence[str]) -> str:
    """Deny every one of some objects.

    >>> denied_objects(["dog", "umbrella", "chair"])
    'There is no dog, no umbrella and no chair.'
    """
    verb = "are" if number_of(labels[0]) is Number.PLURAL else "is"
    said = [f"no {clean_label(label)}" for label in labels]
    return f"There {verb} {' and '.join(filter(None, (', '.join(said[:-1]), said[-1])))}."


def shuffled_objects(labels: Sequence[str], keys: Sequence[float]) -> str:
    """Name objects with the words in another order.
    ``keys``: one for *there*, the verb, each object in turn, and *and*; the words are sorted by them."""
    tokens = _tokens(labels)
    places = [0, 1, *(2 + index for index in range(len(labels)))]
    if len(labels) > 1:
        places.insert(len(places) - 1, len(keys) - 1)
    order = sorted(range(len(tokens)), key=lambda index: keys[places[index]])
    text = " ".join(tokens[index] for index in order).lower()
    return text[:1].upper() + text[1:] + "."


def draw_keys(rng: np.random.Generator, objects: int) -> tuple[float, ...]:
    """Draw the keys of a shuffle of at most ``objects`` objects; even that of one object is no longer in order."""
    keys = rng.random(objects + 3)
    while keys[0] < keys[1] < keys[2]:
        keys = rng.random(objects + 3)
    return tuple(float(key) for key in keys)


def _tokens(labels: Sequence[str]) -> list[str]:
    verb = "are" if number_of(labels[0]) is Number.PLURAL else "is"
    said = [noun_group(label).split(" ", 1)[1] for label in labels]
    commas = [f"{text}," for text in said[:-2]]
    last = [said[-2], "and", said[-1]] if len(said) > 1 else said
    return ["There", verb, *commas, *last]
