"""Distance to the centre: the object on a grid of positions, to see the score against the normalised radius.

The radius of a position (x, y) is √(((x − cx) / (W/2))² + ((y − cy) / (H/2))²): 0 at the image's centre (cx, cy),
1 at the middle of each side, whatever the aspect ratio. Positions are not jittered, since the position is what is
varied: one that does not fit is rejected. The realised radius stands in the diagnostics as ``radius``.

Source: paper A, sections A.4 and B.2; PROTOCOL section 1.
"""

import math
from dataclasses import replace

import numpy as np

from core.errors import ProbeRejected
from core.probes.base import Probe, Subject, Variant, picture_probe
from core.probes.families.reposition import Place, compose, is_free, is_inside
from core.probes.scene import Scene
from core.probes.words.mentions import PLACES

RADII = (0.0, 0.2, 0.4, 0.6, 0.8)  # normalised radii of the grid
ANGLES = tuple(range(0, 360, 45))  # directions of the grid in degrees: 0 is right, 90 is up


def normalised_radius(x: float, y: float, width: int, height: int) -> float:
    """Return the radius of a pixel position, e.g. 1.0 for the middle of the right edge."""
    return math.hypot((x - (width - 1) / 2) / (width / 2), (y - (height - 1) / 2) / (height / 2))


def _position(radius: float, angle: int) -> Probe:
    name = f"distance:{radius:.1f}" + (f"@{angle:03d}" if radius else "")
    where = f"at {radius:.1f} of the way to the edge, towards {angle}°" if radius else "at the centre"

    def make(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
        height, width = scene.pixels.shape[:2]
        x = (width - 1) / 2 + radius * width / 2 * math.cos(math.radians(angle))
        y = (height - 1) / 2 - radius * height / 2 * math.sin(math.radians(angle))
        from_x, from_y = scene.cutout.centroid
        place = Place(round(x - from_x), round(y - from_y))
        if not is_inside(scene, place.right, place.down):
            raise ProbeRejected("leaves-image", f"the object does not fit into the image {where}")
        if not is_free(scene, place.right, place.down):
            raise ProbeRejected("collision", f"the object would cover another {where}")
        made = compose(scene, name, place)
        realised = normalised_radius(from_x + place.right, from_y + place.down, width, height)
        facts = {**made.facts, "angle": float(angle), "radius": realised}
        return replace(made, diagnostics={**made.diagnostics, "radius": realised}, facts=facts)

    summary = f"The object stands {where} of its own background, at the same size."
    source = "paper A, section A.4 (distance to the centre)"
    return picture_probe(name, "distance", summary, make, source=source, moves=PLACES)


GRID = (_position(0.0, 0), *(_position(radius, angle) for radius in RADII[1:] for angle in ANGLES))
