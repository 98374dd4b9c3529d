"""Table 13, figure 11 and the sweep over gaps: how often an edit inverts a near tie."""

import numpy as np
import pandas as pd

from core.analysis.flip_risk import GAPS, flip_risk_intervals, interquartile_range
from core.report.cube import Cube
from core.report.model import Column, Figure, Missing, Part, Table
from core.report.shifts import COUNT, EVALUATOR

GAP = 0.007
"""Gap of table 13, as a share. Source: paper A, section 3.4."""

_FAMILY = Column("family", "Family", kind="text")
_RISK = Column("risk", "Risk % [95 % CI]", digits=1, low="low", high="high")
_RISK_IQR = Column("iqr_risk", "Risk % at 0.7 % of the IQR [95 % CI]", digits=1, low="iqr_low", high="iqr_high")
HOW = (
    "Probability that two systems d apart change places under two independent draws of the family's shifts, exact over "
    "all pairs of items; never above 50 %. Intervals over items at 95 %: BCa in closed form (ABC) from 50 items, drawn "
    "below. d is the gap on the score's own scale, or times the interquartile range (IQR) of clean scores."
)


def flips(cube: Cube) -> Part:
    """Flip risk of every evaluator and family, over the items of all corpora.

    Args:
        cube: scores.
    """
    frame = _risks(cube)
    if frame.empty:
        reason = "no run holds the shift of an invariant family"
        return Part(missing=(Missing("T13", "Table 13", reason), Missing("F11", "Figure 11", reason)))
    at = frame[frame["gap"] == GAP].reset_index(drop=True)
    table = Table("T13", "Flip risk at a gap of 0.007", HOW, at,
                  (EVALUATOR, _FAMILY, COUNT, Column("n_shifts", "n shifts", digits=0), Column("d", "d", digits=4),
                   _RISK,
                   Column("iqr_d", "d (IQR)", digits=4), _RISK_IQR), "Table 13")  # fmt: skip
    data = pd.DataFrame({"label": at["family"], "series": at["evaluator"], "panel": "", "value": at["risk"],
                         "low": at["low"], "high": at["high"], "n": at["n_items"]})  # fmt: skip
    figure = Figure("F11", "Flip risk at a gap of 0.007", HOW, data, "flip risk, %", paper="Figure 11")
    return Part((table, _gaps(frame)), (figure,))


def _risks(cube: Cube) -> pd.DataFrame:
    records = []
    for evaluator in cube.evaluators:
        spread = interquartile_range(cube.clean(evaluator))
        for name, family in cube.orbits(evaluator).families.items():
            shifts = family.shifts
            items = np.tile(np.arange(shifts.shape[1]), len(shifts))
            distances = list(GAPS) + [gap * spread for gap in GAPS if np.isfinite(spread)]
            found = flip_risk_intervals(shifts.ravel(), distances, items=items)
            for number, gap in enumerate(GAPS):
                own = found[number]
                other = found[len(GAPS) + number] if np.isfinite(spread) else None
                records.append(
                    {
                        "evaluator": evaluator, "family": name, "gap": gap, "n_items": own.n,
                        "n_shifts": int(np.isfinite(shifts).sum()), "d": gap,
                        "risk": 100 * own.estimate, "low": 100 * own.low, "high": 100 * own.high,
                        "iqr_d": gap * spread, **_other(other), "note": own.note,
                    }
                )  # fmt: skip
    return pd.DataFrame(records)


def _other(interval: object) -> dict[str, float]:
    names = {"iqr_risk": "estimate", "iqr_low": "low", "iqr_high": "high"}
    return {name: 100 * getattr(interval, of, float("nan")) for name, of in names.items()}


def _gaps(frame: pd.DataFrame) -> Table:
    wide = frame[["evaluator", "family", "n_items"]].drop_duplicates(["evaluator", "family"]).reset_index(drop=True)
    columns = [EVALUATOR, _FAMILY, COUNT]
    for gap in GAPS:
        rows = frame[frame["gap"] == gap][["evaluator", "family", "risk", "low", "high"]]
        stem = f"risk_{gap:g}"
        rows = rows.rename(columns={"risk": stem, "low": f"{stem}_low", "high": f"{stem}_high"})
        wide = wide.merge(rows, on=["evaluator", "family"], how="left")
        columns.append(Column(stem, f"d = {100 * gap:g} %", digits=1, low=f"{stem}_low", high=f"{stem}_high"))
    return Table("S10", "Flip risk by gap", f"{HOW} Risk in percent, d on the score's own scale.", wide,
                 tuple(columns), "B.5, sensitivity to the gap")  # fmt: skip
