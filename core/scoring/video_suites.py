"""An evaluator over a suite of videos: every caption beside its video, paragraphs sentence by sentence."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from core.corpora.suites import ENGLISH, Suite
from core.corpora.videos import WHOLE, Sampling
from core.errors import InvalidInput
from core.evaluators.video.scorer import VideoScorer
from core.scoring.suites import SuiteScores, check_folders, check_referenced, places_of
from core.scoring.videos import VideoLine, score_videos

_USUAL_FRAMES = {"VATEX-EVAL": 10}
"""Suite -> frames of a video that its publishers look at; elsewhere all of them."""


def usual_sampling(suite: Suite) -> Sampling:
    """The frames that the publishers of a suite look at."""
    return Sampling(_USUAL_FRAMES.get(suite.name))


def score_video_suite(
    scorer: VideoScorer,
    suite: Suite,
    folders: Sequence[Path],
    *,
    progress: Callable[[int, int], None] | None = None,
) -> SuiteScores:
    """Score every caption of a suite of videos.

    Args:
        scorer: of :func:`core.evaluators.video.scorer.video_scorer`.
        suite: whose images are videos.
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
