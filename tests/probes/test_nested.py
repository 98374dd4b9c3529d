"""Nested captions: each begins with the words of the one before, and is true by the corpus' own grammar."""

from dataclasses import replace

import pytest

from core.corpora.demo import load_demo
from core.corpora.schema import Item
from core.errors import ProbeRejected
from core.probes.base import Expectation
from core.probes.families.nested import NESTED, PLACE, SHARE, nested_captions
from core.probes.registry import select, with_baselines
from core.probes.words.templates import base_caption

ITEMS = load_demo.load().items
COMPOSED = [item for item in ITEMS if item.backdrop]


def item_of(name: str) -> Item:
    return next(item for item in ITEMS if item.id == name)


def test_a_caption_read_by_hand() -> None:
    assert nested_captions(item_of("frog-1-10-20")) == (
        "There is a frog covering little of the picture.",
        "There is a frog covering little of the picture, on grey pebbles.",
    )


def test_every_step_says_what_the_corpus_sentence_says_and_begins_with_the_step_before() -> None:
    assert len(COMPOSED) > 200
    for item in COMPOSED:
        first, second = (text.removesuffix(".") for text in nested_captions(item))
        assert item.label is not None
        assert second.startswith(f"{first}, ")
        assert first.startswith(f"{base_caption(item.label).removesuffix('.')} covering ")
        said = item.captions["en"][0]
        assert said.endswith(f"{first.partition(' covering ')[2]}."), (said, first)
        assert second.removeprefix(f"{first}, ") in said


def test_an_item_of_which_nobody_knows_it_is_left_out() -> None:
    photograph = next(item for item in ITEMS if not item.backdrop)
    for item in (photograph, replace(COMPOSED[0], backdrop="moon"), replace(COMPOSED[0], mask=None)):
        with pytest.raises(ProbeRejected) as caught:
            nested_captions(item)
        assert caught.value.code == "not-composed"


def test_each_step_is_compared_with_the_one_before_and_is_no_failure() -> None:
    assert [(probe.name, probe.baseline) for probe in NESTED] == [(SHARE, "identity"), (PLACE, SHARE)]
    assert {probe.expectation for probe in NESTED} == {Expectation.RESPONSE}
    assert [probe.name for probe in with_baselines(select([PLACE]))] == [SHARE, PLACE]
