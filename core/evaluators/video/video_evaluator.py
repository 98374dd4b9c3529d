"""What an evaluator of videos is, the coarse part that any dual encoder gives, and either made ready for videos.

One that is made ready knows which frames it looks at, and what of the formula it gives. Besides, the video evaluator on
one CLIP checkpoint with OpenAI's names, and document frequencies of its tokenizer.

Over items that are videos an image is a stack of frames, uint8 RGB [T, H, W, 3]. A video evaluator scores the frames
and the caption by the whole formula, one with two towers gives the coarse part, and is called so. A reader that never
sees the image is given a frame that it does not look at.
"""

import copy
import math
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from core.corpora.images import check_rgb, check_stack
from core.corpora.item_pictures import as_picture
from core.corpora.schema import Item, Mask
from core.corpora.video_frames import Sampling
from core.errors import InvalidInput
from core.evaluators.base import BLIND, Around, DualEncoder, Evaluator, Fingerprint, Sight, all_scored, check_lengths
from core.evaluators.references import NO_REFERENCE, Referenced, check_references
from core.evaluators.towers.clip import END, TOKENIZER, clip_towers, encode_tokens, token_ids
from core.evaluators.towers.encoder import OnTowers
from core.evaluators.towers.preprocessing import ClipPrompts
from core.evaluators.video.formula import (
    NO_FRAME,
    NONE,
    Idf,
    Match,
    Tokens,
    build_idf,
    read_idf,
    reference_match,
    video_match,
    whole,
)
from core.probes.base import Probe

if TYPE_CHECKING:
    from torch import Tensor

BLANK = "the caption is blank"
UNREAD = "the evaluator gave no finite embedding"
COARSE = "average frame"  # what a dual encoder's score of a video is called: it has no tokens to match with frames


def coarse_name(name: str) -> str:
    """Name of an evaluator whose score of a video is the coarse part alone.

    >>> coarse_name("clipscore")
    'clipscore (average frame)'
    """
    return f"{name} ({COARSE})"


@dataclass(frozen=True, slots=True)
class VideoScore:
    """One caption of one video."""

    score: float  # NaN where there is none
    video: Match | None = None  # its parts; None where there is none
    reference: Match | None = None  # the parts against references; None where none were compared with
    error: str = ""  # why there is no score, one sentence without its full stop; empty where there is one


class VideoEvaluator(Evaluator):
    """Scores videos by their frames and a caption by its tokens; an image is a video of one frame."""

    order_free: ClassVar[bool] = True  # whether no order of frames changes a score, as the formula has it
    idf: Idf | None = None  # document frequencies that weigh the tokens; None: every token counts the same

    def weighed(self, idf: Idf | None) -> Self:
        """The same evaluator with tokens weighed by these document frequencies; it shares what is loaded.
        Raises InvalidInput if they were counted with another tokenizer."""
        if idf is not None and idf.tokenizer != self.tokenizer:
            raise InvalidInput(
                f"{idf.corpus} was counted with {idf.tokenizer!r} and {self.spec.name} reads {self.tokenizer!r}; "
                "count it again: python -m core video idf"
            )
        made = copy.copy(self)
        made.idf = idf
        return made

    @property
    @abstractmethod
    def tokenizer(self) -> str:
        """Name of its tokenizer, as document frequencies state it."""

    @abstractmethod
    def encode_frames(self, frames: Sequence[np.ndarray]) -> np.ndarray:
        """Embed J frames, uint8 RGB of any sizes; float32 [J, d], unit length."""

    @abstractmethod
    def encode_tokens(self, captions: Sequence[str]) -> list[Tokens]:
        """Read captions as they are, with the weights of :attr:`idf`; blank ones must not be among them."""

    def read(self, texts: Iterable[str]) -> dict[str, Tokens]:
        """Read every text that is not blank, each once."""
        unique = [each for each in dict.fromkeys(texts) if each.strip()]
        return dict(zip(unique, self.encode_tokens(unique), strict=True)) if unique else {}

    def match(
        self, frames: np.ndarray, caption: str, references: Sequence[str] | None, read: Mapping[str, Tokens]
    ) -> VideoScore:
        """Score one caption of a video whose frames are encoded.
        ``references``: captions by people, for an evaluator that compares with some; blank ones are passed over.
        ``read``: of :meth:`read`, with these texts among them."""
        if not caption.strip():
            return VideoScore(math.nan, error=BLANK)
        if not len(frames):
            return VideoScore(math.nan, error=NO_FRAME)
        own = read[caption]
        if not (np.isfinite(frames).all() and np.isfinite(own.vectors).all()):
            return VideoScore(math.nan, error=UNREAD)
        video = video_match(frames, own)
        if video.error or not isinstance(self, Referenced):
            return VideoScore(video.score, video, error=video.error)
        people = [read[each] for each in references or () if each.strip()]
        if not people:
            return VideoScore(math.nan, video, error=NO_REFERENCE.format(name=self.spec.name))
        reference = reference_match(people, own)
        return VideoScore((video.score + reference.score) / 2, video, reference, reference.error)

    def score(
        self, images: Sequence[np.ndarray], captions: Sequence[str], references: Sequence[Sequence[str]] | None = None
    ) -> np.ndarray:
        """Score n pairs, each image as a video of one frame. Raises InvalidInput if an array is no RGB image, or
        references are needed and missing; PartlyScored if some pairs have no score."""
        check_lengths(images, captions)
        people: Sequence[Sequence[str]] = [()] * len(captions)
        if isinstance(self, Referenced):
            people = check_references(self.spec.name, references, len(captions))
        for image in images:
            check_rgb(image)
        if not images:
            return np.empty(0, dtype=np.float64)
        return self.matched(self.encode_frames(images)[:, None], captions, people)

    def matched(
        self, videos: Iterable[np.ndarray], captions: Sequence[str], references: Sequence[Sequence[str]]
    ) -> np.ndarray:
        """Score n captions of n encoded videos; float64 [n]. Raises PartlyScored where one has no score."""
        read = self.read([*captions, *(text for each in references for text in each)])
        told = zip(videos, captions, references, strict=True)
        found = [self.match(frames, caption, people, read) for frames, caption, people in told]
        return all_scored(np.array([each.score for each in found], dtype=np.float64), [each.error for each in found])


