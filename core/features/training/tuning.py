"""PR-MCS: a text encoder tuned against perturbed captions of pictures whose embeddings stand still.

Its losses, what a training gains (how far broken captions fall, and whether whole ones keep their order), and the loop.

PR-MCS from MCS: the encoder and the frozen image tower opened, the pictures embedded once, the result kept.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from core.corpora.item_pictures import read_item
from core.corpora.schema import Corpus, Item
from core.errors import BadImage, InvalidInput, ProbeRejected
from core.evaluators.metrics.mcs import Mcs
from core.evaluators.registry import find
from core.features.training.lessons import Augmented
from core.features.training.trainer import (
    Losses,
    Report,
    Schedule,
    Trained,
    Trainer,
    digest_of,
    keep_encoder,
    kept_embeddings,
    make_room,
)
from core.probes.words.caption_words import LANGUAGES, join, words
from core.probes.words.lexical_edits import EDITS
from core.seeds import stream
from core.store.text_files import write_json

if TYPE_CHECKING:
    from torch import Tensor

    from core.evaluators.towers.encoder import Towers


@dataclass(frozen=True, slots=True)
class Example:
    """A caption with its image."""

    image: str  # id of the item
    language: str
    rank: int  # which caption of its language it is
    caption: str


T = TypeVar("T", Example, Augmented)  # what belongs to an image


def examples(items: Sequence[Item], languages: Sequence[str] = ()) -> tuple[tuple[Example, ...], int]:
    """The captions, in the order of the items, in the languages (none: all) that can be perturbed; and how many were
    left out because they are blank. Raises InvalidInput for a language that cannot be perturbed, or if no caption is
    left."""
    unknown = [name for name in languages if name not in LANGUAGES]
    if unknown:
        raise InvalidInput(f"captions can be perturbed in {', '.join(LANGUAGES)}, got language {unknown[0]!r}")
    wanted = tuple(languages) or LANGUAGES
    every = [
        Example(item.id, language, rank, caption)
        for item in items
        for language in wanted
        for rank, caption in enumerate(item.captions.get(language, ()))
    ]
    found = tuple(each for each in every if each.caption.strip())
    if not found:
        raise InvalidInput(
            f"{len(items)} items have no caption in {', '.join(wanted)} that holds a word; "
            "choose a corpus with captions, or a split that has them"
        )
    return found, len(every) - len(found)


def split(found: Sequence[T], *, held_out: float, seed: int) -> tuple[tuple[T, ...], tuple[T, ...]]:
    """Part examples by image into those for training and a share held out; at least two images are held out and two
    stay. Raises InvalidInput for a share outside (0, 1), or with fewer than four images."""
    if not 0 < held_out < 1:
        raise InvalidInput(f"the share of held-out images must lie between 0 and 1, got {held_out!r}")
    images = list(dict.fromkeys(each.image for each in found))
    if len(images) < 4:
        raise InvalidInput(f"training needs captions of at least 4 images, got {len(images)}")
    count = min(max(2, round(held_out * len(images))), len(images) - 2)
    order = stream(seed, "held-out").permutation(len(images))
    apart = {images[index] for index in order[:count]}
    return tuple(each for each in found if each.image not in apart), tuple(e for e in found if e.image in apart)


def few(found: Sequence[Example], most: int | None, *, seed: int) -> tuple[Example, ...]:
    """Draw at most so many examples, in their order; None: all of them. A larger draw of a seed holds a smaller one.
    Raises InvalidInput if those drawn are of one image: a batch contrasts images."""
    if most is None or most >= len(found):
        return tuple(found)
    drawn = tuple(found[index] for index in sorted(stream(seed, "few").permutation(len(found))[:most].tolist()))
    if len({each.image for each in drawn}) < 2:
        raise InvalidInput(f"the {most} captions drawn to learn from are of fewer than two images; give more")
    return drawn


def batches(found: Sequence[T], *, size: int, seed: int, epoch: int) -> list[list[T]]:
    """Shuffle an epoch's examples into batches that hold each image once.

    A second caption of an image would be a wrong answer of the contrastive loss that is right. So the epoch has
    rounds: the first has one caption of every image, the second one of every image that has two, and so on. A round
    that is one image alone has nothing to contrast and is left out.
    """
    rng = stream(seed, "batches", str(epoch))
    by_image: dict[str, list[T]] = {}
    for index in rng.permutation(len(found)):
        by_image.setdefault(found[index].image, []).append(found[index])
    drawn: list[list[T]] = []
    for turn in range(max(map(len, by_image.values()), default=0)):
        members = [each[turn] for each in by_image.values() if len(each) > turn]
        members = [members[index] for index in rng.permutation(len(members))]
        count = max(1, min(-(-len(members) // size), len(members) // 2))
        drawn += [members[part::count] for part in range(count)] if len(members) > 1 else []
    return [drawn[index] for index in rng.permutation(len(drawn))]


def perturb(example: Example, *, seed: int, epoch: str) -> tuple[str, str]:
    """Perturb a caption by one of the five edits, each as likely, or another one where that changes nothing: its name
    and the text."""
    rng = stream(seed, "perturb", epoch, example.image, example.language, str(example.rank))
    names = list(EDITS)
    for index in rng.permutation(len(names)):
        text = edited(example, names[index], seed=seed, epoch=epoch)
        if text is not None:
            return names[index], text
    raise AssertionError("a caption with a word can always be repeated")  # examples() leaves blank ones out


def edited(example: Example, name: str, *, seed: int, epoch: str) -> str | None:
    """The caption under one edit; None where the edit does not apply or changes nothing."""
    rng = stream(seed, name, epoch, example.image, example.language, str(example.rank))
    try:
        text = EDITS[name](example.caption, rng, language=example.language)
    except ProbeRejected:
        return None
    unchanged = join(words(example.caption, example.language), example.language)
    return None if text == unchanged else text


@dataclass(frozen=True, slots=True)
class LossWeights:
    """Constants of the loss."""

    original: float = 0.1  # original, perturbed, between: λ1, λ2, λ3. Source: paper B, B.2.
    perturbed: float = 0.05
    between: float = 0.05
    margin: float = 0.1  # cosine below which a perturbed caption costs no more. Source: paper B, 3.4.
    # what cosines are multiplied with in the contrastive loss; 100 is what CLIP ViT-B/32 was trained to
    scale: float = 100.0

    def __post_init__(self) -> None:
        for name, value in (("λ1", self.original), ("λ2", self.perturbed), ("λ3", self.between)):
            if not 0 <= value < float("inf"):
                raise InvalidInput(f"{name} must be 0 or more, got {value!r}")
        if not -1 <= self.margin <= 1:
            raise InvalidInput(f"the margin is a cosine, in [-1, 1], got {self.margin!r}")
        if not 0 < self.scale < float("inf"):
            raise InvalidInput(f"the scale of the contrastive loss must be positive, got {self.scale!r}")


@dataclass(frozen=True, slots=True)
class PrMcsLosses(Losses):
    """Mean of each loss over a batch, scalars: ``total`` is what is minimised."""

    clip: "Tensor"
    original: "Tensor"
    perturbed: "Tensor"
    between: "Tensor"


def clip_loss(images: "Tensor", captions: "Tensor", *, scale: float) -> "Tensor":
    """CLIP's loss of n ≥ 2 pairs, float [n, d] of unit length: the mean of the cross-entropies along rows and columns
    of scale · cos, a scalar; scale is 1 / τ.

    Source: Radford et al. 2021; paper C, equation 1 with the average that its text names.
    """
    import torch
    from torch.nn.functional import cross_entropy

    logits = scale * images @ captions.T
    own = torch.arange(len(logits), device=logits.device)
    return (cross_entropy(logits, own) + cross_entropy(logits.T, own)) / 2


def pr_mcs_losses(images: "Tensor", originals: "Tensor", perturbed: "Tensor", weights: LossWeights) -> PrMcsLosses:
    """L = L_CLIP + λ1·(1 − cos(V,To)) + λ2·max(m, cos(V,Tp)) + λ3·max(m, cos(To,Tp)) of n triplets, float [n, d] of any
    length.

    L_CLIP is :func:`clip_loss` over the images and original captions of the batch.

    Source: paper B, section 3.4, equations 1 to 3.
    """
    from torch.nn.functional import normalize

    images, originals, perturbed = (normalize(each, dim=-1) for each in (images, originals, perturbed))
    clip = clip_loss(images, originals, scale=weights.scale)
    first = (1 - (images * originals).sum(dim=-1)).mean()
    second = (images * perturbed).sum(dim=-1).clamp(min=weights.margin).mean()
    third = (originals * perturbed).sum(dim=-1).clamp(min=weights.margin).mean()
    total = clip + weights.original * first + weights.perturbed * second + weights.between * third
    return PrMcsLosses(total, clip, first, second, third)


RESAMPLES = 2000
HELD_OUT = "held-out"  # in the place of an epoch: the same perturbed captions at every measurement

Scorer = Callable[[Sequence[str], Sequence[str]], np.ndarray]  # maps n image ids and n captions to cosines, float64 [n]


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Scores of held-out images."""

    # by edit, 100 · (1 − mean score perturbed / mean score original), over the captions that the edit changes
    drop: Mapping[str, float]
    mean_drop: float  # mean of ``drop`` over the edits, in percent
    low: float  # low, high: its 95 % interval, percentile bootstrap over images
    high: float
    detected: Mapping[str, float]  # by edit, share of captions whose score falls
    clean: np.ndarray  # scores of the unperturbed captions, float64 [n]
    images: int  # images, captions: how many
    captions: int

    def as_dict(self) -> dict[str, Any]:
        """For a file, without the scores."""
        told = {name: getattr(self, name) for name in ("mean_drop", "low", "high", "images", "captions")}
        return {**told, "drop": dict(self.drop), "detected": dict(self.detected)}


