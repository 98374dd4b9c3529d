"""Moves along the ground: sideways only, for what stands."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from core.corpora.schema import Box
from core.errors import ProbeRejected
from core.probes.base import Variant
from core.probes.families.ground import SIDES
from core.probes.registry import catalogue
from core.probes.scene import Scene
from core.seeds import stream
from tests.probes.painted import SUBJECT, neighbour, paint


def move(scene: Scene, side: str, seed: int = 1) -> Variant:
    name = f"reposition-ground-{side}"
    return catalogue().get(name).make(scene, SUBJECT, stream(seed, scene.item.id, name))


@settings(max_examples=20, deadline=None)
@given(x=st.floats(20, 140), y=st.floats(64, 105), side=st.sampled_from(sorted(SIDES)))
def test_a_standing_object_moves_sideways_to_its_side_and_keeps_its_ground_line(x: float, y: float, side: str) -> None:
    scene = paint(centre=(x, y))
    way = (x - 39.5) if side == "left" else (119.5 - x)
    assume(abs(way - 16) > 2)  # at the least way itself, rounding decides
    if way < 16:
        with pytest.raises(ProbeRejected) as caught:
            move(scene, side)
        assert caught.value.code == "too-large"
        return
    variant = move(scene, side)
    before, after = scene.item.box, variant.object_box
    assert before is not None
    assert after is not None
    assert (after.y, after.height, after.width) == (before.y, before.height, before.width)
    assert (after.x < before.x) == (side == "left")
    assert abs(after.x - before.x) >= 16
    assert variant.facts["side"] == side


@pytest.mark.parametrize("centre", [(80.0, 30.0), (80.0, 116.0)], ids=["above the middle", "cut off below"])
def test_what_does_not_stand_is_rejected(centre: tuple[float, float]) -> None:
    with pytest.raises(ProbeRejected) as caught:
        move(paint(centre=centre), "left")
    assert caught.value.code == "no-ground"


def test_another_object_in_the_way_is_never_covered() -> None:
    scene = paint(centre=(110, 80), others=(neighbour(Box(30, 60, 24, 40)),))
    variant = move(scene, "left")
    assert variant.object_mask is not None
    assert not (variant.object_mask.to_array() & scene.obstacles).any()
    assert variant.facts["redrawn"] > 0
    np.testing.assert_array_equal(variant.pixels, move(scene, "left").pixels)
    with pytest.raises(ProbeRejected) as caught:
        move(paint(centre=(110, 80), others=(neighbour(Box(2, 50, 95, 60)),)), "left")
    assert caught.value.code == "collision"
