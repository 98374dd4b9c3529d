"""Shifts of a run after calibration."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from core.analysis.reading import read_table
from core.analysis.slices import Slice
from core.analysis.table import View
from core.errors import InvalidInput
from core.features.calibration.fit import Fit, fit
from core.features.calibration.orbits import orbits
from core.features.calibration.readings import calibrator, corrections
from core.features.calibration.sweep import calibrated, calibrated_shifts
from core.store.store import Store
from tests.analysis.made_runs import raw, shifts

READINGS = ("orbit", "shift")


@pytest.fixture(scope="module")
def spatial(store: Store) -> View:
    return read_table(store).view(Slice(axes=("spatial",)))


@pytest.fixture(scope="module")
def fits(spatial: View) -> dict[str, Fit]:
    return {reading: fit(spatial, evaluator="conse-lite0", reading=reading) for reading in READINGS}


def in_places(
    rows: pd.DataFrame, column: str, like: tuple[tuple[str, str], ...], probes: tuple[str, ...]
) -> np.ndarray:
    wide = rows.pivot_table(index=["corpus", "item"], columns="probe", values=column)
    return wide.reindex(index=pd.MultiIndex.from_tuples(like), columns=list(probes)).to_numpy().T


@pytest.mark.parametrize("reading", READINGS)
def test_calibrated_rows_are_the_calibrated_scores_in_their_places(
    spatial: View, fits: dict[str, Fit], reading: str
) -> None:
    terms = fits[reading].terms
    after = calibrated_shifts(spatial, calibrator(terms, strength=0.5, evaluator="conse-lite0"), name="better")
    own = orbits(spatial, "conse-lite0")
    expected = calibrated(own, terms, 0.5)
    for name, family in expected.families.items():
        rows = after[after["family"] == name]
        scored = ~np.isnan(family.shifts)
        for column, values in (("score", family.scores), ("baseline_score", family.baselines)):
            found = in_places(rows, column, own.items, family.probes)
            np.testing.assert_allclose(found, np.where(scored, values, math.nan))
    if reading == "orbit":
        assert np.abs(corrections(own, terms).clean).max() > 0
    assert set(after["evaluator"]) == {"better"}
    assert (set(after["subject"]), set(after["language"])) == ({"template"}, {"en"})
    np.testing.assert_allclose(after["delta"], after["score"] - after["baseline_score"])
    percent = 100 * after["delta"] / after["baseline_score"]
    np.testing.assert_allclose(after["percent"], percent.where(after["baseline_score"].abs() >= 1e-6))


def test_one_row_stands_for_every_scored_shift(spatial: View, fits: dict[str, Fit]) -> None:
    after = calibrated_shifts(spatial, calibrator(fits["shift"].terms, strength=0.5, evaluator="conse-lite0"))
    rows = shifts(raw())
    rows = rows[(rows["evaluator"] == "conse-lite0") & (rows["axis"] == "spatial") & ~rows["control"].astype(bool)]
    key = ["corpus", "item", "axis", "family", "probe"]
    expected = rows.dropna(subset="delta")[key].sort_values(key, ignore_index=True)
    pd.testing.assert_frame_equal(after[key].sort_values(key, ignore_index=True), expected, check_dtype=False)


def test_a_strength_of_nothing_leaves_the_stored_scores(spatial: View, fits: dict[str, Fit]) -> None:
    after = calibrated_shifts(spatial, calibrator(fits["shift"].terms, strength=0.0, evaluator="conse-lite0"))
    rows = shifts(raw())
    rows = rows[rows["evaluator"] == "conse-lite0"]
    both = after.merge(rows, on=["item", "probe"], suffixes=("", "_stored"))
    assert len(both) == len(after)
    for column in ("score", "baseline_score", "delta", "percent"):
        np.testing.assert_allclose(both[column], both[f"{column}_stored"])


def test_other_evaluators_and_other_families_are_refused(spatial: View, fits: dict[str, Fit]) -> None:
    model = calibrator(fits["orbit"].terms, strength=0.5, evaluator="conse-lite0")
    with pytest.raises(InvalidInput, match="the calibrator is for 'conse-lite0'; evaluators here: conse-lite2"):
        calibrated_shifts(spatial.table.view(replace(spatial.chosen, evaluators=("conse-lite2",))), model)
    with pytest.raises(InvalidInput, match=r"no score is of a calibrated probe; the calibrator knows .*vertical-flip"):
        calibrated_shifts(spatial.table.view(Slice(axes=("societal",))), model)


def test_a_probe_that_the_calibrator_does_not_know_is_left_out(spatial: View, fits: dict[str, Fit]) -> None:
    model = calibrator(fits["shift"].terms, strength=0.5, evaluator="conse-lite0")
    known = {probe for probes in model.shifts.values() for probe in probes}
    less = model.model_copy(update={"shifts": {"rotation": {"rotate+5": model.shifts["rotation"]["rotate+5"]}}})
    assert set(calibrated_shifts(spatial, model)["probe"]) == known
    assert set(calibrated_shifts(spatial, less)["probe"]) == {"rotate+5"}
