"""Captions that say more and more of one picture, each true: does the score rise with every word that fits?"""

import numpy as np
import pandas as pd

from core.analysis.comparisons import RESPONSE
from core.analysis.effects import Group, corpora, effects
from core.analysis.lacks import no_family_of
from core.analysis.questions import papers
from core.analysis.questions.columns import CORPUS, COUNT, EVALUATOR, PERCENT
from core.analysis.questions.comparison_columns import CORRECTED, NOTE, under_its_caption
from core.analysis.questions.directional import MADE, SECTION
from core.analysis.questions.question import Column, Options, Question
from core.analysis.table import ScoreTable, View
from core.probes.families.nested import NESTED as STEPS
from core.statistics.shares import share

RISES = Column(
    "rises",
    "Rises, % of items [95 % CI]",
    digits=0,
    low="rises_low",
    high="rises_high",
    help="Items whose score is strictly higher with the longer caption; an equal score is no rise",
)


def of_nested(table: ScoreTable) -> tuple[Question, ...]:
    """The answer to every step."""
    columns = (
        EVALUATOR,
        CORPUS,
        Column("label", "Step", kind="text"),
        COUNT,
        PERCENT,
        Column(
            "standardised",
            "Median Δ, SD [95 % CI]",
            digits=3,
            signed=True,
            low="standardised_low",
            high="standardised_high",
        ),
        RISES,
        *CORRECTED,
        NOTE,
    )
    note = (
        "Both captions are true and the longer one begins with the words of the shorter, so that no answer is a "
        "failure: the change of each item from the step before (nested:share from the template), its median over items "
        "with a 95 % BCa interval, and the share of the items scored that rise, with Wilson's interval over sources. "
        "English alone: the template has no other language. Holm’s correction over the family’s probes."
    )
    id_, paper = papers.RESPONSES[papers.NESTED]
    return (
        under_its_caption(
            Question(
                id_,
                "Nested captions: does saying more of the same picture score higher?",
                SECTION,
                MADE,
                note,
                columns,
                _answers,
                _nested_lacking,
                paper=paper,
                tests="the probes of the family",
            )
        ),
    )


def _nested_lacking(table: ScoreTable) -> str:
    return no_family_of(table, papers.NESTED, RESPONSE, what="nested captions")


def _answers(view: View, options: Options) -> pd.DataFrame:
    there = view.table.of_expectation(RESPONSE).get(papers.NESTED, ())
    named = [step.name for step in STEPS if step.name in there]
    groups = [Group(name, (name,), tests=papers.NESTED, shown=bool(view.probes((name,)))) for name in named]
    found = effects(view, groups, margin=options.margin)
    rises = [_rises(view, str(row["evaluator"]), str(row["corpus"]), str(row["label"])) for _, row in found.iterrows()]
    return found.join(pd.DataFrame(rises, columns=["rises", "rises_low", "rises_high"], index=found.index))


def _rises(view: View, evaluator: str, corpus: str, probe: str) -> tuple[float, float, float]:
    """Share of items whose score rises, with its interval, in percent."""
    delta, table = view.changes(evaluator, (probe,)).delta, view.table
    kept = dict(corpora(table))[corpus] & view.items & ~np.isnan(delta)
    found = share(delta[kept] > 0, groups=table.sources_of(kept))
    return 100 * found.estimate, 100 * found.low, 100 * found.high
