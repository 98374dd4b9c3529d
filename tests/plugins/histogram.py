"""A small, exact evaluator for the tests: colour histograms against hashed letter pairs.

Only what encodes imports torch: many tests have a process import this file to describe it.
"""

import zlib
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Self

import numpy as np

from core.corpora.images import pixel_hash
from core.evaluators.base import DualEncoder, Evaluator, Fingerprint, evaluator

if TYPE_CHECKING:
    from torch import Tensor

BINS = 64
POISON = "poison"
"""A caption with this word makes the evaluator raise, like one that a tokenizer chokes on."""


def image_vector(pixels: np.ndarray) -> np.ndarray:
    codes = (pixels // 64).astype(np.int64) @ np.array([16, 4, 1])
    counts = np.bincount(codes.ravel(), minlength=BINS) + pixels.mean(axis=(0, 2))[:1]
    return (counts / np.linalg.norm(counts)).astype(np.float32)


def caption_vector(caption: str) -> np.ndarray:
    if POISON in caption:
        raise ValueError(f"cannot read {caption!r}")
    counts = np.ones(BINS)
    for pair in pairwise(caption):
        counts[zlib.crc32("".join(pair).encode()) % BINS] += 1
    return (counts / np.linalg.norm(counts)).astype(np.float32)


def _tensor(vectors: list[np.ndarray]) -> "Tensor":
    import torch

    return torch.from_numpy(np.stack(vectors))


SPEC = {
    "summary": "Colours against letters.",
    "family": "test",
    "score_range": (0.0, 1.0),
    "memory_mb": 10,
    "offline": True,
    "source": "none",
    "licence": "Apache-2.0",
}


@evaluator(name="histogram", title="Histogram", **SPEC)
class Histogram(DualEncoder):
    loads = 0

    def __init__(self) -> None:
        self.image_calls: list[int] = []
        self.caption_calls: list[int] = []

    @classmethod
    def load(cls, *, device: str = "cpu") -> Self:
        cls.loads += 1
        return cls()

    @property
    def fingerprint(self) -> Fingerprint:
        return Fingerprint("histogram", "none", "4 levels a channel", "float32")

    def encode_images(self, images: Sequence[np.ndarray]) -> "Tensor":
        self.image_calls.append(len(images))
        return _tensor([image_vector(image) for image in images])

    def encode_captions(self, captions: Sequence[str]) -> "Tensor":
        self.caption_calls.append(len(captions))
        return _tensor([caption_vector(caption) for caption in captions])

    def combine(self, image_embeddings: "Tensor", caption_embeddings: "Tensor") -> np.ndarray:
        return (image_embeddings.double() * caption_embeddings.double()).sum(dim=1).numpy()

    def count_tokens(self, caption: str) -> int:
        return len(caption.split())

    def truncates(self, caption: str) -> bool:
        return len(caption.split()) > 77


@evaluator(name="paired-histogram", title="Histogram, pair by pair", **SPEC)
class PairedHistogram(Evaluator):
    def __init__(self) -> None:
        self.calls: list[int] = []

    @classmethod
    def load(cls, *, device: str = "cpu") -> Self:
        return cls()

    @property
    def fingerprint(self) -> Fingerprint:
        return Fingerprint("paired-histogram", "none", "4 levels a channel", "float32")

    def score(self, images: Sequence[np.ndarray], captions: Sequence[str]) -> np.ndarray:
        self.calls.append(len(images))
        pairs = zip(images, captions, strict=True)
        return np.array([float(image_vector(image) @ caption_vector(caption)) for image, caption in pairs])


@evaluator(name="english-histogram", title="Histogram that reads English", languages=("en",), **SPEC)
class EnglishHistogram(Histogram):
    """Says which languages it reads."""

    @property
    def fingerprint(self) -> Fingerprint:
        return Fingerprint("english-histogram", "none", "4 levels a channel", "float32")


@evaluator(name="short-memory", title="Histogram that remembers one image", **SPEC)
class ShortMemory(PairedHistogram):
    """Reads pairs, and encodes an image anew unless it is the one of the pair before."""

    def __init__(self) -> None:
        super().__init__()
        self.encoded: list[str] = []
        self._last = np.zeros(BINS, np.float32)

    @property
    def fingerprint(self) -> Fingerprint:
        return Fingerprint("short-memory", "none", "4 levels a channel", "float32")

    def score(self, images: Sequence[np.ndarray], captions: Sequence[str]) -> np.ndarray:
        return np.array([self._one(image, caption) for image, caption in zip(images, captions, strict=True)])

    def _one(self, image: np.ndarray, caption: str) -> float:
        key = pixel_hash(image)
        if self.encoded[-1:] != [key]:
            self.encoded.append(key)
            self._last = image_vector(image)
        return float(self._last @ caption_vector(caption))
