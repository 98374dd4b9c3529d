"""Photographic backgrounds without a dominant object, and the one behind the object of a composed item, drawn again.

Only photographs without conditions (CC0 or public domain) are used, so that a composed image carries the
stamp's licence and no second one; grey ones are coloured by a ramp. All arithmetic is Pillow's fixed-point resampling
and whole numbers: the same seed gives the same bytes on any machine with the pinned packages. An item's background is
the first thing that its own random stream draws, so its name and the item's id are enough to draw it again: no stamp is
needed, and no picture of it ships.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path

import cv2
import numpy as np
from PIL import Image, ImageFilter, ImageOps

from core import settings
from core.corpora.demo_plan import shipped_plan
from core.corpora.images import decode_image
from core.corpora.schema import Item
from core.errors import BadCorpus, InvalidInput, NotAvailable
from core.seeds import RUN_SEED, stream

Colour = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Surface:
    """A region of a shipped photograph, and how it is shown."""

    photograph: str  # file name in scikit-image
    crop: tuple[int, int, int, int]  # left, top, right, bottom in pixels of the photograph
    # colours that black, middle grey and white become; None keeps the photograph's own
    ramp: tuple[Colour, Colour, Colour] | None = None
    # smallest and largest magnification; None magnifies until the region covers the frame
    zoom: tuple[float, float] | None = None
    blur: float = 0.0  # radius in pixels at a 512 px long side
    turn: bool = False  # whether the region has no up and down, so that it may be laid sideways at will
    sideways: bool = False  # whether the region is always laid sideways


@dataclass(frozen=True, slots=True)
class Place:
    """One surface filling the frame, or ground in perspective under a far surface.
    ``horizon``: highest and lowest row of the horizon, as shares of the frame's height."""

    near: Surface
    far: Surface | None = None  # what fills the frame above the horizon; None where the near surface fills the frame
    horizon: tuple[float, float] = (0.30, 0.45)


_GREEN = ((14, 30, 8), (92, 118, 48), (206, 214, 150))
_STRAW = ((62, 44, 20), (182, 152, 92), (244, 228, 182))
_LEAVES = ((10, 28, 12), (66, 104, 44), (196, 214, 146))
_LITTER = ((28, 18, 10), (118, 92, 62), (214, 194, 160))
_GREY = ((24, 24, 26), (128, 126, 122), (236, 234, 228))
_TARMAC = ((44, 45, 48), (98, 99, 102), (150, 150, 150))
_PEBBLES = ((42, 38, 34), (146, 138, 126), (240, 234, 222))
_SAND = ((128, 98, 62), (212, 184, 138), (250, 236, 206))
_BRICK = ((60, 24, 18), (158, 88, 68), (222, 204, 186))
_PAVING = ((60, 56, 52), (148, 140, 132), (226, 222, 214))
_SKY = ((64, 110, 166), (140, 186, 226), (228, 240, 248))
_TOWN = ((40, 52, 50), (150, 172, 190), (216, 232, 246))
_CLOUDS = ((70, 122, 188), (142, 184, 226), (248, 250, 252))
_NIGHT = ((4, 6, 20), (14, 22, 52), (40, 56, 96))
_SEA = ((2, 34, 66), (16, 100, 142), (112, 196, 208))
_CLAY = ((104, 50, 30), (176, 102, 68), (214, 152, 118))
_PLASTER = ((130, 120, 108), (204, 196, 182), (246, 242, 234))

_ALL = (0, 0, 512, 512)
_HORIZON = (336, 0, 512, 236)
_OPEN_SKY = (300, 0, 512, 105)
_BACKDROP = (312, 6, 372, 120)
_WOOD = (484, 40, 600, 400)
_INTERIOR = (392, 20, 451, 290)

