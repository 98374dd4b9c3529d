"""COCO's annotation files as checked records: images, instances, captions.

Source of the format: cocodataset.org/#format-data.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeGuard

from core.corpora.boxes import SLACK, clipped_sentence, read_box
from core.corpora.curation import Instance
from core.corpora.files import LeftOut, read_json
from core.corpora.findings import Findings
from core.corpora.schema import Mask, Rejection
from core.errors import BadCorpus, InvalidInput


@dataclass(frozen=True, slots=True)
class CocoImage:
    """One entry of ``images``; the key is its id as text."""

    key: str
    file_name: str
    width: int
    height: int
    licence: str
    source: str


@dataclass(frozen=True, slots=True)
class CocoInstance:
    """One entry of ``annotations``: an instance whose segmentation is still raw."""

    annotation: str
    instance: Instance
    segmentation: Any = field(repr=False, hash=False)


@dataclass(frozen=True, slots=True)
class CocoSplit:
    """The checked content of one split.

    Args:
        images: in the order of their ids.
        instances: by image key, in the order of the file.
        captions: by image key, in the order of their ids.
    """

    name: str
    images: tuple[CocoImage, ...]
    instances: Mapping[str, list[CocoInstance]]
    captions: Mapping[str, tuple[str, ...]]


def item_id(split: str, key: str) -> str:
    """The item id of an image, e.g. ``val2017-139``: unique in the corpus, and the same on every load."""
    return f"{split}-{key}"


def read_split(folder: Path, split: str, found: Findings) -> CocoSplit:
    """Read ``instances_<split>.json`` and, where there is one, ``captions_<split>.json``.

    Args:
        found: takes the entries that could not be used.

    Raises:
        BadCorpus: if a file is malformed as a whole; entries that are wrong one by one are rejected.
    """
    path = folder / f"instances_{split}.json"
    content = _object(path)
    images = _images(content, path, split, found)
    labels = _labels(content, path)
    instances: dict[str, list[CocoInstance]] = {}
    for position, entry in enumerate(_list(content, "annotations", path)):
        where = f"{split} annotations[{position}]"
        try:
            key, instance = _instance(entry, images, labels, where=where, found=found)
        except LeftOut as reason:
            found.remark(reason.rejection(where))
            continue
        instances.setdefault(key, []).append(instance)
    captions = _captions(folder / f"captions_{split}.json", split, images, found)
    ordered = sorted(images.values(), key=lambda image: (image.key.zfill(20), image.key))
    return CocoSplit(split, tuple(ordered), instances, captions)


def read_mask(found: CocoInstance, width: int, height: int) -> Mask:
    """Encode the raw segmentation of an instance.

    Raises:
        LeftOut: if there is no mask in it; the instance then has its box alone.
    """
    label = found.instance.label
    if found.segmentation in (None, []):
        raise LeftOut("annotation-empty-segmentation", f"{label} has an empty segmentation; it keeps its box alone")
    try:
        mask = Mask.from_coco(found.segmentation, height, width)
    except InvalidInput as error:
        raise LeftOut("annotation-bad-segmentation", f"{label}: {error}; it keeps its box alone") from error
    if mask.area == 0:
        raise LeftOut("annotation-empty-segmentation", f"the mask of {label} covers no pixel; it keeps its box alone")
    return mask


def _images(content: Mapping[str, Any], path: Path, split: str, found: Findings) -> dict[str, CocoImage]:
    licences = _licences(content)
    images: dict[str, CocoImage] = {}
    for position, entry in enumerate(_list(content, "images", path)):
        try:
            image = _image(entry, licences)
        except LeftOut as reason:
            found.leave_out(reason.rejection(f"{split} images[{position}]"))
            continue
        first = images.setdefault(image.key, image)
        if first is not image:
            detail = f"{image.file_name}: its id {image.key} belongs to {first.file_name} already"
            found.leave_out(Rejection(f"{split} images[{position}]", "duplicate-id", detail))
    return images


def _image(entry: Any, licences: Mapping[str, str]) -> CocoImage:
    if not isinstance(entry, dict):
        raise LeftOut("bad-entry", f"an image must be an object, got {type(entry).__name__}")
    key, name, width, height = (entry.get(part) for part in ("id", "file_name", "width", "height"))
    if not _is_key(key) or not isinstance(name, str):
        raise LeftOut("bad-entry", f"an image needs an id and a file_name, got {key!r} and {name!r}")
    if not (_is_count(width) and _is_count(height)):
        raise LeftOut("bad-entry", f"{name}: width and height must be whole pixels, got {width!r} × {height!r}")
    source = str(entry.get("coco_url") or entry.get("flickr_url") or "unknown")
    return CocoImage(str(key), name, width, height, licences.get(str(entry.get("license")), "unknown"), source)


def _instance(
    entry: Any, images: Mapping[str, CocoImage], labels: Mapping[str, str], *, where: str, found: Findings
) -> tuple[str, CocoInstance]:
    if not isinstance(entry, dict) or not _is_key(entry.get("image_id")) or not _is_key(entry.get("category_id")):
        raise LeftOut("annotation-bad-entry", "an annotation needs an image_id and a category_id")
    image, label = images.get(str(entry["image_id"])), labels.get(str(entry["category_id"]))
    if image is None:
        raise LeftOut("annotation-no-image", f"no image has the id {entry['image_id']!r}")
    if label is None:
        raise LeftOut("annotation-no-category", f"no category has the id {entry['category_id']!r}")
    what = f"the box of {label} in {image.file_name}"
    box, overhang = read_box(entry.get("bbox"), what=what, width=image.width, height=image.height)
    if overhang > SLACK:
        found.remark(LeftOut("annotation-box-clipped", clipped_sentence(what, overhang)).rejection(where))
    instance = Instance(label, box, crowd=bool(entry.get("iscrowd")))
    return image.key, CocoInstance(where, instance, entry.get("segmentation"))


def _captions(path: Path, split: str, images: Mapping[str, CocoImage], found: Findings) -> dict[str, tuple[str, ...]]:
    if not path.exists():
        return {}
    captions: dict[str, list[tuple[int, str]]] = {}
    for position, entry in enumerate(_list(_object(path), "annotations", path)):
        try:
            key, text = _caption(entry, images)
        except LeftOut as reason:
            found.remark(reason.rejection(f"{split} captions[{position}]"))
            continue
        number = entry["id"] if _is_count(entry.get("id")) else position
        captions.setdefault(key, []).append((number, text))
    return {key: tuple(text for _, text in sorted(found)) for key, found in captions.items()}


def _caption(entry: Any, images: Mapping[str, CocoImage]) -> tuple[str, str]:
    if not isinstance(entry, dict) or not _is_key(entry.get("image_id")):
        raise LeftOut("caption-bad-entry", "a caption needs an image_id")
    if str(entry["image_id"]) not in images:
        raise LeftOut("caption-no-image", f"no image has the id {entry['image_id']!r}")
    if not isinstance(entry.get("caption"), str) or not entry["caption"].strip():
        raise LeftOut("caption-empty", f"image {entry['image_id']!r} has an empty caption")
    return str(entry["image_id"]), entry["caption"].strip()


def _object(path: Path) -> dict[str, Any]:
    content = read_json(path)
    if not isinstance(content, dict):
        raise BadCorpus(f"{path} must hold one JSON object with images and annotations, got {type(content).__name__}")
    return content


def _list(content: Mapping[str, Any], name: str, path: Path) -> list[Any]:
    value = content.get(name)
    if not isinstance(value, list):
        raise BadCorpus(f"{path} has no list {name!r}; give a file in COCO's layout")
    return value


def _dicts(values: Any) -> Iterator[dict[str, Any]]:
    return (value for value in values if isinstance(value, dict)) if isinstance(values, list) else iter(())


def _labels(content: Mapping[str, Any], path: Path) -> dict[str, str]:
    entries = _dicts(_list(content, "categories", path))
    return {str(entry["id"]): entry["name"] for entry in entries
            if _is_key(entry.get("id")) and isinstance(entry.get("name"), str)}  # fmt: skip


def _licences(content: Mapping[str, Any]) -> dict[str, str]:
    return {str(entry["id"]): " ".join(str(entry[part]) for part in ("name", "url") if entry.get(part))
            for entry in _dicts(content.get("licenses")) if _is_key(entry.get("id"))}  # fmt: skip


def _is_key(value: Any) -> TypeGuard[int | str]:
    return isinstance(value, int | str) and not isinstance(value, bool)


def _is_count(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0
