"""Edits of a video's frames: every second one, those of another video, the last one first.

Edits of the whole picture, such as a mirror, are made of each frame by :mod:`core.probes.pairs`. An evaluator whose
score knows no order of the frames is not asked for ``frames:backwards``: its score cannot move, whatever the caption
says of the motion, and nothing would be measured.
"""

import numpy as np

from core.corpora.schema import OTHER_VIDEO
from core.errors import ProbeRejected
from core.probes.base import FRAMES, HUMAN, SUBJECTS, Axis, Edits, Expectation, Subject, Variant, probe
from core.probes.scene import Scene, rival_pixels

SOURCE = "after EMScore (Shi et al., CVPR 2022), which takes means and maxima over frames"


@probe(
    name="frames:half",
    axis=Axis.SURFACE,
    family="fewer-frames",
    edits=Edits.IMAGE,
    summary="Every second frame of the video is left out; what it shows is still there.",
    source=SOURCE,
    default=False,
    needs=FRAMES,
)
def half(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
    """Leave out every second frame."""
    return Variant("frames:half", pixels=_frames(scene, least=2)[::2].copy())


@probe(
    name="frames:other-video",
    axis=Axis.SEMANTIC,
    family="other-video",
    edits=Edits.IMAGE,
    summary="The frames of another video of the corpus beside the caption of this one; the score must drop.",
    expectation=Expectation.DIRECTIONAL,
    source=SOURCE,
    default=False,
    held=(HUMAN,),
    needs=FRAMES,
)
def other_video(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
    """Show the next video of the corpus that shares no caption."""
    _frames(scene)
    pixels = rival_pixels(scene.item, OTHER_VIDEO)
    rival = scene.item.rival(OTHER_VIDEO)
    assert rival is not None
    return Variant("frames:other-video", pixels=pixels, facts=rival.facts)


@probe(
    name="frames:backwards",
    axis=Axis.SEMANTIC,
    family="frame-order",
    edits=Edits.IMAGE,
    summary="The last frame comes first; where the caption tells of a motion, the score must drop.",
    expectation=Expectation.DIRECTIONAL,
    source=SOURCE,
    default=False,
    held=SUBJECTS,
    needs=FRAMES,
    reorders=True,
)
def backwards(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
    """Turn the order of the frames round."""
    return Variant("frames:backwards", pixels=_frames(scene, least=2)[::-1].copy())


def _frames(scene: Scene, *, least: int = 1) -> np.ndarray:
    """The frames of a video, uint8 [T, H, W, 3].
    Raises ProbeRejected where the item is a picture, or has too few frames."""
    if not scene.item.frames:
        raise ProbeRejected("no-frames", f"item {scene.item.id!r} is a picture and no video")
    if len(scene.pixels) < least:
        told = f"{len(scene.pixels)} frames of item {scene.item.id!r} are looked at and {least} are needed"
        raise ProbeRejected("few-frames", told)
    return scene.pixels
