"""Repositioning along the ground: the object moves left or right on the line that it stands on, at constant scale.

The paper's anchors put a bus into the trees. An object that stands is as large anywhere on its own ground line, so this
move changes where it is and nothing that a viewer would object to. Whether it stands is read off the picture: its
lowest row lies in the lower half and above the last row, where a picture would have cut it off. Of a composed picture
it is known, too, whether its background has a ground at all: ``assets/backdrops/ground.csv``.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import MappingProxyType

import numpy as np

from core.errors import ProbeRejected
from core.probes.base import Probe, Subject, Variant, picture_probe
from core.probes.families.reposition import LEAST_ROOM, TRIES, Place, compose, is_free, pull_in
from core.probes.scene import Scene
from core.probes.tables import BACKDROPS, read_table
from core.probes.words.mentions import SIDE, SPOT
from core.settings import assets_dir

ALONG_GROUND = "reposition-ground"  # the family

SIDES = {"left": 0.25, "right": 0.75}
"""Side -> where the object's centroid goes, as a share of the width: the columns of the paper's anchors."""


def find_place_on_ground(scene: Scene, side: str, rng: np.random.Generator) -> Place:
    """Find where the object goes: as Algorithm 1, but along its own ground line.
    Raises ProbeRejected ``no-ground`` where it does not stand or its background has no ground; ``too-large`` where the
    way is shorter than LEAST_ROOM of the width; ``collision`` after TRIES tries, each drawn nearer to where the object
    came from."""
    shown = groundless().get(scene.item.backdrop)
    if shown is not None:
        told = f"the background {scene.item.backdrop!r} shows {shown}: the object stands on no ground there"
        raise ProbeRejected("no-ground", told)
    cutout, (height, width) = scene.cutout, scene.pixels.shape[:2]
    foot = cutout.top + cutout.height
    if not height / 2 < foot < height:
        told = "it stands on no ground in the lower half of the picture, or the picture cuts it off"
        raise ProbeRejected("no-ground", f"the object's lowest row is {foot} of {height}: {told}")
    goal = pull_in(cutout, round(SIDES[side] * width - 0.5 - cutout.centroid[0]), 0, width, height)[0]
    least = LEAST_ROOM * width
    if abs(goal) < least or (goal < 0) != (side == "left"):
        told = f"its way is {abs(goal)} px, at least {least:.0f} are needed"
        raise ProbeRejected("too-large", f"the object is or comes too near to the {side}: {told}")
    place = Place(goal, 0)
    while not is_free(scene, place.right, 0):
        tries = place.tries + 1
        if tries > TRIES:
            told = f"every place tried for the object on its ground to the {side} ({TRIES} tries) covers another"
            raise ProbeRejected("collision", told)
        shorter = goal + (np.sign(goal) * least - goal) * rng.random() * tries / TRIES
        place = Place(int(np.rint(shorter)), 0, tries)
    return place


@cache
def groundless(path: Path | None = None) -> Mapping[str, str]:
    """Read which backgrounds have no ground: name -> what they show instead.
    Raises InvalidInput naming the line that says neither yes nor no, stands twice, or does not say what is shown."""
    found: dict[str, str | None] = {}
    for row in read_table(path or assets_dir() / BACKDROPS / "ground.csv", ("backdrop", "ground", "shows")):
        name = row.required("backdrop")
        if name in found:
            row.fail(f"the backdrop {name!r} stands twice; keep one line")
        found[name] = None if row.one_of("ground", ("yes", "no")) == "yes" else row.required("shows")
    return MappingProxyType({name: shows for name, shows in found.items() if shows is not None})


def _along_ground(side: str) -> Probe:
    name = f"{ALONG_GROUND}-{side}"

    def make(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
        place = find_place_on_ground(scene, side, rng)
        made = compose(scene, name, place, notes=(f"Moved by {abs(place.right)} px along its ground line.",))
        return replace(made, facts={**made.facts, "side": side, "redrawn": place.tries})

    summary = f"The object moves to the {side} along the line that it stands on, at the same size."
    source = "paper A, section A.4, kept to the object's own ground"
    return picture_probe(name, ALONG_GROUND, summary, make, source=source, moves=(SIDE, SPOT))


ALONG = tuple(_along_ground(side) for side in SIDES)
