"""Files of the demo corpus: images, items, attribution, licence, checksums."""

import hashlib
import json
import shutil
import tarfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import Any

from core.corpora.demo import CHECKSUMS_FILE, IMAGES_FOLDER, PACK
from core.corpora.images import DecodedImage, decode_image
from core.corpora.schema import Item, Rival, SceneObject
from tools.demo_corpus.stamps import COPYRIGHT, LICENCE, PACKAGE, PACKAGE_VERSION
from tools.demo_corpus.videos import BuiltVideo

SAMPLES_FOLDER, SAMPLES, NEAR = "samples", 12, 4
"""Where some pictures lie as files too, how many, and of how many neighbours by name each is the smallest."""


@dataclass(frozen=True, slots=True)
class Built:
    """An item without hashes, and what is to be written.

    Args:
        image: bytes of the item's image.
        made_from: what the builder knows beside the schema.
        rivals: bytes of the rivals' images, in the order of the item's.
    """

    item: Item
    image: bytes
    made_from: Mapping[str, Any]
    rivals: tuple[bytes, ...] = ()


def store_images(built: Built, output: Path) -> Item:
    """Write an item's images and return the item with their paths and hashes."""
    item = built.item
    assert item.image_path is not None
    path, image = _store(item.image_path.name, built.image, output)
    rivals = []
    for rival, data in zip(item.rivals, built.rivals, strict=True):
        place, seen = _store(rival.path.name, data, output)
        rivals.append(replace(rival, path=place, bytes_sha256=seen.bytes_sha256, pixels_sha256=seen.pixels_sha256))
    return replace(
        item, image_path=path, bytes_sha256=image.bytes_sha256, pixels_sha256=image.pixels_sha256, rivals=tuple(rivals)
    )


def _store(name: str, data: bytes, output: Path) -> tuple[Path, DecodedImage]:
    path = output / IMAGES_FOLDER / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path, decode_image(data, name=name)


def pack_images(output: Path) -> None:
    """Put the images into one file in place of their folder; the same images give the same bytes."""
    folder = output / IMAGES_FOLDER
    with tarfile.open(output / PACK, "w", format=tarfile.USTAR_FORMAT) as pack:
        for path in sorted(folder.iterdir()):
            told = tarfile.TarInfo(f"{IMAGES_FOLDER}/{path.name}")
            told.size = path.stat().st_size
            with path.open("rb") as image:
                pack.addfile(told, image)
    put_samples(folder, output / SAMPLES_FOLDER)
    shutil.rmtree(folder)


def put_samples(images: Path, folder: Path) -> None:
    """Leave some pictures of every kind as files too, evenly by name, small ones: who tries an upload needs some."""
    every = sorted(images.glob("*.jpg"))
    folder.mkdir(exist_ok=True)
    for place in range(0, len(every), max(NEAR, len(every) // SAMPLES))[:SAMPLES]:
        path = min(every[place : place + NEAR], key=lambda path: path.stat().st_size)
        shutil.copyfile(path, folder / path.name)


def attribution(items: Sequence[Item], videos: Sequence[BuiltVideo] = ()) -> str:
    """Return ATTRIBUTION.md: licence and source of every image and video."""
    told = [f"| {_file_names(item)} | {item.licence} | {item.source} |" for item in items]
    rows = "\n".join([*told, *(f"| {each.name} | {LICENCE} | {each.source} |" for each in videos)])
    return (
        "# Licence and source of every image of the demo corpus\n\n"
        "Written by `make demo`.\n\n"
        f"Composed images are works based on Tux Paint's stamps ({PACKAGE} {PACKAGE_VERSION}, © {COPYRIGHT}), which "
        f"are free under the GNU General Public License, version 2 or later ({LICENCE}); so are these images, their "
        "masks and the captions taken from the stamps' own texts. The licence is in `GPL-2.txt`; the source form is "
        f"Debian's source package `tuxpaint-stamps`, and the builder in `tools/demo_corpus`. Their backgrounds "
        "are made of photographs that scikit-image ships, all of them CC0 or in the public domain. Photographs keep "
        "the licence of their authors, given below. No licence of an image extends to the software.\n\n"
        "| image | licence | source |\n| --- | --- | --- |\n"
        f"{rows}\n"
    )


def _file_names(item: Item) -> str:
    """Name of the item's image, and of its rivals', which are made of the same sources."""
    own = item.image_path.name if item.image_path else item.id
    return ", ".join((own, *(rival.path.name for rival in item.rivals)))


def checksums(output: Path, paths: Iterable[Path]) -> str:
    """Return lines as ``sha256sum`` writes them, sorted by path."""
    lines = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(output).as_posix()}" for path in paths
    ]
    return "".join(f"{line}\n" for line in sorted(lines, key=lambda line: line.split("  ", 1)[1]))


def write_checksums(output: Path) -> None:
    """Write SHA256SUMS over every other file of the corpus."""
    listed = [path for path in output.rglob("*") if path.is_file() and path.name != CHECKSUMS_FILE]
    (output / CHECKSUMS_FILE).write_text(checksums(output, listed), encoding="utf-8")


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
