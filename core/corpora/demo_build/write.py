"""Files of the demo corpus: images, items, attribution, licence, checksums."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import numpy as np
from PIL import Image

from core.corpora.demo_build.records import CHECKSUMS_FILE, IMAGES_FOLDER
from core.corpora.demo_build.stamps import COPYRIGHT, LICENCE, PACKAGE, PACKAGE_VERSION
from core.corpora.images import decode_image
from core.corpora.schema import Item

JPEG_QUALITY = 90


def encode_jpeg(pixels: np.ndarray) -> bytes:
    """Encode uint8 RGB [H, W, 3]; the bytes depend on the pinned Pillow and nothing else."""
    buffer = BytesIO()
    Image.fromarray(pixels).save(buffer, "JPEG", quality=JPEG_QUALITY, optimize=True)
    return buffer.getvalue()


def store_image(item: Item, data: bytes, output: Path) -> Item:
    """Write an item's image and return the item with its path and both hashes."""
    assert item.image_path is not None
    path = output / IMAGES_FOLDER / item.image_path.name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    decoded = decode_image(data, name=path.name)
    return replace(item, image_path=path, bytes_sha256=decoded.bytes_sha256, pixels_sha256=decoded.pixels_sha256)


def attribution(items: Sequence[Item]) -> str:
    """Return ATTRIBUTION.md: licence and source of every image."""
    rows = "\n".join(
        f"| {item.image_path.name if item.image_path else item.id} | {item.licence} | {item.source} |" for item in items
    )
    return (
        "# Licence and source of every image of the demo corpus\n\n"
        "Written by `python -m core corpora build-demo`.\n\n"
        f"Composed images are works based on Tux Paint's stamps ({PACKAGE} {PACKAGE_VERSION}, © {COPYRIGHT}), which "
        f"are free under the GNU General Public License, version 2 or later ({LICENCE}); so are these images, their "
        "masks and the captions taken from the stamps' own texts. The licence is in `GPL-2.txt`; the source form is "
        f"Debian's source package `tuxpaint-stamps`, and the builder in `core/corpora`. Their backgrounds "
        "are made of photographs that scikit-image ships, all of them CC0 or in the public domain. Photographs keep "
        "the licence of their authors, given below. No licence of an image extends to the software.\n\n"
        "| image | licence | source |\n| --- | --- | --- |\n"
        f"{rows}\n"
    )


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
