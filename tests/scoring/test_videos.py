"""Videos scored once each, and suites of videos, against the evaluator called by hand."""

import errno
import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from core.corpora.suites.suite_files import read_suite
from core.corpora.video_frames import Sampling
from core.errors import InvalidInput, StoreError
from core.evaluators.base import Evaluator
from core.evaluators.registry import find
from core.evaluators.video import video_evaluator
from core.evaluators.video.video_evaluator import VideoEvaluator, video_scorer
from core.features.suites import suite_result
from core.features.suites.suite_result import export_suite
from core.scoring import suite_scores
from core.scoring.suite_scores import VideoLine, score_video_suite, score_videos, usual_sampling
from tests.corpora.footage import moving, write_frames, write_video
from tests.corpora.test_video_suites import activitynet, vatex
from tests.tiny import clip


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(clip.write_openai(tmp_path_factory.mktemp("tiny-videos") / "openai.pt", 11))


@pytest.fixture(scope="module")
def evaluator(tiny: str) -> VideoEvaluator:
    found = find(f"emscore@{tiny}").load()
    assert isinstance(found, VideoEvaluator)
    return found


@pytest.fixture
def footage(tmp_path: Path) -> Path:
    write_frames(tmp_path / "videos" / "v1", moving("red", 8))
    write_frames(tmp_path / "videos" / "v2", moving("blue", 8))
    return tmp_path / "videos"


def by_hand(
    evaluator: VideoEvaluator, frames: Sequence[np.ndarray], caption: str, references: Sequence[str] = ()
) -> float:
    return evaluator.match(
        evaluator.encode_frames(frames), caption, references, evaluator.read([caption, *references])
    ).score