def coarse_score(evaluator: DualEncoder, frames: np.ndarray, caption: str) -> VideoScore:
    """The coarse part alone, of an evaluator that has no tokens: unit(mean of frames) · caption. It is a plain cosine
    in [-1, 1]: neither scaled nor clipped at 0 as the evaluator's own score of an image may be.
    ``frames``: of the evaluator's ``encode_images``, [J, d]."""
    if not caption.strip():
        return VideoScore(math.nan, error=BLANK)
    if not len(frames):
        return VideoScore(math.nan, error=NO_FRAME)
    (read,) = np.asarray(evaluator.encode_captions([caption]), dtype=np.float64)
    found = float(whole(frames) @ read)
    if not math.isfinite(found):
        return VideoScore(math.nan, error=UNREAD)
    return VideoScore(found, Match(found))


FRAMES_AT_ONCE = 32  # frames that are decoded before they are encoded: a long video must not lie in memory whole

NO_FRAMES = (
    "{name} scores one image and embeds no frames; choose emscore, pac-s++-video or an evaluator with an image and a "
    "text tower"
)


@dataclass(frozen=True, slots=True)
class VideoScorer:
    """An evaluator made ready for videos."""

    evaluator: DualEncoder | VideoEvaluator  # loaded, its tokens weighed
    sampling: Sampling  # which frames it looks at
    idf: str = ""  # name of the corpus of its document frequencies; empty where tokens are not weighed

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
        call: Callable[[Sequence[np.ndarray]], Any] = (
            self.evaluator.encode_frames if isinstance(self.evaluator, VideoEvaluator) else self.evaluator.encode_images
        )
        while part := list(islice(waiting, FRAMES_AT_ONCE)):
            found.append(np.asarray(call(part)))
        if not found:
            raise InvalidInput("a video needs at least one frame")
        return np.concatenate(found)

    def score(
        self, frames: np.ndarray, captions: Sequence[str], references: Sequence[Sequence[str]] | None = None
    ) -> list[VideoScore]:
        """Score n captions of one video whose frames are encoded. ``references``: n lists; None: none."""
        people = references or [()] * len(captions)
        if not isinstance(self.evaluator, VideoEvaluator):
            return [coarse_score(self.evaluator, frames, each) for each in captions]
        asked = (text for each in people for text in each) if self.takes_references else ()
        read = self.evaluator.read([*captions, *asked])
        return [self.evaluator.match(frames, each, told, read) for each, told in zip(captions, people, strict=True)]


