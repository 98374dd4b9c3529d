"""One test in depth: how far right and wrong lie apart, how their scores are spread, and what the edits did."""

from dataclasses import replace
from functools import partial

import pandas as pd
import streamlit as st

from core.analysis.questions import Options, papers
from core.analysis.questions.directional import numbers_of
from core.analysis.questions.levels import tables_of
from core.analysis.questions.sides import dumbbell
from core.analysis.scope import Narrowed
from core.analysis.slices import Slice
from core.probes.titles import family_title
from pages.views.common.answers import nothing, people_beside, questions
from pages.views.common.open_runs import Signature, scores
from pages.views.common.text import counted, number, safe
from pages.views.common.url_state import PageState
from pages.views.contrast_tests.draw import answered, draw_figure, draw_rows
from pages.views.contrast_tests.rates import of_test, whole
from pages.views.contrast_tests.state import choose_test


def draw_test(
    state: PageState, files: Signature, scope: Narrowed, chosen: Slice, options: Options
) -> tuple[str, str, Narrowed]:
    """Draw the choice of a test and of an evaluator with all that is known of it.

    Returns:
        Both, and the scope of the caption that the test is of.
    """
    st.header("One test in depth", anchor=False)
    family, evaluator, scope = choose_test(state, files, scope)
    own = of_test(files, scope, chosen, options, family)
    mine = own[own["evaluator"] == evaluator]
    if mine.empty:
        nothing(f"{family_title(family)} under {evaluator}")
        return family, evaluator, scope
    _numbers(mine.iloc[0])
    left, right = st.columns(2, gap="medium")
    with left:
        id_, _ = papers.MEANS
        beside = partial(people_beside, files, scope, chosen, options)
        both, every = beside(own), whole(files, scope, chosen, options)
        people = " People's ratings stand on the same line, from 0 to 1." if len(both) > len(own) else ""
        draw_figure(
            dumbbell(both, family), lambda: beside(_of_test(every(), family)), f"{id_}-{family}",
            title=f"{family_title(family)}: mean scores of both sides",
            note=f"Scaled so that the lowest score of either side is 0 and the highest 1.{people}",
        )  # fmt: skip
    with right:
        _scores(files, scope, chosen, options, family, evaluator)
    _tables(files, scope, chosen, options, family, evaluator)
    return family, evaluator, scope


def _of_test(rates: pd.DataFrame, family: str) -> pd.DataFrame:
    """Rows of the whole family, without those of its kinds."""
    return rates[(rates["family"] == family) & (rates["label"] == family)]


def _numbers(row: pd.Series) -> None:
    """Draw what matters first of one test under one evaluator."""
    interval = "no interval" if pd.isna(row["failure_low"]) else (
        f"95 % CI {row['failure_low']:.0f} to {row['failure_high']:.0f} %")  # fmt: skip
    st.markdown(f"**{safe(row['evaluator'])}** {safe(str(row['verdict']))}" if row["verdict"].startswith("prefers")
                else f"**{safe(row['evaluator'])}**: {safe(str(row['verdict']))}")  # fmt: skip
    tiles = st.grid(4, min_column_width=140)
    tiles.metric("Failures", f"{row['failure']:.0f} %", border=True, help="The wrong side scores at least as high")
    tiles.metric("Ties", f"{row['ties']:.0f} %", border=True, help="Both sides score the same; they are among the "
                 "failures")  # fmt: skip
    tiles.metric("AUROC", number(row["auroc"], digits=2), border=True, help="Probability that the right side of any "
                 "item scores above the wrong side of any item")  # fmt: skip
    drop = "—" if pd.isna(row["drop"]) else f"{row['drop']:+.1f} %".replace("-", "−")
    tiles.metric("Drop of means", drop, border=True, help="Mean wrong minus mean right, of the mean right")
    taken = f" Most easily taken for {family_title(row['rival'])} (selectivity against it {row['rival_value']:.2f})." \
        if row["rival"] else ""  # fmt: skip
    many = f"n = {counted(int(row['n']), 'comparison')} of {counted(int(row['n_items']), 'item')}"
    refused = f" Refused: {counted(int(row['n_refused']), 'comparison')} ({row['refused']})." if row["refused"] else ""
    st.caption(safe(f"Failures: {interval}, {many}.{refused}{taken} {row['note']}".strip(), limit=500))


def _scores(files: Signature, scope: Narrowed, chosen: Slice, options: Options, family: str, evaluator: str) -> None:
    axis = scores(files, scope).axis_of(family)
    question = questions(files, scope)[f"{numbers_of(axis).scores}-bins"]
    alone = replace(chosen, evaluators=(evaluator,))
    own = answered(files, scope, alone, Options(known=options.known, family=family), question)
    if own.empty:
        return
    drawing = question.figures[0]
    draw_figure(drawing.figure(own), own, f"{drawing.id}-{family}",
                title=f"{family_title(family)}: scores of both sides", note=drawing.note)  # fmt: skip


def _tables(files: Signature, scope: Narrowed, chosen: Slice, options: Options, family: str, evaluator: str) -> None:
    """Orders of the groups and rows by what the edits did, where the test has them."""
    asked, table = questions(files, scope), scores(files, scope)
    for question in (asked[id_] for id_ in tables_of(table, family)):
        if question.needs(table):
            continue
        frame = answered(files, scope, replace(chosen, evaluators=(evaluator,)), options, question)
        own = frame[frame["family"] == family].reset_index(drop=True)
        if len(own):
            with st.expander(question.title, icon=":material/table:"):
                draw_rows(question, own)