_TOWN_AFAR = Surface("camera.png", _HORIZON, _TOWN, (1.1, 1.4), 2.5)
_SKY_AFAR = Surface("camera.png", _OPEN_SKY, _SKY, None, 4.0)
_CLOUDS_AFAR = Surface("astronaut.png", _BACKDROP, _CLOUDS, None, 7.0)
_TREES_AFAR = Surface("grass.png", _ALL, _LEAVES, (1.6, 2.2), 9.0, turn=True)
_BUSH_AFAR = Surface("grass.png", _ALL, _STRAW, (1.6, 2.2), 9.0, turn=True)
_ROOM_AFAR = Surface("chelsea.png", _INTERIOR, None, None, 9.0)


def _flat(photograph: str, ramp: tuple[Colour, Colour, Colour], zoom: tuple[float, float], blur: float) -> Surface:
    return Surface(photograph, _ALL, ramp, zoom, blur, turn=True)


PLACES: Mapping[str, Place] = {
    "field": Place(_flat("grass.png", _GREEN, (1.0, 1.3), 0.0), _TOWN_AFAR),
    "meadow": Place(_flat("grass.png", _GREEN, (1.0, 1.4), 0.0), _TREES_AFAR, (0.25, 0.40)),
    "pasture": Place(_flat("grass.png", _GREEN, (1.0, 1.4), 0.0), _CLOUDS_AFAR, (0.30, 0.45)),
    "lawn": Place(_flat("grass.png", _GREEN, (1.0, 1.6), 0.8)),
    "foliage": Place(Surface("grass.png", _ALL, _LEAVES, (1.8, 2.8), 9.0, turn=True)),
    "leaf-litter": Place(_flat("grass.png", _LITTER, (1.2, 1.8), 0.8)),
    "savanna": Place(_flat("grass.png", _STRAW, (1.0, 1.3), 0.0), _SKY_AFAR),
    "dry-grass": Place(_flat("grass.png", _STRAW, (1.2, 1.6), 0.0), _BUSH_AFAR, (0.25, 0.40)),
    "pebbles": Place(_flat("gravel.png", _PEBBLES, (0.8, 1.2), 0.8)),
    "shore": Place(_flat("gravel.png", _PEBBLES, (1.0, 1.2), 0.0), _SKY_AFAR),
    "sand": Place(_flat("gravel.png", _SAND, (0.45, 0.55), 1.6), _CLOUDS_AFAR),
    "road": Place(_flat("gravel.png", _TARMAC, (0.8, 1.0), 0.9), _TOWN_AFAR),
    "gravel-path": Place(_flat("gravel.png", _GREY, (1.0, 1.3), 0.0), _TREES_AFAR, (0.25, 0.40)),
    "pavement": Place(Surface("brick.png", _ALL, _PAVING, (1.0, 1.3), 0.6)),
    "court": Place(_flat("gravel.png", _CLAY, (0.5, 0.7), 1.6)),
    "wall": Place(Surface("brick.png", _ALL, _BRICK, (1.0, 1.3), 0.8, sideways=True)),
    "sky": Place(Surface("camera.png", _OPEN_SKY, _SKY, None, 5.0)),
    "clouds": Place(Surface("astronaut.png", _BACKDROP, _CLOUDS, None, 7.0)),
    "night": Place(Surface("astronaut.png", _BACKDROP, _NIGHT, None, 7.0)),
    "water": Place(Surface("astronaut.png", _BACKDROP, _SEA, None, 7.0)),
    "table": Place(Surface("coffee.png", _WOOD, None, None, 0.5, sideways=True)),
    "table-edge": Place(Surface("coffee.png", _WOOD, None, None, sideways=True), _ROOM_AFAR, (0.25, 0.45)),
    "room": Place(_ROOM_AFAR),
    "studio": Place(Surface("astronaut.png", _BACKDROP, _PLASTER, None, 6.0)),
}

JPEG_QUALITY = 90
_LONG_SIDE = 512  # magnifications and blurs are given for a frame of this long side


