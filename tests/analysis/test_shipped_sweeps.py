"""The shipped run of strengths and places: its curves and its map worked out anew from the raw Parquet."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest

from core.analysis.questions import Options, catalogue
from core.analysis.questions.strength_sweeps import sweeps
from core.analysis.reading import read_table
from core.analysis.table import ScoreTable
from core.settings import results_dir
from core.store.store import Store
from tests.analysis.made_runs import raw, shifts

RUN = results_dir() / "demo-sweeps"
FAMILIES = ("blur", "brightness", "compression", "rotation", "translation", "zoom")
KEY = ["evaluator", "item", "probe"]


@pytest.fixture(scope="module")
def table() -> Iterator[ScoreTable]:
    with Store.open(RUN) as store:
        yield read_table(store)


@pytest.fixture(scope="module")
def percent() -> pd.DataFrame:
    """% change of every item (rows) under every evaluator and probe."""
    return shifts(raw(RUN)).pivot_table(index="item", columns=["evaluator", "probe"], values="percent")


def _answer(table: ScoreTable, id_: str) -> pd.DataFrame:
    question = next(each for each in catalogue(table) if each.id == id_)
    assert not question.needs(table)
    return question.compute(table.view(), Options())


@pytest.mark.parametrize("family", FAMILIES)
def test_every_point_of_a_curve_and_its_null_band_are_medians_of_stored_pairs(
    table: ScoreTable, percent: pd.DataFrame, family: str
) -> None:
    rows = _answer(table, f"S31-{family}")
    ((_, probes),) = ((key, own) for key, own in sweeps(table).items() if key[0] == family)
    assert len(rows) == len(probes) * len(table.evaluators)
    for row in rows.to_dict("records"):
        own = percent[row["evaluator"], probes[row["label"]]].dropna()
        assert row["n_items"] == len(own) == 84
        assert row["median_percent"] == pytest.approx(own.median())
        assert row["median_abs_percent"] == pytest.approx(own.abs().median())
        assert row["abs_low"] <= row["median_abs_percent"] <= row["abs_high"]
        null = percent[row["evaluator"]].filter(regex="^null:").abs().median(axis=1)
        assert row["null_median"] == pytest.approx(null.median())


def test_a_margin_is_left_where_the_line_between_the_medians_crosses_it(
    table: ScoreTable, percent: pd.DataFrame
) -> None:
    limits = _answer(table, "S31").set_index(["evaluator", "family"])
    assert len(limits) == len(FAMILIES) * len(table.evaluators)
    for (family, _), probes in sweeps(table).items():
        for evaluator in table.evaluators:
            told = limits.loc[(evaluator, family), "crossing"]
            at = np.array([*probes])
            sizes = np.array([percent[evaluator, name].abs().median() for name in probes.values()])
            above = np.flatnonzero(sizes > 1.0)
            if not len(above) or above[0] == 0:
                assert np.isnan(told)
                continue
            one, other = above[0] - 1, above[0]
            assert told == pytest.approx(np.interp(1.0, sizes[[one, other]], at[[one, other]]))


def test_every_place_of_the_map_is_the_median_of_the_items_that_fit_there(
    table: ScoreTable, percent: pd.DataFrame
) -> None:
    rows = _answer(table, "S19-map")
    assert len(rows) == 33 * len(table.evaluators)
    for row in rows.to_dict("records"):
        own = percent[row["evaluator"], row["label"]].dropna()
        assert (row["n_items"], row["median_percent"]) == (len(own), pytest.approx(own.median()))
