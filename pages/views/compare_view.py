"""Compare: two runs, two evaluators or two slices held against each other, the difference with its interval."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.features.compare.two_sides import manifest_differences
from core.store.store import Store
from pages.views.common.collect import Origin, figures_of, scores_of
from pages.views.common.links import draw_no_run
from pages.views.common.open_runs import Signature, facet_counts, present, scores, store
from pages.views.common.page_head import drawn, header
from pages.views.common.page_tables import draw_table
from pages.views.common.scope_chips import choose_scope
from pages.views.common.slice_filters import describe, offer_relaxing
from pages.views.common.text import safe
from pages.views.common.url_state import PageState
from pages.views.compare_parts import (
    Side,
    choose_how,
    choose_sides,
    compare_state,
    compared,
    draw_compared,
    side_of,
    summary,
)
from pages.views.results_view import SIDES


def draw() -> None:
    """Draw the view."""
    files = present()
    state = compare_state(files)
    state.restore()
    header(
        "Two runs, two metrics or two slices: how much do they differ, and how sure is that?",
        state,
        words=("margin",),
    )
    opened = store(files)
    with drawn(state):
        if not opened.runs():
            draw_no_run()
            return
        scope = choose_scope(state, files).only()
        answer = st.container()
        possible = choose_sides(state, files, scope)
        if possible:
            a, b = (side_of(state, files, scope, side) for side in SIDES)
            _compare(state, files, a, b, answer)
            _made_with(opened, a.scope.run, b.scope.run)


def _compare(state: PageState, files: Signature, a: Side, b: Side, answer: DeltaGenerator) -> None:
    if a == b:
        st.info(
            "Both sides are the same. Choose another metric, run, family or kind of item on one of them.",
            icon=":material/balance:",
        )
        return
    choose_how(state, [key for side in (a, b) for key in scores(files, side.scope).own])
    of = "; ".join(f"{name}: {scores_of(side.scope, describe(side.chosen))}" for name, side in (("A", a), ("B", b)))
    figures_of(Origin(state, of, files, (a.scope, b.scope)))
    by, measure, margin = state.get("by"), state.get("measure"), float(state.get("margin"))
    table = compared(files, a, b, by, measure, margin)
    if table.empty:
        st.info("One side has no shift.", icon=":material/filter_alt:")
        for name, side in zip(SIDES, (a, b), strict=True):
            if not sum(facet_counts(files, side.scope, side.chosen)["sign"].values()):
                offer_relaxing(state, files, side.scope, side.chosen, side=f"{name}_")
        return
    answer.markdown(summary(table, by, a, b))
    draw_compared(table, a, b, by=by, measure=measure, margin=margin)


def _made_with(opened: Store, a: str, b: str) -> None:
    """Draw what two runs were made with that is not the same."""
    if a == b:
        return
    one, other = (next(run for run in opened.runs() if run.id == each) for each in (a, b))
    st.markdown("## What the two runs were made with")
    table = manifest_differences(one, other)
    if table.empty:
        st.caption("Nothing differs: the same corpus, edits, metrics, lexicons, seed and versions.")
        return
    draw_table(
        table,
        alt="What two runs were made with",
        key="compare.manifests",
        column_config={"what": "What differs", "a": safe(f"A: {one.id}"), "b": safe(f"B: {other.id}")},
    )
