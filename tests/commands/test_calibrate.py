"""``calibrate`` on the results that ship: learnt, written, applied, refused."""

import json
from pathlib import Path

import pandas as pd
import pytest

from core.evaluators.calibrator import read_calibrator
from core.settings import ROOT
from tests.commands.calling import Invoke

DEMO = ROOT / "data" / "results" / "demo"
SPATIAL = "vertical-flip,horizontal-flip,rotation"


@pytest.fixture
def learnt(invoke: Invoke, tmp_path: Path) -> Path:
    path = tmp_path / "calibrator.json"
    done = invoke(
        "calibrate", DEMO, "--evaluator", "conse-lite0", "--families", SPATIAL, "--reading", "shift", "-o", path,
        "--sweep", tmp_path / "sweep.csv",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "held out" in done.stderr
    assert "sensitivity" in done.stdout
    return path


def test_a_run_makes_a_calibrator_and_a_sweep(learnt: Path) -> None:
    model = read_calibrator(learnt)
    assert (model.evaluator, model.reading, model.fingerprint) == ("conse-lite0", "shift", "c2e808a4fb765306")
    assert set(model.weights) == set(SPATIAL.split(","))
    sweep = pd.read_csv(learnt.with_name("sweep.csv"))
    assert set(sweep["split"]) == {"dev", "test"}
    assert sweep["strength"].nunique() == 21
    assert sweep[(sweep["measure"] == "spearman") & (sweep["split"] == "test")]["low"].notna().all()


def test_a_calibrator_is_applied_to_a_run_as_one_more_evaluator(learnt: Path, invoke: Invoke) -> None:
    csv, parquet = learnt.with_suffix(".csv"), learnt.with_suffix(".parquet")
    for path in (csv, parquet):
        done = invoke("calibrate", "apply", learnt, DEMO, "-o", path, "--name", "better")
        assert done.exit_code == 0, done.output
    rows = pd.read_csv(csv)
    assert len(rows) == len(pd.read_parquet(parquet)) > 0
    assert set(rows["evaluator"]) == {"better"}
    assert rows["delta"].to_numpy() == pytest.approx((rows["score"] - rows["baseline_score"]).to_numpy())
    flips = rows[rows["probe"] == "vflip"]["delta"]
    model = read_calibrator(learnt)
    before = model.shifts["vertical-flip"]["vflip"]
    assert flips.median() == pytest.approx(before * (1 - model.strength), abs=abs(before))


def test_before_and_after_come_as_json_for_a_script(invoke: Invoke) -> None:
    done = invoke(
        "calibrate", "learn", DEMO, "--evaluator", "conse-lite0", "--families", SPATIAL, "--weights", "oracle",
        "--against", "conse-lite2", "--strength", "0.5", "--json",
    )  # fmt: skip
    told = json.loads(done.stdout)
    assert told["oracle"] is True
    assert told["strength"] == 0.5
    assert {row["name"] for row in told["before_after"] if row["measure"] == "spearman"} == {"conse-lite2"}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["no-such-run", "--evaluator", "x"], "no run 'no-such-run'"),
        ([DEMO, "--evaluator", "clipscore"], "conse-lite0"),
        ([DEMO, "--evaluator", "conse-lite0", "--reading", "magic"], "reading must be one of"),
        ([DEMO, "--evaluator", "conse-lite0", "--weights", "magic"], "weights must be one of"),
        ([DEMO, "--evaluator", "conse-lite0", "--families", "none"], "no shift of evaluator"),
        ([DEMO, "--evaluator", "conse-lite0", "--against", "me"], "me"),
        (["apply", ROOT / "README.md", DEMO, "-o", "x.csv"], "no calibrator"),
    ],
)
def test_what_cannot_be_calibrated_is_one_sentence(invoke: Invoke, arguments: list, sentence: str) -> None:
    done = invoke("calibrate", *arguments)
    assert done.exit_code == 2
    assert done.stderr.startswith("error: ")
    assert sentence in done.stderr


def test_a_calibration_is_written_nowhere_else_than_asked(learnt: Path, invoke: Invoke, tmp_path: Path) -> None:
    assert invoke("calibrate", "apply", learnt, DEMO, "-o", tmp_path / "x.txt").exit_code == 2
    assert not (tmp_path / "x.txt").exists()
