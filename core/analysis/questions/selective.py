"""Does a broken meaning cost more than a harmless edit? Both halves of an audit in one number.

Source: DIRECTIONAL, section 0.5; the measure is :mod:`core.statistics.selectivity`.
"""

import math
from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from core.analysis.comparisons import picked_failure
from core.analysis.questions.columns import COUNT, HEAD, NOTE, WHAT, marks
from core.analysis.questions.directional import TEST, needs, rows
from core.analysis.questions.question import Column, Drawing, Options, Question, bounded
from core.analysis.scores import once
from core.analysis.selectivity import EVERY, UNTOLD, VERIFIED_ONLY, beside_chance, headlines, heat_map, lack
from core.analysis.table import ScoreTable, View
from core.analysis.verdicts import NO_CLAIM
from core.charts.spec import Axis, Figure, Ray, Reference, says_its_labels
from core.evaluators.calibrated import base_of
from core.statistics.wording import between, counted, metrics

SECTION = "selectivity"
HEADLINE, PLANE, MAP = "C-selectivity", "C-plane", "C-hidden"

_RATIOS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
"""Of signal to nuisance: candidates for a line of equal ratio."""

_HOW = (
    "Of one item, a harm is the absolute shift under a harmless edit (invisible edits and controls aside), a drop the "
    "score of the right side minus that of the wrong one. Selectivity: the probability that a drop exceeds a harm, "
    "ties half, mean over items; 0.5 says that a broken meaning costs as much as a harmless edit does, 1 that it "
    "always costs more. 95 % BCa over items, or over the sources that they share. Chance is this evaluator's own: the "
    "same number if right and wrong sides changed places at random within each item. "
)


def questions(table: ScoreTable) -> tuple[Question, ...]:
    """The headline, the plane of nuisance and signal, and which nuisance hides which error."""
    return (_headline(), _plane(), _hidden())


@once
def headline(view: View) -> pd.DataFrame:
    """Selectivity of every evaluator; see :func:`core.analysis.selectivity.headlines`."""
    return headlines(view)


def _headlines(view: View, options: Options) -> pd.DataFrame:
    return headline(view)


def _needs(table: ScoreTable) -> str:
    return needs(table) or lack(table.view())


def _headline() -> Question:
    of_help = (
        "Verified: the annotations say that the wrong side is wrong; untold: edits that tell nothing of it, such as "
        "words in another order or a tail that says nothing; all: both, and those that are only presumed to be wrong"
    )
    nuisance = "Median over items of an item’s median harm, in standard deviations of the unedited scores"
    signal = "Median over items of an item’s median drop"
    numbers = (
        Column("n_pairs", "n pairs", digits=0, help="Of a drop and a harm of one item"),
        Column("value", "Selectivity [95 % CI]", digits=3, low="low", high="high"),
        Column("chance", "By chance", digits=3, help="Were right and wrong sides exchanged at random within each item"),
        bounded("above", "Above chance [95 % CI]", digits=3, signed=True),
        Column("pooled", "Over all items", digits=3, help="The same over drops and harms of any two items"),
        bounded("nuisance", "Nuisance, SD [95 % CI]", digits=3, help=nuisance),
        bounded("signal", "Signal, SD [95 % CI]", digits=3, signed=True, help=signal),
        bounded("ratio", "Signal to nuisance [95 % CI]", digits=2),
        Column("said", "Where the ratio says nothing", kind="text"),
    )
    columns = (*HEAD, Column("of", "Falsity", kind="text", help=of_help), COUNT, *numbers, NOTE)
    read = "0.5: a broken meaning costs as much as a harmless edit does; 1: every broken meaning costs more."
    drawing = Drawing("C-selective", "Selectivity of each metric", read, _dots)
    title = "Selectivity: does a broken meaning cost more than a harmless edit?"
    rule = "Only of edits that are known to make the caption wrong."
    question = Question(HEADLINE, title, SECTION, "selectivity", _HOW.strip(), columns, _headlines, _needs, (drawing,))
    return replace(question, says=_says, rule=rule)


def _says(frame: pd.DataFrame, margin: float) -> str:
    """The selectivity of each metric over verified drops of one corpus, in a sentence."""
    own = usual(frame)
    if own.empty or unverified(own) or len(set(own["corpus"])) > 1:
        return ""
    chances = 100 * own.set_index("evaluator")["value"].sort_values(ascending=False, kind="stable")
    each = ", ".join(f"{name} {chance:.0f} %" for name, chance in chances.items())
    told = each if len(chances) < 5 else f"{between(chances)} % in {metrics(list(chances.index))}"
    return f"Chance that a broken meaning costs more than a harmless edit: {told}."


