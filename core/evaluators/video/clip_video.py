"""A video evaluator on one CLIP checkpoint with OpenAI's names, and document frequencies of its tokenizer."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from core.corpora.schema import Box, Mask
from core.evaluators.base import Fingerprint, Sight
from core.evaluators.towers.clip import END, TOKENIZER, clip_towers, encode_tokens, token_ids, words_of
from core.evaluators.towers.encoder import Towers
from core.evaluators.towers.prompts import ClipPrompts
from core.evaluators.video.formula import Tokens
from core.evaluators.video.idf import NONE, Idf, build_idf
from core.evaluators.video.video_evaluator import VideoEvaluator
from core.evaluators.weights.device import Runner
from core.evaluators.weights.fetched import Published


class ClipVideo(Published, VideoEvaluator):
    """EMScore's formula on one CLIP checkpoint; docs/video.md says what it is, docs/evaluators.md its departures."""

    any_precision = True

    def __init__(self, towers: Towers) -> None:
        self._towers = towers
        assert isinstance(towers.prompts, ClipPrompts)
        self._prompts = towers.prompts
        self._prefix = str(self.entry.settings.get("prefix", ""))

    @classmethod
    def load(cls, *, device: str = "cpu") -> Self:
        """Load both towers, or share those that another evaluator holds.

        Raises:
            NotAvailable: if a file is missing, damaged, or of another architecture.
        """
        return cls(clip_towers(cls.places()[0], cls.entry, device))

    def runners(self) -> Sequence[Runner]:
        """Image tower and text tower: one network."""
        return self._towers.image, self._towers.text

    @property
    def tokenizer(self) -> str:
        """CLIP's."""
        return TOKENIZER

    @property
    def fingerprint(self) -> Fingerprint:
        """What the scores depend on; what reads videos adds which frames it takes."""
        towers = self._towers
        settings: dict[str, Any] = {**self.entry.settings, **towers.reading, **towers.facts}
        return Fingerprint(
            name=self.spec.name,
            weights=towers.digest,
            preprocessing=str(towers.preprocessing),
            precision=towers.precision,
            versions=towers.versions,
            settings={**settings, "idf": NONE if self.idf is None else self.idf.sha256},
        )

    def encode_frames(self, frames: Sequence[np.ndarray]) -> np.ndarray:
        """Embed frames; float32 [J, d], unit length."""
        return np.asarray(self._towers.encode_images(frames))

    def encode_tokens(self, captions: Sequence[str]) -> list[Tokens]:
        """Read captions, each token weighed."""
        prompts = [self._prefix + each for each in captions]
        return [
            Tokens(
                words_of(self._prompts, ids), vectors, np.ones(len(ids)) if self.idf is None else self.idf.weights(ids)
            )
            for ids, vectors in encode_tokens(self._towers, prompts)
        ]

    def crop(self, width: int, height: int) -> Box:
        """The part of a frame that the preprocessing keeps."""
        return self._towers.preprocessing.crop(width, height)

    def count_tokens(self, caption: str) -> int:
        """Number of tokens, markers included, before truncation."""
        return self._prompts.read(self._prefix + caption).tokens

    def truncates(self, caption: str) -> bool:
        """Whether the caption has more tokens than the text tower reads."""
        return bool(self._prompts.read(self._prefix + caption).truncated)

    def see(self, image: np.ndarray, caption: str, *, object_mask: Mask | None = None) -> Sight:
        """Show the square that enters the network, the prompt, and what was cut off of it."""
        preprocessing, reading = self._towers.preprocessing, self._prompts.read(self._prefix + caption)
        side = preprocessing.side
        return Sight(
            views=((f"{side} × {side} px into the network", preprocessing.view(image)),),
            crop=self.crop(image.shape[1], image.shape[0]),
            prompt=self._prefix + caption,
            truncated=reading.truncated,
            tokens=reading.tokens,
            object_inside=self.object_inside(object_mask),
            notes=(
                f"An image is a video of one frame. {self.entry.backbone} sees the centre square of each frame and "
                f"reads {self._prompts.limit} tokens at most.",
            ),
        )


def clip_idf(captions: Sequence[str], *, corpus: str) -> Idf:
    """Document frequencies of captions under CLIP's tokenizer, which needs no weights.

    Raises:
        InvalidInput: if no sentence can be counted.
    """
    prompts = ClipPrompts()
    return build_idf(captions, lambda part: token_ids(prompts, part), corpus=corpus, tokenizer=TOKENIZER, end=END)
