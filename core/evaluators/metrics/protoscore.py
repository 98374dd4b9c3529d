"""ProtoScore: a rating from 1 to 4 by the prompt of the paper's GPT judges, with its adapter or without."""

import hashlib
from collections.abc import Mapping, Sequence

import numpy as np

from core.evaluators.base import check_lengths
from core.evaluators.generative import Generative, read_rubric
from core.evaluators.weights.catalogue import described

RATINGS = (1, 2, 3, 4)


class _Rated(Generative):
    """Expected rating over the tokens 1 to 4 right after ``{"score": ``, brought to [0, 1].

    The paper prints a normalised score, and neither the prompt that its metric is asked nor how the score is read off
    the model. Here it is asked as the paper's GPT judges are; this reading needs one forward pass and keeps the
    model's doubt: (Σ r · p(r) / Σ p(r) − 1) / 3.

    Source: paper E, section 5 and appendix C (Table 6).
    """

    def _prepare(self) -> None:
        self._digits = [self._model.token(str(rating)) for rating in RATINGS]
        self._rubric = read_rubric(str(self.entry.settings["rubric"]))

    def question(self, caption: str) -> str:
        return f"{self._rubric}\nText prompt: {caption}"

    def facts(self) -> Mapping[str, str]:
        return {"rubric_sha256": hashlib.sha256(self._rubric.encode()).hexdigest()[:16]}

    def score(self, images: Sequence[np.ndarray], captions: Sequence[str]) -> np.ndarray:
        check_lengths(images, captions)
        if not images:
            return np.empty(0)
        shares = self._shares(images, captions)
        scores: np.ndarray = (shares @ np.array(RATINGS) - 1) / (len(RATINGS) - 1)
        return scores

    def evidence(self, image: np.ndarray, caption: str) -> Mapping[str, float]:
        shares = self._shares([image], [caption])[0]
        return {f"rating {rating}": float(share) for rating, share in zip(RATINGS, shares, strict=True)}

    def _shares(self, images: Sequence[np.ndarray], captions: Sequence[str]) -> np.ndarray:
        asked = [self.prompt(caption) for caption in captions]
        found = self._model.next_token(images, asked)[:, self._digits].double().numpy()
        shares: np.ndarray = found / found.sum(axis=1, keepdims=True)
        return shares


@described("protoscore")
class ProtoScore(_Rated):
    """Qwen2.5-VL-7B with the publisher's adapter."""


@described("protoscore-base")
class ProtoScoreBase(_Rated):
    """The same prompt on Qwen2.5-VL-7B as it is: what the adapter starts from, and no ProtoScore."""
