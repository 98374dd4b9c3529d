"""How a comparison of a right and a wrong side is written: columns that the tables of directional probes share."""

from dataclasses import replace

import pandas as pd

from core.analysis.beside import caption_of, every_caption
from core.analysis.questions.columns import CORPUS, COUNT, NOTE
from core.analysis.questions.question import Column, Options, Question, bounded
from core.analysis.table import ScoreTable, View

WHAT = Column("family", "What breaks", kind="text")
PAIRS = Column("n", "n comparisons", digits=0, help="Right and wrong sides with both scores; an item may give several")
_FAILURE = (
    "Comparisons whose wrong side scores at least as high as the right one, ties among them; Wilson’s interval, "
    "comparisons of one source together"
)
FAILURE = bounded("failure", "Failures, % [95 % CI]", digits=1, help=_FAILURE)
TIED_SHARE = ("ties", "ties_low", "ties_high")
_TIES = "Both sides score exactly the same; interval as that of the share beside it"
TIES = bounded("ties", "Ties, % [95 % CI]", digits=1, help=_TIES)
_DROP = (
    "Mean wrong score minus mean right one, in percent of the mean right one: the number of papers B and D. BCa "
    "bootstrap over items"
)
DROP = bounded("drop", "Drop of means, % [95 % CI]", digits=1, signed=True, help=_DROP)
MEDIAN = Column(
    "median_percent",
    "Median % change of items [95 % CI]",
    digits=1,
    signed=True,
    low="low",
    high="high",
    help="Median over items of an item’s median change in percent: the number of paper A. It differs from the drop of "
    "means where scores come near 0",
)
OF_MEANS = (
    Column("language", "Language", kind="text"),
    COUNT,
    PAIRS,
    Column("mean_right", "Mean of the captions", digits=4),
    Column("mean_wrong", "Mean of the edits", digits=4),
    DROP,
    MEDIAN,
    FAILURE,
    NOTE,
)
_VERDICT = (
    "By the interval of the failures against 50 %. Prefers the wrong one: it "
    "is strictly above in more than half; a tie prefers neither"
)
VERDICT = Column("verdict", "In words", kind="text", help=_VERDICT)
_DETECTABLE = (
    "Beside ‘cannot tell’: smallest distance of the "
    "share from 50 % that these comparisons show in four of five such runs"
)
UNTOLD = (Column("detectable", "Would have told, points", digits=1, help=_DETECTABLE),)
"""What stands beside a preference that is unclear."""

_P = (
    "Paired test of the items’ means: paired t where both sides pass Shapiro–Wilk at "
    "0.05, Wilcoxon signed-rank otherwise; of the sources’ means where items share theirs"
)
CORRECTED = (
    Column("p", "p", kind="p", help=_P),
    Column("p_holm", "p (Holm)", kind="p", help="Corrected for the m tests beside it"),
    Column("m_tests", "m", digits=0, help="Tests that Holm’s correction runs over"),
    Column("conflict", "Where interval and test differ", kind="text"),
)
_T_P = (
    "Extra: two-sample t of all scores as if the two sides were "
    "independent, as paper D prints it; they are paired, so p above is the test"
)
AS_IF = Column("t_p", "p of D’s t", kind="p", help=_T_P)
_CAPTION = (
    "Whose caption is broken, and its language: one that people "
    "wrote, or the template’s, with which tests are filed that write both of their captions"
)
CAPTION = Column("caption", "Caption", kind="text", help=_CAPTION)
HOW = (
    "A comparison has a right and a wrong side of one item; a failure is a wrong side that scores at least as high. "
    "Shares count comparisons, medians and tests count items. "
)


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
