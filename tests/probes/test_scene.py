"""What the probes of one item share."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from core.corpora.schema import Box, Item, Mask, SceneObject
from core.errors import InvalidInput, ProbeRejected
from core.probes import scene as scene_module
from core.probes.pixels import inpainting
from core.probes.scene import GRABCUT_NOTE, Scene
from tests.probes.painted import neighbour, paint


def test_a_scene_reads_the_image_and_lets_nobody_write_on_it() -> None:
    scene = paint()
    for array in (scene.pixels, scene.mask, scene.background, scene.obstacles):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 1


def test_the_pixels_of_the_caller_stay_writable() -> None:
    pixels = np.zeros((4, 4, 3), np.uint8)
    Scene(Item("a", "test", None, 4, 4), pixels)
    pixels[0] = 1


def test_an_item_without_box_and_mask_has_no_mask() -> None:
    bare = paint(masked=False, boxed=False)
    for _ in range(2):
        with pytest.raises(ProbeRejected, match="give a box or a mask") as caught:
            _ = bare.mask
        assert caught.value.code == "no-mask"
    for name in ("background", "cutout", "obstacles", "seam_energy"):
        with pytest.raises(ProbeRejected):
            getattr(bare, name)


def test_an_empty_mask_is_told_from_a_missing_one() -> None:
    scene = paint()
    empty = Scene(replace(scene.item, mask=Mask.from_array(np.zeros((120, 160), bool))), scene.pixels)
    with pytest.raises(ProbeRejected) as caught:
        _ = empty.mask
    assert caught.value.code == "empty-mask"


def test_the_item_s_own_mask_goes_before_grabcut() -> None:
    own, derived = paint(), paint(masked=False)
    assert own.item.mask is not None
    np.testing.assert_array_equal(own.mask, own.item.mask.to_array())
    assert own.mask_notes == ()
    assert own.mask_facts == {}
    assert derived.mask_notes == (GRABCUT_NOTE,)


def test_shared_work_is_done_once_by_however_many_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    real = inpainting.clean_plate
    monkeypatch.setattr(inpainting, "clean_plate", lambda *given, **more: calls.append(1) or real(*given, **more))
    held = inpainting.Plates()
    monkeypatch.setattr(scene_module, "kept_plates", lambda: held)
    scene = paint()
    with ThreadPoolExecutor(8) as pool:
        plates = list(pool.map(lambda _: scene.background, range(32)))
    assert len(calls) == 1
    assert all(plate is plates[0] for plate in plates)


def test_obstacles_are_the_masks_of_the_others_and_the_boxes_of_those_without() -> None:
    masked, boxed = neighbour(Box(5, 5, 10, 8)), neighbour(Box(100.4, 20.6, 10, 8), masked=False)
    scene = paint(others=(masked, boxed, SceneObject("far", Box(500, 500, 5, 5))))
    expected = np.zeros((120, 160), bool)
    expected[5:13, 5:15] = True
    expected[20:29, 100:111] = True
    np.testing.assert_array_equal(scene.obstacles, expected)


def test_an_object_is_never_its_own_obstacle() -> None:
    scene = paint(others=(neighbour(Box(30, 40, 60, 60), masked=False),))
    assert not (scene.obstacles & scene.mask).any()
    assert scene.obstacles.any()


@pytest.mark.parametrize(
    ("pixels", "words"),
    [
        (np.zeros((4, 4), np.uint8), "uint8 RGB"),
        (np.zeros((4, 4, 3), np.float32), "uint8 RGB"),
        (np.zeros((0, 4, 3), np.uint8), "uint8 RGB"),
        (np.zeros((4, 5, 3), np.uint8), "annotated for 4 × 4 px but its image has 5 × 4"),
    ],
)
def test_an_image_that_is_not_the_item_s_is_refused(pixels: np.ndarray, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        Scene(Item("a", "test", None, 4, 4), pixels)


def test_a_mask_of_another_size_is_refused() -> None:
    item = Item("a", "test", None, 4, 4, mask=Mask.from_array(np.ones((3, 4), bool)))
    with pytest.raises(InvalidInput, match="draw the mask on this image"):
        Scene(item, np.zeros((4, 4, 3), np.uint8))
