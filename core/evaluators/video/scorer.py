"""An evaluator made ready for videos: which frames it looks at, and what of the formula it gives."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import numpy as np

from core.corpora.videos import Sampling
from core.errors import InvalidInput
from core.evaluators.base import DualEncoder, Evaluator, Fingerprint
from core.evaluators.references import Referenced
from core.evaluators.video.base import COARSE, VideoEvaluator, VideoScore, coarse_name, coarse_score
from core.evaluators.video.idf import Idf, read_idf

FRAMES_AT_ONCE = 32
"""Frames that are decoded before they are encoded: a long video must not lie in memory whole."""

NO_FRAMES = (
    "{name} scores one image and embeds no frames; choose emscore, pac-s++-video or an evaluator with an image and a "
    "text tower"
)


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
        return self.evaluator.spec.name if whole else coarse_name(self.evaluator.spec.name)

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


def check_scores_videos(kind: type[Evaluator], *, idf: bool, references: bool = False) -> None:
    """Refuse an evaluator that scores no videos, or not with what is given, before it is loaded.

    Args:
        idf: whether there are document frequencies; references: likewise.

    Raises:
        InvalidInput: with what to choose or leave out.
    """
    if references and not kind.spec.takes_references:
        raise InvalidInput(
            f"{kind.spec.name} compares no captions of videos with references; choose refemscore or "
            "refpac-s++-video, or leave --references out"
        )
    if issubclass(kind, VideoEvaluator):
        return
    if not issubclass(kind, DualEncoder) or issubclass(kind, Referenced):
        raise InvalidInput(NO_FRAMES.format(name=kind.spec.name))
    if idf:
        raise InvalidInput(f"{kind.spec.name} matches no tokens, so that --idf changes nothing; leave it out")


def video_scorer(
    evaluator: Evaluator, *, sampling: Sampling | None = None, idf: Path | Idf | None = None
) -> VideoScorer:
    """Make an evaluator ready for videos.

    Args:
        evaluator: loaded; the caller holds its lease.
        sampling: None: every frame.
        idf: document frequencies, or their file; None: every token counts the same.

    Raises:
        InvalidInput: as :func:`check_scores_videos`.
    """
    check_scores_videos(type(evaluator), idf=idf is not None)
    chosen = sampling or Sampling()
    if isinstance(evaluator, VideoEvaluator):
        weighed = read_idf(idf) if isinstance(idf, Path) else idf
        return VideoScorer(evaluator.weighed(weighed), chosen, weighed.corpus if weighed else "")
    assert isinstance(evaluator, DualEncoder)
    return VideoScorer(evaluator, chosen)


def _images(evaluator: DualEncoder) -> Callable[[Sequence[np.ndarray]], np.ndarray]:
    return lambda frames: np.asarray(evaluator.encode_images(frames))
