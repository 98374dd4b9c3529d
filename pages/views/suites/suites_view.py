"""Suites: how far evaluators agree with people's judgements, and why a number is what it is."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from core.analysis.questions.question import Column
from core.corpora.suites.video_ratings import VIDEOS
from core.errors import InvariscopeError
from core.features.human.people_figures import agreement
from core.features.suites import suite_tables as tables
from core.features.suites.suite_result import SuiteResult, changed
from pages.views.common.access import may_operate
from pages.views.common.collect import Origin, data_buttons, figure_buttons, figures_of, file_button
from pages.views.common.page_charts import draw as draw_figure
from pages.views.common.page_head import header
from pages.views.common.page_tables import draw_table
from pages.views.common.shown_answers import interval
from pages.views.common.text import counted, safe
from pages.views.common.url_state import PageState
from pages.views.suites.suite_job import NAME, SAID, choose, draw_start, example_request, held, start, suites_state


def draw() -> None:
    """Draw the view."""
    state = suites_state(changed())
    state.restore()
    header("How well does each metric agree with people, or with what is known to be wrong?", state)
    above = st.container()
    draw_start(state)
    results, problems = held(changed())
    with above:
        for problem in problems:
            st.warning(safe(problem, limit=400), icon=":material/broken_image:")
        try:
            if results:
                result = choose(state, results)
                figures_of(Origin(state, _of(result)))
                if result.suite == NAME:
                    st.info(SAID, icon=":material/fact_check:")
                draw_result(state, result)
            else:
                draw_nothing()
        except InvariscopeError as error:
            st.error(safe(str(error), limit=600))
    draw_commands()
    state.publish()


def _of(result: SuiteResult) -> str:
    """Which files a suite's numbers are of, in words."""
    hashes = ", ".join(f"sha256 {each.sha256[:12]}" for each in result.sources)
    return f"Suite {result.told} ({hashes}), Invariscope {result.invariscope}"


_COMMANDS = (
    (
        "Metrics of this machine, on the publisher's file and pictures:",
        "python -m core suite flickr8k.json images/ --evaluator conse-lite0,grounding-judge",
    ),
    (
        "A metric that runs elsewhere: the captions out, its scores in:",
        "python -m core suite flickr8k.json images/ --export-pairs given\n"
        "python -m core suite flickr8k.json --scores scores.csv --evaluator my-metric",
    ),
    (
        "Before and after a calibration:",
        "python -m core suite pascal_50s.json images/ --evaluator conse-lite0 --calibrator calibrator.json",
    ),
)


def draw_nothing() -> None:
    """Say what a suite is, and let the reader try one."""
    st.markdown("No results yet. A suite is a file of captions that people rated or compared, or that are known wrong.")
    request = example_request() if may_operate() else None
    if request is not None:
        st.button(
            "Try an example",
            type="primary",
            icon=":material/play_circle:",
            key="suites.example",
            on_click=partial(start, request),
        )
        st.caption("27 captions of the demo corpus, each beside one with a wrong object; no person judged them.")


def draw_commands() -> None:
    """The commands, folded."""
    with st.expander("The same in a shell", icon=":material/terminal:"):
        for said, command in _COMMANDS:
            st.caption(said)
            st.code(command, language="shell", wrap_lines=True)
        st.caption("What they reach appears on this page.")


_SENTENCE = 66  # height in px of a row whose sentence stands on three lines

_WIDTHS = {"done": 380, "group": 130, "of": 150, "measure": 240}
"""Widths in px of columns of text that would be cut otherwise."""


def draw_result(state: PageState, result: SuiteResult) -> None:
    """Draw what evaluators reached on a suite."""
    what = "video" if result.suite in VIDEOS else "image"
    st.caption(
        f"{counted(result.judgements, 'judgement')} of {counted(result.images, what)}; "
        f"{counted(len({each.evaluator for each in result.reached}), 'metric')}; its usual measure is "
        f"{safe(tables.MEASURES[result.convention])}."
    )
    table = tables.reached_table([result])
    if table.empty:
        st.info(
            "No metric was held to this suite yet: run one of the commands at the end of the page.",
            icon=":material/fact_check:",
        )
    else:
        _figure(state, result, table)
        with st.expander("Every measure in numbers", icon=":material/table:"):
            columns = tables.reached_columns([result])
            _rows(table, columns, f"What metrics reach on {result.suite}", "suites.reached")
            data_buttons(table, f"{result.id}-reached", key="suites.reached")
            st.caption(tables.NOTE)
        _captioners(result)
        _before_and_after(result)
        _risks(result)
    _decisions(result)


