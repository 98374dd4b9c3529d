"""Probes of pictures on videos: the same edit of every frame."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from core.errors import ProbeRejected
from core.probes.base import Probe, Subject, Variant
from core.probes.scene import Scene


def of_every_frame(
    probe: Probe, scene: Scene, subject: Subject, draw: Callable[[], np.random.Generator]
) -> Variant:  # fmt: skip
    """Apply an edit of the whole picture to every frame of a video.

    Args:
        scene: of a video.
        draw: gives the probe's stream from its beginning, so that every frame is edited alike.

    Raises:
        ProbeRejected: ``not-of-videos`` where the probe edits one picture alone; else as the probe says.
    """
    if not probe.framewise:
        raise ProbeRejected("not-of-videos", f"probe {probe.name!r} edits one picture and item {scene.item.id!r} is a "
                            "video")  # fmt: skip
    item = replace(scene.item, frames=())
    made = [probe.make(Scene(item, frame), subject, draw()) for frame in scene.pixels]
    frames = [each.pixels for each in made if each.pixels is not None]
    return replace(made[0], pixels=np.stack(frames))
