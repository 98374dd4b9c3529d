"""The server of the dashboard: ``app.py``, with headers for every browser and limits from the first moment."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import streamlit as st
from starlette.middleware import Middleware
from streamlit.runtime import get_instance
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.pages_manager import PagesManager

from core.evaluators.memory import share_arenas
from core.settings import unknown
from pages.views.common.server_door import KeyLink, OwnOrigin, SafeHeaders, UploadDoor, UploadLimits, guard

share_arenas()  # before the server's own threads are there: each would keep a part of its own


def _limits() -> UploadLimits:
    files = get_instance().uploaded_file_mgr
    assert isinstance(files, MemoryUploadedFileManager)
    return guard(files)


@asynccontextmanager
async def _from_the_first_moment(_server: st.App) -> AsyncIterator[dict[str, Any]]:
    _limits()
    PagesManager.uses_pages_directory = False  # no older multipage app, also before app.py ran for the first time
    for said in unknown():
        logging.getLogger("invariscope").warning("%s (docs/command-line.md lists them)", said)
    # what pages import: two sessions that do so at once, each from another page, meet modules that are half made
    for name in ("core.analysis.questions", "core.report.build", "pages.views.common.collect"):
        import_module(name)
    yield {}


app = st.App(
    Path(__file__).resolve().with_name("app.py"),
    middleware=[
        Middleware(SafeHeaders),
        Middleware(OwnOrigin),
        Middleware(KeyLink),
        Middleware(UploadDoor, limits=_limits),
    ],
    lifespan=_from_the_first_moment,
)