def measure(held_out: Sequence[Example], score: Scorer, *, seed: int) -> HeldOut:
    """Score held-out captions, whole and under each edit, which the seed draws; a score is max(cos, 0)."""
    images = list(dict.fromkeys(each.image for each in held_out))
    place = {image: index for index, image in enumerate(images)}
    whole = np.maximum(score([each.image for each in held_out], [each.caption for each in held_out]), 0)
    sums: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    detected: dict[str, float] = {}
    for name in EDITS:
        texts = [edited(each, name, seed=seed, epoch=HELD_OUT) for each in held_out]
        kept = [index for index, text in enumerate(texts) if text is not None]
        if not kept:
            continue
        rows = [place[held_out[index].image] for index in kept]
        broken = np.maximum(score([held_out[index].image for index in kept], [str(texts[index]) for index in kept]), 0)
        sums[name] = (
            np.bincount(rows, weights=whole[kept], minlength=len(images)),
            np.bincount(rows, weights=broken, minlength=len(images)),
        )
        detected[name] = float((broken < whole[kept]).mean())
    ones = np.ones((1, len(images)))
    drop = {name: float(_drop({name: pair}, ones)[0]) for name, pair in sums.items()}
    counts = stream(seed, "interval").multinomial(len(images), ones[0] / len(images), size=RESAMPLES)
    low, high = np.nanpercentile(_drop(sums, counts), [2.5, 97.5])
    return HeldOut(
        drop, float(_drop(sums, ones)[0]), float(low), float(high), detected, whole, len(images), len(held_out)
    )


