"""Scores of a video's captions under edits of its frames, and how each word matches each frame."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from core.charts.spec import COLUMNS, Figure, coloured


def edit_dots(table: pd.DataFrame) -> Figure:
    """A dot an edit and caption, a panel an evaluator, each on its own scale; what is by construction is a ring.

    Args:
        table: evaluator, caption, edit, how, score, delta, frames; rows without a score are left out.
    """
    held = table[table["score"].notna()]
    captions = list(dict.fromkeys(held["caption"]))
    frame = pd.DataFrame(
        {
            "label": held["edit"],
            "series": [_named(captions, each) for each in held["caption"]],
            "panel": held["evaluator"],
            "value": held["score"],
            "low": np.nan,
            "high": np.nan,
            "n": held["frames"],
            "hollow": held["how"] != "measured",
            "hover": [
                f"{row.edit}, {row.how}\n{row.caption}\n{row.score:.4f} ({row.delta:+.4f})\nn = {row.frames} frames"
                for row in held.itertuples()
            ],
        }
    )
    styles = coloured([_named(captions, each) for each in captions])
    return Figure(
        "",
        "",
        "",
        frame.reset_index(drop=True),
        "score",
        free=True,
        bounds="none",
        styles={name: replace(style, size=_SMALL) for name, style in styles.items()},
    )


_SMALL = 7.5
"""Size in px of a mark, so that those of scores that are nearly equal lie beneath each other and do not touch."""


def token_heat(words: Sequence[str], cosines: np.ndarray, *, numbers: Sequence[int] = ()) -> Figure:
    """A cell a token and frame.

    Args:
        words: of the caption's tokens.
        cosines: [L, J].
        numbers: of the frames, each once; none: from 1 on.
    """
    shown = numbers or range(1, cosines.shape[1] + 1)
    rows = [
        {
            "label": f"{place:02d}",
            "series": f"frame {shown[frame]}",
            "panel": "",
            "value": float(cosines[place, frame]),
            "low": np.nan,
            "high": np.nan,
            "n": 1,
            "hover": f"{word}, frame {shown[frame]}\ncosine {cosines[place, frame]:.3f}, n = 1",
        }
        for place, word in enumerate(words)
        for frame in range(cosines.shape[1])
    ]
    names = {f"{place:02d}": word for place, word in enumerate(words)}
    frame = pd.DataFrame(rows, columns=[*COLUMNS, "hover"])
    return Figure("", "", "", frame, "cosine", kind="map", names=names, order=tuple(names))


def _named(captions: Sequence[str], caption: str) -> str:
    return f"{captions.index(caption) + 1}: {caption}"
