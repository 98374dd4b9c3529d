"""Flip risk: how often a harmless edit would invert a ranking."""

import streamlit as st

from core.analysis.beside import other_captions
from core.features.feature import address
from pages.views.common.collect import figures_of, of_scores
from pages.views.common.links import draw_no_run
from pages.views.common.open_runs import present, scores, store
from pages.views.common.page_head import chips, drawn, header
from pages.views.common.scope_chips import choose_scope
from pages.views.common.slice_filters import choose_slice, describe
from pages.views.flip_risk.flip_risk_gap import draw_gap, flip_state

FILTERS = ("axes", "families", "categories", "coverage_bins")
_AS_BEFORE = {"source": "source", "images": "images", "edits": "edits", "count": "count", "judge": "judges"}
"""What a former link to two systems held -> what it is called where captioners are ranked."""


def draw() -> None:
    """Draw the view; a former link to two systems of the reader's own leads to where captioners are ranked."""
    if st.query_params.get("show") == "systems":
        file, first = address("systems")
        kept = {now: st.query_params[name] for name, now in _AS_BEFORE.items() if name in st.query_params}
        st.switch_page(file, query_params={**first, "show": "new", **kept})
    files = present()
    state = flip_state(files)
    state.restore()
    header(
        "How often does a harmless edit reverse which of two captions scores higher?",
        state,
        words=("flip risk", "trustworthy gap"),
    )
    with drawn(state):
        if not store(files).runs():
            draw_no_run()
            return
        row = chips(state)
        scope = choose_scope(state, files, row=row).only()
        chosen = choose_slice(state, files, scope, row, fields=FILTERS)
        others = (each.scope for each in other_captions(scores(files, scope)))  # for captions of one picture
        figures_of(of_scores(state, files, scope, describe(chosen), beside=others))
        draw_gap(state, files, scope, chosen)
