"""Pictures that a page draws on: small ones, a mask, a metric's crop, a map over a picture, all on one sheet."""

from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Protocol

import cv2
import numpy as np
from PIL import Image, ImageDraw, ImageFont

ACCENT = (213, 94, 0)
"""RGB of outlines: Okabe and Ito's vermillion, seen on nearly any photograph."""

CANVAS_SIDE = 640
"""Longest side, in px, of the picture that travels to the browser."""


class Box(Protocol):
    """The edges of a box in pixels of its picture, y downward."""

    @property
    def x(self) -> float:
        """Its left edge."""

    @property
    def y(self) -> float:
        """Its upper edge."""

    @property
    def right(self) -> float:
        """Its right edge."""

    @property
    def bottom(self) -> float:
        """Its lower edge."""


def thumbnail(pixels: np.ndarray, *, side: int) -> np.ndarray:
    """Scale uint8 RGB [H, W, 3] down to fit ``side`` px; a smaller image stays as it is."""
    height, width = pixels.shape[:2]
    scale = side / max(height, width)
    if scale >= 1:
        return pixels
    size = (max(round(width * scale), 1), max(round(height * scale), 1))
    return cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)


def jpeg(pixels: np.ndarray, *, quality: int = 88) -> bytes:
    """Encode uint8 RGB [H, W, 3] as JPEG, ``quality`` in [1, 95]."""
    buffer = BytesIO()
    Image.fromarray(pixels).save(buffer, "JPEG", quality=quality)
    return buffer.getvalue()


def cropped_away(pixels: np.ndarray, crop: Box | None) -> np.ndarray:
    """Return a copy with everything outside the crop darkened and the crop framed; None: all is inside."""
    if crop is None or (crop.right - crop.x) * (crop.bottom - crop.y) > 0.999 * pixels.shape[0] * pixels.shape[1]:
        return pixels
    rows = slice(max(round(crop.y), 0), round(crop.bottom))
    columns = slice(max(round(crop.x), 0), round(crop.right))
    drawn = (pixels * 0.3).astype(np.uint8)
    drawn[rows, columns] = pixels[rows, columns]
    corner, opposite = (columns.start, rows.start), (columns.stop - 1, rows.stop - 1)
    return cv2.rectangle(drawn, corner, opposite, ACCENT, _line(pixels))


LOWER, HIGHER = (230, 159, 0), (0, 114, 178)
"""RGB of a score that falls and of one that rises: Okabe and Ito's orange and blue, as the maps of shifts have them."""


def heat_over(
    pixels: np.ndarray, columns: np.ndarray, rows: np.ndarray, values: np.ndarray, *, reach: float
) -> np.ndarray:
    """Return the picture with a tinted cell around each place of a grid, its value written in it.

    Args:
        pixels: uint8 RGB [H, W, 3].
        columns: x of the places in pixels, float64 [k]; rising.
        rows: y of the places, likewise.
        values: float64 [k, k], rows first; a place with NaN stays as it is.
        reach: the value, above 0, from which on a tint is at its strongest.
    """
    drawn = pixels.copy()
    across, down = _borders(columns, pixels.shape[1]), _borders(rows, pixels.shape[0])
    size = max(pixels.shape[:2]) / 1100
    for row, column in np.argwhere(~np.isnan(values)):
        value = float(values[row, column])
        cell = drawn[down[row] : down[row + 1], across[column] : across[column + 1]]
        share = 0.75 * min(abs(value) / reach, 1.0)
        tint = np.asarray(HIGHER if value > 0 else LOWER, dtype=np.float32)
        cell[...] = ((1 - share) * cell + share * tint).astype(np.uint8)
        foot = int(across[column]) + 3, int((down[row] + down[row + 1]) // 2)
        for colour, thick in (((0, 0, 0), 3), ((255, 255, 255), 1)):
            cv2.putText(drawn, f"{value:+.1f}", foot, cv2.FONT_HERSHEY_SIMPLEX, size, colour, thick, cv2.LINE_AA)
    return drawn


def _borders(places: np.ndarray, end: int) -> np.ndarray:
    """Where cells around rising places begin and end, int [k + 1]: halfway between, and as far beyond the outermost."""
    half = np.diff(places) / 2
    inner = places[:-1] + half
    borders = np.concatenate([[places[0] - half[0]], inner, [places[-1] + half[-1]]])
    cells: np.ndarray = np.clip(np.rint(borders), 0, end).astype(int)
    return cells


def mask_png(mask: np.ndarray) -> bytes:
    """A boolean mask [H, W] as a PNG: ACCENT inside, nothing outside."""
    pixels = np.zeros((*mask.shape, 4), np.uint8)
    pixels[mask] = (*ACCENT, 255)
    buffer = BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG", compress_level=3)
    return buffer.getvalue()


def _line(pixels: np.ndarray) -> int:
    return int(max(round(max(pixels.shape[:2]) / 250), 1))


CELL = 220
LINE = 17
PADDING = 12
LONGEST = 300
"""Characters of a line that are looked at; none as long fits."""


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """One variant on the sheet: uint8 RGB [H, W, 3] and the lines below it."""

    pixels: np.ndarray
    lines: tuple[str, ...]


def contact_sheet(cells: Sequence[Cell], *, title: str, columns: int = 4) -> np.ndarray:
    """Lay out the cells in rows under a title.

    Characters that the built-in font lacks are written as ``?``; the JSON export has every caption whole.

    Returns:
        uint8 RGB [H, W, 3], black on white.
    """
    columns = max(min(columns, len(cells)), 1)
    text_height = LINE * max((len(cell.lines) for cell in cells), default=0)
    small = [thumbnail(cell.pixels, side=CELL) for cell in cells]
    tallest = max((picture.shape[0] for picture in small), default=0)
    row_height = tallest + text_height + PADDING
    rows = -(-len(cells) // columns)
    width = PADDING + columns * (CELL + PADDING)
    sheet = Image.new("RGB", (width, 2 * PADDING + LINE + rows * row_height), "white")
    draw = ImageDraw.Draw(sheet)
    font = ImageFont.load_default(size=13)
    draw.text((PADDING, PADDING), _fit(draw, title, width - 2 * PADDING, font), fill="black", font=font)
    for index, cell in enumerate(cells):
        left = PADDING + index % columns * (CELL + PADDING)
        top = 2 * PADDING + LINE + index // columns * row_height
        picture = small[index]
        sheet.paste(Image.fromarray(picture), (left, top + tallest - picture.shape[0]))
        for line, text in enumerate(cell.lines):
            draw.text((left, top + tallest + 3 + line * LINE), _fit(draw, text, CELL, font), fill="black", font=font)
    return np.asarray(sheet)


Font = ImageFont.FreeTypeFont | ImageFont.ImageFont


def _fit(draw: ImageDraw.ImageDraw, text: str, width: int, font: Font) -> str:
    text = text[:LONGEST]  # measuring is quadratic in the length
    shown = text.replace("−", "-").replace("Δ", "d").encode("latin-1", errors="replace").decode("latin-1")
    if draw.textlength(shown, font=font) <= width:
        return shown
    while shown and draw.textlength(shown + "...", font=font) > width:
        shown = shown[:-1]
    return shown + "..."
