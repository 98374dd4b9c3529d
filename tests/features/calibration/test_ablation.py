"""A.7's table against fitting each of its rows alone, and the questions that show it and the other calibrations."""

import numpy as np
import pandas as pd
import pytest

from core.analysis.questions import Options
from core.analysis.reading import read_table
from core.analysis.slices import Slice
from core.analysis.table import View
from core.features.calibration.fit import ORACLE, WEIGHTS, fit
from core.features.calibration.questions import SAW_IT, ablation, questions
from core.features.calibration.readings import CHOSEN, CONSTRUCTED, FIXED, MEASURED, READINGS, WEIGHTED
from core.features.calibration.sweep import EPSILONS, raised
from core.store.store import Store


@pytest.fixture(scope="module")
def spatial(store: Store) -> View:
    return read_table(store).view(Slice(axes=("spatial",)))


@pytest.fixture(scope="module")
def table(spatial: View) -> pd.DataFrame:
    return ablation(spatial, evaluator="conse-lite0")


def test_every_choice_is_there_once_and_says_what_it_rests_on(table: pd.DataFrame) -> None:
    weighted = len(WEIGHTED) * len(WEIGHTS)
    assert len(table) == (weighted + len(READINGS) - len(WEIGHTED)) * len(EPSILONS)
    assert not table.duplicated(["reading", "weights", "epsilon"]).any()
    assert set(table.loc[table["weights"] == ORACLE, "basis"]) == {SAW_IT}
    own = table[table["weights"] != ORACLE]
    assert set(own.loc[own["reading"].isin(["shift", "quantile"]), "basis"]) == {MEASURED}
    assert set(own.loc[own["reading"].isin(["orbit", "absolute", "ridge"]), "basis"]) == {CONSTRUCTED}
    assert set(table.loc[table["reading"].isin(["shift", "quantile"]), "whence"]) == {CHOSEN}
    assert set(table.loc[table["reading"].isin(["orbit", "absolute", "ridge"]), "whence"]) == {FIXED}


@pytest.mark.parametrize(
    ("reading", "weights", "epsilon"),
    [
        ("shift", "", 0.01),
        ("orbit", "each", 0.005),
        ("orbit", "sensitivity", 0.02),
        ("absolute", "oracle", 0.01),
        ("quantile", "", 0.02),
    ],
)
def test_a_row_is_the_fit_of_that_choice_on_the_held_out_half(
    spatial: View, table: pd.DataFrame, reading: str, weights: str, epsilon: float
) -> None:
    row = table.set_index(["reading", "weights", "epsilon"]).loc[(reading, weights, epsilon)]
    found = fit(spatial, evaluator="conse-lite0", reading=reading, weights=weights or "uniform", epsilon=epsilon)
    at = found.test.lambdas.index(found.choice.strength)
    sizes = np.array([values / found.test.spread for values in found.test.sensitivity.values()]).mean(axis=0)
    assert row["strength"] == found.choice.strength
    assert (row["before"], row["after"]) == pytest.approx((sizes[0], sizes[at]))
    assert row["ratio"] == pytest.approx(sizes[at] / sizes[0])
    assert row["loss"] == pytest.approx(min(rho[at] - rho[0] for rho in found.test.spearman.values()))
    assert row["raised"] == ", ".join(raised(found.test, found.choice.strength))
    assert row["n"] == found.n_test


def test_the_question_is_the_table_of_every_evaluator_and_names_its_split(store: Store, table: pd.DataFrame) -> None:
    asked = {each.id: each for each in questions(read_table(store))}
    spatial = read_table(store).view(Slice(axes=("spatial",)))
    frame = asked["S30"].compute(spatial, Options())
    assert set(frame["evaluator"]) == {"conse-lite0", "conse-lite2", "grounding-judge"}
    own = frame[frame["evaluator"] == "conse-lite0"][table.columns].reset_index(drop=True)
    pd.testing.assert_frame_equal(own, table)
    for name in ("T14", "T15", "T16", "S30"):
        assert "held out" in asked[name].title
    assert "dev split" in asked["S23"].title
    assert "nothing here is held out" in asked["S23"].figures[0].note


def test_the_reading_whose_numbers_are_measured_leads_and_the_other_is_called_by_construction(store: Store) -> None:
    asked = {each.id: each for each in questions(read_table(store))}
    view = read_table(store).view()
    for name in ("T14", "T15", "T16"):
        frame = asked[name].compute(view, Options())
        assert dict(zip(frame["reading"], frame["basis"], strict=True)) == {"shift": MEASURED, "orbit": CONSTRUCTED}
        assert frame.groupby("evaluator")["reading"].first().eq("shift").all()
        both = frame.pivot_table(index=["evaluator", "axis", "name"], columns="reading", values="before")
        assert both["shift"].to_numpy() == pytest.approx(both["orbit"].to_numpy())  # one split, one scale
    t14 = asked["T14"].compute(view, Options())
    assert dict(zip(t14["reading"], t14["whence"], strict=True)) == {"shift": CHOSEN, "orbit": FIXED}
    assert "nothing chooses the λ of orbit" in asked["T14"].note
    for name in ("T14", "S30"):
        assert "λ*" not in [each.header for each in asked[name].columns]
    t14 = t14.set_index(["evaluator", "reading", "axis"])
    found = fit(view, evaluator="conse-lite0", reading="orbit")
    at = found.test.lambdas.index(found.choice.strength)
    spatial = [name for name, each in found.scores.families.items() if each.axis == "spatial"]
    sizes = np.array([found.test.sensitivity[name] / found.test.spread for name in spatial]).mean(axis=0)
    row = t14.loc[("conse-lite0", "orbit", "spatial")]
    assert (row["before"], row["after"], row["ratio"]) == pytest.approx((sizes[0], sizes[at], sizes[at] / sizes[0]))
    assert row["ratio_low"] <= row["ratio"] <= row["ratio_high"]
    assert (t14["before"] < 5).all()  # in SD of each evaluator's own scores, also of a judge that scores from 0 to 10
