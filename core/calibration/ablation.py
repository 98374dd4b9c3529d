"""Every reading with every weighting at every ε: what each choice does to the held-out items. Source: paper A, A.7."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from core.analysis.table import View
from core.calibration.effect import overall
from core.calibration.fit import ORACLE, WEIGHTS, halves
from core.calibration.oracle import best_of, oracle_candidates
from core.calibration.orbits import Orbits
from core.calibration.readings import (
    BY_CONSTRUCTION,
    CHOSEN,
    CONSTRUCTED,
    FIXED,
    MEASURED,
    READINGS,
    UNIFORM,
    WEIGHTED,
    Terms,
    corrections,
    learn,
)
from core.calibration.sides import Side, side_of
from core.calibration.sweep import EPSILONS, ceilings_of, choose, raised, sweep

SAW_IT = "chosen on the held-out split: an upper bound"
"""What the numbers of oracle weights rest on."""


def ablation(
    view: View,
    *,
    evaluator: str,
    against: Sequence[str] | None = None,
    ratings: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Every reading with every kind of weights at every ε, on the held-out split.

    Args:
        view, evaluator, against, ratings: as :func:`core.calibration.fit.fit` takes them.

    Returns:
        One row (reading, weights, epsilon): strength (λ), whence (what chose it, if anything), basis (by construction,
        measured on stored scores, or chosen on the held-out split), before, after and ratio with their intervals (mean
        over families of the sensitivity over the spread of the same side's clean scores), loss (most negative change of
        a held-out ρ; NaN without an H), raised (families moved beyond their uncalibrated interval), n (held-out items).
    """
    dev, test, dev_others, test_others = halves(view, evaluator=evaluator, against=against, ratings=ratings)
    records = []
    on_dev, on_test, before = ceilings_of(dev), ceilings_of(test), side_of(test)
    for reading in READINGS:
        for weights in WEIGHTS if reading in WEIGHTED else (UNIFORM,):
            oracle = (
                oracle_candidates(dev, test, test_others, reading=reading, ceilings=on_test)
                if weights == ORACLE
                else []
            )
            learnt = None if oracle else learn(dev, reading=reading, weights=weights)
            swept = None if learnt is None else sweep(dev, learnt, dev_others, ceilings=on_dev)
            outcomes = dict[tuple[int, float], dict[str, object]]()  # one choice may be that of several ε
            for epsilon in EPSILONS:
                terms = best_of(oracle, epsilon=epsilon) if learnt is None else learnt
                own = sweep(dev, terms, dev_others, ceilings=on_dev) if swept is None else swept
                chosen = choose(own, epsilon=epsilon)
                named = {"reading": reading, "weights": weights if reading in WEIGHTED else "", "epsilon": epsilon}
                basis = CONSTRUCTED if reading in BY_CONSTRUCTION else MEASURED
                choice = (id(terms), chosen.strength)
                if choice not in outcomes:
                    outcomes[choice] = _outcome(test, terms, test_others, chosen.strength, on_test, before)
                told = {"strength": chosen.strength, "whence": CHOSEN if basis == MEASURED else FIXED}
                records.append({**named, **told, "basis": SAW_IT if oracle else basis, **outcomes[choice]})
    return pd.DataFrame(records)


def _outcome(
    test: Orbits,
    terms: Terms,
    others: dict[str, np.ndarray],
    strength: float,
    ceilings: dict[str, float],
    before: Side,
) -> dict[str, object]:
    swept = sweep(test, terms, others, lambdas=(0.0, strength), ceilings=ceilings)
    losses = [values[1] - values[0] for values in swept.spearman.values() if not np.isnan(values[0])]
    told = overall(test, corrections(test, terms), strength, before=before)
    return {
        **told, "loss": float(min(losses)) if losses else np.nan, "raised": ", ".join(raised(swept, strength)),
    }  # fmt: skip
