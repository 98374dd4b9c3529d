"""Flip risk: how often an edit inverts a near tie (table 13, figure 11, and the sweep over gaps).

Rows are the paper's contrasts, and the whole families beside them.
"""

import pandas as pd

from core.analysis.flips.risk import IQR, SCALE, Cell, cell_risks, group_cells
from core.analysis.questions.base import Column, Drawing, Options, Question, once
from core.analysis.questions.columns import CORPUS, COUNT, EVALUATOR, PLAIN, Dots
from core.analysis.questions.contrasts import CONTRAST, Named, named_groups, without
from core.analysis.table import ScoreTable, View
from core.probes.base import BASE_CAPTION, Axis
from core.statistics.flip_risk import GAPS

GAP = 0.007
"""Gap of table 13, as a share. Source: paper A, section 3.4."""

HOW = (
    "Probability that two systems d apart change places under two independent draws of the family's shifts, exact "
    "over all pairs of items; never above 50 %. Intervals over items at 95 %: BCa in closed form (ABC) from 50 items, "
    "drawn below. d is the gap on the score's own scale, or times the interquartile range (IQR) of clean scores. "
    "Family null: edits that nobody can see, the floor that the others are read against. The paper's contrasts come "
    "first, then whole families: all of a family's edits, each against its own baseline."
)
_KEYS = ["evaluator", "corpus", "axis", "family"]
_ROW, _OF = Column("label", "Contrast or family", kind="text"), Column("of", "Which", kind="text")


def questions(table: ScoreTable) -> tuple[Question, ...]:
    """Risk at one gap, on both scales; and at every gap."""
    note = f"{HOW}{without(table)}"
    columns = (
        EVALUATOR, CORPUS, _ROW, _OF, COUNT, Column("n_shifts", "n shifts", digits=0), Column("d", "d", digits=4),
        Column("value", "Risk % [95 % CI]", digits=1, low="low", high="high"), Column("iqr_d", "d (IQR)", digits=4),
        Column("iqr_risk", "Risk % at 0.7 % of the IQR [95 % CI]", digits=1, low="iqr_low", high="iqr_high"),
    )  # fmt: skip
    drawing = Drawing("F11", "Flip risk at a gap of 0.007", note,
                      Dots(values=PLAIN, axis="flip risk, %", order=_ordered), "Figure 11")  # fmt: skip
    wide = tuple(
        Column(f"risk_{gap:g}", f"d = {100 * gap:g} %", digits=1, low=f"low_{gap:g}", high=f"high_{gap:g}")
        for gap in GAPS
    )
    return (
        Question("T13", "Flip risk at a gap of 0.007", "flips", "families", note, columns, _at_gap, _needs, (drawing,),
                 "Table 13"),
        Question("S10", "Flip risk by gap", "flips", "gaps", f"{note} Risk in percent, d on the score's own scale.",
                 (EVALUATOR, CORPUS, _ROW, _OF, COUNT, *wide), _by_gap, _needs, paper="B.5, sensitivity to the gap"),
    )  # fmt: skip


def _needs(table: ScoreTable) -> str:
    plain = any(name != BASE_CAPTION and not table.is_control(name) for name in table.families())
    return "" if plain else "no run holds the shift of an invariant family; audit some invariant probes"


@once
def _risks(view: View, unit: str) -> pd.DataFrame:
    found = cell_risks(named_cells(view), unit=unit)
    return found.assign(**{name: 100 * found[name] for name in ("risk", "low", "high")})


@once
def named_cells(view: View) -> tuple[Cell, ...]:
    """Shifts of the paper's contrasts and of the whole families, of every evaluator and corpus, under their labels."""
    return group_cells(view, [(each.group, each.items) for each in _named(view)])


def whole_families(view: View) -> set[str]:
    """Labels of those that are of a whole family."""
    return {each.group.label for each in _named(view) if each.of != CONTRAST}


def _named(view: View) -> list[Named]:
    return named_groups(view, controls=(Axis.NULL.value,))


def _ordered(frame: pd.DataFrame) -> list[str]:
    return list(dict.fromkeys(frame["label"]))


def _at_gap(view: View, options: Options) -> pd.DataFrame:
    own, iqr = (rows[rows["gap"] == GAP].drop(columns="gap") for rows in (_risks(view, SCALE), _risks(view, IQR)))
    iqr = iqr[[*_KEYS, "d", "risk", "low", "high"]].rename(
        columns={"d": "iqr_d", "risk": "iqr_risk", "low": "iqr_low", "high": "iqr_high"}
    )
    found = own.rename(columns={"risk": "value"}).merge(iqr, on=_KEYS, how="left")
    known = {each.group.label: each for each in _named(view)}
    found = found.assign(label=found["family"], of=[known[name].of for name in found["family"]],
                         family=[known[name].family for name in found["family"]])  # fmt: skip
    return found[found["n_shifts"] > 0].reset_index(drop=True)


def _by_gap(view: View, options: Options) -> pd.DataFrame:
    rows = _risks(view, SCALE)
    wide = _at_gap(view, options)[[*_KEYS, "label", "of", "n_items"]]
    keys = ["evaluator", "corpus", "label"]
    for gap in GAPS:
        own = rows[rows["gap"] == gap].rename(columns={"family": "label"})[[*keys, "risk", "low", "high"]]
        wide = wide.merge(own.rename(columns={name: f"{name}_{gap:g}" for name in ("risk", "low", "high")}), on=keys)
    return wide
