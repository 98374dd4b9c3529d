"""Reading checkpoint files from outside: tensors by name, never a Python object."""

import pickle
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from core.corpora.ordinary_paths import ordinary
from core.errors import NotAvailable, first_line

if TYPE_CHECKING:
    from torch import Tensor

State = dict[str, "Tensor"]
KINDS = (".pt", ".pth", ".bin", ".ckpt", ".safetensors")  # how files of tensors end
_PICKLED = b"\x80"  # the first byte of a pickle that says its protocol, as every version of torch.save writes it


def read_state(path: Path, *, finite: bool = True) -> State:
    """Return the tensors of a checkpoint by name.
    The tensors may be the file's own pages: copy them into a network, and keep none.
    Reads PyTorch files (plain or as ``{"state_dict": …}``, with or without the ``module.`` of a data-parallel model),
    TorchScript archives such as OpenAI publishes, and safetensors.
    ``finite``: whether every value is looked at and must be a finite number.
    Raises NotAvailable if the file is none of these, is cut off, was written by a newer PyTorch, holds anything but
    tensors, or values that are no finite numbers; one sentence."""
    refuse_other(path)
    import torch

    if path.suffix == ".safetensors":
        from safetensors import SafetensorError
        from safetensors.torch import load_file

        try:
            state = load_file(path)
        except (SafetensorError, OSError, ValueError) as error:
            told = f"{path} is no whole safetensors file ({first_line(error)[:160]}); fetch it again"
            raise NotAvailable(told) from error
    else:
        state = _named(path, _torchscript(path) if _is_torchscript(path) else _torch(path))
    kinds = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
    for name, value in state.items() if finite else ():
        # CLIP's mask, which some files keep among their tensors, is minus infinity where no word may look
        if value.dtype not in kinds or not value.numel() or name.rpartition(".")[2] == "attn_mask":
            continue
        ends = torch.stack(torch.aminmax(value.detach()))  # both are NaN where any value is; takes no copy
        if not torch.isfinite(ends).all():
            raise NotAvailable(f"{path}: the tensor {name!r} holds values that are NaN or infinite; give a sound copy")
    return state


def refuse_other(path: Path) -> None:
    """Refuse what its first bytes and its end show to be no whole checkpoint; nothing between them is read.
    Raises NotAvailable for an empty file, a web page, a Git LFS pointer and an archive that is cut off; one sentence.
    Raises InvalidInput for a pipe or a device."""
    with ordinary(path).open("rb") as stream:
        head = stream.read(512)
    if not head:
        raise NotAvailable(f"{path} is empty; fetch it again")
    start = head.lstrip().lower()
    if start.startswith((b"<!doctype", b"<html", b"<?xml")):
        raise NotAvailable(f"{path} is a web page, not a checkpoint; open the address in a browser and save the file")
    if start.startswith(b"version https://git-lfs"):
        raise NotAvailable(f"{path} is a Git LFS pointer, not the checkpoint; fetch the file that it points to")
    if head.startswith(b"PK") and not zipfile.is_zipfile(path):
        raise NotAvailable(f"{path} is cut off or damaged ({path.stat().st_size:,} bytes); fetch it again")


def _is_torchscript(path: Path) -> bool:
    if not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        return any(name.endswith("/constants.pkl") for name in archive.namelist())


def _torchscript(path: Path) -> object:
    import warnings

    import torch

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that TorchScript is old does not help who has the publisher's file
            module = torch.jit.load(str(path), map_location="cpu")
    except RuntimeError as error:
        raise NotAvailable(
            f"{path} cannot be read as TorchScript: {first_line(error)[:160]}; fetch it again"
        ) from error
    shapes = ("input_resolution", "context_length", "vocab_size")  # OpenAI stores three numbers among the tensors
    return {name: value for name, value in module.state_dict().items() if name not in shapes}


def _torch(path: Path) -> object:
    import warnings

    import torch

    with path.open("rb") as stream:
        pickled = stream.read(len(_PICKLED)) == _PICKLED
    if not zipfile.is_zipfile(path) and not pickled:  # torch would take any text for a program
        raise NotAvailable(f"{path} is no PyTorch checkpoint; give the publisher's file")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what is wrong is said below, once
            # Mapped, a file's pages are read as the network is filled and need no memory of their own.
            return torch.load(path, map_location="cpu", weights_only=True, mmap=zipfile.is_zipfile(path))
    except (RuntimeError, EOFError, OSError, ValueError, KeyError, pickle.UnpicklingError) as error:
        why = f"is no PyTorch checkpoint ({type(error).__name__}); give the publisher's file"
        if "maximum supported version" in str(error):
            why = "was written by a newer PyTorch than the one here; update torch, or save it again with this one"
        elif isinstance(error, pickle.UnpicklingError):
            why = "holds Python objects beside tensors and is refused: loading them could run code; save its state dict"
        elif isinstance(error, EOFError) or "zip archive" in str(error) or "PytorchStreamReader" in str(error):
            why = f"is cut off or damaged ({path.stat().st_size:,} bytes); fetch it again"
        raise NotAvailable(f"{path} {why}") from error


def _named(path: Path, content: object) -> State:
    import torch

    if isinstance(content, Mapping) and isinstance(content.get("state_dict"), Mapping):
        content = content["state_dict"]
    if not isinstance(content, Mapping) or not content:
        raise NotAvailable(f"{path} holds a {type(content).__name__}, not tensors by name; give a state dict")
    strangers = [name for name, value in content.items() if not isinstance(value, torch.Tensor)]
    if strangers:
        raise NotAvailable(f"{path} holds more than tensors, e.g. {str(strangers[0])!r}; give its state dict alone")
    return {str(name).removeprefix("module."): value for name, value in content.items()}
