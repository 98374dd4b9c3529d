"""Export, checked reading, and use on new scores."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from core.errors import InvalidInput
from core.evaluators.calibrated import MOST_BYTES, Calibrator, apply, read_calibrator
from core.features.calibration.readings import READINGS, calibrator, learn
from core.features.calibration.sweep import calibrated
from tests.features.calibration.orbit_data import made


def exported(reading: str, folder: Path) -> Calibrator:
    model = calibrator(learn(made(0), reading=reading), strength=0.4, evaluator="e", fingerprint="f")
    path = folder / "calibrator.json"
    path.write_text(model.model_dump_json(), encoding="utf-8")
    assert read_calibrator(path) == model
    return model


@pytest.mark.parametrize("reading", READINGS)
def test_a_calibrator_read_back_does_what_was_reported(reading: str, tmp_path: Path) -> None:
    model, new = exported(reading, tmp_path), made(1, n=50)
    expected = calibrated(new, learn(made(0), reading=reading), 0.4)
    orbits = {name: family.scores for name, family in new.families.items()}
    np.testing.assert_allclose(apply(model, new.clean, orbits=orbits), expected.clean)
    if reading in ("orbit", "absolute"):
        return
    flip, after = new.families["flip"], expected.families["flip"]
    shifts = {"flip": flip.shifts}
    np.testing.assert_allclose(apply(model, flip.scores[0], probe=("flip", "flip-0"), orbits=shifts), after.scores[0])


def test_missing_scores_stay_missing(tmp_path: Path) -> None:
    found = apply(exported("shift", tmp_path), [math.nan, 0.5], probe=("flip", "flip-0"))
    assert np.isnan(found).tolist() == [True, False]


def test_scores_are_not_changed_in_place(tmp_path: Path) -> None:
    scores = np.array([0.1, 0.2])
    apply(exported("shift", tmp_path), scores)[:] = 9
    assert scores.tolist() == [0.1, 0.2]


def test_what_a_reading_needs_is_asked_for(tmp_path: Path) -> None:
    model = exported("orbit", tmp_path)
    with pytest.raises(InvalidInput, match="pass orbits"):
        apply(model, [0.5])
    with pytest.raises(InvalidInput, match=r"shape \[k, 1\]"):
        apply(model, [0.5], orbits={"flip": [[0.1, 0.2]], "rotation": [[0.1]]})
    with pytest.raises(InvalidInput, match="known: flip-0"):
        apply(exported("shift", tmp_path), [0.5], probe=("flip", "blur"))


@pytest.mark.parametrize(
    "change",
    [
        {"strength": 2},
        {"strength": "high"},
        {"reading": "magic"},
        {"version": 2},
        {"extra": 1},
        {"weights": {"flip": 1.0}},
        {"weights": {"flip": 0.9, "rotation": 0.9}},
        {"shifts": {}},
        {"ridge": 0},
        {"quantiles": {"flip": {"flip-0": [[1.0], [1.0]]}}},
        {"quantiles": {"flip": {"flip-0": [list(range(101)), list(range(101, 0, -1))]}}},
        {"reading": "quantile"},
    ],
)
def test_broken_files_are_refused_with_their_place(change: dict, tmp_path: Path) -> None:
    exported("shift", tmp_path)
    path = tmp_path / "calibrator.json"
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), **change}), encoding="utf-8")
    with pytest.raises(InvalidInput, match="not a calibrator"):
        read_calibrator(path)


@pytest.mark.parametrize("content", [b"", b"[]", b"\xff\xfe", b'{"strength": NaN}', b"[" * 100_000])
def test_files_of_another_kind_are_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(content)
    with pytest.raises(InvalidInput, match="not a calibrator"):
        read_calibrator(path)


def test_missing_and_huge_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_calibrator(tmp_path / "none.json")
    path = tmp_path / "huge.json"
    path.write_bytes(b" " * (MOST_BYTES + 1))
    with pytest.raises(InvalidInput, match="larger"):
        read_calibrator(path)
