"""Readers that never see the image: what a caption alone gives away.

A directional test that one of them passes says little of an evaluator that sees: the right caption could be told
without the picture. They are baselines beside the others, and nothing to choose a captioner by. An edit of the image
leaves them where they are by construction.
Source: Hsieh et al., SugarCrepe, NeurIPS 2023 (blind models solve the suites before it).
"""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Self

import numpy as np

from core.corpora.images import check_rgb
from core.evaluators.base import BLIND, Availability, Evaluator, Fingerprint, Sight, check_lengths, evaluator
from core.evaluators.offline.class_texts import ByClassTexts, ClassTexts, shared_class_texts
from core.evaluators.other_packages import MINILM, available, library_versions

if TYPE_CHECKING:
    from torch import Tensor

    from core.corpora.schema import Mask

FORMULA = "1 / (1 + characters without the blanks around them)"
UNSEEN = "It never sees the image: the score is the caption's alone."


@evaluator(
    name="blind-length",
    title="Blind: the shorter caption",
    summary="One over the caption's length in characters; it never sees the image.",
    family=BLIND,
    score_range=(0.0, 1.0),
    memory_mb=0,
    offline=True,
    source="Hsieh et al., SugarCrepe, NeurIPS 2023: wrong captions that are longer give themselves away",
    licence="Apache-2.0",
)
class BlindLength(Evaluator):
    """S = 1 / (1 + characters): of two captions it prefers the shorter one, and ties at equal length. A failure rate
    far from 50 %, on either side, says that length alone tells the sides apart."""

    @classmethod
    def load(cls, *, device: str = "cpu") -> Self:
        return cls()

    @property
    def fingerprint(self) -> Fingerprint:
        weights, versions = hashlib.sha256(FORMULA.encode()).hexdigest(), library_versions("numpy")
        return Fingerprint(self.spec.name, weights, "none", "float64", versions, {"formula": FORMULA})

    def score(self, images: Sequence[np.ndarray], captions: Sequence[str]) -> np.ndarray:
        """Score n captions; float64 [n] in (0, 1], NaN for a blank one. The images are checked and not read."""
        check_lengths(images, captions)
        for image in images:
            check_rgb(image)
        lengths = np.array([len(caption.strip()) for caption in captions], dtype=np.float64)
        return np.where(lengths > 0, 1 / (1 + lengths), np.nan)

    def see(self, image: np.ndarray, caption: str, *, object_mask: "Mask | None" = None) -> Sight:
        seen = super().see(image, caption, object_mask=object_mask)
        evidence = (("characters", float(len(caption.strip()))),)
        return replace(seen, views=(("not read", image),), crop=None, evidence=evidence, notes=(UNSEEN,))


@evaluator(
    name="blind-typicality",
    title="Blind: the more typical caption",
    summary="Cosine of the caption with the mean of the thousand class texts; it never sees the image.",
    family=BLIND,
    score_range=(0.0, 1.0),
    memory_mb=100,
    offline=True,
    source="a stand-in for fluency: the text tower of conse-lite0, which is no language model",
    licence="Apache-2.0",
    languages=("en",),
)
class BlindTypicality(ByClassTexts):
    """S = max(cos(c, μ), 0), with μ the mean embedding of the classes' texts: what all texts have in common. It stands
    in for fluency, since no language model comes with pip: a weak reader, so that what it tells apart is easy, and what
    it does not tell apart is not shown to be hard."""

    def __init__(self, texts: ClassTexts) -> None:
        import torch

        super().__init__(texts)
        self._mean = torch.nn.functional.normalize(texts.embeddings.mean(dim=0), dim=-1)

    @classmethod
    def availability(cls) -> Availability:
        return available([MINILM], ("timm", "tokenizers"))

    @classmethod
    def load(cls, *, device: str = "cpu") -> Self:
        return cls(shared_class_texts(device))

    @property
    def fingerprint(self) -> Fingerprint:
        texts = self._class_texts
        settings = {"class_texts": texts.digest}
        return Fingerprint(self.spec.name, texts.tower.weights, "none", "float32", texts.versions, settings)

    def encode_images(self, images: Sequence[np.ndarray]) -> "Tensor":
        """Return the mean of all texts for every image; float32 [n, d]. The images are checked and not read."""
        for image in images:
            check_rgb(image)
        return self._mean.repeat(len(images), 1)

    def see(self, image: np.ndarray, caption: str, *, object_mask: "Mask | None" = None) -> Sight:
        seen = super().see(image, caption, object_mask=object_mask)
        cut = self._class_texts.tower.read(caption).truncated
        return replace(seen, views=(("not read", image),), crop=None, truncated=cut, notes=(UNSEEN,))
