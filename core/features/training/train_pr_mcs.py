"""PR-MCS from MCS: the encoder and the frozen image tower opened, the pictures embedded once, the result kept."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from core.corpora.item_pictures import read_item
from core.corpora.schema import Corpus, Item
from core.errors import BadImage, NotAvailable
from core.evaluators.metrics.mcs import Mcs
from core.evaluators.registry import find
from core.evaluators.weights.fetched import Place
from core.features.training.encoder_files import keep_encoder, kept_embeddings, make_room
from core.features.training.trainer import Report, digest_of
from core.features.training.triplets import Example, examples, few, split
from core.features.training.tuning import Gain, Material, Recipe, Tuner
from core.store.text_files import write_json

if TYPE_CHECKING:
    from torch import Tensor

    from core.evaluators.towers.encoder import Towers

ENCODER, TRAINING = "pr-mcs", "pr-mcs-training"
"""Folders of a training: what ``pr-mcs`` loads, and the state with the curves."""


@dataclass(frozen=True, slots=True)
class Trained:
    """What came out.

    Args:
        folder: ``pr-mcs@folder`` scores with it.
        left_out: images by the reason that they could not be read for, and blank captions.
    """

    folder: Path
    gain: Gain
    train: int
    held_out: int
    left_out: Mapping[str, int]


def train_pr_mcs(
    corpus: Corpus,
    recipe: Recipe,
    *,
    out: Path,
    weights: Path | None = None,
    languages: Sequence[str] = (),
    held_out: float = 0.1,
    most: int | None = None,
    device: str = "cpu",
    resume: bool = False,
    overwrite: bool = False,
    report: Report | None = None,
    reading: Report | None = None,
) -> Trained:
    """Tune the text encoder of MCS against perturbed captions and keep it in the format that it came in.

    Args:
        out: gets the folders ``pr-mcs`` (the encoder, whole or not at all) and ``pr-mcs-training``.
        weights: folder of MCS's weights, as ``mcs@weights`` takes it; None: those that ``mcs`` uses.
        languages: of the captions; none for all that the corpus has.
        held_out: share of the images that are only measured. Source: paper B, B.1 (9 : 1), and 0.9 for its few-shot.
        most: captions to learn from, drawn by the seed; None: all that stay. Source: paper B's few-shot: 300.
        reading: called with images embedded and images in all.

    Raises:
        NotAvailable: without MCS's weights; names the command that gets them.
        InvalidInput: if the corpus has too few captions, or ``out`` holds a training and neither ``resume`` nor
            ``overwrite`` is set.
        StoreError: if the disk is full; the last checkpoint stands.
    """
    found, blank = examples(corpus.items, languages)
    folder = out / TRAINING
    make_room(out / ENCODER, folder, resume=resume, overwrite=overwrite)
    places, towers = _open(weights, device)
    items = {each.id: each for each in corpus.items}
    wanted = [items[name] for name in dict.fromkeys(each.image for each in found)]
    embeddings, unread = _embed(wanted, towers, folder / "images.safetensors", reading)
    found = tuple(each for each in found if each.image in embeddings)
    train, apart = split(found, held_out=held_out, seed=recipe.seed)
    train = few(train, most, seed=recipe.seed)
    identity = digest_of({"towers": towers.digest, "train": _texts(train), "held_out": _texts(apart)})
    write_json(
        folder / "settings.json",
        {
            "corpus": corpus.name,
            "description": corpus.description,
            "towers": towers.digest,
            "languages": sorted({each.language for each in found}),
            "train": len(train),
            "held_out": len(apart),
            "device": device,
            "recipe": asdict(recipe),
        },
    )
    network = towers.text.network
    tuner = Tuner(network, Material(train, apart, embeddings, identity), recipe, folder=folder, device=device)
    gain = tuner.run(resume=resume, report=report)
    keep_encoder(network, out / ENCODER, places[1:])
    left_out = {"blank-caption": blank, "unreadable-image": unread}
    return Trained(out, gain, len(train), len(apart), {name: count for name, count in left_out.items() if count})


def _open(weights: Path | None, device: str) -> "tuple[tuple[Place, ...], Towers]":
    kind = Mcs if weights is None else find(f"mcs@{weights}")
    assert issubclass(kind, Mcs)  # a checkpoint of MCS is bound to MCS
    available = kind.availability()
    if not available.ready:
        raise NotAvailable(f"{available.reason}; run: {available.command}")
    places = kind.places()
    return places, kind.open(places, device)


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


def _texts(found: Sequence[Example]) -> list[tuple[str, str, str]]:
    return [(each.image, each.language, each.caption) for each in found]
