"""Which file of a folder in COCO's layout is that of a split, and where the split's pictures lie.

Sources of the layouts: cocodataset.org/#download; lvisdataset.org; nocaps.org; vizwiz.org; Roboflow's export *COCO
JSON*; FiftyOne's ``COCODetectionDataset``.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from core.corpora.image_places import ImagePlaces
from core.errors import BadCorpus

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
