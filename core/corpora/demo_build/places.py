"""What backgrounds show: which part of which photograph, in which colours, at which distance.

Grey photographs are coloured by a ramp. Every photograph named here is CC0 or in the public domain.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

Colour = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Surface:
    """A region of a shipped photograph, and how it is shown.

    Args:
        photograph: file name in scikit-image.
        crop: left, top, right, bottom in pixels of the photograph.
        ramp: colours that black, middle grey and white become; None keeps the photograph's own.
        zoom: smallest and largest magnification; None magnifies until the region covers the frame.
        blur: radius in pixels at a 512 px long side.
        turn: whether the region has no up and down, so that it may be laid sideways at will.
        sideways: whether the region is always laid sideways.
    """

    photograph: str
    crop: tuple[int, int, int, int]
    ramp: tuple[Colour, Colour, Colour] | None = None
    zoom: tuple[float, float] | None = None
    blur: float = 0.0
    turn: bool = False
    sideways: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """One surface filling the frame, or ground in perspective under a far surface.

    Args:
        far: what fills the frame above the horizon; None where the near surface fills the frame.
        horizon: highest and lowest row of the horizon, as shares of the frame's height.
    """

    near: Surface
    far: Surface | None = None
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


PLACES: Mapping[str, Place] = MappingProxyType(
    {
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
)
