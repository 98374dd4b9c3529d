"""Every page through ``app.py``, as a reader's browser would ask for it, with folders of its own."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from core.settings import ROOT, results_dir
from tests.pages.opening import Open


@pytest.fixture
def open_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    """Return a function that opens a page with query parameters; the store is empty, the demo corpus is here."""
    monkeypatch.setenv("INVARISCOPE_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(ROOT)
    st.cache_data.clear()
    st.cache_resource.clear()

    def opened(page: str, /, **query: str) -> AppTest:
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
        app.run()
        app.switch_page(page)
        for name, value in query.items():
            app.query_params[name] = value
        return app.run()

    yield opened
    st.cache_resource.clear()  # closes the store


@pytest.fixture
def demo(open_page: Open) -> Path:
    """The shipped run in the folders of this test; its corpus ships too, so its pictures can be made."""
    return Path(shutil.copytree(ROOT / "data" / "results" / "demo", results_dir() / "demo"))
