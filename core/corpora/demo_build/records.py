"""One line of ``items.jsonl``: written by the builder, read by the loader, nowhere else described."""

import json
from collections.abc import Mapping
from dataclasses import astuple
from pathlib import Path
from typing import Any

from core.corpora.schema import CATEGORIES, EXTRA_CATEGORIES, Box, Item, Mask, SceneObject
from core.errors import BadCorpus

CORPUS = "demo"
ITEMS_FILE = "items.jsonl"
CHECKSUMS_FILE = "SHA256SUMS"
IMAGES_FOLDER = "images"


def to_line(item: Item, *, made_from: Mapping[str, Any]) -> str:
    """Return the item as one line of JSON.

    Args:
        item: with image, mask, captions and hashes.
        made_from: what the builder knows beside the schema, e.g. the magnification; of it the hash of the cut-out is
            read back, as the item's group.
    """
    assert item.image_path is not None
    assert item.mask is not None
    record = {
        "id": item.id,
        "file": f"{IMAGES_FOLDER}/{item.image_path.name}",
        "width": item.width,
        "height": item.height,
        "label": item.label,
        "category": item.category,
        "captions": {language: list(texts) for language, texts in item.captions.items()},
        "mask": item.mask.counts.decode("ascii"),
        "others": [[other.label, *astuple(other.box)] for other in item.others],
        "licence": item.licence,
        "source": item.source,
        "bytes_sha256": item.bytes_sha256,
        "pixels_sha256": item.pixels_sha256,
        "made_from": dict(made_from),
    }
    return json.dumps(record, ensure_ascii=False)


def from_line(line: str, root: Path, where: str) -> Item:
    """Read one line back; box and coverage follow from the mask.

    Args:
        root: folder of the corpus.
        where: what messages call the line.

    Raises:
        BadCorpus: if a field is missing or has another shape.
    """
    try:
        record = json.loads(line)
        name = Path(record["file"])
        if name.parts != (IMAGES_FOLDER, name.name) or name.name in ("", ".", ".."):
            raise ValueError(f"'file' must name a file in {IMAGES_FOLDER}/, got {record['file']!r}")
        if record["category"] not in CATEGORIES + EXTRA_CATEGORIES:
            raise ValueError(f"unknown category {record['category']!r}")
        width, height = int(record["width"]), int(record["height"])
        mask = Mask(height, width, str(record["mask"]).encode("ascii"))
        return Item(
            id=str(record["id"]),
            corpus=CORPUS,
            image_path=root / name,
            width=width,
            height=height,
            captions={str(language): tuple(map(str, texts)) for language, texts in record["captions"].items()},
            label=str(record["label"]),
            category=record["category"],
            box=_box(mask),
            mask=mask,
            others=tuple(SceneObject(str(label), Box(*map(float, box))) for label, *box in record["others"]),
            licence=str(record["licence"]),
            source=str(record["source"]),
            bytes_sha256=str(record["bytes_sha256"]),
            pixels_sha256=str(record["pixels_sha256"]),
            group=record["made_from"].get("stamp_sha256"),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        reason = f"it has no {error}" if isinstance(error, KeyError) else str(error)
        raise BadCorpus(f"{where} cannot be used: {reason}; restore the file or rebuild the corpus") from error


def _box(mask: Mask) -> Box:
    box = mask.box
    if box is None:
        raise ValueError("its mask is empty")
    return box
