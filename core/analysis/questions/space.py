"""Edits of the image: the paper's contrasts with their mixed models, and every probe of a family (RQ1).

Source: paper A, sections 5.1 and B.1; PROTOCOL section 1.

Turned pictures whose object the edge cuts: is a rotation's direction the same without them?
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from core.analysis.effects import (
    CELL,
    IN_PERCENT,
    Group,
    corpora,
    effects,
    ends,
    family_groups,
    median_over,
    probe_groups,
)
from core.analysis.lacks import no_family, no_probe
from core.analysis.questions import families, papers
from core.analysis.questions.artefacts import NOTHING, direction, in_words, overlap, untold
from core.analysis.questions.columns import COUNT, HEAD, NOTE, PERCENT, SHIFTS, TESTS, Dots, how, power
from core.analysis.questions.factor_tests import BETA, MIXED, SPREADS, betas, factor_questions, laid_out, of_reference
from core.analysis.questions.papers import contrast_group
from core.analysis.questions.question import Column, Drawing, Options, Question
from core.analysis.scores import once
from core.analysis.slices import WHOLE, is_cut
from core.analysis.table import ScoreTable, View
from core.analysis.verdicts import beside_mean
from core.probes.base import Axis
from core.statistics.bootstrap import Interval
from core.statistics.wording import remarks

_CORNERS, _SMALL_TURNS = papers.CONTRASTS[1:3]

_EDIT = Column("label", "Edit", kind="text")
_DOTS = "Median % change with its 95 % BCa interval; the line is no change."
_POOLED = (
    "Corpus “all”: the items of every corpus together, as the paper has it; β₁ is "
    "of these alone where there are several."
)
_CONTRASTS = "the two contrasts of this table"
_BY_CORPUS = Dots(label="evaluator", series="corpus", panel=())


def questions(table: ScoreTable) -> tuple[Question, ...]:
    """The paper's contrasts, the mixed models, and a table of probes for each family that has several."""
    several = [
        name
        for name, probes in table.families().items()
        if len(probes) > 1
        and families.section_of(table, name) not in ("words", "natural")
        and not table.is_control(name)
        and name != papers.DISTANCE
    ]
    probes = [_probes(table, name) for name in several]
    named = [name for name in papers.PLACE_LEVELS if name not in several]  # the paper's table is named either way
    levels = [each for name in (*several, *named) for each in _levels(table, name)]
    return (_flips(), _moves(), _mixed(table), *probes, *levels)


def _flips() -> Question:
    def compute(view: View, options: Options) -> pd.DataFrame:
        groups = [each for each in families_of_space(view) if each.label == papers.FLIP]
        return _with_betas(view, families.one_family(view, options, papers.FLIP), groups)

    drawing = Drawing("F2", "Vertical flips", _DOTS, _BY_CORPUS, "Figure 2", opens={"families": f"={papers.FLIP}"})
    title, note = "Vertical flips: how much scores change", f"{how(families.TESTED)} {MIXED} {_POOLED}"
    needs = partial(no_family, family=papers.FLIP, what="a vertical flip (vflip)")
    columns = (*HEAD, COUNT, PERCENT, BETA, *TESTS)
    question = Question("T3", title, "space", "contrasts", note, columns, compute, needs, (drawing,), "Table 3")
    return replace(question, tests=families.TESTED, asks=SHIFTS)


def _moves() -> Question:
    def compute(view: View, options: Options) -> pd.DataFrame:
        found = [
            contrast_group(view, each, tests="moves") or contrast_group(view.whole(), each, tests="moves", shown=False)
            for each in (_CORNERS, _SMALL_TURNS)
        ]
        groups = [each for each in found if each is not None]
        return _with_betas(view, effects(view, groups, pooled=True, margin=options.margin), groups)

    def needs(table: ScoreTable) -> str:
        corners = _no_corners(table)
        return corners if corners and _no_turns(table) else ""

    made, turned = (replace(_BY_CORPUS, only=each.label) for each in (_CORNERS, _SMALL_TURNS))
    opens = {"probes": f"={','.join(_SMALL_TURNS.probes)}"}
    moved = Drawing("F3", "Repositioning, bottom right against top left", _DOTS, made, "Figure 3", _no_corners)
    turns = Drawing("F4", "Rotations by ±10°", _DOTS, turned, "Figure 4", _no_turns, opens=opens)
    title = "Repositioning and small rotations: how much scores change"
    note = (
        f"{how(_CONTRASTS)} Repositioning compares the object at the bottom right with the same object at the top "
        f"left. {MIXED} {_POOLED}"
    )
    columns = (*HEAD, _EDIT, COUNT, PERCENT, BETA, *TESTS)
    question = Question("T4", title, "space", "contrasts", note, columns, compute, needs)
    return replace(question, figures=(moved, turns), paper="Table 4", tests=_CONTRASTS, asks=SHIFTS)


