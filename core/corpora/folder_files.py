"""Which files of a folder are images, and which image a name means."""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from core.corpora.caption_tables import ENDINGS
from core.corpora.files import LeftOut, inside
from core.corpora.findings import Findings
from core.corpora.folder_tables import CAPTION_FILES, MORE_FILES, Note
from core.corpora.image_header import SUFFIXES, ImageHeader, require_auditable, sniff
from core.corpora.image_names import ImageNames
from core.corpora.images import read_header
from core.corpora.packed import packed_files, unpacked
from core.corpora.places import in_kernel, ordinary
from core.corpora.schema import Rejection
from core.errors import BadCorpus, BadImage, InvalidInput

_NO_IMAGES = (*ENDINGS, ".gz", ".tar", ".parquet", ".md", ".html", ".xml", ".yaml", ".yml", ".py", ".zip")


def choose_file(root: Path, given: str | None, names: tuple[str, ...], *, option: str) -> Path | None:
    """Return the file that an option names, else the only one of some names that the folder holds, else None.

    Raises:
        BadCorpus: if the folder holds several.
        InvalidInput: if the option names no file, or one that a relative path may not reach.
    """
    if given is not None:
        path = ordinary(Path(given) if Path(given).is_absolute() else inside(root, given))
        if not path.is_file():
            raise InvalidInput(f"no file {path}; name one in {root}, or give an absolute path")
        return path
    found = [root / name for name in names if (root / name).is_file()]
    if len(found) > 1:
        listed = " and ".join(path.name for path in found)
        raise BadCorpus(f"{root} holds {listed}; say which to read, e.g. --option {option}={found[0].name}")
    return inside(root, found[0].name) if found else None


def caption_files(root: Path, given: str | None, paths: Iterable[str]) -> list[tuple[Path, str]]:
    """The files of captions of a folder, each with the folder below it that it is for, ``""`` or ``train/``.

    Args:
        given: by the option; None: the only one of CAPTION_FILES, else the first of MORE_FILES, else those that lie
            beside pictures in the folders below.
        paths: of the images.

    Raises:
        BadCorpus, InvalidInput: as :func:`choose_file`.
    """
    if chosen := choose_file(root, given, CAPTION_FILES, option="captions"):
        return [(chosen, "")]
    found: list[tuple[Path, str]] = []
    folders = dict.fromkeys(["", *(folder + "/" for path in paths if (folder := path.rpartition("/")[0]))])
    for folder in folders:
        there = [name for name in (*CAPTION_FILES, *MORE_FILES) if (root / folder / name).is_file()]
        if there and not folder:
            return [(inside(root, there[0]), "")]
        found += [(inside(root, folder + name), folder) for name in there[:1]]
    return found


def unread_files(root: Path, read: Iterable[Path]) -> list[str]:
    """Names of files in a folder that may hold captions and are not read."""
    known = {path.resolve() for path in read}
    return sorted(
        path.name for path in root.iterdir()
        if path.resolve() not in known and not path.name.startswith(".") and _may_hold_captions(path)
    )  # fmt: skip


def _may_hold_captions(path: Path) -> bool:
    name = path.name.lower().removesuffix(".gz")
    if not name.endswith((*ENDINGS, ".parquet", ".tar")) or in_kernel(path.absolute()) or not path.is_file():
        return False
    return not name.endswith(".txt") or "caption" in name


def find_images(root: Path, findings: Findings, packed: Mapping[str, Path]) -> dict[str, Path]:
    """Return the images by their path in the folder, sorted, and those packed in files of it; notes what is refused.

    Raises:
        BadCorpus: if there is none.
    """
    found = {**dict(_images(root, findings)), **packed}
    if not found:
        raise BadCorpus(f"{root} holds no JPEG, PNG, WebP, GIF, TIFF or BMP image, and no Parquet or tar that packs "
                        "some; give a folder that does")  # fmt: skip
    return found


def packed_images(root: Path, *, most: int | None = None) -> dict[Path, dict[str, Path]]:
    """Return the images in each packed file of a folder, by the file's path and their own below it.

    Args:
        most: images after which no further file is unpacked.

    Raises:
        BadCorpus: as :func:`core.corpora.packed.unpacked`.
    """
    found: dict[Path, dict[str, Path]] = {}
    for path in packed_files(root):
        if most is not None and sum(map(len, found.values())) >= most:
            break
        below = path.relative_to(root).as_posix()
        found[path] = {f"{below}/{key}": image for key, image in _images(unpacked(path), Findings())}
    return found