def check_scores_videos(kind: type[Evaluator], *, idf: bool, references: bool = False) -> None:
    """Refuse an evaluator that scores no videos, or not with what is given, before it is loaded.
    ``idf``: whether there are document frequencies; ``references``: likewise.
    Raises InvalidInput with what to choose or leave out."""
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
    ``evaluator``: loaded; the caller holds its lease. ``sampling``: None: every frame.
    ``idf``: document frequencies, or their file; None: every token counts the same.
    Raises InvalidInput as :func:`check_scores_videos`."""
    check_scores_videos(type(evaluator), idf=idf is not None)
    chosen = sampling or Sampling()
    if isinstance(evaluator, VideoEvaluator):
        weighed = read_idf(idf) if isinstance(idf, Path) else idf
        return VideoScorer(evaluator.weighed(weighed), chosen, weighed.corpus if weighed else "")
    assert isinstance(evaluator, DualEncoder)
    return VideoScorer(evaluator, chosen)


class ClipVideo(OnTowers, VideoEvaluator):
    """EMScore's formula on one CLIP checkpoint; docs/video.md says what it is, docs/evaluators.md its departures."""

    any_precision = True

    @classmethod
    def load(cls, *, device: str = "cpu") -> Self:
        return cls(clip_towers(cls.places()[0], cls.entry, device))

    @property
    def tokenizer(self) -> str:
        return TOKENIZER

    @property
    def fingerprint(self) -> Fingerprint:
        own = super().fingerprint
        return replace(own, settings={**own.settings, "idf": NONE if self.idf is None else self.idf.sha256})

    def encode_frames(self, frames: Sequence[np.ndarray]) -> np.ndarray:
        return np.asarray(self._towers.encode_images(frames))

    def encode_tokens(self, captions: Sequence[str]) -> list[Tokens]:
        prompts = [self._prefix + each for each in captions]
        return [
            Tokens(vectors, np.ones(len(ids)) if self.idf is None else self.idf.weights(ids))
            for ids, vectors in encode_tokens(self._towers, prompts)
        ]

    def _note(self) -> str:
        return (
            f"An image is a video of one frame. {self.entry.backbone} sees the centre square of each frame and "
            f"reads {self._towers.prompts.limit} tokens at most."
        )


def clip_idf(captions: Sequence[str], *, corpus: str) -> Idf:
    """Document frequencies of captions under CLIP's tokenizer, which needs no weights.
    Raises InvalidInput if no sentence can be counted."""
    prompts = ClipPrompts()
    return build_idf(captions, lambda part: token_ids(prompts, part), corpus=corpus, tokenizer=TOKENIZER, end=END)


ORDER_FREE = "{name} knows no order of the frames: its score cannot move, by construction, and is not measured"
"""Why an evaluator is not asked for a probe that reorders frames."""


class OverFrames(Around):
    """An evaluator of images or videos that is given stacks of frames; :func:`over_frames` makes its class."""

    order_free: ClassVar[bool]  # whether no order of the frames changes a score, by construction

    @classmethod
    def load(cls, *, device: str = "cpu") -> Self:
        return cls(cls.base_kind.load(device=device))

    @property
    def full_batch(self) -> int:
        return min(8, self.base.full_batch)  # each is some frames

    @property
    def fingerprint(self) -> Fingerprint:
        own = self._scorer.fingerprint
        # which frames these are stands in the fingerprint of the corpus, item by item
        settings = {**own.settings, "frames": "those that the corpus samples"}
        return replace(own, name=self.spec.name, settings=settings)

    @property
    def _scorer(self) -> VideoScorer:
        assert isinstance(self.base, DualEncoder | VideoEvaluator)
        return VideoScorer(self.base, Sampling())  # not video_scorer, which would take the weights of tokens away

    def see(self, image: np.ndarray, caption: str, *, object_mask: Mask | None = None) -> Sight:
        check_stack(image)
        own = self.base.see(image[0], caption)
        told = f"{len(image)} frames enter" + ("; no order of them changes the score." if self.order_free else ".")
        return replace(own, views=(("frames", as_picture(image)),), crop=None, notes=(*own.notes, told))


class CoarsePart(OverFrames, DualEncoder):
    """The coarse part that an evaluator with two towers gives: unit(mean of frames) · caption."""

    def encode_images(self, images: Sequence[np.ndarray]) -> "Tensor":
        """Embed n stacks of frames; float64 [n, d], each the mean of its frames, brought to unit length."""
        import torch

        for image in images:
            check_stack(image)
        scorer = self._scorer
        return torch.from_numpy(np.stack([whole(scorer.encode(image)) for image in images]))

    def encode_captions(self, captions: Sequence[str]) -> "Tensor":
        assert isinstance(self.base, DualEncoder)
        return self.base.encode_captions(captions)

    def combine(self, image_embeddings: "Tensor", caption_embeddings: "Tensor") -> np.ndarray:
        """Cosines row by row, float64 [n] in [-1, 1]: neither scaled nor clipped."""
        cosines = (image_embeddings.double() * caption_embeddings.double()).sum(dim=-1)
        return np.asarray(cosines.numpy(), dtype=np.float64)


