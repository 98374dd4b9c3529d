"""Videos small enough to audit in a second: coloured squares that move, as files and as folders of frames."""

import json
from pathlib import Path

from core.corpora.registry import catalogue
from core.corpora.schema import Corpus
from tests.corpora.footage import COLOURS, moving, write_frames

NAMES = tuple(COLOURS)


def write_footage(root: Path, count: int = 3) -> Path:
    """A folder of videos, each with two captions; the first names a side, the second none."""
    captions = {}
    for place in range(count):
        colour = NAMES[place % len(NAMES)]
        write_frames(root / f"v{place}", moving(colour, 6 + place, size=(64, 48)))
        captions[f"v{place}"] = [f"The {colour} square number {place}.", f"Square {place} moves to the right."]
    (root / "captions.json").write_text(json.dumps(captions))
    return root


def build_videos(root: Path, count: int = 3, *, frames: int = 4) -> Corpus:
    """The corpus of such a folder."""
    return catalogue().get("videos").load(write_footage(root, count), frames=frames)
