"""One picture of all variants with their shifts, for a slide or a message."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from core.charts.canvas import thumbnail

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