def _images(root: Path, findings: Findings) -> Iterator[tuple[str, Path]]:
    for key, path in sorted(_files(root, findings)):
        try:
            inside(root, key)
        except InvalidInput as error:
            findings.leave_out(Rejection(key, "unsafe-path", str(error)))
            continue
        if path.suffix.lower() in SUFFIXES or _is_image(path):
            yield key, path


def _files(root: Path, findings: Findings) -> Iterator[tuple[str, Path]]:
    for folder, folders, names in os.walk(root):
        kept = (each for each in folders if not each.startswith("."))
        folders[:] = sorted(each for each in kept if in_kernel(Path(folder, each).absolute()) is None)
        for each in folders:
            path = Path(folder) / each
            if path.is_symlink():
                detail = f"{path} is a link to a folder; links are not followed, put the folder itself there"
                findings.leave_out(Rejection(path.relative_to(root).as_posix(), "linked-folder", detail))
        for each in names:
            path = Path(folder) / each
            if not each.startswith(".") and path.suffix.lower() not in _NO_IMAGES:
                yield path.relative_to(root).as_posix(), path


def _is_image(path: Path) -> bool:
    try:
        if not path.is_file():  # a pipe would wait for ever
            return False
        with path.open("rb") as file:
            return sniff(file.read(32)) is not None
    except OSError:
        return False


def auditable_header(path: Path, *, where: str = "") -> ImageHeader:
    """Read the header of an image that can be audited.

    Args:
        where: what messages call it; empty: by its path.

    Raises:
        LeftOut: ``bad-image`` where it is none, or too large or too small.
    """
    try:
        header = read_header(path)
        require_auditable(header.width, header.height, name=where or str(path))
    except BadImage as error:
        raise LeftOut("bad-image", f"{where}: {error}" if where else str(error)) from error
    return header


def assign(notes: Iterable[Note], paths: Mapping[str, Path], findings: Findings) -> dict[str, list[Note]]:
    """Sort the notes by the image that they name.

    An image that is not there is left out, once however many notes name it; a note that may mean several is remarked.
    """
    names = ImageNames(paths)
    assigned: dict[str, list[Note]] = {}
    for note in notes:
        try:
            assigned.setdefault(names.meant(note.image), []).append(note)
        except LeftOut as reason:
            if reason.code == "entry-no-image":
                findings.leave_out(reason.rejection(note.image))
            else:
                findings.remark(reason.rejection(note.where))
    return assigned


class NamedImages:
    """Images of a folder by the names that another file gives them: the path, the file name, or its stem.

    The folder is walked once, when the first name is no path of it.

    Args:
        root: the folder; links out of it are not followed.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._paths: dict[str, Path] = {}
        self._names: ImageNames | None = None

    @classmethod
    def of(cls, root: Path, images: str | None) -> "NamedImages":
        """Those of a corpus whose option ``images`` may name another folder, in its own or by an absolute path.

        Raises:
            InvalidInput: if there is no such folder, or a relative path leads out.
        """
        folder = root if images is None else Path(images) if Path(images).is_absolute() else inside(root, images)
        if not ordinary(folder).is_dir():
            raise InvalidInput(f"no folder {folder} for the pictures; give images=PATH, in {root} or absolute")
        return cls(folder)

    def holds(self, name: str) -> bool:
        """Whether there is one image of a name."""
        try:
            self.find(name, name)
        except LeftOut:
            return False
        return True

    def find(self, name: str, where: str) -> Path:
        """Return the image of a name.

        Raises:
            LeftOut: if there is none, there are several, or the name leads out of the folder.
        """
        try:
            path = inside(self.root, name)
        except InvalidInput as error:
            raise LeftOut("unsafe-path", f"{where}: {error}") from error
        if path.is_file():
            return path
        if self._names is None:
            packed = packed_images(self.root).values()
            self._paths = {
                **dict(_images(self.root, Findings())),
                **{key: each[key] for each in packed for key in each},
            }
            self._names = ImageNames(self._paths)
        return self._paths[self._names.meant(name)]
