"""What a calibration changes: learnt on the dev split, reported on the test split (tables 14 to 16, figure 12, A.7)."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from core.analysis.effects import Group, bounds
from core.analysis.flip_cells import READ, TWO_PICTURES
from core.analysis.flip_shifts import Shifts
from core.analysis.lacks import no_family
from core.analysis.questions import papers
from core.analysis.questions.columns import CORPUS, EVALUATOR, NOTE
from core.analysis.questions.papers import Named, named_groups
from core.analysis.questions.question import Column, Drawing, Options, Question
from core.analysis.scores import once
from core.analysis.table import BASELINE, ScoreTable, View
from core.charts.spec import Figure, marks_of
from core.errors import InvalidInput
from core.features.calibration.effect import TwoSides, effect_of, overall
from core.features.calibration.fit import ORACLE, WEIGHTS, Fit, best_of, fit, halves, oracle_candidates
from core.features.calibration.orbits import Family, Orbits, Side, side_of
from core.features.calibration.readings import (
    BY_CONSTRUCTION,
    CHOSEN,
    CONSTRUCTED,
    FIXED,
    MEASURED,
    READINGS,
    UNIFORM,
    WEIGHTED,
    Terms,
    corrections,
    learn,
    weighed,
)
from core.features.calibration.sweep import EPSILONS, Sweeps, calibrated, ceilings_of, choose, raised
from core.probes.base import BASE_CAPTION, Axis
from core.statistics.changes import interquartile_range

GAP = 0.007
"""Gap of table 16, as a share of the interquartile range of each side's unedited scores. Source: paper A, section
3.4."""

EPSILON = 0.01
ABLATION = "S30"  # id of the table of every reading, weighting and ε
MEASURED_TABLE = "S37"  # id of a report's table of calibrations that were measured (:mod:`core.report.kept_results`)
READING = "shift", "orbit"  # readings of the tables: the one whose held-out numbers are measured leads

ALONG = "orbit"
"""Reading of the figure along λ: the others leave the unedited scores, and so every correlation, as they are."""

HOW = (
    "Readings shift and orbit, uniform weights over families. Terms and λ* are learnt on the dev split (half of the "
    "sources); the numbers are those of the held-out other half. λ*: the smallest λ of 0, 0.05, …, 1 that minimises "
    "the total median |Δ| over the spread of the unedited scores on the dev split, while Spearman's ρ with every other "
    "evaluator loses at most ε = 0.01 there and no family is moved past the 95 % interval of its uncalibrated shift. "
    "Rests on: shift corrects a known edit, so its held-out numbers are measured on stored scores; what orbit does to "
    "stored shifts follows from the formula, Δ becomes (1 − λ·w) Δ, and is no measurement (the page Calibrate and "
    f"calibrate --measure make one; table {MEASURED_TABLE} has those that are stored). So nothing chooses the λ of "
    "orbit: every larger one lowers every shift, whatever the scores are, and the one here is only the best that the "
    "bounds leave room for. Each side is over the spread of its own unedited scores: a calibration that only shrinks "
    "them "
    "gains nothing."
)
_WHAT_READINGS_DO = (
    "Reading shift takes a family's median shift off; orbit moves every score towards the median over its picture's "
    "own variants, and what follows is by construction"
)
_READING = (
    EVALUATOR,
    CORPUS,
    Column("reading", "Reading", kind="text", help=_WHAT_READINGS_DO),
    Column("basis", "Rests on", kind="text"),
)
_RATIO = Column("ratio", "After / before [95 % CI]", digits=3, low="ratio_low", high="ratio_high")
_STRENGTH = (Column("strength", "λ"), Column("whence", "λ is", kind="text"))
_N = Column("n", "n", digits=0)
CHANGES = (
    Column("measure", "Measure", kind="text"),
    Column("name", "Of", kind="text"),
    Column("gap", "Gap", digits=3),
    Column("before", "Before → after [95 % CI]", digits=4, low="before_low", high="before_high", to="after"),
    Column("constructed", "After by construction", digits=4),
    _RATIO,
    _N,
)
"""What a reader sees of :func:`core.features.calibration.effect.before_after`, and of a measurement beside it."""
_BOUNDS = (*bounds("before"), *bounds("after"))


@dataclass(frozen=True, slots=True)
class _Calibrated:
    """One evaluator's calibration: the fit, and what it changes on the test split."""

    fit: Fit
    effect: TwoSides


