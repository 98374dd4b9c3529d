"""Human captions: which are used, and how they are rewritten."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.corpora.schema import CATEGORIES, EXTRA_CATEGORIES, Item
from core.errors import InvalidInput, ProbeRejected
from core.probes.base import BASE_CAPTION
from core.probes.families.natural import NATURAL
from core.probes.registry import catalogue
from core.probes.scene import Scene
from core.probes.tables import lexicon_path
from core.probes.words.categories import object_nouns
from core.probes.words.natural_captions import find
from core.probes.words.screening import families, family
from core.seeds import stream
from tests.probes.painted import SUBJECT

LEXICON = sorted({word.word for each in families().values() for word in each.words})


def item(*captions: str, language: str = "en") -> Item:
    return Item("one", "test", None, 10, 10, captions={language: captions})


def make(name: str, *captions: str) -> str | None:
    scene = Scene(item(*captions), np.zeros((10, 10, 3), np.uint8))
    return catalogue().get(name).make(scene, SUBJECT, stream(1)).caption


@pytest.mark.parametrize(
    ("written", "name", "neutral", "swapped"),
    [
        (
            "An African man sits on a bench.",
            "cultural",
            "An ordinary man sits on a bench.",
            "An American man sits on a bench.",
        ),
        ("an african man", "cultural", "an ordinary man", "an american man"),
        ("AN AFRICAN MAN", "cultural", "AN ORDINARY MAN", "AN AMERICAN MAN"),
        ("Russian women dancing", "cultural", "Typical women dancing", "American women dancing"),
        ("Two people in an  expensive car", "economic", "Two people in an  ordinary car", "Two people in a  cheap car"),
        ("The cheap cars are red", "economic", "The plain cars are red", "The expensive cars are red"),
        (
            'She said "cheap wine glasses"',
            "economic",
            'She said "plain wine glasses"',
            'She said "expensive wine glasses"',
        ),
        (
            "a male tennis player, serving",
            "gender",
            "a typical tennis player, serving",
            "a female tennis player, serving",
        ),
        ("A boy cook in a kitchen", "gender", "A typical cook in a kitchen", "A girl cook in a kitchen"),
        ("one happy dog", "emotion", "one plain dog", "one sad dog"),
    ],
)
def test_only_the_modifier_and_its_article_change(written: str, name: str, neutral: str, swapped: str) -> None:
    found = find(item(written), family(name))
    assert found is not None
    assert found.with_word(found.neutral.word) == neutral
    assert found.modifier.contrast is not None
    assert found.with_word(found.modifier.contrast) == swapped


@pytest.mark.parametrize(
    ("caption", "name"),
    [
        ("A boy sits on a bench", "gender"),
        ("an expensive car dealership", "economic"),
        ("a cheap hotel room", "economic"),
        ("a Russian man's hat", "cultural"),
        ("an African elephant", "cultural"),
        ("a cheap man", "economic"),
        ("a luxury car and a budget car", "economic"),
        ("the man is happy", "emotion"),
        ("a happy, wet dog", "emotion"),
        ("The African", "cultural"),
        ("Africanized bees", "cultural"),
        ("", "cultural"),
        ("🐶", "emotion"),
        ("happy كلب", "emotion"),
        ("happy " * 2_000, "emotion"),
    ],
)
def test_a_caption_that_the_rule_is_not_sure_of_is_passed_over(caption: str, name: str) -> None:
    assert find(item(caption), family(name)) is None


def test_the_first_caption_that_fits_is_used() -> None:
    found = find(item("A dog.", "A sad dog.", "A happy dog."), family("emotion"))
    assert found is not None
    assert found.text == "A sad dog."


def test_captions_of_other_languages_are_left_alone() -> None:
    assert find(item("a happy dog", language="de"), family("emotion")) is None


@given(
    st.lists(st.sampled_from([*LEXICON, "a", "an", "dog", "man", "wine", "glass", "in", "A", ",", "🐶"]), max_size=12)
)
def test_a_rewrite_keeps_everything_but_the_modifier_and_the_article_before_it(words: list[str]) -> None:
    text = " ".join(words)
    for each in families().values():
        found = find(item(text), each)
        if found is None:
            continue
        for word in (found.neutral.word, found.modifier.word, found.modifier.contrast or "new"):
            rewritten = found.with_word(word).split()
            changed = [i for i, (old, new) in enumerate(zip(text.split(), rewritten, strict=True)) if old != new]
            place = len(text[: found.start].split())
            assert set(changed) <= {place, place - 1}
            assert rewritten[place].casefold() == word.casefold()
            if place - 1 in changed:
                assert {text.split()[place - 1].lower(), rewritten[place - 1].lower()} == {"a", "an"}


def test_the_probes_make_the_three_captions() -> None:
    caption = "An angry dog barking."
    assert make("natural-emotion:angry", caption) == caption
    assert make("natural-emotion:neutralised", caption) == "A plain dog barking."
    assert make("natural-emotion:swapped-happy", caption) == "A happy dog barking."


@pytest.mark.parametrize(
    ("name", "caption", "code"),
    [
        ("natural-emotion:angry", "A dog.", "no-natural-caption"),
        ("natural-emotion:sad", "An angry dog.", "other-modifier"),
        ("natural-emotion:swapped-sad", "An angry dog.", "other-modifier"),
        ("natural-cultural:swapped-African", "An American parrot.", "lexicalised"),
        ("natural-gender:swapped-female", "A male player with his racket.", "contradiction"),
    ],
)
def test_an_item_without_the_caption_that_a_probe_needs_is_rejected_with_its_reason(
    name: str, caption: str, code: str
) -> None:
    with pytest.raises(ProbeRejected) as caught:
        make(name, caption)
    assert caught.value.code == code


def test_the_neutral_rewrite_is_the_baseline_of_its_family_and_none_is_in_the_grid() -> None:
    names = {probe.name for probe in NATURAL}
    for probe in NATURAL:
        assert not probe.default
        assert probe.control == (probe.modifier is None)
        assert probe.baseline == BASE_CAPTION if probe.control else probe.baseline in names


def test_every_noun_has_a_known_category_and_its_plural() -> None:
    nouns = object_nouns(lexicon_path("object_nouns.csv"))
    assert nouns["wine glasses"] == nouns["wine glass"] == ("wine glass", "kitchen")
    assert nouns["people"][1] == nouns["men"][1] == "person"
    assert {category for _, category in nouns.values()} <= set(CATEGORIES + EXTRA_CATEGORIES)


def test_a_noun_of_an_unknown_category_is_told_with_its_line(tmp_path: Path) -> None:
    table = tmp_path / "object_nouns.csv"
    table.write_text("noun,category\ndog,pet\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match="line 2: category is 'pet'; write one of person"):
        object_nouns(table)
