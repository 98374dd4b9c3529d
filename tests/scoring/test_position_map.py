"""The position map: places on a grid, coarse first, each scored as the composite of repositioning would be."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.charts.canvas import heat_over
from core.corpora.schema import Box
from core.errors import ProbeRejected
from core.evaluators.pool import Pool
from core.evaluators.registry import find
from core.evaluators.scoring import score_pairs
from core.features.lab.position_map import position_map
from core.probes.pixels.cutout import put_down
from core.scoring.workbench import Workbench
from tests.probes.painted import neighbour, paint

PLUGIN = f"{Path(__file__).parents[1] / 'plugins' / 'histogram.py'}:Histogram"
CAPTION = "There is a ball."


def bench(**how: object) -> Workbench:
    scene = paint(**how)
    return Workbench(scene.item, scene.pixels)


def test_coarse_places_come_first_and_every_place_is_what_repositioning_would_make() -> None:
    one = bench()
    coarse, *between, full = position_map(one, CAPTION, [PLUGIN], pool=Pool(budget_mb=100, device="cpu"))
    first, last = coarse.percent[PLUGIN], full.percent[PLUGIN]
    assert (coarse.done, full.done) == (False, True)
    shares = [each.share for each in (coarse, *between, full)]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert np.count_nonzero(~np.isnan(first)) == 9
    assert not np.isnan(last).any()
    np.testing.assert_array_equal(first[::3, ::3], last[::3, ::3])
    evaluator = find(PLUGIN).load()
    cutout = one.scene.cutout
    for row, column in ((0, 0), (3, 5), (6, 6)):
        right = round(full.columns[column] - cutout.centroid[0])
        down = round(full.rows[row] - cutout.centroid[1])
        moved = put_down(one.scene.background, cutout, right, down)
        after, before = score_pairs(evaluator, {"a": moved, "b": one.pixels}, [("a", CAPTION), ("b", CAPTION)])
        assert last[row, column] == pytest.approx(100 * (after - before) / before)
    assert full.columns[0] - cutout.centroid[0] == -cutout.left
    assert list(full.rows_of_places().columns) == ["evaluator", "x", "y", "percent"]
    assert len(full.rows_of_places()) == 49


def test_places_that_would_cover_another_object_have_no_number() -> None:
    one = bench(others=(neighbour(Box(100, 10, 40, 60)),))
    *_, full = position_map(one, CAPTION, [PLUGIN], pool=Pool(budget_mb=100, device="cpu"))
    assert 0 < np.isnan(full.percent[PLUGIN]).sum() < 49


def test_an_evaluator_that_cannot_run_is_told_and_the_others_go_on() -> None:
    *_, full = position_map(bench(), CAPTION, ["no-such", PLUGIN], pool=Pool(budget_mb=100, device="cpu"))
    assert set(full.failures) == {"no-such"}
    assert set(full.percent) == {PLUGIN}


def test_an_object_without_room_is_rejected_as_repositioning_does() -> None:
    scene = paint(radii=(79, 58), centre=(79.5, 59.5))
    with pytest.raises(ProbeRejected) as caught:
        list(position_map(Workbench(replace(scene.item), scene.pixels), CAPTION, [PLUGIN], pool=Pool(device="cpu")))
    assert caught.value.code == "too-large"


def test_cells_are_tinted_by_sign_and_what_has_no_value_stays() -> None:
    pixels = np.full((90, 90, 3), 128, np.uint8)
    values = np.array([[-2.0, np.nan, 2.0]] * 3)
    drawn = heat_over(pixels, np.array([15.0, 45, 75]), np.array([15.0, 45, 75]), values, reach=2.0)
    assert drawn[5, 5, 0] > drawn[5, 5, 2]
    assert drawn[5, 85, 2] > drawn[5, 85, 0]
    np.testing.assert_array_equal(drawn[2:6, 50:58], pixels[2:6, 50:58])
    assert (pixels == 128).all()


def test_numbers_stand_in_the_cells_only_where_all_have_room() -> None:
    values, places = np.full((3, 3), 12.3), np.array([15.0, 45, 75])
    few = heat_over(np.full((90, 90, 3), 128, np.uint8), places, places, values, reach=100.0)
    many = heat_over(np.full((900, 900, 3), 128, np.uint8), places, places, values, reach=100.0)
    assert len(np.unique(few.reshape(-1, 3), axis=0)) > 2, "white letters on the one tint"
    assert len(np.unique(many.reshape(-1, 3), axis=0)) == 2, "the tint and the picture around it"
