"""Paper C's own tests of meaning: hollow tails, which a metric used as a reward invites, and FOIL's foils.

Source: paper C (PAC-S++): captioners that are trained on a metric learn its weak spots; Table 4 is FOIL.
"""

import pandas as pd

from core.analysis.questions import papers
from core.analysis.questions.base import Column, Options, Question
from core.analysis.questions.columns import CORPUS, COUNT, EVALUATOR
from core.analysis.questions.directional import (
    CORRECTED,
    DEPTH,
    DROP,
    FAILURE,
    HOW,
    MEDIAN,
    NOTE,
    PAIRS,
    SECTION,
    TIES,
    VERDICT,
    WHAT,
    needs,
    rows,
)
from core.analysis.table import ScoreTable, View


def questions(table: ScoreTable) -> tuple[Question, ...]:
    """One table."""
    id_, paper = papers.REWARDS
    columns = (
        EVALUATOR, CORPUS, WHAT, COUNT, PAIRS, FAILURE, TIES,
        Column("beaten", "Broken side strictly above, % [95 % CI]", digits=1, low="beaten_low", high="beaten_high",
               help="A reward would pay for the broken side"),
        DROP, MEDIAN, VERDICT, *CORRECTED, NOTE,
    )  # fmt: skip
    note = (
        f"{HOW}A hollow tail is words that say nothing at the end of a caption, as captioners write them that are "
        "trained on a metric; a foil names a sibling in an object’s place. Holm’s correction within evaluator and "
        "corpus over the families of the axis, these among them."
    )
    return (Question(id_, "Hollow tails and foils: would a reward pay for them?", SECTION, DEPTH, note, columns,
                     _compute, _lacking, paper=paper, tests="the families of the axis", asks=("known",)),)  # fmt: skip


def _compute(view: View, options: Options) -> pd.DataFrame:
    found = rows(view, options.known)
    return found[found["family"].isin(papers.OF_C)].reset_index(drop=True)


def _lacking(table: ScoreTable) -> str:
    there = set(table.probes.loc[table.probes["expectation"] == "directional", "family"])
    if there & set(papers.OF_C):
        return ""
    return needs(table) or "no run holds a hollow tail or a foil; --probes hollow-tail,foil has them"