def questions(table: ScoreTable) -> tuple[Question, ...]:
    """What calibration changes on the reference corpus; it is never learnt over several."""
    of = f" Items of corpus {table.reference}." if len(table.corpora) > 1 else ""
    return (*_sensitivity(of), _societal(of), _risks(of), _utility(of), _choices(of))


def _sensitivity(of: str) -> tuple[Question, ...]:
    columns = (
        *_READING,
        Column("axis", "Axis", kind="text"),
        _N,
        *_STRENGTH,
        _change("Median |Δ|, SD, held out, before → after [95 % CI]", digits=4),
        _RATIO,
        Column("loss", "Largest loss of ρ, held out", digits=3, signed=True),
        NOTE,
    )
    said = (
        f"{HOW} Sensitivity: median over items of an item's median |Δ|, in standard deviations of the unedited scores "
        "of the same side, so that evaluators of different scales compare; mean over the axis' families. Largest "
        f"loss: the most negative change of ρ with another evaluator.{of}"
    )
    title = "Calibration: sensitivity by axis, before and after, held out"
    drawing = Drawing("F12a", "Calibration: sensitivity by axis, held out", said, _two_sides, "Figure 12, left")
    return (_asked("T14", title, said, columns, _by_axis, drawing),)


def _societal(of: str) -> Question:
    change = _change("Median |% change|, held out, before → after [95 % CI]")
    columns = (*_READING, Column("name", "Family", kind="text"), _N, change, NOTE)

    def compute(view: View, options: Options) -> pd.DataFrame:
        frame = _measure(view, "percent")
        return frame[frame["axis"] == "societal"].reset_index(drop=True)

    note = (
        f"{HOW} The gap: median over items of an item's median |% change|, in percent of the same side's baselines.{of}"
    )
    asked = _asked("T15", "Calibration: societal gaps, before and after, held out", note, columns, compute)
    return replace(asked, needs=lambda table: _needs(table) or _no_words(table))


def _no_words(table: ScoreTable) -> str:
    if any(table.axis_of(name) == Axis.SOCIETAL.value for name in table.families()):
        return ""
    return no_family(table, next(iter(papers.WORDS)), what="words before a noun")


def _risks(of: str) -> Question:
    floor = "Under invisible edits, uncalibrated, the same items and the gap before: the floor"
    columns = (
        *_READING,
        Column("name", "Contrast or family", kind="text"),
        Column("of", "Which", kind="text"),
        _N,
        _change("Risk %, held out, before → after [95 % CI]", digits=1),
        Column("null_risk", "Invisible edits, risk %", digits=1, help=floor),
        NOTE,
    )

    def compute(view: View, options: Options) -> pd.DataFrame:
        frames = [_contrast_risks(view, name, reading) for name, reading in _all(view, *READING)]
        columns = ["evaluator", "of", *_BOUNDS, "null_risk", "note"]
        frame = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=columns)
        return frame.assign(**{name: 100 * frame[name] for name in (*_BOUNDS, "null_risk")})

    title = "Calibration: flip risk at 0.7 % of the interquartile range, before and after, held out"
    note = (
        f"{HOW} Flip risks are {TWO_PICTURES}. The gap is 0.7 % of the interquartile range of the unedited scores of "
        "the same side. "
        f"The paper's contrasts come first, then whole families. {READ.partition('Beside it')[0].strip()}{of}"
    )
    return _asked("T16", title, note, columns, compute)


