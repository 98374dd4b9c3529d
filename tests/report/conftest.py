"""The shipped run, and a small one of three corpora opened and reported once."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.dashboard_store import write_store
from core.report.build import build
from core.report.document import Report
from core.store.store import Store


@pytest.fixture(scope="session")
def demo(store: Store) -> Store:
    return store


@pytest.fixture(scope="session")
def several(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Three corpora of sixty items, five evaluators, made-up scores."""
    folder = tmp_path_factory.mktemp("several") / "runs"
    write_store(folder, items=dict.fromkeys(("made-up-a", "made-up-b", "made-up-c"), 60))
    with Store.open([folder]) as store:
        yield store


@pytest.fixture(scope="session")
def several_report(several: Store) -> Report:
    return build(several)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "report"
