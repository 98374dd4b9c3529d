"""Duels give to the bit what the scores of the chosen items and drops give by themselves."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from core.statistics.arithmetic import row_medians
from core.statistics.selectivity import Duels, item_selectivity, selectivity, told_of
from core.statistics.shift_tests import cliffs_delta

NUMBERS = st.one_of(st.integers(-3, 3).map(float), st.floats(-3, 3), st.just(math.nan))


@given(st.integers(1, 4), st.integers(1, 5), st.integers(1, 12), st.data())
def test_any_items_and_drops_are_counted_as_by_themselves(d: int, h: int, n: int, data: st.DataObject) -> None:
    drops = data.draw(arrays(np.float64, (d, n), elements=NUMBERS))
    harms = np.abs(data.draw(arrays(np.float64, (h, n), elements=NUMBERS)))
    of_harms = np.unique(data.draw(arrays(np.int64, h, elements=st.integers(0, 2))), return_inverse=True)[1]
    of_drops = np.unique(data.draw(arrays(np.int64, d, elements=st.integers(0, 2))), return_inverse=True)[1]
    places = np.array(data.draw(st.lists(st.integers(0, n - 1), unique=True)), dtype=np.intp)
    counting = data.draw(arrays(bool, (d, len(places))))
    found = Duels.of(drops, harms, of_harms)
    own, other = np.where(counting, drops[:, places], math.nan), harms[:, places]
    wins, opposite, pairs = found.counted(counting, places)
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(wins / pairs, item_selectivity(own, other))
        np.testing.assert_array_equal(opposite / pairs, item_selectivity(-own, other))
    np.testing.assert_array_equal(found.pooled(counting, places), cliffs_delta(own, other))
    np.testing.assert_array_equal(found.nuisance, row_medians(harms))
    cells = np.empty((of_drops.max() + 1, of_harms.max() + 1, len(places)))
    found.cells(counting, places, of_drops, out=cells)
    for (family, nuisance), cell in ((at, cells[at]) for at in np.ndindex(cells.shape[:2])):
        np.testing.assert_array_equal(cell, item_selectivity(own[of_drops == family], other[of_harms == nuisance]))


def test_a_selectivity_is_told_of_what_was_counted_before() -> None:
    rng = np.random.default_rng(3)
    drops, harms = rng.normal(0.3, 1, size=(3, 60)).round(1), np.abs(rng.normal(size=(4, 60))).round(1)
    drops[rng.uniform(size=drops.shape) < 0.2] = math.nan
    places = np.arange(5, 50)
    sets = [np.array([[True], [False], [True]]) & ~np.isnan(drops[:, places]), np.full((3, len(places)), True)]
    own = [np.where(each, drops[:, places], math.nan) for each in sets]
    found = Duels.of(drops, harms, np.array([0, 0, 1, 1]))
    told = told_of(
        [found.counted(each, places) for each in sets],
        [row_medians(each) for each in own],
        found.nuisance[places],
        [found.pooled(each, places) for each in sets],
        unit=0.7,
    )
    assert told == tuple(selectivity(each, harms[:, places], unit=0.7) for each in own)
