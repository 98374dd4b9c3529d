"""The parts of the page Does it notice?: the matrix, each question, one test in depth.

A cell of the matrix says how often a test fails, its row in the table much more, one test in depth nearly all. No part
shows how far the drop of means may lie, whose intervals take most of the time: whoever asks for a file gets them with
all else.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import pandas as pd
import streamlit as st

from core.analysis.failures import shortest_captions
from core.analysis.lacks import Lack
from core.analysis.questions import Column, Options, Question, papers
from core.analysis.questions.both_sides import dumbbell
from core.analysis.questions.directional import RATES, SECTION, Depth, in_depth, matrix, numbers_of
from core.analysis.questions.levels import tables_of
from core.analysis.questions.papers import MEANS
from core.analysis.scope import Narrowed
from core.analysis.slices import Slice
from core.analysis.verdicts import NO_CLAIM, against_coin, too_few
from core.charts.spec import Figure
from core.features.human.judged_comparisons import BESIDE, asked_of_people
from core.features.metric_check.judged_families import judged
from core.probes.titles import family_title
from core.statistics.bootstrap import Interval
from core.statistics.comparisons import RIGHT
from pages.views.common import shown_answers
from pages.views.common.collect import data_buttons, figures_aside, of_scores, origin
from pages.views.common.layers import draw_folded
from pages.views.common.links import CONTRAST, scope_link
from pages.views.common.open_runs import KEYED, Signature, scores, store, view
from pages.views.common.slice_filters import describe
from pages.views.common.text import counted, safe
from pages.views.common.url_state import PageState
from pages.views.contrast_tests import contrast_state
from pages.views.failures.failure_card import changed

NUMBERS = "contrast.numbers"
"""Key of the table behind the matrix, where it is folded; in the session, whether it is open."""


def cells(files: Signature, scope: Narrowed, chosen: Slice, options: Options) -> pd.DataFrame:
    """What the cells of the matrix say of the answer to :data:`core.analysis.questions.directional.RATES`. Where the
    table is open its rows are asked for in any case, and say the same."""
    return shown(files, scope, chosen, options, depth="rows" if st.session_state.get(NUMBERS) else "cells")


@st.cache_data(hash_funcs=KEYED, max_entries=64, show_spinner="Working it out …")
def of_test(files: Signature, scope: Narrowed, chosen: Slice, options: Options, family: str) -> pd.DataFrame:
    """One test; see :func:`core.analysis.questions.directional.in_depth`."""
    return in_depth(view(files, scope, chosen), options, family)


@st.cache_data(hash_funcs=KEYED, max_entries=128, show_spinner="Working it out …")
def shown(files: Signature, scope: Narrowed, chosen: Slice, options: Options, depth: Depth = "rows") -> pd.DataFrame:
    """The whole answer but for the intervals of the drops; ``depth``: ``rows``, or ``cells`` for what the
    cells of the matrix show alone."""
    return matrix(view(files, scope, chosen), options, depth=depth)


def whole(files: Signature, scope: Narrowed, chosen: Slice, options: Options) -> Callable[[], pd.DataFrame]:
    """What makes the answer with the intervals of the drops."""
    seen = view(files, scope, chosen)
    return lambda: matrix(seen, options)


def _draw_question(files: Signature, scope: Narrowed, chosen: Slice, options: Options, id_: str) -> pd.DataFrame:
    question = shown_answers.questions(files, scope)[id_]
    frame = answered(files, scope, chosen, options, question)
    if frame.empty:
        contrast_state.draw_nothing(files, scope, question.title)
        return frame
    for drawing in question.figures:
        figure = drawing.figure(frame)
        if len(figure.frame):
            said, rule = question.says(frame, Options().margin), question.rule
            draw_figure(figure, frame, drawing.id, title=drawing.title, note=drawing.note, said=said, rule=rule)
    if question.columns:
        how = "Every number, and how it was made"
        with st.expander(how, icon=":material/table:") if question.figures else st.container():
            draw_rows(asked_of_people(question, frame), frame)
    return frame


def answered(files: Signature, scope: Narrowed, chosen: Slice, options: Options, question: Question) -> pd.DataFrame:
    """The answer to a question; what the reader set and it does not ask for changes nothing."""
    usual = Options()
    own = Options(
        known=options.known if "known" in question.asks else usual.known,
        family=options.family if "family" in question.asks else usual.family,
    )
    found = shown_answers.answer(files, scope, chosen, question.id, own)
    of = "rates" if question.id in BESIDE else "means" if question.id == MEANS[0] else ""
    return shown_answers.beside_people(files, scope, chosen, own, found, of=of) if of else found


def draw_figure(
    figure: Figure,
    frame: pd.DataFrame | Callable[[], pd.DataFrame],
    stem: str,
    *,
    title: str,
    note: str = "",
    said: str = "",
    rule: str = "",
) -> None:
    """Draw a figure under its title with the menu of its files, and how to read it beneath. ``frame``: the data behind
    it, or a function that makes them. ``said``, ``rule``: the answer and from when on it says so; see
    :func:`figure_block`."""
    own = origin()
    # of the page's filters, and of whose scores its figures are
    chosen = {name: text for name, text in own.state.wanted().items() if name in contrast_state.FILTERS} if own else {}
    scope = scope_link(own.scopes[0]) if own else {}
    alt, told = f"{title}: {shown_answers.spoken(figure)}", {"said": said, "rule": rule}
    shown_answers.figure_block(figure, frame, stem, title=title, alt=alt, chosen=chosen, scope=scope, **told)
    opens = f"A click on a {'cell' if figure.kind == 'map' else 'mark'} leads to its pairs."
    if below := f"{note} {opens if 'opens' in figure.frame else ''}".strip():
        st.caption(safe(below, limit=700))


def draw_rows(question: Question, frame: pd.DataFrame, *, files: Callable[[], pd.DataFrame] | None = None) -> None:
    """Draw the table of an answer with its files and how to read it. ``files``: makes the rows of its files."""
    if not question.columns:
        return
    if not question.figures:
        st.markdown(f"**{safe(question.title)}**")
    shown_answers.answer_rows(question, frame, measure="percent", several=False)
    with st.container(horizontal=True, vertical_alignment="center"):
        data_buttons(frame if files is None else files, question.id, key=f"contrast.{question.id}")
        st.caption(safe(" ".join(filter(None, (shown_answers.corrected(question, frame), question.note))), limit=2000))


def draw_section(
    state: PageState, files: Signature, scope: Narrowed, chosen: Slice, options: Options, section: str
) -> None:
    """Draw every question of a section that the scores can answer, and say what the others lack."""
    asked = [each for each in shown_answers.questions(files, scope).values() if each.section == section]
    _draw(state, files, scope, chosen, options, asked)


def draw_tables(state: PageState, files: Signature, scope: Narrowed, chosen: Slice, options: Options) -> None:
    """Draw the choice of a part, and its questions."""
    known = [each for each in shown_answers.questions(files, scope).values() if each.section == SECTION]
    parts = list(dict.fromkeys(each.part for each in known))
    part = state.choose(st.container(width=280), "part", "Tables of", parts)
    _draw(state, files, scope, chosen, options, [each for each in known if each.part == part])


def draw_responses(state: PageState, files: Signature, scope: Narrowed) -> None:
    """Draw the tables of a scope without a directional probe; no answer of theirs is a failure."""
    table = scores(files, scope)
    there = [
        each
        for each in shown_answers.questions(files, scope).values()
        if each.section == SECTION and not each.needs(table)
    ]
    if there:
        st.divider()
        _draw(state, files, scope, Slice(), Options(), there)


def _draw(
    state: PageState, files: Signature, scope: Narrowed, chosen: Slice, options: Options, asked: list[Question]
) -> None:
    table = scores(files, scope)
    lacking = {each.id: each.needs(table) for each in asked}
    there = [each for each in asked if not lacking[each.id]]
    picked = [each for each in there if "evaluator" in each.pick]
    for question in there:
        own = chosen
        if question in picked:
            name = contrast_state.choose_evaluator(state, table) if question is picked[0] else state.get("of")
            own = replace(chosen, evaluators=(name if name in table.evaluators else table.evaluators[0],))
        _draw_question(files, scope, own, options, question.id)
    missing = [each for each in asked if lacking[each.id]]
    if missing:
        with st.expander("What these runs cannot give", icon=":material/library_add:"):
            for question in missing:
                lack = Lack.of(lacking[question.id])
                st.markdown(f"**{safe(question.title)}**: {safe(lack.said, limit=600)}")
                if lack.command:
                    st.code(lack.command, language="shell", wrap_lines=True)
                shown_answers.way_to(CONTRAST, lack)


BAR = "against_bar"


def draw_matrix(
    state: PageState, files: Signature, scope: Narrowed, chosen: Slice, options: Options
) -> tuple[str, ...]:
    """Draw the answer and the figure; folded away, what each test does, and the table, each row held to a bar. Returns
    the tests of the figure, the most missed first."""
    question = shown_answers.questions(files, scope)[RATES]
    frame, every = cells(files, scope, chosen, options), whole(files, scope, chosen, options)
    if frame.empty:
        contrast_state.draw_nothing(files, scope, question.title)
        return ()
    small = too_few(frame)
    whole_tests = small[(small["label"] == small["family"]) & (len(small) < len(frame))]
    counts = whole_tests.groupby("label", sort=False)["n"].max()
    drawing, left_out = question.figures[0], [f"{family_title(str(name))} (n {n})" for name, n in counts.items()]
    figure = drawing.figure(frame)
    many = f"{len(left_out)} more tests are" if len(left_out) > 1 else "1 more test is"
    few = f"{many} not shown: too few pictures." if left_out else ""
    draw_figure(figure, every, drawing.id, title=drawing.title, said=against_coin(frame), rule=drawing.note, note=few)
    examples = partial(_draw_examples, files, scope)
    draw_folded("What each test does, with an example", examples, key="contrast.examples", icon=":material/rule:")

    def numbers() -> None:
        if left_out:
            st.caption(safe(f"Not in the figure, for too few independent pictures: {', '.join(left_out)}.", limit=1000))
        most = contrast_state.choose_bar(state)
        beside = partial(shown_answers.beside_people, files, scope, chosen, options, of="rates")
        rows = beside(shown(files, scope, chosen, options, depth="rows"))
        asked, judged_rows = held(asked_of_people(question, rows), rows, most)
        draw_rows(asked, judged_rows, files=lambda: held(question, beside(every()), most)[1])
        state.publish()

    draw_folded("Every number, with what each is taken for", numbers, key=NUMBERS)
    return figure.order


def _draw_examples(files: Signature, scope: Narrowed) -> None:
    lines = ["| Test | Example |", "| :-- | :-- |"]
    tests = contrast_state.tests_of(files, scope)
    for own in dict.fromkeys(tests.values()):
        names = [name for name, its in tests.items() if its == own]
        for family, before, after in shortest_captions(store(files), own, names):
            said = f"{safe(before)} (the picture changes)" if before == after else changed(before, after)
            lines.append(f"| {safe(family_title(str(family)))} | {said} |")
    st.markdown("\n".join(lines))


def held(question: Question, frame: pd.DataFrame, most: float) -> tuple[Question, pd.DataFrame]:
    """The question and its rows with a column more: the side of a bar, ``most`` failures in percent, of each."""
    hint = (
        "Within: the whole interval of the failures lies at or "
        "below your bar. Beyond: above it. Undecided: astride. Of too few items or sources neither is said"
    )
    told = Column(BAR, f"Against {most:g} %", kind="text", help=hint)
    places = [each.name for each in question.columns]
    after = places.index("verdict") + 1
    columns = (*question.columns[:after], told, *question.columns[after:])
    ends = zip(frame["failure"], frame["failure_low"], frame["failure_high"], frame["n"], strict=True)
    found = [Interval(value, low, high, int(n), 0.95) for value, low, high, n in ends]
    sides = [
        claim if claim in NO_CLAIM else judged(each, most) for each, claim in zip(found, frame["verdict"], strict=True)
    ]
    return replace(question, columns=columns), frame.assign(**{BAR: sides})


def draw_test(
    state: PageState, files: Signature, scope: Narrowed, chosen: Slice, options: Options, *, first: Sequence[str]
) -> tuple[str, str, Narrowed]:
    """Draw the choice of a test and of an evaluator with all that is known of it. ``first``: tests that stand first, in
    this order. Returns both, and the scope of the caption that the test is of."""
    st.header("One test in depth", anchor=False)
    family, evaluator, scope = contrast_state.choose_test(state, files, scope, first)
    own = of_test(files, scope, chosen, options, family)
    mine = own[own["evaluator"] == evaluator]
    if mine.empty:
        contrast_state.draw_nothing(files, scope, f"{family_title(family)} under {evaluator}")
        return family, evaluator, scope
    row = mine.iloc[0]
    ends = "no interval"
    if not pd.isna(row["failure_low"]):
        ends = f"95 % CI {row['failure_low']:.0f} to {row['failure_high']:.0f} %"
    verdict = safe(str(row["verdict"]))
    share = f" in {100 - row['failure']:.0f} % of comparisons" if row["verdict"] == RIGHT else ""
    colon = ":" * (row["verdict"] in NO_CLAIM)
    st.markdown(f"**{safe(row['evaluator'])}{colon} {verdict}{share}**")
    ties = f", ties {row['ties']:.0f} %" if row["ties"] else ""
    many = f"n = {counted(int(row['n']), 'comparison')} of {counted(int(row['n_items']), 'item')}"
    refused = f" Refused: {counted(int(row['n_refused']), 'comparison')} ({row['refused']})." if row["refused"] else ""
    st.caption(safe(f"Missed: {row['failure']:.0f} % ({ends}){ties}, {many}.{refused}", limit=500))
    with figures_aside(of_scores(state, files, scope, describe(chosen))):
        left, right = st.columns(2, gap="medium")
        with left:
            id_, _ = papers.MEANS
            beside = partial(shown_answers.beside_people, files, scope, chosen, options, of="means")
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
            axis = scores(files, scope).axis_of(family)
            question = shown_answers.questions(files, scope)[f"{numbers_of(axis).scores}-bins"]
            alone = replace(chosen, evaluators=(evaluator,))
            numbers = answered(files, scope, alone, Options(known=options.known, family=family), question)
            if not numbers.empty:
                drawing = question.figures[0]
                title = f"{family_title(family)}: scores of both sides"
                draw_figure(drawing.figure(numbers), numbers, f"{drawing.id}-{family}", title=title, note=drawing.note)
        asked, table = shown_answers.questions(files, scope), scores(files, scope)
        for question in (asked[id_] for id_ in tables_of(table, family)):
            if question.needs(table):
                continue
            frame = answered(files, scope, replace(chosen, evaluators=(evaluator,)), options, question)
            own = frame[frame["family"] == family].reset_index(drop=True)
            if len(own):
                with st.expander(question.title, icon=":material/table:"):
                    draw_rows(question, own)
    return family, evaluator, scope


def _of_test(rates: pd.DataFrame, family: str) -> pd.DataFrame:
    """Rows of the whole family, without those of its kinds."""
    return rates[(rates["family"] == family) & (rates["label"] == family)]
