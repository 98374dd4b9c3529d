"""Selectivity from the table of scores: what is a harm, what is a drop, and what is left out."""

import numpy as np
import pandas as pd
import pytest

from core.analysis.selectivity import (
    EVERY,
    VERIFIED_ONLY,
    _record,
    harmless,
    headlines,
    heat_map,
    hidden_best,
    lack,
    rivals,
)
from core.analysis.slices import Slice
from core.statistics.selectivity import selectivity
from tests.analysis.broken_runs import ITEMS, facts_of, rows_of
from tests.analysis.made_runs import audited
from tests.analysis.test_comparisons import Open, made

__all__ = ["made"]


def test_null_edits_controls_and_answers_are_no_harms(made: Open) -> None:
    view = made(rows_of()).view()
    assert harmless(view) == {"rotation": ("rotate+5", "rotate-5"), "vertical-flip": ("vflip",)}
    assert headlines(view)["n_pairs"].tolist() == [ITEMS * 6 * 3]


def test_an_evaluator_of_one_number_has_one_half_and_one_that_reads_only_truth_has_one(made: Open) -> None:
    view = made(rows_of(("flat", "truth"))).view()
    found = headlines(view).set_index("evaluator")
    assert found["value"].to_dict() == {"flat": 0.5, "truth": 1.0}
    assert found["low"].to_dict() == found["high"].to_dict() == {"flat": 0.5, "truth": 1.0}
    cells = heat_map(view).groupby("evaluator")["value"].agg(["min", "max"])
    assert cells.loc["flat"].tolist() == [0.5, 0.5]
    assert cells.loc["truth"].tolist() == [1.0, 1.0]
    assert found["said"].str.contains("do not differ").all()


def test_bounds_that_are_points_are_said_to_be_exact_each_with_what_it_is_of() -> None:
    rng = np.random.default_rng(1)
    drops, harms = np.zeros((1, 60)), np.abs(rng.normal(size=(2, 60)))
    drops[0, :9] = 1.0
    row = _record(selectivity(drops, harms), "")
    assert (row["signal_low"], row["signal_high"]) == (0.0, 0.0)
    assert "signal: 51 of 60 values equal the median: exact bound" in str(row["note"])
    assert "signal to nuisance: no draw moves the medians: exact bound" in str(row["note"])
    assert "nuisance: " not in str(row["note"]).replace("signal to nuisance: ", "")
    few = _record(selectivity(drops[:, :5], harms[:, :5]), "")
    assert few["note"] == "no interval (n = 5, below 10)"


def test_only_what_is_known_to_be_wrong_makes_the_headline(made: Open) -> None:
    told = facts_of(["denied", "swapped:near"], {"falsity": ["presumed"]})
    found = headlines(made(rows_of(), facts=told).view()).set_index("of")
    assert found["n_pairs"].to_dict() == {VERIFIED_ONLY: ITEMS * 4 * 3, EVERY: ITEMS * 6 * 3}
    assert found.loc[VERIFIED_ONLY, "value"] != found.loc[EVERY, "value"]
    assert set(heat_map(made(rows_of(), facts=told).view())["family"]) == {
        "size-mixed",
        "masked",
        "shuffled",
        "swapped",
    }


def test_where_nothing_is_said_of_falsity_there_is_one_row(made: Open) -> None:
    assert headlines(made(rows_of()).view())["of"].tolist() == [VERIFIED_ONLY]


def test_the_rival_is_the_harmless_family_with_the_lowest_selectivity(made: Open) -> None:
    cells = heat_map(made(rows_of()).view())
    found = rivals(cells).set_index("family")
    for family, own in cells.groupby("family"):
        assert found.loc[family, "value"] == own["value"].min()
    assert set(found["nuisance"]) <= {"vertical-flip", "rotation"}


def test_the_rivals_found_without_the_whole_map_are_those_of_the_map(made: Open) -> None:
    view = made(rows_of(("flat", "e"))).view()
    pd.testing.assert_frame_equal(hidden_best(view), rivals(heat_map(view)))


def test_a_slice_keeps_its_items_and_edits(made: Open) -> None:
    rows = [{**row, "category": "animal" if row["item"] < "i012" else "food"} for row in rows_of()]
    table = made(rows)
    assert headlines(table.view(Slice(categories=("food",))))["n_items"].tolist() == [12]
    fewer = table.view(Slice(families=("denied", "rotation")))
    assert heat_map(fewer)[["family", "nuisance"]].values.tolist() == [["denied", "rotation"]]


@pytest.mark.parametrize(
    ("probes", "words"), [(["vflip"], "no run here holds a directional"), (["jumble"], "no run here holds a harmless")]
)
def test_one_half_alone_has_no_selectivity_and_says_what_to_run(made: Open, probes: list[str], words: str) -> None:
    view = made(audited(*probes)).view()
    assert words in lack(view)
    assert "--probes directional,default" in lack(view)
    assert headlines(view).empty
    assert heat_map(view).empty
