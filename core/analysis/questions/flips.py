"""Flip risk: the gap that is evidence, how often an edit inverts a near tie (table 13, figure 11), and gap by gap."""

import pandas as pd

from core.analysis.flips.risk import EVIDENCE, IQR, READ, SCALE, cell_risks, evident_gaps, shift_cells
from core.analysis.questions.base import Column, Drawing, Options, Question, once
from core.analysis.questions.columns import CORPUS, COUNT, EVALUATOR, FAMILY, PLAIN, Dots
from core.analysis.table import ScoreTable, View
from core.probes.base import BASE_CAPTION
from core.statistics.flip_risk import GAPS, LEAST_EVIDENCE, LEAST_SOURCES

GAP = 0.007
"""Gap of table 13, as a share. Source: paper A, section 3.4."""

_INTERVALS = (
    "Intervals at 95 %, items of one source together: Student's on the logit, exact where no pair or every pair "
    "exceeds "
    f"the gap; none below {LEAST_SOURCES} items."
)
HOW = (
    "Probability that two systems d apart change places under two independent draws of the family's shifts, exact "
    f"over all pairs of items. {READ} {_INTERVALS} d is a share of the span of the score's scale (0.7 % of a scale of "
    "0 to "
    "10 is 0.07), or of the interquartile range (IQR) of clean scores."
)
_EVIDENT = (
    f"{EVIDENCE} In units of the score, and in percent of the interquartile range (IQR) and of the standard deviation "
    "(SD) "
    "of the evaluator's clean scores. Family null: edits that nobody can see. The risk never rises with the gap, so "
    "there "
    "is one such gap. Intervals at 95 %, items of one source together: the interval of the risk turned round; none "
    f"below {LEAST_EVIDENCE} items."
)
_KEYS = ["evaluator", "corpus", "axis", "family"]
_NULL = Column("null_risk", "Null edits, risk %", digits=1, help="The risk under edits that nobody can see, same gap")


def questions(table: ScoreTable) -> tuple[Question, ...]:
    """The gap that is evidence; risk at one gap, on both scales; and at every gap."""
    evident = (
        EVALUATOR, CORPUS, FAMILY, COUNT, Column("said", "In words", kind="text"),
        Column("value", "Gap of evidence [95 % CI]", digits=4, low="low", high="high"),
        Column("of_iqr", "in % of the IQR", digits=1, low="of_iqr_low", high="of_iqr_high"),
        Column("of_sd", "in % of the SD", digits=1, low="of_sd_low", high="of_sd_high"),
        Column("null_d", "Null edits", digits=4, low="null_low", high="null_high"),
        Column("note", "Remark", kind="text"),
    )  # fmt: skip
    columns = (
        EVALUATOR, CORPUS, FAMILY, COUNT, Column("n_shifts", "n shifts", digits=0), Column("d", "d", digits=4),
        Column("value", "Risk % [95 % CI]", digits=1, low="low", high="high"), _NULL,
        Column("over", "less null [95 % CI]", digits=1, signed=True, low="over_low", high="over_high"),
        Column("iqr_d", "d (IQR)", digits=4),
        Column("iqr_risk", "Risk % at 0.7 % of the IQR [95 % CI]", digits=1, low="iqr_low", high="iqr_high"),
        Column("iqr_null_risk", "Null edits, risk %", digits=1),
        Column("iqr_over", "less null [95 % CI]", digits=1, signed=True, low="iqr_over_low", high="iqr_over_high"),
        Column("note", "Remark", kind="text"),
    )  # fmt: skip
    drawing = Drawing("F11", "Flip risk at a gap of 0.7 % of the scale", HOW,
                      Dots("family", values=PLAIN, axis="flip risk, %"), "Figure 11")  # fmt: skip
    dots = Dots("family", values=("of_iqr", "of_iqr_low", "of_iqr_high"), axis="gap, % of the IQR")
    marked = Drawing("F-evidence", "Differences that are no evidence", _EVIDENT, dots)
    wide = tuple(
        Column(f"risk_{gap:g}", f"d = {100 * gap:g} %", digits=1, low=f"low_{gap:g}", high=f"high_{gap:g}")
        for gap in GAPS
    )
    return (
        Question("S24", "How large must a difference be to be evidence?", "flips", "evidence", _EVIDENT, evident,
                 _evident, _needs, (marked,)),
        Question("T13", "Flip risk at a gap of 0.7 %", "flips", "families", HOW, columns, _at_gap, _needs, (drawing,),
                 "Table 13"),
        Question("S10", "Flip risk by gap", "flips", "gaps", f"{HOW} Risk in percent.",
                 (EVALUATOR, CORPUS, FAMILY, COUNT, *wide), _by_gap, _needs, paper="B.5, sensitivity to the gap"),
    )  # fmt: skip


def _needs(table: ScoreTable) -> str:
    plain = any(name != BASE_CAPTION and not table.is_control(name) for name in table.families())
    return "" if plain else "no run holds the shift of an invariant family; audit some invariant probes"


_RISKS = ("risk", "low", "high", "null_risk", "over", "over_low", "over_high")


@once
def _risks(view: View, unit: str) -> pd.DataFrame:
    found = cell_risks(_cells(view), unit=unit)
    return found.assign(**{name: 100 * found[name] for name in _RISKS})


_cells = once(shift_cells)


def _evident(view: View, options: Options) -> pd.DataFrame:
    found = evident_gaps(_cells(view)).rename(columns={"d": "value"})
    return found[found["n_items"] > 0].reset_index(drop=True)


def _at_gap(view: View, options: Options) -> pd.DataFrame:
    own, iqr = (rows[rows["gap"] == GAP].drop(columns="gap") for rows in (_risks(view, SCALE), _risks(view, IQR)))
    iqr = iqr[[*_KEYS, "d", *_RISKS, "note"]].rename(columns={name: f"iqr_{name}" for name in ("d", *_RISKS, "note")})
    found = own.rename(columns={"risk": "value"}).merge(iqr, on=_KEYS, how="left")
    said = [
        dict.fromkeys(each for each in both if each) for both in zip(found["note"], found.pop("iqr_note"), strict=True)
    ]
    return found.assign(note=["; ".join(each) for each in said])[found["n_shifts"] > 0].reset_index(drop=True)


def _by_gap(view: View, options: Options) -> pd.DataFrame:
    rows = _risks(view, SCALE)
    wide = _at_gap(view, options)[[*_KEYS, "n_items"]]
    for gap in GAPS:
        own = rows[rows["gap"] == gap][[*_KEYS, "risk", "low", "high"]]
        wide = wide.merge(own.rename(columns={name: f"{name}_{gap:g}" for name in ("risk", "low", "high")}), on=_KEYS)
    return wide
