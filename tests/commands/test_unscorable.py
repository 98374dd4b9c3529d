"""What an evaluator cannot score is refused before its weights are loaded, or costs its own captions alone."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from core.commands._shared import Code
from tests.commands.calling import Invoke

FILE = """
import numpy as np
from core.evaluators.base import Fingerprint, evaluator, Evaluator
from core.evaluators.references import Referenced

SAID = dict(summary="s", family="f", score_range=(0.0, None), memory_mb=1, offline=True, source="s", licence="l")


class Never(Evaluator):
    @classmethod
    def load(cls, *, device="cpu"):
        raise SystemError("weights were loaded")

    fingerprint = None

    def score(self, images, captions, references=None):
        raise SystemError("scored")


@evaluator(name="needs-references", title="R", takes_references=True, languages=("en",), **SAID)
class Needs(Never, Referenced):
    pass


@evaluator(name="reads-english", title="E", languages=("en",), **SAID)
class English(Never):
    pass


@evaluator(name="lower-is-better", title="L", higher_is_better=False, **SAID)
class Lower(Never):
    pass


@evaluator(name="words", title="W", languages=("en",), **SAID)
class Words(Evaluator):
    @classmethod
    def load(cls, *, device="cpu"):
        return cls()

    @property
    def fingerprint(self):
        return Fingerprint("words", "none", "none", "float64")

    def score(self, images, captions):
        return np.array([float(len(each.split())) for each in captions])
"""


@pytest.fixture
def metrics(tmp_path: Path) -> Path:
    path = tmp_path / "metrics.py"
    path.write_text(FILE, "utf-8")
    return path


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    (tmp_path / "photos").mkdir()
    for number in range(3):
        Image.fromarray(np.full((9, 9, 3), 50 * number, np.uint8)).save(tmp_path / "photos" / f"p{number}.png")
    return tmp_path / "photos"


def captions(path: Path, *texts: str) -> Path:
    path.write_text(json.dumps({f"p{number}": text for number, text in enumerate(texts)}), "utf-8")
    return path


def test_an_evaluator_of_references_without_any_is_refused_before_it_is_loaded(
    invoke: Invoke, metrics: Path, photos: Path, tmp_path: Path
) -> None:
    said = captions(photos / "candidates.json", "a door", "a cat", "a dog")
    bare = shutil.copytree(photos, tmp_path / "bare", ignore=lambda *_: ["candidates.json"])
    needs, words = f"{metrics}:Needs", f"{metrics}:Words"
    for asked in (
        ("score", said, photos, "--evaluator", needs),
        ("leaderboard", said, "--images", bare, "--evaluators", f"{words},{needs}"),
        (
            "audit",
            "--corpus",
            "folder",
            "--root",
            photos,
            "--subject",
            "human",
            "--probes",
            "hflip",
            "--evaluators",
            needs,
        ),
    ):
        done = invoke(*asked)
        assert (done.exit_code, "needs-references compares with reference captions" in done.stderr) == (2, True), asked
        assert "scoring" not in done.stderr, "nothing is scored by an evaluator that comes before"


def test_captions_of_which_an_evaluator_reads_none_are_refused_before_it_is_loaded(
    invoke: Invoke, metrics: Path, photos: Path, tmp_path: Path
) -> None:
    said = captions(tmp_path / "ja.json", "テーブルの上に猫がいる", "犬", "ドアがある")
    for asked in (
        ("score", said, photos, "--evaluator", f"{metrics}:English"),
        ("leaderboard", said, "--images", photos, "--evaluators", f"{metrics}:Words,{metrics}:English"),
    ):
        done = invoke(*asked)
        assert done.exit_code == Code.BAD_INPUT, done.output
        assert "none of the 3 captions can be scored" in done.stderr
        assert "reads en and not ja" in done.stderr


def test_a_caption_in_a_language_that_is_not_read_costs_its_own_score(
    invoke: Invoke, metrics: Path, photos: Path, tmp_path: Path
) -> None:
    said = captions(tmp_path / "two.json", "a red door", "кошка", "a dog")
    done = invoke("score", said, photos, "--evaluator", f"{metrics}:Words", "--save_per_instance", tmp_path / "s.json")
    assert done.exit_code == Code.FAILURES, done.output
    assert "no score for 'p1': words reads en and not ru" in done.stderr
    scores = json.loads((tmp_path / "s.json").read_text("utf-8"))
    assert [scores[f"p{n}"]["words"] for n in range(3)] == [3.0, None, 2.0]
    done = invoke("leaderboard", said, "--images", photos, "--evaluators", f"{metrics}:Words", "--json")
    assert done.exit_code == Code.FAILURES, done.output
    assert json.loads(done.stdout)["left_out"] == ["p1.png, two: words reads en and not ru"]


def test_a_leaderboard_asks_every_evaluator_before_it_loads_the_first(
    invoke: Invoke, metrics: Path, photos: Path, tmp_path: Path
) -> None:
    said = captions(tmp_path / "a.json", "a red door", "a cat", "a dog")
    for last, why, code in (
        (f"{metrics}:Lower", "gives better captions lower scores", Code.BAD_INPUT),
        ("umic", "is not available", Code.NOT_AVAILABLE),
    ):
        done = invoke("leaderboard", said, "--images", photos, "--evaluators", f"{metrics}:English,{last}")
        assert done.exit_code == code, done.output
        assert why in done.stderr


def test_captions_of_other_pictures_are_refused(invoke: Invoke, metrics: Path, photos: Path) -> None:
    captions(photos / "candidates.json", "a red door", "a cat", "a dog")
    for path in photos.glob("*.png"):
        path.rename(path.with_name(f"x{path.name}"))
    for asked in (
        ("score", photos / "candidates.json", photos, "--evaluator", f"{metrics}:English"),
        ("leaderboard", photos / "candidates.json", "--images", photos, "--evaluators", f"{metrics}:English"),
        ("audit", "--corpus", "folder", "--root", photos, "--evaluators", f"{metrics}:English"),
    ):
        done = invoke(*asked)
        assert done.exit_code == Code.BAD_INPUT, done.output
        assert "candidates.json" in done.stderr or "no system captions a picture" in done.stderr
