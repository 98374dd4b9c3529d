"""The state of a training in one safetensors file: weights, optimizer, random numbers; no pickle."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.errors import InvalidInput
from core.writing import write_bytes

if TYPE_CHECKING:
    from torch import Tensor
    from torch.optim import Optimizer

_FORMAT = "1"


def save_state(path: Path, network: Any, optimizer: "Optimizer", *, step: int, settings: str) -> None:
    """Write the state as a whole file or nothing.

    Args:
        step: how many have been made.
        settings: digest of everything that a resumed training must share.

    Raises:
        StoreError: if the file cannot be written; the one before still stands.
    """
    import torch
    from safetensors.torch import save

    tensors: dict[str, Tensor] = {f"model.{name}": value for name, value in network.state_dict().items()}
    for index, values in optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer.{index}.{name}": value for name, value in values.items()}
    tensors["random.cpu"] = torch.get_rng_state()
    if torch.cuda.is_available():
        tensors["random.cuda"] = torch.cuda.get_rng_state()
    packed = {name: value.detach().cpu().contiguous().clone() for name, value in tensors.items()}
    data = save(packed, metadata={"format": _FORMAT, "step": str(step), "settings": settings})
    write_bytes(path, data)


def load_state(path: Path, network: Any, optimizer: "Optimizer", *, settings: str) -> int:
    """Fill network, optimizer and random numbers; return the number of steps made.

    Raises:
        InvalidInput: if the file is damaged, or belongs to a training with other settings.
    """
    import torch
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="pt", device="cpu") as file:
            about = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, ValueError) as error:
        raise InvalidInput(f"{path} is damaged ({error}); start over with --overwrite") from error
    if about.get("settings") != settings:
        raise InvalidInput(f"{path} belongs to a training with other settings; resume with those, or --overwrite")
    try:
        network.load_state_dict(_under("model.", tensors))
        moments: dict[int, dict[str, Tensor]] = {}
        for name, value in _under("optimizer.", tensors).items():
            index, _, key = name.partition(".")
            moments.setdefault(int(index), {})[key] = value
        groups = optimizer.state_dict()["param_groups"]
        optimizer.load_state_dict({"state": moments, "param_groups": groups})
        torch.set_rng_state(tensors["random.cpu"])
        if torch.cuda.is_available() and "random.cuda" in tensors:
            torch.cuda.set_rng_state(tensors["random.cuda"])
        return int(about["step"])
    except (RuntimeError, KeyError, ValueError, TypeError) as error:
        raise InvalidInput(f"{path} does not fit this encoder ({error!s:.160}); start over with --overwrite") from error


def digest_of(settings: dict[str, Any]) -> str:
    """Digest of settings, the same in any order of their names."""
    import hashlib

    return hashlib.sha256(json.dumps(settings, sort_keys=True, default=str).encode()).hexdigest()


def _under(prefix: str, tensors: "dict[str, Tensor]") -> "dict[str, Tensor]":
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}
