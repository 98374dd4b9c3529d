"""Families that can be audited and were not: named, so that nobody takes their absence for a finding."""

from functools import partial

import pandas as pd

from core.analysis.questions import families, paper
from core.analysis.questions.base import Options, Question
from core.analysis.questions.columns import COUNT, EVALUATOR, PERCENT
from core.analysis.questions.needs import no_family
from core.analysis.table import ScoreTable, View
from core.probes.base import BASE_CAPTION, FRAMES, Axis, Construction, Expectation
from core.probes.registry import catalogue

PART = "not audited"


def questions(table: ScoreTable) -> tuple[Question, ...]:
    """A question for each family of invariant probes that the table lacks and that no other question names.

    A family beside the directional ones (the order in which objects are mentioned) is read with those; words that are
    inserted into human captions are the same words as the template's, in its other construction. What needs frames
    cannot be audited on pictures, and is audited on videos unless somebody leaves it out.
    """
    here = {*table.families(controls=True), *paper.WORDS, *paper.LEVELS, paper.FLIP, paper.DISTANCE, BASE_CAPTION}
    lacking = {
        probe.family: probe.axis.value for probe in catalogue()
        if probe.expectation is Expectation.INVARIANT and not (probe.control or probe.selector)
        and probe.family not in here and probe.construction is not Construction.INSERTED
        and probe.axis not in (Axis.LEXICAL, Axis.SEMANTIC, Axis.OBJECT) and probe.needs != FRAMES
    }  # fmt: skip
    return tuple(_unasked(family, axis) for family, axis in sorted(lacking.items()))


def _unasked(family: str, axis: str) -> Question:
    said = family.replace("-", " ")
    section = families.section(family, axis)
    kind = {"words": "words", "natural": "captions"}.get(section, "edits")
    what = f"{said} {kind}"
    return Question(
        f"S-{family}", f"{said.capitalize()}: how far scores move", section, PART,
        "Named because it can be audited and was not.", (EVALUATOR, COUNT, PERCENT), _nothing,
        partial(no_family, family=family, what=what),
    )  # fmt: skip


def _nothing(view: View, options: Options) -> pd.DataFrame:
    return pd.DataFrame(columns=["evaluator", "n_items", "median_percent", "low", "high"])
