"""What is behind the object of a composed item: drawn again, and only where it is what the picture shows."""

import numpy as np
import pytest

from core.corpora.demo_backgrounds import true_plate
from core.corpora.item_pictures import read_item
from core.corpora.registry import catalogue
from core.corpora.schema import Item
from core.errors import BadCorpus


def item(name: str) -> Item:
    return catalogue().get("demo").load().get(name)


@pytest.mark.parametrize("name", ["frog-1-10-20", "adelaide-rosella-20-35", "pigeon-10-20"])
def test_away_from_the_object_the_plate_is_the_picture_itself(name: str) -> None:
    one = item(name)
    pixels = read_item(one).pixels
    plate = true_plate(one, pixels)
    assert one.mask is not None
    assert one.box is not None
    below = np.zeros(pixels.shape[:2], bool)
    below[: max(0, int(one.box.y) - 16)] = True
    assert below.any()
    np.testing.assert_array_equal(plate[below], pixels[below])
    assert np.abs(plate[one.mask.to_array()].astype(int) - pixels[one.mask.to_array()]).mean() > 10


def test_a_picture_that_is_not_what_the_builder_draws_has_no_plate() -> None:
    one = item("frog-1-10-20")
    pixels = read_item(one).pixels
    with pytest.raises(BadCorpus, match="differs from its picture"):
        true_plate(one, np.ascontiguousarray(pixels[:, ::-1]))


def test_a_photograph_has_no_plate_and_says_so_beforehand() -> None:
    cat = item("cat")
    assert cat.backdrop == ""
    with pytest.raises(BadCorpus, match="how item 'cat' was composed"):
        true_plate(cat, read_item(cat).pixels)
    assert item("frog-1-10-20").backdrop == "pebbles"
