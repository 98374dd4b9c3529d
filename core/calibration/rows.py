"""A calibration over stored scores: the shifts of a run under one more evaluator."""

import numpy as np
import pandas as pd

from core.analysis.table import View
from core.calibration.file import terms_of
from core.calibration.orbits import Family, Orbits, orbits
from core.calibration.sweep import calibrated
from core.errors import InvalidInput
from core.evaluators.calibrated import calibrated_name
from core.evaluators.calibrator import Calibrator
from core.statistics.changes import percent_change


def calibrated_shifts(view: View, model: Calibrator, *, name: str | None = None) -> pd.DataFrame:
    """Shifts of one evaluator after calibration.

    Args:
        view: of the table of scores.
        model: learnt for one of its evaluators.
        name: what the calibrated evaluator is called; by default as :mod:`core.evaluators.calibrated` names it.

    Returns:
        One row a scored shift of the calibrated families and probes: evaluator, corpus, item, axis, family, probe,
        subject, language, baseline_score, score, delta, percent; all of them calibrated.

    Raises:
        InvalidInput: if no score is of the evaluator, or none of a calibrated probe.
    """
    if model.evaluator not in view.evaluators:
        known = ", ".join(view.evaluators) or "none"
        raise InvalidInput(f"the calibrator is for {model.evaluator!r}; evaluators here: {known}")
    before = _known_part(orbits(view, model.evaluator), model)
    if not before.families:
        raise InvalidInput(f"no score is of a calibrated probe; the calibrator knows {', '.join(sorted(model.shifts))}")
    after = calibrated(before, terms_of(model), model.strength)
    frames = [_rows(after, family, each) for family, each in after.families.items()]
    scope, found = view.table.scope, pd.concat(frames, ignore_index=True)
    found.insert(0, "evaluator", name or calibrated_name(model))
    found.insert(6, "subject", scope.subject)
    found.insert(7, "language", scope.language)
    return found


def _known_part(scores: Orbits, model: Calibrator) -> Orbits:
    """The families and probes that the calibrator knows."""
    families = {}
    for name, family in scores.families.items():
        known = np.array([probe in model.shifts.get(name, {}) for probe in family.probes])
        if known.any():
            probes = tuple(probe for probe, keep in zip(family.probes, known, strict=True) if keep)
            families[name] = Family(family.axis, probes, family.scores[known], family.baselines[known])
    return Orbits(scores.evaluator, scores.items, scores.clean, families, scores.sources)


def _rows(scores: Orbits, name: str, family: Family) -> pd.DataFrame:
    probe, item = np.nonzero(~np.isnan(family.shifts))
    after, before = family.scores[probe, item], family.baselines[probe, item]
    corpus, names = zip(*(scores.items[place] for place in item), strict=True) if len(item) else ((), ())
    return pd.DataFrame(
        {"corpus": corpus, "item": names, "axis": family.axis, "family": name,
         "probe": [family.probes[place] for place in probe], "baseline_score": before, "score": after,
         "delta": after - before, "percent": percent_change(after, before)}
    )  # fmt: skip
