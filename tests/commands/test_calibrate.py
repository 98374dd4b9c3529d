"""``calibrate`` on the results that ship: learnt, written, applied, refused."""

import hashlib
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from core.commands._shared import Code
from core.evaluators.calibrated import read_calibrator
from core.evaluators.registry import find
from core.settings import ROOT
from core.store.publishing import publish
from tests.analysis import two_sources
from tests.analysis.made_runs import audited, raw, scores_of, shifts, write_run
from tests.audit.squares import PAIRED
from tests.commands.calling import Invoke
from tests.features.calibration.corners import corner_run

DEMO = ROOT / "data" / "results" / "demo"
SPATIAL = "vertical-flip,horizontal-flip,rotation"


@pytest.fixture
def learnt(invoke: Invoke, tmp_path: Path) -> Path:
    path = tmp_path / "calibrator.json"
    done = invoke(
        "calibrate",
        DEMO,
        "--evaluator",
        "conse-lite0",
        "--families",
        SPATIAL,
        "--reading",
        "shift",
        "-o",
        path,
        "--sweep",
        tmp_path / "sweep.csv",
    )
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
        "calibrate",
        "learn",
        DEMO,
        "--evaluator",
        "conse-lite0",
        "--families",
        SPATIAL,
        "--reading",
        "orbit",
        "--weights",
        "oracle",
        "--against",
        "conse-lite2",
        "--strength",
        "0.5",
        "--json",
    )
    told = json.loads(done.stdout)
    assert told["oracle"] is True
    assert told["strength"] == 0.5
    assert told["chosen"] is None  # by construction nothing chooses one
    assert told["whence"] == "not chosen: fixed by construction"
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
        (["apply", ROOT / "README.md", DEMO, "-o", "x.csv"], "not a calibrator"),
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


def test_the_whole_way_from_the_raw_rows_to_calibrated_scores(learnt: Path, invoke: Invoke) -> None:
    """The shift reading by hand: a probe's median shift over the dev sources, times λ, off every variant's score."""
    rows, sources = shifts(raw()), two_sources.named()
    rows = rows[(rows["evaluator"] == "conse-lite0") & rows["family"].isin(SPATIAL.split(","))]
    first, second = (
        sources[name].map(lambda source: hashlib.sha256(f"2025\x1f{source}".encode()).hexdigest() < "8")
        for name in ("first", "second")
    )
    torn = second.groupby(sources["first"]).transform("nunique") > 1
    dev = set(sources.index[second & (~torn | first)])
    medians = rows[rows["item"].isin(dev)].groupby(["family", "probe"])["delta"].median()
    model = read_calibrator(learnt)
    told = {(family, probe): value for family, probes in model.shifts.items() for probe, value in probes.items()}
    assert told == pytest.approx(medians.to_dict())
    assert model.strength > 0
    path = learnt.with_name("applied.csv")
    assert invoke("calibrate", "apply", learnt, DEMO, "-o", path).exit_code == 0
    after = pd.read_csv(path).merge(rows, on=["item", "probe"], suffixes=("", "_stored"))
    assert len(after) == len(rows)
    moved = model.strength * np.array([medians[key] for key in zip(after["family"], after["probe"], strict=True)])
    np.testing.assert_allclose(after["score"], after["score_stored"] - moved)
    np.testing.assert_allclose(after["baseline_score"], after["baseline_score_stored"])


def test_what_is_left_out_is_said_and_one_corpus_is_calibrated(invoke: Invoke, tmp_path: Path) -> None:
    rng = np.random.default_rng(4)

    def rows(n: int, **told: str) -> list[dict]:
        return scores_of(["identity", "vflip"], n, lambda *_: rng.uniform(0.4, 0.6), **told)

    large, small = rows(30) + rows(30, evaluator="f") + rows(10, subject="human"), rows(12, corpus="d")
    for run, own in (("large", large), ("small", small)):
        write_run(tmp_path / "runs" / run, own, corpus={"name": own[0]["corpus"]})
    file = publish([tmp_path / "runs"], tmp_path / "both.duckdb")
    done = invoke("calibrate", file, "--evaluator", "e", "--json")
    assert done.exit_code == 0, done.output
    assert "Caption template: left out 20 scores of caption human; an item counts once." in done.stderr
    assert "corpus c of c, d" in done.stderr
    told = json.loads(done.stdout)
    assert told["n_dev"] + told["n_test"] == 30
    assert {row["name"] for row in told["before_after"] if row["measure"] == "spearman"} == {"f"}


