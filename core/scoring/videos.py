"""Captions of videos scored at once: each video decoded and encoded once, however many captions it has."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import numpy as np

from core.corpora.videos import Footage, Sampling, open_video, read_frames
from core.errors import BadImage, InvalidInput, InvariscopeError
from core.evaluators.base import DualEncoder, Evaluator, Fingerprint
from core.evaluators.references import Referenced
from core.evaluators.video.base import COARSE, VideoEvaluator, VideoScore, coarse_score
from core.evaluators.video.idf import Idf, read_idf

FRAMES_AT_ONCE = 32
"""Frames that are decoded before they are encoded: a long video must not lie in memory whole."""


@dataclass(frozen=True, slots=True)
class VideoLine:
    """One caption of one video.

    Args:
        references: captions by people; empty where there are none.
        part: of the video, as shares of its frames: first included, last not.
    """

    id: str
    caption: str
    path: Path
    references: tuple[str, ...] = ()
    part: tuple[float, float] = (0.0, 1.0)


@dataclass(frozen=True, slots=True)
class VideoScorer:
    """An evaluator made ready for videos.

    Args:
        evaluator: loaded, its tokens weighed.
        sampling: which frames it looks at.
        idf: name of the corpus of its document frequencies; empty where tokens are not weighed.
    """

    evaluator: DualEncoder | VideoEvaluator
    sampling: Sampling
    idf: str = ""

    @property
    def name(self) -> str:
        """Name of the evaluator; where only the coarse part can be had, that is said."""
        whole = isinstance(self.evaluator, VideoEvaluator)
        return self.evaluator.spec.name if whole else f"{self.evaluator.spec.name}, {COARSE}"

    @property
    def fingerprint(self) -> Fingerprint:
        """What its scores depend on: the evaluator's, with the sampling of frames and the part that is given."""
        own = self.evaluator.fingerprint
        part = "score" if isinstance(self.evaluator, VideoEvaluator) else COARSE
        return replace(own, settings={**own.settings, "frames": self.sampling.told, "part": part})

    @property
    def told(self) -> str:
        """The fingerprint's key, and in words what of it a reader chose."""
        weighed = f"; idf of {self.idf}" if self.idf else ""
        return f"fingerprint {self.fingerprint.key}; {self.sampling.told}{weighed}"

    @property
    def takes_references(self) -> bool:
        """Whether it compares with references."""
        return isinstance(self.evaluator, VideoEvaluator) and isinstance(self.evaluator, Referenced)

    def encode(self, frames: Iterable[np.ndarray]) -> np.ndarray:
        """Embed frames as they come, float [J, d], unit length."""
        waiting, found = iter(frames), list[np.ndarray]()
        call = self.evaluator.encode_frames if isinstance(self.evaluator, VideoEvaluator) else _images(self.evaluator)
        while part := list(islice(waiting, FRAMES_AT_ONCE)):
            found.append(np.asarray(call(part)))
        if not found:
            raise InvalidInput("a video needs at least one frame")
        return np.concatenate(found)

    def score(
        self, frames: np.ndarray, captions: Sequence[str], references: Sequence[Sequence[str]] | None = None
    ) -> list[VideoScore]:
        """Score captions of one video whose frames are encoded.

        Args:
            frames: of :meth:`encode`.
            captions: n of them.
            references: n lists; None: none.
        """
        people = references or [()] * len(captions)
        if not isinstance(self.evaluator, VideoEvaluator):
            return [coarse_score(self.evaluator, frames, each) for each in captions]
        asked = (text for each in people for text in each) if self.takes_references else ()
        read = self.evaluator.read([*captions, *asked])
        return [self.evaluator.match(frames, each, told, read) for each, told in zip(captions, people, strict=True)]


def video_scorer(
    evaluator: Evaluator, *, sampling: Sampling | None = None, idf: Path | Idf | None = None
) -> VideoScorer:
    """Make an evaluator ready for videos.

    Args:
        evaluator: loaded; the caller holds its lease.
        sampling: None: every frame.
        idf: document frequencies, or their file; None: every token counts the same.

    Raises:
        InvalidInput: if it can score no video, or takes no document frequencies.
    """
    chosen = sampling or Sampling()
    if isinstance(evaluator, VideoEvaluator):
        weighed = read_idf(idf) if isinstance(idf, Path) else idf
        return VideoScorer(evaluator.weighed(weighed), chosen, weighed.corpus if weighed else "")
    if not isinstance(evaluator, DualEncoder) or isinstance(evaluator, Referenced):
        raise InvalidInput(
            f"{evaluator.spec.name} scores one image and embeds no frames; choose emscore, pac-s++-video or an "
            "evaluator with an image and a text tower"
        )
    if idf is not None:
        raise InvalidInput(f"{evaluator.spec.name} matches no tokens, so that --idf changes nothing; leave it out")
    return VideoScorer(evaluator, chosen)


def score_videos(
    scorer: VideoScorer, lines: Sequence[VideoLine], *, progress: Callable[[int, int], None] | None = None
) -> list[VideoScore]:
    """Score every line; an unreadable video or an unscorable caption costs that line alone.

    Args:
        scorer: of :func:`video_scorer`.
        lines: in any order; the result has the same one.
        progress: called with (lines done, lines in all) after every video.
    """
    places: dict[Path, dict[tuple[float, float], list[int]]] = {}
    for place, line in enumerate(lines):
        places.setdefault(line.path, {}).setdefault(line.part, []).append(place)
    found = [VideoScore(math.nan)] * len(lines)
    done = 0
    for path, parts in places.items():
        for held, scores in _of_video(scorer, path, parts, lines):
            for place, score in zip(held, scores, strict=True):
                found[place] = score
            done += len(held)
            if progress is not None:
                progress(done, len(lines))
    return found


def _of_video(
    scorer: VideoScorer, path: Path, parts: dict[tuple[float, float], list[int]], lines: Sequence[VideoLine]
) -> Iterator[tuple[list[int], list[VideoScore]]]:
    """Places of the lines of each part, and their scores."""
    try:
        footage = open_video(path)
    except (BadImage, OSError) as error:
        for held in parts.values():
            yield held, [VideoScore(math.nan, error=str(error))] * len(held)
        return
    for part, held in parts.items():
        try:
            frames = scorer.encode(sampled(footage, scorer.sampling, part))
            captions, people = ([getattr(lines[each], name) for each in held] for name in ("caption", "references"))
            yield held, scorer.score(frames, captions, people)
        except InvariscopeError as error:
            yield held, [VideoScore(math.nan, error=str(error))] * len(held)


def sampled(footage: Footage, sampling: Sampling, part: tuple[float, float] = (0.0, 1.0)) -> Iterator[np.ndarray]:
    """The frames of a part of a video that are looked at, decoded one after the other."""
    first, end = footage.part(*part)
    return read_frames(footage, [first + each for each in sampling.places(end - first)])


def _images(evaluator: DualEncoder) -> Callable[[Sequence[np.ndarray]], np.ndarray]:
    return lambda frames: np.asarray(evaluator.encode_images(frames))
