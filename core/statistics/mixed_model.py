"""Mixed effects of one edit: score ~ perturbed, crossed random intercepts for image and category, by REML.

References:
    [1] Bell, R. M. and McCaffrey, D. F. (2002). Bias reduction in standard errors for linear regression with
        multi-stage samples. Survey Methodology 28(2), 169-181.
"""

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.special import stdtr, stdtrit

from core.errors import InvalidInput
from core.statistics.crossed_model import Estimate, crossed_model
from core.statistics.wording import remarks

_SAME = "every image moves by the same amount"


@dataclass(frozen=True, slots=True)
class MixedEffect:
    """The effect of an edit with image and category as random intercepts."""

    effect: float  # β₁, mean shift of the score; NaN where it is unclear
    low: float  # lower bound of the 95 % interval by source, see :func:`mixed_effect`
    high: float  # upper bound
    p: float  # two-sided p; likewise
    image_sd: float  # standard deviation of the images' intercepts
    category_sd: float  # standard deviation of the categories' intercepts
    residual_sd: float  # standard deviation of what remains
    n: int  # rows behind the fit
    images: int  # number of images
    categories: int  # number of categories
    note: str = ""  # why there is no fit, or what is on the boundary; empty otherwise


def mixed_effect(
    scores: ArrayLike,
    perturbed: ArrayLike,
    images: ArrayLike,
    categories: ArrayLike,
    *,
    sources: ArrayLike | None = None,
) -> MixedEffect:
    """Fit score ~ 1 + perturbed + (1 | image) + (1 | category) by REML; see :func:`crossed_model`.

    Neither intercept is one of the shift, so that the model takes the shifts of two images of one source for
    independent, and its own error comes with a normal quantile, whose intervals of 10 images hold β₁ in 91 of 100. So
    β₁ is the model's, and its interval and p are those of a mean of the images' own shifts by source, with Student's
    quantile: see :func:`mean_by_source`. Returns the effect. No row, no contrast, or scores without any spread beyond
    the model: a note says so. With one category its intercept is left out, since it cannot be distinguished from the
    mean. Raises InvalidInput if shapes differ, perturbed is not 0 or 1, or a score is infinite.
    ``scores``: shape [n]; rows with a NaN are left out. ``perturbed``: 0 for the baseline, 1 for the edit, shape [n].
    ``images``: image of each row, shape [n]. ``categories``: category of each row, shape [n].
    ``sources``: source of each row's image, shape [n]; None: every image is one of its own."""
    rows = _checked(scores, perturbed, images, categories, images if sources is None else sources)
    # by a power of two, which rounds nothing, squares of huge or tiny scores stay numbers
    _, power = np.frexp(np.abs(rows.score).max() if len(rows.score) else 1.0)
    found = _fitted(rows._replace(score=np.ldexp(rows.score, -int(power))))
    names = ("effect", "low", "high", "image_sd", "category_sd", "residual_sd")
    scaled: dict[str, Any] = {name: float(np.ldexp(getattr(found, name), int(power))) for name in names}
    return replace(found, **scaled)


class _Rows(NamedTuple):
    """What a model is fitted to, a value a row: the score, 0 or 1, and the ranks of its image, category and source."""

    score: np.ndarray
    perturbed: np.ndarray
    image: np.ndarray
    category: np.ndarray
    source: np.ndarray


def _fitted(rows: _Rows) -> MixedEffect:
    n, of_image, of_category = len(rows.score), _count(rows.image), _count(rows.category)
    reason = _no_fit(rows)
    if reason == _SAME:
        before, after = (_means(rows.image, rows, kind, of_image) for kind in (0, 1))
        shift, spread = float(np.nanmean(after - before)), float(pd.Series(before).std())  # NaN of a single image
        return MixedEffect(shift, math.nan, math.nan, math.nan, spread, math.nan, 0.0, n, of_image, of_category, reason)
    if reason:
        none = math.nan
        return MixedEffect(none, none, none, none, none, none, none, n, of_image, of_category, reason)
    found = crossed_model(rows.score, np.column_stack([np.ones(n), rows.perturbed]), rows.image, rows.category)
    shifts, ranks = _shifts(rows)
    beta = mean_by_source(shifts, ranks, about=float(found.effects[1]))
    note = found.note
    if _count(rows.source) < of_image:
        note = remarks(note, f"interval and p by source ({int(ranks.max()) + 1})")
    return MixedEffect(
        beta.value, beta.low, beta.high, beta.p, *found.deviations, found.residual, n, of_image, of_category, note
    )


