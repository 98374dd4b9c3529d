"""Start: which metrics are stable and sensitive, the worst finding with its pictures, the way in; more on a click."""

from collections.abc import Mapping

import streamlit as st
from streamlit.elements.lib.mutable_expander_container import ExpanderContainer

from core.analysis.overview import at_a_glance, not_on_card
from core.analysis.questions.selective import unverified
from core.analysis.scope import Narrowed, Scope
from core.errors import InvariscopeError
from core.probes.titles import family_title
from pages.views.common.collect import figures_aside, figures_of, of_scores
from pages.views.common.layers import folded_part
from pages.views.common.links import RUNS, draw_no_run, link_to, scope_link
from pages.views.common.open_runs import (
    Signature,
    accepted_words,
    blind,
    blur_control,
    card,
    families,
    findings,
    half_precision,
    origin_of_scores,
    present,
    risks,
    store,
    unsure_words,
)
from pages.views.common.page_head import header
from pages.views.common.scope_chips import choose_scope, say_withheld, scope_fields
from pages.views.common.text import counted, safe
from pages.views.common.url_state import PageState, switch_field
from pages.views.overview.overview_evaluators import draw_card, draw_glance, draw_kinds
from pages.views.overview.overview_findings import (
    choose_thresholds,
    draw_findings,
    draw_report,
    draw_slices,
    draw_ways,
    draw_worst,
    say_thresholds,
    slices_field,
    threshold_fields,
    thresholds,
)
from pages.views.overview.overview_plane import draw_answer, draw_plane, falls_of, selectivity, with_both
from pages.views.runs_view import warn_incomplete

_FOLDED = {
    "more": ("Other findings, and on which pictures a metric is least stable", ":material/photo_library:"),
    "card": ("Every metric: fairness card and report", ":material/badge:"),
}
"""Field of the link -> label and icon of the part of the page that it opens."""


def draw() -> None:
    """Draw the view."""
    files = present()
    opened = store(files)
    folds = map(switch_field, _FOLDED)
    state = PageState("overview", (*scope_fields(files), *threshold_fields(), slices_field(files), *folds))
    state.restore()
    header(
        "Which image-caption metrics ignore harmless edits, and notice wrong captions?",
        state,
        words=("run", "margin"),
    )
    if opened.runs():
        try:
            _numbers(state, files, choose_scope(state, files, usual=Scope(directional=True)))
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
    say_withheld(files, seen)
    worst, both = findings(files, seen, held.margin, held.least), with_both(files, seen)
    draw_answer(files, both)
    draw_ways()
    first, second = st.columns([5, 4], gap="medium")
    with first:
        draw_plane(state, files, seen, both)
    with second:
        draw_worst(worst, held, falls_of(files, both or seen), scope_link(seen), aside=bool(unsure_words(files, seen)))
    say_thresholds(held)
    if place := _folded(state, "more"):
        with place:
            choose_thresholds(state)
            draw_findings(worst.iloc[1:], held, scope_link(seen))
            draw_slices(state, files, seen, held)
    if place := _folded(state, "card"):
        with place:
            _glance(state, files, seen, held.margin, falls_of(files, seen))
            _card(files, seen, held.margin)
            draw_report(files, scope)


def _folded(state: PageState, field: str) -> ExpanderContainer | None:
    label, icon = _FOLDED[field]
    return folded_part(label, state, field, icon=icon)


def _glance(state: PageState, files: Signature, scope: Narrowed, margin: float, falls: Mapping[str, str]) -> None:
    """Draw every evaluator in one row, beside its selectivity where a run has both halves of an audit."""
    table = card(files, scope, margin)
    if table.empty:
        st.info(_no_card(files, scope, margin))
        return
    own = with_both(files, scope)
    measured = selectivity(files, own) if own is not None else None
    of = ""
    if own is not None and measured is not None:
        of = f"run {own.run}, caption {own.subject}, {unverified(measured) or 'verified comparisons'}"
    rows = at_a_glance(table, risks(files, scope, margin), measured)
    with figures_aside(of_scores(state, files, scope, beside=() if own is None else (own,))):
        draw_glance(rows, origin_of_scores(files, scope), of, falls, scope_link(scope))
    draw_kinds(table["evaluator"].unique())


def _card(files: Signature, scope: Narrowed, margin: float) -> None:
    """Draw the fairness card, or why there is none."""
    table = card(files, scope, margin)
    if table.empty:
        st.info(_no_card(files, scope, margin))
        return
    said = blur_control(files, scope), half_precision(files, scope, margin), blind(files, scope)
    contrasts, risk = families(files, scope, margin), risks(files, scope, margin)
    unsure = table["family"].isin(unsure_words(files, scope))
    for family, what in accepted_words(files, scope).items():
        st.caption(safe(f"{family_title(family)}: {what}.", limit=300))
    draw_card(
        table.assign(may_be_true=unsure), contrasts, risk, *said, origin_of_scores(files, scope), scope_link(scope)
    )


def _no_card(files: Signature, scope: Narrowed, margin: float) -> str:
    return safe(" ".join(not_on_card(families(files, scope, margin))) or "No family has a percent change yet.")
