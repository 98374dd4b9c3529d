"""The template in five languages, affirmed and negated, from a table of nouns with their articles.

English follows :mod:`core.probes.words.captions`. In the others the noun and its article come from
``assets/words/nouns.csv``; Japanese asks whether the thing is alive, which its category says.
"""

from dataclasses import dataclass
from functools import cache

from core.corpora.schema import ANIMATE_CATEGORIES
from core.errors import ProbeRejected
from core.probes.tables import Row, read_table, words_path
from core.probes.words.captions import base_caption
from core.probes.words.categories import vocabulary
from core.probes.words.grammar import clean_label
from core.probes.words.negation import negated_template

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

    Args:
        label: as the corpus names the object.
        category: harmonised; says in Japanese whether the object is alive, and which of two things of one name it is.
        language: en, de, fr, es or ja.

    Raises:
        ProbeRejected: ``no-noun`` where the table does not have the label, ``no-category`` where Japanese needs one.

    Example:
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
    return TemplateWords(name, *_WRITERS[language](article, noun))


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


def _german(article: str, noun: str) -> tuple[str, str]:
    if article == "-":
        return f"Da sind {noun}.", f"Da sind keine {noun}."
    return f"Da ist {article} {noun}.", f"Da ist k{article} {noun}."


def _french(article: str, noun: str) -> tuple[str, str]:
    elided = noun.casefold().startswith(_ELIDED) and not noun.casefold().startswith(_ASPIRATED)
    of = "d'" if elided else "de "
    return f"Il y a {article} {noun}.", f"Il n'y a pas {of}{noun}."


def _spanish(article: str, noun: str) -> tuple[str, str]:
    said = noun if article == "-" else f"{article} {noun}"
    return f"Hay {said}.", f"No hay {'ningún ' if article == 'un' else 'ninguna ' if article == 'una' else ''}{noun}."


def _japanese(noun: str, category: str | None, label: str) -> tuple[str, str]:
    if category is None:
        raise ProbeRejected("no-category", f"{label!r} has no category, so nobody can say whether it is alive")
    alive = category in ANIMATE_CATEGORIES
    return f"{noun}が{'います' if alive else 'あります'}。", f"{noun}は{'いません' if alive else 'ありません'}。"


_WRITERS = {"de": _german, "fr": _french, "es": _spanish}
