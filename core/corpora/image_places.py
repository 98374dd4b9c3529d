"""Where the photographs of a corpus lie, whichever way their archives were unpacked.

Which picture a name in a file of captions means: its path, its file name, its stem, or COCO's number of it.
"""

import os
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from core.corpora.corpus_files import Findings, LeftOut, below_root, inside
from core.corpora.corpus_files import key as plain_key
from core.corpora.images import ImageHeader, read_header, require_auditable
from core.corpora.schema import Item, Rejection
from core.errors import BadCorpus, BadImage, InvalidInput

_NUMBERED = re.compile(r"(?:COCO_[a-z]+\d{4}_)?0*(\d+)")
"""A file name without its ending that is a number, as COCO's are: ``000000391895``, ``COCO_val2014_000000391895``."""


@dataclass(slots=True)
class ImageNames:
    """Keys of pictures by what another file may call them.
    Names are compared with ``/`` for ``\\``, accents composed, and at last without capitals."""

    paths: Iterable[str]  # key of each picture, which is its path below a folder, with ``/`` between its parts
    _whole: dict[str, str] = field(init=False)
    _short: dict[str, list[str]] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self._whole = {_plain(key): key for key in self.paths}

    def meant(self, *named: str) -> str:
        """Return the key of the picture that the first of some names with any picture means.
        Raises LeftOut ``entry-ambiguous-image`` or ``entry-no-image``."""
        keys = self.several(*named)
        if len(keys) == 1:
            return keys[0]
        if keys:
            listed = ", ".join(keys[:3])
            told = f"{named[0]!r} could be {listed}; name the image by its path in the folder"
            raise LeftOut("entry-ambiguous-image", told)
        raise LeftOut("entry-no-image", f"the folder has no image {named[0]!r}; add the image or remove the entry")

    def several(self, *named: str) -> list[str]:
        """Keys of every picture that the first of some names with any picture may mean."""
        return next((keys for name in named for each in spellings(name) if (keys := self._keys(_plain(each)))), [])

    def _keys(self, name: str) -> list[str]:
        if (whole := self._whole.get(name)) is not None:
            return [whole]
        if self._short is None:
            self._short = {}
            for plain, key in self._whole.items():
                last = plain.rpartition("/")[2]
                stem = last.rpartition(".")[0] or last
                # what a picture may be called beside its path
                called = (last, stem, last.casefold(), stem.casefold(), _numbered(stem))
                for short in filter(None, dict.fromkeys(called)):
                    self._short.setdefault(short, []).append(key)
        last = name.rpartition("/")[2]
        for short in dict.fromkeys((last, _numbered(plain_key(last) or ""), last.casefold())):
            if found := [key for key in self._short.get(short, ()) if _agree(name, _plain(key))]:
                return found
        return []


class ItemNames:
    """Items of a corpus by their id, COCO's number of the picture, or what the picture's file is called."""

    def __init__(self, items: Iterable[Item]) -> None:
        self._ids: dict[str, str] = {}
        self._files: dict[str, list[str]] = {}
        items = tuple(items)
        folders = {item.image_path.absolute().parent for item in items if item.image_path}
        root = os.path.commonpath(folders) if folders else ""
        for item in items:
            self._ids[item.id] = item.id
            if item.corpus == "coco":
                self._ids.setdefault(item.id.partition("-")[2], item.id)
            if item.image_path:
                below = item.image_path.absolute().relative_to(root).as_posix()
                self._files.setdefault(below, []).append(item.id)
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


def _numbered(stem: str) -> str:
    """COCO's number of a picture, under a name that no file has; empty where it has none."""
    found = _NUMBERED.fullmatch(stem)
    return f"/{int(found[1])}" if found and len(found[1]) <= 18 else ""


