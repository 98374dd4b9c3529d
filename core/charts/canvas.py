"""Pictures that a page draws on: small ones, a mask, a metric's crop, a map over a picture.

What an edit changed, made visible: words of a caption, pixels of a picture, the place of an object. And pictures with
their scores as slides of 16:9: a title, whole captions, a legend; readable at 1280 px.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from io import BytesIO
from math import ceil
from pathlib import Path
from typing import Literal, Protocol

import cv2
import numpy as np
from PIL import Image, ImageDraw, ImageFont

from core.errors import InvalidInput

ACCENT = (213, 94, 0)  # RGB of outlines: Okabe and Ito's vermillion, seen on nearly any photograph
CANVAS_SIDE = 640  # Longest side, in px, of the picture that travels to the browser


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
    left, top, right, bottom = max(round(crop.x), 0), max(round(crop.y), 0), round(crop.right), round(crop.bottom)
    drawn = (pixels * 0.3).astype(np.uint8)
    drawn[top:bottom, left:right] = pixels[top:bottom, left:right]
    wide = max(round(max(pixels.shape[:2]) / 250), 1)
    return cv2.rectangle(drawn, (left, top), (right - 1, bottom - 1), ACCENT, wide)


LOWER, HIGHER = (230, 159, 0), (0, 114, 178)
"""RGB of a score that falls and of one that rises: Okabe and Ito's orange and blue, as the maps of shifts have them."""