@dataclass(frozen=True, slots=True, eq=False)
class Background:
    """A background and where things may stand on it."""

    image: Image.Image  # RGB
    horizon: int  # first row of the ground, in pixels; 0 where the near surface fills the frame
    photographs: tuple[str, ...]  # file names of the photographs it is made of


def make_background(name: str, width: int, height: int, rng: np.random.Generator) -> Background:
    """Draw one background of a named place. Raises InvalidInput if no place has that name."""
    if name not in PLACES:
        raise InvalidInput(f"no background is named {name!r}; known: {', '.join(PLACES)}")
    place = PLACES[name]
    if place.far is None:
        image, horizon = _fill(place.near, width, height, rng), 0
        photographs = [place.near.photograph]
    else:
        low, high = place.horizon
        horizon = round(height * rng.uniform(low, high))
        blend = max(4, height // 60)
        image = Image.new("RGB", (width, height))
        image.paste(_fill(place.far, width, horizon + blend, rng, bottom=True), (0, 0))
        ground = _ground(place.near, width, height - horizon, rng)
        fade = Image.new("L", ground.size, 255)
        fade.paste(Image.linear_gradient("L").resize((width, blend)), (0, 0))
        image.paste(ground, (0, horizon), fade)
        photographs = [place.near.photograph, place.far.photograph]
    # broad patches are up to a tenth brighter or darker, as under clouds and lamps
    patches = rng.integers(115, 142, size=(3, 4)).astype(np.uint8)
    light = np.asarray(Image.fromarray(patches).resize(image.size, Image.Resampling.BICUBIC)).astype(np.int32)
    lit = (np.asarray(image).astype(np.int32) * light[..., None] + 64) // 128
    lit_image = Image.fromarray(np.clip(lit, 0, 255).astype(np.uint8))
    return Background(lit_image, horizon, tuple(dict.fromkeys(photographs)))


def _ground(surface: Surface, width: int, height: int, rng: np.random.Generator) -> Image.Image:
    """Lay a texture down in perspective, sharp in front and out of focus at the back."""
    across, along = round(width * 2.4), round(height * 1.5)
    texture = _fill(surface, across, along, rng)
    inset = round(across * 0.29)
    quad = np.array([(0, 0), (inset, along), (across - inset, along), (across, 0)], np.float32)
    corners = np.array([(0, 0), (0, height), (width, height), (width, 0)], np.float32)
    # rounded, so that the last bit of a linear solver cannot change a pixel; the ninth of them is 1
    coefficients = tuple(round(float(value), 9) for value in cv2.getPerspectiveTransform(corners, quad).ravel()[:8])
    sharp = texture.transform((width, height), Image.Transform.PERSPECTIVE, coefficients, Image.Resampling.BICUBIC)
    soft = sharp.filter(ImageFilter.GaussianBlur(max(width, height) / 170))
    nearness = Image.linear_gradient("L").resize((width, height)).point([min(255, value * 2) for value in range(256)])
    return Image.composite(sharp, soft, nearness)


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


def shadowed(canvas: Image.Image, alpha: Image.Image, at: tuple[int, int], *, standing: bool) -> Image.Image:
    """Darken the ground under an object: a flat pool at its feet, or a soft copy beside it."""
    shade = Image.new("L", canvas.size, 0)
    if standing:
        height = max(4, min(alpha.height, alpha.width) // 7)
        feet = alpha.crop((0, alpha.height * 4 // 5, alpha.width, alpha.height)).resize((alpha.width, height))
        shade.paste(feet, (at[0], at[1] + alpha.height - height * 2 // 3))
        radius, strength = max(2.0, alpha.width / 45), 125
    else:
        offset = max(2, max(alpha.size) // 50)
        shade.paste(alpha, (at[0] + offset, at[1] + offset * 3 // 2))
        radius, strength = max(2.0, max(alpha.size) / 45), 115
    shade = shade.filter(ImageFilter.GaussianBlur(radius)).point([value * strength // 255 for value in range(256)])
    return Image.composite(Image.new("RGB", canvas.size, (12, 12, 16)), canvas, shade)


def encode_jpeg(pixels: np.ndarray, *, quality: int = JPEG_QUALITY) -> bytes:
    """Encode uint8 RGB [H, W, 3]; the bytes depend on the pinned Pillow and nothing else."""
    buffer = BytesIO()
    Image.fromarray(pixels).save(buffer, "JPEG", quality=quality, optimize=True)
    return buffer.getvalue()


_FOLDERS = {"scikit-image": ("skimage", "data"), "scikit-learn": ("sklearn", "datasets/images")}


def shipped_file(package: str, name: str) -> Path:
    """Return the path of a photograph inside an installed package, e.g. ``("scikit-image", "coffee.png")``.
    Raises NotAvailable if the package or the file is not on this machine."""
    module, folder = _FOLDERS[package]
    spec = find_spec(module)
    path = Path(spec.origin).parent / folder / name if spec is not None and spec.origin is not None else None
    if path is None or not path.is_file():
        raise NotAvailable(f"{name} of {package} is not on this machine; run: pip install {package}")
    return path


def shipped_pixels(package: str, name: str) -> np.ndarray:
    """Return a shipped photograph as uint8 RGB [H, W, 3]."""
    with Image.open(shipped_file(package, name)) as image:
        return np.asarray(image.convert("RGB"))


NEAR = 0.05  # share of the longer side around the object that the check leaves out: the object's soft edge lies there

TOLERANCE = 1.0
"""Largest mean difference from the item's picture away from its object, in grey levels of 255. Both are JPEGs of one
drawing; another drawing of the same place differs by some twenty."""


def true_plate(item: Item, pixels: np.ndarray) -> np.ndarray:
    """Draw the background of a composed item as if nothing had been put there: neither its object nor its shadow.
    ``item``: of the demo corpus, composed. ``pixels``: uint8 RGB [H, W, 3], the item's picture.
    Returns uint8 RGB [H, W, 3], compressed as the item's picture was.
    Raises BadCorpus if no list holds the item, or what is drawn is not what the picture shows around its object."""
    entry = next((each for each in shipped_plan().items if each.id == item.id), None)
    if entry is None or item.mask is None or (item.width, item.height) != (entry.width, entry.height):
        raise BadCorpus(f"no list in {settings.assets_dir() / 'demo'} says how item {item.id!r} was composed")
    rng = stream(RUN_SEED, "build-demo", item.id)
    ground = make_background(entry.background, entry.width, entry.height, rng).image
    pose = shipped_plan().stamps[entry.stamp].pose
    around, shape = ground, item.mask.to_array()
    if pose != "float" and (box := item.mask.box):  # the builder's shadow, from the mask for the cut-out's opacity
        left, top, right, bottom = (int(each) for each in (box.x, box.y, box.right, box.bottom))
        alpha = Image.fromarray(np.where(shape[top:bottom, left:right], 255, 0).astype(np.uint8))
        around = shadowed(ground, alpha, (left, top), standing=pose == "stand")
    # the mean where the object is not near; NaN where it is near everywhere
    near = NEAR * max(pixels.shape)
    away = cv2.distanceTransform((~shape).view(np.uint8), cv2.DIST_L2, 5) > near
    differences = np.abs(_compressed(around)[away].astype(int) - pixels[away])
    apart = float(differences.mean()) if away.any() else float("nan")
    if not apart <= TOLERANCE:
        raise BadCorpus(
            f"what is drawn behind item {item.id!r} differs from its picture by {apart:.1f} of 255 on average, at most "
            f"{TOLERANCE:g} are the compression's; rebuild the corpus with the pinned packages"
        )
    return _compressed(ground)


def _compressed(drawn: Image.Image) -> np.ndarray:
    return decode_image(encode_jpeg(np.asarray(drawn)), name="the background").pixels
