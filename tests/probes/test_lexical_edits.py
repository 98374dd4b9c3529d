"""The five lexical edits: what each keeps, what it changes, and what it answers to captions of one word or none."""

from collections import Counter
from itertools import groupby

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InvalidInput, ProbeRejected
from core.probes.base import Subject
from core.probes.registry import catalogue, further_readings, select
from core.probes.words.caption_words import LANGUAGES, noun_phrases, words
from core.probes.words.lexical_edits import EDITS, MASK, PARTS, shuffle_part
from tests.probes.painted import paint

repeat, remove, mask, jumble, substitute = EDITS.values()

WORDS = ("a", "the", "dog", "dog's", "cat,", "sofa.", "red", "Sofa", "façade", "naïve")
captions = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)
seeds = st.integers(0, 2**32 - 1)

SENTENCES = {
    "en": ("A man throws a red ball to the dog near the baseball bat.", ["man", "ball", "dog", "baseball bat"]),
    "de": ("Eine Frau sitzt an einem Tisch mit einem Kuchen.", ["Frau", "Tisch", "Kuchen"]),
    "fr": ("Un homme pousse une voiture vers un camion.", ["homme", "voiture", "camion"]),
    "es": ("Una mujer empuja la mesa hacia un pastel.", ["mujer", "mesa", "pastel"]),
    "ja": ("ケーキの載ったテーブルの横に座っている女性", ["ケーキ", "テーブル", "女性"]),
}


