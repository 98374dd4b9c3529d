"""Each family beside edits that nobody can see: do items move further than their own noise floor?

Source: PROTOCOL section 3, *null edits*: what an evaluator does under them is no reaction to a visible edit.
"""

import numpy as np
import pandas as pd

from core.analysis.effects import median_over
from core.analysis.table import View
from core.analysis.verdicts import NOT_TOLD, against_null
from core.probes.base import Axis
from core.statistics.power import Aside, aside

Over = tuple[float, float, float, str, float, float]


def beside_null(view: View, rows: pd.DataFrame) -> pd.DataFrame:
    """Put what null edits do beside every family.

    An item is held against itself: its |%Δ| under the family less its |%Δ| under the null edits, both medians over
    probes; the median over items with its 95 % BCa interval. A family's median can lie above the null edits' although
    half of the items move no further than theirs, and below it although most do.

    Args:
        view: of the table of scores.
        rows: columns evaluator, corpus, axis, label (a family); one corpus a row.

    Returns:
        The rows with null_median (:meth:`core.analysis.table.View.null_median`), over_null, over_null_low,
        over_null_high (in percentage points; NaN for the null edits themselves and where none was scored),
        than_null (:func:`core.analysis.verdicts.against_null`; empty likewise), and, beside NOT_TOLD alone,
        null_detectable and null_needed (:class:`core.statistics.power.Aside`).
    """
    keys = list(zip(rows["evaluator"].astype(str), rows["corpus"].astype(str), strict=True))
    floors = {key: view.null_median(*key) for key in set(keys)}
    found = [
        (floors[key], *_over(view, *key, str(label), floors[key]))
        for key, label in zip(keys, rows["label"], strict=True)
    ]
    names = (
        "null_median",
        "over_null",
        "over_null_low",
        "over_null_high",
        "than_null",
        "null_detectable",
        "null_needed",
    )
    return rows.assign(**{name: [each[place] for each in found] for place, name in enumerate(names)})


def _over(view: View, evaluator: str, corpus: str, family: str, floor: float) -> Over:
    table = view.table
    if table.axis_of(family) == Axis.NULL.value or np.isnan(floor):
        return np.nan, np.nan, np.nan, "", np.nan, np.nan
    probes = view.families().get(family, ())
    return over_null(view, evaluator, corpus, view.changes(evaluator, probes).size)


def over_null(view: View, evaluator: str, corpus: str, size: np.ndarray) -> Over:
    """How far items move beyond their own null shift, with its interval, what may be claimed of it, and its power.

    Args:
        view: of the table of scores.
        evaluator: whose null edits are meant.
        corpus: whose items count.
        size: how far every item moves, in percent, float64 [N]; NaN where that is not known.

    Returns:
        over_null, over_null_low, over_null_high, than_null, null_detectable and null_needed, as of
        :func:`beside_null`.
    """
    table = view.table
    over = median_over(size - view.null_size(evaluator), view.items & table.of_corpus(corpus), table.sources)
    said = table.silent(evaluator, corpus) or against_null(over)
    power = aside(over, bound=0.0) if said == NOT_TOLD else Aside()
    return over.estimate, over.low, over.high, said, power.detectable, power.needed
