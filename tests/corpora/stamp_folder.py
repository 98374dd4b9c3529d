"""A folder in the shape of Tux Paint's stamps, drawn on the fly."""

from pathlib import Path

import numpy as np
from PIL import Image

TEXT = (
    "{name} in English.\nde.utf8={name} auf Deutsch.\nfr.utf8={name} en français.\n"
    "es.utf8={name} en español.\nja.utf8={name} 日本語\n"
)


def ellipse(width: int, height: int, *, border: int = 6) -> Image.Image:
    """An opaque, shaded ellipse of that size inside a transparent border."""
    rows, columns = np.mgrid[0:height, 0:width]
    inside = ((columns + 0.5) / width * 2 - 1) ** 2 + ((rows + 0.5) / height * 2 - 1) ** 2 <= 1
    pixels = np.zeros((height + 2 * border, width + 2 * border, 4), np.uint8)
    shaded = np.stack([columns * 200 // width, rows * 200 // height, np.full_like(rows, 90), inside * 255], axis=2)
    pixels[border : border + height, border : border + width] = np.where(inside[..., None], shaded, 0)
    return Image.fromarray(pixels)


def stamp(folder: Path, name: str, size: tuple[int, int] = (200, 150), text: str = TEXT) -> Path:
    """Save one stamp and its text; return the folder."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    ellipse(*size).save(path)
    path.with_suffix(".txt").write_text(text.format(name=path.stem), encoding="utf-8")
    return folder
