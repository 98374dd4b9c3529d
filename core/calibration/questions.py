"""What a calibration changes: learnt on the dev split, reported on the test split (tables 14 to 17, figure 12)."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from core.analysis.questions.base import Column, Drawing, Options, Question, once
from core.analysis.questions.columns import CORPUS, EVALUATOR
from core.analysis.questions.contrasts import named_groups
from core.analysis.table import ScoreTable, View
from core.calibration.contrasts import contrasts_of
from core.calibration.effect import before_after, changed
from core.calibration.fit import Fit, fit
from core.calibration.sweep import calibrated
from core.charts.spec import Figure
from core.errors import InvalidInput
from core.probes.base import BASE_CAPTION

GAP = 0.007
"""Gap of table 16, as a share of the interquartile range of each side's clean scores. Source: paper A, section 3.4."""

EPSILON = 0.01
READING = "orbit"
HOW = (
    "Reading orbit, uniform weights over families; terms and λ* are learnt on the dev split (half of the images), "
    "the numbers are those of the held-out test split. λ*: the smallest λ of 0, 0.05, …, 1 that minimises the total "
    "median |Δ| over the spread of the clean scores, while Spearman's ρ with every other evaluator loses at most "
    "ε = 0.01 on the dev split. Each side is measured on its own scale: a calibration that only shrinks the scores "
    "gains nothing."
)
_FAMILY, _N = Column("name", "Family", kind="text"), Column("n", "n", digits=0)
_BOUNDS = ("before", "before_low", "before_high", "after", "after_low", "after_high")


@dataclass(frozen=True, slots=True)
class _Calibrated:
    """One evaluator's calibration: the fit, and what it changes on the test split."""

    fit: Fit
    table: pd.DataFrame


def questions(table: ScoreTable) -> tuple[Question, ...]:
    """What calibration changes on the reference corpus; it is never learnt over several."""
    note = f"{HOW} Items of corpus {table.reference}." if len(table.corpora) > 1 else HOW
    return (*_sensitivity(note), _societal(note), _risks(note), _utility(note), _preferences())


def _sensitivity(note: str) -> tuple[Question, ...]:
    columns = (
        EVALUATOR, CORPUS, Column("axis", "Axis", kind="text"), _N, Column("strength", "λ*"),
        _change("Median |Δ|, % of the SD, before → after [95 % CI]"),
        Column("loss", "Largest loss of ρ", digits=3, signed=True), Column("note", "Remark", kind="text"),
    )  # fmt: skip
    said = (f"{note} Sensitivity: median over items of an item's median |Δ|, in percent of the standard deviation of "
            "the clean scores, mean over the axis' families. Largest loss: the most negative change of ρ with another "
            "evaluator.")  # fmt: skip
    title = "Calibration: sensitivity by axis, before and after"
    drawing = Drawing("F12a", "Calibration: sensitivity by axis", note,
                      _two_sides, "Figure 12, left")  # fmt: skip
    return (_asked("T14", title, said, columns, _by_axis, drawing),)


def _societal(note: str) -> Question:
    columns = (EVALUATOR, CORPUS, _FAMILY, _N, _change("Median |%Δ|, before → after [95 % CI]"))

    def compute(view: View, options: Options) -> pd.DataFrame:
        frame = _measure(view, "percent")
        return frame[frame["axis"] == "societal"].reset_index(drop=True)

    return _asked("T15", "Calibration: societal gaps, before and after", note, columns, compute)


def _risks(note: str) -> Question:
    columns = (EVALUATOR, CORPUS, Column("name", "Contrast or family", kind="text"), Column("of", "Which", kind="text"),
               _N, _change("Risk %, before → after [95 % CI]", digits=1))  # fmt: skip
    note = f"{note} The paper's contrasts come first, then whole families."

    def compute(view: View, options: Options) -> pd.DataFrame:
        frames = [_contrast_risks(view, name) for name in _all(view)]
        frame = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=["evaluator", "of", *_BOUNDS])
        return frame.assign(**{name: 100 * frame[name] for name in _BOUNDS})

    title = "Calibration: flip risk at 0.7 % of the interquartile range, before and after"
    return _asked("T16", title, note, columns, compute)


def _utility(note: str) -> Question:
    drawing = Drawing("F12b", "Calibration: agreement along λ", "Spearman's ρ with every other evaluator on the dev "
                      f"split; the larger mark is λ*. {note}", _along, "Figure 12, right")  # fmt: skip
    return _asked("S23", "Calibration: agreement along λ", note, (), _sweeps, drawing)


def _preferences() -> Question:
    why = "it needs captions that people have compared (Flickr8k-CF, Pascal-50S, COMPOSITE); a run holds none"
    return Question("T17", "Calibration: people's preferences, before and after", "calibration", "calibration", why, (),
                    lambda view, options: pd.DataFrame(), lambda table: why, paper="Table 17")  # fmt: skip


def _asked(
    id_: str, title: str, note: str, columns: tuple[Column, ...],
    compute: Callable[[View, Options], pd.DataFrame], *figures: Drawing,
) -> Question:  # fmt: skip
    paper = f"Table {id_.removeprefix('T')}" if id_.startswith("T") else ""
    return Question(id_, title, "calibration", "calibration", note, columns, compute, _needs, figures, paper)


