"""Photographs that somebody brings through the browser: unpacked within limits, kept as a folder that a corpus reads.

Nothing of an archive is believed: its names, its stated sizes and what it unpacks to are held to limits, and a set is
kept whole or not at all. The pictures are decoded later, as those of any folder, within the limits of
:mod:`core.corpora.images`.
"""

import hashlib
import os
import shutil
import stat
import time
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import IO
from uuid import uuid4

from core.corpora.folder_tables import BOX_FILES, CAPTION_FILES
from core.corpora.image_header import MAX_BYTES, SUFFIXES, sniff
from core.errors import BadCorpus, InvalidInput, InvariscopeError, NotAvailable
from core.settings import brought_mb, uploads_dir

MOST_FILES = 20_000  # of one set, whatever they are
MOST_TABLE_BYTES = 64 << 20  # of a file of captions or boxes
MOST_NAME = 200  # characters of a path in an archive, and of a file's name

_BLOCK = 1 << 20
_FEWER = "bring fewer, remove folders there that no run needs, or set INVARISCOPE_UPLOADS_MB higher"
_TABLES = frozenset((*CAPTION_FILES, *BOX_FILES, "references.json", "references.jsonl"))
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 0x1
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, ValueError)
_STALE_S = 3600.0  # seconds after which a set that nobody finished is no longer being unpacked


@dataclass(frozen=True, slots=True)
class Given:
    """One file as it was uploaded: a picture, a table of captions or boxes, or a zip archive of such."""

    name: str
    stream: IO[bytes]
    size: int  # in bytes


@dataclass(frozen=True, slots=True)
class Brought:
    """A set that is kept."""

    folder: Path
    pictures: int
    left_out: tuple[str, ...]  # names of files that are neither pictures nor tables, as far as they were counted


@dataclass(frozen=True, slots=True)
class KeptSet:
    """A set that is here; nothing in it changes as long as it is.
    ``size``: of all files, in bytes. ``since``: when it was kept, in seconds since 1970."""

    folder: Path
    pictures: int
    size: int
    since: float


def pictures_dir() -> Path:
    """Folder of the sets, a folder each, named by what they hold."""
    return uploads_dir() / "pictures"


def keep_pictures(given: Sequence[Given]) -> Brought:
    """Keep what was uploaded as a folder of pictures; the same files again are the folder that is there.
    Raises BadCorpus for an archive that cannot be read, leads out of its folder, holds too much, or holds no picture;
    NotAvailable where the quota or the disk has no room."""
    home = pictures_dir()
    for each in home.glob(".*.part"):  # what nobody finished
        with suppress(OSError):
            if time.time() - each.stat().st_mtime > _STALE_S:
                shutil.rmtree(each)
    room = room_left()
    aside = home / f".{uuid4().hex}.part"
    try:
        aside.mkdir(parents=True)
        kept = _Keeping(aside, room)
        for one in given:
            kept.take(one)
        if not kept.pictures:
            named = given[0].name if len(given) == 1 else f"what {len(given)} files bring"
            told = "no JPEG, PNG, WebP, GIF, TIFF or BMP picture; bring some, with captions.csv beside them"
            raise BadCorpus(f"{named} holds {told}")
        _lift(aside)
        told = "\n".join(f"{name} {digest}" for name, digest in sorted(kept.hashes.items()))
        target = home / hashlib.sha256(told.encode()).hexdigest()[:16]
        if not target.exists():
            aside.rename(target)
        return Brought(target, kept.pictures, tuple(kept.left_out))
    except OSError as error:
        raise NotAvailable(f"{home} cannot take the pictures ({error.strerror or error}); free some space") from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def kept_sets() -> list[KeptSet]:
    """Every set that is here, the newest first."""
    home, found = pictures_dir(), list[KeptSet]()
    for folder in home.iterdir() if home.is_dir() else ():
        if folder.is_dir() and not folder.is_symlink() and not folder.name.startswith("."):
            files = _files(folder)
            pictures, size = sum(each.suffix.lower() in SUFFIXES for each in files), _size(files)
            found.append(KeptSet(folder, pictures, size, folder.stat().st_mtime))
    return sorted(found, key=lambda each: (-each.since, each.folder.name))


def remove_set(name: str) -> None:
    """Remove a set for good.
    Raises InvalidInput if there is none of that name; NotAvailable if the disk does not let it go."""
    folder = next((each.folder for each in kept_sets() if each.folder.name == name), None)
    if folder is None:
        raise InvalidInput(f"no set of photographs is named {name[:80]!r}; it may be removed already")
    aside = folder.with_name(f".{uuid4().hex}.part")  # never half of a set under its name
    try:
        folder.rename(aside)
        shutil.rmtree(aside)
    except OSError as error:
        raise NotAvailable(f"{folder} cannot be removed ({error.strerror or error}); check its permissions") from error


def _files(folder: Path) -> list[Path]:
    return [each for each in folder.rglob("*") if each.is_file() and not each.is_symlink()]


def _size(files: Sequence[Path]) -> int:
    return sum(each.stat().st_size for each in files)


