"""Captions of videos scored at once: each video decoded and encoded once, however many captions it has.

Of a suite of videos every caption stands beside its video, a paragraph sentence by sentence.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from core.corpora.suites import ENGLISH, Suite
from core.corpora.video_frames import WHOLE, Footage, Sampling, open_video, read_frames
from core.errors import BadImage, InvalidInput, InvariscopeError
from core.evaluators.video.video_evaluator import VideoScore, VideoScorer
from core.scoring.suite_scores import SuiteScores, check_folders, check_referenced, places_of


@dataclass(frozen=True, slots=True)
class VideoLine:
    """One caption of one video."""

    id: str
    caption: str
    path: Path
    references: tuple[str, ...] = ()  # captions by people; empty where there are none
    part: tuple[float, float] = WHOLE  # of the video, as shares of its length, start and end


def score_videos(
    scorer: VideoScorer,
    lines: Sequence[VideoLine],
    *,
    progress: Callable[[int, int], None] | None = None,
    remark: Callable[[str], None] | None = None,
) -> list[VideoScore]:
    """Score every line; an unreadable video or an unscorable caption costs that line alone.

    Args:
        scorer: of :func:`core.evaluators.video.video_evaluator.video_scorer`.
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


_USUAL_FRAMES = {"VATEX-EVAL": 10}
"""Suite -> frames of a video that its publishers look at; elsewhere all of them."""


def usual_sampling(suite: Suite) -> Sampling:
    """The frames that the publishers of a suite look at."""
    return Sampling(_USUAL_FRAMES.get(suite.name))


def score_video_suite(
    scorer: VideoScorer, suite: Suite, folders: Sequence[Path], *, progress: Callable[[int, int], None] | None = None
) -> SuiteScores:
    """Score every caption of a suite of videos.

    Args:
        scorer: of :func:`core.evaluators.video.video_evaluator.video_scorer`.
        folders: where the videos lie, as files or as folders of frames.
        progress: called with (captions done, captions in all).

    Raises:
        InvalidInput: if a folder or every video is missing, or the evaluator cannot read the captions.
    """
    check_folders(folders)
    if not scorer.evaluator.spec.reads(ENGLISH):
        raise InvalidInput(f"{scorer.evaluator.spec.unread(ENGLISH)}, and {suite.name} has no other; choose another")
    if scorer.takes_references:
        check_referenced(scorer.evaluator, suite)
    places, wanted = places_of(suite, folders), _Wanted()
    for rated in suite.rated:
        wanted.add(places[rated.image], [(rated.caption, rated.references, WHOLE)])
    for pair in suite.compared:
        for side in ("preferred", "other"):
            texts = [(getattr(each, side), each.references, each.part) for each in pair.sentences]
            wanted.add(places[pair.image], texts or [(getattr(pair, side), pair.references, WHOLE)])
    values, errors = wanted.scored(scorer, progress)
    errors += [
        f"{name}: no such video in {', '.join(map(str, folders))}" for name, place in places.items() if place is None
    ]
    count = len(suite.rated)
    return SuiteScores(values[:count], values[count::2], values[count + 1 :: 2], tuple(errors))


_Text = tuple[str, tuple[str, ...], tuple[float, float]]
"""Caption or sentence, its references, its part of the video."""


class _Wanted:
    """Every text to be scored once, and which of them each judgement is the mean of."""

    def __init__(self) -> None:
        self.lines: dict[tuple[Path, _Text], int] = {}
        self.of: list[list[int]] = []

    def add(self, path: Path | None, texts: Sequence[_Text]) -> None:
        """A judgement over some texts of a video; over none where the video is not here."""
        asked = [] if path is None else [self.lines.setdefault((path, each), len(self.lines)) for each in texts]
        self.of.append(asked)

    def scored(self, scorer: VideoScorer, progress: Callable[[int, int], None] | None) -> tuple[np.ndarray, list[str]]:
        """The mean score of each judgement, float64 [n], NaN where a text has none, and why each has none."""
        lines = [
            VideoLine(str(place), text, path, references, part)
            for place, (path, (text, references, part)) in enumerate(self.lines)
        ]
        found = score_videos(scorer, lines, progress=progress)
        scores = np.array([each.score for each in found] + [np.nan])
        values = np.array([scores[asked or [-1]].mean() for asked in self.of], dtype=np.float64)
        return values, [
            f"{line.path.name}: {each.error}" for line, each in zip(lines, found, strict=True) if each.error
        ]
