"""The folders of a training: room for them, and an encoder that is there as a whole or not at all."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core.errors import InvalidInput, StoreError
from core.evaluators.weights.fetched import Place
from core.store.files import cannot_write
from core.training.trainer import FILES_OF_A_TRAINING


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
    draft, old = (encoder.parent / f".{encoder.name}.{word}" for word in ("new", "old"))
    try:
        for each in (draft, old):
            shutil.rmtree(each, ignore_errors=True)
        network.cpu().eval().save(str(draft), create_model_card=False)
        for place in beside:
            if place.own and not (encoder.parent / place.weights.id).exists():
                (path,) = place.files()
                shutil.copyfile(path, _inside(encoder.parent, place))
        if encoder.exists():
            encoder.rename(old)
        draft.rename(encoder)
        shutil.rmtree(old, ignore_errors=True)
    except OSError as error:
        raise StoreError(cannot_write(encoder, error)) from error
    except Exception as error:  # safetensors has an error of its own for a full disk
        raise StoreError(f"{encoder} cannot be written: {error!s:.200}; start again with --resume") from error


def _inside(out: Path, place: Place) -> Path:
    folder = out / place.weights.id
    folder.mkdir()
    return folder / place.weights.files[0].name
