"""Where a metric looks: what a score loses when a part of the picture is hidden, or a word is left out.

Any evaluator can be asked, since only its scores are read. The picture is hidden cell by cell under the mean colour of
what it shows, coarse to fine: each cell of a COARSE × COARSE grid, then the quarters of the cells that matter most. A
word is left out of the caption and everything else stays.
Source: occlusion sensitivity, Zeiler and Fergus, Visualizing and understanding convolutional networks, ECCV 2014, 4.2.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.corpora.images import check_rgb, pixel_hash
from core.errors import InvalidInput, InvariscopeError
from core.evaluators.base import Evaluator
from core.evaluators.cache import EmbeddingCache
from core.evaluators.scoring import PairScores, score_pairs_with_errors
from core.probes.words.caption_words import LANGUAGES, join, words

KEPT_MB = 16
"""Memory for embeddings: the caption, and the picture as it is, are encoded once."""


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


COARSE = 4
"""Cells along each side that are hidden first."""

SPLIT = 0.5
"""Share of the coarse cells that are hidden quarter by quarter next: those whose loss is largest, whichever way."""

MOST_WORDS = 60
"""Words of a caption beyond which none is left out: each costs a score."""

Progress = Callable[[int, int], None]
"""Called with (pictures done, pictures in all)."""


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
