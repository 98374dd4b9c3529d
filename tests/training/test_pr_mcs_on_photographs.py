"""What the recipe does to a text encoder with sense, on real photographs with human captions.

The published encoder is out of a test's reach. In its place stand the two towers of ``conse-lite0``: MiniLM reads the
captions, and the pictures are ConSE's frozen embeddings, so that the scores before training are those of conse-lite0.
Steps and weights were chosen on images of train2017; val2017 is measured once, before and after.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import torch

from core.corpora.images import read_item
from core.corpora.registry import catalogue
from core.corpora.schema import Item
from core.evaluators.conse import ConseLite0
from core.evaluators.offline.weights import MINILM
from core.training.losses import LossWeights
from core.training.trainer import Gain, Material, Recipe, Trainer
from core.training.triplets import examples

if TYPE_CHECKING:
    from torch import Tensor

TRAINED, HELD_OUT, CAPTIONS = 40, 20, 2
RECIPE = Recipe(
    epochs=1, batch=20, learning_rate=1e-4, losses=LossWeights(perturbed=1.0, between=1.0, scale=5.0)
)  # fmt: skip
"""MiniLM and ConSE share no trained temperature and see 10 steps, not 32,000: λ2, λ3 are 20 times the paper's."""


def photographs(root: Path, split: str, count: int) -> list[Item]:
    return list(catalogue().get("coco").load(root, split=split, slice="all", limit=count).items)


@pytest.fixture(scope="module")
def gain(coco_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Gain:
    from sentence_transformers import SentenceTransformer

    tower = ConseLite0.load(device="cpu")
    train, apart = photographs(coco_root, "train2017", TRAINED), photographs(coco_root, "val2017", HELD_OUT)
    pictures: dict[str, Tensor] = {}
    for item in (*train, *apart):
        (pictures[item.id],) = tower.encode_images([read_item(item).pixels])
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        network: Any = SentenceTransformer(str(MINILM.verified().parent), device="cpu", local_files_only=True)
        for value in network[0].auto_model.embeddings.word_embeddings.parameters():
            value.requires_grad = False  # two thirds of the weights; nearly none of the words is among so few captions
        few = [each for each in examples(apart)[0] if each.rank < CAPTIONS]
        material = Material(examples(train)[0], few, pictures, "photographs")
        folder = tmp_path_factory.mktemp("training")
        return Trainer(network, material, RECIPE, folder=folder).run()
    finally:
        torch.set_num_threads(threads)


@pytest.mark.coco
def test_broken_captions_of_unseen_images_fall_further(gain: Gain) -> None:
    assert gain.after.captions == CAPTIONS * HELD_OUT
    assert gain.after.low > gain.before.high
    assert gain.after.mean_drop >= 1.5 * gain.before.mean_drop


@pytest.mark.coco
def test_whole_captions_of_unseen_images_keep_most_of_their_order(gain: Gain) -> None:
    assert gain.spearman >= 0.7
    assert gain.after.clean.mean() >= 0.5 * gain.before.clean.mean()
