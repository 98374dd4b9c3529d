"""Evaluators over items that are videos: an image is then a stack of frames, uint8 RGB [T, H, W, 3].

A video evaluator scores the frames and the caption by the whole formula. One with two towers gives the coarse part,
and is called so. A reader that never sees the image is given a frame that it does not look at.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from core.corpora.images import check_stack
from core.corpora.item_pictures import as_picture
from core.corpora.schema import Item, Mask
from core.corpora.video_frames import Sampling
from core.errors import InvalidInput
from core.evaluators.base import (
    BLIND,
    Around,
    Availability,
    DualEncoder,
    Evaluator,
    Fingerprint,
    Sight,
    all_scored,
    check_lengths,
)
from core.evaluators.references import Referenced, check_references
from core.evaluators.video.formula import Idf, whole
from core.evaluators.video.video_evaluator import NO_FRAMES, VideoEvaluator, VideoScorer, coarse_name
from core.probes.base import Probe

if TYPE_CHECKING:
    from torch import Tensor

FULL_BATCH = 8  # videos worth giving an evaluator in one call: each is some frames
FRAMES_OF_ITEM = "those that the corpus samples"
"""What the fingerprint says of the frames: which ones stands in the fingerprint of the corpus, item by item."""

ONLY_VIDEOS = (
    "{name} scores videos, and the items of corpus {corpus!r} are pictures; choose an evaluator of images, such as "
    "clipscore or pac-s++, or a corpus of videos"
)

ORDER_FREE = "{name} knows no order of the frames: its score cannot move, by construction, and is not measured"
"""Why an evaluator is not asked for a probe that reorders frames."""


class OverFrames(Around):
    """An evaluator of images or videos that is given stacks of frames; :func:`over_frames` makes its class."""

    order_free: ClassVar[bool]  # whether no order of the frames changes a score, by construction

    @classmethod
    def availability(cls) -> Availability:
        return cls.base_kind.availability()

    @classmethod
    def load(cls, *, device: str = "cpu") -> Self:
        return cls(cls.base_kind.load(device=device))

    @property
    def full_batch(self) -> int:
        return min(FULL_BATCH, self.base.full_batch)

    @property
    def fingerprint(self) -> Fingerprint:
        own = self._scorer.fingerprint
        return replace(own, name=self.spec.name, settings={**own.settings, "frames": FRAMES_OF_ITEM})

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

    def score(self, images: Sequence[np.ndarray], captions: Sequence[str]) -> np.ndarray:
        return DualEncoder.score(self, images, captions)


class WholeFormula(OverFrames):
    """A video evaluator over stacks of frames; a stack is embedded once for captions that come one after the other."""

    def __init__(self, base: Evaluator) -> None:
        super().__init__(base)
        self._last: tuple[np.ndarray, np.ndarray] | None = None

    def score(
        self, images: Sequence[np.ndarray], captions: Sequence[str], references: Sequence[Sequence[str]] | None = None
    ) -> np.ndarray:
        """Score n videos with n captions, against references where the evaluator compares with some.
        Raises InvalidInput if an array is no stack of frames, or references are needed and missing; PartlyScored if
        some pairs have no score."""
        check_lengths(images, captions)
        people: Sequence[Sequence[str]] = [()] * len(captions)
        if isinstance(self.base, Referenced):
            people = check_references(self.spec.name, references, len(captions))
        assert isinstance(self.base, VideoEvaluator)
        read = self.base.read([*captions, *(text for each in people for text in each)])
        found = [
            self.base.match(self._frames(image), caption, told, read)
            for image, caption, told in zip(images, captions, people, strict=True)
        ]
        return all_scored(np.array([each.score for each in found], dtype=np.float64), [each.error for each in found])

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
        raise InvalidInput(ONLY_VIDEOS.format(name=kind.spec.name, corpus=corpus))
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
