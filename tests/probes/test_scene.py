"""What the probes of one item share."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.corpora.schema import Box, Item, Mask, SceneObject
from core.errors import InvalidInput, ProbeRejected
from core.probes import scene as scene_module
from core.probes.pixels import edits, inpainting
from core.probes.pixels import edits as image_edits
from core.probes.pixels.edits import Move, follow
from core.probes.scene import GRABCUT_NOTE, Scene
from tests.probes.painted import ellipse, neighbour, paint


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


MOVES = {
    "vertical": (edits.VERTICAL_FLIP, image_edits.flip_vertical),
    "horizontal": (edits.HORIZONTAL_FLIP, image_edits.flip_horizontal),
    "rotation": (edits.rotation(10), lambda pixels: image_edits.rotate(pixels, 10)),
    "translation": (edits.translation(3, -2), lambda pixels: image_edits.translate(pixels, right=3, down=-2)),
}

WHOLE_BOXES = st.builds(
    lambda x, y, w, h: Box(float(x), float(y), float(w), float(h)),
    *(st.integers(0, 20), st.integers(0, 14), st.integers(1, 10), st.integers(1, 10)),
)


def drawn(box: Box, *, width: int = 30, height: int = 24) -> np.ndarray:
    mask = np.zeros((height, width), bool)
    mask[int(box.y) : int(box.bottom), int(box.x) : int(box.right)] = True
    return mask


def corners(mask: np.ndarray) -> Box:
    rows, columns = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.any(0))
    return Box.from_corners(float(columns[0]), float(rows[0]), float(columns[-1] + 1), float(rows[-1] + 1))


@pytest.mark.parametrize("name", ["vertical", "horizontal"])
@given(box=WHOLE_BOXES)
def test_a_flipped_box_is_the_box_of_the_flipped_pixels(name: str, box: Box) -> None:
    move, edit = MOVES[name]
    assert move.box(box, 30, 24) == corners(edit(drawn(box)))
    assert move.box(move.box(box, 30, 24), 30, 24) == box


@given(box=WHOLE_BOXES)
def test_a_translated_box_is_the_moved_box_cut_to_the_image(box: Box) -> None:
    moved = edits.translation(3, -2).box(box, 30, 24)
    left, right = min(box.x + 3, 30), min(box.right + 3, 30)
    top, bottom = max(box.y - 2, 0), max(box.bottom - 2, 0)
    assert moved == (Box.from_corners(left, top, right, bottom) if right > left and bottom > top else None)


@pytest.mark.parametrize("name", MOVES)
def test_the_moved_mask_lies_on_the_moved_object(name: str) -> None:
    move, edit = MOVES[name]
    scene = paint()
    box, mask = follow(move, scene)
    assert mask is not None
    red = (np.abs(edit(scene.pixels).astype(int) - (230, 40, 30)) < 50).all(axis=2)
    found = mask.to_array()
    assert (found & red).sum() / (found | red).sum() > 0.93
    assert box == corners(found)


@pytest.mark.parametrize("degrees", [-10, -5, 5, 10])
def test_a_rotated_box_holds_the_rotated_object(degrees: int) -> None:
    mask = ellipse(120, 160, centre=(60, 50), radii=(20, 9))
    box = edits.rotation(degrees).box(corners(mask), 160, 120)
    turned = corners(edits.rotation(degrees).mask(mask))
    assert box is not None
    assert box.x <= turned.x + 1
    assert box.y <= turned.y + 1
    assert box.right >= turned.right - 1
    assert box.bottom >= turned.bottom - 1


def test_a_box_rotated_by_half_a_turn_is_flipped_both_ways() -> None:
    turned = edits.rotation(180).box(Box(3, 4, 10, 6), 40, 30)
    assert turned is not None
    np.testing.assert_allclose((turned.x, turned.y, turned.width, turned.height), (27, 20, 10, 6), atol=1e-9)


def test_an_object_that_leaves_the_image_has_no_place_any_more() -> None:
    scene = paint(width=200, height=60, centre=(4, 4), radii=(3, 3))
    away = Move(lambda box, width, height: None, np.zeros_like)
    assert follow(away, scene) == (None, None)


def test_without_a_mask_the_box_follows_and_without_a_box_nothing_does() -> None:
    boxed, bare = paint(masked=False), paint(masked=False, boxed=False)
    box, mask = follow(edits.HORIZONTAL_FLIP, boxed)
    assert boxed.item.box is not None
    assert (box, mask) == (edits.HORIZONTAL_FLIP.box(boxed.item.box, 160, 120), None)
    assert follow(edits.HORIZONTAL_FLIP, bare) == (None, None)
    assert follow(None, boxed) == (boxed.item.box, None)


@pytest.mark.parametrize("degrees", [90, 180, 270, -90, 450])
@pytest.mark.parametrize("size", [(80, 100), (81, 100), (100, 81), (63, 64), (427, 640)])
def test_a_quarter_turn_moves_every_pixel_of_picture_mask_and_box_onto_one_pixel(
    degrees: int, size: tuple[int, int]
) -> None:
    height, width = size
    mask = np.random.default_rng(0).random(size) > 0.5
    moved = edits.rotation(degrees).mask(mask)
    turned = np.rot90(mask, degrees // 90)  # NumPy's own turn, of which the canvas shows the middle
    side = min(size) - 2
    middle = moved[(height - side) // 2 :, (width - side) // 2 :][:side, :side]
    near = [
        turned[(turned.shape[0] - side) // 2 + down :, (turned.shape[1] - side) // 2 + right :][:side, :side]
        for down in (0, 1)
        for right in (0, 1)
    ]
    assert any(np.array_equal(middle, each) for each in near)
    picture = np.dstack([mask.astype(np.uint8) * 255] * 3)
    assert (image_edits.rotate(picture, degrees)[..., 0][moved] == 255).all()
    dot = np.zeros(size, bool)
    dot[height // 2 + 1, width // 2 - 2] = True
    box = edits.rotation(degrees).box(Box(width // 2 - 2, height // 2 + 1, 1, 1), width, height)
    assert box == corners(edits.rotation(degrees).mask(dot))
