"""Prediction-powered means: few labels and a prediction of every unit, joined without believing the prediction.

The mean of the predictions of all units is corrected by how far predictions and labels differ where both are there [1].
The predictions enter with a weight λ that makes the interval as short as the labels allow [2]: 0 where they say nothing
of the labels, and then the estimate is that of the labels alone. Whatever the predictions are, the estimate aims at the
mean label of all units; what it rests on is that the labelled units were drawn at random from the same units.

References:
    [1] Angelopoulos, Bates, Fannjiang, Jordan and Zrnic (2023), Prediction-powered inference, Science 382, 669-674.
    [2] Angelopoulos, Duchi and Zrnic (2023), PPI++: efficient prediction-powered inference, arXiv:2311.01453, 6.
    [3] Fisch et al. (2024), Stratified prediction-powered inference, arXiv:2406.04291: the same by strata.
    [4] Cochran (1977), Sampling Techniques, 3rd ed., 5.3 and 11.10: strata, unequal probabilities.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from core.errors import InvalidInput
from core.features.human.crossed_votes import Parts
from core.statistics.bootstrap import Interval, too_few
from core.statistics.shares import agresti_coull

FEWEST_LABELS = 2  # labelled units of a stratum, below which nothing is known of its spread
_ALIKE = 1e-12  # difference of numbers about 1 that is of rounding: weights of 49 equal labels add up to 1 less 1e-16


@dataclass(frozen=True, slots=True)
class Stratum:
    """Units of one stratum, from which some were drawn and labelled."""

    share: float  # its part of all units, in (0, 1]; those of all strata add up to 1
    labels: np.ndarray  # of the labelled units, float64 [n]
    predicted: np.ndarray  # predictions of the same units, [n]
    others: np.ndarray  # predictions of the units without a label, [N]; may be empty
    # of the labelled units, in proportion to the inverse of their probability of being labelled, [n]; None: all alike
    weights: np.ndarray | None = None
    # of the others, in proportion to the inverse of their probability of staying unlabelled, [N]
    other_weights: np.ndarray | None = None


@dataclass(frozen=True, slots=True)
class Powered:
    """An estimate of the mean label of all units."""

    estimate: float  # the mean
    error: float  # its standard error
    tuning: float  # λ, the weight of the predictions in [0, 1]; 0: labels alone
    n: int  # labelled units
    freedom: int  # degrees of freedom of the error: labelled units less strata
    # the mean with half a label of either kind more in each stratum whose labels are all alike: it stands for an
    # estimate of exactly 0 or 1 where a spread is asked for
    guarded: float

    def interval(self, *, level: float = 0.95, parts: Parts | None = None, live: bool = False) -> Interval:
        """Agresti and Coull's interval of as many independent labels as have this error, for labels in [0, 1].

        Where the labels are votes, ``parts`` are those of the variance with people as a sample too; ``live``: votes
        still come in, so that it has to hold at every look.

        Wilson's, which other shares have, holds a truth of 99 % in 90 of 100 samples of 10 labels; this one in 99.
        No interval for fewer than LEAST_N labelled units.
        """
        held = min(max(self.estimate, 0.0), 1.0)
        if said := too_few(self.n, self.n):
            return Interval(held, math.nan, math.nan, self.n, level, said)
        whole, reach = self.error**2, float(stdtrit(self.freedom, (1 + level) / 2))
        if parts is not None:
            whole, reach = parts.error(live=live, level=level)
        low, high = agresti_coull(held, self._size(held, whole), reach=reach)
        return Interval(held, low, high, self.n, level)

    def _size(self, held: float, variance: float) -> float:
        """Independent labels with this mean and this variance of it."""
        middle = held if held * (1 - held) > _ALIKE else self.guarded
        spread = middle * (1 - middle)
        return spread / variance if variance > 0 and spread > 0 else float(self.n)


def powered_mean(
    strata: Sequence[Stratum], *, tuning: float | None = None, more: float = 1.0, finite: bool = False
) -> Powered:
    """Estimate the mean label of all units. Raises InvalidInput if a stratum has too few labels, lengths differ, or a
    number is out of range.

    Args:
        strata: at least one; every one with FEWEST_LABELS labels or more.
        tuning: λ in [0, 1]; None: the one with the smallest error [2, Example 6.1], the same in all strata. Where a
            stratum has fewer than two units without a label it is 0.
        more: how many times as many labelled units the error is of, at 1 or above, drawn from the units without a
            label in every stratum alike: what is expected of a larger sample, by what this one shows of the spread.
        finite: whether the mean is of these units alone, those with labels among them, so that the spread of labels
            counts by the share of units without one [4, 2.6]; else of what they were drawn from. Labels of a stratum
            that are all alike keep the wider error.

    Example:
        >>> labels, guesses = np.array([0.0, 1.0, 1.0, 0.0]), np.array([0.1, 0.9, 0.8, 0.2])
        >>> round(powered_mean([Stratum(1.0, labels, guesses, np.array([0.4, 0.6, 0.5]))]).tuning, 2)
        1.0
    """
    _check(strata, tuning, more)
    spreads = [_spread(each, more, finite) for each in strata]
    if tuning is None:  # that of the smallest variance, which is a parabola of it
        both = sum(each.of_both for each in spreads)
        alone = sum(each.of_predicted + each.of_other for each in spreads)
        tuning = min(max(both / alone, 0.0), 1.0) if alone > 0 and math.isfinite(alone) else 0.0
    given = float(tuning)
    middle = sum(
        each.share * (spread.label + given * (spread.other - spread.predicted))
        for each, spread in zip(strata, spreads, strict=True)
    )
    variance = sum(spread.variance(given) for spread in spreads)
    guarded = sum(each.share * spread.guarded for each, spread in zip(strata, spreads, strict=True))
    n = sum(len(each.labels) for each in strata)
    grown = round(n * more)
    return Powered(float(middle), math.sqrt(max(variance, 0.0)), given, grown, grown - len(strata), guarded)


@dataclass(frozen=True, slots=True)
class _Spread:
    """What a stratum adds: weighted means, and variances of these means times the square of its share.

    Labels that are all alike say that their spread is small, not that it is 0: its variance is that of Jeffreys' mean
    of as many labels, with half a label of either kind more (``guarded``).
    """

    label: float
    guarded: float
    predicted: float
    other: float
    of_label: float
    of_both: float
    of_predicted: float
    of_other: float

    def variance(self, tuning: float) -> float:
        if tuning == 0:
            return self.of_label  # that of the others may be unknown
        return self.of_label - 2 * tuning * self.of_both + tuning**2 * (self.of_predicted + self.of_other)


def _spread(stratum: Stratum, more: float, finite: bool) -> _Spread:
    weights = _normal(stratum.weights, len(stratum.labels))
    others = _normal(stratum.other_weights, len(stratum.others))
    label, predicted = float(weights @ stratum.labels), float(weights @ stratum.predicted)
    other = float(others @ stratum.others) if len(others) else predicted
    n, rest = len(weights), len(others)
    left = rest - (more - 1) * n
    scale = stratum.share**2 * n / (n - 1) / more
    square = weights**2
    off, guess, apart = (
        _off(values, middle)
        for values, middle in ((stratum.labels, label), (stratum.predicted, predicted), (stratum.others, other))
    )
    unlabelled = max(1 - n * more / (n + rest), 0.0) if finite else 1.0
    of_label, guarded = unlabelled * scale * float(square @ off**2), label
    if not off.any():
        label = float(stratum.labels[0])  # the weighted mean but for rounding
        alike = 1 / float(square.sum())  # labels of one weight with this error of a mean
        guarded = (alike * label + 0.5) / (alike + 1)
        of_label = stratum.share**2 * guarded * (1 - guarded) / alike / more
    shrink = stratum.share**2 * rest / (rest - 1) * rest / left if rest > 1 and left > 1 else math.inf
    of_both, of_predicted = scale * float(square @ (off * guess)), scale * float(square @ guess**2)
    of_other = shrink * float(others**2 @ apart**2) if math.isfinite(shrink) else math.inf
    return _Spread(label, guarded, predicted, other, of_label, of_both, of_predicted, of_other)


def _off(values: np.ndarray, middle: float) -> np.ndarray:
    """How far values lie from their mean; exactly 0 where all are alike but for rounding."""
    found = values - middle
    return np.asarray(np.where(np.abs(found) > _ALIKE * max(abs(middle), 1.0), found, 0.0))


def _normal(weights: np.ndarray | None, n: int) -> np.ndarray:
    given = np.ones(n) if weights is None else np.asarray(weights, dtype=np.float64)
    return given / given.sum() if n else given


def _check(strata: Sequence[Stratum], tuning: float | None, more: float) -> None:
    if not strata or not math.isclose(sum(each.share for each in strata), 1.0, abs_tol=1e-9):
        raise InvalidInput(f"the shares of the strata add up to 1, got {sum(each.share for each in strata):g}")
    for each in strata:
        sizes = (len(each.labels), len(each.predicted), len(each.others))
        if sizes[0] < FEWEST_LABELS or sizes[0] != sizes[1]:
            raise InvalidInput(
                f"a stratum has {FEWEST_LABELS} labels or more, each with its prediction; got {sizes[0]} and {sizes[1]}"
            )
        for weights, size in ((each.weights, sizes[0]), (each.other_weights, sizes[2])):
            if weights is not None and (len(weights) != size or (size and not np.all(np.asarray(weights) > 0))):
                raise InvalidInput("every unit of a stratum has one weight, above 0")
    if tuning is not None and not 0 <= tuning <= 1:
        raise InvalidInput(f"the tuning of the predictions lies in [0, 1], got {tuning}")
    if not more >= 1:
        raise InvalidInput(f"a larger sample is 1 or more times this one, got {more}")
