"""Text tower: all-MiniLM-L6-v2, read from the folder that its package installs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from core.evaluators.memory import Shared
from core.evaluators.offline.packaged_weights import MINILM, library_versions
from core.evaluators.towers.preprocessing import encodable

if TYPE_CHECKING:
    from tokenizers import Encoding
    from torch import Tensor

DIMENSIONS = 384
MAX_TOKENS = 256
"""Word pieces of a text, the two markers included; the rest is cut off (the model's max_seq_length)."""
_MARKERS = 2
_BATCH = 32
_PADDING = 0


@dataclass(frozen=True, slots=True)
class Reading:
    """What the tower read of a text: number of tokens before the cut, and the words behind it."""

    tokens: int
    truncated: str


class TextTower:
    """Sentence embeddings: BERT, mean over tokens, unit length.

    Source: https://www.sbert.net, model card of all-MiniLM-L6-v2.
    """

    weights: ClassVar[str] = MINILM.sha256
    dimensions: ClassVar[int] = DIMENSIONS

    def __init__(self, device: str) -> None:
        from safetensors.torch import load_file
        from tokenizers import Tokenizer

        from core.evaluators.offline.minilm import MiniLm

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

    @property
    def versions(self) -> dict[str, str]:
        """Libraries that the embeddings depend on."""
        return library_versions("torch", "transformers", "tokenizers")

    def read(self, text: str) -> Reading:
        """Count the tokens of a text, and find what the tower does not read of it."""
        encoded = self._tokenizer.encode(encodable(text))
        kept = MAX_TOKENS - 1  # the closing marker takes the last place
        cut = "" if len(encoded.ids) <= MAX_TOKENS else text[encoded.offsets[kept][0] :]
        return Reading(len(encoded.ids), cut)

    def encode(self, texts: Sequence[str]) -> "Tensor":
        """Embed texts.
        ``texts``: n texts of any length.
        Returns float32 [n, 384] on the CPU, L2-normalised; NaN where a text holds no token at all (an empty text,
        blanks, control characters)."""
        import torch

        encodings = self._tokenizer.encode_batch([encodable(text) for text in texts])
        embeddings = torch.full((len(texts), DIMENSIONS), float("nan"))
        readable = [index for index, each in enumerate(encodings) if len(each.ids) > _MARKERS]
        readable.sort(key=lambda index: len(encodings[index].ids))  # little padding
        with torch.inference_mode():
            for start in range(0, len(readable), _BATCH):
                part = readable[start : start + _BATCH]
                embeddings[part] = self._run([encodings[index] for index in part])
        return embeddings

    def _run(self, encodings: "list[Encoding]") -> "Tensor":
        import torch

        rows = [_cut(each.ids) for each in encodings]
        width = max(len(row) for row in rows)
        ids = torch.tensor([row + [_PADDING] * (width - len(row)) for row in rows], device=self._device)
        lengths = torch.tensor([[len(row)] for row in rows], device=self._device)
        seen = torch.arange(width, device=self._device)[None] < lengths
        states = self._network(ids, seen)
        mean = (states * seen.long()[..., None]).sum(dim=1) / lengths
        return torch.nn.functional.normalize(mean, dim=-1).cpu()


shared_text_tower = Shared(TextTower).get
"""Return the process's text tower on a device, loading it if nobody holds it.
Raises NotAvailable with the command that gets the weights."""


def _cut(ids: list[int]) -> list[int]:
    return ids if len(ids) <= MAX_TOKENS else [*ids[: MAX_TOKENS - 1], ids[-1]]
