"""Painted scenes for the tests of the image probes: an ellipse on a smooth ground, with or without neighbours."""

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from core.corpora.schema import Box, Item, Mask, SceneObject
from core.errors import ProbeRejected
from core.probes.base import Subject
from core.probes.scene import Scene

T = TypeVar("T")

SUBJECT = Subject("human", "en", 0, "A thing on a ground.")
"""A first English caption; edits of the image and of the template read none of it."""


def result_or_code(make: Callable[[], T]) -> T | str:
    """What a call returns, or the code with which it rejects."""
    try:
        return make()
    except ProbeRejected as rejection:
        return rejection.code


def ground(height: int, width: int, seed: int = 0) -> np.ndarray:
    """A smooth, textured uint8 RGB image."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:height, 0:width].astype(float)
    waves = [90 + 50 * np.sin(x / (9 + 4 * c) + c) + 40 * np.cos(y / (7 + 3 * c)) for c in range(3)]
    return np.clip(np.stack(waves, axis=2) + rng.normal(0, 4, (height, width, 3)), 0, 170).astype(np.uint8)


def ellipse(height: int, width: int, *, centre: tuple[float, float], radii: tuple[float, float]) -> np.ndarray:
    """Boolean [H, W] of an ellipse; centre and radii are (x, y) in pixels."""
    y, x = np.mgrid[0:height, 0:width]
    return ((x - centre[0]) / radii[0]) ** 2 + ((y - centre[1]) / radii[1]) ** 2 <= 1


def paint(
    *,
    height: int = 120,
    width: int = 160,
    centre: tuple[float, float] = (60.0, 70.0),
    radii: tuple[float, float] = (14.0, 10.0),
    others: tuple[SceneObject, ...] = (),
    masked: bool = True,
    boxed: bool = True,
    name: str = "painted",
) -> Scene:
    """A scene with one red ellipse as its object; without mask or box where the test says so."""
    mask = ellipse(height, width, centre=centre, radii=radii)
    pixels = ground(height, width)
    pixels[mask] = (230, 40, 30)
    encoded = Mask.from_array(mask)
    item = Item(
        name,
        "test",
        None,
        width,
        height,
        captions={"en": ("A red ball.",)},
        label="ball",
        category="sports",
        box=encoded.box if boxed else None,
        mask=encoded if masked else None,
        others=others,
    )
    return Scene(item, pixels)


def neighbour(box: Box, *, height: int = 120, width: int = 160, masked: bool = True) -> SceneObject:
    """Another instance that fills its box."""
    mask = np.zeros((height, width), bool)
    mask[round(box.y) : round(box.bottom), round(box.x) : round(box.right)] = True
    return SceneObject("chair", box, Mask.from_array(mask) if masked else None)
