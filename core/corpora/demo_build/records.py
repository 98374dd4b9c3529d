"""One line of ``items.jsonl`` and its like: written by the builder, read by the loader, nowhere else described."""

import json
from collections.abc import Mapping
from dataclasses import astuple
from pathlib import Path
from typing import Any

from core.corpora.labels import load_labels
from core.corpora.schema import CATEGORIES, EXTRA_CATEGORIES, Box, Item, Mask, Rival, SceneObject
from core.errors import BadCorpus

CORPUS = "demo"
SCENES = "demo-scenes"
PROTOTYPES = "demo-prototypes"
ITEMS_FILE = "items.jsonl"
LISTINGS: Mapping[str, str] = {CORPUS: ITEMS_FILE, SCENES: "scenes.jsonl", PROTOTYPES: "prototypes.jsonl"}
"""Corpus -> its list of items. All lie in one folder, with their images in one folder beside."""

CHECKSUMS_FILE = "SHA256SUMS"
IMAGES_FOLDER = "images"


def to_line(item: Item, *, made_from: Mapping[str, Any]) -> str:
    """Return the item as one line of JSON.

    Args:
        item: with image, mask, captions and hashes.
        made_from: what the builder knows beside the schema, e.g. the magnification; of it the hash of the cut-out is
            read back, as the item's group, and the background of an item of CORPUS, as its backdrop.
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
        "others": [_other_record(other) for other in item.others],
        "licence": item.licence,
        "source": item.source,
        "bytes_sha256": item.bytes_sha256,
        "pixels_sha256": item.pixels_sha256,
        "made_from": dict(made_from),
    }
    if item.rivals:
        record["facts"] = dict(item.facts)
        record["rivals"] = [_rival_record(rival) for rival in item.rivals]
    return json.dumps(record, ensure_ascii=False)


def _other_record(other: SceneObject) -> list[Any]:
    box = [other.label, *astuple(other.box)]
    return box if other.mask is None else [*box, other.mask.counts.decode("ascii")]


def _rival_record(rival: Rival) -> dict[str, Any]:
    return {
        "role": rival.role,
        "file": f"{IMAGES_FOLDER}/{rival.path.name}",
        "facts": dict(rival.facts),
        "bytes_sha256": rival.bytes_sha256,
        "pixels_sha256": rival.pixels_sha256,
    }


def from_line(line: str, root: Path, where: str, *, corpus: str = CORPUS) -> Item:
    """Read one line back; box and coverage follow from the mask.

    Args:
        root: folder of the corpus.
        corpus: name of the corpus.
        where: what messages call the line.

    Raises:
        BadCorpus: if a field is missing or has another shape.
    """
    try:
        record = json.loads(line)
        if record["category"] not in CATEGORIES + EXTRA_CATEGORIES:
            raise ValueError(f"unknown category {record['category']!r}")
        width, height = int(record["width"]), int(record["height"])
        mask = Mask(height, width, str(record["mask"]).encode("ascii"))
        return Item(
            id=str(record["id"]),
            corpus=corpus,
            image_path=root / _image(record["file"]),
            width=width,
            height=height,
            captions={str(language): tuple(map(str, texts)) for language, texts in record["captions"].items()},
            label=str(record["label"]),
            category=record["category"],
            box=_box(mask),
            mask=mask,
            others=tuple(_other(*other, size=(height, width)) for other in record["others"]),
            licence=str(record["licence"]),
            source=str(record["source"]),
            bytes_sha256=str(record["bytes_sha256"]),
            pixels_sha256=str(record["pixels_sha256"]),
            group=record["made_from"].get("stamp_sha256"),
            rivals=tuple(_rival(rival, root) for rival in record.get("rivals", ())),
            facts=_facts(record.get("facts", {})),
            backdrop=str(record["made_from"].get("background", "")) if corpus == CORPUS else "",
            looked_for=load_labels("coco").taxonomy.names,  # composed: whatever it shows was put into it
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        reason = f"it has no {error}" if isinstance(error, KeyError) else str(error)
        raise BadCorpus(f"{where} cannot be used: {reason}; restore the file or rebuild the corpus") from error


def _image(name: str) -> Path:
    path = Path(name)
    if path.parts != (IMAGES_FOLDER, path.name) or path.name in ("", ".", ".."):
        raise ValueError(f"'file' must name a file in {IMAGES_FOLDER}/, got {name!r}")
    return path


def _other(
    label: str, x: float, y: float, width: float, height: float, counts: str | None = None, *, size: tuple[int, int]
) -> SceneObject:
    mask = None if counts is None else Mask(*size, str(counts).encode("ascii"))
    return SceneObject(str(label), Box(float(x), float(y), float(width), float(height)), mask)


def _rival(record: Mapping[str, Any], root: Path) -> Rival:
    return Rival(
        role=str(record["role"]),
        path=root / _image(record["file"]),
        facts=_facts(record["facts"]),
        bytes_sha256=str(record["bytes_sha256"]),
        pixels_sha256=str(record["pixels_sha256"]),
    )


def _facts(record: Mapping[str, Any]) -> dict[str, str | float]:
    return {str(key): value if isinstance(value, str) else float(value) for key, value in record.items()}


def _box(mask: Mask) -> Box:
    box = mask.box
    if box is None:
        raise ValueError("its mask is empty")
    return box
