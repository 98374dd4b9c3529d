"""What adapters to other people's packages share: whether a package is here, pictures as files, a digest of weights.

Names by which CaptionEvalKit and the publishers' scripts call a metric, and what scores it here.
"""

import hashlib
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any

import numpy as np
from PIL import Image

from core.corpora.images import check_rgb
from core.errors import InvalidInput
from core.evaluators.base import Availability


@dataclass(frozen=True, slots=True)
class Package:
    """A package that an adapter calls. ``programs``: that it calls, beside what pip installs."""

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
    ``images``: n arrays, uint8 RGB [H, W, 3]; one that stands there several times is written once.
    Yields a folder that goes with them, and n paths in it.
    Raises InvalidInput for an array that is no such picture."""
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
    ``networks``: in an order that does not change."""
    import torch

    digest = hashlib.sha256()
    for network in networks:
        for name, tensor in sorted(network.state_dict().items()):
            digest.update(f"{name} {tuple(tensor.shape)} {tensor.dtype}\n".encode())
            digest.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy())
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class PublishedName:
    """One metric under two names.
    ``evaluator``: its name here.
    ``shown``: the key of its scores in the publishers' and in CaptionEvalKit's output."""

    evaluator: str
    shown: str


_KNOWN: Mapping[str, PublishedName] = MappingProxyType(
    {
        alias: PublishedName(evaluator, shown)
        for evaluator, shown, aliases in (
            ("clipscore", "CLIPScore", ()),
            ("refclipscore", "RefCLIPScore", ()),
            ("pac-s", "PAC-S", ("pacscore",)),
            ("refpac-s", "RefPAC-S", ("refpacscore",)),
            ("pac-s-l14", "PAC-S", ("pacscore-vitl",)),
            ("refpac-s-l14", "RefPAC-S", ("refpacscore-vitl",)),
            ("pac-s++", "PAC-S++", ("pacscorepp",)),
            ("refpac-s++", "RefPAC-S++", ("refpacscorepp",)),
            ("fleur", "FLEUR", ()),
            ("reffleur", "RefFLEUR", ()),
        )
        for alias in (evaluator, *aliases)
    }
)
"""By the lower-case name. Source: CaptionEvalKit 0.1.3, names of its metrics and keys of its output."""

_ELSEWHERE = frozenset(
    (
        "clipscore-vitl",
        "clipscoreavg",
        "pacscoreavg",
        "pacscoreppavg",
        "meteor",
        "spice",
        "jaspice",
        "polos",
        "vela",
        "expert",
    )
)
"""Metrics of CaptionEvalKit, in lower case, that nothing here computes."""

_BESIDE = frozenset(("bleu", "rouge", "cider"))
"""Metrics of CaptionEvalKit, in lower case, that stand beside a score of pictures."""


def published_name(reference: str) -> PublishedName | None:
    """Return the metric that a publisher's or CaptionEvalKit's name means; None where it is no such name.
    Raises InvalidInput for a metric of CaptionEvalKit that is not here.

    >>> published_name("PACScore")
    PublishedName(evaluator='pac-s', shown='PAC-S')
    """
    name = reference.lower()
    if name in _ELSEWHERE:
        raise InvalidInput(f"{reference} is not computed here; 'python -m core evaluators' lists what is")
    if name in _BESIDE:
        raise InvalidInput(
            f"{reference} is no evaluator of pictures; it stands beside one with --compute_other_ref_metrics 1"
        )
    return _KNOWN.get(name)
