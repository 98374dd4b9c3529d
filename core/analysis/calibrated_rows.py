"""A calibration over stored scores: the rows of a run under one more evaluator."""

import numpy as np
import pandas as pd

from core.analysis.calibration_sweep import calibrated
from core.analysis.calibrator import terms_of
from core.analysis.orbits import Orbits, orbits
from core.errors import InvalidInput
from core.evaluators.calibrated import calibrated_name
from core.evaluators.calibrator import Calibrator


def calibrated_shifts(shifts: pd.DataFrame, model: Calibrator, *, name: str | None = None) -> pd.DataFrame:
    """Rows of one evaluator after calibration, in the shape of the store's ``shifts``.

    Args:
        shifts: rows of the store's ``shifts`` view, expectation ``invariant``, no controls, one subject; other
            evaluators' rows are left out.
        model: learnt for one of the evaluators in the rows.
        name: what the calibrated evaluator is called; by default as :mod:`core.evaluators.calibrated` names it.

    Returns:
        The evaluator's rows of the calibrated families and probes: score, baseline_score, delta and percent are
        the calibrated ones, ``evaluator`` the new name, every other column as it was.

    Raises:
        InvalidInput: if no row is of the evaluator, or none of a calibrated probe.
    """
    own = shifts[shifts["evaluator"] == model.evaluator]
    if own.empty:
        known = ", ".join(sorted(map(str, shifts["evaluator"].unique()))) or "none"
        raise InvalidInput(f"the calibrator is for {model.evaluator!r}; evaluators here: {known}")
    calibrated_probes = {(family, probe) for family, each in model.shifts.items() for probe in each}
    kept = own[[pair in calibrated_probes for pair in zip(own["family"], own["probe"], strict=True)]]
    if kept.empty:
        raise InvalidInput(f"no row is of a calibrated probe; the calibrator knows {', '.join(sorted(model.shifts))}")
    kept = kept.astype(dict.fromkeys(kept.select_dtypes("category").columns, "str"))  # as a reader's file has them
    before = orbits(kept)[model.evaluator]
    after = calibrated(before, terms_of(model), model.strength)
    return _placed(kept, after).assign(evaluator=name or calibrated_name(model))


def _placed(rows: pd.DataFrame, scores: Orbits) -> pd.DataFrame:
    columns = {item: index for index, item in enumerate(scores.items)}
    places = {(name, probe): row for name, family in scores.families.items() for row, probe in enumerate(family.probes)}
    values = np.empty((len(rows), 2))
    keys = zip(rows["corpus"], rows["item"], rows["family"], rows["probe"], strict=True)
    for index, (corpus, item, family, probe) in enumerate(keys):
        row, column = places[str(family), str(probe)], columns[str(corpus), str(item)]
        found = scores.families[str(family)]
        values[index] = found.scores[row, column], found.baselines[row, column]
    after, baseline = values.T
    delta = after - baseline
    percent = np.divide(100 * delta, baseline, out=np.full(len(rows), np.nan), where=np.abs(baseline) >= 1e-6)
    return rows.assign(score=after, baseline_score=baseline, delta=delta, percent=percent)
