"""Embeddings that a training learns from: computed once, kept in one safetensors file, taken up again."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from core.writing import write_bytes

if TYPE_CHECKING:
    from torch import Tensor

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
    """Embed every id once; what a stopped training has embedded is taken up again.

    Args:
        path: the file; one that is damaged or of other towers is made again.
        digest: of the towers.
        chunk, every: ids embedded at once, and ids after which the file is written.
        report: called with ids looked at and ids to look at.

    Raises:
        StoreError: if the file cannot be written.
    """
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
