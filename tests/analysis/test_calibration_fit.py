"""From stored shifts to a calibration, on the results that ship and on rows made up."""

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.analysis.calibrated_rows import calibrated_shifts
from core.analysis.calibration import corrections
from core.analysis.calibration_effect import before_after
from core.analysis.calibration_fit import (
    HUMAN,
    ORACLE,
    calibration_rows,
    clean_scores,
    fit,
    image_hashes,
    narrow,
    sweep_table,
)
from core.analysis.calibration_sweep import calibrated
from core.analysis.calibrator import calibrator
from core.analysis.orbits import orbits
from core.analysis.slices import Slice
from core.audit.store import Store
from core.errors import InvalidInput
from core.settings import ROOT
from tests.audit.test_store import write_run


@pytest.fixture(scope="module")
def demo() -> tuple[pd.DataFrame, dict]:
    with Store.open(ROOT / "data" / "results" / "demo") as store:
        return calibration_rows(store, Slice(axes=("spatial",))), image_hashes(store)


def test_the_test_split_shares_no_image_with_the_dev_split(demo: tuple) -> None:
    rows, images = demo
    found = fit(rows, images, evaluator="conse-lite0")
    held_out = {images[item] for item in found.scores.items}
    rest = {images[item] for item in set(images) - set(found.scores.items)}
    assert held_out
    assert not held_out & rest
    assert found.n_dev + found.n_test == rows["item"].nunique()


def test_the_shift_reading_lowers_the_held_out_sensitivity_that_the_sweep_reports(demo: tuple) -> None:
    found = fit(*demo, evaluator="conse-lite0", reading="shift")
    at = found.test.lambdas.index(found.choice.strength)
    assert found.choice.strength > 0
    assert found.test.total[at] < found.test.total[0]
    assert set(found.others) == {"conse-lite2", "grounding-judge"}


def test_every_number_before_and_after_has_an_interval_that_holds_it(demo: tuple) -> None:
    found = fit(*demo, evaluator="conse-lite0")
    table = before_after(found.scores, found.terms, 0.5, found.others)
    for side in ("before", "after"):
        assert (table[f"{side}_low"] <= table[side]).all()
        assert (table[f"{side}_high"] >= table[side]).all()
    assert (table["n"] > 0).all()
    assert set(table["measure"]) == {
        "sensitivity", "percent", "axis sensitivity", "flip risk", "spearman", "kendall_b", "kendall_c",
    }  # fmt: skip


def test_bands_hold_the_correlation_that_they_belong_to(demo: tuple) -> None:
    found = fit(*demo, evaluator="conse-lite0")
    for name, (low, high) in found.bands().items():
        assert (low <= found.test.spearman[name]).all()
        assert (high >= found.test.spearman[name]).all()


def test_people_s_ratings_are_held_to_where_there_are_any(demo: tuple) -> None:
    rows, images = demo
    items = rows["item"].unique()
    ratings = pd.DataFrame(
        {"corpus": "demo", "item": np.repeat(items, 2), "probe": "identity", "subject": "template",
         "rating": np.tile([1.0, 3.0], len(items))}
    )  # fmt: skip
    found = fit(rows, images, evaluator="conse-lite0", ratings=ratings)
    assert (found.others[HUMAN] == 2.0).all()
    assert HUMAN not in fit(rows, images, evaluator="conse-lite0", ratings=ratings.iloc[:0]).others
    assert "no correlation with human ratings" in found.choice.note


def test_oracle_weights_say_that_they_are_an_upper_bound(demo: tuple) -> None:
    assert fit(*demo, evaluator="conse-lite0", weights=ORACLE).oracle
    assert not fit(*demo, evaluator="conse-lite0", weights=ORACLE, reading="shift").oracle


def test_what_cannot_be_fitted_is_refused(demo: tuple) -> None:
    rows, images = demo
    with pytest.raises(InvalidInput, match="conse-lite0"):
        fit(rows, images, evaluator="clipscore")
    with pytest.raises(InvalidInput, match="weights"):
        fit(rows, images, evaluator="conse-lite0", weights="best")
    with pytest.raises(InvalidInput, match="umic"):
        fit(rows, images, evaluator="conse-lite0", against=["umic"])
    with pytest.raises(InvalidInput, match="cannot be split"):
        fit(rows[rows["item"] == rows["item"].iloc[0]], images, evaluator="conse-lite0")
    with pytest.raises(InvalidInput, match="none"):
        fit(rows.iloc[:0], images, evaluator="conse-lite0")


