"""What edits of a video's frames do to the scores of its captions.

Order has no part in the formula, so that a video backwards is not scored a second time: its rows repeat those of the
video and say that this is by construction. Everything else is measured.

What edits of the frames do to scores over a folder of videos: medians with their intervals, a row an edit.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from core.analysis.comparisons import percent
from core.analysis.questions.columns import EVALUATOR
from core.analysis.questions.question import Column
from core.corpora.video_folder import VideoFolder, other_than
from core.corpora.video_frames import Sampling, open_video
from core.errors import BadImage, InvalidInput
from core.evaluators.base import DualEncoder, Evaluator
from core.evaluators.video.video_evaluator import TokenMap, VideoEvaluator, VideoScore, VideoScorer, video_scorer
from core.probes.pixels.edits import every_second, flip_horizontal, flip_vertical, jpeg
from core.scoring.video_scores import sampled
from core.statistics.bootstrap import median_bca
from core.statistics.shares import share

MEASURED, BY_CONSTRUCTION = "measured", "by construction"
ORIGINAL, REVERSED, OTHER = "original", "reversed", "other video"

COLUMNS = (
    "evaluator",
    "caption",
    "edit",
    "how",
    "frames",
    "score",
    "delta",
    "coarse",
    "precision",
    "recall",
    "fine",
    "note",
)


@dataclass(frozen=True, slots=True)
class FrameEdit:
    """One edit of the frames.

    Args:
        told: what it does, and what of the score is to be expected.
        places: which frames are kept, of how many there are; None: all.
        pixels: what becomes of each frame; None: nothing.
    """

    told: str
    places: Callable[[int], list[int]] | None = None
    pixels: Callable[[np.ndarray], np.ndarray] | None = None


EDITS = {
    ORIGINAL: FrameEdit("The frames as they are."),
    REVERSED: FrameEdit("The last frame first. The score cannot move, by construction."),
    "every second frame": FrameEdit("Half of the frames: the score should stay.", places=every_second),
    "re-encoded": FrameEdit(
        "Each frame saved as JPEG of quality 95, which nobody can see: the score should stay.", pixels=jpeg
    ),
    "mirrored": FrameEdit(
        "Each frame mirrored: the score should stay, unless the caption names left or right.", pixels=flip_horizontal
    ),
    "upside down": FrameEdit(
        "Each frame upside down: the score should stay, unless the caption names above or below.", pixels=flip_vertical
    ),
    OTHER: FrameEdit("The frames of another video: the score should drop, unless the caption is true of it too."),
}
"""Edit by name, in the order in which they are shown."""


def can_score_videos(kind: type[Evaluator]) -> bool:
    """Whether evaluators of a class can score a video without references."""
    return issubclass(kind, VideoEvaluator | DualEncoder) and not kind.spec.takes_references


def score_edits(
    evaluator: Evaluator,
    frames: Sequence[np.ndarray],
    captions: Sequence[str],
    *,
    other: Sequence[np.ndarray] | None = None,
) -> pd.DataFrame:
    """Score captions of a video and of its edits.

    Args:
        evaluator: loaded; without references.
        frames: of the video, uint8 RGB, one at least.
        captions: of the video, one at least.
        other: frames of another video; None: its row is left out.

    Returns:
        :data:`COLUMNS`, a row a caption and edit. ``delta`` is the score less that of the original; ``note`` says why
        there is no score. Parts that an evaluator does not give are NaN.

    Raises:
        InvalidInput: if there is no frame or caption, or the evaluator can score no video.
    """
    if not frames or not captions:
        raise InvalidInput(f"give frames and captions, got {len(frames)} and {len(captions)}")
    scorer = video_scorer(evaluator)
    seen = scorer.encode(frames)
    rows = list[dict[str, object]]()
    original = scorer.score(seen, captions)
    for name, edit in EDITS.items():
        if name == OTHER:
            if other is None:
                continue
            shown = scorer.encode(other)
        elif edit.pixels is not None:
            shown = scorer.encode([edit.pixels(each) for each in frames])
        else:
            shown = seen if edit.places is None else seen[edit.places(len(seen))]
        same = name in (ORIGINAL, REVERSED)
        found = original if same else scorer.score(shown, captions)
        how = BY_CONSTRUCTION if name == REVERSED else MEASURED
        rows += [
            {"evaluator": scorer.name, "caption": caption, "edit": name, "how": how, "frames": len(shown)}
            | _numbers(score, base)
            for caption, score, base in zip(captions, found, original, strict=True)
        ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def score_folder_edits(
    evaluator: Evaluator,
    folder: VideoFolder,
    *,
    sampling: Sampling,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[pd.DataFrame, list[str]]:
    """Score the first caption of every video of a folder under every edit.

    The other video is the one that an audit shows too: the next of the folder that shares no caption.

    Args:
        evaluator: loaded; without references.
        folder: of :func:`core.corpora.video_folder.read_video_folder`.
        sampling: which frames are looked at.
        progress: called with (videos done, videos in all).

    Returns:
        Rows of :func:`score_edits` with the column ``video`` first, and a sentence for each video that cannot be read.

    Raises:
        InvalidInput: if the evaluator can score no video, or no video of the folder can be read.
    """
    made, problems, total = list[pd.DataFrame](), list[str](), len(folder.videos)
    held: dict[str, list[np.ndarray] | None] = {}

    def frames(place: int) -> list[np.ndarray] | None:
        video = folder.videos[place]
        if video.id not in held:
            try:
                held[video.id] = list(sampled(open_video(video.path), sampling))
            except BadImage as error:
                held[video.id] = None
                problems.append(str(error))
        return held[video.id]

    captions = [video.captions for video in folder.videos]
    for place, video in enumerate(folder.videos):
        beside = other_than(captions, place)
        own, other = frames(place), None if beside is None else frames(beside)
        if own is not None:
            table = score_edits(evaluator, own, video.captions[:1], other=other)
            made.append(table.assign(video=video.id)[["video", *COLUMNS]])
        if place > 0 and held[video.id] is not None:
            held.pop(video.id)  # the first one is the last one's other video
        if progress is not None:
            progress(place + 1, total)
    if not made:
        raise InvalidInput(f"no video of the folder can be read: {problems[0] if problems else 'it holds none'}")
    return pd.concat(made, ignore_index=True), problems


def token_maps(evaluator: VideoEvaluator, frames: Sequence[np.ndarray], captions: Sequence[str]) -> dict[str, TokenMap]:
    """Cosine of every token with every frame, by caption; blank captions are passed over."""
    seen = VideoScorer(evaluator, video_scorer(evaluator).sampling).encode(frames)
    return {each: evaluator.token_map(seen, each) for each in captions if each.strip()}


def _numbers(score: VideoScore, base: VideoScore) -> dict[str, object]:
    parts = score.video
    told = {name: getattr(parts, name) if parts else np.nan for name in ("coarse", "precision", "recall", "fine")}
    return {"score": score.score, "delta": score.score - base.score, "note": score.error} | told


NOTE = (
    "Median of score less score of the unedited video, over videos, each by its first caption; 95 % BCa intervals over "
    "videos, none below ten; of the share that falls Wilson’s. What is by construction follows from the formula and is "
    "no measurement."
)

SUMMARY = (
    EVALUATOR,
    Column("edit", "Frames", kind="text"),
    Column("how", "How it is known", kind="text"),
    Column("n", "n videos", digits=0),
    Column("median", "Median Δ [95 % CI]", digits=4, low="low", high="high", signed=True),
    Column("falls", "Falls in % [95 % CI]", digits=0, low="falls_low", high="falls_high"),
    Column("missing", "No score", digits=0),
    Column("note", "Remark", kind="text"),
)


def edit_summary(table: pd.DataFrame) -> pd.DataFrame:
    """One row an evaluator and edit.

    Args:
        table: rows of :func:`core.features.video.video_edits.score_edits` of several videos, with a column ``video``;
            of each video one caption.

    Returns:
        The names of :data:`SUMMARY`. ``falls`` is the percentage of videos whose score falls; what is by construction
        has the median 0, no interval and no percentage.
    """
    return pd.DataFrame(list(_rows(table)), columns=[name for each in SUMMARY for name in _names(each)])


def _rows(table: pd.DataFrame) -> Iterator[dict[str, object]]:
    for (evaluator, edit), held in table.groupby(["evaluator", "edit"], sort=False):
        if edit == ORIGINAL:
            continue
        deltas = held["delta"].to_numpy(dtype=np.float64)
        known = deltas[np.isfinite(deltas)]
        told = {
            "evaluator": evaluator,
            "edit": edit,
            "how": held["how"].iloc[0],
            "n": len(known),
            "missing": len(deltas) - len(known),
        }
        if told["how"] == BY_CONSTRUCTION:
            yield told | {
                "median": 0.0,
                "low": np.nan,
                "high": np.nan,
                **dict.fromkeys(_FALLS, np.nan),
                "note": "no order of the frames changes the score",
            }
            continue
        found = median_bca(deltas)
        yield told | {
            "median": found.estimate,
            "low": found.low,
            "high": found.high,
            **percent("falls", share(known < 0)),
            "note": found.note,
        }


_FALLS = ("falls", "falls_low", "falls_high")


def _names(column: Column) -> list[str]:
    return [name for name in (column.name, column.low, column.high) if name]
