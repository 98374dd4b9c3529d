"""A published CLIP-like evaluator: a description, its weights, two towers and a cosine, whose scale its name tells."""

import os
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from core.corpora.schema import Box, Mask
from core.evaluators.base import DualEncoder, Fingerprint, Sight
from core.evaluators.offline.packaged_weights import library_versions
from core.evaluators.references import Referenced
from core.evaluators.registry import CHECKPOINT, catalogue
from core.evaluators.towers.causal import CausalText, lengths
from core.evaluators.towers.preprocessing import Preprocessing, Prompts
from core.evaluators.weights.catalogue import NO_PREFIX, PRECISIONS
from core.evaluators.weights.device import Runner
from core.evaluators.weights.fetched import Place, Published

if TYPE_CHECKING:
    from torch import Tensor

CARD_THREADS = 16
"""Most threads that prepare pictures for a card."""


class Towers:
    """An image tower and a text tower, loaded.

    Args:
        facts: what else the embeddings depend on, for the fingerprint.
        libraries: distributions whose versions the fingerprint records.
        scale: what a cosine is multiplied with, where the weights say it.
        causal: how texts are cut to their length; None: the text tower needs all its columns.
    """

    def __init__(
        self,
        *,
        image: Runner,
        text: Runner,
        preprocessing: Preprocessing,
        prompts: Prompts,
        precision: str,
        digest: str,
        libraries: Sequence[str] = ("torch", "open_clip_torch", "pillow"),
        facts: Mapping[str, Any] | None = None,
        scale: float | None = None,
        causal: CausalText | None = None,
    ) -> None:
        self.image, self.text = image, text
        self.preprocessing, self.prompts = preprocessing, prompts
        self.precision, self.digest = precision, digest
        self.versions = library_versions(*libraries)
        self.facts = dict(facts or {})
        self.scale = scale
        self.causal = causal

    @property
    def reading(self) -> Mapping[str, Any]:
        """How texts are read, for the fingerprint."""
        limit = self.prompts.limit
        if self.causal is None:
            return {"max_tokens": limit}
        return {"max_tokens": limit, "text_columns": f"the fewest of {list(lengths(limit))} that hold the text"}

    def encode_images(self, images: Sequence[np.ndarray]) -> "Tensor":
        """Embed n uint8 RGB images; float32 [n, d] on the CPU, unit length."""

        def call(part: Sequence[np.ndarray], device: str) -> "Tensor":
            threads = 1 if device.startswith("cpu") else min(CARD_THREADS, os.cpu_count() or 1)
            return self.embed_pixels(self.preprocessing.tensor(part, device=device, threads=threads))

        return self.image.rows(images, call)

    def encode_texts(self, texts: Sequence[str]) -> "Tensor":
        """Embed n texts; float32 [n, d] on the CPU, unit length."""
        if self.causal is not None:
            return self.causal.rows(self.text, self.prompts.tokens(texts))
        return self.text.rows(texts, self.embed_texts)

    def embed_pixels(self, pixels: "Tensor") -> "Tensor":
        """Raw embeddings of float32 [n, 3, side, side] on the network's device."""
        import torch

        found: Tensor = self.image.network.encode_image(pixels.to(getattr(torch, self.precision)))
        return found

    def embed_texts(self, texts: Sequence[str], device: str) -> "Tensor":
        """Raw embeddings of n texts, for a tower that needs all its columns."""
        import torch

        found: Tensor = self.text.network.encode_text(self.prompts.tokens(texts).to(device=device, dtype=torch.long))
        return found


