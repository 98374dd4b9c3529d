"""The shipped run and a small one of two corpora, opened and reported once."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from bench.dashboard_store import write_store
from core.analysis.valence import embed
from core.evaluators.pool import Pool
from core.report.build import build
from core.report.model import Report
from core.settings import ROOT
from core.store.store import Store


@pytest.fixture(scope="session")
def demo() -> Iterator[Store]:
    with Store.open([ROOT / "data" / "results" / "demo"]) as store:
        yield store


@pytest.fixture(scope="session")
def demo_report(demo: Store) -> Report:
    return build(demo, encode=partial(embed, Pool(device="cpu")))


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
