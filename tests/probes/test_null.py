"""The null family and the whole-image spatial probes: what is registered, and that nobody sees the invisible edits."""

import numpy as np
import pytest
from skimage import data
from skimage.metrics import structural_similarity

from core.corpora.schema import Item
from core.probes.base import IDENTITY, Axis, Edits, Expectation
from core.probes.pixels import edits as image_edits
from core.probes.registry import catalogue, select
from core.probes.scene import Scene
from core.seeds import stream
from tests.probes.painted import SUBJECT, paint

RNG = stream(1, "a", "b")

WHOLE_IMAGE = {
    "vflip": image_edits.flip_vertical,
    "hflip": image_edits.flip_horizontal,
    "rotate-10": lambda pixels: image_edits.rotate(pixels, -10),
    "rotate-5": lambda pixels: image_edits.rotate(pixels, -5),
    "rotate+5": lambda pixels: image_edits.rotate(pixels, 5),
    "rotate+10": lambda pixels: image_edits.rotate(pixels, 10),
    "blur-1": lambda pixels: image_edits.blur(pixels, 1.0),
    "blur-2": lambda pixels: image_edits.blur(pixels, 2.0),
    "null:jpeg95": lambda pixels: image_edits.jpeg(pixels, quality=95),
    "null:shift1": lambda pixels: image_edits.translate(pixels, right=1),
    "null:resize": image_edits.resize_and_back,
}


@pytest.mark.parametrize("name", WHOLE_IMAGE)
def test_a_probe_of_the_whole_image_is_its_edit(name: str) -> None:
    probe, scene = catalogue().get(name), paint()
    np.testing.assert_array_equal(probe.make(scene, SUBJECT, RNG).pixels, WHOLE_IMAGE[name](scene.pixels))
    assert probe.edits is Edits.IMAGE
    assert probe.expectation is Expectation.INVARIANT
    assert probe.baseline == IDENTITY
    assert probe.default
    assert probe.control == name.startswith(("blur", "null"))
    assert probe.source
    assert probe.summary.endswith(".")


def test_the_null_axis_is_the_null_family() -> None:
    assert [probe.name for probe in select(["null"])] == ["null:jpeg95", "null:shift1", "null:resize"]
    assert {probe.family for probe in catalogue() if probe.axis is Axis.NULL} == {"null"}


@pytest.mark.parametrize("name", ["null:jpeg95", "null:shift1", "null:resize"])
def test_a_null_edit_is_next_to_invisible(name: str) -> None:
    pixels = data.chelsea()
    made = catalogue().get(name).make(Scene(Item("cat", "test", None, 451, 300), pixels), SUBJECT, RNG).pixels
    assert made is not None
    assert (made != pixels).any()
    aligned = (pixels[:, :-1], made[:, 1:]) if name == "null:shift1" else (pixels, made)
    assert structural_similarity(*aligned, channel_axis=2) > 0.97


@pytest.mark.parametrize(("name", "moves"), [("null:shift1", True), ("null:jpeg95", False), ("blur-2", False)])
def test_the_object_is_followed_where_it_moves(name: str, moves: bool) -> None:
    scene = paint()
    variant = catalogue().get(name).make(scene, SUBJECT, RNG)
    assert (variant.object_mask != scene.item.mask) == moves
    assert (variant.object_box != scene.item.box) == moves
