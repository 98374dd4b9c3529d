"""Pictures with their scores as slides of 16:9: a title, whole captions, a legend; readable at 1280 px."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import ceil
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from core.charts.canvas import thumbnail

WIDTH, HEIGHT = 1920, 1080  # Of a slide, in px
_MARGIN, _GAP, _LEAST = 40, 24, 110  # px; the least height of a picture
_GRIDS = ((2, 1), (3, 1), (3, 2), (4, 2), (5, 3))  # Columns and rows of a slide, from large pictures to small ones

_INK, _PALE = "#1A1A1A", "#666666"
_TITLE, _TEXT = 36, 20  # px of letters
_SPACING = 1.3
_PIECE = 40  # letters of a word that is cut where a line ends

Font = ImageFont.FreeTypeFont
Line = tuple[str, bool, str]  # A line of a cell: its words, whether it is bold, its colour


@dataclass(frozen=True, slots=True)
class Score:
    """What one evaluator says."""

    text: str  # in words
    strong: bool | None = None  # whether it moved beyond what nobody can see; None: not told


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """One picture of a sheet: uint8 RGB [H, W, 3], what it is called, its caption, and its scores."""

    pixels: np.ndarray
    name: str
    caption: str = ""
    scores: tuple[Score, ...] = ()


STRONG, WEAK = "●", "○"  # Before a score that moved beyond what nobody can see, and before one that did not


def contact_sheet(cells: Sequence[Cell], *, title: str, foot: str = "") -> np.ndarray:
    """Lay out cells on slides, one below the other where one does not hold them; ``foot``: how to read it: legend, null
    bands, what it is of. Returns uint8 RGB [slides · HEIGHT, WIDTH, 3], dark on white."""
    head = wrapped(title, WIDTH - 2 * _MARGIN - 140, _font(_TITLE, bold=True))[:2]
    below = wrapped(foot, WIDTH - 2 * _MARGIN, _font(_TEXT))[:4]
    top = _MARGIN + round(len(head) * _TITLE * _SPACING) + _GAP
    room = HEIGHT - top - _MARGIN - round(len(below) * _TEXT * _SPACING) - _GAP * bool(below)
    columns, rows = grid(cells, room)
    taken = [cells[start : start + columns * rows] for start in range(0, len(cells), columns * rows)] or [()]
    sheet = Image.new("RGB", (WIDTH, len(taken) * HEIGHT), "white")
    for place, own in enumerate(taken):
        slide = Image.new("RGB", (WIDTH, HEIGHT), "white")
        draw = ImageDraw.Draw(slide)
        _write(draw, [(each, True, _INK) for each in head], _MARGIN, _MARGIN, size=_TITLE)
        if len(taken) > 1:
            told = f"{place + 1} of {len(taken)}"
            draw.text((WIDTH - _MARGIN, _MARGIN + 8), told, fill=_PALE, font=_font(_TEXT), anchor="ra")
        _draw_cells(slide, draw, own, top=top, room=room, columns=columns, rows=min(rows, ceil(len(own) / columns)))
        foot_top = HEIGHT - _MARGIN - round(len(below) * _TEXT * _SPACING)
        _write(draw, [(each, False, _PALE) for each in below], _MARGIN, foot_top, size=_TEXT)
        sheet.paste(slide, (0, place * HEIGHT))
    return np.asarray(sheet)


def grid(cells: Sequence[Cell], room: int) -> tuple[int, int]:
    """Columns and rows of a slide: the largest pictures with which one slide holds all, else the fewest slides.

    Args:
        cells: to be laid out.
        room: height of a slide that they have, in px.
    """
    fitting = [
        (columns, rows)
        for columns, rows in _GRIDS
        if all(_height(_lines(each, _across(columns))) + _LEAST <= _down(room, rows) for each in cells)
    ]
    return next((each for each in fitting if each[0] * each[1] >= len(cells)), fitting[-1] if fitting else _GRIDS[0])


def wrapped(text: str, width: int, font: Font) -> list[str]:
    """A text in lines of at most ``width`` px; all of it, but for what breaks lines or turns the direction."""
    shown = "".join(each if each.isprintable() else " " for each in text)
    words = [piece for word in shown.split() for piece in _pieces(word)]
    lines: list[str] = []
    for word, glued in words:
        joined = f"{lines[-1]}{'' if glued else ' '}{word}" if lines else word
        if lines and font.getlength(joined) <= width:
            lines[-1] = joined
        else:
            lines.append(word)
    return lines


def _pieces(word: str) -> list[tuple[str, bool]]:
    """A word in pieces that a line holds, and whether each goes on where the one before ends."""
    step = _PIECE // 4 if len(word) > _PIECE else len(word)
    return [(word[start : start + step], start > 0) for start in range(0, len(word), step)]


def _lines(cell: Cell, width: int) -> list[Line]:
    name = [(each, True, _INK) for each in wrapped(cell.name, width, _font(_TEXT, bold=True))]
    caption = [(each, False, _PALE) for each in wrapped(cell.caption, width, _font(_TEXT))]
    marks = {True: f"{STRONG} ", False: f"{WEAK} ", None: ""}
    scores = [
        (line, each.strong is True, _INK)
        for each in cell.scores
        for line in wrapped(f"{marks[each.strong]}{each.text}", width, _font(_TEXT, bold=each.strong is True))
    ]
    return [*name, *caption, *scores]


def _draw_cells(
    slide: Image.Image,
    draw: ImageDraw.ImageDraw,
    cells: Sequence[Cell],
    *,
    top: int,
    room: int,
    columns: int,
    rows: int,
) -> None:
    across, down = _across(columns), _down(room, max(rows, 1))
    for row in range(rows):
        own = cells[row * columns : (row + 1) * columns]
        lines = [_cut(_lines(each, across), down - _LEAST) for each in own]
        tall = down - max(map(_height, lines))
        for column, (cell, said) in enumerate(zip(own, lines, strict=True)):
            left, upper = _MARGIN + column * (across + _GAP), top + row * (down + _GAP)
            small = _fitted(cell.pixels, across, tall - 8)
            slide.paste(Image.fromarray(small), (left, upper + tall - 8 - small.shape[0]))
            _write(draw, said, left, upper + tall, size=_TEXT)


def _fitted(pixels: np.ndarray, width: int, height: int) -> np.ndarray:
    tall, wide = pixels.shape[:2]
    return thumbnail(pixels, side=max(int(min(width / wide, height / tall) * max(wide, tall)), 1))


def _cut(lines: list[Line], most: int) -> list[Line]:
    """The lines that there is room for; the last says where there are more."""
    held = max(int(most / (_TEXT * _SPACING)), 1)
    return lines if _height(lines) <= most else [*lines[: held - 1], ("…", False, _PALE)]


def _write(draw: ImageDraw.ImageDraw, lines: Sequence[Line], left: int, top: int, *, size: int) -> None:
    for place, (text, bold, colour) in enumerate(lines):
        font = _font(size, bold=bold)
        draw.text((left, top + round(place * size * _SPACING)), text, fill=colour, font=font)


def _across(columns: int) -> int:
    return (WIDTH - 2 * _MARGIN - (columns - 1) * _GAP) // columns


def _down(room: int, rows: int) -> int:
    return (room - (rows - 1) * _GAP) // rows


def _height(lines: Sequence[Line]) -> int:
    return round(len(lines) * _TEXT * _SPACING)


@cache
def _font(size: int, *, bold: bool = False) -> Font:
    """DejaVu Sans, which comes with matplotlib: Latin, Greek, Cyrillic and signs."""
    import matplotlib as mpl

    name = "DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf"
    return ImageFont.truetype(str(Path(mpl.get_data_path()) / "fonts" / "ttf" / name), size)
