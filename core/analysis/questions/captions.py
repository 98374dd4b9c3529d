"""Questions whose probes come with a caption of their own: asked of the caption under which the runs hold them."""

from dataclasses import replace

import pandas as pd

from core.analysis.beside import caption_of, every_caption
from core.analysis.questions.base import Options, Question
from core.analysis.questions.columns import CORPUS
from core.analysis.questions.directional import CAPTION
from core.analysis.table import ScoreTable, View


def under_its_caption(question: Question) -> Question:
    """The question, answered of the scope's caption or, where that cannot answer it, of another one of the same runs.

    Args:
        question: whose columns name the corpus, or that has figures alone.

    Returns:
        The same with a column that names the caption. It lacks what every caption lacks, and says what the scope's own
        does.
    """

    def needs(table: ScoreTable) -> str:
        return "" if _of(table) is not None else question.needs(table)

    def compute(view: View, options: Options) -> pd.DataFrame:
        table = _of(view.table) or view.table
        own = view if table is view.table else table.view(view.chosen)
        return question.compute(own, options).assign(caption=caption_of(table))

    def _of(table: ScoreTable) -> ScoreTable | None:
        if not question.needs(table):
            return table
        return next((each for each in every_caption(table)[1:] if not question.needs(each)), None)

    place = question.columns.index(CORPUS) + 1 if question.columns else 0
    columns = (*question.columns[:place], CAPTION, *question.columns[place:]) if place else ()
    return replace(question, columns=columns, needs=needs, compute=compute)
