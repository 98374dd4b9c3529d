"""Every page through ``app.py``, as a reader's browser would ask for it.

A test has folders and caches of its own, unless it only reads runs that others read too: such tests follow each other
in one folder with what the dashboard keeps, as a reader's clicks do, for as long as none of them writes there.
"""

import inspect
import os
import shutil
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
import streamlit as st
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

from core.settings import ROOT, cache_dir, results_dir
from core.store.run_files import run_signature
from core.store.sorted_copies import copy_path
from tests.pages.contrast_runs import write_both_halves
from tests.pages.opening import Open, turned
from tests.pages.scoped_runs import write_runs


class Shelf:
    """A folder with runs, which tests that only read them may share.

    Args:
        data: the folder; the runs are laid into it when first asked for, and after a test changed anything in it.
        write: writes the runs into the dashboard's folder.
    """

    def __init__(self, data: Path, write: Callable[[], object]) -> None:
        self.data, self._write = data, write
        self._laid: dict[str, tuple[int, int]] = {}

    def untouched(self) -> bool:
        """Whether the folder is as it was laid out."""
        return bool(self._laid) and self._files() == self._laid

    def lay(self, monkeypatch: pytest.MonkeyPatch) -> Path:
        """Make it the dashboard's folder; returns that of the shipped runs in it."""
        monkeypatch.setenv("INVARISCOPE_DATA", str(self.data))
        if not self.untouched():
            shutil.rmtree(self.data, ignore_errors=True)
            self._write()
            self._laid = self._files()
        return results_dir()

    def _files(self) -> dict[str, tuple[int, int]]:
        found = ((each, each.stat()) for each in self.data.rglob("*") if each.is_file())
        return {str(each): (told.st_size, told.st_mtime_ns) for each, told in found}


class Shelves:
    """A shelf for each fixture of runs that tests share, and the one whose answers the dashboard keeps."""

    def __init__(self, folder: Path) -> None:
        self._shelves = {name: Shelf(folder / name, write) for name, write in WRITTEN.items()}
        self.warm: Shelf | None = None

    def read_by(self, request: pytest.FixtureRequest) -> Shelf | None:
        """The shelf of a test that asks for its runs and for nothing to change the process or the folder with."""
        own = inspect.signature(request.function).parameters
        if {"monkeypatch", "tmp_path", "caplog"} & set(own) or "own_folder" in request.fixturenames:
            return None
        return next((shelf for name, shelf in self._shelves.items() if name in request.fixturenames), None)


def write_demo() -> Path:
    """Write the shipped run; its corpus ships too, so its pictures can be made."""
    run = Path(shutil.copytree(ROOT / "data" / "results" / "demo", results_dir() / "demo"))
    lend_copy(run)
    return run


_sorted_copies: list[Path] = []


def lend_copy(run: Path) -> None:
    """Lay what the store made of the shipped run where it looks for that of this one, whose files are the same."""
    folder = cache_dir() / "store"
    copy = copy_path(folder, run_signature(run.resolve()))
    made = next((each for each in _sorted_copies if each.is_file()), None)
    if made is not None and not copy.exists():
        folder.mkdir(parents=True, exist_ok=True)
        os.link(made, copy)
    _sorted_copies.append(copy)


WRITTEN: dict[str, Callable[[], object]] = {
    "demo": write_demo,
    "scoped": write_runs,
    "both_halves": write_both_halves,
}
"""Name of a fixture -> what writes its runs into the dashboard's folder."""


def forget() -> None:
    """Drop what the dashboard keeps in this process; closes the store."""
    st.cache_data.clear()
    st.cache_resource.clear()


@pytest.fixture(scope="session", autouse=True)
def packages_looked_through_once() -> Iterator[None]:
    """A test that opens the app has Streamlit read about every installed package, for components; none come or go."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", cache(manifest_scanner.scan_component_manifests))
        yield


@pytest.fixture(scope="session")
def shelves(tmp_path_factory: pytest.TempPathFactory) -> Shelves:
    """The folders of this process's tests that only read."""
    return Shelves(tmp_path_factory.mktemp("shelves"))


@pytest.fixture
def open_page(
    request: pytest.FixtureRequest, shelves: Shelves, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Open]:
    """Return a function that opens a view with query parameters; the store is empty, the demo corpus is here."""
    monkeypatch.setenv("INVARISCOPE_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("INVARISCOPE_FOLDERS", os.pathsep.join((str(tmp_path), "/no/such")))
    monkeypatch.chdir(ROOT)
    shelf = shelves.read_by(request)
    if shelf is None or shelf is not shelves.warm:
        forget()

    def opened(view: str, /, **query: str) -> AppTest:
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
        turned(app, view)
        for name, value in query.items():
            app.query_params[name] = value
        return app.run()

    yield opened
    shelves.warm = shelf if shelf is not None and shelf.untouched() else None
    if shelves.warm is None:
        forget()


@pytest.fixture
def own_folder() -> None:
    """For a test or a fixture that writes beside the runs that it asks for."""


@pytest.fixture
def lay(
    open_page: Open, request: pytest.FixtureRequest, shelves: Shelves, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], Path]:
    """Return a function that lays the runs of a fixture into the folders of this test; returns the shipped runs'."""

    def laid(name: str) -> Path:
        shelf = shelves.read_by(request)
        if shelf is not None:
            return shelf.lay(monkeypatch)
        WRITTEN[name]()
        return results_dir()

    return laid


@pytest.fixture
def demo(lay: Callable[[str], Path]) -> Path:
    """The shipped run."""
    return lay("demo") / "demo"


@pytest.fixture
def scoped(lay: Callable[[str], Path]) -> Path:
    """Runs of two corpora, captions and evaluators."""
    return lay("scoped")


@pytest.fixture
def both_halves(lay: Callable[[str], Path]) -> Path:
    """A store with a run whose human captions were broken, beside a larger one of the template alone."""
    return lay("both_halves")
