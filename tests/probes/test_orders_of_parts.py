"""ARO's four orders: which words may change places, and which stay."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import ProbeRejected
from core.probes.base import Subject
from core.probes.registry import catalogue, further_readings, select
from core.probes.words.lexical_edits import PARTS, shuffle_part
from tests.probes.painted import paint

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
