"""Every page through ``app.py``, as a reader's browser would ask for it.

A test has folders and caches of its own, unless it only reads the shipped run: such tests follow each other in one
folder with what the dashboard keeps, as a reader's clicks do, for as long as none of them writes there.
"""

import inspect
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from core.settings import ROOT, results_dir
from tests.pages.opening import Open


class Shelf:
    """A folder with the shipped run, which tests that only read it may share.

    Args:
        data: the folder; the run is laid into it when first asked for, and after a test changed anything in it.
    """

    def __init__(self, data: Path) -> None:
        self.data = data
        self.warm = False
        self._laid: dict[str, tuple[int, int]] = {}

    def untouched(self) -> bool:
        """Whether the folder is as it was laid out."""
        return bool(self._laid) and self._files() == self._laid

    def lay(self, monkeypatch: pytest.MonkeyPatch) -> Path:
        """Make it the dashboard's folder; returns the run's."""
        monkeypatch.setenv("INVARISCOPE_DATA", str(self.data))
        if not self.untouched():
            shutil.rmtree(self.data, ignore_errors=True)
            shutil.copytree(ROOT / "data" / "results" / "demo", results_dir() / "demo")
            self._laid = self._files()
        return results_dir() / "demo"

    def _files(self) -> dict[str, tuple[int, int]]:
        found = ((each, each.stat()) for each in self.data.rglob("*") if each.is_file())
        return {str(each): (told.st_size, told.st_mtime_ns) for each, told in found}


def only_reads(request: pytest.FixtureRequest) -> bool:
    """Whether a test asks for the shipped run and for nothing to change the process or the folder with."""
    own = inspect.signature(request.function).parameters
    return "demo" in request.fixturenames and not {"monkeypatch", "tmp_path", "caplog"} & set(own)


def forget() -> None:
    """Drop what the dashboard keeps in this process; closes the store."""
    st.cache_data.clear()
    st.cache_resource.clear()


@pytest.fixture(scope="session")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    """The folder of this process's tests that only read the shipped run."""
    return Shelf(tmp_path_factory.mktemp("shelf") / "data")


@pytest.fixture
def open_page(
    request: pytest.FixtureRequest, shelf: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Open]:
    """Return a function that opens a page with query parameters; the store is empty, the demo corpus is here."""
    monkeypatch.setenv("INVARISCOPE_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(ROOT)
    reads = only_reads(request)
    if not (reads and shelf.warm):
        forget()

    def opened(page: str, /, **query: str) -> AppTest:
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
        app.switch_page(page)  # before any run a page goes by its file's name, which ``app.py`` gives it as its path
        for name, value in query.items():
            app.query_params[name] = value
        return app.run()

    yield opened
    shelf.warm = reads and shelf.untouched()
    if not shelf.warm:
        forget()


@pytest.fixture
def demo(open_page: Open, request: pytest.FixtureRequest, shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The shipped run in the folders of this test; its corpus ships too, so its pictures can be made."""
    if only_reads(request):
        return shelf.lay(monkeypatch)
    return Path(shutil.copytree(ROOT / "data" / "results" / "demo", results_dir() / "demo"))
