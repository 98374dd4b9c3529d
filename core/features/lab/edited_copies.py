"""Where a metric looks: what a score loses when a part of the picture is hidden, or a word is left out.

Any evaluator can be asked, since only its scores are read. The picture is hidden cell by cell under the mean colour of
what it shows, coarse to fine: each cell of a COARSE × COARSE grid, then the quarters of the cells that matter most. A
word is left out of the caption and everything else stays.
Source: occlusion sensitivity, Zeiler and Fergus, Visualizing and understanding convolutional networks, ECCV 2014, 4.2.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass, fields

import cv2
import numpy as np
import pandas as pd
from scipy.optimize import differential_evolution

from core.corpora.images import check_rgb, pixel_hash
from core.errors import InvalidInput, InvariscopeError
from core.evaluators.base import Evaluator
from core.evaluators.cache import EmbeddingCache
from core.evaluators.scoring import PairScores, score_pairs_with_errors
from core.probes.pixels.edits import jpeg, rotation_matrix
from core.probes.words.caption_words import LANGUAGES, join, words
from core.seeds import RUN_SEED, stream
from core.statistics.changes import percent_change

KEPT_MB = 16  # memory for embeddings: the caption, and the picture as it is, are encoded once


class Copies:
    """One pair under one evaluator, which is loaded and leased by the caller; every answer says which copies could not
    be scored, and why. ``pixels``: uint8 RGB [H, W, 3]."""

    def __init__(self, evaluator: Evaluator, pixels: np.ndarray, caption: str, references: Sequence[str] = ()) -> None:
        check_rgb(pixels)
        self.name = evaluator.spec.name
        self.key = pixel_hash(pixels)
        self._evaluator, self._pixels, self._caption = evaluator, pixels, caption
        self._references = tuple(references)
        self._kept = EmbeddingCache(None, memory_mb=KEPT_MB)

    def whole(self) -> tuple[float, str]:
        """Score of the pair as it is, and why there is none; NaN beside the reason."""
        found = self._score({self.key: self._pixels}, [(self.key, self._caption)])
        score = float(found.scores[0])
        return score, (found.errors[0] or "it gave no number") if np.isnan(score) else ""

    def pictures(self, pictures: Sequence[np.ndarray]) -> np.ndarray:
        """Scores of other pictures with the caption, float64 [pictures]; NaN where one has none."""
        keys = [pixel_hash(each) for each in pictures]
        images = dict(zip(keys, pictures, strict=True))
        return self._score(images, [(key, self._caption) for key in keys]).scores

    def captions(self, captions: Sequence[str]) -> np.ndarray:
        """Scores of the picture with other captions, float64 [captions]; NaN where one has none."""
        return self._score({self.key: self._pixels}, [(self.key, each) for each in captions]).scores

    def _score(self, images: Mapping[str, np.ndarray], pairs: Sequence[tuple[str, str]]) -> PairScores:
        others = [self._references] * len(pairs)
        return score_pairs_with_errors(self._evaluator, images, pairs, references=others, cache=self._kept)


COARSE = 4  # cells along each side that are hidden first

SPLIT = 0.5
"""Share of the coarse cells that are hidden quarter by quarter next: those whose loss is largest, whichever way."""

MOST_WORDS = 60  # words of a caption beyond which none is left out: each costs a score

Progress = Callable[[int, int], None]  # called with (pictures, or candidates, done, and in all)


@dataclass(frozen=True, slots=True)
class OcclusionMap:
    """What a score loses where the picture is hidden."""

    # float64 [2 · COARSE, 2 · COARSE], score of the whole picture less that without the cell, on the evaluator's own
    # scale: positive where the cell holds the score up. A coarse cell that was not split has one value four times. NaN
    # where a hidden picture has no score.
    loss: np.ndarray
    split: np.ndarray  # bool, likewise; whether the quarter was hidden by itself
    score: float  # of the whole picture
    scored: int  # pictures that were scored, the whole one included

    @property
    def reach(self) -> float:
        """The largest loss or gain; 0 where nothing moves, NaN where nothing was scored."""
        return float(np.nanmax(np.abs(self.loss))) if np.isfinite(self.loss).any() else float("nan")


@dataclass(frozen=True, slots=True)
class WordLoss:
    """What a score loses without one word."""

    word: str  # as it stands in the caption
    place: int  # its place in the caption, from 0
    loss: float  # score of the whole caption less that without the word; NaN where that has no score


def occlusion_map(
    evaluator: Evaluator,
    pixels: np.ndarray,
    caption: str,
    *,
    references: Sequence[str] = (),
    progress: Progress | None = None,
) -> OcclusionMap:
    """Hide a picture, uint8 RGB [H, W, 3] of at least 2 · COARSE pixels a side, cell by cell; the caller holds the
    evaluator's lease. Raises InvalidInput if it is too small, and InvariscopeError if the whole picture cannot be
    scored, with the reason."""
    check_rgb(pixels)
    if min(pixels.shape[:2]) < 2 * COARSE:
        raise InvalidInput(
            f"a picture of {pixels.shape[1]} × {pixels.shape[0]} px is too small to hide {2 * COARSE} cells a side"
        )
    copies = Copies(evaluator, pixels, caption, references)
    finer = round(SPLIT * COARSE * COARSE)
    total = 1 + COARSE * COARSE + 4 * finer
    whole = _whole(copies)
    coarse = whole - copies.pictures(_hidden(pixels, list(np.ndindex(COARSE, COARSE)), COARSE))
    if progress:
        progress(1 + len(coarse), total)
    loss = coarse.reshape(COARSE, COARSE).repeat(2, axis=0).repeat(2, axis=1)
    split = np.zeros(loss.shape, bool)
    known = np.where(np.isnan(coarse), -1.0, np.abs(coarse))
    for flat in np.argsort(-known, kind="stable")[:finer]:
        row, column = divmod(int(flat), COARSE)
        split[2 * row : 2 * row + 2, 2 * column : 2 * column + 2] = True
    quarters = [(int(row), int(column)) for row, column in np.argwhere(split)]
    loss[split] = whole - copies.pictures(_hidden(pixels, quarters, 2 * COARSE))
    if progress:
        progress(total, total)
    return OcclusionMap(loss, split, whole, total)


def word_losses(
    evaluator: Evaluator, pixels: np.ndarray, caption: str, *, language: str = "en", references: Sequence[str] = ()
) -> tuple[WordLoss, ...]:
    """Leave out one word after the other (Japanese is parted by its dictionary); a caption of one word has none. Raises
    InvalidInput for more than MOST_WORDS words, and InvariscopeError if the whole caption cannot be scored, with the
    reason."""
    told = language if language in LANGUAGES else "en"
    found = words(caption, told)
    if len(found) > MOST_WORDS:
        raise InvalidInput(f"the caption has {len(found)} words; at most {MOST_WORDS} are left out one by one")
    if len(found) < 2:
        return ()
    copies = Copies(evaluator, pixels, caption, references)
    shorter = [join([*found[:place], *found[place + 1 :]], told) for place in range(len(found))]
    losses = _whole(copies) - copies.captions(shorter)
    return tuple(WordLoss(word.text, place, float(losses[place])) for place, word in enumerate(found))


def _whole(copies: Copies) -> float:
    score, why = copies.whole()
    if why:
        raise InvariscopeError(f"{copies.name} could not score the pair: {why}")
    return score


def _hidden(pixels: np.ndarray, places: Sequence[tuple[int, int]], cells: int) -> list[np.ndarray]:
    """A copy a place, the cell hidden under the mean colour."""
    mean = pixels.reshape(-1, 3).mean(axis=0).round().astype(np.uint8)
    made = []
    for place in places:
        copy = pixels.copy()
        copy[_cell(place, cells, pixels)] = mean
        made.append(copy)
    return made


def _cell(place: tuple[int, int], cells: int, pixels: np.ndarray) -> tuple[slice, slice]:
    """Rows and columns of a cell of a grid; together the cells cover every pixel once."""
    edges = [np.linspace(0, side, cells + 1).round().astype(int) for side in pixels.shape[:2]]
    rows, columns = (slice(int(edge[at]), int(edge[at + 1])) for edge, at in zip(edges, place, strict=True))
    return rows, columns


# The worst harmless edit: within bounds that nobody minds, what moves one evaluator most on one picture?
#
# A picture may be turned by up to 3°, enlarged or shrunk by up to 5 %, moved by up to 5 % of its sides and saved as
# JPEG of quality 85 or more, all at once. Differential evolution looks for the largest |% change| among such edits [1];
# every candidate is an edit that can be made again from its five numbers. What is found is a lower bound: an edit that
# moves the score at least so far exists, and a longer search may find a worse one.
#
# References:
#     [1] Storn, R. and Price, K. (1997). Differential evolution. J. Glob. Optim. 11, 341-359; scipy's implementation.
DEGREES, ZOOM, OFFSET, LEAST_QUALITY = 3.0, 0.05, 0.05, 85
"""Bounds: of the turn in degrees, of the zoom and of the offsets as shares, and the lowest quality of the JPEG."""

CROWD, ROUNDS = 3, 3
"""Candidates a number and generation, and generations after the first: 15 candidates four times, 60 scores."""

CANDIDATES = 5 * CROWD * (ROUNDS + 1)  # edits that one search scores


@dataclass(frozen=True, slots=True)
class HarmlessEdit:
    """One edit within the bounds."""

    degrees: float  # counter-clockwise
    zoom: float  # 1.05 enlarges by 5 %
    right: float  # right, down: way of the picture as shares of its sides
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
    before: float  # before, after: scores, on the evaluator's own scale
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
        (each.evaluator, *astuple(tried.edit), each.before, tried.after, tried.percent, tried.edit == each.edit)
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
