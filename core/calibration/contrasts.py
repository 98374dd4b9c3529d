"""The paper's contrasts of one evaluator's scores, in the arrangement of whole families: what table 16 is of."""

from collections.abc import Sequence

import numpy as np

from core.analysis.questions.contrasts import Named
from core.analysis.table import BASELINE
from core.calibration.orbits import Family, Orbits


def contrasts_of(scores: Orbits, named: Sequence[Named], items: np.ndarray) -> Orbits:
    """Scores with each contrast as a family of its label; what a contrast lacks here is left out.

    Args:
        scores: of whole families, as they are or calibrated.
        named: contrasts and families of the view that the scores are of.
        items: place in that view's table of each item of the scores, int [n].

    Returns:
        The same clean scores; a contrast of two probes compares the scores of the one with those of the other.
    """
    found = {}
    for each in named:
        family, group = scores.families.get(each.family), each.group
        if family is None:
            continue
        rows = [family.probes.index(name) for name in group.probes if name in family.probes]
        if not rows or (group.against != BASELINE and group.against not in family.probes):
            continue
        own = family.baselines[rows]
        if group.against != BASELINE:
            own = np.broadcast_to(family.scores[family.probes.index(group.against)], own.shape)
        after = np.where(each.items[items], family.scores[rows], np.nan)
        found[group.label] = Family(family.axis, tuple(family.probes[row] for row in rows), after, own)
    return Orbits(scores.evaluator, scores.items, scores.clean, found, scores.sources)