def _count(ranks: np.ndarray) -> int:
    return int(ranks.max(initial=-1)) + 1


def _shifts(rows: _Rows) -> tuple[np.ndarray, np.ndarray]:
    """Shift of each image that has both the baseline and the edit, by its source, and the rank of that source.

    Several rows of one kind count as their mean."""
    n = len(rows.score)
    cells, cell = np.unique(rows.source * n + rows.image, return_inverse=True)
    means = {kind: _means(cell, rows, kind, len(cells)) for kind in (0, 1)}
    shifts = means[1] - means[0]
    both = ~np.isnan(shifts)
    return shifts[both], np.unique(cells[both] // n, return_inverse=True)[1]


def _means(ranks: np.ndarray, rows: _Rows, kind: int, count: int) -> np.ndarray:
    """Mean score of each group's baselines, or edits, float64 [count]; NaN where it has none."""
    own = rows.perturbed == kind
    counts = np.bincount(ranks[own], minlength=count)
    totals = np.bincount(ranks[own], rows.score[own], count)
    found = np.full(count, math.nan)
    return np.asarray(np.divide(totals, counts, out=found, where=counts > 0))


def mean_by_source(values: np.ndarray, ranks: np.ndarray, *, about: float, level: float = 0.95) -> Estimate:
    """A mean of values with Student's interval and p from the spread between sources [1].

    Residuals are summed over each source; a sum's square is corrected for the mean's being estimated, and the degrees
    of freedom are those that Satterthwaite gives it (CR2). Where each value is its own source it is Student's t.
    Returns NaN bounds and p for one source, or without any spread.
    ``values``: float64 [n]. ``ranks``: rank of each value's source, int [n], every rank from 0 to m - 1 there.
    ``about``: the estimate that the interval lies about."""
    n, sizes = len(values), np.bincount(ranks).astype(np.float64)
    sums = np.bincount(ranks, values - values.mean())
    room = 1 - sizes / n
    if len(sizes) < 2:
        return Estimate(about, math.nan, math.nan, math.nan)
    error = math.sqrt(float((sums**2 / room).sum())) / n
    if not error > 0:
        return Estimate(about, math.nan, math.nan, math.nan)
    # tr(S)² / tr(S²) of the covariance S of the corrected sums, written out: S has a row and a column a source
    apart = sizes**2 / room
    freedom = float(n**2 / ((sizes**2).sum() + (apart.sum() ** 2 - (apart**2).sum()) / n**2))
    half = float(stdtrit(freedom, (1 + level) / 2)) * error
    return Estimate(about, about - half, about + half, float(2 * stdtr(freedom, -abs(about / error))))


def _checked(*given: ArrayLike) -> _Rows:
    columns = [np.asarray(column).ravel() for column in given]
    if len({len(column) for column in columns}) != 1:
        raise InvalidInput(f"the columns come in equal numbers, got {[len(column) for column in columns]}")
    known = ~np.logical_or.reduce([pd.isna(column) for column in columns])
    score, perturbed = (column[known].astype(np.float64) for column in columns[:2])
    if np.isinf(score).any():
        raise InvalidInput("scores must be finite or NaN, got an infinite one; drop it and count it")
    if not np.isin(perturbed, (0, 1)).all():
        raise InvalidInput("perturbed must be 0 for the baseline and 1 for the edit")
    return _Rows(score, perturbed, *(pd.factorize(column[known], sort=True)[0] for column in columns[2:]))


def _no_fit(rows: _Rows) -> str:
    if len(np.unique(rows.perturbed)) < 2:
        return "no row of the baseline or none of the edit"
    counts = np.bincount(rows.image)
    if len(counts) < 2:
        return "fewer than two images"
    if counts.max() < 2:
        return "no image has two rows"
    score, perturbed = (each - (np.bincount(rows.image, each) / counts)[rows.image] for each in rows[:2])
    if not perturbed.any():
        return "no image has a row of the baseline and one of the edit"
    left = np.abs(score - perturbed * (score @ perturbed) / (perturbed @ perturbed)).max()
    return _SAME if left <= 1e-12 * max(float(np.abs(rows.score).max()), 1e-300) else ""
