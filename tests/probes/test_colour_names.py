"""Names of colours: painted patches, and what a swapped colour is checked against."""

import numpy as np
import pytest

from core.corpora.schema import Item, Mask
from core.probes.base import HUMAN, Subject, Variant
from core.probes.families.word_swaps import colour_shares
from core.probes.pairs import Pairs
from core.probes.registry import catalogue


@pytest.mark.parametrize(
    ("rgb", "name"),
    [
        ((220, 20, 20), "red"),
        ((250, 130, 0), "orange"),
        ((240, 230, 20), "yellow"),
        ((20, 160, 40), "green"),
        ((30, 60, 220), "blue"),
        ((130, 30, 190), "purple"),
        ((250, 100, 190), "pink"),
        ((110, 70, 30), "brown"),
        ((10, 10, 10), "black"),
        ((128, 128, 128), "gray"),
        ((245, 245, 245), "white"),
    ],
)
def test_a_patch_has_its_name(rgb: tuple[int, int, int], name: str) -> None:
    patch = np.full((4, 5, 3), rgb, np.uint8)
    assert colour_shares(patch, np.ones((4, 5), bool)) == {name: 1.0}


def test_shares_are_of_the_mask_alone() -> None:
    pixels = np.zeros((2, 4, 3), np.uint8)
    pixels[:, 2:] = (220, 20, 20)
    mask = np.ones((2, 4), bool)
    mask[:, 0] = False
    assert colour_shares(pixels, mask) == {"black": pytest.approx(1 / 3), "red": pytest.approx(2 / 3)}
    assert colour_shares(pixels, np.zeros((2, 4), bool)) == {}


def test_a_swapped_colour_is_checked_where_no_pixel_of_the_object_has_it() -> None:
    pixels = np.full((20, 30, 3), (220, 20, 20), np.uint8)
    mask = Mask.from_array(np.ones((20, 30), bool))
    caption = "A red bus."
    item = Item("bus", "test", None, 30, 20, captions={"en": (caption,)}, label="bus", category="vehicle", mask=mask)
    made = Pairs(item, pixels).make(catalogue().get("colour-word"), Subject(HUMAN, "en", 0, caption))
    assert isinstance(made, Variant)
    assert (made.facts["falsity"], made.facts["share_of_new"]) == ("checked", 0.0)
    unknown = Item("bus", "test", None, 30, 20, captions={"en": (caption,)}, label="bus", category="vehicle")
    made = Pairs(unknown, pixels).make(catalogue().get("colour-word"), Subject(HUMAN, "en", 0, caption))
    assert isinstance(made, Variant)
    assert made.facts["falsity"] == "presumed"
