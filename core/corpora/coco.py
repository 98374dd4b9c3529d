"""MS-COCO, and whatever has its layout: boxes, captions, or both, beside folders of images."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from core.corpora.coco_json import CocoImage, CocoInstance, CocoSplit, item_id, plain_name, read_mask, read_split
from core.corpora.corpus_files import Findings, LeftOut, limited, up_to, whole_number
from core.corpora.curation import ALL, SINGLE, SLICE_OPTIONS, Instance, Slice
from core.corpora.image_places import ImagePlaces, auditable, find_split, remark_exif, stated_size
from core.corpora.labels import load_taxonomy, stated_language
from core.corpora.registry import corpus_loader
from core.corpora.schema import Box, Corpus, Item, Mask, Rejection, SceneObject
from core.errors import InvalidInput

_ACROSS, _DOWN = (6, 7), (7, 8)  # orientations that mirror the exchanged picture left for right, and top for bottom


def upright_box(box: Box, width: int, height: int, orientation: int) -> Box:
    """Return a box of the stored picture, whose width and height are in pixels, where it is seen.

    >>> upright_box(Box(20, 30, 100, 90), 320, 240, 6)
    Box(x=120, y=20, width=90, height=100)
    """
    left = height - box.bottom if orientation in _ACROSS else box.y
    top = width - box.right if orientation in _DOWN else box.x
    return Box(left, top, box.height, box.width)


def upright_mask(mask: np.ndarray, orientation: int) -> np.ndarray:
    """Return a mask [H, W] of the stored picture where it is seen: [W, H]."""
    return np.ascontiguousarray(mask.T[:: -1 if orientation in _DOWN else 1, :: -1 if orientation in _ACROSS else 1])


UNLIKE, LEAST_TOLD = 0.7, 200.0
"""IoU of a box of so many square pixels with that of its outline below which one of them is wrong: of 1,350 instances
of COCO photographs none so large has less than 0.8."""


@corpus_loader(
    name="coco",
    summary="MS-COCO, or anything in its layout: instances, captions and image folders.",
    options={
        "split": "its name, e.g. val2017; by default the validation split, else the first",
        "limit": "stop after so many items",
        "language": "of the captions; by default that of their script, and English of Latin letters",
        **SLICE_OPTIONS,
    },
)
def load_coco(
    root: Path,
    *,
    split: str | None = None,
    slice: str | None = None,
    limit: int | str | None = None,
    language: str | None = None,
    **curation: Any,
) -> Corpus:
    """Read a COCO folder; the options say which part of it. Instances are polygons or run-length encodings; crowds are
    never the object of an item, but compete with it in size and stand among its other objects, so that nothing is moved
    onto them.
    ``root``: the folder that holds ``annotations/``, or a folder for each split with its annotations in it; the folder
    of one split's images will do too.
    ``slice``: one of :data:`core.corpora.curation.SLICES`; None: single-object, and all where there are captions alone.
    Returns the items in the order of COCO's image ids, every image left out with its reason, and remarks on
    annotations.
    Raises BadCorpus if the layout or a JSON file as a whole is wrong; InvalidInput if an option is."""
    most = None if limit is None else whole_number(limit, name="limit")
    code = stated_language(language)
    files, findings = find_split(root, split), Findings()
    rules = Slice.from_options(slice or (SINGLE if files.boxed else ALL), curation)
    if not files.boxed and rules.name != ALL:
        raise InvalidInput(f"slice={rules.name} needs boxes, and {files.path} holds captions alone; use slice={ALL}")
    places = files.places()
    content = read_split(files, findings, code)
    reader = _Reader(content, places, rules, findings)
    items, examined = up_to(most, (reader.item(image, found) for image, found in content.by_image()))
    findings.remark(*reader.taxonomy.unmapped(item.label for item in items if item.label))
    words = f"COCO {files.split}, {rules.sentence()}{limited(most, examined, len(content.images))}"
    return Corpus("coco", tuple(items), findings.rejected, words, remarks=findings.remarks)


class _Reader:
    def __init__(self, content: CocoSplit, places: ImagePlaces, rules: Slice, findings: Findings) -> None:
        self.content = content
        self.places = places
        self.rules = rules
        self.taxonomy = load_taxonomy("coco")
        self.findings = findings
        self.called = Counter(plain_name(image.file_name) for image in content.images)
        self.read: dict[Path, str] = {}

    def item(self, image: CocoImage, found: Sequence[CocoInstance]) -> Item | None:
        subject = item_id(self.content.name, image.key)
        try:
            last = plain_name(image.file_name)  # without its folders, where no other image is called so
            path = self.places.find(image.file_name, *([last] if last and self.called[last] == 1 else []))
            turn, width, height = self._stands(path, image, subject)
            seen = self._once(found, image, turn)
            chosen = self.rules.choose([each.instance for each in seen], width=width, height=height)
            if self.content.boxed:
                stated_size(path, width, height)
        except LeftOut as reason:
            self.findings.leave_out(reason.rejection(subject))
            return None
        if (first := self.read.setdefault(path, subject)) != subject:
            detail = f"{path.name} is {first} already: one picture with two ids, drawn together as one source"
            self.findings.remark(Rejection(subject, "picture-twice", detail))
        masks = [(each.instance, self._mask(each, image, turn)) for each in seen]
        labels = {each.label for each, _ in masks}
        also = {names[0]: names[1:] for names in self.content.names.values() if names[1:] and names[0] in labels}
        item = Item(
            id=subject,
            corpus="coco",
            image_path=path,
            width=width,
            height=height,
            captions=self.content.captions.get(image.key, {}),
            licence=image.licence,
            source=image.source,
            others=tuple(
                SceneObject(each.label, each.box, mask, each.crowd) for each, mask in masks if each is not chosen
            ),
            synonyms=also,
            looked_for=self.content.looked_for(image, labels),
        )
        if chosen is None:
            return item
        mask = next(mask for each, mask in masks if each is chosen)
        category = self.taxonomy.category(chosen.label)
        return replace(item, label=chosen.label, category=category, box=chosen.box, mask=mask)

    def _once(self, found: Sequence[CocoInstance], image: CocoImage, turn: int) -> list[CocoInstance]:
        """Instances where they are seen, without those that stand twice: one object is not counted as two."""
        kept: dict[tuple[Instance, bytes], CocoInstance] = {}
        for each in found:
            if kept.setdefault((each.instance, each.segmentation), each) is not each:
                detail = f"the box of {each.instance.label} stands twice and counts once"
                self.findings.remark(Rejection(each.annotation, "annotation-twice", detail))
        if not turn:
            return list(kept.values())
        boxes = [upright_box(each.instance.box, image.width, image.height, turn) for each in kept.values()]
        placed = zip(kept.values(), boxes, strict=True)
        return [replace(each, instance=replace(each.instance, box=box)) for each, box in placed]

    def _stands(self, path: Path, image: CocoImage, subject: str) -> tuple[int, int, int]:
        """The EXIF orientation that annotations of the picture as it is stored must follow (0: none), and the upright
        width and height that boxes are for; where there are captions alone, which fit any, the picture's own."""
        header = auditable(path)
        if not self.content.boxed:
            return 0, header.width, header.height
        tells = header.lies and header.width != header.height
        stored = tells and (image.height, image.width) == (header.width, header.height)
        if stored or not tells:
            remark_exif(self.findings, subject, path, header, turned=stored)
        return (header.orientation, image.height, image.width) if stored else (0, image.width, image.height)

    def _mask(self, found: CocoInstance, image: CocoImage, turn: int) -> Mask | None:
        try:
            mask = read_mask(found, image.width, image.height)
        except LeftOut as reason:
            self.findings.remark(reason.rejection(found.annotation))
            return None
        mask = Mask.from_array(upright_mask(mask.to_array(), turn)) if turn else mask
        box = found.instance.box
        if found.instance.crowd or box.area < LEAST_TOLD or mask.box is None or mask.box.iou(box) >= UNLIKE:
            return mask
        how = f"does not fill its box {box.x:g}, {box.y:g}, {box.width:g}, {box.height:g}, which may state two corners"
        detail = f"the outline of {found.instance.label} {how}; it keeps its box alone"
        self.findings.remark(Rejection(found.annotation, "annotation-unlike-box", detail))
        return None