_no_corners = partial(no_probe, probes=papers.CORNERS, what="an object moved to the top left and to the bottom right")
_no_turns = partial(no_probe, probes=papers.SMALL_TURNS, what="a rotation by ±10°", some=True)


def families_of_space(view: View) -> list[Group]:
    """A group a family of spatial edits, controls and the distance grid aside."""
    groups = family_groups(view, axis=Axis.SPATIAL.value, controls=False)
    return [each for each in groups if each.shown and each.label != papers.DISTANCE]


def _mixed(table: ScoreTable) -> Question:
    def compute(view: View, options: Options) -> pd.DataFrame:
        return betas(view, families_of_space(view), view.table.reference)

    def needs(table: ScoreTable) -> str:
        if Axis.SPATIAL.value in families.axes(table):
            return ""
        return no_family(table, papers.FLIP, what="a spatial edit")

    title = "Spatial edits: the mean shift of the score, with image and category as random intercepts"
    note = f"{MIXED} As the paper's table 3 has it for vertical flips.{of_reference(table)}"
    label, remark = Column("label", "Family", kind="text"), Column("beta_note", "Remark", kind="text")
    columns = (*HEAD, label, COUNT, BETA, Column("beta_p", "p", kind="p"), *SPREADS, remark)
    return Question("S14", title, "space", "contrasts", note, columns, compute, needs)


def _with_betas(view: View, rows: pd.DataFrame, groups: Sequence[Group]) -> pd.DataFrame:
    """Rows with β₁ over all corpora together, as the paper has it; with one corpus, of that one. Where β₁ and the drift
    of a row do not say the same, ``conflict`` says so too."""
    *_, (corpus, _) = corpora(view.table, pooled=True)
    found = betas(view, groups, corpus).drop(columns="n_items")
    told = rows.merge(found, on=["evaluator", "corpus", "label"], how="left")
    conflicts = []
    for _, row in told.iterrows():
        mean = Interval(row["beta"], row["beta_low"], row["beta_high"], row["n_scored"], 0.95)
        moved = row["median_delta"] if math.isnan(row["median_percent"]) else row["median_percent"]
        conflicts.append(remarks(row["conflict"], beside_mean(row["drift"], moved, mean)))
    return told.assign(conflict=conflicts)


def _probes(table: ScoreTable, family: str) -> Question:
    said = family.replace("-", " ")
    tests = f"the probes of {said}"
    title = f"{said.capitalize()}: how much each probe changes the score"
    note = f"{_DOTS} Blur and invisible edits are controls."
    drawing = Drawing(f"F-{family}", title, note, Dots(), opens={"probes": "label"})

    def compute(view: View, options: Options) -> pd.DataFrame:
        rows = effects(view, [*probe_groups(view, family)], margin=options.margin)
        return pd.concat([rows, control_probes(view, options.margin)], ignore_index=True) if len(rows) else rows

    columns = (*HEAD, Column("label", "Probe", kind="text"), COUNT, PERCENT, *TESTS)
    question = Question(f"S-{family}", title, families.section_of(table, family), family, how(tests), columns, compute)
    return replace(question, figures=(drawing,), tests=tests, asks=SHIFTS)


@once
def control_probes(view: View, margin: float) -> pd.DataFrame:
    """Effect of each probe of the controls of images: blur, and invisible edits."""
    table, axes = view.table, (*families.EDITS, Axis.NULL.value)
    names = [name for name in table.families() if table.is_control(name) and table.axis_of(name) in axes]
    return effects(view, [group for name in names for group in probe_groups(view, name)], margin=margin)


def _levels(table: ScoreTable, family: str) -> tuple[Question, ...]:
    """Do the probes of a family differ?"""
    number = papers.PLACE_LEVELS.get(family, f"S-{family}-levels")
    said = family.replace("-", " ")

    def levels(view: View, options: Options, evaluator: str) -> tuple[Any, ...]:
        probes = view.families().get(family, ())
        keep = view.items & view.table.of_corpus(view.table.reference)
        return laid_out([view.changes(evaluator, (name,)).percent for name in probes], keep), probes

    def needs(table: ScoreTable) -> str:
        if len(table.families().get(family, ())) > 1:
            return ""
        return no_family(table, family, what=f"a {said} of two kinds or more") or f"the runs have one probe of {family}"

    section = "space" if family in papers.PLACE_LEVELS else families.section_of(table, family)
    paper = "B.1, quadrants" if family in papers.PLACE_LEVELS else ""
    of: dict[str, Any] = {"section": section, "part": family, "paper": paper, "note": of_reference(table)}
    return factor_questions(number, f"{said.capitalize()}: do the probes differ?", levels=levels, needs=needs, **of)


