"""Scores over the grid of places: the map by direction and radius, and which way the scores lean."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import stats

from core.analysis.questions import Options, Question, catalogue
from core.analysis.questions.object_places import CENTRE, _untold, aims, slopes
from core.analysis.reading import read_table
from core.analysis.table import ScoreTable
from core.probes.families.distance import GRID
from core.statistics.bootstrap import Interval, median_bca
from core.store.store import Store
from tests.analysis.made_runs import raw, score, shifts, write_run

NAMES = [each.name for each in GRID]
ITEMS = 24
LEAN = (4.0, 0.0)
"""Points per way to the right and per way up that the made scores have, on top of a pull to the centre and noise."""


def _percent(name: str, place: int, rng: np.random.Generator) -> float:
    radius, _, angle = name.removeprefix("distance:").partition("@")
    far, turned = float(radius), np.radians(float(angle or 0))
    return LEAN[0] * far * np.cos(turned) + LEAN[1] * far * np.sin(turned) - 3 * far + place / 10 + rng.normal(0, 1.5)


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ScoreTable, pd.DataFrame]]:
    rng, folder = np.random.default_rng(5), tmp_path_factory.mktemp("places")
    told = {"axis": "spatial", "family": "distance", "baseline": "identity", "expectation": "invariant"}
    rows = [score(f"i{place:03d}", "identity", 0.5) for place in range(ITEMS)]
    rows += [
        score(f"i{place:03d}", name, 0.5 * (1 + _percent(name, place, rng) / 100), **told)
        for place in range(ITEMS)
        for name in NAMES
        if place % 4 or not name.startswith("distance:0.8")
    ]
    write_run(folder / "r", rows)
    with Store.open(folder / "r") as store:
        stored = shifts(raw(folder / "r")).pivot_table(index="item", columns="probe", values="percent")
        yield read_table(store), stored[NAMES]


@pytest.fixture(scope="module")
def table(grid: tuple[ScoreTable, pd.DataFrame]) -> ScoreTable:
    return grid[0]


@pytest.fixture(scope="module")
def stored(grid: tuple[ScoreTable, pd.DataFrame]) -> pd.DataFrame:
    """% change of every item at every place, from the raw rows."""
    return grid[1]


def _asked(table: ScoreTable, id_: str) -> Question:
    return next(each for each in catalogue(table) if each.id == id_)


def _rows(table: ScoreTable, id_: str) -> pd.DataFrame:
    assert not _asked(table, id_).needs(table)
    return _asked(table, id_).compute(table.view(), Options())


def test_every_place_of_the_grid_has_its_median_and_how_it_stands_to_the_item_s_others(
    table: ScoreTable, stored: pd.DataFrame
) -> None:
    rows = _rows(table, "S19-map").set_index("label")
    assert len(rows) == len(NAMES) == 33
    assert rows.loc["distance:0.0", "towards"] == CENTRE
    assert list(rows.loc["distance:0.4@135", ["towards", "distance"]]) == ["up left", "0.4"]
    for name in ("distance:0.0", "distance:0.8@000", "distance:0.4@270"):
        own = stored[name].dropna()
        assert rows.loc[name, "n_items"] == len(own) == (18 if "0.8" in name else 24)
        assert rows.loc[name, "median_percent"] == pytest.approx(own.median())
        held = (stored[name] - stored.median(axis=1)).dropna()
        assert rows.loc[name, "held"] == pytest.approx(held.median())
        around = median_bca(held)
        assert rows.loc[name, ["held_low", "held_high"]].tolist() == pytest.approx([around.low, around.high])
        assert rows.loc[name, "p"] == pytest.approx(stats.wilcoxon(own).pvalue, rel=0.05)


def test_the_lean_is_the_median_of_least_squares_over_each_item_s_places(
    table: ScoreTable, stored: pd.DataFrame
) -> None:
    row = _rows(table, "S19-lean").iloc[0]
    design = pd.DataFrame([(*each.offset, each.radius) for each in aims(NAMES)], index=NAMES)
    fitted = []
    for _, own in stored.iterrows():
        kept = own.dropna()
        fitted.append(sm.OLS(kept.to_numpy(), sm.add_constant(design.loc[kept.index].to_numpy())).fit().params[1:3])
    expected = np.median(fitted, axis=0)
    assert (row["value"], row["up"]) == pytest.approx(tuple(expected))
    assert row["low"] < LEAN[0] < row["high"]
    assert row["up_low"] < LEAN[1] < row["up_high"]
    assert (row["n_items"], row["said"], row["power"]) == (ITEMS, "higher towards the right", "")


def test_where_no_side_is_shown_both_ways_say_what_would_have_been() -> None:
    across, upwards = Interval(0.5, -1.0, 2.0, 40, 0.95), Interval(0.0, -3.0, 3.0, 40, 0.95)
    assert _untold(across, upwards) == (
        "across: a difference from 2.1 points on would have shown in four of five such runs; "
        "upwards: a difference from 4.3 points on would have shown in four of five such runs"
    )
    assert _untold(Interval(2.0, 1.0, 3.0, 40, 0.95), upwards) == ""


def test_an_item_of_few_places_or_of_one_line_has_no_lean() -> None:
    grid = aims(NAMES)
    percent = np.full((len(grid), 3), np.nan)
    percent[:7, 0] = 1.0  # seven places
    on_line = [place for place, each in enumerate(grid) if each.angle in (0, 180)]
    percent[on_line, 1] = 2.0  # nine, which say nothing of up and down
    percent[:, 2] = [10 * each.offset[0] - 5 * each.offset[1] + 2 for each in grid]
    right, up = slopes(percent, grid)
    assert np.isnan(right[:2]).all()
    assert np.isnan(up[:2]).all()
    assert (right[2], up[2]) == (pytest.approx(10), pytest.approx(-5))


def test_right_is_right_and_up_is_up() -> None:
    found = {each.probe: each for each in aims([*NAMES, "vflip"])}
    assert len(found) == 33
    assert found["distance:0.6@000"].offset == pytest.approx((0.6, 0.0))
    assert found["distance:0.6@090"].offset == pytest.approx((0.0, 0.6))
    assert found["distance:0.6@225"].towards == "down left"
    assert found["distance:0.0"].offset == (0.0, 0.0)


def test_the_map_is_drawn_by_direction_and_distance(table: ScoreTable) -> None:
    question = _asked(table, "S19-map")
    figure = question.figures[0].figure(question.compute(table.view(), Options()))
    assert figure.kind == "map"
    assert figure.order[:3] == (CENTRE, "right", "up right")
    assert list(dict.fromkeys(figure.frame["series"])) == ["0.0", "0.2", "0.4", "0.6", "0.8"]
    assert figure.diverging
