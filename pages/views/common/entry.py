"""The way into an entry of the menu, and from former addresses to it."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

import pandas as pd
import streamlit as st
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import get_script_run_ctx

from core.errors import NotAvailable
from core.evaluators.memory import leave_out_of_collections
from core.features.feature import VIEW, follow, views
from core.registry import only_described
from core.settings import ROOT
from core.store.run_sources import only_allowed_folders
from pages.views.common.access import visible
from pages.views.common.page_head import draw_title
from pages.views.common.text import safe
from pages.views.common.url_state import note_view

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
    """Draw the view of an entry that the link asks for, or the one that opens; no other one's code runs."""
    _prepare()
    shown = [each for each in visible(views()) if each.entry == name]
    asked = st.query_params.get(VIEW)
    view = next((each for each in shown if each.name == asked), shown[0])
    context = get_script_run_ctx()
    note_view(view, back=context is not None and context.is_history_navigation)
    try:
        draw = follow(view.code)
    except NotAvailable as error:
        draw_title()
        st.error(safe(str(error), limit=600))
        return
    assert callable(draw)
    draw()


def _prepare() -> None:
    """Start the page over under ``app.py``, where Streamlit ran it alone: nobody asked there who may see it.

    Until ``app.py`` has run once in a server, Streamlit takes a folder named ``pages`` for its older kind of
    multipage app and runs the file that the address names without ``app.py``: without door, theme and navigation. How
    far other sessions are says nothing of this one, so the page asks for the mark of this very run.
    """
    _one_thread_each()
    _collect_what_is_new()
    _plain_texts()
    only_described()
    only_allowed_folders()
    if not _ADMITTED.get():
        context = get_script_run_ctx()
        if context is None or Path(context.main_script_path).resolve() != ROOT / "app.py":
            st.error("A page is opened through the dashboard: start it with `python -m core app`.")
            st.stop()
        PagesManager.uses_pages_directory = False
        st.rerun()


@st.cache_resource(show_spinner=False)
def _one_thread_each() -> bool:
    """Keep NumPy's matrix library to one thread: waking the others costs more than a page's products take."""
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    ThreadpoolController().select(internal_api="openblas").limit(limits=1)
    return True


@st.cache_resource(show_spinner=False)
def _collect_what_is_new() -> bool:
    """Leave what pages are made of out of every collection: looking through it stops a page for as long as it takes."""
    leave_out_of_collections()
    return True


@st.cache_resource(show_spinner=False)
def _plain_texts() -> bool:
    """Keep columns of text as Python's strings: a page's tables are small, and each look into Arrow's costs more."""
    pd.set_option("mode.string_storage", "python")
    return True
