"""A video evaluator that reads the order of the frames, so that it can be asked about a video backwards."""

from collections.abc import Mapping, Sequence
from typing import Self

import numpy as np

from core.evaluators.base import Fingerprint, evaluator
from core.evaluators.video.formula import Tokens
from core.evaluators.video.video_evaluator import VideoEvaluator, VideoScore


@evaluator(
    name="ordered",
    title="Ordered",
    summary="Where the colour goes.",
    family="test",
    score_range=(-1.0, 1.0),
    memory_mb=10,
    offline=True,
    source="none",
    licence="Apache-2.0",
)
class Ordered(VideoEvaluator):
    """How much brighter the left half is in the last frame than in the first, in [-1, 1]."""

    order_free = False

    @classmethod
    def load(cls, *, device: str = "cpu") -> Self:
        return cls()

    @property
    def fingerprint(self) -> Fingerprint:
        return Fingerprint("ordered", "none", "left half", "float64")

    @property
    def tokenizer(self) -> str:
        return "none"

    def encode_frames(self, frames: Sequence[np.ndarray]) -> np.ndarray:
        return np.array([[each[:, : each.shape[1] // 2].mean() / 255] for each in frames])

    def encode_tokens(self, captions: Sequence[str]) -> list[Tokens]:
        return [Tokens(np.ones((1, 1)), np.ones(1)) for _ in captions]

    def match(
        self, frames: np.ndarray, caption: str, references: Sequence[str] | None, read: Mapping[str, Tokens]
    ) -> VideoScore:
        return VideoScore(float(frames[-1, 0] - frames[0, 0]))
