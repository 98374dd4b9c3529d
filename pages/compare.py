"""Compare: two runs, two evaluators or two slices held against each other, the difference with its interval."""

import streamlit as st

from core.analysis.slices import Slice
from core.audit.store import Store
from core.errors import InvariscopeError
from pages.parts.compare_parts import choose_how, choose_sides, compared, draw_compared, draw_made_with
from pages.parts.compare_state import compare_state, side_slice, swap
from pages.parts.empty import draw_no_run
from pages.parts.entry import enter
from pages.parts.frame import header
from pages.parts.runs import Signature, present, store
from pages.parts.text import safe
from pages.parts.url_state import PageState


def draw() -> None:
    """Draw the page."""
    files = present()
    state = compare_state(files)
    state.restore()
    header("Compare", "Two runs, two evaluators or two slices: how far apart they are, and how sure that is.", state)
    opened = store(files)
    if not opened.runs():
        draw_no_run()
        state.publish()
        return
    choose_sides(state, files)
    st.button("Swap sides", icon=":material/swap_horiz:", on_click=swap, args=(state,), key="compare.swap")
    a, b = (side_slice(state, files, side) for side in ("a", "b"))
    try:
        _compare(state, files, a, b)
        _made_with(opened, a, b)
    except InvariscopeError as error:
        st.error(safe(str(error), limit=600))
    state.publish()


def _compare(state: PageState, files: Signature, a: Slice, b: Slice) -> None:
    if a == b:
        st.info("Both sides hold the same. Choose another evaluator, run, family or kind of item on one of them.",
                icon=":material/balance:")  # fmt: skip
        return
    choose_how(state)
    by, measure, margin = state.get("by"), state.get("measure"), float(state.get("margin"))
    table = compared(files, a, b, by, measure, margin)
    if table.empty:
        st.info("One side holds no shift. Take back one of its choices.", icon=":material/filter_alt:")
        return
    draw_compared(table, by=by, measure=measure, margin=margin)


def _made_with(opened: Store, a: Slice, b: Slice) -> None:
    runs = {run.id: run for run in opened.runs()}
    if len(a.runs) == len(b.runs) == 1 and a.runs != b.runs:
        draw_made_with(runs[a.runs[0]], runs[b.runs[0]])


enter()
draw()
