"""Repositioning: the object moves to a quadrant at constant scale, the background stays (Algorithm 1).

Source: paper A, sections 3.2, A.4 (Algorithm 1) and A.8; PROTOCOL section 1.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from core.corpora.schema import Box, Mask
from core.errors import ProbeRejected
from core.probes.base import Probe, Subject, Variant, picture_probe
from core.probes.pixels.cutout import Cutout, bg_delta, fill_ratio, put_down, seam_energy, texture_ratio
from core.probes.pixels.inpainting import Fill, Plate
from core.probes.scene import Scene
from core.probes.words.mentions import PLACES

ANCHORS = ("TL", "TR", "BL", "BR")  # top left, top right, bottom left, bottom right
TRIES = 50  # k of Algorithm 1: how many jittered places are tried after the anchor itself

LEAST_ROOM = 0.1
"""The object's box must leave this share of the image's width, and of its height, to move in; otherwise opposite
anchors all but coincide and the variant would test nothing."""


@dataclass(frozen=True, slots=True)
class Place:
    """A translation in whole pixels, and how many jittered places were tried before it was found (0: the anchor)."""

    right: int
    down: int
    tries: int = 0


def anchor_point(anchor: str, width: int, height: int) -> tuple[float, float]:
    """Return (x, y) of the centre of a quadrant, in pixel coordinates (pixel centres are whole numbers)."""
    across = 0.25 if anchor.endswith("L") else 0.75
    down = 0.25 if anchor.startswith("T") else 0.75
    return across * width - 0.5, down * height - 0.5


def find_place(scene: Scene, anchor: str, rng: np.random.Generator) -> Place:
    """Find where the object goes: Algorithm 1, lines 4 to 6.

    1. Translate the object's centroid to the anchor, pulled in so that the object's box stays inside the image.
    2. While it leaves the image or covers another annotated instance, draw a place between the anchor and the
       image's centre, in the k-th try up to k / TRIES of the way on each axis, so the centroid stays in its quadrant.
    Raises ProbeRejected ``too-large`` where the object leaves too little room to move; ``collision`` after TRIES tries.
    """
    cutout, (height, width) = scene.cutout, scene.pixels.shape[:2]
    room = (width - cutout.width) / width, (height - cutout.height) / height
    if min(room) < LEAST_ROOM:
        spans = f"the object spans {1 - room[0]:.0%} of the width and {1 - room[1]:.0%} of the height"
        raise ProbeRejected("too-large", f"{spans}; it needs {LEAST_ROOM:.0%} of each to move in")
    goal, centre = np.array(anchor_point(anchor, width, height)), np.array([(width - 1) / 2, (height - 1) / 2])
    start = pull_in(cutout, *_translation(cutout, goal), width, height)
    anchored = np.array(cutout.centroid) + start
    if tuple(anchored < centre) != (anchor.endswith("L"), anchor.startswith("T")):
        raise ProbeRejected("too-large", f"the object is too large for its centre to come into the {anchor} quadrant")
    place = Place(*start)
    while not is_free(scene, place.right, place.down):
        tries = place.tries + 1
        if tries > TRIES:
            told = f"every place tried for the object in the {anchor} quadrant ({TRIES} tries) covers another"
            raise ProbeRejected("collision", told)
        share = rng.random(2) * tries / TRIES
        place = Place(*_translation(cutout, anchored + share * (centre - anchored)), tries)
    return place


def pull_in(cutout: Cutout, right: int, down: int, width: int, height: int) -> tuple[int, int]:
    """Return the nearest translation that keeps the object's box inside the image."""
    return (
        min(max(right, -cutout.left), width - cutout.width - cutout.left),
        min(max(down, -cutout.top), height - cutout.height - cutout.top),
    )


def is_inside(scene: Scene, right: int, down: int) -> bool:
    """Whether the moved object's box lies in the image."""
    cutout = scene.cutout
    return pull_in(cutout, right, down, scene.item.width, scene.item.height) == (right, down)


def is_free(scene: Scene, right: int, down: int) -> bool:
    """Whether the moved object lies in the image and covers no pixel of another annotated instance."""
    if not is_inside(scene, right, down):
        return False
    cutout = scene.cutout
    left, top = cutout.left + right, cutout.top + down
    under = scene.obstacles[top : top + cutout.height, left : left + cutout.width]
    return not bool((under & cutout.mask).any())


