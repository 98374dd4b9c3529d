"""Photographic backgrounds without a dominant object, made from photographs in the public domain.

Only photographs without conditions (CC0 or public domain) are used, so that a composed image carries the
stamp's licence and no second one. All arithmetic is Pillow's fixed-point resampling and whole numbers: the
same seed gives the same bytes on any machine with the pinned packages.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from PIL import Image, ImageFilter, ImageOps

from core.corpora.demo_build.places import PLACES, Surface
from core.corpora.demo_build.sources import shipped_pixels
from core.errors import InvalidInput

_LONG_SIDE = 512
"""Magnifications and blurs are given for a frame of this long side."""


@dataclass(frozen=True, slots=True, eq=False)
class Background:
    """A background and where things may stand on it.

    Args:
        image: RGB.
        horizon: first row of the ground, in pixels; 0 where the near surface fills the frame.
        photographs: file names of the photographs it is made of.
    """

    image: Image.Image
    horizon: int
    photographs: tuple[str, ...]


def make_background(name: str, width: int, height: int, rng: np.random.Generator) -> Background:
    """Draw one background of a named place.

    Args:
        name: one of :data:`core.corpora.demo_build.places.PLACES`.
        width: of the frame, in pixels.
        height: of the frame, in pixels.

    Raises:
        InvalidInput: if no place has that name.
    """
    if name not in PLACES:
        raise InvalidInput(f"no background is named {name!r}; known: {', '.join(PLACES)}")
    place = PLACES[name]
    if place.far is None:
        image, horizon = _fill(place.near, width, height, rng), 0
        photographs = [place.near.photograph]
    else:
        low, high = place.horizon
        horizon = round(height * rng.uniform(low, high))
        image = _landscape(place.near, place.far, width, height, horizon, rng)
        photographs = [place.near.photograph, place.far.photograph]
    return Background(_uneven_light(image, rng), horizon, tuple(dict.fromkeys(photographs)))


def _landscape(
    near: Surface, far: Surface, width: int, height: int, horizon: int, rng: np.random.Generator
) -> Image.Image:
    blend = max(4, height // 60)
    image = Image.new("RGB", (width, height))
    image.paste(_fill(far, width, horizon + blend, rng, bottom=True), (0, 0))
    ground = _ground(near, width, height - horizon, rng)
    fade = Image.new("L", ground.size, 255)
    fade.paste(Image.linear_gradient("L").resize((width, blend)), (0, 0))
    image.paste(ground, (0, horizon), fade)
    return image


def _ground(surface: Surface, width: int, height: int, rng: np.random.Generator) -> Image.Image:
    """Lay a texture down in perspective, sharp in front and out of focus at the back."""
    across, along = round(width * 2.4), round(height * 1.5)
    texture = _fill(surface, across, along, rng)
    inset = round(across * 0.29)
    quad = (0, 0, inset, along, across - inset, along, across, 0)
    corners = ((0, 0), (0, height), (width, height), (width, 0))
    coefficients = _perspective(corners, tuple(zip(quad[::2], quad[1::2], strict=True)))
    sharp = texture.transform((width, height), Image.Transform.PERSPECTIVE, coefficients, Image.Resampling.BICUBIC)
    soft = sharp.filter(ImageFilter.GaussianBlur(max(width, height) / 170))
    nearness = Image.linear_gradient("L").resize((width, height)).point([min(255, value * 2) for value in range(256)])
    return Image.composite(sharp, soft, nearness)


def _perspective(
    target: tuple[tuple[int, int], ...], source: tuple[tuple[int, int], ...]
) -> tuple[float, float, float, float, float, float, float, float]:
    """Return Pillow's eight coefficients that map the target's corners to the source's."""
    rows, values = [], []
    for (x, y), (u, v) in zip(target, source, strict=True):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
        values += [u, v]
    solved = np.linalg.solve(np.array(rows, float), np.array(values, float))
    # Rounded, so that the last bit of a linear solver cannot change a pixel.
    a, b, c, d, e, f, g, h = (round(float(value), 9) for value in solved)
    return a, b, c, d, e, f, g, h


def _fill(surface: Surface, width: int, height: int, rng: np.random.Generator, *, bottom: bool = False) -> Image.Image:
    """Cover a frame with a surface, mirrored at its edges; ``bottom`` keeps its last row at the frame's last."""
    tile = _surface(surface)
    if surface.turn and rng.integers(2):
        tile = tile.transpose(Image.Transpose.ROTATE_90)
    zoom = rng.uniform(*surface.zoom) if surface.zoom else max(width / tile.width, height / tile.height)
    tile = tile.resize((max(2, round(tile.width * zoom)), max(2, round(tile.height * zoom))), Image.Resampling.BICUBIC)
    left = _offset(tile.width, width, rng)
    top = tile.height - height if bottom else _offset(tile.height, height, rng)
    rows, columns = _mirrored(top, height, tile.height), _mirrored(left, width, tile.width)
    image = Image.fromarray(np.ascontiguousarray(np.asarray(tile)[rows][:, columns]))
    unit = width / _LONG_SIDE if bottom else max(width, height) / _LONG_SIDE
    return image.filter(ImageFilter.GaussianBlur(surface.blur * unit)) if surface.blur else image


def _offset(available: int, needed: int, rng: np.random.Generator) -> int:
    """Where a cut-out starts: anywhere inside, or anywhere at all where mirroring cannot be avoided."""
    return int(rng.integers(available - needed + 1 if available >= needed else 2 * available))


def _mirrored(start: int, count: int, period: int) -> np.ndarray:
    """Indices of ``count`` steps along an axis that is mirrored at both ends."""
    steps = np.arange(start, start + count) % (2 * period)
    return np.where(steps < period, steps, 2 * period - 1 - steps)


@cache
def _surface(surface: Surface) -> Image.Image:
    image = Image.fromarray(shipped_pixels("scikit-image", surface.photograph)).crop(surface.crop)
    image = image.transpose(Image.Transpose.ROTATE_90) if surface.sideways else image
    if surface.ramp is None:
        return image
    black, middle, white = surface.ramp
    return ImageOps.colorize(ImageOps.autocontrast(image.convert("L"), 1), black, white, middle, midpoint=127)


def _uneven_light(image: Image.Image, rng: np.random.Generator) -> Image.Image:
    """Brighten and darken broad patches by up to a tenth, as clouds and lamps do."""
    patches = rng.integers(115, 142, size=(3, 4)).astype(np.uint8)
    light = np.asarray(Image.fromarray(patches).resize(image.size, Image.Resampling.BICUBIC)).astype(np.int32)
    lit = (np.asarray(image).astype(np.int32) * light[..., None] + 64) // 128
    return Image.fromarray(np.clip(lit, 0, 255).astype(np.uint8))
