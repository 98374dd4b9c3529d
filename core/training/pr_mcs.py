"""PR-MCS from MCS: the encoder and the frozen image tower opened, the pictures embedded once, the result kept."""

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.corpora.pictures import read_item
from core.corpora.schema import Corpus, Item
from core.errors import BadImage, InvalidInput, NotAvailable, StoreError
from core.evaluators.metrics.mcs import Mcs
from core.evaluators.registry import find
from core.evaluators.weights.fetched import Place
from core.store.files import cannot_write, write_json, write_whole
from core.training.state import digest_of
from core.training.trainer import FILES_OF_A_TRAINING, Gain, Material, Recipe, Report, Trainer
from core.training.triplets import Example, examples, few, split

if TYPE_CHECKING:
    from torch import Tensor

    from core.evaluators.towers.encoder import Towers

ENCODER, TRAINING = "pr-mcs", "pr-mcs-training"
"""Folders of a training: what ``pr-mcs`` loads, and the state with the curves."""

_CHUNK = 64
_KEEP_EVERY = 2048


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
    _make_room(out, resume=resume, overwrite=overwrite)
    places, towers = _open(weights, device)
    items = {each.id: each for each in corpus.items}
    wanted = [items[name] for name in dict.fromkeys(each.image for each in found)]
    embeddings, unread = _embed(wanted, towers, folder / "images.safetensors", reading)
    found = tuple(each for each in found if each.image in embeddings)
    train, apart = split(found, held_out=held_out, seed=recipe.seed)
    train = few(train, most, seed=recipe.seed)
    identity = digest_of({"towers": towers.digest, "train": _texts(train), "held_out": _texts(apart)})
    write_json(folder / "settings.json", {"corpus": corpus.name, "description": corpus.description,
        "towers": towers.digest, "languages": sorted({each.language for each in found}), "train": len(train),
        "held_out": len(apart), "device": device, "recipe": asdict(recipe)})  # fmt: skip
    network = towers.text.network
    trainer = Trainer(network, Material(train, apart, embeddings, identity), recipe, folder=folder, device=device)
    gain = trainer.run(resume=resume, report=report)
    _keep(network, out, places)
    left_out = {"blank-caption": blank, "unreadable-image": unread}
    return Trained(out, gain, len(train), len(apart), {name: count for name, count in left_out.items() if count})


def _make_room(out: Path, *, resume: bool, overwrite: bool) -> None:
    if resume and overwrite:
        raise InvalidInput("--resume and --overwrite exclude each other; choose one")
    standing = [out / name for name in (ENCODER, TRAINING) if (out / name).exists()]
    if overwrite:
        for name in FILES_OF_A_TRAINING:
            (out / TRAINING / name).unlink(missing_ok=True)
    elif standing and not resume:
        raise InvalidInput(f"{standing[0]} exists; --resume goes on with it, --overwrite starts over")


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
    """Embed every image once; what a stopped training has embedded is taken up again."""
    known = _read_embeddings(path, towers.digest)
    missing = [item for item in items if item.id not in known]
    unread = 0
    for start in range(0, len(missing), _CHUNK):
        part = missing[start : start + _CHUNK]
        pictures = {}
        for item in part:
            try:
                pictures[item.id] = read_item(item).pixels
            except BadImage:
                unread += 1
        if pictures:
            known |= dict(zip(pictures, towers.encode_images(list(pictures.values())), strict=True))
        done = start + len(part)
        if done % _KEEP_EVERY == 0 or done == len(missing):
            _write_embeddings(path, known, towers.digest)
        if reading is not None:
            reading(done, len(missing))
    return {item.id: known[item.id] for item in items if item.id in known}, unread


def _read_embeddings(path: Path, digest: str) -> "dict[str, Tensor]":
    from safetensors import SafetensorError, safe_open

    if not path.is_file():
        return {}
    try:
        with safe_open(path, framework="pt", device="cpu") as file:
            about = file.metadata() or {}
            if about.get("towers") != digest:
                return {}
            return dict(zip(json.loads(about["images"]), file.get_tensor("embeddings"), strict=True))
    except (SafetensorError, OSError, ValueError, KeyError):  # a copy of what can be made again
        return {}


def _write_embeddings(path: Path, known: "Mapping[str, Tensor]", digest: str) -> None:
    import torch
    from safetensors.torch import save

    if not known:
        return
    about = {"towers": digest, "images": json.dumps(list(known))}
    data = save({"embeddings": torch.stack(list(known.values()))}, metadata=about)
    write_whole(path, lambda temporary: _write(temporary, data))


def _texts(found: Sequence[Example]) -> list[tuple[str, str, str]]:
    return [(each.image, each.language, each.caption) for each in found]


def _keep(network: Any, out: Path, places: Sequence[Place]) -> None:
    """Write the encoder aside and give it its name in one step; beside it the user's own image tower."""
    _, image = places
    draft, old = out / f".{ENCODER}.new", out / f".{ENCODER}.old"
    try:
        for each in (draft, old):
            shutil.rmtree(each, ignore_errors=True)
        network.cpu().eval().save(str(draft), create_model_card=False)
        if image.own and not (out / image.weights.id).exists():
            (path,) = image.files()
            shutil.copyfile(path, _inside(out, image))
        if (out / ENCODER).exists():
            (out / ENCODER).rename(old)
        draft.rename(out / ENCODER)
        shutil.rmtree(old, ignore_errors=True)
    except OSError as error:
        raise StoreError(cannot_write(out / ENCODER, error)) from error
    except Exception as error:  # safetensors has an error of its own for a full disk
        raise StoreError(f"{out / ENCODER} cannot be written: {error!s:.200}; start again with --resume") from error


def _inside(out: Path, image: Place) -> Path:
    folder = out / image.weights.id
    folder.mkdir()
    return folder / image.weights.files[0].name


def _write(path: Path, data: bytes) -> None:
    path.write_bytes(data)
