"""Which weights another package loaded: a digest of the tensors themselves, since it does not say which file."""

import hashlib
from collections.abc import Iterable
from typing import Any


def tensors_digest(networks: Iterable[Any]) -> str:
    """sha256 over every parameter and buffer of modules: name, shape, type and bytes.

    Args:
        networks: in an order that does not change.
    """
    import torch

    digest = hashlib.sha256()
    for network in networks:
        for name, tensor in sorted(network.state_dict().items()):
            digest.update(f"{name} {tuple(tensor.shape)} {tensor.dtype}\n".encode())
            digest.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy())
    return digest.hexdigest()