def test_a_run_without_a_score_is_one_sentence(invoke: Invoke, tmp_path: Path) -> None:
    empty = write_run(tmp_path / "empty", [])
    done = invoke("calibrate", empty, "--evaluator", "e")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "error: no run has a score" in done.stderr


def test_items_that_cannot_be_split_are_one_sentence(invoke: Invoke, tmp_path: Path) -> None:
    run = write_run(tmp_path / "one", scores_of(["identity", "vflip"], 1, lambda *_: 0.5))
    done = invoke("calibrate", run, "--evaluator", "e")
    assert done.exit_code == 2
    assert "1 item cannot be split into dev and test; audit items of more sources" in done.stderr


@pytest.fixture(scope="module")
def corners(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with a run whose calibrated scores are known."""
    data = tmp_path_factory.mktemp("corners") / "data"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("INVARISCOPE_DATA", str(data))
        corner_run(data)
    return data


MEASURE = ["corners", "--evaluator", "corner", "--families", "vertical-flip,horizontal-flip", "--measure"]


def test_a_measured_calibration_is_told_beside_what_holds_by_construction(
    invoke: Invoke, corners: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("INVARISCOPE_DATA", str(corners))
    progress = tmp_path / "progress.json"
    done = invoke("calibrate", *MEASURE, "--reading", "orbit", "--progress-file", progress)
    assert done.exit_code == 0, done.output
    assert "measured on" in done.stdout
    assert "by construction" in done.stdout
    assert "After / before" in done.stdout
    assert "wrote " in done.stderr
    assert json.loads(progress.read_text())["phase"] == "complete"
    again = invoke("calibrate", *MEASURE, "--reading", "orbit", "--weights", "each", "--strength", "1", "--json")
    assert "--again measures anew" in again.stderr
    told = json.loads(again.stdout)
    assert told["basis"] == "by construction"
    assert told["whence"] == "chosen on dev, measured"
    assert 0 <= told["chosen"] < 1
    usual = invoke("calibrate", *MEASURE, "--reading", "orbit", "--weights", "each", "--sweep", tmp_path / "s.csv")
    assert f"Best strength {told['chosen']:g}, chosen on dev, measured" in usual.stderr
    assert f"λ = {told['chosen']:g}, held-out split" in usual.stdout
    assert {"measured", "measured dev"} <= set(pd.read_csv(tmp_path / "s.csv")["split"])
    assert told["measured"]["images"] > 0
    one, other = (
        {row["name"]: row for row in rows if row["measure"] == "sensitivity"}
        for rows in (told["before_after"], told["measured"]["before_after"])
    )
    for name in ("vertical-flip", "horizontal-flip"):
        assert one[name]["before"] == pytest.approx(other[name]["before"])
        assert one[name]["ratio"] < 0.01  # w = 1 and λ = 1: every shift is multiplied by 0, whatever the scores are
        assert other[name]["ratio"] > 0.3
        assert other[name]["ratio_low"] < other[name]["ratio"] < other[name]["ratio_high"]
        assert other[name]["n"] == told["n_test"]


@pytest.mark.parametrize(
    ("more", "code", "sentence"),
    [
        (["--reading", "ridge"], 2, "told each item's own shifts"),
        (["--reading", "shift"], 0, "measured already, on stored scores"),
        (["--reading", "orbit", "--subject", "template"], 2, "no subject 'template' is open"),
        (["--reading", "orbit", "--again", "--root", "/nowhere"], 2, "no folder /nowhere"),
    ],
)
def test_what_cannot_or_need_not_be_measured_says_so(
    invoke: Invoke, corners: Path, monkeypatch: pytest.MonkeyPatch, more: list[str], code: int, sentence: str
) -> None:
    monkeypatch.setenv("INVARISCOPE_DATA", str(corners))
    done = invoke("calibrate", *MEASURE, *more)
    assert done.exit_code == code, done.output
    assert sentence in done.stderr


def test_a_calibrator_of_caption_families_is_not_measured(invoke: Invoke) -> None:
    done = invoke(
        "calibrate",
        DEMO,
        "--evaluator",
        "conse-lite0",
        "--reading",
        "orbit",
        "--families",
        "gender,vertical-flip",
        "--measure",
    )
    assert done.exit_code == 2
    assert "edits the caption" in done.stderr
    assert "calibrate for vertical-flip alone" in done.stderr


def test_a_calibrator_of_caption_families_is_never_called_an_evaluator(invoke: Invoke, tmp_path: Path) -> None:
    path = tmp_path / "words.json"
    done = invoke(
        "calibrate", DEMO, "--evaluator", "conse-lite0", "--reading", "orbit", "--families", "gender", "-o", path
    )
    assert done.exit_code == 0, done.output
    assert f"{path} is no evaluator: " in done.stderr
    assert "edits the caption" in done.stderr
    told = find(str(path)).availability()  # what an audit asks before it loads one
    assert not told.ready
    assert "edits the caption" in told.reason


@pytest.mark.parametrize("size", [1.0, 1e12])
def test_what_cannot_be_told_is_a_dash_and_a_long_number_a_power_of_ten(
    invoke: Invoke, tmp_path: Path, size: float
) -> None:
    rows = audited("vflip", "hflip", items=24)
    rows = [{**row, "score": size * row["score"]} for row in rows] + [
        {**row, "evaluator": "still", "score": 0.3} for row in rows
    ]
    done = invoke("calibrate", write_run(tmp_path / "r", rows), "--evaluator", "e")
    assert done.exit_code == 0
    assert "nan" not in done.stdout.lower().split()
    assert "—" in done.stdout
    assert not re.search(r"\d{9}", done.stdout)


NAME = "paired-histogram"
THINGS = ("red bed", "blue car", "green dog", "grey cat", "tall tree", "old boat", "small cup", "wide road")


def write_captions(root: Path, captions: dict[str, list[str]]) -> None:
    rows = [(f"{name}.png", caption) for name, texts in captions.items() for caption in texts]
    pd.DataFrame(rows, columns=["image", "caption"]).to_csv(root / "captions.csv", index=False)


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    root = tmp_path / "photos"
    root.mkdir()
    for seed in range(16):
        pixels = np.random.default_rng(seed).integers(0, 255, (32, 40, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(root / f"{seed}.png")
    return root


def several(first: str = "A photo of a {} in a room") -> dict[str, list[str]]:
    things = {f"{seed}": THINGS[seed % 8] for seed in range(16)}
    more = "There is a {}, number {}.", "One {} of many, {}."
    return {
        name: [f"{first.format(thing)} {name}.", *(text.format(thing, name) for text in more if name != "3")]
        for name, thing in things.items()
    }


def test_a_caption_by_people_is_never_its_own_reference_and_one_alone_has_none(invoke: Invoke, photos: Path) -> None:
    write_captions(photos, several())
    corpus = ("--corpus", "folder", "--root", photos, "--subject", "human", "--probes", "vertical-flip")
    assert invoke("audit", *corpus, "--evaluators", PAIRED, "--run-id", "r").exit_code == Code.OK
    learn = ("calibrate", "learn", "r", "--evaluator", NAME, "--reading", "orbit")
    done = invoke(*learn, "--against", "rouge-l,cider-d", "--json")
    assert done.exit_code == Code.OK, done.stderr
    told = json.loads(done.stdout)
    assert (told["references"]["n"], told["references"]["items"]) == (15, 16)
    assert "2.0 each on average" in told["references"]["told"][0]
    assert "these 15 images" in told["references"]["told"][1]
    rows = [row for row in told["before_after"] if row["measure"] == "spearman"]
    assert {row["name"] for row in rows} == {"rouge-l", "cider-d"}
    # another caption in place of the one that was held: not the corpus of the run any more
    write_captions(photos, several("A picture of a {} in a room"))
    done = invoke(*learn, "--against", "cider-d")
    assert done.exit_code == Code.BAD_INPUT
    assert "16 items are gone or have another caption" in done.stderr
    # the held caption alone is left
    write_captions(photos, {name: texts[:1] for name, texts in several().items()})
    done = invoke(*learn, "--against", "cider-d")
    assert done.exit_code == Code.BAD_INPUT
    assert "0 of 16 items of corpus folder have another" in done.stderr
