"""MS-COCO in its official layout: ``annotations/instances_<split>.json`` beside folders of images."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from core.corpora.coco_json import CocoImage, CocoInstance, CocoSplit, item_id, read_mask, read_split
from core.corpora.curation import Instance
from core.corpora.files import LeftOut, inside, whole_number
from core.corpora.findings import Findings
from core.corpora.image_places import stated_size
from core.corpora.registry import corpus_loader
from core.corpora.schema import Corpus, Item, Mask, SceneObject
from core.corpora.slices import SINGLE, SLICE_OPTIONS, Slice
from core.corpora.taxonomy import load_taxonomy
from core.errors import BadCorpus, InvalidInput


@corpus_loader(
    name="coco",
    summary="MS-COCO, or anything in its layout: instances, captions and image folders.",
    options={
        "split": "which instances_<split>.json, e.g. val2017; by default the validation split, else the first",
        "limit": "stop after so many items",
        **SLICE_OPTIONS,
    },
)
def load_coco(
    root: Path, *, split: str | None = None, slice: str = SINGLE, limit: int | str | None = None, **curation: Any
) -> Corpus:
    """Read a COCO folder.

    Instances are polygons or run-length encodings; crowds are never the object of an item, but compete with it in
    size and stand among its other objects, so that nothing is moved onto them.

    Args:
        root: the folder that holds ``annotations/``; the folder of one split's images beside it will do too.
        split: None takes the validation split where there is one, else the first by name.
        slice: one of :data:`core.corpora.slices.SLICES`.
        limit: most items to return.
        curation: settings of :class:`core.corpora.curation.Curation`, for the single-object slice.

    Returns:
        The items in the order of COCO's image ids, every image left out with its reason, and remarks on annotations.

    Raises:
        BadCorpus: if the layout or a JSON file as a whole is wrong.
        InvalidInput: if an option is.
    """
    rules = Slice.from_options(slice, curation)
    most = None if limit is None else whole_number(limit, name="limit")
    root, split = find_split(root, split)
    findings = Findings()
    content = read_split(root / "annotations", split, findings)
    reader = _Reader(content, _image_folder(root, split), rules, findings)
    items: list[Item] = []
    examined = 0
    for image, found in content.by_image():
        if len(items) == most:
            break
        examined += 1
        item = reader.item(image, found)
        items.extend([item] if item else [])
    findings.remark(*reader.taxonomy.unmapped(item.label for item in items if item.label))
    words = f"COCO {split}, {rules.sentence()}"
    if examined < len(content.images):
        words += f"; limited to {most} items, {examined} of {len(content.images)} images examined"
    return Corpus("coco", tuple(items), findings.rejected, words, remarks=findings.remarks)


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

    def __init__(self, content: CocoSplit, folder: Path, rules: Slice, findings: Findings) -> None:
        self.content = content
        self.folder = folder
        self.rules = rules
        self.taxonomy = load_taxonomy("coco")
        self.findings = findings

    def item(self, image: CocoImage, found: Sequence[CocoInstance]) -> Item | None:
        """Return the item of an image and its instances, or None with the reason among what is left out."""
        subject = item_id(self.content.name, image.key)
        try:
            path = _locate(self.folder, image)
            boxes = [each.instance for each in found]
            chosen = self.rules.choose(boxes, width=image.width, height=image.height)
            stated_size(path, image.width, image.height)
        except LeftOut as reason:
            self.findings.leave_out(reason.rejection(subject))
            return None
        return self._item(subject, image, path, found, chosen)

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
            self.findings.remark(reason.rejection(found.annotation))
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
