"""Tux Paint's stamps: fetched from Debian without root, cut out, read with their captions."""

import shutil
import subprocess
import tempfile
from io import BytesIO
from pathlib import Path

import numpy as np
from PIL import Image

from core.errors import BadCorpus, InvalidInput, NotAvailable
from core.writing import write_folder_whole

PACKAGE = "tuxpaint-stamps-default"
PACKAGE_VERSION = "2022.06.04-1"
"""The version that the shipped corpus was built from."""

LICENCE = "GPL-2.0-or-later"
COPYRIGHT = "2002-2022 Bill Kendrick and the contributors of Tux Paint"

_INSIDE_PACKAGE = Path("usr/share/tuxpaint/stamps")
_ELSEWHERE = "give --stamps FOLDER (an unpacked usr/share/tuxpaint/stamps) or --deb FILE (the Debian package)"
_MAX_STAMP_SIDE = 4096
_DRAWING_WIDTH = 640
"""Drawings have no size of their own; they are rendered this wide, in pixels."""


def find_stamps(cache: Path, *, stamps: Path | None = None, deb: Path | None = None) -> Path:
    """Return a folder of stamps: the one given, the one in a package, the cached one, or a fresh download.

    Args:
        cache: folder that keeps what was fetched, so that it is fetched once.
        stamps: an unpacked ``usr/share/tuxpaint/stamps``.
        deb: the Debian package as a file.

    Raises:
        InvalidInput: if the folder or the file given is not there or holds no stamps.
        NotAvailable: if nothing was given and this machine cannot fetch the package.
    """
    if stamps is not None:
        return _checked(Path(stamps), f"--stamps {stamps}")
    if deb is not None:
        if not Path(deb).is_file():
            raise InvalidInput(f"no file {deb}; give --deb the path of {PACKAGE}'s .deb file")
        return _unpack(Path(deb), cache)
    fetched = sorted(cache.glob(f"{PACKAGE}_*"))
    return _checked(fetched[-1] / _INSIDE_PACKAGE, str(fetched[-1])) if fetched else _download(cache)


def _download(cache: Path) -> Path:
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        raise NotAvailable(
            f"apt-get and dpkg-deb are not on this machine, so {PACKAGE} cannot be fetched; {_ELSEWHERE}"
        )
    with tempfile.TemporaryDirectory() as scratch:
        _run(["apt-get", "download", PACKAGE], Path(scratch))
        packages = sorted(Path(scratch).glob("*.deb"))
        if not packages:
            raise NotAvailable(f"apt-get downloaded no file of {PACKAGE}; {_ELSEWHERE}")
        return _unpack(packages[0], cache)


def _unpack(package: Path, cache: Path) -> Path:
    """Unpack into the cache; an unpacked package appears there whole or not at all."""
    if shutil.which("dpkg-deb") is None:
        raise NotAvailable(f"dpkg-deb is not on this machine, so {package} cannot be unpacked; {_ELSEWHERE}")
    target = cache / package.stem

    def unpack(folder: Path) -> None:
        _run(["dpkg-deb", "-x", str(package.resolve()), str(folder)], folder)
        _checked(folder / _INSIDE_PACKAGE, str(package))

    write_folder_whole(target, unpack, standing="replaced")
    return target / _INSIDE_PACKAGE


def _run(command: list[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["it gave no reason"])[-1]
        raise NotAvailable(f"{' '.join(command[:2])} failed ({reason}); {_ELSEWHERE}")


def _checked(folder: Path, given: str) -> Path:
    if not any(folder.glob("animals/**/*.png")):
        raise InvalidInput(f"{given} holds no stamps (no animals/**/*.png in {folder}); {_ELSEWHERE}")
    return folder


def read_stamp(folder: Path, stamp: str) -> Image.Image:
    """Return a stamp as RGBA, cut to what is more than half opaque.

    Args:
        stamp: path inside the folder, e.g. ``animals/birds/owl.png``.

    Raises:
        BadCorpus: if the file is missing, too large or empty.
    """
    path = folder / stamp
    if not path.is_file() or not path.resolve().is_relative_to(folder.resolve()):
        raise BadCorpus(f"no stamp {stamp!r} in {folder}; the corpus is built from {PACKAGE} {PACKAGE_VERSION}")
    try:
        with Image.open(BytesIO(_drawn(path)) if path.suffix == ".svg" else path) as image:
            if max(image.size) > _MAX_STAMP_SIDE:
                raise BadCorpus(f"stamp {stamp!r} has more than {_MAX_STAMP_SIDE} px a side; leave it out")
            picture = image.convert("RGBA")
    except (OSError, SyntaxError, Image.DecompressionBombError) as error:
        raise BadCorpus(f"stamp {stamp!r} cannot be read ({error}); fetch the stamps again") from error
    opaque = np.asarray(picture.getchannel("A")) > 127
    if not opaque.any():
        raise BadCorpus(f"stamp {stamp!r} is transparent everywhere; leave it out")
    rows, columns = np.flatnonzero(opaque.any(axis=1)), np.flatnonzero(opaque.any(axis=0))
    return picture.crop((int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1))


def _drawn(path: Path) -> bytes:
    """Return an SVG drawing as PNG, without looking at the machine's fonts or at any other file."""
    try:
        import resvg_py
    except ImportError as error:
        raise NotAvailable(f"drawing {path.name} needs a renderer; run: pip install resvg-py") from error
    try:
        return bytes(resvg_py.svg_to_bytes(svg_path=str(path), width=_DRAWING_WIDTH, skip_system_fonts=True))
    except ValueError as error:
        raise BadCorpus(f"drawing {path.name} cannot be rendered ({error}); fetch the stamps again") from error


def read_captions(folder: Path, stamp: str, languages: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Return the stamp's own captions, verbatim: first line English, then ``xx.utf8=`` lines.

    Example:
        A text of ``A badger.`` and ``de.utf8=Ein Dachs.`` gives ``{"en": ("A badger.",), "de": ("Ein Dachs.",)}``.

    Raises:
        BadCorpus: if the text is missing or lacks one of the languages.
    """
    path = (folder / stamp).with_suffix(".txt")
    if not path.is_file():
        raise BadCorpus(f"stamp {stamp!r} has no text {path.name} beside it; write its captions in captions.csv")
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    found = {"en": lines[0].strip() if lines else ""}
    for line in lines[1:]:
        language, separator, text = line.partition(".utf8=")
        if separator:
            found[language.strip()] = text.strip()
    missing = [language for language in languages if not found.get(language)]
    if missing:
        raise BadCorpus(f"the text of stamp {stamp!r} has no caption in {', '.join(missing)}; write it in captions.csv")
    return {language: (found[language],) for language in languages}
