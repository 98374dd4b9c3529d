"""``regions extract`` and ``evaluators get umic``, with a tiny detector in its publisher's format."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from core.corpora.images import pixel_hash
from core.evaluators.metrics.umic import DETECTOR, REGIONS, Umic
from core.evaluators.regions.region_folder import RegionFolder
from core.evaluators.registry import find
from tests.commands.calling import Invoke
from tests.tiny.frcnn import RES2, write_frcnn
from tests.tiny.uniter import write_umic, write_words


@pytest.fixture(autouse=True)
def own_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("INVARISCOPE_WEIGHTS", str(tmp_path / "weights"))
    monkeypatch.setenv(REGIONS, str(tmp_path / "none"))
    monkeypatch.delenv(DETECTOR, raising=False)
    return tmp_path / "weights"


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    folder = tmp_path / "pictures" / "inner"
    folder.mkdir(parents=True)
    for seed in range(3):
        pixels = np.random.default_rng(seed).integers(0, 256, (30, 40 + seed, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / f"{seed}.png")
    return folder.parent


def write_all(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    write_umic(folder / "umic.pt", region=8 * RES2)
    write_words(folder / "vocab.txt")


def umic_record(invoke: Invoke) -> dict:
    return next(each for each in json.loads(invoke("evaluators", "--json").stdout) if each["name"] == "umic")


def test_regions_of_pictures_are_written_once_where_umic_finds_them(
    invoke: Invoke, pictures: Path, own_weights: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_frcnn(own_weights / "bottom-up-attention")
    out = tmp_path / "regions"
    done = invoke("regions", "extract", pictures, "--out", out, "--device", "cpu")
    assert done.exit_code == 0, done.output
    assert "3 of 3 pictures have regions" in done.stdout
    assert f"{REGIONS}={out}" in done.stderr
    files = {path: path.stat().st_mtime_ns for path in out.glob("*.npz")}
    assert len(files) == 3
    with np.load(next(iter(files))) as arrays:
        assert {name: arrays[name].dtype for name in arrays} == dict.fromkeys(
            ("features", "norm_bb", "conf"), np.float16
        )
    (pictures / "new.jpg").write_bytes((pictures / "inner" / "0.png").read_bytes())
    (pictures / "broken.png").write_text("no picture", encoding="utf-8")
    again = invoke("regions", "extract", pictures, "--out", out, "--device", "cpu")
    assert again.exit_code == 1
    assert "4 of 5 pictures have regions" in again.stdout
    assert "broken.png" in again.stderr
    assert {path: path.stat().st_mtime_ns for path in out.glob("*.npz")} == files

    assert json.loads((out / "detector.json").read_text()) == {"detector": Umic.detector().digest}
    write_frcnn(own_weights / "bottom-up-attention", seed=1)
    other = invoke("regions", "extract", pictures, "--out", out, "--device", "cpu")
    assert other.exit_code == 2
    assert "regions of another detector" in other.stderr
    write_frcnn(own_weights / "bottom-up-attention")

    pixels = np.asarray(Image.open(pictures / "inner" / "1.png"))
    detector = Umic.detector()
    assert detector is not None
    told, kept = detector.regions(pixels), RegionFolder(out).find(pixel_hash(pixels))
    assert kept is not None
    assert kept.features == pytest.approx(told.features, rel=2e-3, abs=1e-3)
    assert kept.boxes == pytest.approx(told.boxes, abs=1e-3)
    assert kept.confidence == pytest.approx(told.confidence, abs=1e-3)
    write_all(tmp_path / "mine")
    from_pixels = find(f"umic@{tmp_path / 'mine'}").load().score([pixels], ["a cat"])
    monkeypatch.setenv(REGIONS, str(out))
    assert find(f"umic@{tmp_path / 'mine'}").load().score([pixels], ["a cat"]) == pytest.approx(from_pixels, abs=5e-3)


def test_without_a_detector_or_pictures_it_says_what_to_do(invoke: Invoke, pictures: Path, tmp_path: Path) -> None:
    missing = invoke("regions", "extract", pictures, "--out", tmp_path / "out")
    assert missing.exit_code == 3
    assert "python -m core evaluators get umic" in missing.stderr
    empty = invoke("regions", "extract", tmp_path / "nowhere", "--out", tmp_path / "out")
    assert empty.exit_code == 2
    assert "no picture at" in empty.stderr


def test_a_folder_with_everything_makes_umic_ready(invoke: Invoke, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    write_all(folder)
    write_frcnn(folder / "bottom-up-attention")
    answer = invoke("evaluators", "get", "umic", "--weights", folder)
    assert answer.exit_code == 0, answer.output
    assert "bottom-up-attention\n  sha256" in answer.stdout
    assert umic_record(invoke)["ready"]
    assert "umic is ready" in invoke("evaluators", "get", "umic").stdout


@pytest.mark.parametrize("name", ["", "pytorch_model.bin"])
def test_the_detector_alone_can_be_added_to_umics_own_weights(invoke: Invoke, tmp_path: Path, name: str) -> None:
    write_all(tmp_path / "mine")
    assert invoke("evaluators", "get", "umic", "--weights", tmp_path / "mine").exit_code == 0
    before = umic_record(invoke)
    assert not before["ready"]
    assert "precomputed only" in before["reason"]
    assert before["command"] == "python -m core evaluators get umic"
    write_frcnn(tmp_path / "detector")
    added = invoke("evaluators", "get", "umic", "--weights", tmp_path / "detector" / name)
    assert added.exit_code == 0, added.output
    assert "no hash is published" in added.stdout
    assert umic_record(invoke)["ready"]


def test_a_damaged_detector_is_not_remembered(invoke: Invoke, tmp_path: Path, own_weights: Path) -> None:
    write_frcnn(tmp_path / "detector")
    (tmp_path / "detector" / "pytorch_model.bin").write_text("<html>Sign in", encoding="utf-8")
    answer = invoke("evaluators", "get", "umic", "--weights", tmp_path / "detector")
    assert answer.exit_code == 3
    assert "is a web page" in answer.stderr
    assert not own_weights.exists()


def test_umic_without_its_detector_is_fetched_and_says_what_it_lacks(
    invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import huggingface_hub.constants

    write_all(tmp_path / "mine")
    invoke("evaluators", "get", "umic", "--weights", tmp_path / "mine")
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    answer = invoke("evaluators", "get", "umic")
    assert answer.exit_code == 0, answer.output
    assert "umic can do without Bottom-up attention" in answer.stderr
    assert "cannot score yet: UMIC is precomputed only" in answer.stdout
    assert "can do without" not in invoke("evaluators", "get", "umic", "--no-optional").stderr
