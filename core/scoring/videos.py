"""Captions of videos scored at once: each video decoded and encoded once, however many captions it has."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from core.corpora.videos import WHOLE, Footage, Sampling, open_video, read_frames
from core.errors import BadImage, InvariscopeError
from core.evaluators.video.base import VideoScore
from core.evaluators.video.scorer import VideoScorer


@dataclass(frozen=True, slots=True)
class VideoLine:
    """One caption of one video.

    Args:
        references: captions by people; empty where there are none.
        part: of the video, as shares of its length, start and end.
    """

    id: str
    caption: str
    path: Path
    references: tuple[str, ...] = ()
    part: tuple[float, float] = WHOLE


def score_videos(
    scorer: VideoScorer,
    lines: Sequence[VideoLine],
    *,
    progress: Callable[[int, int], None] | None = None,
    remark: Callable[[str], None] | None = None,
) -> list[VideoScore]:
    """Score every line; an unreadable video or an unscorable caption costs that line alone.

    Args:
        scorer: of :func:`core.evaluators.video.scorer.video_scorer`.
        lines: in any order; the result has the same one.
        progress: called with (lines done, lines in all) after every video.
        remark: called with a sentence on each video whose picture is not what people see.
    """
    places: dict[Path, dict[tuple[float, float], list[int]]] = {}
    for place, line in enumerate(lines):
        places.setdefault(line.path, {}).setdefault(line.part, []).append(place)
    found = [VideoScore(math.nan)] * len(lines)
    done = 0
    for path, parts in places.items():
        for held, scores in _of_video(scorer, path, parts, lines, remark):
            for place, score in zip(held, scores, strict=True):
                found[place] = score
            done += len(held)
            if progress is not None:
                progress(done, len(lines))
    return found


def _of_video(
    scorer: VideoScorer,
    path: Path,
    parts: dict[tuple[float, float], list[int]],
    lines: Sequence[VideoLine],
    remark: Callable[[str], None] | None,
) -> Iterator[tuple[list[int], list[VideoScore]]]:
    """Places of the lines of each part, and their scores."""
    try:
        footage = open_video(path)
    except (BadImage, OSError) as error:
        for held in parts.values():
            yield held, [VideoScore(math.nan, error=str(error))] * len(held)
        return
    if remark is not None:
        for note in footage.notes:
            remark(f"{path.name}: {note}")
    for part, held in parts.items():
        try:
            frames = scorer.encode(sampled(footage, scorer.sampling, part))
            captions, people = ([getattr(lines[each], name) for each in held] for name in ("caption", "references"))
            yield held, scorer.score(frames, captions, people)
        except InvariscopeError as error:
            yield held, [VideoScore(math.nan, error=str(error))] * len(held)


def sampled(footage: Footage, sampling: Sampling, part: tuple[float, float] = WHOLE) -> Iterator[np.ndarray]:
    """The frames of a part of a video that are looked at, decoded one after the other."""
    return read_frames(footage, footage.places(sampling, part))