def _dots(drawing: Drawing, frame: pd.DataFrame, measure: str) -> Figure:
    own = usual(frame)
    data = marks(own, label="evaluator", series="corpus")
    data = data.assign(panel=list(_panels(own)))  # no row of these lacks a value
    half = (Reference(0.5, text="as much as harmless edits"),)
    alone = says_its_labels(data)
    return drawing.drawn(data, "selectivity", span=(0.0, 1.0), counts=True, overlay=alone, references=half)


def usual(frame: pd.DataFrame) -> pd.DataFrame:
    """Rows of :func:`headline` that figures are drawn of: those of verified falsity; of a corpus without any, what it
    has instead, and column ``of`` says what."""
    known = frame.dropna(subset=["value"])
    place = known["of"].map({VERIFIED_ONLY: 0, UNTOLD: 1, EVERY: 2})
    return known[place == place.groupby(known["corpus"]).transform("min")]


def unverified(own: pd.DataFrame) -> str:
    """What :func:`usual` rows are of where no comparison is verified, in words; empty where all are."""
    others = sorted(set(own["of"]) - {VERIFIED_ONLY})
    return f"no comparison is verified, these are {' and '.join(others)}" if others else ""


def _panels(own: pd.DataFrame) -> pd.Series:
    """What stands above the marks of each corpus: that none of its comparisons is verified, where that is so."""
    return own["corpus"].map({str(name): unverified(rows) for name, rows in own.groupby("corpus")}).fillna("")


def _plane() -> Question:
    read = (
        "Up and to the left is better; a dashed line is the same drop for the same change, as its number says. SD: "
        "standard deviations of the unedited scores; bars are 95 % intervals. An arrow leads to a calibrated self."
    )
    drawing = Drawing(PLANE, "Nuisance and signal", read, _plane_figure)
    note = f"{_HOW}Intervals stand in the table {HEADLINE}."
    title = "Nuisance and signal"
    return Question("C-plane-data", title, SECTION, "the plane", note, (), _headlines, _needs, (drawing,))


def _plane_figure(drawing: Drawing, frame: pd.DataFrame, measure: str) -> Figure:
    own = usual(frame)
    said = _panels(own)
    if len(set(frame["corpus"])) > 1:
        said = own["corpus"].astype(str) + said.where(said == "", ": " + said)
    own = own.assign(panel=said)
    names = dict.fromkeys(map(str, own["evaluator"]))
    moves = tuple((base, name) for name in names if (base := base_of(name)))
    return plane(own, drawing.id, drawing.title, drawing.note, moves=moves)


def plane(frame: pd.DataFrame, id_: str, title: str, note: str, *, moves: tuple[tuple[str, str], ...] = ()) -> Figure:
    """Nuisance across, signal up, a point a row. ``frame``: columns of :data:`core.analysis.selectivity.HEADLINE` from
    ``evaluator`` to ``signal_high``; ``panel`` where there are several. Rows without a nuisance or a signal are left
    out. ``moves``: pairs of evaluators that an arrow joins, from the first to the second."""
    own = frame.dropna(subset=["nuisance", "signal"])
    named = {"label": own["evaluator"], "series": own["evaluator"].astype(str), "panel": own.get("panel", "")}
    across = {"x": own["nuisance"], "x_low": own["nuisance_low"], "x_high": own["nuisance_high"]}
    up = {"value": own["signal"], "low": own["signal_low"], "high": own["signal_high"], "n": own["n_items"]}
    data = pd.DataFrame({**named, **across, **up, "hover": [_point(row) for row in own.to_dict("records")]})
    most = float(max(data["high"].fillna(data["value"]).max(), 0.1)) if len(data) else 1.0
    least = float(min(data["low"].fillna(data["value"]).min(), -0.04 * most)) if len(data) else 0.0  # 0 is seen
    far = float(max(data["x_high"].fillna(data["x"]).max(), 0.01)) if len(data) else 1.0
    look: dict[str, Any] = {"kind": "scatter", "span": (1.1 * least, 1.1 * most), "height": 300, "moves": moves}
    look |= {"rays": _rays(own["signal"] / own["nuisance"]), "references": (Reference(0.0, dash="dot"),)}
    along = Axis("change under harmless edits, SD", span=(0.0, 1.1 * far))
    return Figure(id_, title, note, data, "drop when the meaning breaks, SD", along=along, **look)


def _rays(ratios: pd.Series) -> tuple[Ray, ...]:
    """Two or three lines of equal signal to nuisance: the one at which both are as large, and what points are near."""
    found = ratios[np.isfinite(ratios) & (ratios > 0)]
    ends = (found.min(), found.max()) if len(found) else ()
    kept = {1.0, *(min(_RATIOS, key=lambda at: abs(math.log(at / end))) for end in ends)}
    return tuple(Ray(each, f"{each:g} ×") for each in sorted(kept if len(kept) > 1 else (1.0, 2.0)))


