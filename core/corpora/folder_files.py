"""Which files of a folder are images, and which image a name means."""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from core.corpora.files import inside
from core.corpora.folder_tables import Note
from core.corpora.image_header import SUFFIXES, sniff
from core.corpora.schema import Rejection
from core.errors import BadCorpus, InvalidInput

_NO_IMAGES = (".json", ".jsonl", ".ndjson", ".csv", ".txt", ".md", ".html", ".xml", ".yaml", ".yml", ".py", ".zip")


def choose_file(root: Path, given: str | None, names: tuple[str, ...], *, option: str) -> Path | None:
    """Return the file that an option names, else the only one of some names that the folder holds, else None.

    Raises:
        BadCorpus: if the folder holds several.
        InvalidInput: if the option names no file, or one that a relative path may not reach.
    """
    if given is not None:
        path = Path(given) if Path(given).is_absolute() else inside(root, given)
        if not path.is_file():
            raise InvalidInput(f"no file {path}; name one in {root}, or give an absolute path")
        return path
    found = [root / name for name in names if (root / name).is_file()]
    if len(found) > 1:
        listed = " and ".join(path.name for path in found)
        raise BadCorpus(f"{root} holds {listed}; say which to read, e.g. --option {option}={found[0].name}")
    return inside(root, found[0].name) if found else None


def find_images(root: Path, rejected: list[Rejection]) -> dict[str, Path]:
    """Return the images by their path in the folder, sorted; adds what is refused to ``rejected``.

    Raises:
        BadCorpus: if there is none.
    """
    found: dict[str, Path] = {}
    for key, path in sorted(_files(root, rejected)):
        try:
            inside(root, key)
        except InvalidInput as error:
            rejected.append(Rejection(key, "unsafe-path", str(error)))
            continue
        if path.suffix.lower() in SUFFIXES or _is_image(path):
            found[key] = path
    if not found:
        raise BadCorpus(f"{root} holds no JPEG, PNG, WebP, GIF, TIFF or BMP image; give a folder that does")
    return found


def _files(root: Path, rejected: list[Rejection]) -> Iterator[tuple[str, Path]]:
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(each for each in folders if not each.startswith("."))
        for each in folders:
            path = Path(folder) / each
            if path.is_symlink():
                detail = f"{path} is a link to a folder; links are not followed, put the folder itself there"
                rejected.append(Rejection(path.relative_to(root).as_posix(), "linked-folder", detail))
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


def assign(notes: Sequence[Note], paths: Mapping[str, Path], rejected: list[Rejection]) -> dict[str, list[Note]]:
    """Sort the notes by the image that they name; adds those that name none, or several, to ``rejected``."""
    by_name: dict[str, list[str]] = {}
    for key in paths:
        for name in {Path(key).name, Path(key).stem}:
            by_name.setdefault(name, []).append(key)
    assigned: dict[str, list[Note]] = {}
    for note in notes:
        name = note.image.replace("\\", "/").removeprefix("./")
        keys = [name] if name in paths else by_name.get(name) or by_name.get(name.rpartition("/")[2], [])
        if len(keys) == 1:
            assigned.setdefault(keys[0], []).append(note)
        elif keys:
            detail = f"{note.image!r} could be {', '.join(keys[:3])}; name the image by its path in the folder"
            rejected.append(Rejection(note.where, "entry-ambiguous-image", detail))
        else:
            detail = f"the folder has no image {note.image!r}; add the image or remove the entry"
            rejected.append(Rejection(note.where, "entry-no-image", detail))
    return assigned
