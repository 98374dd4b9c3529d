"""Scores of one pair and of changed copies of it, under one evaluator that is loaded already."""

from collections.abc import Mapping, Sequence

import numpy as np

from core.corpora.images import check_rgb, pixel_hash
from core.evaluators.base import Evaluator
from core.evaluators.cache import EmbeddingCache
from core.evaluators.scoring import PairScores, score_pairs_with_errors

KEPT_MB = 16
"""Memory for embeddings: the caption, and the picture as it is, are encoded once."""


class Copies:
    """One pair under one evaluator; every answer says which copies could not be scored, and why.

    Args:
        evaluator: loaded; the caller holds its lease.
        pixels: uint8 RGB [H, W, 3].
        caption: what the picture is scored with.
        references: of an evaluator that takes some.
    """

    def __init__(self, evaluator: Evaluator, pixels: np.ndarray, caption: str, references: Sequence[str] = ()) -> None:
        check_rgb(pixels)
        self.name = evaluator.spec.name
        self.key = pixel_hash(pixels)
        self._evaluator, self._pixels, self._caption = evaluator, pixels, caption
        self._references = tuple(references)
        self._kept = EmbeddingCache(None, memory_mb=KEPT_MB)

    def whole(self) -> tuple[float, str]:
        """Score of the pair as it is, and why there is none; NaN beside the reason."""
        found = self._score({self.key: self._pixels}, [(self.key, self._caption)])
        score = float(found.scores[0])
        return score, (found.errors[0] or "it gave no number") if np.isnan(score) else ""

    def pictures(self, pictures: Sequence[np.ndarray]) -> np.ndarray:
        """Scores of other pictures with the caption, float64 [pictures]; NaN where one has none."""
        keys = [pixel_hash(each) for each in pictures]
        images = dict(zip(keys, pictures, strict=True))
        return self._score(images, [(key, self._caption) for key in keys]).scores

    def captions(self, captions: Sequence[str]) -> np.ndarray:
        """Scores of the picture with other captions, float64 [captions]; NaN where one has none."""
        return self._score({self.key: self._pixels}, [(self.key, each) for each in captions]).scores

    def _score(self, images: Mapping[str, np.ndarray], pairs: Sequence[tuple[str, str]]) -> PairScores:
        others = [self._references] * len(pairs)
        return score_pairs_with_errors(self._evaluator, images, pairs, references=others, cache=self._kept)
