"""Text towers that only look back: their captions are cut to their length.

Captions are padded to the tower's limit, as a rule 77 columns, and most end long before. Where every token attends to
itself and to those before it, and the text is read at one token, no column behind that token has a part in its
features: without them they are the same but for rounding (measured in docs/benchmarks.md), at a fraction of the work.

A caption gets the shortest of a few fixed lengths that holds it, by its own tokens alone, and a call of the tower is of
one length: what stands beside a caption decides neither its columns nor, beyond the rounding that the size of a batch
has anyway, its features. The order in which captions come stays the caller's.

What is not cut: SigLIP, SigLIP 2 and CLIPA attend to their padding and are read at the last column, MobileCLIP attends
both ways, CoCa reads a token behind the padding. Multilingual encoders (MCS) and those of transformers within open_clip
attend both ways too, and have masks or means of their own over what is padding.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

    from core.evaluators.weights.device import Runner

LENGTHS = (16, 32, 48, 77)
"""Columns to which captions are cut, where the tower has more."""


def lengths(limit: int) -> tuple[int, ...]:
    """Lengths of a tower that reads ``limit`` tokens, ascending, the limit last.

    >>> lengths(77), lengths(64), lengths(16)
    ((16, 32, 48, 77), (16, 32, 48, 64), (16,))
    """
    return (*(each for each in LENGTHS if each < limit), limit)


def first_place(tokens: "Tensor", marker: int | None) -> "Tensor":
    """Where each text is read: its first ``marker``, or its first largest id; int64 [n] in [0, L).
    ``tokens``: ids, int64 [n, L]. A row without the marker is read at 0, as both libraries do.
    ``marker``: None: the largest id is CLIP's closing marker."""
    return tokens.argmax(dim=-1) if marker is None else (tokens == marker).int().argmax(dim=-1)


class CausalText(ABC):
    """How one text tower that only looks back is asked."""

    @abstractmethod
    def places(self, tokens: "Tensor") -> "Tensor":
        """Where each text is read, int64 [n], of int64 [n, L]; a cut behind that place does not move it."""

    @abstractmethod
    def embed(self, tokens: "Tensor") -> "Tensor":
        """Raw embeddings [n, d] of ids, int64 [n, L] on the tower's device; L may be less than its limit."""

    def rows(self, runner: "Runner", tokens: "Tensor") -> "Tensor":
        """Embed texts, each cut; float32 [n, d] on the CPU, of unit length.
        ``tokens``: ids, int64 [n, limit], n at least 1."""
        import torch

        parts = [(members, runner.rows(cut, _stacked(self.embed))) for members, cut in self.cut(tokens)]
        found = torch.empty(len(tokens), parts[0][1].shape[1])
        for members, part in parts:
            found[members] = part
        return found

    def cut(self, tokens: "Tensor") -> "list[tuple[list[int], list[Tensor]]]":
        """Return the indices of the texts of each length, the shortest length first, and their ids, int64 [length]."""
        import torch

        allowed = torch.tensor(lengths(tokens.shape[1]))
        chosen = allowed[torch.searchsorted(allowed, self.places(tokens) + 1)]
        found = []
        for length in chosen.unique().tolist():
            members = (chosen == length).nonzero().flatten().tolist()
            found.append((members, list(tokens[members, :length])))
        return found


class OpenClipText(CausalText):
    """The text tower of open_clip's CLIP, step by step: its own call takes no fewer columns than its limit.
    ``tower``: a ``CLIP`` or a ``TextTransformer``.
    ``marker``: see :func:`first_place`.

    Source: open_clip 3.3, ``CLIP.encode_text`` and ``TextTransformer.forward``.
    """

    def __init__(self, tower: Any, marker: int | None = None) -> None:
        self._tower = tower
        self._marker = marker

    def places(self, tokens: "Tensor") -> "Tensor":
        """Where each text is read."""
        return first_place(tokens, self._marker)

    def embed(self, tokens: "Tensor") -> "Tensor":
        """Raw embeddings [n, d]."""
        import torch

        states = self._states(tokens)
        return self._projected(states[torch.arange(len(states)), self.places(tokens)])

    def each(self, runner: "Runner", tokens: "Tensor") -> "list[Tensor]":
        """Embed every token of texts, each text cut; n times float32 [length, d] on the CPU, of unit length."""
        import torch

        found = [torch.empty(0)] * len(tokens)
        for members, cut in self.cut(tokens):
            rows = runner.rows(cut, _stacked(lambda part: self._projected(self._states(part))))
            for index, row in zip(members, rows, strict=True):
                found[index] = row
        return found

    def _states(self, tokens: "Tensor") -> "Tensor":
        """What comes out of the last layer norm, [n, L, width]."""
        tower, columns = self._tower, tokens.shape[1]
        dtype = tower.transformer.get_cast_dtype()
        x = tower.token_embedding(tokens).to(dtype) + tower.positional_embedding[:columns].to(dtype)
        states: Tensor = tower.ln_final(tower.transformer(x, attn_mask=tower.attn_mask[:columns, :columns]))
        return states

    def _projected(self, states: "Tensor") -> "Tensor":
        projection = self._tower.text_projection
        if projection is None:
            return states
        found: Tensor = projection(states) if callable(projection) else states @ projection
        return found


def open_clip_text(network: Any) -> OpenClipText | None:
    """Find the text tower of a network that open_clip built; None where it needs its padding.

    It must be open_clip's own transformer, look back only, and be read at a token of the text.
    """
    from open_clip.model import CLIP, CustomTextCLIP
    from open_clip.transformer import TextTransformer

    tower = network.text if isinstance(network, CustomTextCLIP) else network
    if isinstance(tower, CLIP):
        pool, marker = tower.text_pool_type, tower.text_eos_id
    elif isinstance(tower, TextTransformer) and tower.cls_emb is None and not tower.output_tokens:
        pool, marker = tower.pool_type, tower.eos_id
    else:
        return None
    if pool not in ("argmax", "eos") or not _looks_back(tower.attn_mask):
        return None
    return OpenClipText(tower, marker if pool == "eos" else None)


def _looks_back(mask: "Tensor | None") -> bool:
    """Whether a mask that is added to attention hides from every token those behind it."""
    import torch

    if mask is None:
        return False
    behind = torch.ones_like(mask, dtype=torch.bool).triu(1)
    return bool(mask[behind].isneginf().all())


def _stacked(call: "Callable[[Tensor], Tensor]") -> "Callable[[Sequence[Tensor], str], Tensor]":
    import torch

    return lambda part, device: call(torch.stack(list(part)).to(device))