def _utility(of: str) -> Question:
    note = (
        "Spearman's ρ of the calibrated score with every other evaluator on the dev split, which bounds λ: nothing "
        "here is held out. Reading orbit, uniform weights; the larger mark is the λ of the tables, which these bounds "
        "leave and nothing chose. What ρ loses on the held-out split stands with the sensitivity by axis. The reading "
        f"shift leaves the unedited scores, and so ρ, as they are.{of}"
    )
    drawing = Drawing("F12b", "Calibration: agreement along λ, dev split", note, _along, "Figure 12, right")
    asked = _asked("S23", "Calibration: agreement along λ, dev split", note, (), _sweeps, drawing)
    return replace(asked, needs=lambda table: _needs(table) or _no_other(table))


def _no_other(table: ScoreTable) -> str:
    if len(table.evaluators) > 1:
        return ""
    return (
        f"it holds {table.evaluators[0]} to another evaluator and the scope has no other; audit a second one beside it"
    )


def _choices(of: str) -> Question:
    columns = (
        EVALUATOR,
        CORPUS,
        Column("reading", "Reading", kind="text"),
        Column("weights", "Weights", kind="text"),
        Column("epsilon", "ε", digits=3),
        *_STRENGTH,
        Column("basis", "Rests on", kind="text"),
        _N,
        _change("Median |Δ|, SD, held out, before → after [95 % CI]", digits=4),
        _RATIO,
        Column("loss", "Largest loss of ρ, held out", digits=3, signed=True),
        Column("raised", "Moved further than before, held out", kind="text"),
        NOTE,
    )
    note = (
        "Every reading with every weighting at every ε (paper A, A.7). λ is chosen on the dev split, or by nothing "
        "where its effect holds by construction; every number is of the held-out split: mean over families of the "
        "median |Δ|, in standard deviations of the unedited scores of the same side. Rests on: see the sensitivity by "
        "axis; oracle weights have seen the held-out split. The readings shift, ridge and quantile know no weights. "
        f"Moved further: past the 95 % interval of the uncalibrated shift.{of}"
    )
    title = "Calibration: every reading, weighting and ε, held out"
    return _asked(ABLATION, title, note, columns, lambda view, options: _ablated(view))


def _asked(
    id_: str,
    title: str,
    note: str,
    columns: tuple[Column, ...],
    compute: Callable[[View, Options], pd.DataFrame],
    *figures: Drawing,
) -> Question:
    paper = f"Table {id_.removeprefix('T')}" if id_.startswith("T") else ""
    return Question(id_, title, "calibration", "calibration", note, columns, compute, _needs, figures, paper)


def _needs(table: ScoreTable) -> str:
    if not any(name != BASE_CAPTION and not table.is_control(name) for name in table.families()):
        return "no run has an invariant family to calibrate for; audit some invariant probes"
    try:
        _made(table.view(), table.evaluators[0], READING[0])
    except InvalidInput as error:
        return str(error)
    return ""


@once
def _own(view: View) -> View:
    """The part of a view that is calibrated: its reference corpus."""
    return view.table.only(view.table.reference).view(view.chosen)


@once
def _made(view: View, evaluator: str, reading: str) -> _Calibrated:
    found = fit(_own(view), evaluator=evaluator, reading=reading, epsilon=EPSILON)
    changes = corrections(found.scores, found.terms)
    return _Calibrated(found, effect_of(found.scores, changes, found.choice.strength, found.others, gaps=(GAP,)))


@once
def _ablated(view: View) -> pd.DataFrame:
    own, frames = _own(view), []
    for name in view.evaluators:
        try:
            frames.append(ablation(own, name).assign(evaluator=name, corpus=view.table.reference))
        except InvalidInput:
            continue  # an evaluator without a shift here has no row
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=["evaluator", *_BOUNDS])


def _all(view: View, *readings: str) -> dict[tuple[str, str], _Calibrated]:
    """By evaluator and reading, the evaluators in their order."""
    made = {}
    for name in view.evaluators:
        for reading in readings:
            try:
                made[name, reading] = _made(view, name, reading)
            except InvalidInput:
                continue  # an evaluator without a shift here has no row
    return made