def room_left() -> int:
    """Bytes that further sets may take. Raises NotAvailable where there are none."""
    taken = _size(_files(pictures_dir()))
    left = int(brought_mb() * 2**20) - taken
    if left <= 0:
        raise NotAvailable(
            f"{pictures_dir()} holds {taken / 2**20:,.0f} MB of photographs and at most {brought_mb():,.0f} MB are "
            "kept; remove a set that no run needs, or set INVARISCOPE_UPLOADS_MB higher"
        )
    return left


class _Keeping:
    def __init__(self, folder: Path, room: int) -> None:
        self._folder, self._room, self._left = folder, room, room
        self.hashes: dict[str, str] = {}
        self._files = 0
        self.pictures = 0
        self.left_out: list[str] = []

    def take(self, given: Given) -> None:
        given.stream.seek(0)
        if given.name.lower().endswith(".zip"):
            try:
                for name, size, stream in _members(given):
                    self._one(name, size, stream, where=f"{given.name}: {name}")
            except _DAMAGE as error:
                if isinstance(error, InvariscopeError):
                    raise
                said = f"{given.name} cannot be unpacked ({str(error)[:200]}); make the archive anew"
                raise BadCorpus(said) from error
        else:
            self._one(_safe(Path(given.name).name, given.name), given.size, given.stream, where=given.name)

    def _one(self, name: str, size: int, stream: IO[bytes], *, where: str) -> None:
        self._files += 1
        if self._files > MOST_FILES:
            raise BadCorpus(f"a set has at most {MOST_FILES:,} files, and this has more; bring it in parts")
        path = PurePosixPath(name)
        table, picture = path.name in _TABLES, path.suffix.lower() in SUFFIXES
        if not (table or picture) or path.name.startswith(".") or path.parts[0] == "__MACOSX":
            self.left_out.append(name)
            return
        most = MOST_TABLE_BYTES if table else MAX_BYTES
        if size > most:
            raise BadCorpus(f"{where} has {size:,} bytes and at most {most:,} are taken; make it smaller")
        target = self._folder / name
        if target.exists():
            raise BadCorpus(f"{where}: another file of the set has that name; rename one")
        target.parent.mkdir(parents=True, exist_ok=True)
        digest, written, start = hashlib.sha256(), 0, b""
        with target.open("xb") as out:
            while block := stream.read(_BLOCK):
                written += len(block)
                self._left -= len(block)
                if written > size:
                    raise BadCorpus(f"{where} unpacks to more than the {size:,} bytes that it states; it is damaged")
                if self._left < 0:
                    told = f"the {self._room / 2**20:,.0f} MB that are left for them in {pictures_dir()}"
                    raise NotAvailable(f"the pictures take more than {told}; {_FEWER}")
                start = start or block[:32]
                digest.update(block)
                out.write(block)
        if picture and sniff(start) is None:
            target.unlink()
            raise BadCorpus(f"{where} is no picture, whatever its name says; take it out")
        self.hashes[name] = digest.hexdigest()
        self.pictures += picture


def _members(given: Given) -> Iterator[tuple[str, int, IO[bytes]]]:
    """Files of an archive: path, stated size in bytes, content; what is no plain file of it is refused."""
    with zipfile.ZipFile(given.stream) as archive:
        found = archive.infolist()
        if len(found) > 2 * MOST_FILES:
            raise BadCorpus(f"{given.name} names {len(found):,} files and at most {MOST_FILES:,} are taken")
        stated = sum(each.file_size for each in found)
        if stated > (room := room_left()):
            told = f"{stated / 2**20:,.0f} MB and {room / 2**20:,.0f} MB are left for photographs in {pictures_dir()}"
            raise NotAvailable(f"{given.name} unpacks to {told}; {_FEWER}")
        for each in found:
            if each.is_dir():
                continue
            where = f"{given.name}: {each.filename[:MOST_NAME]!r}"
            if stat.S_IFMT(each.external_attr >> 16) not in (0, stat.S_IFREG):
                raise BadCorpus(f"{where} is a link or a device; put the file itself into the archive")
            if each.flag_bits & _ENCRYPTED or each.compress_type not in _METHODS:
                raise BadCorpus(f"{where} is encrypted or packed in a rare way; make a plain zip archive")
            name = _safe(each.filename, where)
            with archive.open(each) as stream:
                yield name, each.file_size, stream


def _safe(name: str, where: str) -> str:
    """A relative path that stays in its folder on every system. Raises BadCorpus for any other."""
    parts = PureWindowsPath(name).parts  # splits at / and at \
    climbs = not parts or ".." in parts or PurePosixPath(name).is_absolute() or bool(PureWindowsPath(name).anchor)
    if climbs or "\\" in name or not name.isprintable() or len(name) > MOST_NAME:
        told = "it leads out, or has characters or a length that no picture needs; make the archive anew"
        raise BadCorpus(f"{where} is no path inside the set: {told}")
    return "/".join(parts)


def _lift(folder: Path) -> None:
    """Take the set out of the one folder that an archive puts around it, so that captions.csv lies at its root."""
    inside = [each for each in folder.iterdir() if not each.name.startswith(".")]
    if len(inside) != 1 or not inside[0].is_dir():
        return
    around = inside[0].rename(folder / f".{uuid4().hex}")
    for each in list(around.iterdir()):
        os.rename(each, folder / each.name)  # noqa: PTH104  # a rename that replaces nothing: the folder is empty
    with suppress(OSError):
        around.rmdir()
