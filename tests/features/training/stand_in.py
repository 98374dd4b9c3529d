"""A small stand-in for MCS that reads real captions of real photographs, for what the recipe does to sense.

The published encoder is out of a test's reach. What this one has in common with it: a transformer that has learned
sentences (MiniLM) against frozen embeddings of pictures (ConSE's), tuned by CLIP's contrastive loss alone before the
recipe begins, in a geometry like CLIP's: cosines lie close together, well above zero, whatever the caption says.
"""

from dataclasses import replace
from math import sqrt
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import normalize

from core.corpora.item_pictures import read_item
from core.corpora.registry import catalogue
from core.corpora.schema import Item
from core.evaluators.metrics.conse import ConseLite0
from core.evaluators.other_packages import MINILM
from core.features.training.tuning import LossWeights, Material, Recipe, Tuner

SHARE, CONE = 0.22, 0.205
"""Of the squared length of an embedding, what tells meanings apart and what all embeddings share; the rest is each
side's own. Chosen so that broken captions cost about 3 % before the recipe, which is what paper B states for MCS."""

CONTRASTIVE = Recipe(
    epochs=2, batch=30, learning_rate=3e-5, losses=LossWeights(original=0.0, perturbed=0.0, between=0.0)
)
"""CLIP's loss alone, as every encoder of CLIP's kind was trained."""


def photographs(root: Path, split: str) -> list[Item]:
    return list(catalogue().get("coco").load(root, split=split, slice="all").items)


def embedded(items: list[Item]) -> dict[str, Tensor]:
    """Embeddings of photographs in the cone, float32 [387] of length 1, by id."""
    tower = ConseLite0.load(device="cpu")
    aside = torch.tensor([sqrt(CONE), 0.0, sqrt(1 - SHARE - CONE)])
    found: dict[str, Tensor] = {}
    for item in items:
        (embedding,) = tower.encode_images([read_item(item).pixels])
        found[item.id] = torch.cat([sqrt(SHARE) * normalize(embedding.float(), dim=-1), aside])
    return found


def text_encoder() -> Any:
    """MiniLM with a dense layer into the cone, a SentenceTransformer.

    MiniLM's training on sentences never saw ``[MASK]``: its vector there says nothing, and is given that of ``[UNK]``.
    The word vectors are frozen: two thirds of the weights, and nearly none of the words is among so few captions.
    """
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Dense, Normalize

    small: Any = SentenceTransformer(str(MINILM.verified().parent), device="cpu", local_files_only=True)
    words = small[0].auto_model.embeddings.word_embeddings
    cone = Dense(384, 387, bias=True, activation_function=torch.nn.Identity())
    with torch.no_grad():
        words.weight[small.tokenizer.mask_token_id] = words.weight[small.tokenizer.unk_token_id]
        cone.linear.weight.zero_()
        cone.linear.weight[:384] = sqrt(SHARE) * torch.eye(384)
        cone.linear.bias.zero_()
        cone.linear.bias[384], cone.linear.bias[385] = sqrt(CONE), sqrt(1 - SHARE - CONE)
    words.weight.requires_grad = False
    return SentenceTransformer(modules=[small[0], small[1], Normalize(), cone], device="cpu")


def contrastive(network: Any, material: Material, folder: Path, recipe: Recipe = CONTRASTIVE) -> None:
    """Tune by CLIP's loss alone, in place; next to nothing is measured on the way."""
    Tuner(network, replace(material, held_out=material.held_out[:2]), recipe, folder=folder).run()
