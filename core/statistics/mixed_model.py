"""Mixed effects of one edit: score ~ perturbed, crossed random intercepts for image and category, by REML."""

import math
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from core.errors import InvalidInput
from core.statistics.crossed_model import crossed_model


@dataclass(frozen=True, slots=True)
class MixedEffect:
    """The effect of an edit with image and category as random intercepts.

    Args:
        effect: β₁, mean shift of the score; NaN where it cannot be told.
        low: lower bound of the 95 % Wald interval.
        high: upper bound.
        p: two-sided Wald p.
        image_sd: standard deviation of the images' intercepts.
        category_sd: standard deviation of the categories' intercepts.
        residual_sd: standard deviation of what remains.
        n: rows behind the fit.
        images: number of images.
        categories: number of categories.
        note: why there is no fit, or what is on the boundary; empty otherwise.
    """

    effect: float
    low: float
    high: float
    p: float
    image_sd: float
    category_sd: float
    residual_sd: float
    n: int
    images: int
    categories: int
    note: str = ""


def mixed_effect(
    scores: ArrayLike, perturbed: ArrayLike, images: ArrayLike, categories: ArrayLike, *, level: float = 0.95
) -> MixedEffect:
    """Fit score ~ 1 + perturbed + (1 | image) + (1 | category) by REML; see :func:`crossed_model`.

    Args:
        scores: shape [n]; rows with a NaN are left out.
        perturbed: 0 for the baseline, 1 for the edit, shape [n].
        images: image of each row, shape [n].
        categories: category of each row, shape [n].
        level: confidence level of the interval.

    Returns:
        The effect. No row, no contrast, or scores without any spread beyond the model: a note says so. With one
        category its intercept is left out, since it cannot be told from the mean.

    Raises:
        InvalidInput: if shapes differ, perturbed is not 0 or 1, or a score is infinite.
    """
    frame = _checked(scores, perturbed, images, categories)
    # by a power of two, which rounds nothing, squares of huge or tiny scores stay numbers
    _, power = np.frexp(frame["score"].abs().max() if len(frame) else 1.0)
    found = _fitted(frame.assign(score=np.ldexp(frame["score"], -int(power))), level)
    return replace(
        found, effect=_times(found.effect, power), low=_times(found.low, power), high=_times(found.high, power),
        image_sd=_times(found.image_sd, power), category_sd=_times(found.category_sd, power),
        residual_sd=_times(found.residual_sd, power),
    )  # fmt: skip


def _times(value: float, power: int) -> float:
    return float(np.ldexp(value, int(power)))


def _fitted(frame: pd.DataFrame, level: float) -> MixedEffect:
    rows, of_image, of_category = len(frame), frame["image"].nunique(), frame["category"].nunique()
    reason = _no_fit(frame)
    if reason == _SAME:
        shift, spread = _certain(frame)
        return MixedEffect(shift, shift, shift, math.nan, spread, math.nan, 0.0, rows, of_image, of_category, reason)
    if reason:
        none = math.nan
        return MixedEffect(none, none, none, none, none, none, none, rows, of_image, of_category, reason)
    design = np.column_stack([np.ones(rows), frame["perturbed"]])
    found = crossed_model(frame["score"], design, *(pd.factorize(frame[name])[0] for name in ("image", "category")))
    beta = found.estimate([0.0, 1.0], level=level)
    return MixedEffect(beta.value, beta.low, beta.high, beta.p, *found.deviations, found.residual, rows, of_image,
                       of_category, found.note)  # fmt: skip


_SAME = "every image moves by the same amount"


def _checked(scores: ArrayLike, perturbed: ArrayLike, images: ArrayLike, categories: ArrayLike) -> pd.DataFrame:
    columns = [np.asarray(column).ravel() for column in (scores, perturbed, images, categories)]
    if len({len(column) for column in columns}) != 1:
        raise InvalidInput(f"the four columns come in equal numbers, got {[len(column) for column in columns]}")
    frame = pd.DataFrame(dict(zip(("score", "perturbed", "image", "category"), columns, strict=True)))
    frame[["score", "perturbed"]] = frame[["score", "perturbed"]].astype(np.float64)
    frame = frame.dropna().reset_index(drop=True)
    if np.isinf(frame["score"]).any():
        raise InvalidInput("scores must be finite or NaN, got an infinite one; drop it and count it")
    if not frame["perturbed"].isin([0, 1]).all():
        raise InvalidInput("perturbed must be 0 for the baseline and 1 for the edit")
    return frame


def _no_fit(frame: pd.DataFrame) -> str:
    if frame["perturbed"].nunique() < 2:
        return "no row of the baseline or none of the edit"
    if frame["image"].nunique() < 2:
        return "fewer than two images"
    if frame["image"].value_counts().max() < 2:
        return "no image has two rows"
    within = frame[["score", "perturbed"]] - frame.groupby("image")[["score", "perturbed"]].transform("mean")
    score, perturbed = within["score"].to_numpy(np.float64), within["perturbed"].to_numpy(np.float64)
    if not perturbed.any():
        return "no image has a row of the baseline and one of the edit"
    left = np.abs(score - perturbed * (score @ perturbed) / (perturbed @ perturbed)).max()
    return _SAME if left <= 1e-12 * max(float(frame["score"].abs().max()), 1e-300) else ""


def _certain(frame: pd.DataFrame) -> tuple[float, float]:
    """The common shift, and the spread of the images' means, where nothing remains."""
    means = frame.pivot_table(index="image", columns="perturbed", values="score")
    return float((means[1.0] - means[0.0]).mean()), float(means[0.0].std())
