"""The matrix: what breaks, evaluator by evaluator, beside the harmless edit that each is most easily taken for."""

from dataclasses import replace
from functools import partial

import pandas as pd

from core.analysis.metric_breaks import judged, needed
from core.analysis.people.baseline import asked_of_people
from core.analysis.questions import Column, Options, Question
from core.analysis.questions.directional import RATES
from core.analysis.scope import Narrowed
from core.analysis.slices import Slice
from core.analysis.verdicts import NO_CLAIM
from core.charts.spec import Figure
from core.probes.titles import family_title
from core.statistics.bootstrap import Interval
from pages.views.common.folded import draw_folded
from pages.views.common.runs import Signature
from pages.views.common.url_state import PageState
from pages.views.contrast_tests.draw import draw_figure, draw_rows
from pages.views.contrast_tests.rates import NUMBERS, cells, shown, whole
from pages.views.contrast_tests.state import choose_bar
from pages.views.results.blocks import nothing
from pages.views.results.data import baseline_beside, questions

BAR, MORE = "against_bar", "to_decide"


def draw_matrix(state: PageState, files: Signature, scope: Narrowed, chosen: Slice, options: Options) -> None:
    """Draw the figure, and the table behind it folded away, each row held to the reader's bar."""
    question = questions(files, scope)[RATES]
    frame, every = cells(files, scope, chosen, options), whole(files, scope, chosen, options)
    if frame.empty:
        nothing(question.title)
        return
    drawing = question.figures[0]
    draw_figure(_called(drawing.figure(frame)), every, drawing.id, title=drawing.title, note=drawing.note)

    def numbers() -> None:
        most = choose_bar(state)
        beside = partial(baseline_beside, files, scope, chosen, options)
        rows = beside(shown(files, scope, chosen, options))
        asked, judged_rows = held(asked_of_people(question, rows), rows, most)
        draw_rows(asked, judged_rows, files=lambda: held(question, beside(every()), most)[1])
        state.publish()

    draw_folded("The numbers, with ties, tests and what each is taken for", numbers, key=NUMBERS)


def _called(figure: Figure) -> Figure:
    """The matrix with families by their titles, also those that a family is taken for."""
    said = {label: ", like ".join(map(family_title, words.split(", like "))) for label, words in figure.names.items()}
    return replace(figure, names=said)


def held(question: Question, frame: pd.DataFrame, most: float) -> tuple[Question, pd.DataFrame]:
    """The question and its rows with two columns more: the side of a bar that the failures lie on, and n to tell it.

    Args:
        most: failures in percent that the reader accepts.
    """
    told = Column(
        BAR,
        f"Against {most:g} %",
        kind="text",
        help="Within: the whole interval of the failures lies at or "
        "below your bar. Beyond: above it. Undecided: astride. Of too few items or sources neither is said",
    )
    places = [each.name for each in question.columns]
    after = places.index("verdict") + 1
    more = Column(MORE, "n to tell", digits=0, help="Comparisons that would place the whole interval on one side of "
                  "your bar with 80 % power, were the share as found here")  # fmt: skip
    columns = (*question.columns[:after], told, more, *question.columns[after:])
    ends = zip(frame["failure"], frame["failure_low"], frame["failure_high"], frame["n"], strict=True)
    found = [Interval(value, low, high, int(n), 0.95) for value, low, high, n in ends]
    sides = [claim if claim in NO_CLAIM else judged(each, most)
             for each, claim in zip(found, frame["verdict"], strict=True)]  # fmt: skip
    numbers = [needed(each, most) for each in found]
    return replace(question, columns=columns), frame.assign(**{BAR: sides}).assign(**{MORE: numbers})
