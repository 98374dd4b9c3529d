"""One test in depth: how far right and wrong lie apart, what the edits did, and its worst failures."""

from dataclasses import replace
from functools import partial

import pandas as pd
import streamlit as st

from core.analysis.failures import PAIR, worst_failures
from core.analysis.questions import Options, papers
from core.analysis.questions.both_sides import dumbbell
from core.analysis.questions.directional import numbers_of
from core.analysis.questions.levels import tables_of
from core.analysis.scope import Narrowed
from core.analysis.slices import Slice
from core.probes.titles import family_title, title
from pages.views.common.caches import KEYED
from pages.views.common.collect import collect_button
from pages.views.common.downloads import data_buttons
from pages.views.common.open_runs import Signature, scores, store, view
from pages.views.common.shown_answers import nothing, people_beside, questions
from pages.views.common.text import as_percent, counted, number, safe
from pages.views.common.url_state import PageState, carried
from pages.views.contrast_tests.contrast_state import choose_test
from pages.views.contrast_tests.contrast_tables import answered, draw_figure, draw_rows, of_test, whole
from pages.views.failures.failure_card import (
    below_pictures,
    captions,
    card_slide,
    draw_pictures,
    draw_scores,
    place_for_pictures,
    to_lab,
)
from pages.views.failures.failure_pictures import finished, pictures
from pages.views.failures.failures_state import by_pair, shifts_of


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
            dumbbell(both, family),
            lambda: beside(_of_test(every(), family)),
            f"{id_}-{family}",
            title=f"{family_title(family)}: mean scores of both sides",
            note=f"Scaled so that the lowest score of either side is 0 and the highest 1.{people}",
        )
    with right:
        _scores(files, scope, chosen, options, family, evaluator)
    _tables(files, scope, chosen, options, family, evaluator)
    return family, evaluator, scope


def _of_test(rates: pd.DataFrame, family: str) -> pd.DataFrame:
    """Rows of the whole family, without those of its kinds."""
    return rates[(rates["family"] == family) & (rates["label"] == family)]


def _numbers(row: pd.Series) -> None:
    """Draw what matters first of one test under one evaluator."""
    interval = (
        "no interval"
        if pd.isna(row["failure_low"])
        else (f"95 % CI {row['failure_low']:.0f} to {row['failure_high']:.0f} %")
    )
    st.markdown(
        f"**{safe(row['evaluator'])}** {safe(str(row['verdict']))}"
        if row["verdict"].startswith("prefers")
        else f"**{safe(row['evaluator'])}**: {safe(str(row['verdict']))}"
    )
    tiles = st.grid(4, min_column_width=140)
    tiles.metric("Failures", f"{row['failure']:.0f} %", border=True, help="The wrong side scores at least as high")
    tiles.metric(
        "Ties", f"{row['ties']:.0f} %", border=True, help="Both sides score the same; they are among the failures"
    )
    tiles.metric(
        "AUROC",
        number(row["auroc"], digits=2),
        border=True,
        help="Probability that the right side of any item scores above the wrong side of any item",
    )
    drop = "—" if pd.isna(row["drop"]) else f"{row['drop']:+.1f} %".replace("-", "−")
    tiles.metric("Drop of means", drop, border=True, help="Mean wrong minus mean right, of the mean right")
    taken = (
        f" Most easily taken for {family_title(row['rival'])} (selectivity against it {row['rival_value']:.2f})."
        if row["rival"]
        else ""
    )
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
    draw_figure(
        drawing.figure(own),
        own,
        f"{drawing.id}-{family}",
        title=f"{family_title(family)}: scores of both sides",
        note=drawing.note,
    )


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


_CARDS, _HELD = 6, 60


def draw_worst(
    files: Signature, scope: Narrowed, chosen: Slice, options: Options, *, family: str, evaluator: str
) -> None:
    """Draw the failures of a test under an evaluator, the wrong side furthest above the right one first."""
    found, n = _worst(files, scope, chosen, evaluator, family, options.known)
    st.header("Worst failures", anchor=False)
    if found.empty:
        st.caption(safe(f"{evaluator} puts no wrong side of “{family_title(family)}” at or above its right one here."))
        return
    shown = found.head(_CARDS)
    st.caption(
        safe(
            f"{counted(n, 'failure')} of “{family_title(family)}” under {evaluator}; the {len(shown)} whose "
            "wrong side lies furthest above the right one. Words that the edit took away are struck out, words "
            "that it brought are bold.",
            limit=400,
        )
    )
    _cards(files, scope, shown, evaluator)
    data_buttons(found, f"failures-{family}", key="contrast.worst")


def _cards(files: Signature, scope: Narrowed, found: pd.DataFrame, evaluator: str) -> None:
    pairs = found[[*PAIR, "corpus"]]
    rows = by_pair(pairs, shifts_of(files, scope, pairs))
    link = carried() | {"run": scope.run, "subject": scope.subject, "language": scope.language}
    cells, rooms = st.grid(2, min_column_width=340, gap="medium"), []
    with pictures(store(files), pairs, marks="none") as begun:
        for place, (own, (_, pair)) in enumerate(zip(rows, found.iterrows(), strict=True)):
            with cells.container(border=True, height="stretch", gap="xsmall", key=f"contrast_card_{place}"):
                st.markdown(f"**{_ahead(pair)}** · {safe(title(str(pair['probe'])))}")
                rooms.append((place_for_pictures(f"contrast_{place}"), st.empty()))
                captions(own)
                if upheld(pair):
                    st.caption(upheld(pair))
                draw_scores(own, bold=(evaluator,), floor=0.0, key=f"contrast_{place}")
                with st.container(horizontal=True, gap="small", vertical_alignment="center"):
                    to_lab(pair, own, files)
                    collect_button(
                        partial(card_slide, files, scope, pair, own, marks="none", link=link), key=f"contrast.{place}"
                    )
        for place, ((room, below), own, made) in enumerate(zip(rooms, rows, begun, strict=True)):
            drawn = finished(made)
            draw_pictures(room, drawn, own.iloc[0], key=f"contrast_{place}")
            if said := below_pictures(drawn):
                below.caption(said)


def upheld(pair: pd.Series) -> str:
    """What people say of a comparison, in words; empty where no study asked."""
    if pd.isna(pair["upheld"]):
        return ""
    return f"Of the people who judged it, {as_percent(pair['upheld'])} uphold the right side."


def _ahead(pair: pd.Series) -> str:
    """How far the wrong side lies above the right one, in words."""
    if pair["margin"] == 0:
        return f"A tie at {number(pair['right'])}"
    return f"Wrong ahead by {number(pair['margin'])}"


@st.cache_data(hash_funcs=KEYED, max_entries=64, show_spinner=False)
def _worst(
    files: Signature, scope: Narrowed, chosen: Slice, evaluator: str, family: str, known: bool
) -> tuple[pd.DataFrame, int]:
    return worst_failures(view(files, scope, chosen), evaluator, family, known=known, limit=_HELD)