def draw(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


@given(captions, seeds)
def test_jumble_keeps_every_word_and_changes_the_order_where_it_can(caption: str, seed: int) -> None:
    before, after = caption.split(), jumble(caption, draw(seed)).split()
    assert Counter(before) == Counter(after)
    assert (before == after) == (len(set(before)) < 2)


@given(captions, seeds)
def test_repetition_only_adds_repeats(caption: str, seed: int) -> None:
    before, after = runs(caption), runs(repeat(caption, draw(seed)))
    assert [word for word, _ in before] == [word for word, _ in after]
    assert all(old <= new <= 2 * old for (_, old), (_, new) in zip(before, after, strict=True))
    assert (before != after) == bool(before)


def runs(caption: str) -> list[tuple[str, int]]:
    return [(word, len(list(group))) for word, group in groupby(caption.split())]


@given(captions, seeds)
def test_removal_keeps_the_order_and_at_least_one_word(caption: str, seed: int) -> None:
    before, after = caption.split(), remove(caption, draw(seed)).split()
    rest = iter(before)
    assert all(word in rest for word in after)
    assert bool(after) == bool(before)
    assert len(after) < len(before) or len(before) < 2


@given(captions, seeds)
def test_masking_keeps_the_place_of_every_other_word(caption: str, seed: int) -> None:
    before, after = caption.split(), mask(caption, draw(seed)).split()
    assert len(before) == len(after)
    assert all(new in (old, MASK) for old, new in zip(before, after, strict=True))
    assert (MASK in after) == bool(before)


@given(captions, seeds, st.sampled_from(sorted(EDITS)))
def test_the_same_stream_writes_the_same_text(caption: str, seed: int, name: str) -> None:
    assert attempt(name, caption, seed) == attempt(name, caption, seed)


def attempt(name: str, caption: str, seed: int) -> str:
    try:
        return EDITS[name](caption, draw(seed))
    except ProbeRejected as error:
        return error.code


@pytest.mark.parametrize("edit", [repeat, mask])
def test_four_words_in_ten_are_hit(edit) -> None:  # type: ignore[no-untyped-def]
    caption = " ".join(f"w{index}" for index in range(4000))
    after = edit(caption, draw(7)).split()
    hits = after.count(MASK) if edit is mask else len(after) - 4000
    assert abs(hits / 4000 - 0.4) < 4 * (0.4 * 0.6 / 4000) ** 0.5  # four standard errors


@pytest.mark.parametrize("language", LANGUAGES)
def test_nouns_are_found_in_every_language_and_change_places(language: str) -> None:
    caption, nouns = SENTENCES[language]
    found = words(caption, language)
    glue = "" if language == "ja" else " "
    assert [glue.join(word.core for word in found[a : b + 1]) for a, b in noun_phrases(found, language)] == nouns
    texts = {substitute(caption, draw(seed), language=language) for seed in range(8)}
    assert caption not in texts
    assert len(texts) > 1
    for text in texts:
        assert [noun for noun in nouns if noun not in text] == []


@pytest.mark.parametrize(
    ("language", "caption", "edited"),
    [
        (
            "en",
            "In the middle, a cow on a red mat covers about a fifth of the picture.",
            "In the middle, a mat on a red cow covers about a fifth of the picture.",
        ),
        (
            "de",
            "In der Mitte nimmt ein Baum auf einer Wiese etwa ein Drittel des Bildes ein.",
            "In der Mitte nimmt eine Wiese auf einem Baum etwa ein Drittel des Bildes ein.",
        ),
        (
            "fr",
            "Au milieu, un camion de pompiers dans un pré occupe environ un tiers de l'image.",
            "Au milieu, un pré dans un camion de pompiers occupe environ un tiers de l'image.",
        ),
        (
            "es",
            "En el centro, una lata de basura en un prado ocupa la mayor parte del encuadre.",
            "En el centro, un prado en una lata de basura ocupa la mayor parte del encuadre.",
        ),
        ("ja", "牧草地の猫が、中央で画像の一部を占めている。", "猫の牧草地が、中央で画像の一部を占めている。"),
    ],
)
def test_parts_and_sides_stay_and_a_name_of_several_words_goes_as_one(language: str, caption: str, edited: str) -> None:
    assert {substitute(caption, draw(seed), language=language) for seed in range(4)} == {edited}


def test_signs_stay_where_they_were() -> None:
    found = {substitute("A cat on (a dog).", draw(seed)) for seed in range(4)}
    assert found == {"A dog on (a cat)."}


@pytest.mark.parametrize("caption", ["", "  ", "cat", "cat cat", "A cat near the cat"])
def test_substitution_needs_two_different_nouns(caption: str) -> None:
    with pytest.raises(ProbeRejected, match="two different nouns") as caught:
        substitute(caption, draw(0))
    assert caught.value.code == "few-nouns"


@pytest.mark.parametrize("language", LANGUAGES)
def test_one_word_and_no_word_have_an_answer(language: str) -> None:
    word = "猫" if language == "ja" else "cat"
    for name, one in (
        ("repetition", word * 2 if language == "ja" else "cat cat"),
        ("removal", word),
        ("masking", MASK),
        ("jumble", word),
    ):
        assert EDITS[name](word, draw(1), language=language) == one
        assert EDITS[name](" ", draw(1), language=language) == ""


def test_japanese_is_edited_word_by_word() -> None:
    caption = SENTENCES["ja"][0]
    parts = [word.text for word in words(caption, "ja")]
    assert "".join(parts) == caption
    assert len(parts) > 10
    masked = mask(caption, draw(2), language="ja")
    assert 0 < masked.count(MASK) < len(parts)
    assert " " not in masked


def test_another_language_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(InvalidInput, match="en, de, fr, es, ja, got language 'pl'"):
        repeat("kot", draw(0), language="pl")


CAPTION = "A small dog runs on the green grass near a tall tree."
CONTENT = (1, 2, 6, 7, 10, 11)
"""Places of small, dog, green, grass, tall and tree."""


def shuffled(part: str, caption: str = CAPTION, seed: int = 0) -> tuple[list[str], list[str]]:
    before, after = shuffle_part(caption, np.random.default_rng(seed), part)
    return before.lower().removesuffix(".").split(), after.lower().removesuffix(".").split()


@pytest.mark.parametrize("seed", range(5))
def test_of_a_kind_only_its_own_words_change_places(seed: int) -> None:
    before, after = shuffled("nouns-and-adjectives", seed=seed)
    assert [word for place, word in enumerate(after) if place not in CONTENT] == [
        word for place, word in enumerate(before) if place not in CONTENT
    ]
    assert after != before
    before, after = shuffled("all-but-nouns-and-adjectives", seed=seed)
    assert [after[place] for place in CONTENT] == [before[place] for place in CONTENT]
    assert after != before


@pytest.mark.parametrize("seed", range(5))
def test_threes_keep_their_words_or_their_order(seed: int) -> None:
    before, after = shuffled("within-trigrams", seed=seed)
    for start in range(0, len(before), 3):
        assert Counter(after[start : start + 3]) == Counter(before[start : start + 3])
        assert after[start : start + 3] != before[start : start + 3]
    before, after = shuffled("trigrams", seed=seed)
    threes = [tuple(before[start : start + 3]) for start in range(0, len(before), 3)]
    assert after != before
    assert Counter(tuple(after[start : start + 3]) for start in range(0, len(after), 3)) == Counter(threes)


@pytest.mark.parametrize("part", PARTS)
@given(caption=st.text(alphabet="a dog cat red on .", max_size=40), seed=st.integers(0, 99))
def test_no_word_comes_or_goes(part: str, caption: str, seed: int) -> None:
    before, after = shuffle_part(caption, np.random.default_rng(seed), part)
    assert Counter(after.lower().replace(".", " ").split()) == Counter(before.lower().replace(".", " ").split())


def test_what_cannot_change_is_refused() -> None:
    for name, caption in (("order:nouns-and-adjectives", "A dog runs."), ("order:trigrams", "A dog runs.")):
        with pytest.raises(ProbeRejected) as caught:
            catalogue().get(name).make(paint(), Subject("human", "en", 0, caption), np.random.default_rng(0))
        assert caught.value.code == "unchanged"
    with pytest.raises(ProbeRejected) as caught:
        catalogue().get("order:trigrams").make(
            paint(), Subject("human", "de", 0, "Ein Hund."), np.random.default_rng(0)
        )
    assert caught.value.code == "language-not-edited"


def test_they_are_chosen_by_their_own_word() -> None:
    names = {f"order:{part}" for part in PARTS}
    assert {probe.name for probe in select(["order-parts"])} == names <= further_readings()
    assert not names & {probe.name for probe in select(["order", "directional"])}