class ImagePlaces:
    """Tries some folders for each name; the one that held the last picture first.
    ``folders``: below the root, where pictures may lie; ``""`` is the root itself."""

    def __init__(self, root: Path, folders: Sequence[str]) -> None:
        self.root = root
        self._folders = [folder for folder in folders if (root / folder).is_dir()]
        self._names: dict[str, tuple[Counter[str], dict[str, str]]] = {}

    def find(self, *names: str) -> Path:
        """Return the first file there is under one of the names, which are tried in every folder. Raises LeftOut
        ``unsafe-path`` where a name leads out of the corpus, ``missing-image`` where no file is there."""
        spelled = [each for name in names for each in spellings(name)]
        unsafe: list[LeftOut] = []
        for find in (self._there, self._alike):
            for place, folder in enumerate(self._folders):
                for name in spelled:
                    path = find(folder, name, unsafe)
                    if path is not None:
                        self._folders.insert(0, self._folders.pop(place))
                        return path
        if unsafe:
            raise unsafe[0]
        raise LeftOut("missing-image", f"{names[0]} is not in {self.root}; download it to have this image")

    def _there(self, folder: str, name: str, unsafe: list[LeftOut]) -> Path | None:
        try:
            path = inside(self.root / folder, name)
            return path if path.is_file() else None
        except InvalidInput as error:
            unsafe.append(LeftOut("unsafe-path", str(error)))
            if below_root(name) == name:
                raise unsafe[-1] from error
            return None  # an absolute path of another machine: its last part may be here
        except (OSError, ValueError):  # a name that no disk can hold
            return None

    def _alike(self, folder: str, name: str, unsafe: list[LeftOut]) -> Path | None:
        """The only file of a folder whose name differs in its capitals alone."""
        below, between, last = name.rpartition("/")
        if (place := f"{folder}/{below}") not in self._names:
            try:
                parent = inside(self.root / folder, below) if below else self.root / folder
                there = [each.name for each in parent.iterdir()]
            except (InvalidInput, OSError, ValueError):
                there = []
            self._names[place] = Counter(map(str.casefold, there)), {each.casefold(): each for each in there}
        counts, spelled = self._names[place]
        alone = counts[last.casefold()] == 1
        return self._there(folder, below + between + spelled[last.casefold()], unsafe) if alone else None


def spellings(name: str) -> list[str]:
    """A name as it is stated, and as other systems write it: with slashes, its letters composed or taken apart; of an
    address also without escapes and what follows ``?``.

    >>> spellings("val\\\\a.jpg"), spellings("my%20cat.jpg?d=1")
    (['val\\\\a.jpg', 'val/a.jpg'], ['my%20cat.jpg?d=1', 'my cat.jpg'])
    """
    plain = name.replace("\\", "/")
    found = [name, plain, *(unicodedata.normalize(form, plain) for form in ("NFC", "NFD"))]
    if "%" in plain or "?" in plain:
        found.append(unquote(plain.partition("?")[0]))
    return list(dict.fromkeys(found))


def stated_size(path: Path, width: int, height: int) -> ImageHeader:
    """Check that an image can be audited and has the size that its annotations are for.
    Raises LeftOut ``bad-image`` or ``size-mismatch``."""
    header = auditable(path)
    if (header.width, header.height) != (width, height):
        cure = "restore the original image"
        if (header.height, header.width) == (width, height):
            cure += ", or exchange width and height in the annotations if they are swapped"
            if header.lies:
                cure = f"EXIF orientation {header.orientation} turns it: save it upright and turn its boxes alike"
        told = f"{path} is {header.width} × {header.height} px, its annotations are for {width} × {height}"
        raise LeftOut("size-mismatch", f"{told}; {cure}")
    return header


def remark_exif(found: Findings, subject: str, path: Path, header: ImageHeader, *, turned: bool = False) -> None:
    """Remark a picture that its EXIF orientation turns, and what its boxes are taken to be of; nothing of another.
    ``turned``: whether the boxes are of the picture as it is stored and are turned with it; else they are taken as it
    is seen, for nothing tells."""
    if header.orientation != 1:
        how = "stored, and turned with it" if turned else "seen, for nothing tells"
        detail = f"EXIF orientation {header.orientation} turns {path.name}; its boxes are read as those of it as {how}"
        found.remark(Rejection(subject, "annotation-exif", detail))


