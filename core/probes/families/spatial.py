"""Spatial probes of the whole image: flips, light rotations and the blur control.

Source: paper A, sections 3.2 and A.4.
"""

from collections.abc import Callable
from types import MappingProxyType

import numpy as np

from core.corpora.schema import Mask
from core.probes.base import Axis, Edits, Probe, Subject, Variant, probe
from core.probes.pixels import edits as image_edits
from core.probes.pixels import object_moves
from core.probes.pixels.object_moves import Move, follow
from core.probes.scene import Scene
from core.probes.words.mentions import HEIGHT, SIDE

Edit = Callable[[np.ndarray], np.ndarray]

ROTATIONS = (-10, -5, 5, 10)
"""Degrees, counter-clockwise. Source: paper A, section A.4."""

BLURS = (1, 2)
"""Standard deviations in pixels. Source: paper A, section 3.2."""


def image_probe(
    *,
    name: str,
    axis: Axis,
    family: str,
    summary: str,
    edit: Edit,
    move: Move | None,
    control: bool = False,
    source: str = "",
    moves: tuple[str, ...] = (),
    default: bool = True,
) -> Probe:
    """Make a probe of an edit of the whole image.
    ``edit``: maps uint8 RGB [H, W, 3] to the same shape.
    ``move``: how the object's box and mask follow the edit; None where nothing moves.
    ``moves``, ``default``: see :class:`core.probes.base.Probe`."""

    @probe(
        name=name,
        axis=axis,
        family=family,
        edits=Edits.IMAGE,
        summary=summary,
        control=control,
        source=source,
        moves=moves,
        default=default,
        framewise=True,
    )
    def make(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
        box, mask = follow(move, scene)
        return Variant(
            probe=name,
            pixels=edit(scene.pixels),
            object_box=box,
            object_mask=mask,
            diagnostics=MappingProxyType(_kept(move, scene, mask)),
        )

    return make


def _kept(move: Move | None, scene: Scene, mask: Mask | None) -> dict[str, float]:
    """Share of the object's mask that a move left in the image; nothing where there is no mask or no move."""
    whole = scene.item.mask
    if move is None or whole is None or not whole.area:
        return {}
    return {"object_kept": min(1.0, 0.0 if mask is None else mask.area / whole.area)}


def _rotation(degrees: int) -> Probe:
    way = "counter-clockwise" if degrees > 0 else "clockwise"
    return image_probe(
        name=f"rotate{degrees:+d}",
        axis=Axis.SPATIAL,
        family="rotation",
        summary=f"The image turns {abs(degrees)}° {way} about its centre, reflected at the edges; it shows the same.",
        edit=lambda pixels: image_edits.rotate(pixels, degrees),
        move=object_moves.rotation(degrees),
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


FLIPS = (
    image_probe(
        name="vflip",
        axis=Axis.SPATIAL,
        family="vertical-flip",
        summary="The image stands on its head; everything that it shows is still there.",
        edit=image_edits.flip_vertical,
        move=object_moves.VERTICAL_FLIP,
        source="paper A, sections 3.2 and A.4",
        moves=(HEIGHT,),
    ),
    image_probe(
        name="hflip",
        axis=Axis.SPATIAL,
        family="horizontal-flip",
        summary="The image is mirrored, left for right; everything that it shows is still there.",
        edit=image_edits.flip_horizontal,
        move=object_moves.HORIZONTAL_FLIP,
        source="paper A, sections 3.2 and A.4",
        moves=(SIDE,),
    ),
)
TURNS = tuple(_rotation(degrees) for degrees in ROTATIONS)
SOFTENED = tuple(_blur(sigma) for sigma in BLURS)
