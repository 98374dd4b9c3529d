"""What edits of the frames do to scores over a folder of videos: medians with their intervals, a row an edit."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from core.analysis.comparisons import percent
from core.analysis.questions.question import Column
from core.features.video.video_edits import BY_CONSTRUCTION, ORIGINAL
from core.statistics.bootstrap import median_bca
from core.statistics.shares import share

NOTE = (
    "Median of score less score of the unedited video, over videos, each by its first caption; 95 % BCa intervals over "
    "videos, none below ten; of the share that falls Wilson’s. What is by construction follows from the formula and is "
    "no measurement."
)

COLUMNS = (
    Column("evaluator", "Evaluator", kind="text"),
    Column("edit", "Frames", kind="text"),
    Column("how", "How it is known", kind="text"),
    Column("n", "n videos", digits=0),
    Column("median", "Median Δ [95 % CI]", digits=4, low="low", high="high", signed=True),
    Column("falls", "Falls in % [95 % CI]", digits=0, low="falls_low", high="falls_high"),
    Column("missing", "No score", digits=0),
    Column("note", "Remark", kind="text"),
)


def edit_summary(table: pd.DataFrame) -> pd.DataFrame:
    """One row an evaluator and edit.

    Args:
        table: rows of :func:`core.features.video.video_edits.score_edits` of several videos, with a column ``video``;
            of each video one caption.

    Returns:
        The names of :data:`COLUMNS`. ``falls`` is the percentage of videos whose score falls; what is by construction
        has the median 0, no interval and no percentage.
    """
    return pd.DataFrame(list(_rows(table)), columns=[name for each in COLUMNS for name in _names(each)])


def _rows(table: pd.DataFrame) -> Iterator[dict[str, object]]:
    for (evaluator, edit), held in table.groupby(["evaluator", "edit"], sort=False):
        if edit == ORIGINAL:
            continue
        deltas = held["delta"].to_numpy(dtype=np.float64)
        known = deltas[np.isfinite(deltas)]
        told = {
            "evaluator": evaluator,
            "edit": edit,
            "how": held["how"].iloc[0],
            "n": len(known),
            "missing": len(deltas) - len(known),
        }
        if told["how"] == BY_CONSTRUCTION:
            yield told | {
                "median": 0.0,
                "low": np.nan,
                "high": np.nan,
                **dict.fromkeys(_FALLS, np.nan),
                "note": "no order of the frames changes the score",
            }
            continue
        found = median_bca(deltas)
        yield told | {
            "median": found.estimate,
            "low": found.low,
            "high": found.high,
            **percent("falls", share(known < 0)),
            "note": found.note,
        }


_FALLS = ("falls", "falls_low", "falls_high")


def _names(column: Column) -> list[str]:
    return [name for name in (column.name, column.low, column.high) if name]
