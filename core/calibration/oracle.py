"""Oracle weights: those that look best on the held-out split itself, an upper bound and never a result."""

from collections.abc import Mapping, Sequence

import numpy as np

from core.calibration.orbits import Orbits
from core.calibration.readings import EACH, SENSITIVITY, UNIFORM, Terms, learn, weighed
from core.calibration.sweep import Sweep, Sweeps, ceilings_of, choose


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
    learnt = learn(dev, reading=reading)
    sweeps = Sweeps(test, learnt, others, ceilings=ceilings_of(test))
    return best_of(oracle_candidates(dev, learnt, sweeps), epsilon=epsilon)


def oracle_candidates(dev: Orbits, terms: Terms, sweeps: Sweeps) -> list[tuple[Terms, Sweep]]:
    """Every weighting that the oracle chooses among, swept on the test split.

    Args:
        dev: where the terms were learnt.
        terms: with any weights.
        sweeps: of the test split.
    """
    single = [{name: float(name == one) for name in dev.families} for one in dev.families]
    weights: list[str | Mapping[str, float]] = [UNIFORM, SENSITIVITY, EACH, *single]
    candidates = [weighed(terms, dev, each) for each in weights]
    return [(each, sweeps.sweep(each)) for each in candidates]


def best_of(candidates: Sequence[tuple[Terms, Sweep]], *, epsilon: float) -> Terms:
    """The terms that lower the total most under the constraint."""

    def reached(candidate: tuple[Terms, Sweep]) -> float:
        swept = candidate[1]
        return float(swept.total[swept.lambdas.index(choose(swept, epsilon=epsilon).strength)])

    return min(candidates, key=reached)[0]