def _point(row: Mapping[Hashable, Any]) -> str:
    return (
        f"{row['evaluator']}\nnuisance {_with(row, 'nuisance')}\nsignal {_with(row, 'signal')}\n"
        f"selectivity {row['value']:.3f}, n = {row['n_items']} items\n{_by_chance(row)}"
    )


def _with(row: Mapping[Hashable, Any], name: str) -> str:
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    ends = "no interval" if math.isnan(low) else f"95 % CI {low:.3f} to {high:.3f}"
    return f"{row[name]:.3f} SD ({ends})"


def _hidden() -> Question:
    nuisance = Column("nuisance", "Harmless family", kind="text")
    value = Column("value", "Selectivity [95 % CI]", digits=3, low="low", high="high")
    columns = (*HEAD, WHAT, nuisance, COUNT, value, NOTE)
    title = "Which nuisance hides which error"
    read = (
        "Selectivity of each kind of error (rows) against each harmless "
        "family (columns). Near or below 0.5 the error is no larger than the nuisance."
    )
    drawing = Drawing(MAP, title, read, _map_figure, opens={"families": "nuisance", **TEST})

    def compute(view: View, options: Options) -> pd.DataFrame:
        return heat_map(view, known=options.known)

    question = Question(f"{MAP}-cells", f"{title}?", SECTION, "what hides what", _HOW, columns, compute, _needs)
    return replace(question, figures=(drawing,), asks=("known",), pick=("evaluator",))


def _map_figure(drawing: Drawing, frame: pd.DataFrame, measure: str) -> Figure:
    data = marks(frame, label="family", series="nuisance", panel=("evaluator", "corpus"), opens=drawing.opens)
    data = data.assign(text=[f"{row.value:.2f}\nn {row.n}" for row in data.itertuples()])
    return drawing.drawn(
        data, "selectivity", kind="map", span=(0.0, 1.0), order=tuple(dict.fromkeys(map(str, frame["family"])))
    )


def blind_spots(view: View, *, most: int = 2) -> dict[str, str]:
    """What each evaluator of one corpus fails to see, in words with its numbers; nothing without directional probes.
    ``view``: of the table of scores, one corpus of it. ``most``: kinds of error that are named, those with the most
    failures first, of enough items and sources for a claim. Their intervals allow for the picking."""
    failures, selective = rows(view), headline(view)
    said = {}
    for name, own in failures.groupby("evaluator", sort=False):
        known = own[own["failure"].notna() & ~own["verdict"].isin(NO_CLAIM)]
        failing = known[known["failure"] > 0].sort_values(list(_FURTHEST), ascending=[False, False, False, True])
        worst = failing.head(most)
        alike = int((failing["failure"].iloc[len(worst) :] == worst["failure"].min()).sum())
        named = ". Then ".join(_failure(view, row, len(known)) for row in worst.to_dict("records"))
        named += f". It fails {alike} more as often" if alike else ""
        kept = usual(selective[selective["evaluator"] == name])
        parts = [f"{_selectivity(kept.to_dict('records')[0])}."] if len(kept) else []
        if named:
            parts.append(f"What it fails to see most: {named}.")
        elif len(known):
            parts.append(f"It missed none of {counted(known['n'].sum(), 'comparison')}.")
        said[str(name)] = " ".join(parts)
    return said


_FURTHEST = ("failure", "failure_high", "failure_low", "family")
"""As of :func:`core.analysis.overview.furthest`, of equal ones the first by name: a report names the same one."""


def _selectivity(row: Mapping[Hashable, Any]) -> str:
    ends = "no interval" if math.isnan(row["low"]) else f"{row['low']:.2f} to {row['high']:.2f}"
    of = "" if row["of"] == VERIFIED_ONLY else f", of {row['of']} comparisons: none is verified"
    return f"Selectivity {row['value']:.2f} ({ends}), n = {row['n_items']} items, {_by_chance(row)}{of}"


def _by_chance(row: Mapping[Hashable, Any]) -> str:
    return beside_chance(row["chance"], row["above"], row["above_low"], row["above_high"])


def _failure(view: View, row: Mapping[Hashable, Any], of: int) -> str:
    rate = picked_failure(view, row["evaluator"], row["corpus"], row["family"], of=of)
    ends = "no interval" if math.isnan(rate.low) else f"{100 * rate.low:.0f} to {100 * rate.high:.0f}"
    ties = f", ties {row['ties']:.0f} %" if row["ties"] else ""
    return f"{row['family']} {row['failure']:.0f} % failures ({ends}{ties}), n = {row['n']}, {row['verdict']}"