def _figure(state: PageState, result: SuiteResult, table: pd.DataFrame) -> None:
    there = [name for name in tables.MEASURES if name in table and table[name].notna().any()]
    first = [result.convention, *(name for name in there if name != result.convention)]
    measures = [name for name in first if name in there]
    if not measures:
        st.info("No metric has a number here: every score is missing, or they are all alike.", icon=":material/info:")
        return
    chosen = state.choose(
        st.container(width=420), "measure", "Measure", measures, format_func=tables.MEASURES.__getitem__
    )
    figure = agreement(table, measure=chosen, axis=tables.MEASURES[chosen])
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.markdown(f"**{safe(tables.MEASURES[chosen])}**", width="content")
        figure_buttons(
            figure,
            table,
            f"{result.id}-{chosen}",
            title=f"{result.suite}: {tables.MEASURES[chosen]}",
            key="suites.figure",
        )
    said = "; ".join(str(each).replace("\n", ": ") for each in figure.frame["hover"].head(12))
    draw_figure(figure, key="suites.agreement", alt=f"{tables.MEASURES[chosen]} on {result.suite}. {said}")
    notes = [each for each in table["note"].unique() if isinstance(each, str) and each]
    if notes:
        st.caption(safe(f"{'; '.join(notes)}.".capitalize()))


def _captioners(result: SuiteResult) -> None:
    agreed = tables.agreement_table(result)
    if agreed.empty:
        return
    st.header("Captioners", anchor=False)
    _rows(agreed, tables.AGREEMENT_COLUMNS, "How far the orders of captioners agree", "suites.agreed")
    ranks = tables.rank_table(result)
    _rows(ranks, tables.RANK_COLUMNS, "Captioners by people and by metric", "suites.ranks")
    data_buttons(ranks, f"{result.id}-captioners", key="suites.ranks")
    st.caption(tables.RANK_NOTE)


def _before_and_after(result: SuiteResult) -> None:
    both = tables.before_and_after([result])
    if not both["after"].notna().any():
        return
    st.header("Before and after calibration", anchor=False)
    _rows(both, tables.BEFORE_COLUMNS, "Preference accuracy before and after calibration", "suites.both")
    data_buttons(both, f"{result.id}-calibrated", key="suites.both")


def _risks(result: SuiteResult) -> None:
    risks = tables.risk_table(result)
    if risks.empty:
        st.caption("No flip risk: it needs two pictures of one text, and a run of the same metrics.")
        return
    st.header("How easily does a comparison turn?", anchor=False)
    _rows(risks, tables.RISK_COLUMNS, "Flip risk of the comparisons by family of edits", "suites.risks")
    data_buttons(risks, f"{result.id}-risks", key="suites.risks")
    st.caption(tables.RISK_NOTE)


def _decisions(result: SuiteResult) -> None:
    with st.expander("Why is mine different?", icon=":material/rule:"):
        decisions = tables.decision_table(result)
        _rows(
            decisions,
            tables.DECISION_COLUMNS,
            f"Every decision on the way to the numbers of {result.suite}",
            "suites.decisions",
            tall=_SENTENCE,
        )
        data_buttons(decisions, f"{result.id}-decisions", key="suites.decisions")
        st.caption(tables.DECISION_NOTE)
    with st.container(horizontal=True, vertical_alignment="center"):
        hashes = ", ".join(f"{each.name} (sha256 {each.sha256[:12]}…)" for each in result.sources)
        st.caption(safe(f"Files: {hashes}. Invariscope {result.invariscope}.", limit=1000))
        file_button(
            "Result as JSON", lambda: result.model_dump_json(indent=2).encode(), f"{result.id}.json", key="suites.json"
        )


def _rows(frame: pd.DataFrame, columns: Sequence[Column], alt: str, key: str, *, tall: int | None = None) -> None:
    shown, config = pd.DataFrame(index=frame.index), dict[str, Any]()
    for column in columns:
        if column.kind == "text":
            if frame[column.name].fillna("").astype(bool).any():
                shown[column.name] = frame[column.name]
                config[column.name] = st.column_config.TextColumn(
                    _head(column), width=_WIDTHS.get(column.name), pinned=column is columns[0]
                )
            continue
        sign = "+" if column.signed else ""
        if not frame[column.name].notna().any():
            continue  # of another kind of suite
        # rounded, so that nothing reads as minus zero; the files keep every digit
        shown[column.name] = frame[column.name].astype(float).round(column.digits) + 0.0
        config[column.name] = st.column_config.NumberColumn(_head(column), format=f"%{sign}.{column.digits}f")
        if column.low and frame[column.low].notna().any():
            shown[f"{column.name}_interval"], config[f"{column.name}_interval"] = interval(
                frame, column.low, column.high, column.digits, column.signed
            )
    draw_table(shown, alt=alt, key=f"{key}.rows", column_config=config, row_height=tall)


def _head(column: Column) -> str:
    """What heads a column of the report on a page: its interval has a column of its own."""
    return column.header.replace(" [95 % CI]", "").replace("Evaluator", "Metric").replace("evaluator", "metric")
