"""Templates, length matching and the words that say which object is meant."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.corpora.schema import Box, Item, SceneObject
from core.errors import InvalidInput, ProbeRejected, UnknownName
from core.probes.families.base_caption import base
from core.probes.scene import Scene
from core.probes.words.grammar import clean_label
from core.probes.words.screening import accepted_controls, families
from core.probes.words.templates import attribute_caption, base_caption, length_matched
from tests.probes.hand_checked import coco_bare, coco_modified
from tests.probes.painted import SUBJECT

LABELS = st.text(max_size=60).filter(lambda text: text.replace("_", " ").split() != [])
FAMILIES = tuple(families())
HOSTILE = [
    "x" * 10_000,
    "dog " * 2_500,
    "🐶",
    "👩‍👩‍👧",
    "كلب",
    "‏כלב גדול",
    "犬",
    "a",
    "É",
    "<b>bed</b>",
    "'; drop",
    "0",
]


def item(label: str | None, *rivals: float, side: float = 10.0, category: str | None = "animal") -> Item:
    """An item of a square object, with rivals of the same label of the given sides."""
    others = tuple(SceneObject(label or "dog", Box(50, 50, rival, rival)) for rival in rivals)
    box = Box(0, 0, side, side)
    return Item("one", "test", None, 100, 100, label=label, category=category, box=box, others=others)


@pytest.mark.parametrize(("label", "expected"), coco_bare().items())
def test_every_coco_label_has_its_bare_caption(label: str, expected: str) -> None:
    assert base_caption(label) == expected


def test_every_coco_label_reads_well_under_every_modifier() -> None:
    assert {pair: attribute_caption(*pair) for pair in coco_modified()} == coco_modified()


def test_the_checked_table_covers_every_word_of_the_lexicon() -> None:
    words = {each.word for family in families().values() for each in family.words}
    assert words == {word for _, word in coco_modified()}


def test_the_checked_table_covers_coco() -> None:
    assert len(coco_bare()) == 80


@pytest.mark.parametrize("label", HOSTILE)
def test_a_hostile_label_makes_one_sentence_that_holds_it(label: str) -> None:
    caption = attribute_caption(label, "plain")
    assert caption.startswith("There ")
    assert caption.endswith(f"plain {' '.join(label.split())}.")


@given(LABELS)
def test_any_label_makes_captions_of_one_line(label: str) -> None:
    for caption in (base_caption(label), attribute_caption(label, "African")):
        assert caption == " ".join(caption.split())
        assert caption.endswith(f"{clean_label(label)}.")


@pytest.mark.parametrize("make", [base_caption, lambda label: attribute_caption(label, "plain")])
def test_an_empty_label_is_refused(make: Callable[[str], str]) -> None:
    with pytest.raises(InvalidInput, match="needs a noun"):
        make(" ")


def reference(family: str, caption: str, label: str, count: Callable[[str], int | None] | None) -> str:
    """Length matching spelled out: filter by characters, then by tokens, then take the first in the alphabet."""
    left = {word.word: attribute_caption(label, word.word) for word in accepted_controls(label, family)}
    fewest = min(abs(len(text) - len(caption)) for text in left.values())
    left = {word: text for word, text in left.items() if abs(len(text) - len(caption)) == fewest}
    own = None if count is None else count(caption)
    if count is not None and own is not None:
        gaps = {word: abs((count(text) or 0) - own) for word, text in left.items()}
        left = {word: text for word, text in left.items() if gaps[word] == min(gaps.values())}
    return f"{family}:{sorted(left)[0]}"


@given(
    st.sampled_from(FAMILIES),
    st.sampled_from(["bed", "umbrella", "scissors", "broccoli", "person", "donut", "犬"]),
    st.text(max_size=40),
    st.sampled_from([None, len, lambda text: len(text.split()), lambda text: text.count("a"), lambda text: None]),
)
def test_length_matching_agrees_with_the_reference(
    family: str, label: str, caption: str, count: Callable[[str], int | None] | None
) -> None:
    assert length_matched(family, caption, label, count_tokens=count) == reference(family, caption, label, count)


def test_characters_decide_before_tokens() -> None:
    shortest = attribute_caption("bed", "plain")
    never = {shortest: 99}
    chosen = length_matched("economic", shortest, "bed", count_tokens=lambda text: never.get(text, 1))
    assert chosen == "economic:plain"


def test_tokens_decide_between_controls_of_equal_distance() -> None:
    caption = attribute_caption("bed", "African")  # 'typical' is one character shorter, 'ordinary' one longer
    counts = {attribute_caption("bed", "ordinary"): 9}
    assert length_matched("cultural", caption, "bed") == "cultural:ordinary"
    assert length_matched("cultural", caption, "bed", count_tokens=lambda t: counts.get(t, 6)) == "cultural:typical"


def test_a_control_that_is_not_neutral_before_the_noun_does_not_compete() -> None:
    caption = attribute_caption("person", "sad")
    assert length_matched("emotion", caption, "person") == "emotion:typical"
    assert length_matched("emotion", attribute_caption("dog", "sad"), "dog") == "emotion:plain"


def test_length_matching_names_the_families_it_knows() -> None:
    with pytest.raises(UnknownName, match="known: cultural"):
        length_matched("religious", "There is a bed.", "bed")


def test_the_base_probe_says_the_template_and_nothing_else() -> None:
    variant = base.make(Scene(item("dog"), np.zeros((100, 100, 3), np.uint8)), SUBJECT, np.random.default_rng(0))
    assert variant.caption == "There is a dog."
    assert variant.pixels is None


@pytest.mark.parametrize("label", [None, "", "  "])
def test_an_item_without_a_label_is_rejected_by_code(label: str | None) -> None:
    with pytest.raises(ProbeRejected) as caught:
        base.make(Scene(item(label), np.zeros((100, 100, 3), np.uint8)), SUBJECT, np.random.default_rng(0))
    assert caught.value.code == "no-label"
