"""``suite`` on tiny suites in the publishers' layouts, with an evaluator that sees colours."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from core.calibration.file import calibrator
from core.calibration.readings import Terms
from tests.commands.calling import Invoke


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    folder = tmp_path / "pictures"
    folder.mkdir()
    for name, colour in (("red.png", (250, 10, 10)), ("blue.png", (10, 10, 250)), ("green.png", (10, 250, 10))):
        Image.fromarray(np.full((24, 32, 3), colour, dtype=np.uint8)).save(folder / name)
    return folder


def pascal(folder: Path, *more: dict) -> Path:
    entries = [
        {"image": f"VOC/JPEGImages/{one}.png", "captions": [f"a {one} thing", f"a {other} thing"], "label": 0}
        for one, other in (("red", "blue"), ("blue", "green"), ("green", "red"))
    ]
    path = folder / "pascal_50s.json"
    path.write_text(json.dumps({"HC": entries, "MM": list(more)}), encoding="utf-8")
    return path


def test_pairs_are_reported_with_their_groups(invoke: Invoke, pictures: Path, colour_words: str) -> None:
    done = invoke("suite", pascal(pictures), pictures, "--evaluator", colour_words, "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["suite"] == "Pascal-50S"
    assert told["before"][0]["value"] == 100.0
    assert told["before"][0]["n"] == 3


def test_a_missing_image_is_said_and_costs_its_pair_alone(invoke: Invoke, pictures: Path, colour_words: str) -> None:
    lost = {"image": "../../etc/passwd", "captions": ["a red thing", "a blue thing"], "label": 0}
    done = invoke("suite", pascal(pictures, lost), pictures, "--evaluator", colour_words)
    assert done.exit_code == 1
    assert "no such image" in done.stderr
    assert "100.0" in done.stdout


def test_before_and_after_calibration_stand_side_by_side(invoke: Invoke, tmp_path: Path) -> None:
    from core.corpora.registry import catalogue

    items = [item for item in catalogue().get("demo").load().items if item.label and item.image_path][:4]
    entries = [
        {"image": item.image_path.name, "captions": [f"There is a {item.label}.", "There is a submarine."], "label": 0}
        for item in items
        if item.image_path
    ]  # fmt: skip
    suite, model = tmp_path / "pascal_50s.json", tmp_path / "c.json"
    suite.write_text(json.dumps({"HC": entries}))
    terms = Terms("orbit", {"vertical-flip": 1.0}, {"vertical-flip": {"vflip": 0.0}}, {"vertical-flip": 0.0})
    model.write_text(calibrator(terms, strength=0.5, evaluator="conse-lite0").model_dump_json())
    folder = items[0].image_path.parent if items[0].image_path else tmp_path
    done = invoke("suite", suite, folder, "--calibrator", model, "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert {side: told[side][0]["n"] for side in ("before", "after")} == {"before": 4, "after": 4}
    shift = Terms("shift", {"vertical-flip": 1.0}, {"vertical-flip": {"vflip": 0.0}}, {"vertical-flip": 0.0})
    model.write_text(calibrator(shift, strength=0.5, evaluator="conse-lite0").model_dump_json())
    done = invoke("suite", suite, folder, "--calibrator", model)
    assert "after equals before" in done.stderr
    assert "before (95 % CI)" in done.stdout


def test_what_cannot_be_used_is_one_sentence(invoke: Invoke, pictures: Path, tmp_path: Path, colour_words: str) -> None:
    path = pascal(pictures)
    for arguments, sentence in (
        ([tmp_path / "none.json", pictures], "cannot be read"),
        ([path, tmp_path / "nowhere"], "no folder"),
        ([path, tmp_path], "none of the 3 images"),
        ([path, pictures, "--calibrator", path], "no calibrator"),
    ):
        done = invoke("suite", *arguments, "--evaluator", colour_words)
        assert done.exit_code == 2
        assert sentence in done.stderr
