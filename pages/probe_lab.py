"""Probe lab: one picture, one caption, the chosen probes under every chosen evaluator, now."""

import streamlit as st

from core.errors import InvariscopeError
from pages.views.common.entry import enter
from pages.views.common.frame import header
from pages.views.common.text import safe
from pages.views.probe_lab.downloads import draw_downloads
from pages.views.probe_lab.made_of import for_caption
from pages.views.probe_lab.places import draw_places
from pages.views.probe_lab.results import charts, compute, curves, strip, table
from pages.views.probe_lab.setup import choose_caption, choose_evaluators, choose_probes
from pages.views.probe_lab.sight import draw_sight
from pages.views.probe_lab.source import choose_picture, take_picked
from pages.views.probe_lab.state import lab_state
from pages.views.probe_lab.worst import draw_worst


def draw() -> None:
    """Draw the page."""
    state = lab_state()
    state.restore()
    take_picked(state)
    header("Probe lab", "Edit a picture or its caption so that the meaning stays, and see which metric moves.", state)
    left, right = st.columns([5, 6], gap="large")
    with left:
        bench = choose_picture(state)
    if bench is None:
        with right:
            st.info("Bring a picture to begin: upload one, take one, or pick a corpus item.", icon=":material/image:")
        state.publish()
        return
    with right:
        caption = choose_caption(state, bench.item)
        names = choose_evaluators(state)
        probes = for_caption(state, choose_probes(state))
    state.publish()
    if probes:
        st.subheader("Variants")
        strip(bench, probes, caption)
    st.subheader("Shifts")
    if not caption or not names:
        missing = "a caption" if not caption else "an evaluator"
        st.info(f"Choose {missing} above to see how far each probe moves the score.", icon=":material/arrow_upward:")
        return
    try:
        result = compute(bench, caption, probes, names)
    except InvariscopeError as error:
        st.error(safe(str(error), limit=600))
        return
    charts(bench, result)
    curves(result)
    st.caption(
        "Bars are percent changes against each probe's baseline, every evaluator on its own scale. The grey null "
        "band holds 95 of 100 edits that nobody can see, of the evaluator's run; a faint bar lies inside it. Where a "
        "probe breaks the meaning its colour says whether the score drops, as it must."
    )
    seen, places, worst, rows, files = st.tabs(
        ["What the metric saw", "Position map", "Worst harmless edit", "Table", "Downloads"]
    )
    with seen:
        draw_sight(state, bench, result, probes)
    with places:
        draw_places(bench, caption, result.evaluators)
    with worst:
        draw_worst(bench, caption, result.evaluators)
    with rows:
        table(result)
    with files:
        draw_downloads(bench, result, probes)
    state.publish()


enter()
draw()