def compose(
    scene: Scene,
    name: str,
    place: Place,
    *,
    feather: bool = True,
    plate: Plate | None = None,
    notes: tuple[str, ...] = (),
) -> Variant:
    """Put the object down at a place on the clean plate, and measure the side effects (Algorithm 1, line 7).
    ``plate``: what it is put onto; None: the plate filled by example.
    Returns a variant with the facts ``fill`` (what the hole was filled with) and, where GrabCut found the object,
    ``mask_source``, and the diagnostics ``bg_delta``, ``seam_energy``, ``seam_ratio``, ``fill_ratio`` and
    ``texture_ratio`` (see :mod:`core.probes.pixels.cutout`); the ratio of the seam is NaN where the ring around the
    object in the original has no edge at all."""
    cutout, place_at = scene.cutout, (place.right, place.down)
    plate = plate or scene.plate(Fill.EXAMPLE)
    pixels = put_down(plate.pixels, cutout, *place_at, feather=feather)
    seam = seam_energy(pixels, cutout, *place_at)
    diagnostics = {
        "bg_delta": bg_delta(scene.pixels, pixels, cutout, *place_at),
        "seam_energy": seam,
        "seam_ratio": seam / scene.seam_energy if scene.seam_energy > 0 else float("nan"),
        "fill_ratio": fill_ratio(pixels, cutout, *place_at),
        "texture_ratio": texture_ratio(pixels, cutout, *place_at),
    }
    return Variant(
        probe=name,
        pixels=pixels,
        object_box=Box(
            float(cutout.left + place.right), float(cutout.top + place.down), float(cutout.width), float(cutout.height)
        ),
        object_mask=Mask.from_array(cutout.placed(pixels.shape, *place_at)),
        diagnostics=diagnostics,
        notes=(*notes, *scene.mask_notes),
        facts={"fill": plate.filled, **scene.mask_facts},
    )


def _translation(cutout: Cutout, goal: np.ndarray) -> tuple[int, int]:
    right, down = np.rint(goal - np.array(cutout.centroid))
    return int(right), int(down)


@dataclass(frozen=True, slots=True)
class _Way:
    """One way to put the object down."""

    family: str  # also what its probes' names begin with
    said: str  # follows *moves to the top left quadrant of its own background*
    source: str
    feather: bool = True
    plate: Callable[[Scene], Plate] = lambda scene: scene.plate(Fill.EXAMPLE)  # what it is put onto
    needs: str = ""  # as of :class:`core.probes.base.Probe`


_WAYS = (
    _Way("reposition", "with a feathered edge", "paper A, section A.4 (Algorithm 1)"),
    _Way("reposition-hard", "cut hard, without feathering", "paper A, section A.8 (Table 2)", feather=False),
    _Way(
        "reposition-telea",
        "its old place filled smoothly",
        "paper A, section A.4: the fill of OpenCV",
        plate=lambda scene: scene.plate(Fill.TELEA),
    ),
    _Way(
        "reposition-true",
        "its old place showing what is truly behind it",
        "paper A, section A.4, on composed pictures",
        plate=lambda scene: scene.true_plate,
        needs="backdrop",
    ),
)
_WORDS = {"TL": "top left", "TR": "top right", "BL": "bottom left", "BR": "bottom right"}


def _reposition(anchor: str, way: _Way) -> Probe:
    name = f"{way.family}-{anchor}"

    def make(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
        place = find_place(scene, anchor, rng)
        where = "at its anchor" if place.tries == 0 else f"after {place.tries} of {TRIES} jittered tries"
        plate = way.plate(scene)
        made = compose(scene, name, place, feather=way.feather, plate=plate, notes=(f"Placed {where}.",))
        return replace(made, facts={**made.facts, "anchor": anchor, "redrawn": place.tries})

    where = f"the {_WORDS[anchor]} quadrant of its own background"
    return picture_probe(
        name,
        way.family,
        f"The object moves to {where}, {way.said}, at the same size.",
        make,
        source=way.source,
        default=way is _WAYS[0],
        draws=f"reposition-{anchor}",
        moves=PLACES,
        needs=way.needs,
        selector="" if way is _WAYS[0] else way.family,
    )


MOVED = tuple(_reposition(anchor, way) for way in _WAYS for anchor in ANCHORS)
"""The same places, drawn alike, so that two of them differ in one thing alone."""
