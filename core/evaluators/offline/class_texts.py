"""What ImageNet's classes are called, and the mean of their texts' embeddings."""

import hashlib
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from core.evaluators.cache import CAPTION, EmbeddingCache
from core.evaluators.offline.sharing import Shared
from core.evaluators.offline.text_tower import DIMENSIONS, TextTower, shared_text_tower
from core.evaluators.offline.weights import MINILM, library_versions
from core.settings import cache_dir

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, slots=True)
class ClassName:
    """One class: its first name (``tabby``) and its description (``tabby, tabby cat: a cat with…``)."""

    name: str
    description: str

    @property
    def texts(self) -> tuple[str, str]:
        """What stands for the class in the text tower."""
        return self.description, f"a photo of a {self.name}"


class ClassTexts:
    """Embeddings of the 1000 classes: the mean of both of a class's texts, L2-normalised, float32 [1000, 384].

    They take some seconds, and are kept in the user's cache folder for the next process.
    """

    def __init__(self, device: str) -> None:
        import torch

        self.tower: TextTower = shared_text_tower(device)
        self.classes = class_names()
        self.embeddings: Tensor = torch.from_numpy(self._remembered())

    def _remembered(self) -> np.ndarray:
        """Embeddings of an earlier process with the same texts, weights and libraries, or new ones."""
        fingerprint = f"class-texts:{self.digest}:{MINILM.sha256[:16]}:{sorted(self.versions.items())}"
        cache = EmbeddingCache(cache_dir() / "class_texts.sqlite", max_mb=16)
        try:
            known = cache.get_many(fingerprint, CAPTION, ["all"]).get("all")
            if known is not None and known.shape == (len(self.classes), DIMENSIONS):
                return np.array(known)
            embeddings = self._embed()
            cache.put_many(fingerprint, CAPTION, {"all": embeddings})
            return embeddings
        finally:
            cache.close()

    def _embed(self) -> np.ndarray:
        import torch

        flat = self.tower.encode([text for each in self.classes for text in each.texts])
        both = flat.reshape(len(self.classes), 2, -1).sum(dim=1)
        return torch.nn.functional.normalize(both, dim=-1).numpy()

    @property
    def digest(self) -> str:
        """Short hash of the texts: another version of timm may describe the classes otherwise."""
        joined = "\n".join(text for each in self.classes for text in each.texts)
        return hashlib.sha256(joined.encode()).hexdigest()[:16]

    @property
    def versions(self) -> dict[str, str]:
        """Libraries that the embeddings depend on."""
        return {**library_versions("timm"), **self.tower.versions}


@cache
def class_names() -> tuple[ClassName, ...]:
    """The 1000 classes in the order of the network's outputs. Source: timm's ``ImageNetInfo``."""
    from timm.data import ImageNetInfo

    info = ImageNetInfo("imagenet-1k")
    return tuple(
        ClassName(
            name=info.index_to_description(index).split(",")[0].strip(),
            description=info.index_to_description(index, detailed=True),
        )
        for index in range(info.num_classes())
    )


def shared_class_texts(device: str) -> ClassTexts:
    """Return the process's class texts on that device, embedding them if nobody holds them."""
    return _TEXTS.get(device)


_TEXTS = Shared(ClassTexts)