class OnTowers(Published):
    """A published evaluator on an image tower and a text tower, which reads a prefix before each caption."""

    def __init__(self, towers: Towers) -> None:
        self._towers = towers
        self._prefix = str(self.entry.settings.get("prefix", ""))

    def runners(self) -> Sequence[Runner]:
        """Image tower and text tower; often one network."""
        return self._towers.image, self._towers.text

    @property
    def fingerprint(self) -> Fingerprint:
        """What the scores depend on."""
        towers = self._towers
        return Fingerprint(
            name=self.spec.name,
            weights=towers.digest,
            preprocessing=str(towers.preprocessing),
            precision=towers.precision,
            versions=towers.versions,
            settings={**self.entry.settings, **towers.reading, **towers.facts},
        )

    def crop(self, width: int, height: int) -> Box:
        """The part of the image, or of a frame, that the preprocessing keeps."""
        return self._towers.preprocessing.crop(width, height)

    def count_tokens(self, caption: str) -> int:
        """Number of tokens of prefix and caption, markers included, before truncation."""
        return self._towers.prompts.read(self._prefix + caption).tokens

    def truncates(self, caption: str) -> bool:
        """Whether prefix and caption have more tokens than the text tower reads."""
        return bool(self._towers.prompts.read(self._prefix + caption).truncated)

    def see(self, image: np.ndarray, caption: str, *, object_mask: Mask | None = None) -> Sight:
        """Show the square that enters the network, the prompt, and what was cut off of it."""
        preprocessing = self._towers.preprocessing
        reading = self._towers.prompts.read(self._prefix + caption)
        side = preprocessing.side
        return Sight(
            views=((f"{side} × {side} px into the network", preprocessing.view(image)),),
            crop=self.crop(image.shape[1], image.shape[0]),
            prompt=self._prefix + caption,
            truncated=reading.truncated,
            tokens=reading.tokens,
            object_inside=self.object_inside(object_mask),
            notes=(self._note(),),
        )

    def _note(self) -> str:
        squashed = self._towers.preprocessing.mode == "squash"
        how = "the whole picture squeezed into a square" if squashed else "the centre square"
        return f"{self.entry.backbone} sees {how} and reads {self._towers.prompts.limit} tokens at most."


class PublishedEncoder(OnTowers, DualEncoder):
    """Score = scale · max(cos(image, prefix + caption), 0), with the constants of its description.

    A subclass says how its weights become :class:`Towers`.
    """

    @classmethod
    @abstractmethod
    def open(cls, found: Sequence[Place], device: str) -> Towers:
        """Load the towers from places where nothing is missing."""

    @classmethod
    def load(cls, *, device: str = "cpu") -> Self:
        """Load the towers. Raises NotAvailable if a file is missing, damaged, or of another architecture."""
        return cls(cls.open(cls.places(), device))

    @classmethod
    def scale(cls) -> float | None:
        """What max(cos, 0) is multiplied with, w of the papers; None where the score is of another form."""
        plain = cls.combine is PublishedEncoder.combine and not issubclass(cls, Referenced)
        return cls.entry.number("scale", 1.0) if plain else None

    def encode_images(self, images: Sequence[np.ndarray]) -> "Tensor":
        """Embed n uint8 RGB images; float32 [n, d], L2-normalised."""
        return self._towers.encode_images(images)

    def encode_captions(self, captions: Sequence[str]) -> "Tensor":
        """Embed m captions behind the prefix; float32 [m, d], L2-normalised, NaN where a caption is blank."""
        import torch

        written = [index for index, caption in enumerate(captions) if caption.strip()]
        prompts = [self._prefix + captions[index] for index in written]
        rows = self._towers.encode_texts(prompts or ["a"])  # where all are blank, only the width is wanted
        embeddings = torch.full((len(captions), rows.shape[1]), float("nan"))
        if written:
            embeddings[written] = rows
        return embeddings

    def combine(self, image_embeddings: "Tensor", caption_embeddings: "Tensor") -> np.ndarray:
        """Return scale · max(cos, 0) row by row, float64 [n]; NaN where a caption is blank."""
        cosines = (image_embeddings.double() * caption_embeddings.double()).sum(dim=-1).numpy()
        scores: np.ndarray = self.entry.number("scale", 1.0) * np.clip(cosines, 0.0, 1.0)
        return scores


def scale_of(name: str) -> float | None:
    """Return w where the evaluator's score is w · max(cos, 0), whatever its precision, prefix or checkpoint.
    ``name``: of an evaluator; it may come from a file, so it is looked up and never opened.
    Returns None where no evaluator of that name is known, or its score is of another form.

    >>> scale_of("clipscore"), scale_of("clipscore:bf16"), scale_of("refclipscore")
    (2.5, 2.5, None)
    """
    base, *ways = name.partition(CHECKPOINT)[0].split(":")
    kind = catalogue().entries.get(base) if all(way in (*PRECISIONS, NO_PREFIX) for way in ways) else None
    return kind.scale() if kind is not None and issubclass(kind, PublishedEncoder) else None
