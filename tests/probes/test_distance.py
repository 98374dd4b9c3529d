"""The object on a grid of positions."""

import math

import numpy as np
import pytest

from core.corpora.schema import Box
from core.errors import ProbeRejected
from core.probes.families.distance import ANGLES, GRID, RADII, normalised_radius
from core.probes.registry import select
from core.seeds import stream
from tests.probes.painted import SUBJECT, neighbour, paint, result_or_code

RNG = stream(1, "a", "b")


def test_the_grid_holds_the_centre_and_every_radius_in_every_direction() -> None:
    assert len(GRID) == 1 + (len(RADII) - 1) * len(ANGLES) == 33
    assert set(select(["distance"])) == set(GRID)
    assert not any(probe.default for probe in GRID)


@pytest.mark.parametrize(
    ("point", "radius"),
    [((79.5, 59.5), 0.0), ((159.5, 59.5), 1.0), ((79.5, -0.5), 1.0), ((159.5, 119.5), math.sqrt(2))],
)
def test_the_radius_is_0_at_the_centre_and_1_at_the_middle_of_each_side(
    point: tuple[float, float], radius: float
) -> None:
    assert normalised_radius(*point, 160, 120) == pytest.approx(radius)


def test_a_small_object_lands_within_half_a_pixel_of_its_position() -> None:
    scene = paint(radii=(6, 5))
    for probe in GRID:
        variant = probe.make(scene, SUBJECT, RNG)
        radius, _, angle = probe.name.removeprefix("distance:").partition("@")
        assert variant.object_mask is not None
        rows, columns = np.nonzero(variant.object_mask.to_array())
        turn = math.radians(int(angle or 0))
        assert columns.mean() == pytest.approx(79.5 + float(radius) * 80 * math.cos(turn), abs=0.51)
        assert rows.mean() == pytest.approx(59.5 - float(radius) * 60 * math.sin(turn), abs=0.51)
        assert variant.diagnostics["radius"] == pytest.approx(float(radius), abs=0.015)
        assert variant.diagnostics["bg_delta"] == 0


def test_a_position_that_does_not_fit_is_rejected_not_moved() -> None:
    scene = paint(centre=(80, 60), radii=(40, 30))
    made = [result_or_code(lambda probe=probe: probe.make(scene, SUBJECT, RNG)) for probe in GRID]
    codes = [each for each in made if isinstance(each, str)]
    assert set(codes) == {"leaves-image"}
    assert 0 < len(codes) < len(GRID)


def test_a_position_on_a_neighbour_is_rejected() -> None:
    scene = paint(centre=(130, 100), radii=(6, 5), others=(neighbour(Box(60, 40, 40, 40)),))
    with pytest.raises(ProbeRejected) as caught:
        GRID[0].make(scene, SUBJECT, RNG)
    assert caught.value.code == "collision"
