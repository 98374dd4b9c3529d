"""Flip risk: how often a harmless edit would invert a ranking."""

from core.analysis.beside import other_captions
from pages.views.common.collect import figures_of, of_scores
from pages.views.common.links import draw_no_run
from pages.views.common.open_runs import present, scores, store
from pages.views.common.page_head import chips, drawn, header
from pages.views.common.scope_chips import choose_scope
from pages.views.common.slice_filters import choose_slice, describe
from pages.views.flip_risk.flip_risk_gap import VIEWS, draw_gap, flip_state
from pages.views.flip_risk.two_systems import draw_systems

FILTERS = ("axes", "families", "categories", "coverage_bins")


def draw() -> None:
    """Draw the view."""
    files = present()
    state = flip_state(files)
    state.restore()
    header(
        "How often does a harmless edit reverse which of two captions scores higher?",
        state,
        words=("flip risk", "trustworthy gap"),
    )
    state.switch("show", "Show", VIEWS, label_visibility="collapsed")
    with drawn(state):
        if state.get("show") == "systems":
            draw_systems(state)
        elif not store(files).runs():
            draw_no_run(more="Your own two systems need none, either: choose them above.")
        else:
            row = chips(state)
            scope = choose_scope(state, files, row=row).only()
            chosen = choose_slice(state, files, scope, row, fields=FILTERS)
            others = (each.scope for each in other_captions(scores(files, scope)))  # for captions of one picture
            figures_of(of_scores(state, files, scope, describe(chosen), beside=others))
            draw_gap(state, files, scope, chosen)
