"""ConSE: an image is the mean of the texts of the classes that it shows, weighted by their probabilities."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from core.corpora.schema import Box, Mask
from core.evaluators.base import Availability, Fingerprint, Sight, evaluator
from core.evaluators.offline.class_texts import ENGLISH, MULTILINGUAL, ByClassTexts, ClassTexts, shared_class_texts
from core.evaluators.offline.image_tower import BACKBONES, ImageTower, shared_image_tower, square
from core.evaluators.offline.packaged_weights import MINILM, USE, USE_PIECES, PackagedFile, available
from core.evaluators.offline.text_tower import LANGUAGES

if TYPE_CHECKING:
    from torch import Tensor

TOP_K = 100
"""Classes that make an image's embedding, the most probable ones."""
COMMON = 0.7
"""Share of the classes' mean embedding that is taken out of an image's: what all texts have in common."""
SHOWN = 10
SOURCE = "Norouzi et al., Zero-Shot Learning by Convex Combination of Semantic Embeddings, ICLR 2014"


class Conse(ByClassTexts):
    """Convex combination of semantic embeddings.

    For an image with evidence p over classes whose texts embed to t_1 … t_1000 (unit length, mean μ), let K be
    the 100 most probable classes. Then, with c the caption's embedding of unit length::

        e = Σ_K p_k t_k / Σ_K p_k − 0.7 μ,     S = max(cos(e, c), 0)

    The share 0.7 is that of the English tower; the multilingual one takes out 0.9, as was found on the train half.
    Norouzi et al. have no μ: without it, a caption that is near to everything is near to every image.

    Source: Norouzi et al. 2014, equation 3; the towers are in ``core.evaluators.offline``.
    """

    backbone: ClassVar[str]
    reader: ClassVar[str] = ENGLISH
    text_weights: ClassVar[tuple[PackagedFile, ...]] = (MINILM,)
    libraries: ClassVar[tuple[str, ...]] = ("timm", "tokenizers")
    common: ClassVar[float] = COMMON

    def __init__(self, image_tower: ImageTower, class_texts: ClassTexts) -> None:
        self._image_tower = image_tower
        super().__init__(class_texts)
        self._common = self.common * class_texts.embeddings.mean(dim=0)
        self._fingerprint = self._describe()

    @classmethod
    def availability(cls) -> Availability:
        """Whether both towers' packages are installed."""
        return available([BACKBONES[cls.backbone].weights, *cls.text_weights], cls.libraries)

    @classmethod
    def load(cls, *, device: str = "cpu") -> Self:
        """Load both towers, or share those that another evaluator holds."""
        return cls(shared_image_tower(cls.backbone, device), shared_class_texts(device, cls.reader))

    @property
    def fingerprint(self) -> Fingerprint:
        """What the scores depend on."""
        return self._fingerprint

    def encode_images(self, images: Sequence[np.ndarray]) -> "Tensor":
        """Embed n uint8 RGB images; float32 [n, d], L2-normalised."""
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
        """Drop the evidence of pictures met before, where batches have a part in it."""
        self._image_tower.forget()

    def crop(self, width: int, height: int) -> Box:
        """The centre square."""
        return square(width, height)

    def see(self, image: np.ndarray, caption: str, *, object_mask: Mask | None = None) -> Sight:
        """Show the square that enters the network, and the classes found in it with their evidence."""
        reading = self._class_texts.tower.read(caption)
        (evidence,) = self._image_tower.evidence([image])
        best = np.argsort(-evidence, kind="stable")[:SHOWN]
        names = self._class_texts.classes
        side = self._image_tower.backbone.side
        return Sight(
            views=((f"{side} × {side} px into the network", self._image_tower.view(image)),),
            crop=self.crop(image.shape[1], image.shape[0]),
            prompt=caption,
            truncated=reading.truncated,
            tokens=reading.tokens,
            object_inside=self.object_inside(object_mask),
            evidence=tuple((names[index].name, float(evidence[index])) for index in best),
            notes=(f"The {TOP_K} most probable of 1000 classes make the image's embedding; the first are listed.",),
        )

    def _describe(self) -> Fingerprint:
        tower = self._image_tower
        return Fingerprint(
            name=self.spec.name,
            weights=f"{tower.backbone.weights.sha256}+{self._class_texts.tower.weights}",
            preprocessing=tower.preprocessing,
            precision="float32",
            versions={**tower.versions, **self._class_texts.versions},
            settings={"top_k": TOP_K, "common": self.common, "class_texts": self._class_texts.digest},
        )


@evaluator(
    name="conse-lite0",
    title="ConSE, EfficientNet-Lite0",
    summary="Cosine of the caption with the mean of the texts of the ImageNet classes that the image shows.",
    family="offline",
    score_range=(0.0, 1.0),
    memory_mb=260,
    offline=True,
    source=SOURCE,
    licence="Apache-2.0",
    languages=("en",),
)
class ConseLite0(Conse):
    """ConSE on EfficientNet-Lite0, 336 × 336 px."""

    backbone = "lite0"


@evaluator(
    name="conse-lite2",
    title="ConSE, EfficientNet-Lite2",
    summary="As conse-lite0, with a larger image tower that sees a larger picture.",
    family="offline",
    score_range=(0.0, 1.0),
    memory_mb=285,
    offline=True,
    source=SOURCE,
    licence="Apache-2.0",
    languages=("en",),
)
class ConseLite2(Conse):
    """ConSE on EfficientNet-Lite2, 384 × 384 px."""

    backbone = "lite2"


@evaluator(
    name="conse-multilingual",
    title="ConSE, fifteen languages",
    summary="As conse-lite2, with a text tower of German, French, Spanish, Japanese and eleven other languages.",
    family="offline",
    score_range=(0.0, 1.0),
    memory_mb=175,
    offline=True,
    source=f"{SOURCE}; Yang et al., Multilingual Universal Sentence Encoder for Semantic Retrieval, ACL 2020",
    licence="Apache-2.0",
    languages=LANGUAGES,
)
class ConseMultilingual(Conse):
    """ConSE on EfficientNet-Lite2, 384 × 384 px, with English class texts and captions in any language it reads."""

    backbone = "lite2"
    reader = MULTILINGUAL
    text_weights = (USE, USE_PIECES)
    libraries = ("timm",)
    common = 0.9
