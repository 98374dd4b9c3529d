"""Probe lab: one picture, one caption, the chosen probes under every chosen evaluator, now."""

from collections.abc import Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.charts.canvas import thumbnail
from core.errors import InvariscopeError
from core.features.lab.lab import LabResult
from core.probes.base import Probe
from core.scoring.workbench import Workbench
from pages.views.common.page_head import header
from pages.views.common.text import safe
from pages.views.common.url_state import PageState
from pages.views.probe_lab.lab_audience import draw_present
from pages.views.probe_lab.lab_closer_looks import draw_sight
from pages.views.probe_lab.lab_picture import choose_picture, take_picked
from pages.views.probe_lab.lab_results import (
    charts,
    chosen_turn,
    compute,
    curves,
    draw_downloads,
    for_caption,
    into_view,
    strip,
    table,
    turn,
)
from pages.views.probe_lab.lab_searches import asked_last, draw_places, draw_worst, follow
from pages.views.probe_lab.lab_setup import choose_caption, choose_evaluators, choose_probes
from pages.views.probe_lab.lab_state import lab_state, warm

_HOW = (
    "Each bar is the percent change against the edit's baseline: the unedited pair, and of a word the neutral one that "
    "*Table* names. Metrics share a scale unless one moves over three times as far as another. The noise band holds 95 "
    "of 100 edits that nobody can see, of the metric's run. Where an edit breaks the meaning its colour says whether "
    "the score drops beyond noise, as it must."
)


def draw() -> None:
    """Draw the view."""
    state = lab_state()
    state.restore()
    take_picked(state)
    header(
        "Edit a picture or its caption: which scores change?",
        state,
        lost=_lost(state),
    )
    left, right = st.columns([5, 8], gap="medium")
    stage = right.container(key="lab_stage")
    with left.container(key="lab_bench", gap="small"):
        bench = choose_picture(state)
    if bench is None:
        with stage:
            st.info("Bring a picture to begin: upload one, take one, or pick a corpus item.", icon=":material/image:")
        state.publish()
        warm(state.get("evaluators"))
        return
    with left.container(gap="small"):
        caption = choose_caption(state, bench.item)
    with stage.container(key="lab_thumb"):  # a phone's: the picture itself is further down there
        st.image(thumbnail(bench.picture, side=192), alt="The picture that is scored", width="content")
        st.text(caption)
    chips = stage.container(horizontal=True, gap="small", vertical_alignment="center", key="lab_chips")
    with chips:
        if state.get("source") == "corpus":
            st.button(
                "Upload your picture",
                icon=":material/upload:",
                type="primary",
                key="lab.bring",
                on_click=state.put,
                args=("source", "upload"),
            )
        probes = for_caption(state, choose_probes(state))
        names = choose_evaluators(state, folded=True, own=True)
    state.publish()
    shifts, below = stage.container(), right.container()
    with turn(bench, caption, probes, names):
        if probes and not _variants(below, state, bench, caption, probes):
            return
        result = _shifts(shifts, bench, caption, probes, names)
    if result is None:
        return
    with chips:
        draw_present(state, bench, result, probes)
    curves(result)
    picked = chosen_turn()
    into_view(picked, key="lab.into_view")
    seen, places, worst, rows, files = st.tabs(
        ["What the metric saw", "Position map", "Worst harmless edit", "Table", "Downloads"],
        default={"places": "Position map", "worst": "Worst harmless edit"}.get(asked_last()),
        key=f"lab.tabs.{picked}",  # a variant that is chosen opens the first one
    )
    searches = ((places.container(), draw_places), (worst.container(), draw_worst))
    with seen:
        draw_sight(state, bench, result, probes)
    with rows:
        table(result)
    with files:
        draw_downloads(state, bench, result, probes)
    state.publish()
    if bench.item.frames:
        for tab in (places, worst):
            tab.caption("This is of one picture, and the item is a video. The view Video maps words and frames.")
        return
    follow(*(draw_tab(tab, bench, caption, result.evaluators) for tab, draw_tab in searches))


def _lost(state: PageState) -> str:
    """What the link cannot carry."""
    brought = state.get("mask") or state.get("source") != "corpus"
    return "What you uploaded or painted is in this link for a day." if brought else ""


def _variants(place: DeltaGenerator, state: PageState, bench: Workbench, caption: str, probes: Sequence[Probe]) -> bool:
    """Draw every variant; False where they may not be made now, which is said."""
    with place:
        try:
            strip(state, bench, probes, caption)
        except InvariscopeError as error:
            st.error(safe(str(error), limit=600))
            return False
    return True


def _shifts(
    stage: DeltaGenerator, bench: Workbench, caption: str, probes: Sequence[Probe], names: Sequence[str]
) -> LabResult | None:
    """Draw how far every edit moves the scores, beside the picture; None where nothing was scored."""
    with stage:
        if not caption or not names:
            missing = "Name the object or type a caption" if not caption else "Choose a metric"
            st.info(f"{missing} to see how much each edit changes the score.", icon=":material/edit:")
            return None
        bars = st.empty()  # one column after the other, as it is scored

        def show(found: LabResult) -> None:
            with bars.container():
                charts(bench, found)

        try:
            result = compute(bench, caption, probes, names, show)
        except InvariscopeError as error:
            st.error(safe(str(error), limit=600))
            return None
        show(result)
        if not result.rows:
            return None
        st.caption("Noise is what edits that nobody can see change; a faint bar lies inside it.", help=_HOW)
    return result
