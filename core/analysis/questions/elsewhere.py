"""What papers B to E show and no run can give: named, so that nobody takes its absence for a finding."""

from functools import partial

import pandas as pd

from core.analysis.comparisons import axes
from core.analysis.questions import papers
from core.analysis.questions.base import Options, Question
from core.analysis.questions.columns import EVALUATOR
from core.analysis.table import ScoreTable, View


def questions(table: ScoreTable) -> tuple[Question, ...]:
    """One for each of these, where the runs hold a directional probe at all."""
    return tuple(_named(id_, *about) for id_, about in papers.ELSEWHERE.items()) if axes(table) else ()


def _named(id_: str, paper: str, reason: str) -> Question:
    return Question(
        id_, paper, "contrast", "elsewhere", reason, (EVALUATOR,), _nothing, partial(_because, reason), paper=paper
    )


def _because(reason: str, table: ScoreTable) -> str:
    return reason


def _nothing(view: View, options: Options) -> pd.DataFrame:
    return pd.DataFrame(columns=["evaluator"])
