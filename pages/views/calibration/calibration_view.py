"""Calibration: how much of the sensitivity a correction of strength λ removes, and what it costs in agreement."""

from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from core.analysis.scope import Narrowed
from core.analysis.slices import Slice
from core.analysis.table import View
from core.errors import InvariscopeError
from core.evaluators.calibrated import OVER_ORBITS
from core.features.calibration.measurement import composable
from core.features.calibration.orbits import calibrated_families
from core.probes.titles import family_title
from pages.views.calibration.calibration_state import (
    calib_state,
    choose,
    draw_choices,
    fingerprint_of,
    fitted,
    references,
    tell,
    votes_present,
    word_order,
)
from pages.views.calibration.calibration_sweep import draw_sweep
from pages.views.calibration.measured_calibration import Source
from pages.views.common.collect import figures_of, of_scores
from pages.views.common.links import draw_no_run
from pages.views.common.open_runs import Signature, present, scores, store, under_all, view
from pages.views.common.page_head import Chips, chips, drawn, header
from pages.views.common.scope_chips import choose_scope, say_withheld
from pages.views.common.slice_filters import choose_slice, describe, offer_relaxing
from pages.views.common.text import listed, safe
from pages.views.common.url_state import PageState

FILTERS = ("axes", "families", "categories", "coverage_bins")


def draw() -> None:
    """Draw the view."""
    files = present()
    state = calib_state(files)
    state.restore()
    header(
        "How far can unwanted changes be reduced, and what agreement with other metrics does it cost?",
        state,
        words=("calibration", "SD"),
    )
    with drawn(state):
        if not store(files).runs():
            draw_no_run(evaluators=("conse-lite0", "grounding-judge"))
            return
        row = chips(state)
        _draw(state, files, choose_scope(state, files, row=row, without=("evaluators",)).only(), row)


def _of_the_picture(state: PageState, chosen: Slice, seen: View, evaluator: str) -> tuple[str, ...]:
    """Families to open on where the reader chose none: those over whose orbits a metric can be measured.

    None where that is all of them, or the reading corrects a known edit.
    """
    if state.get("reading") not in OVER_ORBITS or chosen.axes or chosen.families:
        return ()
    every = calibrated_families(seen, evaluator)
    own = composable(every)
    return own if len(own) < len(every) else ()


def _draw(state: PageState, files: Signature, scope: Narrowed, row: Chips) -> None:
    say_withheld(files, scope)
    chosen = choose_slice(state, files, scope, row, fields=FILTERS, more=False)
    # a score is held to the others of its run, also to those that the reader did not choose to look at
    every = under_all(files, scope)
    evaluator = _choose_evaluator(state, scores(files, scope).evaluators, row)
    charts = st.container()
    options = st.expander("Method and constraints", icon=":material/tune:")
    with options:
        choose(state, evaluator, references(scores(files, every).evaluators))
    how: tuple[Any, ...] = (
        evaluator,
        state.get("reading"),
        state.get("weights"),
        state.get("epsilon"),
        tuple(state.get("against")),
        votes_present(),
    )
    own = _of_the_picture(state, chosen, view(files, every, chosen), evaluator)
    if own:
        chosen = replace(chosen, families=own)
    key = (files, every, chosen, *how)
    try:
        found, bands = fitted(files, every, chosen, *how)
    except InvariscopeError as error:
        charts.error(safe(str(error), limit=600))
        with charts:
            offer_relaxing(state, files, scope, chosen)
        return
    with options:
        if own:
            named = safe(listed([family_title(each) for each in own]))
            st.caption(f"Calibrated for edits that need the picture alone: {named}. Choose others under *Filters*.")
        tell(state, found, word_order(files, every, tuple(state.get("against"))))
    state.publish()
    run = next(each for each in store(files).runs() if each.id == scope.run)
    whole = Slice(families=tuple(found.scores.families))
    source = Source(run, scope.corpus, scope.subject, scope.language, lambda: fitted(files, every, whole, *how)[0])
    figures_of(of_scores(state, files, every, describe(chosen)))
    every_family = replace(chosen, axes=(), families=())
    with charts:
        draw_sweep(
            state,
            key,
            found,
            bands,
            fingerprint_of(files, scope, evaluator),
            source,
            lambda: view(files, every, every_family),
            partial(draw_choices, state, files, every, chosen, evaluator),
        )


def _choose_evaluator(state: PageState, there: tuple[str, ...], row: Chips) -> str:
    """Draw the chip of the evaluator whose scores are calibrated; the choice."""
    shown = state.get("evaluator") if state.get("evaluator") in there else there[0]
    place = row.scope.popover(f"Metric: **{safe(shown, limit=40)}**", key="calib.chip")
    return state.choose(place, "evaluator", "Metric", there, help="Whose scores are calibrated")
