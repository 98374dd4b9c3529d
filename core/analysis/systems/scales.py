"""Scores of a leaderboard under other scales w of the cosine: what paper C's figure 5 shows.

Where score = w · max(cos, 0), the score at another scale v is score · v / w: no model has to be asked again.

Sources:
    [1] Sarto et al. (2025). Positive-augmented contrastive learning for vision-and-language evaluation and training.
        IJCV. Eq. 4, section 5.7, figure 5.
    [2] Hessel et al. (2021). CLIPScore. EMNLP. Section 3.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from core.analysis.systems.board import own_rows
from core.evaluators.scale import scale_of
from core.statistics.ratios import mean_bca
from core.statistics.shares import share

PUBLISHED: Mapping[float, str] = {
    1.0: "the cosine itself",
    2.0: "PAC-S, and the authors' code of PAC-S++",
    2.5: "CLIPScore, and PAC-S++ on ViT-B/32 as its text has it",
    3.0: "PAC-S++ on ViT-L/14 as its text has it",
}
"""Scales that [1], its code and [2] use, and for what."""

WIDTH = 0.05
"""Of a bin of scores, at every scale."""

ENDS = (5, 50, 95)
"""Percentiles."""

SCALES = (
    "evaluator", "w", "used", "mean", "low", "high", "p5", "p50", "p95", "over", "over_low", "over_high", "n_captions",
    "n_items", "note",
)  # fmt: skip
BINS = ("evaluator", "w", "middle", "from_", "to", "share", "n_captions", "n_items")


def scales(
    rows: pd.DataFrame, evaluators: Sequence[str], systems: Sequence[str], *, level: float = 0.95
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Hold the scores of all systems' captions on unedited pictures at every scale of PUBLISHED, and their own.

    Args:
        rows: of :data:`core.scoring.leaderboard.COLUMNS`.
        evaluators: that scored; those whose score is not w · max(cos, 0) are passed over.
        systems: whose captions count, all together.
        level: confidence level in (0, 1).

    Returns:
        SCALES, a row an evaluator and scale: mean with its BCa interval over pictures, percentiles, and the share of
        scores above 1 with Wilson's, in per cent. BINS: per cent of the captions by bins of WIDTH, for the scales
        whose row has numbers. Scores outside [0, w] were made with another scale: no number, and a note.
    """
    records, bins = list[tuple[object, ...]](), list[tuple[object, ...]]()
    for evaluator in evaluators:
        own = scale_of(evaluator)
        if own is None:
            continue
        held = own_rows(rows)
        held = held[(held["evaluator"] == evaluator) & held["system"].isin(list(systems))].dropna(subset=["score"])
        if held.empty:
            continue
        scores = held["score"].to_numpy(np.float64)
        if scores.min() < 0 or scores.max() > own * (1 + 1e-6):
            note = f"scores of {scores.min():.4g} to {scores.max():.4g} were not made with w = {own:g}"
            records.append((evaluator, own, "here", *[math.nan] * 9, len(held), held["item"].nunique(), note))
            continue
        for w in sorted({*PUBLISHED, own}):
            records.append(_row(evaluator, w, own, held.assign(score=scores * (w / own)), level))
            bins += _bins(evaluator, w, scores * (w / own), held["item"].nunique())
    return pd.DataFrame(records, columns=list(SCALES)), pd.DataFrame(bins, columns=list(BINS))


def _row(evaluator: str, w: float, own: float, held: pd.DataFrame, level: float) -> tuple[object, ...]:
    mean = mean_bca(held["score"], groups=held["source"], level=level)
    over = share((held["score"] > 1).astype(float), groups=held["source"], level=level)
    used = [*(["here"] if w == own else []), *([PUBLISHED[w]] if w in PUBLISHED else [])]
    return (
        evaluator, w, "; ".join(used), mean.estimate, mean.low, mean.high,
        *(float(each) for each in np.percentile(held["score"], ENDS)),
        100 * over.estimate, 100 * over.low, 100 * over.high, len(held), held["item"].nunique(),
        mean.note or over.note,
    )  # fmt: skip


def _bins(evaluator: str, w: float, scores: np.ndarray, items: int) -> list[tuple[object, ...]]:
    """Shares by bin, with an empty bin on either side, so that a line through them ends at nothing."""
    first, last = math.floor(scores.min() / WIDTH), math.floor(scores.max() / WIDTH)
    places = np.floor(scores / WIDTH).astype(int)
    return [
        (evaluator, w, (place + 0.5) * WIDTH, place * WIDTH, (place + 1) * WIDTH,
         100 * float((places == place).mean()), len(scores), items)
        for place in range(max(first - 1, 0), last + 2)
    ]  # fmt: skip
