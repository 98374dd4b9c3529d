"""Which picture a name in a file of captions means: its path, its file name, its stem, or COCO's number of it."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from core.corpora.corpus_files import LeftOut
from core.corpora.schema import Item

_NUMBERED = re.compile(r"(?:COCO_[a-z]+\d{4}_)?0*(\d+)")
"""A file name without its ending that is a number, as COCO's are: ``000000391895``, ``COCO_val2014_000000391895``."""


@dataclass(slots=True)
class ImageNames:
    """Keys of pictures by what another file may call them.

    Names are compared with ``/`` for ``\\``, accents composed, and at last without capitals.

    Args:
        paths: key of each picture, which is its path below a folder, with ``/`` between its parts.
    """

    paths: Iterable[str]
    _whole: dict[str, str] = field(init=False)
    _short: dict[str, list[str]] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self._whole = {_plain(key): key for key in self.paths}

    def meant(self, *named: str) -> str:
        """Return the key of the picture that the first of some names with any picture means.

        Raises:
            LeftOut: ``entry-ambiguous-image`` or ``entry-no-image``.
        """
        keys = self.several(*named)
        if len(keys) == 1:
            return keys[0]
        if keys:
            listed = ", ".join(keys[:3])
            raise LeftOut(
                "entry-ambiguous-image", f"{named[0]!r} could be {listed}; name the image by its path in the folder"
            )
        raise LeftOut("entry-no-image", f"the folder has no image {named[0]!r}; add the image or remove the entry")

    def several(self, *named: str) -> list[str]:
        """Keys of every picture that the first of some names with any picture may mean."""
        return next((keys for name in named if (keys := self._keys(_plain(name)))), [])

    def _keys(self, name: str) -> list[str]:
        if (whole := self._whole.get(name)) is not None:
            return [whole]
        if self._short is None:
            self._short = {}
            for plain, key in self._whole.items():
                for short in dict.fromkeys(_shorter(plain.rpartition("/")[2])):
                    self._short.setdefault(short, []).append(key)
        last = name.rpartition("/")[2]
        for short in dict.fromkeys((last, _numbered(last), last.casefold())):
            if found := [key for key in self._short.get(short, ()) if _agree(name, _plain(key))]:
                return found
        return []


class ItemNames:
    """Items of a corpus by their id, COCO's number of the picture, or what the picture's file is called."""

    def __init__(self, items: Iterable[Item]) -> None:
        self._ids: dict[str, str] = {}
        self._files: dict[str, list[str]] = {}
        for item in items:
            self._ids[item.id] = item.id
            if item.corpus == "coco":
                self._ids.setdefault(item.id.partition("-")[2], item.id)
            if item.image_path:
                self._files.setdefault(item.image_path.as_posix(), []).append(item.id)
        self._names = ImageNames(self._files)

    def several(self, name: str) -> list[str]:
        """Ids of every item that a name may mean."""
        if name in self._ids:
            return [self._ids[name]]
        return [item for path in self._names.several(name) for item in self._files[path]]


def _plain(name: str) -> str:
    name = name.replace("\\", "/").removeprefix("./")
    return name if name.isascii() else unicodedata.normalize("NFC", name)


def _agree(one: str, other: str) -> bool:
    """Whether the folders of two paths are the same, as far as both state any."""
    folders = [
        [part for part in path.casefold().split("/")[:-1] if part not in ("", ".", "..")] for path in (one, other)
    ]
    stated = min(map(len, folders))
    return not stated or folders[0][-stated:] == folders[1][-stated:]


def _shorter(name: str) -> Iterator[str]:
    """What a picture may be called beside its path, by its file name."""
    stem = name.rpartition(".")[0] or name
    yield from (name, stem, name.casefold(), stem.casefold())
    if number := _numbered(stem):
        yield number


def _numbered(stem: str) -> str:
    """COCO's number of a picture, under a name that no file has; empty where it has none."""
    found = _NUMBERED.fullmatch(stem)
    return f"/{int(found[1])}" if found and len(found[1]) <= 18 else ""
