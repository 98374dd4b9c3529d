"""What adapters to other people's packages share: whether a package is here, pictures as files, a digest of weights."""

import hashlib
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from PIL import Image

from core.corpora.images import check_rgb
from core.evaluators.base import Availability


@dataclass(frozen=True, slots=True)
class Package:
    """A package that an adapter calls.

    Args:
        module: that is imported.
        distribution: name for ``pip install``.
        programs: that it calls, beside what pip installs.
    """

    module: str
    distribution: str
    programs: tuple[str, ...] = ()

    @property
    def command(self) -> str:
        """The one command that gets it."""
        return f"pip install {self.distribution}"

    def availability(self) -> Availability:
        """Whether it and its programs are here. Nothing is imported."""
        if find_spec(self.module) is None:
            return Availability(False, f"the package {self.distribution} is not installed", self.command)
        missing = [name for name in self.programs if shutil.which(name) is None]
        if missing:
            why = f"{self.distribution} calls the program {missing[0]}, which is not on this machine"
            return Availability(False, why, f"install {missing[0]} and put it on the PATH")
        return Availability(True)

    def versions(self, others: Sequence[str] = ()) -> Mapping[str, str]:
        """Versions of it and of other packages that are here, by their names for pip."""
        found = {}
        for name in (self.distribution, *others):
            try:
                found[name] = version(name)
            except PackageNotFoundError:
                continue
        return found


@contextmanager
def as_files(images: Sequence[np.ndarray]) -> Iterator[tuple[Path, list[Path]]]:
    """Write pictures as PNG, which keeps every pixel, until the ``with`` block ends.

    Args:
        images: n arrays, uint8 RGB [H, W, 3]; one that stands there several times is written once.

    Yields:
        A folder that goes with them, and n paths in it.

    Raises:
        InvalidInput: for an array that is no such picture.
    """
    for image in images:
        check_rgb(image)
    with TemporaryDirectory(prefix="invariscope-") as name:
        folder = Path(name)
        written: dict[int, Path] = {}
        for image in images:
            if id(image) not in written:
                written[id(image)] = folder / f"{len(written):06d}.png"
                Image.fromarray(image).save(written[id(image)], compress_level=1)
        yield folder, [written[id(image)] for image in images]


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