KEPT = "object_kept"
ROTATION = "rotation"
SMALL_TURNS = "rotation by ±10°"
ALL_ITEMS, UNCUT = "all items", "without the items it cut"

_CUT = "Rotations without the items whose object they cut"
_CUT_OF = (*CELL, "edit", "label", "cut_items", "least", "n_items")
_CUT_COLUMNS = (*_CUT_OF, *IN_PERCENT, "direction", "overlaps", "power", "note")


def of_cutting(table: ScoreTable) -> tuple[Question, ...]:
    """The contrast of the paper's table 4, and every family of spatial edits that cuts an object."""
    less = f"less than {100 * WHOLE:g} % of the object's mask is left in the image under one of the edits"
    direction_help = (
        "Same or turned: the interval lies on the side of 0 of the median of all items, or on the other one. "
        "Nothing to drop: the edit cut no object"
    )
    of = (
        Column("label", "Edit", kind="text"),
        Column("cut_items", "n cut", digits=0, help=f"Items left out: {less}"),
        Column("least", "Least left, %", digits=0, help="Smallest share of an object's mask that is left in the image"),
    )
    way = Column("direction", "Direction", kind="text", help=direction_help)
    overlaps = Column("overlap", "Interval", kind="text", help="With that of all items")
    found = power("The median % change that these items find")
    columns = (*HEAD, *of, COUNT, PERCENT, way, overlaps, found, NOTE)
    note = (
        f"An edit cuts an object where less than {100 * WHOLE:g} % of its mask is left in the image; an item is left "
        "out where one of the edits did. Median % change with its 95 % BCa interval, before and after. What an "
        "evaluator's own crop takes away besides is not counted here. A box without a mask has no such share: it is "
        "not left out."
    )
    return (Question("S-cut", _CUT, "space", "contrasts", note, columns, _turned, _turns_needed),)


def cut_items(table: ScoreTable, probes: tuple[str, ...]) -> np.ndarray:
    """Items whose object one of some edits cut, bool [N]."""
    return np.asarray(is_cut(table.diagnostics[KEPT].of(table.places(probes))).any(axis=0))


def _turns_needed(table: ScoreTable) -> str:
    lack = no_family(table, ROTATION, what="a rotation")
    if lack or (KEPT in table.diagnostics and np.isfinite(table.diagnostics[KEPT].values).any()):
        return lack
    return "no run measured how much of the object its edits leave in the image; that takes a corpus with masks"


def _groups(view: View) -> Iterator[Group]:
    """What is looked at: the small turns of table 4, rotations, and what else cuts an object."""
    turns = view.probes([name for name in papers.SMALL_TURNS if name in view.table.probes.index])
    if turns:
        yield Group(SMALL_TURNS, turns)
    for group in family_groups(view, axis=Axis.SPATIAL.value, controls=False):
        if group.shown and (group.label == ROTATION or cut_items(view.table, group.probes).any()):
            yield group


def _turned(view: View, options: Options) -> pd.DataFrame:
    table, records = view.table, list[tuple[object, ...]]()
    for group, evaluator, (corpus, own) in product(_groups(view), view.evaluators, corpora(table)):
        cut, percent = cut_items(table, group.probes), view.changes(evaluator, group.probes).percent
        items = own & view.items & ~np.isnan(percent)
        if not items.any():
            continue
        left = table.diagnostics[KEPT].of(table.places(group.probes))[:, items]
        least = 100 * float(np.nanmin(left)) if np.isfinite(left).any() else np.nan
        whole = median_over(percent, items, table.sources)
        less = median_over(percent, items & ~cut, table.sources)
        for name, found, gone in ((ALL_ITEMS, whole, 0), (UNCUT, less, int((items & cut).sum()))):
            way = direction(found, whole) if gone or name == ALL_ITEMS else NOTHING
            of = (evaluator, corpus, group.label, f"{group.label}, {name}", gone, least, found.n)
            said = (way, overlap(found, whole), untold(found, whole), found.note)
            records.append((*of, *ends(found).values(), *said))
    frame = pd.DataFrame(records, columns=list(_CUT_COLUMNS))
    return frame.assign(overlap=in_words(frame["overlaps"], "overlaps", "apart", frame["low"].notna()))