@pytest.mark.parametrize("reading", ["orbit", "shift"])
def test_calibrated_rows_are_the_calibrated_scores_in_their_places(demo: tuple, reading: str) -> None:
    rows, images = demo
    found = fit(rows, images, evaluator="conse-lite0", reading=reading)
    model = calibrator(found.terms, strength=0.5, evaluator="conse-lite0")
    after = calibrated_shifts(rows, model, name="better")
    own = orbits(rows)["conse-lite0"]
    expected, placed = calibrated(own, found.terms, 0.5), orbits(after)["better"]
    for name, family in expected.families.items():
        np.testing.assert_allclose(placed.families[name].scores, family.scores)
        np.testing.assert_allclose(placed.families[name].baselines, family.baselines)
    assert len(after) == (rows["evaluator"] == "conse-lite0").sum()
    if reading == "orbit":
        assert np.abs(corrections(own, found.terms).clean).max() > 0
    row = after.iloc[3]
    assert row["delta"] == pytest.approx(row["score"] - row["baseline_score"])
    assert math.isnan(row["percent"]) or row["percent"] == pytest.approx(100 * row["delta"] / row["baseline_score"])


def test_rows_of_other_evaluators_and_families_are_refused(demo: tuple) -> None:
    rows, images = demo
    model = calibrator(fit(rows, images, evaluator="conse-lite0").terms, strength=0.5, evaluator="conse-lite0")
    with pytest.raises(InvalidInput, match="conse-lite0"):
        calibrated_shifts(rows[rows["evaluator"] == "conse-lite2"], model)
    with pytest.raises(InvalidInput, match="vertical-flip"):
        calibrated_shifts(rows.assign(family="other"), model)


def test_the_clean_scores_of_the_others_are_all_that_a_fit_needs_of_them() -> None:
    chosen = Slice(axes=("spatial", "societal"))
    with Store.open(ROOT / "data" / "results" / "demo") as store:
        rows, images = calibration_rows(store, chosen), image_hashes(store)
        own = calibration_rows(store, replace(chosen, evaluators=("conse-lite0",)))
        clean = clean_scores(store, chosen)
    whole = fit(rows, images, evaluator="conse-lite0")
    lean = fit(own, images, evaluator="conse-lite0", clean=clean)
    pd.testing.assert_frame_equal(sweep_table(lean, lean.bands()), sweep_table(whole, whole.bands()))
    for name, values in whole.others.items():
        np.testing.assert_array_equal(lean.others[name], values)


@pytest.fixture
def two_runs(tmp_path: Path) -> Iterator[Store]:
    """Two runs of corpus a, the second of more probes, and one of corpus b in two subjects."""
    usual = {"evaluator": "e", "axis": "spatial", "family": "f", "score": 0.5, "expectation": "invariant",
             "control": False, "baseline": "identity", "item": "i"}  # fmt: skip
    null = {"axis": "null", "family": "null"}
    for run, corpus, rows in (
        ("first", "a", [{"probe": "p", "subject": "human"}]),
        ("second", "a", [{"probe": "p", "subject": "human"}, {"probe": "q", "subject": "human"}]),
        ("third", "b", [{"probe": "p", "subject": "human"}, {"probe": "p", "subject": "template"}]),
        ("many null edits", "a", [null | {"probe": f"n{place}", "subject": "human"} for place in range(9)]),
    ):
        write_run(tmp_path / run, [usual | {"run": run, "corpus": corpus} | row for row in rows])
    with Store.open(tmp_path) as store:
        yield store


def test_a_calibration_takes_the_template_where_there_are_several_subjects(two_runs: Store) -> None:
    kept, told = narrow(two_runs, Slice())
    assert kept.subjects == ("template",)
    assert told == ("Subject template of human, template: an item has one clean score.",)
    assert len(calibration_rows(two_runs, kept)) == 1


def test_a_calibration_takes_the_largest_run_of_a_corpus_and_says_so(two_runs: Store) -> None:
    kept, told = narrow(two_runs, Slice(subjects=("human",)))
    assert set(kept.runs) == {"second", "third"}
    assert told == ("Run second of corpus a, the largest of 2: an item counts once.",)
    assert set(calibration_rows(two_runs, kept)["run"]) == {"second", "third"}


def test_a_slice_of_one_run_and_subject_is_taken_as_it_is(two_runs: Store) -> None:
    chosen = Slice(runs=("first",), subjects=("human",))
    assert narrow(two_runs, chosen) == (replace(chosen, axes=("spatial",)), ())
    nothing = Slice(axes=("null",))
    assert narrow(two_runs, nothing) == (nothing, ())
    assert calibration_rows(two_runs, nothing).empty
