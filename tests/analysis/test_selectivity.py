"""Selectivity from the table of scores: what is a harm, what is a drop, and what is left out."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from core.analysis import selectivity as selectivity_of_tables
from core.analysis.questions import Options
from core.analysis.questions.selective import blind_spots, plane, questions
from core.analysis.selectivity import (
    EVERY,
    NONE_VERIFIED,
    UNTOLD,
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
from tests.analysis.broken_runs import BROKEN, ITEMS, SHIFT, facts_of, rows_of
from tests.analysis.made_runs import audited
from tests.analysis.test_comparisons import Open, made

__all__ = ["made"]


def all_told(value: str) -> list[dict[str, Any]]:
    """Facts by which every broken meaning tells the same of its falsity."""
    return facts_of([*BROKEN], {"falsity": [value]})


def test_null_edits_controls_and_answers_are_no_harms(made: Open) -> None:
    view = made(rows_of(), facts=all_told("verified")).view()
    assert harmless(view) == {"rotation": ("rotate+5", "rotate-5"), "vertical-flip": ("vflip",)}
    assert headlines(view)["n_pairs"].tolist() == [ITEMS * 6 * 3]


def test_a_null_edit_is_no_harm_even_where_nothing_marks_it_as_a_control(made: Open) -> None:
    rows = [{**row, "control": row["control"] and row["axis"] != "null"} for row in rows_of()]
    view = made(rows, facts=all_told("verified")).view()
    assert not view.table.is_control("null")
    assert list(harmless(view)) == ["rotation", "vertical-flip"]


def test_an_evaluator_of_one_number_has_one_half_and_one_that_reads_only_truth_has_one(made: Open) -> None:
    view = made(rows_of(("flat", "truth")), facts=all_told("verified")).view()
    found = headlines(view).set_index("evaluator")
    assert found["value"].to_dict() == {"flat": 0.5, "truth": 1.0}
    assert (found["low"] < found["value"] - 0.05).all()  # that all items agree is no certainty
    assert (found["high"] >= found["value"]).all()
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
    told += facts_of(["swapped:far"], {"falsity": ["verified", "checked"]})
    view = made(rows_of(), facts=told).view()
    found = headlines(view).set_index("of")
    pairs = {VERIFIED_ONLY: ITEMS * 1 * 3, UNTOLD: ITEMS * 3 * 3, EVERY: ITEMS * 6 * 3}
    assert found["n_pairs"].to_dict() == pairs
    assert found["value"].nunique() == 3
    assert set(heat_map(view)["family"]) == {"swapped"}
    assert set(heat_map(view, known=False)["family"]) == {"size-mixed", "masked", "shuffled", "swapped", "denied"}
    # the verified row is what it would be, were the verified edits the only ones
    alone = [*(name for name in SHIFT if name not in BROKEN), "swapped:far"]
    rows = [row for row in rows_of() if row["probe"] in alone]
    kept = headlines(made(rows, facts=facts_of(["swapped:far"], {"falsity": ["verified"]})).view())
    assert kept["of"].tolist() == [VERIFIED_ONLY]
    assert found.loc[VERIFIED_ONLY, "value"] == kept["value"].item()


def test_where_nothing_is_verified_the_headline_has_no_number_and_says_so(made: Open) -> None:
    view = made(rows_of()).view()
    found = headlines(view).set_index("of")
    assert found["n_pairs"].to_dict() == {VERIFIED_ONLY: 0, UNTOLD: ITEMS * 6 * 3}
    assert math.isnan(found.loc[VERIFIED_ONLY, "value"])
    assert NONE_VERIFIED in found.loc[VERIFIED_ONLY, "note"]
    assert NONE_VERIFIED not in found.loc[UNTOLD, "note"]
    assert blind_spots(view)["e"].startswith(f"Selectivity {found.loc[UNTOLD, 'value']:.2f} (")
    assert "of untold comparisons: none is verified" in blind_spots(view)["e"]
    for question in questions(view.table)[:2]:
        (drawing,) = question.figures
        figure = drawing.figure(question.compute(view, Options()))
        assert set(figure.frame["panel"]) == {"no comparison is verified, these are untold"}


def test_the_plane_draws_both_intervals_and_lines_of_equal_ratio(made: Open) -> None:
    view = made(rows_of(("e", "truth")), facts=all_told("verified")).view()
    found = headlines(view).query("evaluator == 'e'").iloc[0]
    drawn = plane(headlines(view), "p", "t", "n")
    (row,) = drawn.frame.query("label == 'e'").to_dict("records")
    assert (row["x_low"], row["x_high"]) == (found["nuisance_low"], found["nuisance_high"])
    assert (row["low"], row["high"]) == (found["signal_low"], found["signal_high"])
    assert drawn.along.span[1] >= row["x_high"]
    ratios = [each.ratio for each in drawn.rays]
    assert 1.0 in ratios
    assert 2 <= len(ratios) <= 3
    nearest = min(abs(math.log(at / (found["signal"] / found["nuisance"]))) for at in ratios)
    assert nearest <= math.log(2.5) / 2
    assert [each.text for each in drawn.rays] == [f"{at:g} ×" for at in ratios]


def test_a_comparison_that_was_rejected_makes_no_row_of_what_is_untold(made: Open) -> None:
    rows = [row for row in rows_of() if row["probe"] not in BROKEN or row["probe"] == "denied"]
    kept = [row for row in rows if row["probe"] != "denied" or row["item"] < "i012"]
    told = [row for row in facts_of(["denied"], {"falsity": ["verified"]}) if row["item"] < "i012"]
    assert headlines(made(kept, facts=told).view())["of"].tolist() == [VERIFIED_ONLY]


def test_the_rival_is_the_harmless_family_with_the_lowest_selectivity(made: Open) -> None:
    cells = heat_map(made(rows_of()).view(), known=False)
    found = rivals(cells).set_index("family")
    for family, own in cells.groupby("family"):
        assert found.loc[family, "value"] == own["value"].min()
    assert set(found["nuisance"]) <= {"vertical-flip", "rotation"}


def test_the_rivals_found_without_the_whole_map_are_those_of_the_map(made: Open) -> None:
    view = made(rows_of(("flat", "e"))).view()
    pd.testing.assert_frame_equal(hidden_best(view, known=False), rivals(heat_map(view, known=False)))


@pytest.mark.parametrize("most", [0, 1000])
@pytest.mark.parametrize("known", [False, True])
def test_what_was_counted_for_another_slice_changes_nothing(
    made: Open, known: bool, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selectivity_of_tables, "MOST_KEPT", most)
    rows = [{**row, "category": "animal" if row["item"] < "i012" else "food"} for row in rows_of(("flat", "e"))]
    food, none = Slice(categories=("food",)), Slice(categories=("nothing",))
    asked, fresh = made(rows, facts=all_told("verified")), made(rows, facts=all_told("verified"))
    for chosen in (Slice(), Slice(categories=("animal",))):
        heat_map(asked.view(chosen), known=not known), headlines(asked.view(chosen))
    alone = made([row for row in rows if row["category"] == "food"], facts=all_told("verified")).view()
    for answer in (heat_map, hidden_best, lambda view, known: headlines(view)):
        found = answer(asked.view(food), known=known)
        pd.testing.assert_frame_equal(found, answer(fresh.view(food), known=known))
        names = ["evaluator", "n_items", "value"]
        pd.testing.assert_frame_equal(found[names], answer(alone, known=known)[names])
    assert heat_map(asked.view(none), known=known).empty
    assert hidden_best(asked.view(none), known=known).empty


def test_a_slice_keeps_its_items_and_edits(made: Open) -> None:
    rows = [{**row, "category": "animal" if row["item"] < "i012" else "food"} for row in rows_of()]
    table = made(rows, facts=all_told("verified"))
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
