"""What ImageNet's classes are called, and the mean of their texts' embeddings."""

import csv
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from core.errors import NotAvailable
from core.evaluators.base import DualEncoder
from core.evaluators.memory import Shared
from core.evaluators.offline.packaged_weights import library_versions
from core.evaluators.offline.text_tower import (
    MultilingualTower,
    TextTower,
    shared_multilingual_tower,
    shared_text_tower,
)
from core.settings import assets_dir

if TYPE_CHECKING:
    from torch import Tensor

ENGLISH, MULTILINGUAL = "minilm", "use"
"""Which text tower embeds the classes, and the captions beside them."""

_READERS: Mapping[str, Callable[[str], TextTower | MultilingualTower]] = MappingProxyType(
    {ENGLISH: shared_text_tower, MULTILINGUAL: shared_multilingual_tower}
)


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
    """Embeddings of the 1000 classes: the mean of both of a class's texts, L2-normalised, float32 [1000, d].

    The texts are English whichever tower reads them; a tower of several languages puts them beside captions in others.
    They take some seconds, and lie ready in ``assets/class_texts/`` for the pinned versions;
    ``python -m core.evaluators.offline.class_texts`` writes them.
    """

    def __init__(self, device: str, reader: str = ENGLISH) -> None:
        import torch

        self.reader = reader
        self.tower = _READERS[reader](device)
        self.classes = class_names()
        self.embeddings: Tensor = torch.from_numpy(self._shipped())

    def _shipped(self) -> np.ndarray:
        """What ``assets/`` holds for exactly these texts and weights; anything else is embedded anew."""
        path = shipped_path(self.reader)
        if path.is_file():
            with np.load(path, allow_pickle=False) as held:
                if str(held["key"]) == self.key and held["embeddings"].shape == (
                    len(self.classes),
                    self.tower.dimensions,
                ):
                    return np.asarray(held["embeddings"])
        return self.embed()

    def embed(self) -> np.ndarray:
        """Run the text tower over all texts of all classes; takes some seconds."""
        import torch

        flat = self.tower.encode([text for each in self.classes for text in each.texts])
        both = flat.reshape(len(self.classes), 2, -1).sum(dim=1)
        return torch.nn.functional.normalize(both, dim=-1).numpy()

    @property
    def key(self) -> str:
        """What the embeddings depend on: the texts and the weights."""
        return f"{self.digest}:{self.tower.weights}"

    @property
    def digest(self) -> str:
        """Short hash of the texts: another version of timm may describe the classes otherwise."""
        joined = "\n".join(text for each in self.classes for text in each.texts)
        return hashlib.sha256(joined.encode()).hexdigest()[:16]

    @property
    def versions(self) -> dict[str, str]:
        """Libraries that the embeddings depend on."""
        return {**library_versions("timm"), **self.tower.versions}


class ByClassTexts(DualEncoder):
    """A dual encoder whose captions are embedded by the tower that embedded the classes."""

    def __init__(self, class_texts: ClassTexts) -> None:
        self._class_texts = class_texts

    def encode_captions(self, captions: Sequence[str]) -> "Tensor":
        """Embed m captions; float32 [m, d], L2-normalised, NaN where a caption holds no token."""
        return self._class_texts.tower.encode(captions)

    def combine(self, image_embeddings: "Tensor", caption_embeddings: "Tensor") -> np.ndarray:
        """Return max(cos, 0) row by row, float64 [n] in [0, 1]; NaN where a caption could not be read."""
        cosines = (image_embeddings.double() * caption_embeddings.double()).sum(dim=-1)
        scores: np.ndarray = np.clip(cosines.numpy(), 0.0, 1.0)
        return scores

    def count_tokens(self, caption: str) -> int:
        """Number of word pieces, the two markers included."""
        return self._class_texts.tower.read(caption).tokens

    def truncates(self, caption: str) -> bool:
        """Whether the text tower cuts the caption."""
        return bool(self._class_texts.tower.read(caption).truncated)


def shipped_path(reader: str) -> Path:
    """File of the embeddings that ship with Invariscope."""
    return assets_dir() / "class_texts" / f"imagenet-{reader}.npz"


def ship(reader: str) -> Path:
    """Embed the classes and write the file that ships; returns its path."""
    texts = ClassTexts("cpu", reader)
    path = shipped_path(reader)
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(path, embeddings=texts.embed(), key=np.array(texts.key))
    return path


@cache
def class_names() -> tuple[ClassName, ...]:
    """The 1000 classes in the order of the network's outputs. Source: the tables of timm's ``ImageNetInfo``.
    Raises NotAvailable if timm is not installed. It is read and not imported."""
    timm = find_spec("timm")
    if timm is None or not timm.submodule_search_locations:
        raise NotAvailable("package timm, which describes ImageNet's classes, is not installed; run: pip install timm")
    folder = Path(timm.submodule_search_locations[0]) / "data" / "_info"
    synsets, lemmas, definitions = (
        (folder / f"imagenet_{name}.txt").read_text(encoding="utf-8").splitlines()
        for name in ("synsets", "synset_to_lemma", "synset_to_definition")
    )
    names, meanings = (dict(csv.reader(lines, delimiter="\t")) for lines in (lemmas, definitions))
    return tuple(ClassName(names[each].split(",")[0].strip(), f"{names[each]}: {meanings[each]}") for each in synsets)


def shared_class_texts(device: str, reader: str = ENGLISH) -> ClassTexts:
    """Return the process's class texts on that device, embedding them if nobody holds them.
    ``reader``: ENGLISH or MULTILINGUAL."""
    return _TEXTS.get(device, reader)


_TEXTS = Shared(ClassTexts)


if __name__ == "__main__":
    for each in _READERS:
        ship(each)
