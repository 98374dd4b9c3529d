"""The folders of a training: room for them, and an encoder that is there as a whole or not at all."""

import shutil
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from core.errors import InvalidInput, StoreError
from core.evaluators.weights.fetched import Place
from core.training.trainer import FILES_OF_A_TRAINING
from core.writing import write_folder_whole, write_whole


def make_room(encoder: Path, training: Path, *, resume: bool, overwrite: bool) -> None:
    """Refuse to replace what stands; with ``overwrite`` forget the training, and its encoder once there is another.

    Raises:
        InvalidInput: if something stands and neither is set, or both are.
    """
    if resume and overwrite:
        raise InvalidInput("--resume and --overwrite exclude each other; choose one")
    standing = [each for each in (encoder, training) if each.exists()]
    if overwrite:
        for name in FILES_OF_A_TRAINING:
            (training / name).unlink(missing_ok=True)
    elif standing and not resume:
        raise InvalidInput(f"{standing[0]} exists; --resume goes on with it, --overwrite starts over")


def keep_encoder(network: Any, encoder: Path, beside: Sequence[Place] = ()) -> None:
    """Write an encoder aside and give it its name in one step.

    Args:
        network: a SentenceTransformer.
        beside: weights of one file of the user's own, copied into the folder above unless they are there.

    Raises:
        StoreError: if it cannot be written; what stood there still stands.
    """
    try:
        for place in beside:
            if place.own and not (encoder.parent / place.weights.id).exists():
                (path,) = place.files()
                write_whole(encoder.parent / place.weights.id / place.weights.files[0].name, partial(_copy, path))
        write_folder_whole(encoder, partial(_save, network.cpu().eval()), standing="replaced")
    except StoreError:
        raise
    except Exception as error:  # safetensors has an error of its own for a full disk
        raise StoreError(f"{encoder} cannot be written: {error!s:.200}; start again with --resume") from error


def _save(network: Any, folder: Path) -> None:
    network.save(str(folder), create_model_card=False)


def _copy(path: Path, temporary: Path) -> None:
    shutil.copyfile(path, temporary)
