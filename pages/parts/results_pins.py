"""From the results to the comparison: pin what stands here as one side, then another view as the other."""

from dataclasses import replace

import streamlit as st

from core.analysis.questions import PLACES, ROTATION, SOCIETAL
from core.analysis.slices import Slice
from pages.parts.compare_state import COMPARE, pin, pins
from pages.parts.url_state import PageState

_FAMILIES = {"quadrants": PLACES, "angles": ROTATION} | {name: name for name in SOCIETAL}
"""Part of a question -> the family that it is of."""


def draw_pins(state: PageState, chosen: Slice, part: str) -> None:
    """Draw the buttons that pin this view.

    Args:
        state: of the results page; the evaluator of its tests is pinned with the view.
        chosen: the slice of the filters.
        part: of the question; a part of one family pins that family.
    """
    family = _FAMILIES.get(part) or state.get("under")
    view = replace(chosen, families=(family,)) if family and not chosen.families else chosen
    if not view.evaluators and state.get("of"):
        view = replace(view, evaluators=(state.get("of"),))
    st.divider()
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown("Hold this view against another", width="content", help="Pin it as one side, change the filters or "
                    "the part, pin that as the other side, and open the comparison.")  # fmt: skip
        for side in ("a", "b"):
            held = any(name.startswith(f"{side}_") for name in pins())
            st.button(f"Pin as {side.upper()}", icon=":material/keep:" if held else ":material/keep_off:", on_click=pin,
                      args=(side, view), key=f"results.pin.{side}")  # fmt: skip
        st.page_link(COMPARE, label="Compare", icon=":material/compare_arrows:", query_params=pins())