def auditable(path: Path, *, where: str = "") -> ImageHeader:
    """Read the header of an image that can be audited.
    ``where``: what messages call it; empty: by its path.
    Raises LeftOut ``bad-image`` where it is none, or too large or too small."""
    try:
        header = read_header(path)
        require_auditable(header.width, header.height, name=where or str(path))
    except BadImage as error:
        raise LeftOut("bad-image", f"{where}: {error}" if where else str(error)) from error
    return header


BOXES = ("instances_{}.json", "lvis_v1_{}.json")
"""Names of the file of a split's boxes in ``annotations/``: COCO's and LVIS'."""

CAPTIONS = ("captions_{}.json", "nocaps_{}_captions.json")
"""Names of the file of its captions: COCO's and NoCaps'; alone, they are a corpus without boxes."""

ANY = ("{}.json",)  # what VizWiz calls that file; read where none of the other names is there

BESIDE = {"_annotations.coco.json": "", "labels.json": "data"}
"""Name of the file of boxes in the folder of a split -> where its pictures lie in it: Roboflow's and FiftyOne's."""


@dataclass(frozen=True, slots=True)
class CocoFiles:
    """Where a split lies."""

    split: str
    path: Path  # of the file of boxes; without boxes, of that of captions
    root: Path  # the folder below which the pictures lie
    folders: tuple[str, ...] | None = None  # in it, where they are looked for; None: those of a download of COCO
    boxed: bool = True

    @property
    def captions(self) -> Path:
        """The file of captions, which need not be there."""
        return self.path.with_name(CAPTIONS[0].format(self.split)) if self.boxed else self.path

    def places(self) -> ImagePlaces:
        """Where pictures are looked for; those of LVIS lie in COCO's folders, whatever their split.
        Raises BadCorpus if none of the usual folders is there."""
        if self.folders is not None:
            return ImagePlaces(self.root, self.folders)
        folders = (self.split, f"images/{self.split}", "images")
        if not any((self.root / each).is_dir() for each in (*folders, "train2017", "val2017")):
            looked = ", ".join(str(self.root / each) for each in folders)
            raise BadCorpus(f"no folder of images for {self.split}: looked for {looked}")
        return ImagePlaces(self.root, (*folders, ""))


def find_split(root: Path, split: str | None) -> CocoFiles:
    """Return the files of a split; None takes one with boxes, the validation split, else the first by name.
    Raises BadCorpus if there is no annotation file, or none of that split."""
    found = _splits(root)
    if not found and (root.resolve().parent / "annotations").is_dir():
        root, split = root.resolve().parent, split or root.resolve().name
        found = _splits(root)
    if not found:
        raise BadCorpus(
            f"{root} has no annotations/instances_<split>.json, captions_<split>.json or <split>/{next(iter(BESIDE))}; "
            "give the folder of a COCO download, or of an export in its layout"
        )
    if split is None:
        split = min(found, key=lambda name: (not found[name].boxed, not name.startswith("val"), name))
    if split not in found:
        raise BadCorpus(f"{root} has no annotations/instances_{split}.json; it has {', '.join(sorted(found))}")
    return found[split]


def _splits(root: Path) -> dict[str, CocoFiles]:
    """The splits of a folder by name; of several files of one, the first kind counts."""
    for files in (_in_annotations(root, (*BOXES, *CAPTIONS)), _beside(root), _in_annotations(root, ANY)):
        found: dict[str, CocoFiles] = {}
        for each in files:
            found.setdefault(each.split, each)
        if found:
            return found
    return {}


def _in_annotations(root: Path, names: tuple[str, ...]) -> Iterator[CocoFiles]:
    for name in names:
        prefix, suffix = name.split("{}")
        for path in (root / "annotations").glob(f"{prefix}*{suffix}"):
            split = path.name.removeprefix(prefix).removesuffix(suffix)
            yield CocoFiles(split, path, root, boxed=name in BOXES)


def _beside(root: Path) -> Iterator[CocoFiles]:
    for name, below in BESIDE.items():
        for path in (root / name, *sorted(root.glob(f"*/{name}"))):
            folder = path.parent
            if path.is_file() and (folder / below).is_dir():
                yield CocoFiles(folder.resolve().name, path, folder, tuple(dict.fromkeys((below, ""))))
