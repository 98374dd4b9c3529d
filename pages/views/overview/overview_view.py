"""Overview: what this is, what is loaded, what was found; then every evaluator's card."""

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from core.analysis.overview import at_a_glance, not_on_card
from core.analysis.questions.selective import unverified
from core.analysis.scope import Narrowed
from core.errors import InvariscopeError
from pages.views.common.collect import figures_of, of_scores
from pages.views.common.links import RUNS, draw_no_run, link_to
from pages.views.common.open_runs import (
    Signature,
    blind,
    blur_control,
    card,
    families,
    findings,
    half_precision,
    origin_of_scores,
    present,
    risks,
    scores,
    store,
    unsure_words,
)
from pages.views.common.page_head import header
from pages.views.common.scope_chips import choose_scope, say_withheld, scope_fields
from pages.views.common.text import counted, safe
from pages.views.common.url_state import PageState
from pages.views.overview.overview_evaluators import draw_card, draw_glance, draw_kinds
from pages.views.overview.overview_findings import (
    choose_thresholds,
    draw_findings,
    draw_found,
    draw_loaded,
    draw_report,
    draw_slices,
    draw_ways,
    draw_what,
    slices_field,
    threshold_fields,
    thresholds,
)
from pages.views.overview.overview_plane import draw_plane, falls_of, selectivity, with_both
from pages.views.runs_view import warn_incomplete


def draw() -> None:
    """Draw the view."""
    files = present()
    opened = store(files)
    state = PageState("overview", (*scope_fields(files), *threshold_fields(), slices_field(files)))
    state.restore()
    header(
        "How much each metric's score changes when the meaning stays the same.",
        state,
        words=("run", "margin"),
    )
    draw_what()
    if opened.runs():
        try:
            _numbers(state, files, choose_scope(state, files))
        except InvariscopeError as error:
            st.error(safe(str(error), limit=600))
        warn_incomplete(opened.runs())
    else:
        draw_no_run()
    if broken := len(opened.problems):
        left_out = f"{counted(broken, 'run or file is', 'runs or files are')} left out: see why"
        link_to(RUNS, left_out, icon=":material/warning:")
    state.publish()


def _numbers(state: PageState, files: Signature, scope: Narrowed) -> None:
    """Draw what the scope's scores say."""
    seen, held = scope.only(), thresholds(state)
    figures_of(of_scores(state, files, seen))
    table, contrasts, risk = (work(files, seen, held.margin) for work in (card, families, risks))
    worst = findings(files, seen, held.margin, held.least)
    draw_loaded(store(files).runs(), scores(files, seen))
    say_withheld(files, seen)
    falls = falls_of(files, seen)
    draw_found(worst, held, falls)
    draw_ways(worst)
    draw_plane(files, seen)
    sources = origin_of_scores(files, seen)
    choose_thresholds(state)
    if not table.empty:
        st.header("Evaluators at a glance", anchor=False)
        _glance(files, seen, table, risk, sources, falls)
    st.header("Worst findings", anchor=False)
    draw_findings(worst, held)
    draw_slices(state, files, seen, held)
    st.header("Fairness card", anchor=False)
    if table.empty:
        st.info(safe(" ".join(not_on_card(contrasts)) or "No family has a percent change yet."))
    else:
        said = blur_control(files, seen), half_precision(files, seen, held.margin), blind(files, seen)
        unsure = table["family"].isin(unsure_words(files, seen))
        draw_card(table.assign(may_be_true=unsure), contrasts, risk, *said, sources)
    st.header("Export", anchor=False)
    draw_report(files, scope)


def _glance(
    files: Signature,
    scope: Narrowed,
    table: pd.DataFrame,
    risk: pd.DataFrame,
    sources: Mapping[str, str],
    falls: Mapping[str, str],
) -> None:
    """Draw every evaluator in one row, beside its selectivity where a run holds both halves of an audit."""
    own = with_both(files, scope)
    measured = selectivity(files, own) if own is not None else None
    of = ""
    if own is not None and measured is not None:
        of = f"run {own.run}, caption {own.subject}, {unverified(measured) or 'verified comparisons'}"
    draw_glance(at_a_glance(table, risk, measured), sources, of, falls)
    draw_kinds(table["evaluator"].unique())
