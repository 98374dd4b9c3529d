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
    learn,
    weighed,
)
from core.calibration.sides import Side, side_of
from core.calibration.sweep import EPSILONS, Sweeps, ceilings_of, choose, raised

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
        terms = learn(dev, reading=reading)
        dev_sweeps = Sweeps(dev, terms, dev_others, ceilings=on_dev)
        test_sweeps = Sweeps(test, terms, test_others, ceilings=on_test)
        for weights in WEIGHTS if reading in WEIGHTED else (UNIFORM,):
            oracle = oracle_candidates(dev, terms, test_sweeps) if weights == ORACLE else []
            learnt = None if oracle else weighed(terms, dev, weights)
            outcomes = dict[tuple[int, float], dict[str, object]]()  # one choice may be that of several ε
            for epsilon in EPSILONS:
                own = best_of(oracle, epsilon=epsilon) if learnt is None else learnt
                chosen = choose(dev_sweeps.sweep(own), epsilon=epsilon)
                named = {"reading": reading, "weights": weights if reading in WEIGHTED else "", "epsilon": epsilon}
                basis = CONSTRUCTED if reading in BY_CONSTRUCTION else MEASURED
                choice = (id(own), chosen.strength)
                if choice not in outcomes:
                    outcomes[choice] = _outcome(test, own, test_sweeps, chosen.strength, before)
                told = {"strength": chosen.strength, "whence": CHOSEN if basis == MEASURED else FIXED}
                records.append({**named, **told, "basis": SAW_IT if oracle else basis, **outcomes[choice]})
    return pd.DataFrame(records)


def _outcome(test: Orbits, terms: Terms, sweeps: Sweeps, strength: float, before: Side) -> dict[str, object]:
    swept = sweeps.sweep(terms, lambdas=(0.0, strength))
    losses = [values[1] - values[0] for values in swept.spearman.values() if not np.isnan(values[0])]
    told = overall(test, sweeps.corrections(terms), strength, before=before)
    return {
        **told, "loss": float(min(losses)) if losses else np.nan, "raised": ", ".join(raised(swept, strength)),
    }  # fmt: skip