class WholeFormula(OverFrames):
    """A video evaluator over stacks of frames; a stack is embedded once for captions that come one after the other."""

    def __init__(self, base: Evaluator) -> None:
        super().__init__(base)
        self._last: tuple[np.ndarray, np.ndarray] | None = None

    def score(
        self, images: Sequence[np.ndarray], captions: Sequence[str], references: Sequence[Sequence[str]] | None = None
    ) -> np.ndarray:
        """Score n videos with n captions, and references where it compares with some. Raises InvalidInput if an array
        is no stack of frames, or references are needed and missing; PartlyScored if some pairs have no score."""
        check_lengths(images, captions)
        people: Sequence[Sequence[str]] = [()] * len(captions)
        if isinstance(self.base, Referenced):
            people = check_references(self.spec.name, references, len(captions))
        assert isinstance(self.base, VideoEvaluator)
        return self.base.matched(map(self._frames, images), captions, people)

    def _frames(self, image: np.ndarray) -> np.ndarray:
        if self._last is None or self._last[0] is not image:  # pairs of one image come one after the other
            check_stack(image)
            self._last = image, self._scorer.encode(image)
        return self._last[1]


class WholeFormulaWithReferences(WholeFormula, Referenced):
    """The same of an evaluator that compares with references."""


class Unseen(OverFrames):
    """A reader that never sees the image, beside videos: it is given the first frame."""

    @property
    def fingerprint(self) -> Fingerprint:
        return self.base.fingerprint

    def score(self, images: Sequence[np.ndarray], captions: Sequence[str]) -> np.ndarray:
        """Score n captions; float64 [n]. The frames are checked and not read."""
        for image in images:
            check_stack(image)
        return self.base.score([image[0] for image in images], captions)


@cache
def over_frames(kind: type[Evaluator]) -> type[OverFrames]:
    """The class of an evaluator that is given stacks of frames. Raises InvalidInput if it can score no video."""
    spec, made = kind.spec, _way(kind)
    if made is None:
        raise InvalidInput(NO_FRAMES.format(name=spec.name))
    if made is CoarsePart:
        spec = replace(spec, name=coarse_name(spec.name), title=coarse_name(spec.title), score_range=(-1.0, 1.0))
    order_free = not issubclass(kind, VideoEvaluator) or kind.order_free
    told = {"spec": spec, "base_kind": kind, "order_free": order_free, "one_process": kind.one_process}
    told["__doc__"] = made.__doc__
    return type(f"{kind.__name__}OverFrames", (made,), told)


def scores_videos(kind: type[Evaluator]) -> bool:
    """Whether evaluators of a class can score items that are videos."""
    return _way(kind) is not None


def _way(kind: type[Evaluator]) -> type[OverFrames] | None:
    if kind.spec.family == BLIND:
        return Unseen
    if issubclass(kind, VideoEvaluator):
        return WholeFormulaWithReferences if issubclass(kind, Referenced) else WholeFormula
    if issubclass(kind, DualEncoder) and not issubclass(kind, Referenced):
        return CoarsePart
    return None


def for_items(kind: type[Evaluator], *, videos: bool, corpus: str) -> type[Evaluator]:
    """The class of an evaluator for the items of a corpus.
    ``videos``: whether the items are videos. Raises InvalidInput if it cannot score such items."""
    if videos:
        return over_frames(kind)
    if issubclass(kind, VideoEvaluator):
        raise InvalidInput(
            f"{kind.spec.name} scores videos, and the items of corpus {corpus!r} are pictures; choose an evaluator of "
            "images, such as clipscore or pac-s++, or a corpus of videos"
        )
    return kind


def made_for(evaluator: Evaluator, kind: type[Evaluator], *, idf: Idf | None = None) -> Evaluator:
    """A loaded evaluator as :func:`for_items` gave its class.
    ``idf``: document frequencies that weigh the tokens of a video evaluator; None: every token counts the same.
    Raises InvalidInput if they were counted with another tokenizer."""
    if not issubclass(kind, OverFrames):
        return evaluator
    if idf is not None and isinstance(evaluator, VideoEvaluator):
        return kind(evaluator.weighed(idf))
    return kind(evaluator)


def for_item(evaluator: Evaluator, item: Item) -> Evaluator:
    """A loaded evaluator as it scores an item. Raises InvalidInput if the item is a video and it can score none."""
    return over_frames(type(evaluator))(evaluator) if item.frames else evaluator


def asks(kind: type[Evaluator], probe: Probe | None) -> bool:
    """Whether an evaluator is asked for a probe: one that knows no order of frames is not for what reorders them."""
    free = issubclass(kind, OverFrames) and kind.order_free
    return not (free and probe is not None and probe.reorders)
