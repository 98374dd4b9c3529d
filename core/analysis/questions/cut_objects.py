"""Turned pictures whose object the edge cuts: is a rotation's direction the same without them?"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from core.analysis.effects import Group, corpora, family_groups, median_over
from core.analysis.lacks import no_family
from core.analysis.questions import papers
from core.analysis.questions.artefacts import in_words
from core.analysis.questions.columns import CORPUS, COUNT, EVALUATOR, PERCENT
from core.analysis.questions.filters import NOTHING, direction, overlap, untold
from core.analysis.questions.question import Column, Options, Question
from core.analysis.slices import WHOLE, is_cut
from core.analysis.table import ScoreTable, View
from core.probes.base import Axis

KEPT = "object_kept"
ROTATION = "rotation"
SMALL_TURNS = "rotation by ±10°"
ALL_ITEMS, UNCUT = "all items", "without the items it cut"

_CUT = "Rotations without the items whose object they cut"
_CUT_COLUMNS = (
    "evaluator",
    "corpus",
    "edit",
    "label",
    "cut_items",
    "least",
    "n_items",
    "median_percent",
    "low",
    "high",
    "direction",
    "overlaps",
    "power",
    "note",
)


def of_cutting(table: ScoreTable) -> tuple[Question, ...]:
    """The contrast of the paper's table 4, and every family of spatial edits that cuts an object."""
    columns = (
        EVALUATOR,
        CORPUS,
        Column("label", "Edit", kind="text"),
        Column(
            "cut_items",
            "n cut",
            digits=0,
            help="Items left out: less than "
            f"{100 * WHOLE:g} % of the object's mask is left in the image under one of the edits",
        ),
        Column("least", "Least left, %", digits=0, help="Smallest share of an object's mask that is left in the image"),
        COUNT,
        PERCENT,
        Column(
            "direction",
            "Direction",
            kind="text",
            help="Same or turned: the interval lies on the side of 0 of the "
            "median of all items, or on the other one. Nothing to drop: the edit cut no object",
        ),
        Column("overlap", "Interval", kind="text", help="With that of all items"),
        Column(
            "power",
            "Why it is unclear",
            kind="text",
            help="The median % change that these items find in four of five such runs",
        ),
        Column("note", "Remark", kind="text"),
    )
    note = (
        f"An edit cuts an object where less than {100 * WHOLE:g} % of its mask is left in the image; an item is left "
        "out where one of the edits did. Median % change with its 95 % BCa interval, before and after. What an "
        "evaluator's "
        "own crop takes away besides is not counted here. A box without a mask has no such share: it is not left out."
    )
    return (Question("S-cut", _CUT, "space", "contrasts", note, columns, _turned, _turns_needed),)


def cut_items(table: ScoreTable, probes: tuple[str, ...]) -> np.ndarray:
    """Items whose object one of some edits cut, bool [N]."""
    if KEPT not in table.diagnostics:
        return np.zeros(len(table.items), dtype=bool)
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
    table, records = view.table, list[dict[str, object]]()
    for group in _groups(view):
        cut = cut_items(table, group.probes)
        kept = table.diagnostics[KEPT].of(table.places(group.probes))
        for evaluator in view.evaluators:
            percent = view.changes(evaluator, group.probes).percent
            for corpus, own in corpora(table):
                items = own & view.items & ~np.isnan(percent)
                if not items.any():
                    continue
                left = kept[:, items]
                least = 100 * float(np.nanmin(left)) if np.isfinite(left).any() else np.nan
                whole = median_over(percent, items, table.sources)
                less = median_over(percent, items & ~cut, table.sources)
                for name, found, gone in ((ALL_ITEMS, whole, 0), (UNCUT, less, int((items & cut).sum()))):
                    records.append(
                        {
                            "evaluator": evaluator,
                            "corpus": corpus,
                            "edit": group.label,
                            "label": f"{group.label}, {name}",
                            "cut_items": gone,
                            "least": least,
                            "n_items": found.n,
                            "median_percent": found.estimate,
                            "low": found.low,
                            "high": found.high,
                            "direction": direction(found, whole) if gone or name == ALL_ITEMS else NOTHING,
                            "overlaps": overlap(found, whole),
                            "power": untold(found, whole),
                            "note": found.note,
                        }
                    )
    frame = pd.DataFrame(records, columns=list(_CUT_COLUMNS))
    return frame.assign(overlap=in_words(frame["overlaps"], "overlaps", "apart", frame["low"].notna()))
