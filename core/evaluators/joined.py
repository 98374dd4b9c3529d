"""Evaluators that join what several others score, each of which is asked as if it were asked alone."""

from abc import abstractmethod
from collections.abc import Iterable, Sequence

import numpy as np

from core.evaluators.base import Evaluator, PartlyScored, check_lengths

Told = tuple[np.ndarray, Sequence[str | None]]
"""Scores of n pairs, float64 [n], and n reasons; None where a pair was scored."""


class Joined(Evaluator):
    """S(x, c) = f(S_1(x, c), …, S_k(x, c)), with the evaluators 1 … k as its parts.

    :func:`core.evaluators.scoring.score_pairs` asks the parts with its own cache: what one of them has encoded or
    scored before, here or by itself, is not computed again. A pair that a part cannot score has no score.
    """

    @property
    @abstractmethod
    def parts(self) -> tuple[Evaluator, ...]:
        """The loaded evaluators whose scores are joined, at least one."""

    @abstractmethod
    def join(self, scores: np.ndarray) -> np.ndarray:
        """Map the parts' scores, float64 [k, n], to float64 [n]; NaN where one of them is NaN."""

    def joined(self, found: Iterable[Told]) -> tuple[np.ndarray, tuple[str | None, ...]]:
        """Join what the parts found, in their order: float64 [n], and n reasons, the first part's that has one."""
        scores, errors = zip(*found, strict=True)
        reasons = tuple(next((each for each in row if each), None) for row in zip(*errors, strict=True))
        return self.join(np.stack(scores)), reasons

    def score(self, images: Sequence[np.ndarray], captions: Sequence[str]) -> np.ndarray:
        """Score n pairs; float64 [n].

        Raises:
            PartlyScored: where a part has no score, NaN standing in its place, with that part's reason.
        """
        check_lengths(images, captions)
        if not images:
            return np.empty(0, dtype=np.float64)
        scores, errors = self.joined(told(part, images, captions) for part in self.parts)
        if any(errors):
            raise PartlyScored(scores, errors)
        return scores

    def forget(self) -> None:
        """Let every part forget."""
        for part in self.parts:
            part.forget()

    def truncates(self, caption: str) -> bool:
        """Whether one of the parts cuts the caption."""
        return any(part.truncates(caption) for part in self.parts)


def told(part: Evaluator, images: Sequence[np.ndarray], captions: Sequence[str]) -> Told:
    """What an evaluator says of n pairs, asked directly, with a reason wherever there is no score."""
    errors: Sequence[str | None] = (None,) * len(captions)
    try:
        scores = part.score(images, captions)
    except PartlyScored as partly:
        scores, errors = partly.scores, partly.errors
    none = f"{part.spec.name} gives no score"
    return scores, [why or (None if np.isfinite(score) else none) for score, why in zip(scores, errors, strict=True)]
