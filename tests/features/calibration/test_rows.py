"""Shifts of a run after calibration."""

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.analysis.reading import read_table
from core.analysis.slices import Slice
from core.analysis.table import View
from core.errors import InvalidInput
from core.features.calibration.fit import Fit, change, fit, lacking
from core.features.calibration.orbits import Family, Orbits, orbits, ratio, side_of
from core.features.calibration.readings import calibrator, corrections
from core.features.calibration.sweep import calibrated, calibrated_shifts
from core.statistics.bootstrap import LEAST_N
from core.statistics.selectivity import item_selectivity
from core.store.store import Store
from tests.analysis.broken_runs import BROKEN, SHIFT, facts_of, rows_of, write_broken
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


HARMS = ("vflip", "rotate-5", "rotate+5")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = rows_of(("e", "truth"), items=60)
    for row in rows:  # a drift that a correction can take out
        row["score"] += 0.06 * (row["probe"] == "vflip" and row["evaluator"] == "e")
    told = facts_of(["denied"], {"falsity": ["verified", "presumed"]}, items=60)
    told += facts_of([name for name in BROKEN if name not in ("denied", "masked")], {"falsity": ["verified"]}, items=60)
    return write_broken(tmp_path_factory.mktemp("runs") / "r", rows, facts=told)


@pytest.fixture(scope="module")
def view(folder: Path) -> Iterator[View]:
    with Store.open(folder) as store:
        yield read_table(store).view()


@pytest.fixture(scope="module")
def found(view: View) -> Fit:
    return fit(view, evaluator="e", reading="shift")


def _wide(folder: Path, found: Fit) -> pd.DataFrame:
    rows = raw(folder)
    own = rows[rows["evaluator"] == "e"]
    wide = own.pivot_table(index="item", columns="probe", values="score", aggfunc="first")
    return wide.loc[[item for _, item in found.scores.items]]


def test_harms_shrink_by_the_correction_and_drops_stay(folder: Path, view: View, found: Fit) -> None:
    wide = _wide(folder, found)
    baseline = {name: told.get("baseline", "identity") for name, told in BROKEN.items()}
    drops = np.array([wide[baseline[name]] - wide[name] for name in BROKEN])
    place = wide.index.str.slice(1).astype(int)
    drops[list(BROKEN).index("denied"), place % 2 == 1] = np.nan  # presumed
    drops[list(BROKEN).index("masked")] = np.nan  # untold
    shifts = np.array([wide[name] - wide["identity"] for name in HARMS])
    medians = np.array(
        [
            found.terms.shifts[family][name]
            for name, family in (("vflip", "vertical-flip"), ("rotate-5", "rotation"), ("rotate+5", "rotation"))
        ]
    )
    for strength in (0.0, 0.5, 1.0):
        made = change(view, found, strength)
        before, after = (np.abs(shifts - share * medians[:, None]) for share in (0.0, strength))
        assert made.before.value.estimate == pytest.approx(np.mean(item_selectivity(drops, before)))
        assert made.after.value.estimate == pytest.approx(np.mean(item_selectivity(drops, after)))
        assert made.after.signal == made.before.signal
        assert set(made.families) == {"vertical-flip", "rotation"}
    assert change(view, found, 1.0).after.value.estimate > made.before.value.estimate + 0.01
    unit = view.table.spread("e", "c")
    nuisance = np.median(np.median(np.abs(shifts), axis=0)) / unit
    assert made.before.nuisance.estimate == pytest.approx(nuisance)


def test_the_reading_of_orbits_says_what_it_would_need(view: View) -> None:
    said = lacking(view, fit(view, evaluator="e", reading="orbit"))
    assert "needs the scores of its own edits" in said
    assert "orbit" in said


def test_a_run_without_broken_meanings_names_the_command(tmp_path: Path) -> None:
    rows = rows_of(("e", "truth"), items=40, probes=[name for name in SHIFT if name in ("identity", *HARMS)])
    with Store.open(write_broken(tmp_path / "r", rows)) as store:
        held = read_table(store).view()
        said = lacking(held, fit(held, evaluator="e"))
    assert said.startswith("No run has a directional probe")
    assert "--probes directional" in said


RUNS = 200
NAMES = ["flip", "rotation"]
Drawn = tuple[np.ndarray, np.ndarray, np.ndarray]


def drawn(rng: np.random.Generator, n: int) -> Drawn:
    """Clean scores, and the shifts of two families before and after, which go together, [2, n] each."""
    before = rng.standard_t(4, size=(2, n))
    return rng.normal(size=n), before, 0.5 * before + 0.4 * rng.standard_t(4, size=(2, n))


def scored(clean: np.ndarray, shifts: np.ndarray) -> Orbits:
    base = clean[None, :]
    families = {
        name: Family("spatial", (name,), clean + own[None, :], base) for name, own in zip(NAMES, shifts, strict=True)
    }
    return Orbits("e", tuple(("c", str(place)) for place in range(len(clean))), clean, families)


@pytest.mark.parametrize("n", [10, 30, 100])
def test_sensitivities_and_their_ratio_are_where_their_intervals_say(n: int) -> None:
    _, before, after = drawn(np.random.default_rng(1), 500_000)
    one, other = (np.median(np.abs(each), axis=1) for each in (before, after))  # unedited scores have a deviation of 1
    held = np.zeros(3)
    for run in range(RUNS):
        clean, before, after = drawn(np.random.default_rng((7, run)), n)
        first, second = side_of(scored(clean, before)), side_of(scored(clean, after))
        mean, single, told = first.mean(NAMES), first.sensitivity("flip"), ratio(first, second, NAMES)
        held += [
            mean.low <= one.mean() <= mean.high,
            single.low <= one[0] <= single.high,
            told["ratio_low"] <= other.mean() / one.mean() <= told["ratio_high"],
        ]
    assert (held / RUNS >= 0.92).all(), held / RUNS
    assert (held / RUNS <= 0.985).all(), held / RUNS


def test_few_items_and_few_sources_have_a_sensitivity_and_no_interval() -> None:
    clean, before, after = drawn(np.random.default_rng(2), LEAST_N - 1)
    first, second = side_of(scored(clean, before)), side_of(scored(clean, after))
    found = first.mean(NAMES)
    assert found.estimate > 0
    assert math.isnan(found.low)
    assert found.note == f"no interval (n = {LEAST_N - 1}, below {LEAST_N})"
    told = ratio(first, second, NAMES)
    assert told["ratio"] > 0
    assert math.isnan(told["ratio_low"])
    clean, before, _ = drawn(np.random.default_rng(3), 30)
    few = scored(clean, before)
    few = Orbits(few.evaluator, few.items, few.clean, few.families, np.arange(30) % 5)
    assert "30 items of 5 sources" in side_of(few).sensitivity("flip").note
