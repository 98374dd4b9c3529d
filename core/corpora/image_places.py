"""Where the photographs of a corpus lie, whichever way their archives were unpacked."""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.corpora.corpus_files import LeftOut, inside
from core.corpora.findings import Findings
from core.corpora.images import ImageHeader, read_header, require_auditable
from core.corpora.schema import Rejection
from core.errors import BadCorpus, BadImage, InvalidInput


class ImagePlaces:
    """Tries some folders for each name; the one that held the last picture first.

    Args:
        root: folder of the corpus.
        folders: below the root, where pictures may lie; ``""`` is the root itself.
    """

    def __init__(self, root: Path, folders: Sequence[str]) -> None:
        self.root = root
        self._folders = [folder for folder in folders if (root / folder).is_dir()]

    def find(self, *names: str) -> Path:
        """Return the first file there is under one of the names, which are tried in every folder.

        Raises:
            LeftOut: ``unsafe-path`` where a name leads out of the corpus, ``missing-image`` where no file is there.
        """
        spelled = [each for name in names for each in _spellings(name)]
        for place, folder in enumerate(self._folders):
            for name in spelled:
                path = self._there(folder, name)
                if path is not None:
                    self._folders.insert(0, self._folders.pop(place))
                    return path
        raise LeftOut("missing-image", f"{names[0]} is not in {self.root}; download it to have this image")

    def _there(self, folder: str, name: str) -> Path | None:
        try:
            path = inside(self.root / folder, name)
            return path if path.is_file() else None
        except InvalidInput as error:
            raise LeftOut("unsafe-path", str(error)) from error
        except (OSError, ValueError):  # a name that no disk can hold
            return None


def _spellings(name: str) -> Iterator[str]:
    """A name as it is stated, and as other systems write it: with slashes, its letters composed or taken apart."""
    plain = name.replace("\\", "/")
    yield from dict.fromkeys((name, plain, *(unicodedata.normalize(form, plain) for form in ("NFC", "NFD"))))


def stated_size(path: Path, width: int, height: int) -> ImageHeader:
    """Check that an image can be audited and has the size that its annotations are for.

    Raises:
        LeftOut: ``bad-image`` or ``size-mismatch``.
    """
    header = auditable(path)
    if (header.width, header.height) != (width, height):
        cure = "restore the original image"
        if (header.height, header.width) == (width, height):
            cure += ", or exchange width and height in the annotations if they are swapped"
            if header.lies:
                cure = f"EXIF orientation {header.orientation} turns it: save it upright and turn its boxes alike"
        raise LeftOut(
            "size-mismatch",
            f"{path} is {header.width} × {header.height} px, its annotations are for {width} × {height}; {cure}",
        )
    return header


def remark_exif(found: Findings, subject: str, path: Path, header: ImageHeader, *, turned: bool = False) -> None:
    """Remark a picture that its EXIF orientation turns, and what its boxes are taken to be of; nothing of another.

    Args:
        turned: whether the boxes are of the picture as it is stored and are turned with it; else they are taken as it
            is seen, for nothing tells.
    """
    if header.orientation != 1:
        how = "stored, and turned with it" if turned else "seen, for nothing tells"
        detail = f"EXIF orientation {header.orientation} turns {path.name}; its boxes are read as those of it as {how}"
        found.remark(Rejection(subject, "annotation-exif", detail))


def auditable(path: Path) -> ImageHeader:
    """Read the header of an image that can be audited.

    Raises:
        LeftOut: ``bad-image``.
    """
    try:
        header = read_header(path)
        require_auditable(header.width, header.height, name=str(path))
    except BadImage as error:
        raise LeftOut("bad-image", str(error)) from error
    return header


BOXES = ("instances_{}.json", "lvis_v1_{}.json")
"""Names of the file of a split's boxes in ``annotations/``: COCO's and LVIS'."""

CAPTIONS = ("captions_{}.json", "nocaps_{}_captions.json")
"""Names of the file of its captions: COCO's and NoCaps'; alone, they are a corpus without boxes."""

ANY = ("{}.json",)
"""What VizWiz calls that file; read where none of the other names is there."""

BESIDE = {"_annotations.coco.json": "", "labels.json": "data"}
"""Name of the file of boxes in the folder of a split -> where its pictures lie in it: Roboflow's and FiftyOne's."""


@dataclass(frozen=True, slots=True)
class CocoFiles:
    """Where a split lies.

    Args:
        path: of the file of boxes; without boxes, of that of captions.
        root: the folder below which the pictures lie.
        folders: in it, where they are looked for; None: those of a download of COCO.
    """

    split: str
    path: Path
    root: Path
    folders: tuple[str, ...] | None = None
    boxed: bool = True

    @property
    def captions(self) -> Path:
        """The file of captions, which need not be there."""
        return self.path.with_name(CAPTIONS[0].format(self.split)) if self.boxed else self.path

    def places(self) -> ImagePlaces:
        """Where pictures are looked for; those of LVIS lie in COCO's folders, whatever their split.

        Raises:
            BadCorpus: if none of the usual folders is there.
        """
        if self.folders is not None:
            return ImagePlaces(self.root, self.folders)
        folders = (self.split, f"images/{self.split}", "images")
        if not any((self.root / each).is_dir() for each in (*folders, "train2017", "val2017")):
            looked = ", ".join(str(self.root / each) for each in folders)
            raise BadCorpus(f"no folder of images for {self.split}: looked for {looked}")
        return ImagePlaces(self.root, (*folders, ""))


def find_split(root: Path, split: str | None) -> CocoFiles:
    """Return the files of a split; None takes one with boxes, the validation split, else the first by name.

    Raises:
        BadCorpus: if there is no annotation file, or none of that split.
    """
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
