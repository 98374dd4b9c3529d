"""Folders of a training: room for them, embeddings that it learns from, an encoder that is whole or not there."""

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.errors import InvalidInput, StoreError
from core.evaluators.weights.fetched import Place
from core.features.training.trainer import FILES_OF_A_TRAINING, Schedule
from core.writing import write_bytes, write_folder_whole, write_whole

if TYPE_CHECKING:
    from torch import Tensor


def make_room(encoder: Path, training: Path, schedule: Schedule) -> None:
    """Refuse to replace what stands; with ``overwrite`` forget the training, and its encoder once there is another.
    Raises InvalidInput if something stands and neither is set, or both are."""
    if schedule.resume and schedule.overwrite:
        raise InvalidInput("--resume and --overwrite exclude each other; choose one")
    standing = [each for each in (encoder, training) if each.exists()]
    if schedule.overwrite:
        for name in FILES_OF_A_TRAINING:
            (training / name).unlink(missing_ok=True)
    elif standing and not schedule.resume:
        raise InvalidInput(f"{standing[0]} exists; --resume goes on with it, --overwrite starts over")


def keep_encoder(network: Any, encoder: Path, beside: Sequence[Place] = ()) -> None:
    """Write a SentenceTransformer aside and give it its name in one step, weights of one file of the user's own beside
    it unless they are there. Raises StoreError if it cannot be written; what stood there still stands."""
    try:
        for place in beside:
            if place.own and not (encoder.parent / place.weights.id).exists():
                (path,) = place.files()
                write_whole(encoder.parent / place.weights.id / place.weights.files[0].name, partial(_copy, path))
        write_folder_whole(encoder, partial(_save, network.cpu().eval()), standing="replaced")
    except StoreError:
        raise
    except Exception as error:  # safetensors has its own error for a full disk
        raise StoreError(f"{encoder} cannot be written: {error!s:.200}; start again with --resume") from error


def _save(network: Any, folder: Path) -> None:
    network.save(str(folder), create_model_card=False)


def _copy(path: Path, temporary: Path) -> None:
    shutil.copyfile(path, temporary)


Embed = Callable[[Sequence[str]], "Mapping[str, Tensor]"]
"""Maps ids to embeddings, float32 [d]; what cannot be embedded is left out."""


def kept_embeddings(
    ids: Sequence[str],
    embed: Embed,
    path: Path,
    *,
    digest: str,
    chunk: int,
    every: int,
    report: Callable[[int, int], None] | None = None,
) -> "dict[str, Tensor]":
    """Embed every id once, by chunks; what a stopped training has embedded (written after ``every`` ids) is taken up
    again, a file that is damaged or of other towers is made again. Raises StoreError if it cannot be written."""
    known = _read(path, digest)
    missing = [each for each in ids if each not in known]
    unwritten = 0
    for start in range(0, len(missing), chunk):
        part = missing[start : start + chunk]
        known |= embed(part)
        done, unwritten = start + len(part), unwritten + len(part)
        if known and (unwritten >= every or done == len(missing)):
            _write(path, known, digest)
            unwritten = 0
        if report is not None:
            report(done, len(missing))
    return {each: known[each] for each in ids if each in known}


def _read(path: Path, digest: str) -> "dict[str, Tensor]":
    from safetensors import SafetensorError, safe_open

    if not path.is_file():
        return {}
    try:
        with safe_open(path, framework="pt", device="cpu") as file:
            about = file.metadata() or {}
            if about.get("towers") != digest:
                return {}
            return dict(zip(json.loads(about["ids"]), file.get_tensor("embeddings"), strict=True))
    except (SafetensorError, OSError, ValueError, KeyError):  # a copy of what can be made again
        return {}


def _write(path: Path, known: "Mapping[str, Tensor]", digest: str) -> None:
    import torch
    from safetensors.torch import save

    about = {"towers": digest, "ids": json.dumps(list(known))}
    data = save({"embeddings": torch.stack(list(known.values()))}, metadata=about)
    write_bytes(path, data)
