"""Every token of a caption in CLIP's shared space, not the closing marker alone."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from core.evaluators.towers.prompts import ClipPrompts

if TYPE_CHECKING:
    from torch import Tensor

    from core.evaluators.towers.encoder import Towers

TOKENIZER = "CLIP byte pairs, 49408 tokens"
START, END = 49406, 49407
_NAMES = {START: "[start]", END: "[end]"}


def token_ids(prompts: ClipPrompts, texts: Sequence[str]) -> list[list[int]]:
    """Ids of the tokens of each text as the tower reads it: cut, both markers kept, padding left out."""
    rows = prompts.tokens(texts).tolist() if texts else []
    return [row[: row.index(max(row)) + 1] for row in rows]


def words_of(prompts: ClipPrompts, ids: Sequence[int]) -> tuple[str, ...]:
    """What each token stands for, for a reader."""
    return tuple(_NAMES.get(each) or prompts.written(each) or "·" for each in ids)


def encode_tokens(towers: "Towers", texts: Sequence[str]) -> list[tuple[list[int], np.ndarray]]:
    """Ids and embeddings of the tokens of each text: [L] and float32 [L, d], unit length, the closing marker last.

    They are those after the last layer norm and the projection; the closing marker's is the text's own embedding.
    """
    import torch

    assert isinstance(towers.prompts, ClipPrompts)
    prompts = towers.prompts
    ids = token_ids(prompts, texts)
    if not ids:
        return []
    rows = towers.text.each(texts, lambda part, device: _embed(towers.text.network, prompts.tokens(part).to(device)))
    unit = torch.nn.functional.normalize(rows, dim=-1).numpy()
    return [(each, unit[place, : len(each)]) for place, each in enumerate(ids)]


def _embed(network: Any, tokens: "Tensor") -> "Tensor":
    """Raw embeddings of every place, [n, L, d]: open_clip's own steps without its choice of one place."""
    dtype = network.transformer.get_cast_dtype()
    x = network.token_embedding(tokens).to(dtype) + network.positional_embedding.to(dtype)
    x = network.ln_final(network.transformer(x, attn_mask=network.attn_mask))
    found: Tensor = x @ network.text_projection
    return found
