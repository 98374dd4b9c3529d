"""What every page begins with: the way in, its title, the row of its chips, its address as a link or a QR code."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import fields
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit, urlunsplit

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import get_script_run_ctx

from core.analysis.slices import Slice
from core.corpora.schema import OWN
from core.errors import InvariscopeError, NotAvailable
from core.evaluators.memory import leave_out_of_collections
from core.features.feature import VIEW, address, entries, follow, views
from core.registry import only_described
from core.settings import ROOT, public_url
from core.store.run_sources import only_allowed_folders
from pages.views.common.access import HUMAN, LOCAL, visible
from pages.views.common.collect import begin
from pages.views.common.layers import button
from pages.views.common.text import component, meaning, safe
from pages.views.common.url_state import PageState, note_view, turn_to, view_now

_FILTERS = frozenset(field.name for field in fields(Slice))  # filters that mean the same in every view that has them
_SCOPE_STAYS = " The scope stays, on this page and on the others; *Reset scope* takes it back."


def header(caption: str, state: PageState, *, lost: str = "", words: Sequence[str] = ()) -> None:
    """Draw the title beside *Copy link* and *Start over*, and say what of a link could not be restored. ``caption``:
    what the view answers. ``lost``: what its link cannot carry; empty where it carries everything. ``words``: coined
    words that the page turns on; a ? beside the title says what they mean."""
    begin()
    scoped = any(field.shared for field in state.fields)
    with st.container(key="page_header"):
        text, actions = st.columns([7, 3], vertical_alignment="top")
        with text:
            draw_title(words)
            st.caption(caption)
        with actions.container(horizontal=True, horizontal_alignment="right", gap="small", key=f"{state.page}_actions"):
            _button(key=f"{state.page}.copy", data={"lost": lost}, width="content")
            if any(not field.shared for field in state.fields):
                hint = (
                    "Back to the usual view of this page. Until then it is kept as long as this tab is open, "
                    "wherever else you look." + (_SCOPE_STAYS if scoped else "")
                )
                button("Start over", "restart_alt", f"{state.page}.reset", state.reset, help=hint, type="tertiary")
    if state.problems():
        st.warning(
            "Part of the link could not be restored. " + " ".join(safe(each) for each in state.problems()),
            icon=":material/link_off:",
        )


@contextmanager
def drawn(state: PageState) -> Iterator[None]:
    """Draw what a view shows: what it refuses is said in a sentence, and its link is written in either case."""
    try:
        yield
    except InvariscopeError as error:
        st.error(safe(str(error), limit=600))
    state.publish()


def draw_title(words: Sequence[str] = ()) -> None:
    """Draw the title of the entry, the switch between its views, and what coined ``words`` mean behind a ?."""
    now = view_now()
    entry = next(each for each in entries() if each.name == now.entry)
    titles = {each.name: each.title for each in visible(views()) if each.entry == entry.name}
    with st.container(horizontal=True, vertical_alignment="center", gap="medium", key="page_title"):
        st.title(entry.title, anchor=False, help=meaning(*words) or None, width="content")
        if len(titles) > 1:
            key = f"{VIEW}.{entry.name}"
            st.session_state[key] = now.name
            st.segmented_control(
                "View",
                tuple(titles),
                format_func=titles.__getitem__,
                key=key,
                required=True,
                label_visibility="collapsed",
                on_change=_turn,
                args=(key,),
            )


def _turn(key: str) -> None:
    turn_to(st.session_state[key], lambda name: name in _FILTERS or name.startswith(OWN))


class Chips(NamedTuple):
    """Places of the row under the header, from left to right."""

    scope: DeltaGenerator  # of the chips that choose the scope
    filters: DeltaGenerator  # of the chip that opens the filters
    notes: DeltaGenerator  # of what the scope leaves out


def chips(state: PageState) -> Chips:
    """Draw the row under the header, empty yet."""
    row = st.container(horizontal=True, gap="small", vertical_alignment="center", key=f"{state.page}_chips")
    return Chips(
        *(
            row.container(
                horizontal=True, gap="small", vertical_alignment="center", width="content", key=f"{state.page}_{name}"
            )
            for name in Chips._fields
        )
    )


@contextmanager
def filter_panel(state: PageState, row: Chips, *, told: int, about: str) -> Iterator[None]:
    """Open the panel of a page's filters, over the page. ``told``: how many are set; ``about``: what counts are of."""
    label = f"Filters: **{told}**" if told else "Filters"
    with (
        row.filters,
        st.popover(label, icon=":material/filter_alt:", key=f"{state.page}.filters"),
        st.container(key="filter_panel"),
    ):
        st.caption(about)
        yield


