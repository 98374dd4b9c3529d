"""What edits of a video's frames do to the scores of its captions.

Order has no part in the formula, so that a video backwards is not scored a second time: its rows repeat those of the
video and say that this is by construction. Everything else is measured.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from core.charts.spec import PALETTE, SYMBOLS, Figure, Style, marks_of, untitled
from core.errors import InvalidInput
from core.evaluators.base import DualEncoder, Evaluator
from core.evaluators.video.video_evaluator import VideoEvaluator, video_scorer
from core.probes.pixels.edits import every_second, flip_horizontal, flip_vertical, jpeg

MEASURED, BY_CONSTRUCTION = "measured", "by construction"
ORIGINAL, REVERSED, OTHER = "original", "reversed", "other video"

PARTS = ("coarse", "precision", "recall", "fine")
COLUMNS = ("evaluator", "caption", "edit", "how", "frames", "score", "delta", *PARTS, "note")


@dataclass(frozen=True, slots=True)
class FrameEdit:
    """One edit of the frames."""

    told: str  # what it does, and what of the score is to be expected
    places: Callable[[int], list[int]] | None = None  # which frames are kept, of how many there are; None: all
    pixels: Callable[[np.ndarray], np.ndarray] | None = None  # what becomes of each frame; None: nothing


EDITS = {
    ORIGINAL: FrameEdit("The frames as they are."),
    REVERSED: FrameEdit("The last frame first. The score cannot move, by construction."),
    "every second frame": FrameEdit("Half of the frames: the score should stay.", places=every_second),
    "re-encoded": FrameEdit(
        "Each frame saved as JPEG of quality 95, which nobody can see: the score should stay.", pixels=jpeg
    ),
    "mirrored": FrameEdit(
        "Each frame mirrored: the score should stay, unless the caption names left or right.", pixels=flip_horizontal
    ),
    "upside down": FrameEdit(
        "Each frame upside down: the score should stay, unless the caption names above or below.", pixels=flip_vertical
    ),
    OTHER: FrameEdit("The frames of another video: the score should drop, unless the caption is true of it too."),
}
"""Edit by name, in the order in which they are shown."""


def can_score_videos(kind: type[Evaluator]) -> bool:
    """Whether evaluators of a class can score a video without references."""
    return issubclass(kind, VideoEvaluator | DualEncoder) and not kind.spec.takes_references


def score_edits(
    evaluator: Evaluator,
    frames: Sequence[np.ndarray],
    captions: Sequence[str],
    *,
    other: Sequence[np.ndarray] | None = None,
) -> pd.DataFrame:
    """Score captions of a video, frames uint8 RGB, and of its edits, by a loaded evaluator without references;
    ``other``: frames of another video, whose row is left out without them. Returns :data:`COLUMNS`, a row a caption and
    edit. ``delta`` is the score less that of the original; ``note`` says why there is no score. Parts that an evaluator
    does not give are NaN. Raises InvalidInput if there is no frame or caption, or the evaluator can score no video."""
    if not frames or not captions:
        raise InvalidInput(f"give frames and captions, got {len(frames)} and {len(captions)}")
    scorer = video_scorer(evaluator)
    seen = scorer.encode(frames)
    rows = list[tuple[object, ...]]()
    original = scorer.score(seen, captions)
    for name, edit in EDITS.items():
        if name == OTHER:
            if other is None:
                continue
            shown = scorer.encode(other)
        elif edit.pixels is not None:
            shown = scorer.encode([edit.pixels(each) for each in frames])
        else:
            shown = seen if edit.places is None else seen[edit.places(len(seen))]
        same = name in (ORIGINAL, REVERSED)
        found = original if same else scorer.score(shown, captions)
        how = BY_CONSTRUCTION if name == REVERSED else MEASURED
        for caption, score, base in zip(captions, found, original, strict=True):
            about = (scorer.name, caption, name, how, len(shown))
            parts = (getattr(score.video, part) if score.video else np.nan for part in PARTS)
            rows.append((*about, score.score, score.score - base.score, *parts, score.error))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def edit_dots(table: pd.DataFrame) -> Figure:
    """A dot an edit and caption (evaluator, caption, edit, how, score, delta, frames), a panel an evaluator, each on
    its own scale; what is by construction is a ring, rows without a score are left out."""
    held = table[table["score"].notna()]
    hover = [
        f"{row.edit}, {row.how}\n{row.caption}\n{row.score:.4f} ({row.delta:+.4f})\nn = {row.frames} frames"
        for row in held.itertuples()
    ]
    looks = {"hollow": held["how"] != MEASURED, "hover": hover}
    frame = marks_of(held, held["edit"], held["caption"], held["evaluator"], ["score"], "frames", **looks)
    return untitled(
        frame.reset_index(drop=True),
        "score",
        free=True,
        bounds="none",
        names={REVERSED: f"{REVERSED}: the same, {BY_CONSTRUCTION}"},
        styles={
            caption: Style(PALETTE[(place + 3) % len(PALETTE)], SYMBOLS[place % len(SYMBOLS)], size=_SMALL)
            for place, caption in enumerate(dict.fromkeys(held["caption"]))  # no colour of a metric of the demo
        },
    )


_SMALL = 7.5
"""Size in px of a mark, so that those of scores that are nearly equal lie beneath each other and do not touch."""
