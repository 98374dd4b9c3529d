"""VQAScore: how probable *Yes* is when a model is asked whether the picture shows the caption."""

from collections.abc import Mapping, Sequence
from typing import Self

import numpy as np

from core.corpora.schema import Mask
from core.evaluators.base import Fingerprint, Sight, check_lengths
from core.evaluators.generative.answers import Generative
from core.evaluators.generative.clip_t5 import IMAGE, MOST_TOKENS, ClipT5
from core.evaluators.offline.weights import library_versions
from core.evaluators.towers.pictures import padded_square
from core.evaluators.weights.catalogue import described
from core.evaluators.weights.device import Runner
from core.evaluators.weights.published import Published


@described("vqascore-qwen")
class VqaScore(Generative):
    """P("Yes" | picture, question): one forward pass a pair, the picture encoded once for all its captions.

    Source: Lin et al., *Evaluating Text-to-Visual Generation with Image-to-Text Generation*, ECCV 2024;
    https://github.com/linzhiqiu/t2v_metrics (v3.1 puts the question to Qwen2.5-VL in these words, too). Where it
    departs from that code stands in docs/evaluators.md.
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


class _T5Score(Published):
    """The authors' own network: geometric mean of P("Yes") and P(end | "Yes"), one forward pass a pair.

    Source: Lin et al. 2024, section 3; https://github.com/linzhiqiu/t2v_metrics (clip_t5_model.py, before v3.1). The
    paper writes P("Yes"); their code averages the logarithms over the answer's tokens, the end mark among them.
    """

    any_precision = True

    def __init__(self, model: ClipT5, digest: str, precision: str) -> None:
        self._model, self._digest, self._precision = model, digest, precision

    @classmethod
    def load(cls, *, device: str = "cpu") -> Self:
        """Load T5, its tokenizer and CLIP's image tower.

        Raises:
            NotAvailable: if a file is missing or damaged.
        """
        places = cls.places()
        for place in places:
            place.files()
        model, words, tower = (place.path for place in places)
        precision = cls.entry.precision.on(device)
        digest = "+".join(place.digest() for place in places)
        return cls(ClipT5.open(model, words, tower, device=device, precision=precision), digest, precision)

    def runners(self) -> Sequence[Runner]:
        """T5, projector and image tower, together."""
        return (self._model.runner,)

    @property
    def fingerprint(self) -> Fingerprint:
        """What the scores depend on."""
        return Fingerprint(
            name=self.spec.name,
            weights=self._digest,
            preprocessing="padded to a square, CLIP's own processor, by Pillow",
            precision=self._precision,
            versions=library_versions("torch", "transformers", "tokenizers", "pillow"),
            settings=dict(self.entry.settings),
        )

    def prompt(self, caption: str) -> str:
        """The whole text that enters T5, the picture's place marked."""
        question = str(self.entry.settings["question"]).replace("{caption}", caption.replace(IMAGE, "image"))
        return str(self.entry.settings["conversation"]).replace("{question}", question)

    def score(self, images: Sequence[np.ndarray], captions: Sequence[str]) -> np.ndarray:
        """Score n pairs; float64 [n] in [0, 1]."""
        check_lengths(images, captions)
        if not images:
            return np.empty(0)
        asked = [self.prompt(caption) for caption in captions]
        return self._model.likelihood(images, asked, str(self.entry.settings["answer"]))

    def count_tokens(self, caption: str) -> int:
        """Tokens of the whole prompt, the picture counted as one."""
        return 1 + sum(len(part) for part in self._model.tokens(self.prompt(caption)))

    def truncates(self, caption: str) -> bool:
        """Whether the prompt is longer than T5 is given."""
        return self.count_tokens(caption) > MOST_TOKENS

    def see(self, image: np.ndarray, caption: str, *, object_mask: Mask | None = None) -> Sight:
        """Show the padded picture and the prompt."""
        return Sight(
            views=(("padded to a square", padded_square(image, colour=self._model.colour)),),
            crop=None,
            prompt=self.prompt(caption),
            tokens=self.count_tokens(caption),
            object_inside=self.object_inside(object_mask),
            notes=(f"{self.entry.backbone} sees the whole picture.",),
        )


@described("vqascore")
class VqaScoreXxl(_T5Score):
    """CLIP-FlanT5-XXL, the authors' default."""


@described("vqascore-xl")
class VqaScoreXl(_T5Score):
    """CLIP-FlanT5-XL, the smaller one."""
