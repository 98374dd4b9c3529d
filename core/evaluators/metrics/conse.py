"""ConSE: an image is the mean of the texts of the classes that it shows, weighted by their probabilities."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from core.corpora.schema import Box, Mask
from core.evaluators.base import Availability, Fingerprint, Sight, evaluator
from core.evaluators.offline.class_texts import LANGUAGES, MULTILINGUAL, ByClassTexts, ClassTexts, shared_class_texts
from core.evaluators.offline.image_tower import BACKBONES, ImageTower, shared_image_tower, square
from core.evaluators.other_packages import MINILM, USE, USE_PIECES, PackagedFile, available

if TYPE_CHECKING:
    from torch import Tensor

TOP_K = 100  # classes that make an image's embedding, the most probable ones
COMMON = 0.7  # share of the classes' mean embedding that is taken out of an image's: what all texts have in common
SHOWN = 10
SOURCE = "Norouzi et al., Zero-Shot Learning by Convex Combination of Semantic Embeddings, ICLR 2014"
OFFLINE: dict[str, Any] = {"family": "offline", "offline": True, "score_range": (0.0, 1.0), "licence": "Apache-2.0"}
ENGLISH_CONSE = {**OFFLINE, "source": SOURCE, "languages": ("en",)}


class Conse(ByClassTexts):
    """Convex combination of semantic embeddings.

    For an image with evidence p over classes whose texts embed to t_1 … t_1000 (unit length, mean μ), let K be the 100
    most probable classes. Then, with c the caption's embedding of unit length::

        e = Σ_K p_k t_k / Σ_K p_k − 0.7 μ,     S = max(cos(e, c), 0)

    The share 0.7 is that of the English tower; the multilingual one takes out 0.9, as was found on the train half.
    Norouzi et al. have no μ: without it, a caption that is near to everything is near to every image.
    Source: Norouzi et al. 2014, equation 3; the towers are in ``core.evaluators.offline``."""

    backbone: ClassVar[str]
    text_weights: ClassVar[tuple[PackagedFile, ...]] = (MINILM,)
    libraries: ClassVar[tuple[str, ...]] = ("timm", "tokenizers")
    common: ClassVar[float] = COMMON

    def __init__(self, image_tower: ImageTower, class_texts: ClassTexts) -> None:
        self._image_tower = image_tower
        super().__init__(class_texts)
        self._common = self.common * class_texts.embeddings.mean(dim=0)

    @classmethod
    def availability(cls) -> Availability:
        return available([BACKBONES[cls.backbone].weights, *cls.text_weights], cls.libraries)

    @classmethod
    def load(cls, *, device: str = "cpu") -> Self:
        return cls(shared_image_tower(cls.backbone, device), shared_class_texts(device, cls.reader))

    def encode_images(self, images: Sequence[np.ndarray]) -> "Tensor":
        import torch

        evidence = torch.from_numpy(self._image_tower.evidence(images))
        top = evidence.topk(TOP_K, dim=-1)
        weights = top.values / top.values.sum(dim=-1, keepdim=True)
        # One sum a row: a matrix product may round differently with the number of images.
        mean = (weights[..., None] * self._class_texts.embeddings[top.indices]).sum(dim=1)
        return torch.nn.functional.normalize(mean - self._common, dim=-1)

    @property
    def caption_key(self) -> str:
        """The text tower's fingerprint; a class that embeds captions in its own way has its own."""
        if type(self).encode_captions is not Conse.encode_captions:
            return self.fingerprint.key
        tower = self._class_texts.tower
        return Fingerprint(self._class_texts.reader, tower.weights, "none", "float32", tower.versions).key

    def forget(self) -> None:
        self._image_tower.forget()

    def crop(self, width: int, height: int) -> Box:
        return square(width, height)

    def see(self, image: np.ndarray, caption: str, *, object_mask: Mask | None = None) -> Sight:
        reading = self._class_texts.tower.read(caption)
        (evidence,) = self._image_tower.evidence([image])
        best = np.argsort(-evidence, kind="stable")[:SHOWN]
        names = self._class_texts.classes
        side = self._image_tower.backbone.side
        return replace(
            super().see(image, caption, object_mask=object_mask),
            views=((f"{side} × {side} px into the network", self._image_tower.view(image)),),
            truncated=reading.truncated,
            evidence=tuple((names[index].name, float(evidence[index])) for index in best),
            notes=(f"The {TOP_K} most probable of 1000 classes make the image's embedding; the first are listed.",),
        )

    @cached_property
    def fingerprint(self) -> Fingerprint:
        tower, texts = self._image_tower, self._class_texts
        weights = f"{tower.backbone.weights.sha256}+{texts.tower.weights}"
        versions = {**tower.versions, **texts.versions}
        settings = {"top_k": TOP_K, "common": self.common, "class_texts": texts.digest}
        return Fingerprint(self.spec.name, weights, tower.preprocessing, "float32", versions, settings)


@evaluator(
    name="conse-lite0",
    title="ConSE, EfficientNet-Lite0",
    summary="Cosine of the caption with the mean of the texts of the ImageNet classes that the image shows.",
    memory_mb=260,
    **ENGLISH_CONSE,
)
class ConseLite0(Conse):
    """ConSE on EfficientNet-Lite0, 336 × 336 px."""

    backbone = "lite0"


@evaluator(
    name="conse-lite2",
    title="ConSE, EfficientNet-Lite2",
    summary="As conse-lite0, with a larger image tower that sees a larger picture.",
    memory_mb=285,
    **ENGLISH_CONSE,
)
class ConseLite2(Conse):
    """ConSE on EfficientNet-Lite2, 384 × 384 px."""

    backbone = "lite2"


@evaluator(
    name="conse-multilingual",
    title="ConSE, fifteen languages",
    summary="As conse-lite2, with a text tower of German, French, Spanish, Japanese and eleven other languages.",
    memory_mb=175,
    **OFFLINE,
    source=f"{SOURCE}; Yang et al., Multilingual Universal Sentence Encoder for Semantic Retrieval, ACL 2020",
    languages=LANGUAGES,
)
class ConseMultilingual(Conse):
    """ConSE on EfficientNet-Lite2, 384 × 384 px, with English class texts and captions in any language it reads."""

    backbone = "lite2"
    reader = MULTILINGUAL
    text_weights = (USE, USE_PIECES)
    libraries = ("timm",)
    common = 0.9
