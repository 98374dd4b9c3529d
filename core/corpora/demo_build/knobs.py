"""Where the things of a quadruple stand, for each value of each knob: the main thing never moves."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image

HUES = {"red": 0, "yellow": 52, "green": 120, "blue": 228}
"""Degrees."""

_GREY = 60
"""Least saturation, of 255, of a pixel that has a hue."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where one thing stands, as shares of the frame's sides: centre of its feet, and its largest width and height."""

    across: float
    down: float
    width: float
    height: float

    def box(self, stamp: Image.Image, side: int) -> tuple[int, int, int, int]:
        """Return left, top, width, height in pixels of a stamp that fills the place as far as its shape lets it."""
        scale = min(self.width * side / stamp.width, self.height * side / stamp.height)
        width, height = max(1, round(stamp.width * scale)), max(1, round(stamp.height * scale))
        return round(self.across * side - width / 2), round(self.down * side) - height, width, height


_SLOTS = (Place(0.66, 0.93, 0.19, 0.21), Place(0.88, 0.93, 0.19, 0.21), Place(0.66, 0.69, 0.19, 0.21),
          Place(0.88, 0.69, 0.19, 0.21))  # fmt: skip
"""Copies for the knob ``count``: the first ones are taken, so that copies are only added or left out."""


def main_place(knob: str) -> Place:
    """Where the main thing stands: in the middle where the other one changes sides, else on the left."""
    return Place(0.5, 0.88, 0.42, 0.5) if knob == "layout_relation" else Place(0.29, 0.88, 0.46, 0.5)


def other_places(knob: str, value: str, *, heights: Sequence[float], horizon: float) -> tuple[Place, ...]:
    """Where the things beside the main one stand.

    Args:
        heights: of the main things of the quadruple, as shares of the frame: *shorter* and *taller* hold for each.
        horizon: first row of the ground, as a share of the frame.
    """
    if knob == "count":
        return _SLOTS[: int(value)]
    if knob == "color":
        return (Place(0.78, 0.9, 0.3, 0.42),)
    if knob == "layout_relation":  # the main thing is on this side of the other one
        return (Place(0.86 if value == "left" else 0.14, 0.9, 0.24, 0.34),)
    if knob == "spatial":
        near, far = Place(0.79, 0.99, 0.38, 0.44), Place(0.79, horizon + 0.08, 0.16, 0.15)
        return (near if value == "foreground" else far,)
    height = 0.65 * min(heights) if value == "shorter" else min(0.86, 1.4 * max(heights))
    return (Place(0.78, 0.9, 0.4, height),)


def turned(stamp: Image.Image, colour: str) -> Image.Image:
    """Turn the hue of a stamp so that its median is that of a colour; grey parts and brightness stay.

    Args:
        stamp: RGBA with one dominant hue.
        colour: one of HUES.
    """
    hue, saturation, value = stamp.convert("RGB").convert("HSV").split()
    solid = np.asarray(stamp.getchannel("A")) > 127
    own = np.asarray(hue).astype(np.int64)[solid & (np.asarray(saturation) >= _GREY)]
    # The median about the hue that most pixels have, because hues go round.
    most = int(np.bincount(own, minlength=256).argmax())
    middle = most + int(np.median((own - most + 128) % 256 - 128))
    shift = round(HUES[colour] * 256 / 360) - middle
    hue = hue.point([(each + shift) % 256 for each in range(256)])
    painted = Image.merge("HSV", (hue, saturation, value)).convert("RGB")
    painted.putalpha(stamp.getchannel("A"))
    return painted