def test_each_video_is_decoded_once_and_every_line_has_its_own_score(
    evaluator: VideoEvaluator, footage: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    real = suite_scores.open_video
    monkeypatch.setattr(suite_scores, "open_video", lambda path: opened.append(path.name) or real(path))
    lines = [
        VideoLine(str(place), caption, footage / name)
        for place, (name, caption) in enumerate(
            [("v1", "a red square"), ("v2", "a blue square"), ("v1", "a square"), ("v1", " ")]
        )
    ]
    seen: list[tuple[int, int]] = []
    found = score_videos(video_scorer(evaluator), lines, progress=lambda *done: seen.append(done))
    assert opened == ["v1", "v2"]
    assert seen == [(3, 4), (4, 4)]
    for each, (colour, caption) in zip(
        found, [("red", "a red square"), ("blue", "a blue square"), ("red", "a square")], strict=False
    ):
        assert each.score == pytest.approx(by_hand(evaluator, moving(colour, 8), caption), abs=1e-6)
    assert (math.isnan(found[3].score), found[3].error) == (True, "the caption is blank")


def test_frames_encoded_in_several_batches_are_those_of_one(
    evaluator: VideoEvaluator, footage: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(video_evaluator, "FRAMES_AT_ONCE", 3)
    (found,) = score_videos(video_scorer(evaluator), [VideoLine("a", "a square", footage / "v1")])
    assert found.score == pytest.approx(by_hand(evaluator, moving("red", 8), "a square"), abs=1e-6)


def test_a_part_is_scored_over_its_own_frames(evaluator: VideoEvaluator, footage: Path) -> None:
    scorer = video_scorer(evaluator, sampling=Sampling(2))
    (found,) = score_videos(scorer, [VideoLine("a", "a square", footage / "v1", part=(0.25, 0.75))])
    frames = moving("red", 8)
    assert found.score == pytest.approx(by_hand(evaluator, [frames[2], frames[5]], "a square"), abs=1e-6)


def test_the_fingerprint_names_the_frames_and_the_part(evaluator: VideoEvaluator, tiny: str) -> None:
    every, ten = video_scorer(evaluator), video_scorer(evaluator, sampling=Sampling(10))
    assert every.fingerprint.settings["frames"] == "every frame"
    assert ten.fingerprint.settings["frames"] == "10 frames, np.linspace cut to whole numbers"
    assert every.fingerprint.key != ten.fingerprint.key
    assert ten.fingerprint.key in ten.told
    coarse = video_scorer(find(f"clipscore@{tiny}").load())
    assert (every.fingerprint.settings["part"], coarse.fingerprint.settings["part"]) == ("score", "average frame")


def test_a_video_that_cannot_be_read_costs_its_lines_alone(evaluator: VideoEvaluator, footage: Path) -> None:
    (footage / "torn.mp4").write_bytes(b"no video")
    lines = [VideoLine("a", "a square", footage / "torn.mp4"), VideoLine("b", "a square", footage / "v1")]
    torn, whole = score_videos(video_scorer(evaluator), lines)
    assert "begins like none" in torn.error
    assert math.isfinite(whole.score)


def test_what_embeds_no_frames_is_refused(evaluator: VideoEvaluator) -> None:
    class Pairs(Evaluator):
        spec = evaluator.spec

        @classmethod
        def load(cls, *, device: str = "cpu") -> "Pairs":
            return cls()

        @property
        def fingerprint(self):  # type: ignore[no-untyped-def]
            return evaluator.fingerprint

        def score(self, images: Sequence[np.ndarray], captions: Sequence[str]) -> np.ndarray:
            return np.zeros(len(images))

    with pytest.raises(InvalidInput, match="embeds no frames; choose emscore"):
        video_scorer(Pairs())


def test_vatex_is_scored_with_its_frames_and_the_first_references(tiny: str, footage: Path, tmp_path: Path) -> None:
    suite = read_suite(vatex(tmp_path))
    twin = find(f"refemscore@{tiny}").load()
    assert isinstance(twin, VideoEvaluator)
    scorer = video_scorer(twin, sampling=usual_sampling(suite))
    assert scorer.sampling.count == 10
    found = score_video_suite(scorer, suite, [footage])
    assert found.rated.shape == (9,)
    assert not found.errors
    frames = [moving("red", 8)[place] for place in Sampling(10).places(8)]
    expected = by_hand(twin, frames, "a cat", suite.rated[0].references)
    assert found.rated[:3].tolist() == pytest.approx([expected] * 3, abs=1e-6)


def test_a_paragraph_gets_the_mean_of_its_sentences_each_in_its_part(
    evaluator: VideoEvaluator, footage: Path, tmp_path: Path
) -> None:
    suite = read_suite(activitynet(tmp_path / "anet"))
    found = score_video_suite(video_scorer(evaluator), suite, [footage])
    frames = moving("red", 8)
    parts = (frames[:2], frames[2:])  # 10.5 of 40 seconds are 2.1 of 8 frames
    for side, texts in ((found.preferred, ("A cat sits.", "It runs.")), (found.other, ("A dog sits.", "It runs."))):
        expected = np.mean([by_hand(evaluator, part, text) for part, text in zip(parts, texts, strict=True)])
        assert side.tolist() == pytest.approx([expected], abs=1e-6)


def test_a_video_that_is_not_there_is_said_and_no_video_at_all_is_refused(
    evaluator: VideoEvaluator, footage: Path, tmp_path: Path
) -> None:
    suite = read_suite(vatex(tmp_path))
    for path in (footage / "v2").iterdir():
        path.unlink()
    (footage / "v2").rmdir()
    found = score_video_suite(video_scorer(evaluator), suite, [footage])
    assert np.isnan(found.rated).tolist() == [False] * 6 + [True] * 3
    assert found.errors == (f"v2: no such video in {footage}",)
    (tmp_path / "none").mkdir()
    with pytest.raises(InvalidInput, match="none of the 2 videos, such as 'v1', is in"):
        score_video_suite(video_scorer(evaluator), suite, [tmp_path / "none"])


def test_captions_of_videos_are_given_out_with_the_places_of_the_videos(footage: Path, tmp_path: Path) -> None:
    written, missing = export_suite(read_suite(vatex(tmp_path)), [footage], tmp_path / "out")
    assert (written, missing) == (3, 0)
    lines: Iterator[dict[str, str]] = map(json.loads, (tmp_path / "out" / "pairs.jsonl").read_text().splitlines())
    assert {line["image"] for line in lines} == {str(footage / "v1"), str(footage / "v2")}


def test_captions_that_are_given_out_on_a_full_disk_leave_nothing(
    footage: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(suite_result, "write_candidates", full)
    with pytest.raises(StoreError, match="the disk is full"):
        export_suite(read_suite(vatex(tmp_path)), [footage], tmp_path / "given" / "out")
    assert list((tmp_path / "given").iterdir()) == []


def test_a_file_and_a_folder_of_the_same_frames_score_alike(evaluator: VideoEvaluator, tmp_path: Path) -> None:
    write_video(tmp_path / "a.mp4", moving("red", 6))
    write_frames(tmp_path / "b", moving("red", 6))
    one, other = score_videos(
        video_scorer(evaluator),
        [VideoLine("a", "a square", tmp_path / "a.mp4"), VideoLine("b", "a square", tmp_path / "b")],
    )
    assert one.score == pytest.approx(other.score, abs=0.1)  # the codec loses a little
