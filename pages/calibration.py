"""Calibration: how much of the sensitivity a correction of strength λ removes, and what it costs in agreement."""

import streamlit as st

from core.errors import InvariscopeError
from pages.parts.calib_setup import choose, tell
from pages.parts.calib_state import calib_state, fingerprint_of, fitted, narrowed, references, votes_present
from pages.parts.calib_sweep import draw_sweep
from pages.parts.empty import draw_no_run
from pages.parts.entry import enter
from pages.parts.frame import header
from pages.parts.runs import known_values, present, store
from pages.parts.slice_filters import choose_slice
from pages.parts.text import safe

FILTERS = ("runs", "corpora", "axes", "families", "categories", "coverage_bins", "subjects")


def draw() -> None:
    """Draw the page."""
    files = present()
    state = calib_state(files)
    state.restore()
    header(
        "Calibration", "Take the shifts out of a score afterwards, as far as its agreement with others allows.", state
    )
    if not store(files).runs():
        draw_no_run(evaluators=("conse-lite0", "grounding-judge"))
        state.publish()
        return
    chosen = choose_slice(state, files, fields=FILTERS, more=False)
    choose(state, known_values(files)["evaluators"], references(files))
    key = (
        files, chosen, state.get("evaluator"), state.get("reading"), state.get("weights"), state.get("epsilon"),
        tuple(state.get("against")), votes_present(),
    )  # fmt: skip
    try:
        found, bands = fitted(*key)
    except InvariscopeError as error:
        st.error(safe(str(error), limit=600))
        state.publish()
        return
    tell(state, found)
    for sentence in narrowed(files, chosen)[1]:
        st.caption(safe(sentence, limit=300))
    state.publish()
    draw_sweep(state, key, found, bands, fingerprint_of(files, state.get("evaluator")))


enter()
draw()
