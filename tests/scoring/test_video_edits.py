"""Edits of a video's frames: what is measured is scored anew, what is by construction is not."""

import json
from pathlib import Path

import numpy as np
import pytest

from core.corpora.video_frames import open_video, read_frames
from core.errors import InvalidInput
from core.evaluators.base import DualEncoder
from core.evaluators.registry import find
from core.evaluators.video.formula import whole
from core.evaluators.video.video_evaluator import VideoEvaluator, coarse_score
from core.features.video.video_edits import (
    BY_CONSTRUCTION,
    EDITS,
    MEASURED,
    ORIGINAL,
    OTHER,
    REVERSED,
    can_score_videos,
    score_edits,
)
from core.settings import ROOT
from tests.corpora.footage import moving
from tests.tiny import clip

CAPTIONS = ("A red square moves to the right.", "a blue square")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(clip.write_openai(tmp_path_factory.mktemp("tiny-edits") / "openai.pt", 11))


@pytest.fixture(scope="module")
def evaluator(tiny: str) -> VideoEvaluator:
    found = find(f"emscore@{tiny}").load()
    assert isinstance(found, VideoEvaluator)
    return found


def test_every_edit_is_the_score_of_the_frames_that_it_makes(evaluator: VideoEvaluator) -> None:
    frames, other = moving("red", 6), moving("blue", 6)
    table = score_edits(evaluator, frames, CAPTIONS, other=other)
    assert list(table["edit"].unique()) == list(EDITS)
    made = {
        ORIGINAL: frames,
        REVERSED: frames[::-1],
        "every second frame": frames[::2],
        "mirrored": [each[:, ::-1] for each in frames],
        "upside down": [each[::-1] for each in frames],
        OTHER: other,
    }
    read = evaluator.read(CAPTIONS)
    for name, shown in made.items():
        seen = evaluator.encode_frames([np.ascontiguousarray(each) for each in shown])
        rows = table[table["edit"] == name].set_index("caption")
        for caption in CAPTIONS:
            found = evaluator.match(seen, caption, None, read)
            assert found.video is not None
            assert rows.loc[caption, "score"] == pytest.approx(found.score, abs=2e-5), name
            assert rows.loc[caption, "recall"] == pytest.approx(found.video.recall, abs=2e-5)
        assert set(rows["frames"]) == {len(shown)}


def test_the_video_backwards_is_said_to_be_by_construction_and_moves_nothing(evaluator: VideoEvaluator) -> None:
    table = score_edits(evaluator, moving("red", 5), CAPTIONS)
    assert OTHER not in set(table["edit"])
    turned = table[table["edit"] == REVERSED]
    assert set(turned["how"]) == {BY_CONSTRUCTION}
    assert turned["delta"].tolist() == [0.0, 0.0]
    assert set(table.loc[table["edit"] != REVERSED, "how"]) == {MEASURED}
    half = table[table["edit"] == "every second frame"]
    assert (half["delta"].abs() > 1e-4).all()


def test_a_dual_encoder_gives_the_coarse_part_by_name(tiny: str) -> None:
    twin = find(f"clipscore@{tiny}").load()
    assert isinstance(twin, DualEncoder)
    frames = moving("red", 4)
    table = score_edits(twin, frames, CAPTIONS[:1])
    assert set(table["evaluator"]) == {"clipscore@openai (average frame)"}
    assert table[["precision", "recall", "fine"]].isna().all(axis=None)
    seen = np.asarray(twin.encode_images(frames))
    assert table["score"][0] == pytest.approx(coarse_score(twin, seen, CAPTIONS[0]).score, abs=1e-6)
    (read,) = np.asarray(twin.encode_captions(CAPTIONS[:1]))
    assert table["score"][0] == pytest.approx(float(whole(seen) @ read), abs=1e-6)


def test_a_caption_without_a_score_has_its_reason_and_harms_no_other(evaluator: VideoEvaluator) -> None:
    table = score_edits(evaluator, moving("red", 3), [" ", CAPTIONS[0]])
    blank = table[table["caption"] == " "]
    assert blank["score"].isna().all()
    assert set(blank["note"]) == {"the caption is blank"}
    assert table.loc[table["caption"] != " ", "score"].notna().all()
    with pytest.raises(InvalidInput, match="give frames and captions"):
        score_edits(evaluator, [], CAPTIONS)


def test_who_can_score_videos(tiny: str) -> None:
    kinds = {
        name: can_score_videos(find(name))
        for name in ("conse-lite0", "emscore", "refemscore", "clipscore", "refclipscore", "grounding-judge", "umic")
    }
    assert [name for name, can in kinds.items() if can] == ["conse-lite0", "emscore", "clipscore"]


def test_the_shipped_videos_are_as_their_captions_say() -> None:
    """Where the moving thing is, found as what differs from the mean frame."""
    folder: Path = ROOT / "data" / "demo" / "videos"
    backwards = json.loads((folder / "backwards.json").read_text(encoding="utf-8"))
    captions = json.loads((folder / "captions.json").read_text(encoding="utf-8"))
    assert set(backwards) == set(captions) == {path.stem for path in folder.glob("*.mp4")}
    for name, (caption, _) in captions.items():
        footage = open_video(folder / f"{name}.mp4")
        first, last = (each.astype(int) for each in read_frames(footage, [0, footage.frames - 1]))
        mean = np.median(list(read_frames(footage, range(footage.frames))), axis=0)
        start, end = (np.argwhere(np.abs(each - mean).max(axis=2) > 60) for each in (first, last))
        down, across = end.mean(axis=0) - start.mean(axis=0)
        told = {
            "left to right": across > 20,
            "right to left": across < -20,
            "downwards": down > 20,
            "upwards": down < -20,
            "grows larger": len(end) > 0,
        }
        (true,) = [holds for words, holds in told.items() if words in caption]
        assert true, name
        assert caption != backwards[name]
