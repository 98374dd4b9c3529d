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
from pages.views.probe_lab.lab_bars import Edited, charts, chosen_turn, edits_of, follow_rows
from pages.views.probe_lab.lab_closer_looks import draw_sight
from pages.views.probe_lab.lab_picture import choose_picture, take_picked
from pages.views.probe_lab.lab_results import compute, curves, draw_downloads, for_caption, table, turn
from pages.views.probe_lab.lab_searches import asked_last, draw_places, draw_worst, follow
from pages.views.probe_lab.lab_setup import choose_caption, choose_evaluators, choose_probes
from pages.views.probe_lab.lab_state import lab_state, warm


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
    left, right = st.columns([4, 7], gap="medium")
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
    thumb = stage.container(key="lab_thumb", horizontal=True, gap="small", vertical_alignment="center")
    with thumb:  # a phone's: the picture itself is further down there
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
    shifts = stage.container()
    with turn(bench, caption, probes, names):
        edited, result = _shifts(shifts, state, bench, caption, probes, names)
    if result is None:
        return
    with chips:
        draw_present(state, bench, result, probes)
    curves(result)
    follow_rows(state, [each.name for each in edited.rows])
    seen, places, worst, rows, files = st.tabs(
        ["What the metric saw", "Position map", "Worst harmless edit", "Table", "Downloads"],
        default={"places": "Position map", "worst": "Worst harmless edit"}.get(asked_last()),
        key=f"lab.tabs.{chosen_turn()}",  # a variant that is chosen opens the first one
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
            tab.caption("This is of one picture, and the item is a video. The view Video edits its frames.")
        return
    follow(*(draw_tab(tab, bench, caption, result.evaluators) for tab, draw_tab in searches))


def _lost(state: PageState) -> str:
    """What the link cannot carry."""
    brought = state.get("mask") or state.get("source") != "corpus"
    return "What you uploaded or painted is in this link for a day." if brought else ""


def _shifts(
    stage: DeltaGenerator,
    state: PageState,
    bench: Workbench,
    caption: str,
    probes: Sequence[Probe],
    names: Sequence[str],
) -> tuple[Edited, LabResult | None]:
    """Draw every edit and how far it moves the scores, beside the picture; no result where nothing was scored."""
    chosen = state.get("variant") or ""
    with stage:
        try:
            edited = edits_of(bench, probes, caption)
            if not caption or not names:
                missing = "Name the object or type a caption" if not caption else "Choose a metric"
                st.info(f"{missing} to see how much each edit changes the score.", icon=":material/edit:")
                charts(bench, edited, None, chosen=chosen)
                return edited, None
            bars = st.empty()  # the edits first, then one column after the other, as it is scored

            def show(found: LabResult | None) -> None:
                with bars.container():
                    charts(bench, edited, found, chosen=chosen)

            show(None)
            result = compute(bench, caption, probes, names, show)
        except InvariscopeError as error:
            st.error(safe(str(error), limit=600))
            return Edited(), None
        show(result)
        return edited, result if result.rows else None
