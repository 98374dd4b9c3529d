"""A part that is folded away: neither worked out nor sent before a reader opens it."""

from collections.abc import Callable

import streamlit as st
from streamlit.elements.lib.mutable_expander_container import ExpanderContainer
from streamlit.elements.lib.mutable_popover_container import PopoverContainer

from core.errors import InvariscopeError
from pages.views.common.text import safe


def is_open(place: ExpanderContainer | PopoverContainer) -> bool:
    """Whether a reader opened a place, which then is to be filled; a closed one says what it shows until it is."""
    if not place.open:
        place.caption("One moment …")
    return bool(place.open)


@st.fragment
def draw_folded(label: str, draw: Callable[[], None], *, key: str, icon: str = ":material/table:") -> None:
    """Draw a label that opens what is drawn beneath it; opening it runs this part of the page alone.

    Args:
        label: in our own words.
        draw: draws what is folded away, from what it was given: the page around it does not run again.
        key: of the part; in the session it says whether the part is open.
        icon: before the label.
    """
    place = st.expander(label, icon=icon, key=key, on_change="rerun")
    if not is_open(place):
        return
    with place:
        try:
            draw()
        except InvariscopeError as error:
            st.error(safe(str(error), limit=600))
