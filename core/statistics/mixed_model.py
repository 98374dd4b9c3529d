"""Mixed effects: score ~ perturbed, crossed random intercepts for image and category, by REML, exact at any n.

statsmodels handles crossed intercepts with dense matrices: minutes at a few thousand rows. Every image has few
rows and there are few categories, so the mixed-model equations are solved here by eliminating the images (a
diagonal block) and then the categories (a small dense one). Images of as many rows are summed once, so that an
evaluation takes O(categories³), whatever the number of images.

References:
    [1] Bates, D. et al. (2015). Fitting linear mixed-effects models using lme4. JSS 67(1), section 3.4.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import linalg, optimize, sparse
from scipy.special import ndtr, ndtri

from core.errors import InvalidInput


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
    """Fit score ~ 1 + perturbed + (1 | image) + (1 | category) by REML.

    1. Scale both intercepts' deviations by the residual one, θ = (image, category).
    2. For a θ, eliminate images and categories and profile out β and σ² [1].
    3. Minimise the profiled REML criterion over θ ≥ 0.

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
    notes = ["one category: no intercept for it"] if of_category == 1 else []
    reason = _no_fit(frame)
    if reason == _SAME:
        shift, spread = _certain(frame)
        return MixedEffect(shift, shift, shift, math.nan, spread, math.nan, 0.0, rows, of_image, of_category, reason)
    if reason:
        none = math.nan
        return MixedEffect(none, none, none, none, none, none, none, rows, of_image, of_category, reason)
    problem = _Problem(frame)
    theta = problem.minimise()
    beta, covariance, sigma = problem.solve(theta)
    error = math.sqrt(covariance[1, 1])
    half = -ndtri((1 - level) / 2) * error
    notes += [f"no spread between {name}" for name, size in zip(_INTERCEPTS, theta, strict=False) if size < 1e-4]
    return MixedEffect(
        effect=float(beta[1]),
        low=float(beta[1] - half),
        high=float(beta[1] + half),
        p=float(2 * ndtr(-abs(beta[1] / error))),
        image_sd=float(theta[0] * sigma),
        category_sd=float(theta[1] * sigma) if len(theta) == 2 else math.nan,
        residual_sd=float(sigma),
        n=rows,
        images=of_image,
        categories=of_category,
        note="; ".join(notes),
    )


_INTERCEPTS = ("images", "categories")
_SAME = "every image moves by the same amount"


class _Problem:
    """Cross products of one fit; Z₁ images, Z₂ categories, X = (1, perturbed), y."""

    def __init__(self, frame: pd.DataFrame) -> None:
        image, category = (pd.factorize(frame[name])[0] for name in ("image", "category"))
        n = len(frame)
        self.centre, self.scale = frame["score"].mean(), frame["score"].std(ddof=0)
        y = (frame["score"].to_numpy() - self.centre) / self.scale
        x = np.column_stack([np.ones(n), frame["perturbed"].to_numpy(), y])
        self.levels = category.max() + 1 if category.max() > 0 else 0
        dummies = np.eye(self.levels)[category] if self.levels else np.empty((n, 0))
        dense = np.hstack([dummies, x])
        one = sparse.csr_array((np.ones(n), (image, np.arange(n))))
        self.n = n
        counts, by_image = np.bincount(image), one @ dense  # [images], [images, levels + 3]
        self.products = dense.T @ dense
        # images of as many rows weigh the same whatever θ is, so their products are summed once
        self.counts, self.images = np.unique(counts, return_counts=True)
        self.by_count = np.array([by_image[counts == count].T @ by_image[counts == count] for count in self.counts])

    def reduce(self, theta: np.ndarray) -> tuple[np.ndarray, float]:
        """Cross products of (X, y) with both intercepts eliminated, and the log determinant of what went."""
        weight = theta[0] ** 2 / (theta[0] ** 2 * self.counts + 1)
        left = self.products - np.einsum("c,cij->ij", weight, self.by_count)
        log_det = float(self.images @ np.log1p(theta[0] ** 2 * self.counts))
        k = self.levels
        if not k:
            return left, log_det
        block = theta[1] ** 2 * left[:k, :k] + np.eye(k)
        factor = linalg.cho_factor(block, lower=True, check_finite=False)
        solved = linalg.cho_solve(factor, left[:k, k:], check_finite=False)
        inner = left[k:, k:] - theta[1] ** 2 * left[k:, :k] @ solved
        return inner, log_det + 2 * float(np.log(np.diag(factor[0])).sum())

    def criterion(self, theta: np.ndarray) -> float:
        """Profiled REML deviance up to a constant."""
        inner, log_det = self.reduce(theta)
        residual = inner[2, 2] - inner[2, :2] @ np.linalg.solve(inner[:2, :2], inner[:2, 2])
        return float(log_det + np.linalg.slogdet(inner[:2, :2])[1] + (self.n - 2) * math.log(max(residual, 1e-300)))

    def minimise(self) -> np.ndarray:
        size = 2 if self.levels else 1
        found = [
            optimize.minimize(
                self.criterion,
                np.full(size, start),
                method="Nelder-Mead",
                bounds=[(0.0, 1e6)] * size,
                options={"xatol": 1e-7, "fatol": 1e-9, "maxiter": 2000},
            )
            for start in (0.3, 5.0)
        ]
        return np.asarray(min(found, key=lambda each: each.fun).x)

    def solve(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """β, its covariance and σ, in the scores' own units."""
        inner, _ = self.reduce(theta)
        inverse = np.linalg.inv(inner[:2, :2])
        beta = inverse @ inner[:2, 2]
        variance = (inner[2, 2] - inner[2, :2] @ beta) / (self.n - 2)
        return beta * self.scale, inverse * variance * self.scale**2, math.sqrt(variance) * self.scale


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
