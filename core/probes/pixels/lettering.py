"""Writing a word into a picture, as a label or a watermark is: black letters on a white plate in a corner.

Pure: uint8 RGB in, a new uint8 RGB out. OpenCV's own letters are used, so that the pixels are the same everywhere.
"""

from dataclasses import dataclass

import cv2
import numpy as np

from core.corpora.images import check_rgb
from core.errors import ProbeRejected

HEIGHT = 0.08
"""Height of a capital letter, as a share of the picture's shorter side."""

LEAST_HEIGHT, MOST_WIDTH = 8, 0.6
"""Smallest height of a capital in pixels that can be read, and the largest share of the picture's width of a word."""

_FONT = cv2.FONT_HERSHEY_SIMPLEX
_UNIT = 21  # px, height of a capital of the font at scale 1


@dataclass(frozen=True, slots=True)
class Plate:
    """Where a word stands.

    Args:
        x, y: left and top of the white plate in pixels.
        width, height: of the plate.
        margin: of white around the letters.
        scale: of the font.
        stroke: width of a letter's lines in pixels.
        baseline: how far letters reach below their line.
    """

    x: int
    y: int
    width: int
    height: int
    margin: int
    scale: float
    stroke: int
    baseline: int


def write_word(pixels: np.ndarray, word: str, covered: np.ndarray | None = None) -> tuple[np.ndarray, Plate]:
    """Write a word into the emptiest corner: the one of which the object covers least, bottom right before the others.

    The corners that are compared are a quarter of the sides long, whatever the word, so that all words of a picture
    stand in one corner.

    Args:
        pixels: uint8 RGB [H, W, 3].
        word: printable ASCII, which is what OpenCV's font holds.
        covered: boolean [H, W] of the object; None: the first corner is taken.

    Returns the picture, and where the word stands; outside the plate no pixel changes.
    Raises ProbeRejected ``not-writable`` where a letter is none of the font's, or the word is too long or the picture
    too small for letters that can be read.
    """
    check_rgb(pixels)
    places = _places(pixels.shape[1], pixels.shape[0], word)
    plate = places[0 if covered is None else int(np.argmin(_taken(covered)))]
    written = pixels.copy()
    written[_inside(plate)] = 255
    at = plate.x + plate.margin, plate.y + plate.height - plate.margin - plate.baseline
    cv2.putText(written, word, at, _FONT, plate.scale, (0, 0, 0), plate.stroke, cv2.LINE_AA)
    found = pixels.copy()
    found[_inside(plate)] = written[_inside(plate)]  # a letter's smoothed edge never leaves the plate
    return found, plate


def _taken(covered: np.ndarray) -> list[int]:
    """Pixels of the object in each corner, in the order of :func:`_places`."""
    down, across = (max(1, side // 4) for side in covered.shape)
    corners = covered[-down:, -across:], covered[-down:, :across], covered[:down, -across:], covered[:down, :across]
    return [int(each.sum()) for each in corners]


def _places(width: int, height: int, word: str) -> list[Plate]:
    """The four corners, bottom right first."""
    if not word.strip() or not word.isascii() or not word.isprintable():
        raise ProbeRejected("not-writable", f"{word!r} holds letters that OpenCV's font lacks; only ASCII can be drawn")
    capital = round(HEIGHT * min(width, height))
    wide, tall, below, stroke, scale = _size(word, capital)
    while capital > LEAST_HEIGHT and wide > MOST_WIDTH * width:
        capital -= 1
        wide, tall, below, stroke, scale = _size(word, capital)
    margin = max(2, capital // 3)
    across, down = wide + 2 * margin, tall + below + 2 * margin
    if capital < LEAST_HEIGHT or across > width or down > height or wide > MOST_WIDTH * width:
        told = f"{word!r} cannot be written into {width} × {height} px in letters of {LEAST_HEIGHT} px or more"
        raise ProbeRejected("not-writable", told)
    gap = max(0, min(capital // 2, (width - across) // 2, (height - down) // 2))
    left, top, right, bottom = gap, gap, width - across - gap, height - down - gap
    corners = ((right, bottom), (left, bottom), (right, top), (left, top))
    return [Plate(x, y, across, down, margin, scale, stroke, below) for x, y in corners]


def _size(word: str, capital: int) -> tuple[int, int, int, int, float]:
    """Width, height above the line and below it, stroke and scale of a word whose capitals are so high."""
    scale, stroke = capital / _UNIT, max(1, round(capital / 8))
    (wide, tall), below = cv2.getTextSize(word, _FONT, scale, stroke)
    return wide, tall, below, stroke, scale


def _inside(plate: Plate) -> tuple[slice, slice]:
    return slice(plate.y, plate.y + plate.height), slice(plate.x, plate.x + plate.width)
