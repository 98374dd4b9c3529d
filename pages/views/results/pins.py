"""From the results to the comparison: pin what stands here as one side, then another view as the other."""

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from core.analysis.questions import Question
from core.analysis.scope import Narrowed
from core.analysis.slices import Slice
from pages.views.common.url_state import PageState
from pages.views.compare.state import COMPARE, pin, pinned, pins


def draw_pins(
    state: PageState, scope: Narrowed, chosen: Slice, asked: Sequence[Question], families: Sequence[str]
) -> None:
    """Draw the buttons that pin this view.

    Args:
        state: of the results page; the evaluator of its tests is pinned with the view.
        scope: whose scores.
        chosen: the slice of the filters.
        asked: the questions that are shown; a part of one family pins that family.
        families: that are known.
    """
    family = next((each.part for each in asked if each.part in families), None)
    if family is None and any(each.families for each in asked):
        family = state.get("under")
    view = replace(chosen, families=(family,)) if family and not chosen.families else chosen
    if state.get("of") and any(each.pick for each in asked):
        view = replace(view, evaluators=(state.get("of"),))
    st.divider()
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown("Hold this view against another", width="content", help="Pin it as one side, change the filters or "
                    "the part, pin that as the other side, and open the comparison.")  # fmt: skip
        for side in ("a", "b"):
            held = any(name.startswith(f"{side}_") for name in pinned())
            st.button(f"Pin as {side.upper()}", icon=":material/keep:" if held else ":material/keep_off:", on_click=pin,
                      args=(side, scope.only(), view), key=f"results.pin.{side}")  # fmt: skip
        st.page_link(COMPARE, label="Compare", icon=":material/compare_arrows:", query_params=pins())
