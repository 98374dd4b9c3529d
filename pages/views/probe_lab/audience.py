"""Pictures of an audience: a code that leads its phones to an upload, and a tray of what was given."""

import streamlit as st

from core.charts.canvas import thumbnail
from core.settings import public_url
from pages.views.common.access import audience_lacks, may_operate, operators_only, takes_audience
from pages.views.common.page_address import code_svg
from pages.views.common.text import safe
from pages.views.common.url_state import PageState
from pages.views.probe_lab.drawn import forget_object
from pages.views.probe_lab.state import shared

_LINK = "probe_lab?source=upload&give=yes"


def draw_audience(state: PageState) -> None:
    """Draw the code and the tray, for an operator where the server takes pictures of an audience; else nothing."""
    if not (takes_audience() and may_operate()):
        return
    _code()
    _tray(state)


def _code() -> None:
    with st.popover("QR code", icon=":material/qr_code_2:", key="lab.audience.code"):
        if lacking := audience_lacks():
            st.caption(f"No phone could give a picture yet. Set {safe(', '.join(lacking))} and start the server again.")
            return
        address = f"{public_url()}/{_LINK}"
        st.image(code_svg(address), width=340, alt=f"QR code of {address}")
        st.caption(safe(address, limit=300))


def _tray(state: PageState) -> None:
    given = shared().uploads.given()
    with st.popover(f"From the audience: **{len(given)}**", icon=":material/inbox:", key="lab.audience.tray"):
        if not given:
            st.caption("Nothing was given yet.")
        if st.button("Look again", key="lab.audience.again", icon=":material/refresh:", type="tertiary"):
            st.rerun()
        for key, name, upload in given:
            picture, words = st.columns([1, 2], vertical_alignment="center")
            picture.image(thumbnail(upload.pixels(), side=160), alt=f"Given: {name}", width="stretch")
            words.caption(safe(name, limit=60))
            with words.container(horizontal=True, gap="xsmall"):
                opened = st.button("Open", key=f"lab.audience.open.{key}", on_click=_open, args=(state, key))
                st.button("Remove", key=f"lab.audience.remove.{key}", type="tertiary", on_click=_remove, args=(key,))
            if opened:
                st.rerun()  # the whole page, for another picture


@operators_only
def _open(state: PageState, key: str) -> None:
    forget_object(state)
    state.put("source", "upload")
    state.put("upload", key)


@operators_only
def _remove(key: str) -> None:
    shared().uploads.give(key, given=False)