def _needs(table: ScoreTable) -> str:
    if not any(name != BASE_CAPTION and not table.is_control(name) for name in table.families()):
        return "no run holds an invariant family to calibrate for; audit some invariant probes"
    try:
        _made(table.view(), table.evaluators[0])
    except InvalidInput as error:
        return str(error)
    return ""


@once
def _made(view: View, evaluator: str) -> _Calibrated:
    own = view.table.only(view.table.reference).view(view.chosen)
    found = fit(own, evaluator=evaluator, reading=READING, epsilon=EPSILON)
    changed = before_after(found.scores, found.terms, found.choice.strength, found.others, gaps=(GAP,))
    return _Calibrated(found, changed)


def _all(view: View) -> dict[str, _Calibrated]:
    made = {}
    for name in view.evaluators:
        try:
            made[name] = _made(view, name)
        except InvalidInput:
            continue  # an evaluator without a shift here has no row
    return made


def _measure(view: View, measure: str) -> pd.DataFrame:
    frames = [
        each.table[each.table["measure"] == measure].assign(evaluator=name, corpus=view.table.reference)
        for name, each in _all(view).items()
    ]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=["evaluator", "axis", *_BOUNDS])


@once
def _contrast_risks(view: View, evaluator: str) -> pd.DataFrame:
    """Flip risk of the contrasts and of the whole families on the test split, each side at its own gap."""
    found, own = _made(view, evaluator).fit, view.table.only(view.table.reference).view(view.chosen)
    named = named_groups(own)
    known = zip(own.table.items["corpus"], own.table.items["item"], strict=True)
    places = {name: place for place, name in enumerate(known)}
    items = np.array([places[name] for name in found.scores.items], dtype=np.intp)
    after = calibrated(found.scores, found.terms, found.choice.strength)
    before, after = (contrasts_of(each, named, items) for each in (found.scores, after))
    rows = changed(before, after, {}, bands={}, gaps=(GAP,))
    of = {each.group.label: each.of for each in named}
    rows = rows[rows["measure"] == "flip risk"]
    return rows.assign(evaluator=evaluator, corpus=view.table.reference, of=rows["name"].map(of)).reset_index(drop=True)


def _by_axis(view: View, options: Options) -> pd.DataFrame:
    rows = _measure(view, "axis sensitivity")
    made = _all(view)
    return rows.assign(
        **{name: 100 * rows[name] for name in _BOUNDS},
        strength=[made[name].fit.choice.strength for name in rows["evaluator"]],
        loss=[_loss(made[name].table) for name in rows["evaluator"]],
        note=[_remark(made[name].fit) for name in rows["evaluator"]],
    )


def _remark(found: Fit) -> str:
    """What constrained the choice of λ*, and what must be said before any number of it."""
    return " ".join(each for each in (found.choice.note, *found.caveats(found.choice.strength)) if each)


def _loss(table: pd.DataFrame) -> float:
    kept = table[table["measure"] == "spearman"].dropna(subset=["before", "after"])
    return float((kept["after"] - kept["before"]).min()) if len(kept) else math.nan


def _sweeps(view: View, options: Options) -> pd.DataFrame:
    """Agreement with every other evaluator along λ on the dev split."""
    rows = []
    for name, each in _all(view).items():
        swept, strength = each.fit.dev, each.fit.choice.strength
        for other, values in swept.spearman.items():
            rows.append(pd.DataFrame({"evaluator": name, "corpus": view.table.reference, "other": other,
                                      "strength": swept.lambdas, "value": values, "n_items": swept.n,
                                      "chosen": np.isclose(swept.lambdas, strength)}))  # fmt: skip
    columns = ["evaluator", "corpus", "other", "strength", "value", "n_items", "chosen"]
    return pd.concat(rows, ignore_index=True) if rows else pd.DataFrame(columns=columns)


def _change(header: str, *, digits: int = 2) -> Column:
    return Column("before", header, digits=digits, low="before_low", high="before_high", to="after")


def _two_sides(drawing: Drawing, frame: pd.DataFrame, measure: str) -> Figure:
    sides = [
        pd.DataFrame({"label": frame["axis"], "series": stem, "panel": frame["evaluator"], "value": frame[stem],
                      "low": frame[f"{stem}_low"], "high": frame[f"{stem}_high"], "n": frame["n"]})
        for stem in ("before", "after")
    ]  # fmt: skip
    data = pd.concat(sides, ignore_index=True).sort_values("panel", kind="stable", ignore_index=True)
    return Figure(
        drawing.id, drawing.title, drawing.note, data, "median |Δ|, % of the SD", free=True, paper=drawing.paper
    )


def _along(drawing: Drawing, frame: pd.DataFrame, measure: str) -> Figure:
    data = pd.DataFrame(
        {"label": frame["strength"].astype(float), "series": frame["other"], "panel": frame["evaluator"],
         "value": frame["value"], "low": np.nan, "high": np.nan, "n": frame["n_items"],
         "chosen": frame["chosen"].astype(bool)}
    )  # fmt: skip
    return Figure(drawing.id, drawing.title, drawing.note, data, "Spearman’s ρ", kind="lines", mark="chosen",
                  paper=drawing.paper)  # fmt: skip
