"""The judge on this machine: the frozen rubric, asked of a vision-language model through transformers."""

import hashlib
from collections.abc import Mapping, Sequence

import numpy as np

from core.evaluators.base import check_lengths
from core.evaluators.generative import Generative, read_rubric
from core.evaluators.network.answer import MOST_TOKENS, read_verdict
from core.evaluators.weights.catalogue import described


@described("judge-local")
class JudgeLocal(Generative):
    """The same rubric and answer as ``judge``, the most probable token at each place: no sampling, no endpoint."""

    def _prepare(self) -> None:
        self._rubric = read_rubric(str(self.entry.settings["rubric"]))

    def question(self, caption: str) -> str:
        """The rubric with the caption behind it."""
        return f"{self._rubric}\n\nCaption:\n{caption}"

    def facts(self) -> Mapping[str, str]:
        """Hash of the rubric."""
        return {"rubric_sha256": hashlib.sha256(self._rubric.encode()).hexdigest()[:16]}

    def score(self, images: Sequence[np.ndarray], captions: Sequence[str]) -> np.ndarray:
        """Judge n pairs; float64 [n] in [0, 10]; raises PartlyScored where an answer is no verdict."""
        check_lengths(images, captions)
        asked = [self.prompt(caption) for caption in captions]
        answers = self._model.answers(images, asked, tokens=MOST_TOKENS, probabilities=False) if asked else []
        return self.read(answers, lambda answer: read_verdict(answer.text).score)
