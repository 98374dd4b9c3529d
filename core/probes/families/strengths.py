"""Edits of the whole image at several strengths: how far must one go until a score leaves its margin?

Every point is its own probe, chosen by ``strength-sweep``; its fact tells the strength. The way that an edit goes
(clockwise or not, left or right, lighter or darker) is drawn once an item, so that the points of a sweep go one way.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from core.probes.base import Axis, Edits, Probe, Subject, Variant, probe
from core.probes.pixels import edits as image_edits
from core.probes.pixels import object_moves
from core.probes.pixels.object_moves import Move, follow
from core.probes.scene import Scene
from core.probes.titles import measured_in
from core.probes.words.mentions import SIDE

SWEEP = "strength-sweep"
"""What selects the points."""

Made = tuple[np.ndarray, Move | None]


@dataclass(frozen=True, slots=True)
class Sweep:
    """One edit at several strengths."""

    axis: Axis
    fact: str  # name of the strength in the facts of a variant
    says: str  # what happens, with ``{}`` for strength and unit
    points: tuple[float, ...]  # strengths, rising in effect
    # (pixels, strength, way) -> the pixels and how the object follows; ``way`` is 1 or -1
    edit: Callable[[np.ndarray, float, int], Made]
    moves: tuple[str, ...] = ()  # see :class:`core.probes.base.Probe`


def _turned(pixels: np.ndarray, degrees: float, way: int) -> Made:
    return image_edits.rotate(pixels, way * degrees), object_moves.rotation(way * degrees)


def _softened(pixels: np.ndarray, sigma: float, way: int) -> Made:
    return image_edits.blur(pixels, sigma), None


def _shifted(pixels: np.ndarray, percent: float, way: int) -> Made:
    right = way * max(1, round(pixels.shape[1] * percent / 100))
    return image_edits.translate(pixels, right=right), object_moves.translation(right, 0)


def _enlarged(pixels: np.ndarray, percent: float, way: int) -> Made:
    factor = 1 + percent / 100
    return image_edits.zoom(pixels, factor), object_moves.zooming(factor)


def _lit(pixels: np.ndarray, percent: float, way: int) -> Made:
    return image_edits.brighten(pixels, 1 + way * percent / 100), None


def _compressed(pixels: np.ndarray, quality: float, way: int) -> Made:
    return image_edits.jpeg(pixels, quality=round(quality)), None


SWEEPS: Mapping[str, Sweep] = MappingProxyType(
    {
        "rotation": Sweep(
            Axis.SPATIAL, "degrees", "The image turns by {}, reflected at the edges",
            (1, 2, 3, 5, 10, 15, 20), _turned,
        ),
        "blur": Sweep(
            Axis.SPATIAL, "sigma", "The image loses its finest detail (Gaussian, σ = {})",
            (0.5, 1, 1.5, 2, 3, 4), _softened,
        ),
        "translation": Sweep(
            Axis.SPATIAL, "offset", "The image moves to a side by {} of its width, its edge repeated",
            (0.5, 1, 2, 4, 8, 12), _shifted, (SIDE,),
        ),
        "zoom": Sweep(
            Axis.SPATIAL, "zoom", "The middle of the image is enlarged by {}; its edges are cut off",
            (1, 2, 5, 10, 15, 25), _enlarged,
        ),
        "brightness": Sweep(
            Axis.SURFACE, "brightness", "The image becomes lighter or darker by {}",
            (2, 5, 10, 20, 30, 40), _lit,
        ),
        "compression": Sweep(
            Axis.SURFACE, "quality", "The image is saved as JPEG of quality {}",
            (95, 85, 75, 60, 40, 20), _compressed,
        ),
    }
)  # fmt: skip
"""Family -> its sweep."""


def _point(family: str, sweep: Sweep, strength: float) -> Probe:
    name = f"{family}:{sweep.fact}{strength:g}"

    @probe(
        name=name,
        axis=sweep.axis,
        family=family,
        edits=Edits.IMAGE,
        summary=f"{sweep.says.format(f'{strength:g}{measured_in(sweep.fact)[1]}')}; it shows the same.",
        source="how far paper A, section 3.2, would have to go",
        default=False,
        control=family == "blur",
        selector=SWEEP,
        draws=f"{SWEEP}:{family}",
        moves=sweep.moves,
    )
    def make(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
        way = 1 if rng.random() < 0.5 else -1
        pixels, move = sweep.edit(scene.pixels, strength, way)
        box, mask = follow(move, scene)
        facts = MappingProxyType({sweep.fact: float(strength), "way": float(way)})
        return Variant(name, pixels=pixels, object_box=box, object_mask=mask, facts=facts)

    return make


POINTS = tuple(_point(family, sweep, strength) for family, sweep in SWEEPS.items() for strength in sweep.points)