def rank_correlation(first: np.ndarray, second: np.ndarray) -> float:
    """Spearman's ρ; NaN where one side is constant."""
    from scipy.stats import rankdata

    ranks = rankdata(first), rankdata(second)
    if min(np.ptp(each) for each in ranks) == 0:
        return float("nan")
    return float(np.corrcoef(*ranks)[0, 1])


def _drop(sums: Mapping[str, tuple[np.ndarray, np.ndarray]], counts: np.ndarray) -> np.ndarray:
    """Mean drop over the edits in percent, for each row of how often every image counts."""
    with np.errstate(divide="ignore", invalid="ignore"):
        every = [1 - (counts @ broken) / (counts @ whole) for whole, broken in sums.values()]
    return np.asarray(100 * np.mean(every, axis=0))


@dataclass(frozen=True, slots=True)
class Recipe(Schedule):
    """How PR-MCS is trained: passes over all captions, by the weights of its loss. Source: paper B, B.1 and B.2."""

    losses: LossWeights = field(default_factory=LossWeights)


@dataclass(frozen=True, slots=True)
class Material:
    """What is trained on."""

    train: Sequence[Example]
    held_out: Sequence[Example]
    embeddings: "Mapping[str, Tensor]"  # of the image of each example, float32 [d], by id; the image tower is frozen
    identity: str  # digest of what the embeddings and captions come from, for a resumed training


@dataclass(frozen=True, slots=True)
class Gain:
    """Held-out images before and after."""

    before: HeldOut
    after: HeldOut
    spearman: float  # between unedited scores before and after, over all held-out captions
    steps: int


