"""The discriminator of filled plates: what it is shown, and that it tells a smear from a fill by example."""

from collections.abc import Sequence

import numpy as np
import pytest

from core.probes.pixels.inpainting import Fill
from tests.probes.painted import ellipse, ground
from tools.fills import COLUMNS, MOST, PATCH, Plates, auc, away_from, items, make, sheet, told

ITEMS = 6
WANTED = ("magpie-10-20", "soccer-10-20", "mouse-0-10", "owl-0-10", "iris-20-35", "beetle-10-20")


@pytest.fixture(scope="module")
def plates() -> list[Plates]:
    """Plates of six composed demo items on grass, pebbles and gravel."""
    chosen = [item for item in items(None) if item.id in WANTED]
    made = [each for each in map(make, chosen) if each is not None]
    assert len(made) == ITEMS
    return made


def test_every_plate_is_made_in_each_way_and_told_by_patches_of_both_kinds(plates: Sequence[Plates]) -> None:
    for each in plates:
        assert set(each.pictures) == set(each.features) == set(each.away) == {*(fill.value for fill in Fill), "true"}
        for features in each.features.values():
            assert features.shape[1] == 8
            assert set(features[:, 0]) == {0.0, 1.0}
            filled = int(features[:, 0].sum())
            assert len(features) - filled <= filled <= MOST
            assert np.isfinite(features).all()


def test_a_hole_without_room_for_patches_tells_nothing() -> None:
    hole = ellipse(60, 60, centre=(30, 30), radii=(5, 5))
    assert told(ground(60, 60), hole, np.zeros_like(hole)).shape == (0, 8)
    assert PATCH > 2 * 5


def test_the_smooth_fill_gives_itself_away_and_the_fill_by_example_and_the_truth_less(plates: Sequence[Plates]) -> None:
    areas = {way: auc(plates, way) for way in ("telea", "example", "true")}
    for area, patches, count in areas.values():
        assert 0 <= area <= 1
        assert count == ITEMS
        assert patches == sum(len(each.features["true"]) for each in plates)
    assert areas["telea"][0] > 0.7
    assert areas["telea"][0] > areas["example"][0]
    assert areas["telea"][0] > areas["true"][0]


def test_patches_that_differ_in_nothing_cannot_be_told_apart() -> None:
    rng = np.random.default_rng(0)

    def features() -> np.ndarray:
        return np.column_stack([np.repeat([1.0, 0.0], 12), rng.normal(size=(24, 7))])

    alike = [Plates(str(index), {}, {"x": features()}, {}) for index in range(20)]
    area, patches, count = auc(alike, "x")
    assert (patches, count) == (480, 20)
    assert abs(area - 0.5) < 0.1


def test_the_way_from_the_truth_is_that_of_the_blurred_hole(plates: Sequence[Plates]) -> None:
    assert all(each.away["true"] == 0 < each.away["telea"] for each in plates)
    hole = np.ones((20, 30), bool)
    grey = np.full((20, 30, 3), 100, np.uint8)
    assert away_from(grey, grey + 51, hole) == pytest.approx(20, abs=1e-3)  # 51 of 255


def test_a_sheet_has_rows_of_eight_cells(plates: Sequence[Plates]) -> None:
    picture = sheet(plates, "example")
    assert picture.dtype == np.uint8
    assert picture.shape[1] % COLUMNS == 0
    assert (picture[:, -1] == 255).all()  # six plates leave two cells empty
