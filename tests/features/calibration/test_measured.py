"""Measured calibration against arithmetic by hand, and against the calibrated evaluator itself."""

import json
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from core import settings
from core.analysis.reading import read_table
from core.analysis.slices import Slice
from core.audit.run import RunStopped
from core.errors import InvalidInput, StoreError
from core.evaluators.calibrated import Calibrated
from core.evaluators.pool import Pool
from core.features.calibration import measurement
from core.features.calibration.effect import before_after
from core.features.calibration.fit import Fit, fit
from core.features.calibration.measured import Asked, find, measure, measured, refused, settled, unfit
from core.features.calibration.measurement import Measurement, folder_of, place, read, read_all
from core.features.calibration.readings import CHOSEN, CHOSEN_MEASURED, FIXED, calibrator
from core.store.run_files import Run, read_run
from core.store.store import Store
from tests.analysis.made_runs import SHIPPED
from tests.features.calibration.corners import corner_run, quarters
from tests.plugins.corner import Corner

FLIPS = Slice(families=("vertical-flip", "horizontal-flip"))
HOW = {"subject": "human", "language": "en"}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("INVARISCOPE_DATA", str(folder))
        corner_run(folder)
    return folder


@pytest.fixture(autouse=True)
def here(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INVARISCOPE_DATA", str(data))


@pytest.fixture
def opened(data: Path) -> Iterator[Store]:
    with Store.open(data / "runs") as store:
        yield store


def learnt(store: Store, *, reading: str = "orbit", weights: str = "uniform", chosen: Slice = FLIPS) -> Fit:
    return fit(read_table(store).view(chosen), evaluator="corner", reading=reading, weights=weights)


def asked_of(store: Store, found: Fit) -> Asked:
    return Asked(store.runs()[0], found, "human", "en")


@pytest.fixture
def made(opened: Store) -> Measurement:
    """The measurement, made once and then found."""
    found = learnt(opened)
    known, _ = find(found, opened.runs()[0], **HOW)
    return known.file if known else measure(asked_of(opened, found), pool=Pool(100, "cpu"))[0]


def by_hand(items: list[str], weight: float, strength: float) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Calibrated score of every item and of its flips, from the brightness of the quarters alone."""
    four = quarters(80)[[int(item[1:4]) for item in items]] / 255

    def score(rows: np.ndarray) -> np.ndarray:
        own, below, beside = rows[:, 0, 0], rows[:, 1, 0], rows[:, 0, 1]
        return own + strength * weight * ((below - own) / 2 + (beside - own) / 2)

    return score(four), {"vflip": score(four[:, ::-1]), "hflip": score(four[:, :, ::-1])}


@pytest.mark.parametrize(("weights", "weight"), [("uniform", 0.5), ("each", 1.0)])
@pytest.mark.parametrize("strength", [0.3, 1.0])
def test_the_measured_scores_are_those_of_the_formula_written_out(
    opened: Store, made: Measurement, weights: str, weight: float, strength: float
) -> None:
    own = measured(learnt(opened, weights=weights), made)
    clean, flipped = by_hand([item for _, item in own.scores.items], weight, strength)
    np.testing.assert_allclose(own.scores.clean + strength * own.changes.clean, clean, atol=1e-12)
    for name, probe in (("vertical-flip", "vflip"), ("horizontal-flip", "hflip")):
        after = own.scores.families[name].scores + strength * own.changes.variants[name]
        np.testing.assert_allclose(after[0], flipped[probe], atol=1e-12)


def test_the_measured_effect_is_recomputed_from_those_scores(opened: Store, made: Measurement) -> None:
    own = measured(learnt(opened), made)
    told = own.effect(1.0).set_index(["measure", "name"])
    four = quarters(80)[[int(item[1:4]) for _, item in own.scores.items]] / 255
    clean, flipped = by_hand([item for _, item in own.scores.items], 0.5, 1.0)
    before = np.median(np.abs(four[:, 1, 0] - four[:, 0, 0])) / four[:, 0, 0].std(ddof=1)
    after = np.median(np.abs(flipped["vflip"] - clean)) / clean.std(ddof=1)
    row = told.loc[("sensitivity", "vertical-flip")]
    assert (row["before"], row["after"], row["ratio"]) == pytest.approx((before, after, after / before))
    assert row["ratio_low"] < row["ratio"] < row["ratio_high"]
    assert row["n"] == len(clean) == learnt(opened).n_test
    constructed = before_after(learnt(opened).scores, learnt(opened).terms, 1.0, {}).set_index(["measure", "name"])
    assert row["after"] != pytest.approx(constructed.loc[("sensitivity", "vertical-flip"), "after"], rel=0.01)


def test_the_dev_half_chooses_the_strength_by_what_was_measured_of_it(opened: Store, made: Measurement) -> None:
    found = learnt(opened, weights="each")
    own = measured(found, made)
    assert own.dev is not None
    assert own.choice is not None
    items = [item for _, item in found.dev_scores.items]
    assert len(items) == found.n_dev
    assert sorted([*items, *(item for _, item in found.scores.items)]) == made.items
    totals = []
    for strength in own.dev.lambdas:
        clean, flipped = by_hand(items, 1.0, strength)
        totals.append(sum(np.median(np.abs(each - clean)) for each in flipped.values()) / clean.std(ddof=1))
    np.testing.assert_allclose(own.dev.total, totals, atol=1e-9)
    usual = settled(found, own)
    assert (usual.whence, usual.chosen) == (CHOSEN_MEASURED, own.choice.strength)
    best = min(total for total, kept in zip(totals, usual.choice.allowed, strict=True) if kept)
    assert totals[own.dev.lambdas.index(usual.strength)] == pytest.approx(best)
    # by construction λ = 1 leaves no shift, so that every λ is better than the one before it; as measured it is not
    assert found.dev.total[-1] == pytest.approx(0, abs=1e-9)
    assert own.dev.total[-1] > best > 0


def test_without_a_measurement_of_the_dev_half_a_reading_by_construction_has_no_chosen_strength(
    opened: Store, made: Measurement
) -> None:
    found = learnt(opened)
    assert (settled(found).whence, settled(found).chosen) == (FIXED, None)
    assert settled(found).told == f"Strength {found.choice.strength:g}, {FIXED}"
    held = {item for _, item in found.scores.items}
    kept = [place for place, item in enumerate(made.items) if item in held]
    half = made.model_copy(
        update={
            "items": [made.items[place] for place in kept],
            "scores": {name: [values[place] for place in kept] for name, values in made.scores.items()},
        }
    )
    assert unfit(found, half, opened.runs()[0], **HOW) == ""  # it still tells what a strength does
    own = measured(found, half)
    assert (own.dev, own.choice) == (None, None)
    assert settled(found, own).whence == FIXED
    assert "λ is not chosen by what was measured" in own.caveats(0.5)[0]
    shift = learnt(opened, reading="shift")
    assert settled(shift).chosen == shift.choice.strength
    assert settled(shift).whence == CHOSEN


def test_the_calibrated_evaluator_gives_the_same_scores(opened: Store, made: Measurement, data: Path) -> None:
    found = learnt(opened)
    own = measured(found, made)
    model = calibrator(found.terms, strength=0.4, evaluator="corner")
    for column in (0, 5, 11):
        item = own.scores.items[column][1]
        pixels = np.asarray(Image.open(data / "corpora" / "folder" / item).convert("RGB"))
        scored = Calibrated(model, Corner()).score([pixels, pixels[::-1].copy()], ["a", "a"])
        flip = own.scores.families["vertical-flip"].scores[0] + 0.4 * own.changes.variants["vertical-flip"][0]
        expected = own.scores.clean[column] + 0.4 * own.changes.clean[column], flip[column]
        assert tuple(scored) == pytest.approx(expected, abs=1e-9)


def test_a_measurement_is_found_again_and_serves_fewer_families(opened: Store, made: Measurement) -> None:
    run = opened.runs()[0]
    assert find(learnt(opened, weights="each"), run, **HOW)[0] is not None
    narrow = learnt(opened, chosen=Slice(families=("vertical-flip",)))
    assert find(narrow, run, **HOW)[0] is not None
    assert made.images == 4 * len(made.items)  # a flip of a flip is the picture itself, and scored once
    assert read(place(made)) == made


def test_a_stale_measurement_says_why_it_is_not_shown(opened: Store, made: Measurement) -> None:
    found, run = learnt(opened), opened.runs()[0]

    def why(file: Measurement = made, of: Run = run, to: Fit = found, **told: str) -> str:
        return unfit(to, file, of, **{**HOW, **told})

    assert why() == ""
    assert "made anew" in why(of=Run(run.path, {**run.manifest, "key": "other"}))
    assert "begun 2031" in why(of=Run(run.path, {**run.manifest, "created": "2031"}))
    assert "captions human in en" in why(subject="template")
    gone = [f"x{item}" if item == found.scores.items[0][1] else item for item in made.items]
    lost = made.model_copy(update={"items": gone})
    assert f"1 of {found.n_test} held-out items are not in it" in why(file=lost)
    one = made.model_copy(update={"families": {"vertical-flip": ["vflip"]}})
    assert "this one is for horizontal-flip too" in why(file=one)
    moved = {**made.scores, "vflip": [None if each is None else each + 0.1 for each in made.scores["vflip"]]}
    assert "differ by up to" in why(file=made.model_copy(update={"scores": moved}))
    place(made).write_text(made.model_copy(update={"run_key": "older"}).model_dump_json(), encoding="utf-8")
    assert find(found, run, **HOW)[0] is None
    assert "is not shown" in find(found, run, **HOW)[1][0]
    place(made).write_text(made.model_dump_json(), encoding="utf-8")


def test_a_pair_of_which_one_variant_has_no_score_has_none(opened: Store, made: Measurement) -> None:
    found = learnt(opened)
    first, values = found.scores.items[0][1], list(made.scores["vflip>hflip"])
    values[made.items.index(first)] = None
    own = measured(found, made.model_copy(update={"scores": {**made.scores, "vflip>hflip": values}}))
    column = [item for _, item in own.scores.items].index(first)
    assert math.isnan(own.scores.families["vertical-flip"].scores[0, column])
    assert not math.isnan(own.scores.families["horizontal-flip"].scores[0, column])
    assert not math.isnan(own.scores.clean[column])
    table = own.effect(1.0).set_index(["measure", "name"])
    assert table.loc[("sensitivity", "vertical-flip"), "n"] == len(own.scores.items) - 1


def test_what_was_stopped_goes_on_and_leaves_nothing_half(opened: Store, data: Path) -> None:
    found = learnt(opened, chosen=Slice(families=("vertical-flip",)))
    asked = asked_of(opened, found)
    with pytest.raises(RunStopped):
        measure(asked, pool=Pool(100, "cpu"), stop=iter([False] * 3 + [True] * 9).__next__)
    before = len(read_all("corners")[0])
    file, path = measure(asked, pool=Pool(100, "cpu"))
    assert len(read_all("corners")[0]) == before + 1
    assert not any((folder_of("corners") / ".work").iterdir())
    assert list(file.families) == ["vertical-flip"]
    path.unlink()


def test_a_measurement_knows_its_cost_before(opened: Store, data: Path) -> None:
    asked = asked_of(opened, learnt(opened))
    assert asked.images == 9 * len(asked.items)
    assert asked.seconds() is None or asked.seconds() > 0


@pytest.mark.parametrize(
    ("reading", "sentence"),
    [
        ("ridge", "no further score would make a measurement"),
        ("shift", "measured already, on stored scores"),
        ("quantile", "measured already, on stored scores"),
    ],
)
def test_readings_that_need_no_further_score_say_so(opened: Store, reading: str, sentence: str) -> None:
    found = learnt(opened, reading=reading)
    assert sentence in refused(found)
    with pytest.raises(InvalidInput, match="measure"):
        measure(asked_of(opened, found))


def test_families_that_edit_captions_are_refused_with_those_that_can_be_measured(store: Store) -> None:
    view = read_table(store).view(Slice(families=("gender", "vertical-flip")))
    why = refused(fit(view, evaluator="conse-lite0", reading="orbit"))
    assert "edits the caption" in why
    assert "calibrate for vertical-flip alone" in why


def test_another_evaluator_or_other_pictures_are_refused(opened: Store, data: Path) -> None:
    found, run = learnt(opened), opened.runs()[0]
    told = json.loads(json.dumps(dict(run.manifest)))
    for each in told["evaluators"]:
        each["fingerprint"]["key"] = "other"
    with pytest.raises(InvalidInput, match="is another one on this machine"):
        measure(replace(asked_of(opened, found), run=Run(run.path, told)), pool=Pool(100, "cpu"))
    lost = data / "corpora" / "folder" / found.scores.items[0][1]
    kept = lost.read_bytes()
    try:
        Image.fromarray(np.full((64, 64, 3), 255, dtype=np.uint8)).save(lost)
        with pytest.raises(InvalidInput, match="not those that run corners scored"):
            measure(asked_of(opened, found), pool=Pool(100, "cpu"))
    finally:
        lost.write_bytes(kept)
    assert read_run(run.path).status == "complete"


@pytest.mark.parametrize(
    "change",
    [{"items": []}, {"scores": {}}, {"version": 2}, {"extra": 1}, {"images": -1}, {"families": {}}, {"seconds": "x"}],
)
def test_a_file_that_was_tampered_with_is_left_out_with_a_sentence(made: Measurement, change: dict) -> None:
    path = folder_of("corners") / "strange.json"
    path.write_text(json.dumps({**made.model_dump(mode="json"), **change}), encoding="utf-8")
    try:
        with pytest.raises(StoreError, match="no measurement"):
            read(path)
        assert any("strange.json" in problem for problem in read_all("corners")[1])
    finally:
        path.unlink()


def test_a_huge_file_is_not_read(made: Measurement, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measurement, "LARGEST", 10)
    with pytest.raises(StoreError, match="larger"):
        read(place(made))


def test_the_measurement_that_ships_is_of_the_run_that_ships(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "results_dir", lambda: SHIPPED.parent)
    found, problems = read_all("demo")
    assert problems == ()
    assert [(each.evaluator, each.subject) for each in found] == [("conse-lite0", "template")]
    assert (found[0].run_key, found[0].run_created) == measurement.about(read_run(SHIPPED))
