"""MS-COCO in its official layout: ``annotations/instances_<split>.json`` beside folders of images."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from core.corpora.coco_json import CocoImage, CocoInstance, CocoSplit, item_id, read_mask, read_split
from core.corpora.curation import CURATION_OPTIONS, Curation, Instance, largest, single_object
from core.corpora.files import LeftOut, inside, whole_number
from core.corpora.image_header import read_header, require_auditable
from core.corpora.registry import corpus_loader
from core.corpora.schema import Corpus, Item, Mask, Rejection, SceneObject
from core.corpora.taxonomy import load_taxonomy
from core.errors import BadCorpus, BadImage, InvalidInput

SLICES = ("single-object", "all")


@corpus_loader(
    name="coco",
    summary="MS-COCO, or anything in its layout: instances, captions and image folders.",
    options={
        "split": "which instances_<split>.json, e.g. val2017; by default the validation split, else the first",
        "slice": "single-object (default): images about one object; all: every image, with its largest object",
        "limit": "stop after so many items",
        **CURATION_OPTIONS,
    },
)
def load_coco(
    root: Path, *, split: str | None = None, slice: str = SLICES[0], limit: int | str | None = None, **curation: Any
) -> Corpus:
    """Read a COCO folder.

    Instances are polygons or run-length encodings; crowds are never the object of an item, but compete with it in
    size and stand among its other objects, so that nothing is moved onto them.

    Args:
        root: the folder that holds ``annotations/``; the folder of one split's images beside it will do too.
        split: None takes the validation split where there is one, else the first by name.
        slice: one of SLICES.
        limit: most items to return.
        curation: settings of :class:`core.corpora.curation.Curation`, for the single-object slice.

    Returns:
        The items in the order of COCO's image ids, and every image and annotation left out, with the reason.

    Raises:
        BadCorpus: if the layout or a JSON file as a whole is wrong.
        InvalidInput: if an option is.
    """
    if slice not in SLICES:
        raise InvalidInput(f"slice must be one of {', '.join(SLICES)}, got {slice!r}")
    most = None if limit is None else whole_number(limit, name="limit")
    if curation and slice != SLICES[0]:
        raise InvalidInput(f"{next(iter(curation))} belongs to slice=single-object; leave it out with slice={slice}")
    root, split = find_split(root, split)
    content = read_split(root / "annotations", split)
    reader = _Reader(
        content, _image_folder(root, split), Curation.from_options(curation) if slice == SLICES[0] else None
    )
    items: list[Item] = []
    examined = 0
    for image in content.images:
        if len(items) == most:
            break
        examined += 1
        item = reader.item(image)
        items.extend([item] if item else [])
    unmapped = reader.taxonomy.unmapped(item.label for item in items if item.label)
    words = f"COCO {split}, {reader.curation.sentence() if reader.curation else 'all images'}"
    if examined < len(content.images):
        words += f"; limited to {most} items, {examined} of {len(content.images)} images examined"
    return Corpus("coco", tuple(items), (*content.rejected, *reader.rejected, *unmapped), words)


def find_split(root: Path, split: str | None) -> tuple[Path, str]:
    """Return the folder that holds ``annotations/`` and the split to read.

    Raises:
        BadCorpus: if there is no annotation file, or none of that split.
    """
    if not (root / "annotations").is_dir() and (root.resolve().parent / "annotations").is_dir():
        root, split = root.resolve().parent, split or root.resolve().name
    found = sorted(path.stem.removeprefix("instances_") for path in (root / "annotations").glob("instances_*.json"))
    if not found:
        raise BadCorpus(f"{root} has no annotations/instances_<split>.json; give the folder of a COCO download")
    if split is None:
        return root, next((name for name in found if name.startswith("val")), found[0])
    if split not in found:
        raise BadCorpus(f"{root} has no annotations/instances_{split}.json; it has {', '.join(found)}")
    return root, split


def _image_folder(root: Path, split: str) -> Path:
    candidates = (root / split, root / "images" / split, root / "images")
    for folder in candidates:
        if folder.is_dir():
            return folder
    raise BadCorpus(f"no folder of images for {split}: looked for {', '.join(str(each) for each in candidates)}")


class _Reader:
    """Turns COCO's records into items, and remembers what it left out."""

    def __init__(self, content: CocoSplit, folder: Path, curation: Curation | None) -> None:
        self.content = content
        self.folder = folder
        self.curation = curation
        self.taxonomy = load_taxonomy("coco")
        self.rejected: list[Rejection] = []

    def item(self, image: CocoImage) -> Item | None:
        """Return the item of an image, or None with the reason among the rejections."""
        subject = item_id(self.content.name, image.key)
        try:
            path = _locate(self.folder, image)
            found = self.content.instances.get(image.key, [])
            chosen = self._choose([each.instance for each in found], image)
            _check_file(path, image)
        except LeftOut as reason:
            self.rejected.append(reason.rejection(subject))
            return None
        return self._item(subject, image, path, found, chosen)

    def _choose(self, instances: Sequence[Instance], image: CocoImage) -> Instance | None:
        if self.curation is None:
            return largest(instances)
        return single_object(instances, width=image.width, height=image.height, curation=self.curation)

    def _item(
        self, subject: str, image: CocoImage, path: Path, found: Sequence[CocoInstance], chosen: Instance | None
    ) -> Item:
        captions = self.content.captions.get(image.key)
        masks = [(each.instance, self._mask(each, image)) for each in found]
        item = Item(
            id=subject, corpus="coco", image_path=path, width=image.width, height=image.height,
            captions={"en": captions} if captions else {}, licence=image.licence, source=image.source,
            others=tuple(
                SceneObject(each.label, each.box, mask, each.crowd) for each, mask in masks if each is not chosen
            ),
        )  # fmt: skip
        if chosen is None:
            return item
        mask = next(mask for each, mask in masks if each is chosen)
        category = self.taxonomy.category(chosen.label)
        return replace(item, label=chosen.label, category=category, box=chosen.box, mask=mask)

    def _mask(self, found: CocoInstance, image: CocoImage) -> Mask | None:
        try:
            return read_mask(found, image.width, image.height)
        except LeftOut as reason:
            self.rejected.append(reason.rejection(found.annotation))
            return None


def _locate(folder: Path, image: CocoImage) -> Path:
    try:
        path = inside(folder, image.file_name)
    except InvalidInput as error:
        raise LeftOut("unsafe-path", str(error)) from error
    try:
        there = path.is_file()
    except (OSError, ValueError):  # a name that no disk can hold
        there = False
    if not there:
        raise LeftOut("missing-image", f"{path} is not there; download it to have this image in the corpus")
    return path


def _check_file(path: Path, image: CocoImage) -> None:
    try:
        header = read_header(path)
        require_auditable(header.width, header.height, name=str(path))
    except BadImage as error:
        raise LeftOut("bad-image", str(error)) from error
    if (header.width, header.height) != (image.width, image.height):
        raise LeftOut("size-mismatch", f"{path} is {header.width} × {header.height} px, its annotations are for "
                      f"{image.width} × {image.height}; restore the original image")  # fmt: skip
