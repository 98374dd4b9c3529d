"""Spatial probes of the whole image: flips, light rotations and the blur control, and edits at several strengths.

How far must one go until a score leaves its margin? Every point of a sweep is its own probe, chosen by
``strength-sweep``; its fact tells the strength. The way that an edit goes (clockwise or not, left or right, lighter or
darker) is drawn once an item, so that the points of a sweep go one way.

Source: paper A, sections 3.2 and A.4.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from core.probes.base import Axis, Edits, Expectation, Probe, Subject, Variant, picture_probe
from core.probes.pixels import edits as image_edits
from core.probes.pixels.edits import Move, follow
from core.probes.scene import Scene
from core.probes.titles import measured_in
from core.probes.words.mentions import HEIGHT, SIDE

Edit = Callable[[np.ndarray], np.ndarray]

ROTATIONS = (-10, -5, 5, 10)  # degrees, counter-clockwise. Source: paper A, section A.4.
BLURS = (1, 2)  # standard deviations in pixels. Source: paper A, section 3.2.


def image_probe(
    *, name: str, axis: Axis, family: str, summary: str, edit: Edit, move: Move | None, **more: Any
) -> Probe:
    """Make a probe of an edit of the whole image.
    ``edit``: maps uint8 RGB [H, W, 3] to the same shape.
    ``move``: how the object's box and mask follow the edit; None where nothing moves.
    ``more``: further fields of :class:`core.probes.base.Probe`."""

    def make(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
        box, mask = follow(move, scene)
        whole, told = scene.item.mask, dict[str, float]()
        if move is not None and whole is not None and whole.area:
            told = {"object_kept": min(1.0, 0.0 if mask is None else mask.area / whole.area)}
        return Variant(name, edit(scene.pixels), object_box=box, object_mask=mask, diagnostics=told)

    return Probe(name, axis, family, Expectation.INVARIANT, Edits.IMAGE, summary, make, framewise=True, **more)


FLIPS = (
    image_probe(
        name="vflip",
        axis=Axis.SPATIAL,
        family="vertical-flip",
        summary="The image stands on its head; everything that it shows is still there.",
        edit=image_edits.flip_vertical,
        move=image_edits.VERTICAL_FLIP,
        source="paper A, sections 3.2 and A.4",
        moves=(HEIGHT,),
    ),
    image_probe(
        name="hflip",
        axis=Axis.SPATIAL,
        family="horizontal-flip",
        summary="The image is mirrored, left for right; everything that it shows is still there.",
        edit=image_edits.flip_horizontal,
        move=image_edits.HORIZONTAL_FLIP,
        source="paper A, sections 3.2 and A.4",
        moves=(SIDE,),
    ),
)


def _rotation(degrees: int) -> Probe:
    way = "counter-clockwise" if degrees > 0 else "clockwise"
    return image_probe(
        name=f"rotate{degrees:+d}",
        axis=Axis.SPATIAL,
        family="rotation",
        summary=f"The image turns {abs(degrees)}° {way} about its centre, reflected at the edges; it shows the same.",
        edit=lambda pixels: image_edits.rotate(pixels, degrees),
        move=image_edits.rotation(degrees),
        source="paper A, sections 3.2 and A.4",
    )


def _blur(sigma: int) -> Probe:
    return image_probe(
        name=f"blur-{sigma}",
        axis=Axis.SPATIAL,
        family="blur",
        summary=f"The image loses its finest detail (Gaussian, σ = {sigma} px); it shows the same, in the same place.",
        edit=lambda pixels: image_edits.blur(pixels, float(sigma)),
        move=None,
        control=True,
        source="paper A, section 3.2",
    )


TURNS = tuple(_rotation(degrees) for degrees in ROTATIONS)
SOFTENED = tuple(_blur(sigma) for sigma in BLURS)

SWEEP = "strength-sweep"  # what selects the points

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


def _shifted(pixels: np.ndarray, percent: float, way: int) -> Made:
    right = way * max(1, round(pixels.shape[1] * percent / 100))
    return image_edits.translate(pixels, right=right), image_edits.translation(right, 0)


SWEEPS: Mapping[str, Sweep] = MappingProxyType(
    {
        "rotation": Sweep(
            Axis.SPATIAL, "degrees", "The image turns by {}, reflected at the edges", (1, 2, 3, 5, 10, 15, 20),
            lambda pixels, angle, way: (image_edits.rotate(pixels, way * angle), image_edits.rotation(way * angle)),
        ),
        "blur": Sweep(
            Axis.SPATIAL, "sigma", "The image loses its finest detail (Gaussian, σ = {})", (0.5, 1, 1.5, 2, 3, 4),
            lambda pixels, sigma, _: (image_edits.blur(pixels, sigma), None),
        ),
        "translation": Sweep(
            Axis.SPATIAL, "offset", "The image moves to a side by {} of its width, its edge repeated",
            (0.5, 1, 2, 4, 8, 12), _shifted, (SIDE,),
        ),
        "zoom": Sweep(
            Axis.SPATIAL, "zoom", "The middle of the image is enlarged by {}; its edges are cut off",
            (1, 2, 5, 10, 15, 25),
            lambda pixels, more, _: (image_edits.zoom(pixels, 1 + more / 100), image_edits.zooming(1 + more / 100)),
        ),
        "brightness": Sweep(
            Axis.SURFACE, "brightness", "The image becomes lighter or darker by {}", (2, 5, 10, 20, 30, 40),
            lambda pixels, percent, way: (image_edits.brighten(pixels, 1 + way * percent / 100), None),
        ),
        "compression": Sweep(
            Axis.SURFACE, "quality", "The image is saved as JPEG of quality {}", (95, 85, 75, 60, 40, 20),
            lambda pixels, quality, _: (image_edits.jpeg(pixels, quality=round(quality)), None),
        ),
    }
)  # fmt: skip
"""Family -> its sweep."""


def _point(family: str, sweep: Sweep, strength: float) -> Probe:
    name = f"{family}:{sweep.fact}{strength:g}"

    def make(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
        way = 1 if rng.random() < 0.5 else -1
        pixels, move = sweep.edit(scene.pixels, strength, way)
        box, mask = follow(move, scene)
        facts = {sweep.fact: float(strength), "way": float(way)}
        return Variant(name, pixels=pixels, object_box=box, object_mask=mask, facts=facts)

    return picture_probe(
        name,
        family,
        f"{sweep.says.format(f'{strength:g}{measured_in(sweep.fact)[1]}')}; it shows the same.",
        make,
        axis=sweep.axis,
        source="how far paper A, section 3.2, would have to go",
        control=family == "blur",
        selector=SWEEP,
        draws=f"{SWEEP}:{family}",
        moves=sweep.moves,
    )


POINTS = tuple(_point(family, sweep, strength) for family, sweep in SWEEPS.items() for strength in sweep.points)
