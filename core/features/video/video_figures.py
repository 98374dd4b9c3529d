"""Scores of a video's captions under edits of its frames."""

import numpy as np
import pandas as pd

from core.charts.spec import PALETTE, SYMBOLS, Figure, Style
from core.features.video.video_edits import BY_CONSTRUCTION, MEASURED, REVERSED


def edit_dots(table: pd.DataFrame) -> Figure:
    """A dot an edit and caption (evaluator, caption, edit, how, score, delta, frames), a panel an evaluator, each on
    its own scale; what is by construction is a ring, rows without a score are left out."""
    held = table[table["score"].notna()]
    frame = pd.DataFrame(
        {
            "label": held["edit"],
            "series": held["caption"],
            "panel": held["evaluator"],
            "value": held["score"],
            "low": np.nan,
            "high": np.nan,
            "n": held["frames"],
            "hollow": held["how"] != MEASURED,
            "hover": [
                f"{row.edit}, {row.how}\n{row.caption}\n{row.score:.4f} ({row.delta:+.4f})\nn = {row.frames} frames"
                for row in held.itertuples()
            ],
        }
    )
    return Figure(
        "",
        "",
        "",
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
