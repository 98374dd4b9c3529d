"""Algorithm 1: the object moves, the background stays."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.ndimage import distance_transform_edt

from core.corpora.item_pictures import read_item
from core.corpora.registry import catalogue as corpora
from core.corpora.schema import Box, Mask
from core.errors import ProbeRejected
from core.probes.base import Axis, Expectation, Variant
from core.probes.families.reposition import ANCHORS, TRIES, anchor_point, find_place, is_free
from core.probes.pixels.inpainting import gradient
from core.probes.registry import catalogue, select
from core.probes.scene import GRABCUT_NOTE, Scene
from core.seeds import stream
from tests.probes.painted import SUBJECT, ellipse, neighbour, paint, result_or_code

WAYS = ("", "-hard", "-telea", "-true")
CENTRES = st.tuples(st.floats(20, 140), st.floats(16, 104))


def move(scene: Scene, name: str, seed: int = 2025) -> Variant:
    return catalogue().get(name).make(scene, SUBJECT, stream(seed, scene.item.id, name))


def centroid(mask: np.ndarray) -> tuple[float, float]:
    rows, columns = np.nonzero(mask)
    return float(columns.mean()), float(rows.mean())


@settings(max_examples=30, deadline=None)
@given(centre=CENTRES, anchor=st.sampled_from(ANCHORS))
def test_an_object_with_nothing_in_its_way_lands_with_its_centroid_on_the_anchor(
    centre: tuple[float, float], anchor: str
) -> None:
    scene = paint(centre=centre)
    variant = move(scene, f"reposition-{anchor}")
    assert variant.object_mask is not None
    np.testing.assert_allclose(
        centroid(variant.object_mask.to_array()), anchor_point(anchor, 160, 120), atol=0.5 + 1e-9
    )
    assert variant.notes == ("Placed at its anchor.",)


def test_the_anchors_are_the_centres_of_the_quadrants() -> None:
    assert [anchor_point(anchor, 160, 120) for anchor in ANCHORS] == [
        (39.5, 29.5),
        (119.5, 29.5),
        (39.5, 89.5),
        (119.5, 89.5),
    ]


@settings(max_examples=30, deadline=None)
@given(centre=CENTRES, radii=st.tuples(st.floats(3, 60), st.floats(3, 45)), anchor=st.sampled_from(ANCHORS))
def test_a_moved_object_keeps_its_size_and_stays_in_the_image(
    centre: tuple[float, float], radii: tuple[float, float], anchor: str
) -> None:
    scene = paint(centre=centre, radii=radii)
    variant = result_or_code(lambda: move(scene, f"reposition-{anchor}"))
    if isinstance(variant, str):
        assert variant in ("too-large", "no-background")
        return
    assert variant.object_mask is not None
    assert variant.object_mask.area == scene.mask.sum()
    assert variant.object_box == variant.object_mask.box
    x, y = centroid(variant.object_mask.to_array())
    assert (x < 79.5) == anchor.endswith("L")
    assert (y < 59.5) == anchor.startswith("T")


@pytest.mark.parametrize("anchor", ANCHORS)
def test_deep_inside_the_object_and_far_from_it_no_pixel_changes(anchor: str) -> None:
    scene = paint()
    variant = move(scene, f"reposition-{anchor}")
    assert variant.object_mask is not None
    assert variant.pixels is not None
    target = variant.object_mask.to_array()
    core_before = distance_transform_edt(scene.mask) >= 3
    core_after = distance_transform_edt(target) >= 3
    np.testing.assert_array_equal(variant.pixels[core_after], scene.pixels[core_before])
    far = distance_transform_edt(~(scene.mask | target)) > 8
    np.testing.assert_array_equal(variant.pixels[far], scene.pixels[far])
    assert variant.diagnostics["bg_delta"] == 0
    assert variant.diagnostics["seam_energy"] > 0
    assert np.isfinite(variant.diagnostics["seam_ratio"])


def test_the_place_that_the_object_left_shows_no_trace_of_it() -> None:
    scene = paint(centre=(60, 90))
    variant = move(scene, "reposition-TR")
    assert variant.pixels is not None
    assert variant.pixels[scene.mask][:, 0].max() < 200  # the object's red is 230


def test_the_hard_variant_differs_from_the_feathered_one_only_along_the_edge() -> None:
    soft, hard = (move(paint(), name) for name in ("reposition-BR", "reposition-hard-BR"))
    assert soft.object_mask == hard.object_mask
    assert soft.object_mask is not None
    assert soft.pixels is not None
    assert hard.pixels is not None
    mask = soft.object_mask.to_array()
    edge = mask & (distance_transform_edt(mask) < 3)
    differs = (soft.pixels != hard.pixels).any(axis=2)
    assert differs.any()
    assert not (differs & ~edge).any()
    assert hard.diagnostics == soft.diagnostics  # the ring of SeamE begins 2 px outside the edge


@pytest.mark.parametrize("masked", [True, False])
def test_an_object_never_covers_its_neighbours(masked: bool) -> None:
    chair = neighbour(Box(20, 10, 14, 30), masked=masked)
    scene = paint(centre=(110, 80), others=(chair,))
    variant = move(scene, "reposition-TL")
    assert variant.object_mask is not None
    assert not (variant.object_mask.to_array() & scene.obstacles).any()
    assert f"of {TRIES} jittered tries" in variant.notes[0]
    np.testing.assert_array_equal(variant.pixels[scene.obstacles], scene.pixels[scene.obstacles])
    x, y = centroid(variant.object_mask.to_array())
    assert 39.5 <= x <= 79.5
    assert 29.5 <= y <= 59.5


def test_a_place_that_the_image_cuts_off_is_not_free() -> None:
    scene = paint(width=160, centre=(60.0, 70.0), radii=(14.0, 10.0))
    assert is_free(scene, 85, 0)
    assert not is_free(scene, 86, 0)


def test_a_quadrant_without_room_is_rejected_with_the_reason() -> None:
    scene = paint(centre=(110, 80), others=(neighbour(Box(0, 0, 90, 66)),))
    with pytest.raises(ProbeRejected, match=r"TL quadrant \(50 tries\)") as caught:
        move(scene, "reposition-TL")
    assert caught.value.code == "collision"


@pytest.mark.parametrize(("radii", "spans"), [((76, 20), "95%|96%"), ((20, 57), "96%|95%")])
def test_an_object_that_spans_the_image_is_rejected_rather_than_placed_badly(
    radii: tuple[float, float], spans: str
) -> None:
    scene = paint(centre=(79.5, 59.5), radii=radii)
    for anchor in ANCHORS:
        with pytest.raises(ProbeRejected, match=spans) as caught:
            move(scene, f"reposition-{anchor}")
        assert caught.value.code == "too-large"


def test_a_lopsided_object_whose_centre_cannot_reach_the_quadrant_is_rejected() -> None:
    scene = paint()
    mask = np.zeros((120, 160), bool)
    mask[50:60, 5:130] = True  # a long handle…
    mask[30:90, 100:130] = True  # …and a heavy head on its right
    encoded = Mask.from_array(mask)
    heavy = Scene(replace(scene.item, mask=encoded, box=encoded.box), scene.pixels)
    with pytest.raises(ProbeRejected, match="TL quadrant") as caught:
        move(heavy, "reposition-TL")
    assert caught.value.code == "too-large"
    assert move(heavy, "reposition-TR").object_mask is not None


def test_another_seed_moves_only_what_was_jittered() -> None:
    free, crowded = paint(), paint(centre=(110, 80), others=(neighbour(Box(20, 10, 14, 30)),))
    rng = [stream(seed, "a", "b") for seed in (1, 2)]
    assert find_place(free, "TL", rng[0]) == find_place(free, "TL", rng[1])
    assert find_place(crowded, "TL", rng[0]) != find_place(crowded, "TL", rng[1])


def test_an_item_with_a_box_alone_is_moved_by_the_mask_that_grabcut_finds() -> None:
    scene = paint(masked=False)
    variant = move(scene, "reposition-BR")
    truth = ellipse(120, 160, centre=(60, 70), radii=(14, 10))
    assert (scene.mask & truth).sum() / (scene.mask | truth).sum() > 0.8
    assert variant.notes[-1] == GRABCUT_NOTE
    assert variant.facts["mask_source"] == "grabcut"


def test_the_paper_s_grid_feathers_and_the_hard_variants_are_asked_for_by_name() -> None:
    soft, hard = select(["reposition"]), select(["reposition-hard"])
    assert [probe.name for probe in soft] == [f"reposition-{anchor}" for anchor in ANCHORS]
    assert [probe.name for probe in hard] == [f"reposition-hard-{anchor}" for anchor in ANCHORS]
    assert all(probe.default for probe in soft)
    assert not any(probe.default for probe in hard)
    for probe in (*soft, *hard):
        assert probe.axis is Axis.SPATIAL
        assert probe.expectation is Expectation.INVARIANT


@pytest.mark.coco
def test_on_real_photographs_the_background_stays_and_every_rejection_has_its_reason(coco_root: Path) -> None:
    codes = []
    for scene in photographs(coco_root, limit=12):
        for anchor in ANCHORS:
            variant = result_or_code(lambda scene=scene, anchor=anchor: move(scene, f"reposition-{anchor}"))
            codes.append(variant if isinstance(variant, str) else "placed")
            if isinstance(variant, Variant):
                assert variant.diagnostics["bg_delta"] == 0
                assert variant.object_mask is not None
                assert variant.object_mask.area == scene.mask.sum()
                assert not (variant.object_mask.to_array() & scene.obstacles).any()
    assert set(codes) <= {"placed", "too-large", "collision"}
    assert codes.count("placed") > 12


def photographs(root: Path, *, limit: int) -> list[Scene]:
    corpus = corpora().get("coco").load(root, split="val2017")
    return [Scene(item, read_item(item).pixels) for item in corpus.items[:limit]]


def test_the_ways_to_put_an_object_down_share_its_place_and_differ_in_one_thing() -> None:
    corpus = corpora().get("demo").load()
    one = corpus.get("frog-1-10-20")
    scene = Scene(one, read_item(one).pixels)
    made = {way: catalogue().get(f"reposition{way}-TL").make(scene, SUBJECT, stream(2025, "x")) for way in WAYS}
    assert len({variant.object_box for variant in made.values()}) == 1
    assert [variant.facts["fill"] for variant in made.values()] == ["example", "example", "smooth", "true"]
    usual, _, smooth, true = (variant.pixels for variant in made.values())
    assert usual is not None
    assert smooth is not None
    assert true is not None
    hole = distance_transform_edt(~scene.mask) <= 7
    assert (usual != smooth)[hole].any()
    np.testing.assert_array_equal(usual[~hole], smooth[~hole])
    far = distance_transform_edt(~scene.mask) > 60  # the true plate has no shadow of the object either
    np.testing.assert_array_equal(usual[far], true[far])
    texture = gradient(true, scene.mask)
    assert abs(gradient(usual, scene.mask) / texture - 1) < 0.3
    assert gradient(smooth, scene.mask) / texture < 0.3


def test_probes_of_one_place_draw_from_one_stream() -> None:
    assert {catalogue().get(f"reposition{way}-TL").draws for way in WAYS} == {"reposition-TL"}


def test_a_picture_that_was_not_composed_has_no_true_plate() -> None:
    with pytest.raises(ProbeRejected) as caught:
        move(paint(), "reposition-true-TL")
    assert caught.value.code == "no-true-plate"