class Tuner(Trainer[Example, HeldOut, Gain]):
    """Trains a text encoder against embeddings of images."""

    def __init__(self, network: Any, material: Material, recipe: Recipe, *, folder: Path) -> None:
        super().__init__(network, recipe, identity=material.identity, folder=folder)
        self.material, self.recipe = material, recipe

    def score(self, images: Sequence[str], captions: Sequence[str]) -> np.ndarray:
        """Cosines of images and captions, float64 [n]."""
        import torch

        pictures = torch.stack([self.material.embeddings[image] for image in images])
        texts = self.embed_all(captions)
        return np.asarray(torch.nn.functional.cosine_similarity(pictures.double(), texts.double(), dim=-1).numpy())

    def batches(self, epoch: int) -> list[list[Example]]:
        """Batches that hold each image once."""
        return batches(self.material.train, size=self.recipe.batch, seed=self.recipe.seed, epoch=epoch)

    def losses(self, batch: Sequence[Example], epoch: int) -> PrMcsLosses:
        """The recipe's losses of captions, whole and perturbed anew each epoch."""
        import torch

        broken = [perturb(each, seed=self.recipe.seed, epoch=str(epoch))[1] for each in batch]
        texts = self.embed([each.caption for each in batch] + broken)
        images = torch.stack([self.material.embeddings[each.image] for each in batch]).to(self.device)
        return pr_mcs_losses(images, texts[: len(batch)], texts[len(batch) :], self.recipe.losses)

    def measure(self) -> HeldOut:
        """How far held-out captions fall when they are broken."""
        return measure(self.material.held_out, self.score, seed=self.recipe.seed)

    def gain(self, before: HeldOut, after: HeldOut, done: int) -> Gain:
        """Both measurements, and whether whole captions keep their order."""
        return Gain(before, after, rank_correlation(before.clean, after.clean), done)

    def told(self, gain: Gain) -> Mapping[str, Any]:
        """The measurement, and ρ where it is a number."""
        order = {"spearman": gain.spearman} if gain.spearman == gain.spearman else {}
        return {**gain.after.as_dict(), **order}


ENCODER, TRAINING = "pr-mcs", "pr-mcs-training"
"""Folders of a training: what ``pr-mcs`` loads, and the state with the curves."""


def train_pr_mcs(
    corpus: Corpus,
    recipe: Recipe,
    *,
    out: Path,
    weights: Path | None = None,
    languages: Sequence[str] = (),
    most: int | None = None,
    report: Report | None = None,
    reading: Report | None = None,
) -> Trained[Gain]:
    """Tune the text encoder of MCS against perturbed captions and keep it in the format that it came in. Raises
    NotAvailable without MCS's weights, names the command that gets them; InvalidInput if the corpus has too few
    captions, or ``out`` holds a training that is neither to be resumed nor overwritten; StoreError if the disk is full,
    the last checkpoint stands.

    Args:
        out: gets the folders ``pr-mcs`` (the encoder, whole or not at all) and ``pr-mcs-training``.
        weights: folder of MCS's weights, as ``mcs@weights`` takes it; None: those that ``mcs`` uses.
        languages: of the captions; none for all that the corpus has.
        most: captions to learn from, drawn by the seed; None: all that stay. Source: paper B's few-shot: 300.
        reading: called with images embedded and images in all.
    """
    found, blank = examples(corpus.items, languages)
    folder = out / TRAINING
    make_room(out / ENCODER, folder, recipe)
    kind = Mcs if weights is None else find(f"mcs@{weights}")
    assert issubclass(kind, Mcs)  # a checkpoint of MCS is bound to MCS
    kind.check_available()
    places = kind.places()
    towers = kind.open(places, recipe.device)
    items = {each.id: each for each in corpus.items}
    wanted = [items[name] for name in dict.fromkeys(each.image for each in found)]
    embeddings, unread = _embed(wanted, towers, folder / "images.safetensors", reading)
    found = tuple(each for each in found if each.image in embeddings)
    train, apart = split(found, held_out=recipe.held_out, seed=recipe.seed)
    train = few(train, most, seed=recipe.seed)
    sides = {"train": train, "held_out": apart}
    texts = {side: [(each.image, each.language, each.caption) for each in own] for side, own in sides.items()}
    identity = digest_of({"towers": towers.digest, **texts})
    about = {"corpus": corpus.name, "description": corpus.description, "towers": towers.digest}
    spoken, many = sorted({each.language for each in found}), {side: len(own) for side, own in sides.items()}
    more = {"languages": spoken, **many, "device": recipe.device, "recipe": recipe.settings}
    write_json(folder / "settings.json", {**about, **more})
    network = towers.text.network
    tuner = Tuner(network, Material(train, apart, embeddings, identity), recipe, folder=folder)
    gain = tuner.run(report=report)
    keep_encoder(network, out / ENCODER, places[1:])
    left_out = {"blank-caption": blank, "unreadable-image": unread}
    return Trained(out, gain, len(train), len(apart), {name: count for name, count in left_out.items() if count})


def _embed(
    items: Sequence[Item], towers: "Towers", path: Path, reading: Report | None
) -> "tuple[dict[str, Tensor], int]":
    """Embed every image once; also returns how many cannot be read."""
    by_id = {item.id: item for item in items}

    def embed(ids: Sequence[str]) -> "Mapping[str, Tensor]":
        pictures = {}
        for name in ids:
            with suppress(BadImage):
                pictures[name] = read_item(by_id[name]).pixels
        return dict(zip(pictures, towers.encode_images(list(pictures.values())), strict=True)) if pictures else {}

    found = kept_embeddings(list(by_id), embed, path, digest=towers.digest, chunk=64, every=2048, report=reading)
    return found, len(by_id) - len(found)