def _measure(view: View, measure: str) -> pd.DataFrame:
    frames = [
        each.effect.rows((measure,)).assign(
            evaluator=name, corpus=view.table.reference, reading=reading, basis=each.fit.basis
        )
        for (name, reading), each in _all(view, *READING).items()
    ]
    columns = ["evaluator", "axis", "reading", *_BOUNDS, "note"]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=columns)


@once
def _contrast_risks(view: View, evaluator: str, reading: str) -> pd.DataFrame:
    """Flip risk of the contrasts and of the whole families on the test split, each side at its own gap."""
    found, own = _made(view, evaluator, reading).fit, _own(view)
    named = named_groups(own)
    known = zip(own.table.items["corpus"], own.table.items["item"], strict=True)
    places = {name: place for place, name in enumerate(known)}
    items = np.array([places[name] for name in found.scores.items], dtype=np.intp)
    after = calibrated(found.scores, found.terms, found.choice.strength)
    before, after = (contrasts_of(each, named, items) for each in (found.scores, after))
    rows = TwoSides(before, after, {}, gaps=(GAP,)).rows(("flip risk",))
    of = {each.group.label: each.of for each in named}
    # the risk under invisible edits, of the same items at the gap before; NaN where none was scored
    probes = tuple(name for names in own.table.families(axis=Axis.NULL.value).values() for name in names)
    keep = np.zeros(len(own.table.items), dtype=bool)
    keep[items] = True
    shifts = Shifts(own, evaluator, own.table.reference, Group(Axis.NULL.value, probes), keep)
    rows = rows.assign(null_risk=shifts.risk(GAP * interquartile_range(found.scores.clean)).estimate)
    about = {"evaluator": evaluator, "corpus": view.table.reference, "reading": reading, "basis": found.basis}
    return rows.assign(**about, of=rows["name"].map(of)).reset_index(drop=True)


def _by_axis(view: View, options: Options) -> pd.DataFrame:
    rows = _measure(view, "axis sensitivity")
    made = _all(view, *READING)
    of = [made[pair] for pair in zip(rows["evaluator"], rows["reading"], strict=True)]
    return rows.assign(
        strength=[each.fit.choice.strength for each in of],
        whence=[each.fit.whence for each in of],
        loss=[_loss(each.effect.rows(("spearman",))) for each in of],
        note=[" ".join(filter(None, (_remark(each.fit), said))) for each, said in zip(of, rows["note"], strict=True)],
    )


def _remark(found: Fit) -> str:
    """What constrained the choice of λ, and what must be said before any number of it."""
    return " ".join(each for each in (found.choice.note, *found.caveats(found.choice.strength), found.left_out) if each)


def _loss(table: pd.DataFrame) -> float:
    """The most negative change of ρ with another evaluator, of rows of it."""
    kept = table.dropna(subset=["before", "after"])
    return float((kept["after"] - kept["before"]).min()) if len(kept) else math.nan


def _sweeps(view: View, options: Options) -> pd.DataFrame:
    """Agreement with every other evaluator along λ on the dev split."""
    rows = []
    for (name, _), each in _all(view, ALONG).items():
        swept = each.fit.dev
        chosen = np.isclose(swept.lambdas, each.fit.choice.strength)
        for other, values in swept.spearman.items():
            along = zip(swept.lambdas, values, chosen, strict=True)
            rows += [(name, view.table.reference, other, at, value, swept.n, best) for at, value, best in along]
    columns = ["evaluator", "corpus", "other", "strength", "value", "n_items", "chosen"]
    return pd.DataFrame(rows, columns=columns)


def _change(header: str, *, digits: int = 2) -> Column:
    return Column("before", header, digits=digits, low="before_low", high="before_high", to="after")


