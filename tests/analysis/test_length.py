"""Shifts along the words that a caption gains and that say nothing."""

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st

from core.analysis.questions import Options, catalogue
from core.analysis.questions.surface import LEAST_LENGTHS, trends
from core.analysis.reading import read_table
from core.analysis.table import ScoreTable
from core.statistics.bootstrap import Interval
from core.statistics.power import reach
from core.store.store import Store
from tests.analysis.made_runs import raw, score, shifts, write_run

WORDS = {
    "here": 3,
    "image-shows": 3,
    "photo": 3,
    "as-seen": 5,
    "see-here": 5,
    "we-see": 6,
    "what-shows": 9,
    "both-sides": 14,
}
"""Wrapper -> its words, counted by hand in assets/surface/wrappers.csv."""

ITEMS = 20


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ScoreTable, pd.DataFrame]]:
    rng, folder = np.random.default_rng(8), tmp_path_factory.mktemp("length")
    told = {"axis": "surface", "family": "verbosity", "baseline": "identity", "expectation": "invariant"}
    rows = [score(f"i{place:03d}", "identity", 0.5) for place in range(ITEMS)]
    rows += [
        score(f"i{place:03d}", f"verbosity:{name}", 0.5 * (1 - 0.004 * many + rng.normal(0, 0.01)), **told)
        for place in range(ITEMS)
        for name, many in WORDS.items()
        if place or many < 5
    ]
    write_run(folder / "r", rows)
    with Store.open(folder / "r") as store:
        percent = shifts(raw(folder / "r")).pivot_table(index="item", columns="probe", values="percent")
        yield read_table(store), percent


def _asked(table: ScoreTable, id_: str) -> pd.DataFrame:
    question = next(each for each in catalogue(table) if each.id == id_)
    assert not question.needs(table)
    return question.compute(table.view(), Options())


def test_the_trend_is_the_median_of_the_items_least_squares(made: tuple[ScoreTable, pd.DataFrame]) -> None:
    table, percent = made
    lengths = np.array([WORDS[name.removeprefix("verbosity:")] for name in percent.columns], dtype=float)
    slopes = [
        sm.OLS(own.dropna(), sm.add_constant(lengths[own.notna().to_numpy()])).fit().params.iloc[1]
        for _, own in percent.iterrows()
        if own.notna().all()
    ]
    row = _asked(table, "S36").iloc[0]
    assert len(slopes) == ITEMS - 1  # the first item was wrapped in words of one length alone
    assert (row["n_items"], row["wrappers"]) == (ITEMS - 1, len(WORDS))
    assert row["value"] == pytest.approx(np.median(slopes))
    assert row["low"] < -0.4 < row["high"] < 0
    assert (row["said"], row["power"]) == ("longer scores lower", "")


def test_where_no_trend_is_shown_it_says_what_would_have_been(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    told = {"axis": "surface", "family": "verbosity", "baseline": "identity", "expectation": "invariant"}
    rows = [score(f"i{place:03d}", "identity", 0.5) for place in range(ITEMS)]
    rows += [
        score(f"i{place:03d}", f"verbosity:{name}", 0.5 + rng.normal(0, 0.01), **told)
        for place in range(ITEMS)
        for name in WORDS
    ]
    write_run(tmp_path / "r", rows)
    with Store.open(tmp_path / "r") as store:
        row = _asked(read_table(store), "S36").iloc[0]
    assert row["said"] == "no trend with length shown"
    power = reach(Interval(row["value"], row["low"], row["high"], row["n_items"], 0.95), margin=math.nan)
    least = f"{power.detectable:.3f} points a word"
    assert row["power"] == f"a difference from {least} on would have shown in four of five such runs"


def test_the_curve_passes_the_means_where_there_are_as_many_lengths_as_knots(
    made: tuple[ScoreTable, pd.DataFrame],
) -> None:
    table, percent = made
    curve = _asked(table, "S36-curve").sort_values("x")
    assert (curve["x"].min(), curve["x"].max()) == (3, 14)
    assert set(curve["n_items"]) == {percent.notna().sum().sum()}
    at_end = percent["verbosity:both-sides"].mean()
    assert curve["value"].iloc[-1] == pytest.approx(at_end, abs=0.3)


def test_a_curve_of_too_few_lengths_is_said_to_be_missing(tmp_path: Path) -> None:
    told = {"axis": "surface", "family": "verbosity", "baseline": "identity", "expectation": "invariant"}
    probes = {"identity": {}, "verbosity:here": told, "verbosity:both-sides": told}
    write_run(tmp_path / "r", [score("a", name, 0.5, **own) for name, own in probes.items()])
    with Store.open(tmp_path / "r") as store:
        table = read_table(store)
        curve = next(each for each in catalogue(table) if each.id == "S36-curve")
        assert "of 2 lengths, and the curve has 5 knots" in curve.needs(table)


@given(st.lists(st.floats(-50, 50), min_size=4, max_size=4), st.integers(0, 3))
def test_a_trend_is_that_of_polyfit_and_needs_three_lengths(values: list[float], hidden: int) -> None:
    lengths, percent = np.array([3.0, 5.0, 9.0, 14.0]), np.array(values)[:, None]
    percent[:hidden] = np.nan
    found = trends(lengths, percent)[0]
    if 4 - hidden < LEAST_LENGTHS:
        assert np.isnan(found)
    else:
        assert found == pytest.approx(np.polyfit(lengths[hidden:], percent[hidden:, 0], 1)[0], abs=1e-8)
