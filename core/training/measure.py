"""What training gains: how far broken captions fall, and whether whole ones keep their order."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.probes.words.lexical_edits import EDITS
from core.seeds import stream
from core.training.triplets import Example, edited

RESAMPLES = 2000
HELD_OUT = "held-out"
"""In the place of an epoch: the same perturbed captions at every measurement."""

Scorer = Callable[[Sequence[str], Sequence[str]], np.ndarray]
"""Maps n image ids and n captions to cosines, float64 [n]."""


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Scores of held-out images.

    Args:
        drop: by edit, 100 · (1 − mean score perturbed / mean score original), over the captions that the edit changes.
        mean_drop: mean of ``drop`` over the edits, in percent.
        low, high: its 95 % interval, percentile bootstrap over images.
        detected: by edit, share of captions whose score falls.
        clean: scores of the unperturbed captions, float64 [n].
        images, captions: how many.
    """

    drop: Mapping[str, float]
    mean_drop: float
    low: float
    high: float
    detected: Mapping[str, float]
    clean: np.ndarray
    images: int
    captions: int

    def as_dict(self) -> dict[str, Any]:
        """For a file, without the scores."""
        return {
            "mean_drop": self.mean_drop,
            "low": self.low,
            "high": self.high,
            "images": self.images,
            "captions": self.captions,
            "drop": dict(self.drop),
            "detected": dict(self.detected),
        }


def measure(held_out: Sequence[Example], score: Scorer, *, seed: int) -> HeldOut:
    """Score held-out captions, whole and under each edit; a score is max(cos, 0).

    Args:
        seed: of the perturbed captions and of the interval.
    """
    images = list(dict.fromkeys(each.image for each in held_out))
    place = {image: index for index, image in enumerate(images)}
    whole = np.maximum(score([each.image for each in held_out], [each.caption for each in held_out]), 0)
    sums: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    detected: dict[str, float] = {}
    for name in EDITS:
        texts = [edited(each, name, seed=seed, epoch=HELD_OUT) for each in held_out]
        kept = [index for index, text in enumerate(texts) if text is not None]
        if not kept:
            continue
        rows = [place[held_out[index].image] for index in kept]
        broken = np.maximum(score([held_out[index].image for index in kept], [str(texts[index]) for index in kept]), 0)
        sums[name] = (
            np.bincount(rows, weights=whole[kept], minlength=len(images)),
            np.bincount(rows, weights=broken, minlength=len(images)),
        )
        detected[name] = float((broken < whole[kept]).mean())
    ones = np.ones((1, len(images)))
    drop = {name: float(_drop({name: pair}, ones)[0]) for name, pair in sums.items()}
    counts = stream(seed, "interval").multinomial(len(images), ones[0] / len(images), size=RESAMPLES)
    low, high = np.nanpercentile(_drop(sums, counts), [2.5, 97.5])
    return HeldOut(
        drop, float(_drop(sums, ones)[0]), float(low), float(high), detected, whole, len(images), len(held_out)
    )


def rank_correlation(first: np.ndarray, second: np.ndarray) -> float:
    """Spearman's ρ; NaN where one side is constant."""
    from scipy.stats import rankdata

    ranks = rankdata(first), rankdata(second)
    if min(np.ptp(each) for each in ranks) == 0:
        return float("nan")
    return float(np.corrcoef(*ranks)[0, 1])


def _drop(sums: Mapping[str, tuple[np.ndarray, np.ndarray]], counts: np.ndarray) -> np.ndarray:
    """Mean drop over the edits in percent, for each row of how often every image counts."""
    with np.errstate(divide="ignore", invalid="ignore"):
        every = [1 - (counts @ broken) / (counts @ whole) for whole, broken in sums.values()]
    mean: np.ndarray = 100 * np.mean(every, axis=0)
    return mean