def _two_sides(drawing: Drawing, frame: pd.DataFrame, measure: str) -> Figure:
    panel = frame["evaluator"] + ", " + frame["reading"] + ", " + frame["basis"]
    sides = [marks_of(frame, frame["axis"], stem, panel, bounds(stem), "n") for stem in ("before", "after")]
    data = pd.concat(sides, ignore_index=True).sort_values("panel", kind="stable", ignore_index=True)
    return Figure(drawing.id, drawing.title, drawing.note, data, "median |Δ|, SD", free=True, paper=drawing.paper)


def _along(drawing: Drawing, frame: pd.DataFrame, measure: str) -> Figure:
    strength, chosen = frame["strength"].astype(float), frame["chosen"].astype(bool)
    data = marks_of(frame, strength, frame["other"], frame["evaluator"], ["value"], chosen=chosen)
    return Figure(
        drawing.id, drawing.title, drawing.note, data, "Spearman’s ρ", kind="lines", mark="chosen", paper=drawing.paper
    )


# The paper's contrasts of one evaluator's scores, in the arrangement of whole families: what table 16 is of.
def contrasts_of(scores: Orbits, named: Sequence[Named], items: np.ndarray) -> Orbits:
    """Scores with each contrast as a family of its label; a contrast of two probes compares the scores of the one with
    those of the other, and what it lacks here is left out. ``items``: place in the view's table of each item, int
    [n]."""
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


# Every reading with every weighting at every ε: what each choice does to the held-out items. Source: paper A, A.7.
SAW_IT = "chosen on the held-out split: an upper bound"  # what the numbers of oracle weights rest on


def ablation(view: View, evaluator: str) -> pd.DataFrame:
    """Every reading with every kind of weights at every ε, on the held-out split.

    Returns:
        One row (reading, weights, epsilon): strength (λ), whence (what chose it, if anything), basis (by construction,
        measured on stored scores, or chosen on the held-out split), before, after and ratio with their intervals (mean
        over families of the sensitivity over the spread of the same side's unedited scores), loss (most negative change
        of a held-out ρ; NaN without an H), raised (families moved beyond their uncalibrated interval), n (held-out
        items).
    """
    dev, test, dev_others, test_others = halves(view, evaluator=evaluator)
    records = []
    on_dev, on_test, before = ceilings_of(dev), ceilings_of(test), side_of(test)
    for reading in READINGS:
        terms = learn(dev, reading=reading)
        dev_sweeps = Sweeps(dev, terms, dev_others, ceilings=on_dev)
        test_sweeps = Sweeps(test, terms, test_others, ceilings=on_test)
        for weights in WEIGHTS if reading in WEIGHTED else (UNIFORM,):
            oracle = oracle_candidates(dev, terms, test_sweeps) if weights == ORACLE else []
            learnt = None if oracle else weighed(terms, dev, weights)
            outcomes = dict[tuple[int, float], dict[str, object]]()  # one choice may be that of several ε
            for epsilon in EPSILONS:
                own = best_of(oracle, epsilon=epsilon) if learnt is None else learnt
                chosen = choose(dev_sweeps.sweep(own), epsilon=epsilon)
                named = {"reading": reading, "weights": weights if reading in WEIGHTED else "", "epsilon": epsilon}
                basis = CONSTRUCTED if reading in BY_CONSTRUCTION else MEASURED
                choice = (id(own), chosen.strength)
                if choice not in outcomes:
                    outcomes[choice] = _outcome(test, own, test_sweeps, chosen.strength, before)
                told = {"strength": chosen.strength, "whence": CHOSEN if basis == MEASURED else FIXED}
                records.append({**named, **told, "basis": SAW_IT if oracle else basis, **outcomes[choice]})
    return pd.DataFrame(records)


def _outcome(test: Orbits, terms: Terms, sweeps: Sweeps, strength: float, before: Side) -> dict[str, object]:
    swept = sweeps.sweep(terms, lambdas=(0.0, strength))
    losses = [values[1] - values[0] for values in swept.spearman.values() if not np.isnan(values[0])]
    told = overall(test, sweeps.corrections(terms), strength, before=before)
    return {**told, "loss": float(min(losses)) if losses else np.nan, "raised": ", ".join(raised(swept, strength))}
