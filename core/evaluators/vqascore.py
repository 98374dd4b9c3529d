"""VQAScore: how probable *Yes* is when a model is asked whether the picture shows the caption."""

from collections.abc import Mapping, Sequence

import numpy as np

from core.evaluators.published.catalogue import described
from core.evaluators.published.generative import Generative, check_lengths


@described("vqascore-qwen")
class VqaScore(Generative):
    """P("Yes" | picture, question): one forward pass a pair, the picture encoded once for all its captions.

    Source: Lin et al., *Evaluating Text-to-Visual Generation with Image-to-Text Generation*, ECCV 2024;
    https://github.com/linzhiqiu/t2v_metrics (there, too, the question of Qwen2.5-VL is put this way).
    """

    def _prepare(self) -> None:
        self._yes = self._model.token(str(self.entry.settings["answer"]))

    def score(self, images: Sequence[np.ndarray], captions: Sequence[str]) -> np.ndarray:
        """Score n pairs; float64 [n] in [0, 1]."""
        check_lengths(images, captions)
        if not images:
            return np.empty(0)
        asked = [self.prompt(caption) for caption in captions]
        return self._model.next_token(images, asked)[:, self._yes].double().numpy()

    def evidence(self, image: np.ndarray, caption: str) -> Mapping[str, float]:
        """The probability of the answer."""
        return {f"P({self.entry.settings['answer']})": float(self.score([image], [caption])[0])}
