"""MiniLM's network in PyTorch: BERT of six layers, under the names of its file, to the bits of ``transformers``."""

import torch
from torch import Tensor, nn
from torch.nn import functional

WORDS, PLACES, KINDS = 30522, 512, 2
WIDTH, INNER, LAYERS, HEADS = 384, 1536, 6, 12
_EPSILON = 1e-12


class _Layer(nn.Module):
    """Attention and what follows it, each added to its input and normed."""

    def __init__(self) -> None:
        super().__init__()
        read = nn.ModuleDict({name: nn.Linear(WIDTH, WIDTH) for name in ("query", "key", "value")})
        self.attention = nn.ModuleDict({"self": read, "output": _dense_and_norm(WIDTH)})
        self.intermediate = nn.ModuleDict({"dense": nn.Linear(WIDTH, INNER)})
        self.output = _dense_and_norm(INNER)

    def forward(self, states: Tensor, mask: Tensor | None) -> Tensor:
        n, length, _ = states.shape
        query, key, value = (
            read(states).view(n, length, HEADS, -1).transpose(1, 2)
            for read in self.attention["self"].values()  # type: ignore[operator]
        )
        found = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        states = _added(self.attention["output"], found.transpose(1, 2).reshape(n, length, WIDTH), states)
        return _added(self.output, functional.gelu(self.intermediate["dense"](states)), states)


class MiniLm(nn.Module):
    """BERT without its pooler: tokens to states.
    Source: Devlin et al., BERT, NAACL 2019; Wang et al., MiniLM, NeurIPS 2020."""

    def __init__(self) -> None:
        super().__init__()
        tables = {"word": WORDS, "position": PLACES, "token_type": KINDS}
        self.embeddings = nn.ModuleDict({f"{name}_embeddings": nn.Embedding(n, WIDTH) for name, n in tables.items()})
        self.embeddings["LayerNorm"] = nn.LayerNorm(WIDTH, eps=_EPSILON)
        self.encoder = nn.ModuleDict({"layer": nn.ModuleList(_Layer() for _ in range(LAYERS))})

    def forward(self, ids: Tensor, seen: Tensor) -> Tensor:
        """States of tokens.
        ``ids``: integers [n, length]. ``seen``: booleans [n, length]; False where a token fills a row up.
        Returns float32 [n, length, 384]."""
        n, length = ids.shape
        words, places, kinds, norm = self.embeddings.values()
        states = norm(words(ids) + kinds(torch.zeros_like(ids)) + places(torch.arange(length, device=ids.device)))
        mask = None if bool(seen.all()) else seen[:, None, None, :].expand(n, 1, length, length)
        for layer in self.encoder["layer"].children():
            states = layer(states, mask)
        return states  # type: ignore[no-any-return]


def _dense_and_norm(width: int) -> nn.ModuleDict:
    return nn.ModuleDict({"dense": nn.Linear(width, WIDTH), "LayerNorm": nn.LayerNorm(WIDTH, eps=_EPSILON)})


def _added(layer: nn.Module, values: Tensor, before: Tensor) -> Tensor:
    assert isinstance(layer, nn.ModuleDict)
    made: Tensor = layer["LayerNorm"](layer["dense"](values) + before)
    return made
