"""Sentence patterns against sentences written by hand: every article, place, share, number and counter."""

from collections.abc import Iterator

import numpy as np
import pytest

from core import settings
from core.corpora.demo_plan import FILLING, LANGUAGES, Plan
from core.corpora.schema import Mask
from tests.corpora.hand_worked_sentences import SCENES, WORKED
from tests.corpora.read_sentences import READ
from tools.demo_corpus.scenes import ScenePlan, captions

ASSETS = settings.ROOT / "assets" / "demo"
SIDE = 90
ROOMS = {"small": 0.05, "fifth": 0.2, "third": 0.33, "half": 0.5, "most": 0.7, "all": 0.95}
ARTICLES = {"en": ("a", "an"), "de": ("ein", "eine"), "fr": ("un", "une"), "es": ("un", "una")}


def mask(size: str, where: str) -> Mask:
    """A block of the room of a share, whose centre is in the third of the frame that a position names."""
    breadth = SIDE if size in FILLING else 58
    depth = round(ROOMS[size] * SIDE * SIDE / breadth)
    start = {"left": 0, "right": SIDE - breadth, "top": 0, "bottom": SIDE - breadth}.get(where, (SIDE - breadth) // 2)
    along, across = slice(start, start + breadth), slice((SIDE - depth) // 2, (SIDE - depth) // 2 + depth)
    array = np.zeros((SIDE, SIDE), bool)
    array[(across, along) if where in ("left", "right", "middle") else (along, across)] = True
    return Mask.from_array(array)


@pytest.mark.parametrize("parts", WORKED, ids=" ".join)
def test_a_sentence_is_put_together_as_it_was_written_by_hand(plan: Plan, parts: tuple[str, str, str, str]) -> None:
    label, background, size, where = parts
    made = plan.grammar.sentences(label=label, stamp="", background=background, mask=mask(size, where))
    assert made == {language: (text,) for language, text in WORKED[parts].items()}


@pytest.mark.parametrize("name", SCENES)
def test_a_scene_is_told_as_it_was_written_by_hand(plan: Plan, words: ScenePlan, name: str) -> None:
    (entry,) = (each for each in words.scenes if each.id == name)
    assert captions(entry, plan, words) == SCENES[name]


def sentences(language: str) -> list[str]:
    return [texts[language] for texts in (*WORKED.values(), *READ.values())]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_part_of_the_grammar_stands_in_a_sentence_written_by_hand(plan: Plan, language: str) -> None:
    said = [text.casefold() for text in sentences(language)]
    parts = {
        **{name: text[language] for name, text in plan.grammar.phrases.items() if not name.startswith("pattern")},
        **{name: text[language] for name, text in plan.grammar.places.items()},
    }
    assert [name for name, part in parts.items() if not any(part.casefold() in text for text in said)] == []


def articles_said(language: str) -> Iterator[tuple[bool, str]]:
    """Whether a sentence tells no position, and the article of its subject."""
    for (_, _, size, _), texts in WORKED.items():
        said = texts[language].casefold().split()
        yield size in FILLING, next(word for word in said if word in ARTICLES[language])


@pytest.mark.parametrize("language", ARTICLES)
def test_every_pattern_stands_with_every_article(language: str) -> None:
    found = set(articles_said(language))
    forms = ARTICLES[language] if language != "en" else ("a",)
    assert {(filling, form) for filling in (True, False) for form in forms} <= found


def test_scenes_written_by_hand_count_from_one_to_four_with_every_counter(words: ScenePlan) -> None:
    numbers = {name: text["ja"] for name, text in words.phrases.items() if name.startswith("number")}
    counters = {text["ja"].partition("の")[0] for text in words.plurals.values()}
    said = "".join(text for texts in SCENES.values() for text in texts["ja"])
    assert [each for each in numbers.values() if not any(f"{each}{counter}の" in said for counter in counters)] == []
    assert [counter for counter in counters if not any(f"{each}{counter}の" in said for each in numbers.values())] == []
