"""Two small but genuine evaluators, found by path: what they score can be worked out by hand."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

import numpy as np

from core.evaluators.base import DualEncoder, Evaluator, Fingerprint, evaluator
from tests.plugins import gate

if TYPE_CHECKING:
    from torch import Tensor

WORDS = {"red": (1.0, 0.0, 0.0), "green": (0.0, 1.0, 0.0), "blue": (0.0, 0.0, 1.0)}


@evaluator(
    name="colour-words",
    title="Colour words",
    summary="Cosine between the mean colour of the image and the colours that the caption names, times 2.5.",
    family="test",
    score_range=(0.0, 2.5),
    memory_mb=1,
    offline=True,
    source="tests/commands/colour_words.py",
    licence="Apache-2.0",
)
class ColourWords(DualEncoder):
    """A caption without a colour word cannot be scored."""

    @classmethod
    def load(cls, *, device: str = "cpu") -> Self:
        """Nothing to load."""
        return cls()

    @property
    def fingerprint(self) -> Fingerprint:
        """No weights."""
        return Fingerprint("colour-words", "none", "mean of all pixels", "float32")

    def encode_images(self, images: Sequence[np.ndarray]) -> "Tensor":
        """Mean colour, unit length."""
        means = np.array([image.reshape(-1, 3).mean(axis=0) for image in images])
        import torch

        return torch.from_numpy(means / np.linalg.norm(means, axis=1, keepdims=True)).float()

    def encode_captions(self, captions: Sequence[str]) -> "Tensor":
        """Sum of the named colours, unit length; NaN where none is named."""
        sums = np.array(
            [
                np.sum([WORDS[word] for word in caption.split() if word in WORDS] or [(0.0,) * 3], axis=0)
                for caption in captions
            ]
        )
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        unit = np.divide(sums, lengths, out=np.full(sums.shape, np.nan), where=lengths > 0)
        import torch

        return torch.from_numpy(unit).float()

    def combine(self, image_embeddings: "Tensor", caption_embeddings: "Tensor") -> np.ndarray:
        """2.5 · cosine."""
        return 2.5 * (image_embeddings.double() * caption_embeddings.double()).sum(dim=1).clamp(min=0).numpy()


@evaluator(
    name="word-count",
    title="Word count",
    summary="Words of the caption over ten, at most 1; blind to the image.",
    family="test",
    score_range=(0.0, 1.0),
    memory_mb=1,
    offline=True,
    source="tests/commands/colour_words.py",
    licence="Apache-2.0",
)
class WordCount(Evaluator):
    """Not a dual encoder: it cannot compare two captions."""

    @classmethod
    def load(cls, *, device: str = "cpu") -> Self:
        """Nothing to load."""
        return cls()

    @property
    def fingerprint(self) -> Fingerprint:
        """No weights."""
        return Fingerprint("word-count", "none", "none", "float64")

    def score(self, images: Sequence[np.ndarray], captions: Sequence[str]) -> np.ndarray:
        """Words over ten."""
        return np.array([min(len(caption.split()) / 10, 1.0) for caption in captions])


@evaluator(
    name="gated-count",
    title="Word count behind a gate",
    summary="Word count that waits at a gate, so that a test can stop it.",
    family="test",
    score_range=(0.0, 1.0),
    memory_mb=1,
    offline=True,
    source="tests/commands/colour_words.py",
    licence="Apache-2.0",
)
class GatedCount(WordCount):
    """It waits at the call that the gate of its data folder does not let pass."""

    def __init__(self) -> None:
        self.calls = 0

    @property
    def fingerprint(self) -> Fingerprint:
        """No weights."""
        return Fingerprint("gated-count", "none", "none", "float64")

    def score(self, images: Sequence[np.ndarray], captions: Sequence[str]) -> np.ndarray:
        """Words over ten, once the gate lets it."""
        gate.here().wait(self.calls)
        self.calls += 1
        return super().score(images, captions)