# The address of the browser, not the server's idea of it: behind a proxy or a tunnel only the former can be sent on.
_button = component("copy_link")


def code_svg(address: str) -> str:
    """The QR code of an address, dark on white with its quiet zone, as SVG."""
    from qrcode.constants import ERROR_CORRECT_M  # here, for every page imports this module and two draw a code
    from qrcode.image.svg import SvgPathFillImage
    from qrcode.main import QRCode

    code = QRCode(error_correction=ERROR_CORRECT_M, image_factory=SvgPathFillImage)
    code.add_data(address)
    return str(code.make_image().to_string(encoding="unicode"))


def say_whom_links_reach() -> None:
    """Say plainly where links to this server open on this machine alone, and what changes that."""
    host = urlsplit(annotators_address()).hostname or ""
    if host in LOCAL:
        st.warning(
            f"Only this machine can open these links: they begin with {host}. Others need a server with a log-in "
            "behind a proxy, and its address in `INVARISCOPE_PUBLIC_URL`: docs/human-validation.md, *A public "
            "annotation server*.",
            icon=":material/link_off:",
        )


def annotators_address() -> str:
    """The public address where one is set, else this server's as the browser names it; with the page, no query."""
    parts = urlsplit(st.context.url or "http://localhost:8501")
    server = public_url() or urlunsplit((parts.scheme, parts.netloc, "", "", ""))
    return f"{server}/{Path(address(HUMAN)[0]).stem}"


_ADMITTED: ContextVar[bool] = ContextVar("admitted", default=False)


@contextmanager
def by_the_door() -> Iterator[None]:
    """Mark what runs within as run by ``app.py``, which admits a session before it draws a page."""
    token = _ADMITTED.set(True)
    try:
        yield
    finally:
        _ADMITTED.reset(token)


def draw_entry(name: str) -> None:
    """Draw the view of an entry that the link asks for, or the one that opens; no other one's code runs.

    Starts over under ``app.py`` where Streamlit ran the page alone: nobody asked there who may see it. Until ``app.py``
    has run once in a server, Streamlit takes a folder named ``pages`` for its older kind of multipage app and runs the
    file that the address names without ``app.py``: without door, theme and navigation. How far other sessions are says
    nothing of this one, so the page asks for the mark of this very run."""
    for prepare in (_prepare, only_described, only_allowed_folders):
        prepare()
    context = get_script_run_ctx()
    if not _ADMITTED.get():
        if context is None or Path(context.main_script_path).resolve() != ROOT / "app.py":
            st.error("A page is opened through the dashboard: start it with `python -m core app`.")
            st.stop()
        PagesManager.uses_pages_directory = False
        st.rerun()
    shown = [each for each in visible(views()) if each.entry == name]
    asked = st.query_params.get(VIEW)
    view = next((each for each in shown if each.name == asked), shown[0])
    note_view(view, back=context is not None and context.is_history_navigation)
    try:
        draw = follow(view.code)
    except NotAvailable as error:
        draw_title()
        st.error(safe(str(error), limit=600))
        return
    assert callable(draw)
    draw()


@st.cache_resource(show_spinner=False)
def _prepare() -> bool:
    """What a server does once, before its first page."""
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    # one thread for NumPy's matrix library: waking the others costs more than a page's products take
    ThreadpoolController().select(internal_api="openblas").limit(limits=1)
    leave_out_of_collections()  # looking through what pages are made of stops a page for as long as it takes
    # columns of text as Python's strings: a page's tables are small, and each look into Arrow's costs more
    pd.set_option("mode.string_storage", "python")
    return True
