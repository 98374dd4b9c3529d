"""Painted scenes with rivals on disk."""

from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
from PIL import Image

from core.corpora.images import read_image
from core.corpora.schema import PROTOTYPE_ROLES, Rival
from core.probes.scene import Scene


def with_rivals(scene: Scene, folder: Path, *, roles: tuple[str, ...] = PROTOTYPE_ROLES) -> Scene:
    """Give a scene's item a rival of each role: its own pixels, each with another channel inverted."""
    rivals = []
    for number, role in enumerate(roles):
        pixels = scene.pixels.copy()
        pixels[..., number % 3] = 255 - pixels[..., number % 3]
        path = folder / f"{scene.item.id}-{role}.png"
        Image.fromarray(pixels).save(path)
        seen = read_image(path)
        facts: dict[str, str | float] = {"shown": "penguin" if role.startswith("nonproto") else "lark", "value": 2.0}
        rivals.append(Rival(role, path, facts, seen.bytes_sha256, seen.pixels_sha256))
    facts = {"knob": "count", "domain": "animal", "subcategory": "bird", "hypernym": "bird", "falsity": "verified"}
    return Scene(replace(scene.item, rivals=tuple(rivals), facts=facts), np.array(scene.pixels))


@cache
def folder() -> Path:
    """One folder of the test process."""
    return Path(mkdtemp(prefix="rivals-"))