def heat_over(
    pixels: np.ndarray, columns: np.ndarray, rows: np.ndarray, values: np.ndarray, *, reach: float
) -> np.ndarray:
    """Return the picture with a tinted cell around each place of a grid, its value written in it where all have room.
    ``pixels``: uint8 RGB [H, W, 3]. ``columns``: x of the places in pixels, float64 [k]; rising. ``values``: float64
    [k, k], rows first; a place with NaN stays as it is. ``reach``: the value, above 0, from which on a tint is at its
    strongest."""
    drawn = pixels.copy()
    across, down = _borders(columns, pixels.shape[1]), _borders(rows, pixels.shape[0])
    size = max(pixels.shape[:2]) / 1100
    said = [f"{value:+.1f}" for value in values[~np.isnan(values)]]
    widths = [cv2.getTextSize(each, cv2.FONT_HERSHEY_SIMPLEX, size, 3)[0][0] for each in said]
    written = max(widths, default=0) + 3 <= int(np.diff(across).min())
    for row, column in np.argwhere(~np.isnan(values)):
        value = float(values[row, column])
        cell = drawn[down[row] : down[row + 1], across[column] : across[column + 1]]
        share = 0.75 * min(abs(value) / reach, 1.0)
        tint = np.asarray(HIGHER if value > 0 else LOWER, dtype=np.float32)
        cell[...] = ((1 - share) * cell + share * tint).astype(np.uint8)
        foot = int(across[column]) + 3, int((down[row] + down[row + 1]) // 2)
        for colour, thick in (((0, 0, 0), 3), ((255, 255, 255), 1)) if written else ():
            cv2.putText(drawn, f"{value:+.1f}", foot, cv2.FONT_HERSHEY_SIMPLEX, size, colour, thick, cv2.LINE_AA)
    return drawn


def _borders(places: np.ndarray, end: int) -> np.ndarray:
    """Where cells around rising places begin and end, int [k + 1]: halfway between, and as far beyond the outermost."""
    half = np.diff(places) / 2
    borders = np.concatenate([[places[0] - half[0]], places[:-1] + half, [places[-1] + half[-1]]])
    return np.asarray(np.clip(np.rint(borders), 0, end).astype(int))


def mask_png(mask: np.ndarray) -> bytes:
    """A boolean mask [H, W] as a PNG: ACCENT inside, nothing outside."""
    pixels = np.zeros((*mask.shape, 4), np.uint8)
    pixels[mask] = (*ACCENT, 255)
    buffer = BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG", compress_level=3)
    return buffer.getvalue()


Kind = Literal["same", "removed", "added"]

MOST_WORDS = 400
"""Words of a caption that are compared; a longer one is taken as one change from its first to its last difference."""

NOTICED = 24  # Least change of a channel, of 255, at which a pixel counts as changed: below it lies what JPEG does

_WORDS = re.compile(r"[぀-ヿ㐀-鿿가-힣]|\s+|[^\W_]+(?:['’-][^\W_]+)*|.", re.DOTALL)
"""A word, one character of a script that writes without spaces, white space, or a mark."""


@dataclass(frozen=True, slots=True)
class Change:
    """A stretch of text that both captions share, or that one of them has alone."""

    kind: Kind
    text: str


def word_changes(before: str, after: str) -> tuple[Change, ...]:
    """Compare two captions word by word. Returns stretches in reading order. Those that are ``same`` or ``removed``
    make up ``before``, those that are ``same`` or ``added`` make up ``after``.

    Example:
        >>> [(each.kind, each.text) for each in word_changes("a plain bed", "a red bed")]
        [('same', 'a '), ('removed', 'plain'), ('added', 'red'), ('same', ' bed')]
    """
    first, second = _WORDS.findall(before), _WORDS.findall(after)
    if max(len(first), len(second)) > MOST_WORDS:
        return _ends(before, after)
    found: list[Change] = []
    for tag, start, stop, other_start, other_stop in SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        if tag == "equal":
            found.append(Change("same", "".join(first[start:stop])))
            continue
        gone, come = "".join(first[start:stop]), "".join(second[other_start:other_stop])
        found += [Change("removed", gone)] if gone else []
        found += [Change("added", come)] if come else []
    return _joined(found)


def side_by_side(before: np.ndarray, after: np.ndarray, *, gap: int = 6) -> np.ndarray:
    """Return two pictures beside each other on white, each uint8 RGB [H, W, 3], the smaller one centred in height."""
    height = max(before.shape[0], after.shape[0])
    sheet = np.full((height, before.shape[1] + gap + after.shape[1], 3), 255, np.uint8)
    for picture, left in ((before, 0), (after, before.shape[1] + gap)):
        top = (height - picture.shape[0]) // 2
        sheet[top : top + picture.shape[0], left : left + picture.shape[1]] = picture
    return sheet


def changed_share(before: np.ndarray, after: np.ndarray) -> float:
    """Share of pixels of which some channel changed by at least NOTICED, in [0, 1]. Raises InvalidInput if the pictures
    differ in size."""
    return float(_changed(before, after).mean())


def with_changes(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Return ``after`` in grey with the changed pixels in colour and their regions outlined; ``before``, ``after``:
    uint8 RGB [H, W, 3] of one size. Raises InvalidInput if the pictures differ in size."""
    changed = _changed(before, after)
    grey = cv2.cvtColor(cv2.cvtColor(after, cv2.COLOR_RGB2GRAY), cv2.COLOR_GRAY2RGB)
    drawn = (0.45 * grey + 0.55 * 128).astype(np.uint8)
    drawn[changed] = after[changed]
    closed = cv2.morphologyEx(changed.astype(np.uint8), cv2.MORPH_CLOSE, np.ones((5, 5), np.uint8))
    edges, _ = cv2.findContours(closed, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    large = [edge for edge in edges if cv2.contourArea(edge) >= changed.size / 2000]
    return cv2.drawContours(drawn, large, -1, ACCENT, 1)


def with_boxes(pixels: np.ndarray, *, box: Box | None, old: Box | None = None, side: int) -> np.ndarray:
    """Return uint8 RGB [H, W, 3] at most ``side`` px long with the object's box drawn, in the pixels of ``pixels``, and
    dashed where it was before; None: not drawn."""
    small = thumbnail(pixels, side=side)
    drawn = small if small is not pixels else pixels.copy()
    scale = drawn.shape[1] / pixels.shape[1], drawn.shape[0] / pixels.shape[0]
    for each, dash in ((old, 5), (box, 0)):
        if each is not None:
            _frame(drawn, each, scale, dash=dash)
    return drawn


def _changed(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    if before.shape != after.shape:
        raise InvalidInput(f"two pictures of one size are compared, got {before.shape[:2]} and {after.shape[:2]} px")
    return np.asarray(cv2.absdiff(before, after).max(axis=2) >= NOTICED)


def _frame(drawn: np.ndarray, box: Box, scale: tuple[float, float], *, dash: int) -> None:
    """White below the accent, so that the frame stands out from any picture."""
    height, width = drawn.shape[:2]
    left, right = (min(max(round(value * scale[0]), 1), width - 2) for value in (box.x, box.right))
    top, bottom = (min(max(round(value * scale[1]), 1), height - 2) for value in (box.y, box.bottom))
    corners = [(left, top), (right, top), (right, bottom), (left, bottom)]
    for colour, thickness in (((255, 255, 255), 4), (ACCENT, 2)):
        for start, end in zip(corners, corners[1:] + corners[:1], strict=True):
            _stroke(drawn, start, end, colour, thickness, dash)


Pixel = tuple[int, int]


def _stroke(
    drawn: np.ndarray, start: Pixel, end: Pixel, colour: tuple[int, int, int], thickness: int, dash: int
) -> None:
    length = max(abs(end[0] - start[0]), abs(end[1] - start[1]))
    if dash == 0 or length == 0:
        cv2.line(drawn, start, end, colour, thickness)
        return
    along = np.array(end, float) - np.array(start, float)
    for at in range(0, length, 3 * dash):
        first = np.rint(start + along * at / length).astype(int)
        last = np.rint(start + along * min(at + dash, length) / length).astype(int)
        cv2.line(drawn, tuple(map(int, first)), tuple(map(int, last)), colour, thickness)


def _joined(changes: list[Change]) -> tuple[Change, ...]:
    """Take changes with only a space between them as one, so that a phrase reads as a phrase."""
    out: list[Change] = []
    queue = list(changes)
    while queue:
        gone, come = "", ""
        while queue:
            between = (gone or come) and queue[0].text.isspace() and len(queue) > 1
            if queue[0].kind == "same" and not between:
                break
            each = queue.pop(0)
            gone += each.text if each.kind != "added" else ""
            come += each.text if each.kind != "removed" else ""
        out += [Change("removed", gone)] if gone else []
        out += [Change("added", come)] if come else []
        if queue:
            out.append(queue.pop(0))
    return tuple(out)


def _ends(before: str, after: str) -> tuple[Change, ...]:
    """The one stretch between what both texts begin and end with."""
    shortest = min(len(before), len(after))
    start = next((at for at in range(shortest) if before[at] != after[at]), shortest)
    end = next((at for at in range(shortest - start) if before[-1 - at] != after[-1 - at]), shortest - start)
    gone, come = before[start : len(before) - end], after[start : len(after) - end]
    ends = Change("same", before[:start]), Change("same", before[len(before) - end :])
    parts = (ends[0], Change("removed", gone), Change("added", come), ends[1])
    return tuple(each for each in parts if each.text)


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
        _draw_cells(slide, own, top=top, room=room, columns=columns, rows=min(rows, ceil(len(own) / columns)))
        foot_top = HEIGHT - _MARGIN - round(len(below) * _TEXT * _SPACING)
        _write(draw, [(each, False, _PALE) for each in below], _MARGIN, foot_top, size=_TEXT)
        sheet.paste(slide, (0, place * HEIGHT))
    return np.asarray(sheet)


def grid(cells: Sequence[Cell], room: int) -> tuple[int, int]:
    """Columns and rows of a slide whose cells have ``room`` px of height: the largest pictures with which one slide
    holds all, else the fewest slides."""
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


def _draw_cells(slide: Image.Image, cells: Sequence[Cell], *, top: int, room: int, columns: int, rows: int) -> None:
    draw = ImageDraw.Draw(slide)
    across, down = _across(columns), _down(room, max(rows, 1))
    for row in range(rows):
        own = cells[row * columns : (row + 1) * columns]
        lines = [_cut(_lines(each, across), down - _LEAST) for each in own]
        tall = down - max(map(_height, lines))
        for column, (cell, said) in enumerate(zip(own, lines, strict=True)):
            left, upper = _MARGIN + column * (across + _GAP), top + row * (down + _GAP)
            high, wide = cell.pixels.shape[:2]
            side = int(min(across / wide, (tall - 8) / high) * max(wide, high))
            small = thumbnail(cell.pixels, side=max(side, 1))
            slide.paste(Image.fromarray(small), (left, upper + tall - 8 - small.shape[0]))
            _write(draw, said, left, upper + tall, size=_TEXT)


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
