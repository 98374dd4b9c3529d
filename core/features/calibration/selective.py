"""Selectivity before and after a calibration: does it buy calm by going deaf?

The harms are those of the edits that are calibrated for, on the held-out items; the drops are what broken meanings cost
the same items. A reading that corrects known edits leaves right and wrong sides as they are, since neither is such an
edit. What ``orbit`` and ``absolute`` do to a wrong side needs the scores of its own orbit, which no run holds.

Source: :mod:`core.statistics.selectivity`.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from core.analysis.comparisons import families, pairs
from core.analysis.effects import bounds, ends
from core.analysis.questions.directional import needs
from core.analysis.selectivity import harmless, lack
from core.analysis.table import View
from core.evaluators.calibrated import base_of
from core.features.calibration.fit import Fit
from core.features.calibration.orbits import Orbits
from core.features.calibration.readings import WEIGHTED
from core.features.calibration.sweep import calibrated
from core.statistics.selectivity import Selectivity, selectivity

NEEDS_ORBITS = (
    "What {reading} does to a broken meaning needs the scores of its own edits, and no run has them: audit the "
    "calibrator file beside the evaluator, with directional probes. The plane here then joins both by an arrow."
)


@dataclass(frozen=True, slots=True)
class Change:
    """Selectivity on the held-out items under the calibrated families."""

    # before, after: see :class:`core.statistics.selectivity.Selectivity`; signal and nuisance in standard deviations of
    # the unedited scores
    before: Selectivity
    after: Selectivity
    families: tuple[str, ...]  # whose edits are the harms


def lacking(view: View, found: Fit) -> str:
    """Why a change of selectivity cannot be given, in a sentence; empty where it can."""
    if why := needs(view.table) or lack(view):
        return f"{why[0].upper()}{why[1:]}."
    if found.terms.reading in WEIGHTED:
        return NEEDS_ORBITS.format(reading=found.terms.reading)
    return "" if _names(view, found) else "None of the calibrated families is a harmless edit."


def change(view: View, found: Fit, strength: float) -> Change:
    """Selectivity before and after a strength of a reading that corrects known edits (see :func:`lacking`); only drops
    that are known to break the meaning count. The view may hold more families than the fit."""
    names = _names(view, found)
    wrongs = [name for probes in families(view).values() for name in probes]
    both = pairs(view, found.evaluator, wrongs, known=True)
    items = view.table.items
    index = pd.MultiIndex.from_arrays([items["corpus"].astype(str), items["item"].astype(str)])
    places = index.get_indexer(pd.MultiIndex.from_tuples([tuple(map(str, each)) for each in found.scores.items]))
    drops = (both.right - both.wrong)[:, places]
    unit = view.table.spread(found.evaluator, view.table.scope.corpus)
    ends = (found.scores, calibrated(found.scores, found.terms, strength))
    before, after = (selectivity(drops, _harms(each, names), unit=unit, sources=found.scores.sources) for each in ends)
    return Change(before, after, names)


def moved(made: Change, name: str, after: str) -> pd.DataFrame:
    """Both ends of a change as rows of :func:`core.analysis.questions.selective.plane`, named as the evaluator as it is
    and the calibrated one."""
    return pd.DataFrame([_end(name, made.before), _end(after, made.after)])


def _end(name: str, found: Selectivity) -> dict[str, object]:
    return {
        "evaluator": name,
        "n_items": found.value.n,
        "value": found.value.estimate,
        "chance": found.chance,
        **ends(found.above, bounds("above")),
        **ends(found.nuisance, bounds("nuisance")),
        **ends(found.signal, bounds("signal")),
    }


def measured_beside(view: View, found: Fit) -> tuple[str, ...]:
    """Calibrated evaluators of the run that are made of the one that is fitted, each scored by an audit."""
    return tuple(name for name in view.table.evaluators if base_of(name) == found.evaluator)


def _names(view: View, found: Fit) -> tuple[str, ...]:
    return tuple(name for name in harmless(view) if name in found.scores.families)


def _harms(scores: Orbits, names: tuple[str, ...]) -> np.ndarray:
    return np.asarray(np.abs(np.concatenate([scores.families[name].shifts for name in names])))
