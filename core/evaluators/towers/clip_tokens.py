"""Every token of a caption in CLIP's shared space, not the closing marker alone."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from core.evaluators.towers.causal import OpenClipText
from core.evaluators.towers.prompts import ClipPrompts

if TYPE_CHECKING:
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
    assert isinstance(towers.prompts, ClipPrompts)
    assert isinstance(towers.causal, OpenClipText)
    ids = token_ids(towers.prompts, texts)
    if not ids:
        return []
    rows = towers.causal.each(towers.text, towers.prompts.tokens(texts))
    return [(each, row[: len(each)].numpy()) for each, row in zip(ids, rows, strict=True)]
