"""Points of a sweep over strength: against numpy and scipy, one way an item, chosen apart."""

import numpy as np
import pytest
from scipy.ndimage import affine_transform

from core.corpora.schema import Box
from core.errors import InvalidInput
from core.probes.base import Variant
from core.probes.families.spatial import POINTS, SWEEP, SWEEPS
from core.probes.pixels import edits as image_edits
from core.probes.pixels.edits import zooming
from core.probes.registry import further_readings, select
from core.probes.scene import Scene
from core.probes.titles import UNITS, sweeps_among
from core.seeds import stream
from tests.probes.painted import SUBJECT, ellipse, ground, paint


def points(family: str, scene: Scene) -> list[Variant]:
    found = [probe for probe in POINTS if probe.family == family]
    return [probe.make(scene, SUBJECT, stream(2025, scene.item.id, probe.draws)) for probe in found]


def test_points_are_chosen_by_the_sweep_alone() -> None:
    assert {probe.name for probe in select([SWEEP])} == {probe.name for probe in POINTS} <= further_readings()
    assert not {probe.name for probe in select(["rotation", "blur", "spatial", "surface"])} & further_readings()


@pytest.mark.parametrize("family", SWEEPS)
def test_points_of_a_family_go_one_way_and_further_each_time(family: str) -> None:
    scene = paint(height=200, width=200, centre=(100, 100), radii=(40, 30))
    made = points(family, scene)
    strengths = [variant.facts[SWEEPS[family].fact] for variant in made]
    assert strengths == list(SWEEPS[family].points)
    assert len({variant.facts["way"] for variant in made}) == 1
    off = [np.abs(variant.pixels.astype(int) - scene.pixels).mean() for variant in made]  # type: ignore[union-attr]
    assert off == sorted(off)
    assert off[0] > 0


def test_items_do_not_all_go_one_way() -> None:
    ways = {points("rotation", paint(name=f"item-{index}"))[0].facts["way"] for index in range(12)}
    assert ways == {-1.0, 1.0}


@pytest.mark.parametrize("factor", [1.05, 1.25])
def test_a_zoom_is_scipys_affine_map(factor: float) -> None:
    pixels = image_edits.blur(ground(90, 120), 1.5)
    centre = np.array([(90 - 1) / 2, (120 - 1) / 2])
    expected = np.stack(
        [
            affine_transform(
                pixels[..., channel].astype(float),
                np.eye(2) / factor,
                centre * (1 - 1 / factor),
                order=3,
                mode="nearest",
            )
            for channel in range(3)
        ],
        axis=2,
    )
    off = np.abs(image_edits.zoom(pixels, factor)[8:-8, 8:-8] - np.clip(expected, 0, 255)[8:-8, 8:-8])
    assert off.mean() < 0.6


def test_a_zoom_by_nothing_changes_nothing_and_none_shrinks() -> None:
    np.testing.assert_array_equal(image_edits.zoom(ground(30, 40), 1.0), ground(30, 40))
    with pytest.raises(InvalidInput, match=r"0\.9"):
        image_edits.zoom(ground(30, 40), 0.9)


def test_the_object_grows_with_the_zoom() -> None:
    scene = paint(height=200, width=300, centre=(160, 90), radii=(40, 30))
    moved = zooming(1.25)
    found = moved.mask(scene.mask)
    expected = ellipse(200, 300, centre=(149.5 + 1.25 * 10.5, 99.5 - 1.25 * 9.5), radii=(50, 37.5))
    assert (found & expected).sum() / (found | expected).sum() > 0.97
    assert moved.box(Box(140, 90, 20, 20), 300, 200) == Box(137.5, 87.5, 25, 25)
    assert moved.box(Box(0, 0, 10, 10), 300, 200) is None


@pytest.mark.parametrize("factor", [0.6, 1.4])
def test_brightness_multiplies_and_stays_within_a_byte(factor: float) -> None:
    pixels = np.arange(256, dtype=np.uint8).reshape(16, 16, 1).repeat(3, axis=2)
    expected = np.clip(np.round(pixels * factor), 0, 255)
    assert np.abs(image_edits.brighten(pixels, factor).astype(int) - expected).max() <= 1
    with pytest.raises(InvalidInput, match="positive"):
        image_edits.brighten(pixels, 0)


def test_points_are_told_by_their_names_and_three_make_a_sweep() -> None:
    names = [probe.name for probe in POINTS] + [
        "rotate+10",
        "distance:0.4@045",
        "masking:p0.2",
        "tall:len1",
        "tall:len2",
    ]
    found = sweeps_among(names)
    assert {family: list(points) for (family, _), points in found.items()} == {
        family: list(sweep.points) for family, sweep in SWEEPS.items()
    }
    assert {fact for _, fact in found} == set(UNITS) == {sweep.fact for sweep in SWEEPS.values()}
