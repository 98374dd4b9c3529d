"""Captions from templates: the bare one, the modified one, the neutral one of the same length, in five languages.

Templates: base ``There is a [object].``, attribute ``There is a [adjective] [object].``, with the right
article and number. Source: paper A, 3.1 and A.3. Each is affirmed and negated. In the other languages the noun and its
article come from ``assets/words/nouns.csv``; Japanese asks whether the thing is alive, which its category says.

Templates that name several objects, their shuffles and their negations.

``There is a dog, a cat and a chair.``: the verb agrees with the first object. A shuffle keeps each noun phrase whole,
with its comma; its order is that of one draw for every word of the longest template, so that the shuffles of one, two
and three objects are one permutation seen through fewer words. Paper D's code glues surplus words on without a blank;
that is not copied. Source: paper D, 4.3 and 4.5.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from core.corpora.schema import ANIMATE_CATEGORIES, Item
from core.errors import ProbeRejected
from core.probes.tables import Row, read_table, words_path
from core.probes.words.categories import vocabulary
from core.probes.words.grammar import Number, clean_label, noun_group, number_of
from core.probes.words.negating import negated_template
from core.probes.words.screening import Modifier, accepted_controls


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
    ``controls``: at least one.
    ``write``: makes the caption of a control's word.
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
        return TemplateWords(name, *_japanese(row["ja"], category or vocabulary().get(name), name))
    article, _, noun = row[language].partition(" ")
    return TemplateWords(name, *_european(article, noun, language))


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


def _european(article: str, noun: str, language: str) -> tuple[str, str]:
    """The template and its negation in German, French or Spanish."""
    if language == "de":
        verb, said = ("sind", "eine") if article == "-" else ("ist", article)
        return f"Da {verb} {noun if article == '-' else f'{article} {noun}'}.", f"Da {verb} k{said} {noun}."
    if language == "fr":
        elided = noun.casefold().startswith(_ELIDED) and not noun.casefold().startswith(_ASPIRATED)
        of = "d'" if elided else "de "
        return f"Il y a {article} {noun}.", f"Il n'y a pas {of}{noun}."
    none = {"un": "ningún ", "una": "ninguna "}.get(article, "")
    return f"Hay {noun if article == '-' else f'{article} {noun}'}.", f"No hay {none}{noun}."


def _japanese(noun: str, category: str | None, label: str) -> tuple[str, str]:
    if category is None:
        raise ProbeRejected("no-category", f"{label!r} has no category, so nobody can say whether it is alive")
    alive = category in ANIMATE_CATEGORIES
    return f"{noun}が{'います' if alive else 'あります'}。", f"{noun}は{'いません' if alive else 'ありません'}。"


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
