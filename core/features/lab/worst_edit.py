"""The worst harmless edit: within bounds that nobody minds, what moves one evaluator most on one picture?

A picture may be turned by up to 3°, enlarged or shrunk by up to 5 %, moved by up to 5 % of its sides and saved as JPEG
of quality 85 or more, all at once. Differential evolution looks for the largest |% change| among such edits [1]; every
candidate is an edit that can be made again from its five numbers. What is found is a lower bound: an edit that moves
the score at least so far exists, and a longer search may find a worse one.

References:
    [1] Storn, R. and Price, K. (1997). Differential evolution. J. Glob. Optim. 11, 341-359; scipy's implementation.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields

import cv2
import numpy as np
import pandas as pd
from scipy.optimize import differential_evolution

from core.corpora.images import check_rgb
from core.errors import InvariscopeError
from core.evaluators.base import Evaluator
from core.features.lab.occlusion import Copies
from core.probes.pixels.edits import jpeg, rotation_matrix
from core.seeds import RUN_SEED, stream
from core.statistics.changes import percent_change

DEGREES, ZOOM, OFFSET, LEAST_QUALITY = 3.0, 0.05, 0.05, 85
"""Bounds: of the turn in degrees, of the zoom and of the offsets as shares, and the lowest quality of the JPEG."""

CROWD, ROUNDS = 3, 3
"""Candidates a number and generation, and generations after the first: 15 candidates four times, 60 scores."""

CANDIDATES = 5 * CROWD * (ROUNDS + 1)
"""Edits that one search scores."""

Progress = Callable[[int, int], None]
"""Called with (candidates done, candidates in all)."""


@dataclass(frozen=True, slots=True)
class HarmlessEdit:
    """One edit within the bounds."""

    degrees: float  # counter-clockwise
    zoom: float  # 1.05 enlarges by 5 %
    # right, down: way of the picture as shares of its sides
    right: float
    down: float
    quality: int  # of the JPEG, 85 to 100

    def __str__(self) -> str:
        return (
            f"turned by {self.degrees:+.1f}°, size × {self.zoom:.3f}, moved {100 * self.right:+.1f} % right and "
            f"{100 * self.down:+.1f} % down, JPEG quality {self.quality}"
        )

    def apply(self, pixels: np.ndarray) -> np.ndarray:
        """Edit a picture: one bicubic sampling, reflected at the edges, then the JPEG; uint8 RGB of the same size."""
        check_rgb(pixels)
        height, width = pixels.shape[:2]
        matrix = rotation_matrix(self.degrees, width, height)
        middle = np.array([(width - 1) / 2, (height - 1) / 2])
        matrix[:, :2] *= self.zoom
        matrix[:, 2] = middle - matrix[:, :2] @ middle + np.array([self.right * width, self.down * height])
        if min(height, width) == 1:  # OpenCV does not return from reflecting a line
            return jpeg(pixels, quality=self.quality)
        moved = cv2.warpAffine(
            pixels, matrix, (width, height), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REFLECT_101
        )
        return jpeg(moved, quality=self.quality)


@dataclass(frozen=True, slots=True)
class Candidate:
    """An edit that a search tried."""

    edit: HarmlessEdit
    after: float  # its score, on the evaluator's own scale; NaN where it has none
    percent: float  # % change against the picture as it is; NaN where it has no score


@dataclass(frozen=True, slots=True)
class Worst:
    """What a search found."""

    evaluator: str  # whose score the edit moves
    edit: HarmlessEdit  # the one with the largest |% change|
    # before, after: scores, on the evaluator's own scale
    before: float
    after: float
    percent: float  # % change; NaN where the score of the picture as it is is 0 or below
    candidates: tuple[Candidate, ...]  # everything that was tried, in the order of the search

    @property
    def sizes(self) -> tuple[float, ...]:
        """|% change| of every candidate that has one, in the order of the search."""
        return tuple(abs(each.percent) for each in self.candidates if not np.isnan(each.percent))

    @property
    def scored(self) -> int:
        """Candidates that have a score."""
        return len(self.sizes)


def worst_edit(
    evaluator: Evaluator,
    pixels: np.ndarray,
    caption: str,
    *,
    seed: int = RUN_SEED,
    references: Sequence[str] = (),
    progress: Progress | None = None,
    show: Callable[[Worst], None] | None = None,
) -> Worst:
    """Look for the harmless edit of a picture, uint8 RGB [H, W, 3], that moves one evaluator most; the same seed finds
    the same.

    The caller holds the evaluator's lease; ``show`` is given the worst so far after each generation. Raises
    InvariscopeError if the picture as it is cannot be scored or has no % change, or no candidate has a score.
    """
    copies = Copies(evaluator, pixels, caption, references)
    name = copies.name
    before, why = copies.whole()
    if not why and np.isnan(percent_change(before, before)):
        why = f"it scores {before:.4g}, and % change needs more than 0"
    if why:
        raise InvariscopeError(f"{name} gives this pair nothing to compare with: {why}")
    tried: list[Candidate] = []

    def loss(population: np.ndarray) -> np.ndarray:
        edits = [_edit(each) for each in np.atleast_2d(population.T)]
        after = copies.pictures([each.apply(pixels) for each in edits])
        percent = percent_change(after, np.full(len(after), before))
        tried.extend(map(Candidate, edits, after.tolist(), percent.tolist()))
        if show and any(not np.isnan(each.percent) for each in tried):
            show(_worst(name, before, tried))
        if progress:
            progress(min(len(tried), CANDIDATES), CANDIDATES)
        return np.where(np.isnan(percent), 0.0, -np.abs(percent))

    differential_evolution(
        loss,
        _BOUNDS,
        maxiter=ROUNDS,
        popsize=CROWD,
        polish=False,
        vectorized=True,
        updating="deferred",
        tol=0.0,
        rng=stream(seed, copies.key, f"worst-edit:{name}"),
    )
    if all(np.isnan(each.percent) for each in tried):
        raise InvariscopeError(f"{name} could not score a single edited copy of this picture")
    return _worst(name, before, tried)


def _worst(name: str, before: float, tried: Sequence[Candidate]) -> Worst:
    """What a search has found so far; one candidate at least has a score."""
    worst = max((each for each in tried if not np.isnan(each.percent)), key=lambda each: abs(each.percent))
    return Worst(name, worst.edit, before, worst.after, worst.percent, tuple(tried))


def candidates(found: Sequence[Worst]) -> pd.DataFrame:
    """Every edit that was tried, so that each can be made and scored again, in the order of the search: ``evaluator``,
    the five numbers of :class:`HarmlessEdit`, ``before``, ``after``, ``percent`` (% change) and ``worst``, whether it
    is the one that was chosen."""
    records = [
        {
            "evaluator": each.evaluator,
            **asdict(tried.edit),
            "before": each.before,
            "after": tried.after,
            "percent": tried.percent,
            "worst": tried.edit == each.edit,
        }
        for each in found
        for tried in each.candidates
    ]
    numbers = [field.name for field in fields(HarmlessEdit)]
    return pd.DataFrame(records, columns=["evaluator", *numbers, "before", "after", "percent", "worst"])


def under(
    evaluator: Evaluator,
    pixels: np.ndarray,
    caption: str,
    edits: Sequence[HarmlessEdit],
    *,
    references: Sequence[str] = (),
) -> np.ndarray:
    """Scores of edits of a picture under one evaluator, float64 [edits], in their order; NaN where one has none; as in
    :func:`worst_edit`."""
    made = {edit: edit.apply(pixels) for edit in edits}
    scores = Copies(evaluator, pixels, caption, references).pictures(list(made.values()))
    known = dict(zip(made, scores, strict=True))
    return np.array([known[edit] for edit in edits], dtype=np.float64)


_BOUNDS = ((-DEGREES, DEGREES), (1 - ZOOM, 1 + ZOOM), (-OFFSET, OFFSET), (-OFFSET, OFFSET), (LEAST_QUALITY, 100))


def _edit(numbers: np.ndarray) -> HarmlessEdit:
    degrees, zoom, right, down, quality = map(float, numbers)
    return HarmlessEdit(degrees, zoom, right, down, round(quality))
