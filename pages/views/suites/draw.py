"""One suite on the page: its figure, its numbers, its captioners, and every decision beside them."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from core.analysis.questions.base import Column
from core.analysis.suites import tables
from core.analysis.suites.result import SuiteResult
from core.charts.people_figures import agreement
from core.corpora.suites.videos import VIDEOS
from pages.views.common.answers import interval
from pages.views.common.downloads import counted_making, data_buttons, figure_buttons
from pages.views.common.page_charts import draw
from pages.views.common.page_tables import draw_table
from pages.views.common.text import counted, safe
from pages.views.common.url_state import PageState

_SENTENCE = 66
"""Height in px of a row whose sentence stands on three lines."""

_WIDTHS = {"done": 380, "group": 130, "of": 150, "measure": 240}
"""Widths in px of columns of text that would be cut otherwise."""


def draw_result(state: PageState, result: SuiteResult) -> None:
    """Draw what evaluators reached on a suite."""
    what = "video" if result.suite in VIDEOS else "image"
    st.caption(
        f"{counted(result.judgements, 'judgement')} of {counted(result.images, what)}; "
        f"{counted(len({each.evaluator for each in result.reached}), 'evaluator')}; its number is "
        f"{safe(tables.MEASURES[result.convention])}."
    )
    table = tables.reached_table([result])
    if table.empty:
        st.info("No evaluator was held to this suite yet. Bring scores below, or run the command at the end of the "
                "page.", icon=":material/fact_check:")  # fmt: skip
    else:
        _figure(state, result, table)
        _rows(table, tables.reached_columns([result]), f"What evaluators reach on {result.suite}", "suites.reached")
        data_buttons(table, f"{result.id}-reached", key="suites.reached")
        st.caption(tables.NOTE)
        _captioners(result)
        _before_and_after(result)
    _decisions(result)


def _figure(state: PageState, result: SuiteResult, table: pd.DataFrame) -> None:
    there = [name for name in tables.MEASURES if name in table and table[name].notna().any()]
    first = [result.convention, *(name for name in there if name != result.convention)]
    measures = [name for name in first if name in there]
    if not measures:
        st.info("No evaluator has a number here: every score is missing, or they are all alike.",
                icon=":material/info:")  # fmt: skip
        return
    chosen = state.choose(st.container(width=420), "measure", "Measure", measures,
                          format_func=tables.MEASURES.__getitem__)  # fmt: skip
    figure = agreement(table, measure=chosen, axis=tables.MEASURES[chosen])
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.markdown(f"**Agreement with people: {safe(tables.MEASURES[chosen])}**", width="content")
        figure_buttons(figure, table, f"{result.id}-{chosen}", title=f"{result.suite}: {tables.MEASURES[chosen]}",
                       key="suites.figure")  # fmt: skip
    said = "; ".join(f"{row.label}, {row.series}: {row.value:.1f} ({row.low:.1f} to {row.high:.1f})"
                     for row in figure.frame.head(12).itertuples())  # fmt: skip
    draw(figure, key="suites.agreement", alt=f"{tables.MEASURES[chosen]} on {result.suite}. {said}")


def _captioners(result: SuiteResult) -> None:
    agreed = tables.agreement_table(result)
    if agreed.empty:
        return
    st.header("Captioners", anchor=False)
    _rows(agreed, tables.AGREEMENT_COLUMNS, "How far the orders of captioners agree", "suites.agreed")
    ranks = tables.rank_table(result)
    _rows(ranks, tables.RANK_COLUMNS, "Captioners by people and by evaluator", "suites.ranks")
    data_buttons(ranks, f"{result.id}-captioners", key="suites.ranks")
    st.caption(tables.RANK_NOTE)


def _before_and_after(result: SuiteResult) -> None:
    both = tables.before_and_after([result])
    if not both["after"].notna().any():
        return
    st.header("Before and after calibration", anchor=False)
    _rows(both, tables.BEFORE_COLUMNS, "Preference accuracy before and after calibration", "suites.both")
    data_buttons(both, f"{result.id}-calibrated", key="suites.both")


def _decisions(result: SuiteResult) -> None:
    st.header("Why is mine different?", anchor=False)
    decisions = tables.decision_table(result)
    _rows(decisions, tables.DECISION_COLUMNS, f"Every decision on the way to the numbers of {result.suite}",
          "suites.decisions", tall=_SENTENCE)  # fmt: skip
    with st.container(horizontal=True, vertical_alignment="center"):
        data_buttons(decisions, f"{result.id}-decisions", key="suites.decisions")
        st.download_button("Result as JSON", counted_making(lambda: result.model_dump_json(indent=2).encode()),
                           f"{result.id}.json", "application/json", on_click="ignore", key="suites.json")  # fmt: skip
    st.caption(tables.DECISION_NOTE)
    hashes = ", ".join(f"{each.name} (sha256 {each.sha256[:12]}…)" for each in result.sources)
    st.caption(safe(f"Files: {hashes}. Invariscope {result.invariscope}.", limit=1000))


def _rows(frame: pd.DataFrame, columns: Sequence[Column], alt: str, key: str, *, tall: int | None = None) -> None:
    shown, config = pd.DataFrame(index=frame.index), dict[str, Any]()
    for column in columns:
        if column.kind == "text":
            if frame[column.name].fillna("").astype(bool).any():
                shown[column.name] = frame[column.name]
                config[column.name] = st.column_config.TextColumn(
                    column.header, width=_WIDTHS.get(column.name), pinned=column is columns[0]
                )
            continue
        sign = "+" if column.signed else ""
        # rounded, so that nothing reads as minus zero; the files keep every digit
        shown[column.name] = frame[column.name].astype(float).round(column.digits) + 0.0
        head = column.header.replace(" [95 % CI]", "")
        config[column.name] = st.column_config.NumberColumn(head, format=f"%{sign}.{column.digits}f")
        if column.low:
            shown[f"{column.name}_interval"], config[f"{column.name}_interval"] = interval(
                frame, column.low, column.high, column.digits, column.signed
            )
    draw_table(shown, alt=alt, key=f"{key}.rows", column_config=config,
               row_height=tall)  # fmt: skip
