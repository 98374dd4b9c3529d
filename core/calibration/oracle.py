"""Oracle weights: those that look best on the held-out split itself, an upper bound and never a result."""

from collections.abc import Mapping, Sequence

import numpy as np

from core.calibration.orbits import Orbits
from core.calibration.readings import EACH, SENSITIVITY, UNIFORM, Terms, learn
from core.calibration.sweep import Sweep, ceilings_of, choose, sweep


def oracle_terms(
    dev: Orbits, test: Orbits, others: Mapping[str, np.ndarray], *, reading: str, epsilon: float = 0.01
) -> Terms:
    """The weights that look best on the test split itself: an upper bound, never a result.

    Candidates: uniform, sensitivity-proportional, 1 for each family, and all weight on one family.

    Args:
        dev: where everything but the weights is learnt.
        test: where the weights are chosen.
        others: H over the test items.
        reading: one of READINGS.
        epsilon: of the constraint, on the test split.
    """
    return best_of(oracle_candidates(dev, test, others, reading=reading), epsilon=epsilon)


def oracle_candidates(
    dev: Orbits,
    test: Orbits,
    others: Mapping[str, np.ndarray],
    *,
    reading: str,
    ceilings: Mapping[str, float] | None = None,
) -> list[tuple[Terms, Sweep]]:
    """Every weighting that the oracle chooses among, swept on the test split."""
    single = [{name: float(name == one) for name in dev.families} for one in dev.families]
    weights: list[str | Mapping[str, float]] = [UNIFORM, SENSITIVITY, EACH, *single]
    candidates = [learn(dev, reading=reading, weights=each) for each in weights]
    known = ceilings_of(test) if ceilings is None else ceilings
    return [(terms, sweep(test, terms, others, ceilings=known)) for terms in candidates]


def best_of(candidates: Sequence[tuple[Terms, Sweep]], *, epsilon: float) -> Terms:
    """The terms that lower the total most under the constraint."""

    def reached(candidate: tuple[Terms, Sweep]) -> float:
        swept = candidate[1]
        return float(swept.total[swept.lambdas.index(choose(swept, epsilon=epsilon).strength)])

    return min(candidates, key=reached)[0]
