"""Rows of single pairs are the same whichever way they are sought."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from core.store import sql
from core.store.store import Store
from tests.analysis.made_runs import SHIPPED, audited, raw, shifts, write_run

PAIRS = [
    ("demo", "cat", "vflip"),
    ("demo", "cat", "gender:boy"),
    ("demo", "cat", "identity"),
    ("demo", "gone", "vflip"),
    ("other", "i003", "vflip"),
    ("other", "i004", "hflip"),
    ("gone", "cat", "vflip"),
    ("demo", "cat", "vflip"),
]
"""Baselines, which are no shifts, and what is not there, among them; one is named twice."""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ...]:
    folder = tmp_path_factory.mktemp("runs")
    other = write_run(folder / "other", audited("vflip", "hflip"))
    return SHIPPED, other


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("copies")


@pytest.fixture(scope="module", params=["files", "small copies", "large copies", "one large copy"])
def store(request: pytest.FixtureRequest, runs: tuple[Path, ...], copies: Path) -> Iterator[Store]:
    shipped = len(raw())
    many = {"large copies": 1, "one large copy": shipped}.get(request.param, 2 * shipped)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sql, "MANY", many)
        with Store.open(runs, copies=None if request.param == "files" else copies) as opened:
            assert opened.problems == ()
            yield opened


def test_the_rows_of_some_pairs_are_those_of_the_view(store: Store) -> None:
    found = store.shifts(PAIRS, language="en", rank=0)
    every = store.query("select * from shifts where language = 'en' and rank = 0")
    own = [tuple(row) in PAIRS for row in every[["run", "item", "probe"]].itertuples(index=False)]
    order = ["run", "item", "subject", "probe", "evaluator"]
    expected = every[own].sort_values(order, ignore_index=True)
    assert set(expected["run"]) == {"demo", "other"}
    pd.testing.assert_frame_equal(found.sort_values(order, ignore_index=True), expected)


def test_their_scores_are_those_of_the_raw_rows(store: Store) -> None:
    found = store.shifts([("demo", "cat", "vflip")], language="en", rank=0).set_index(["subject", "evaluator"])
    rows = shifts(raw())
    rows = rows[(rows["item"] == "cat") & (rows["probe"] == "vflip")].set_index(["subject", "evaluator"])
    assert len(found) == len(rows) > 1
    assert found["delta"].to_dict() == rows["delta"].astype(float).to_dict()


def test_of_another_language_or_of_no_pair_there_is_no_row(store: Store) -> None:
    assert store.shifts(PAIRS, language="de", rank=0).empty
    nothing = store.shifts([], language="en", rank=0)
    assert nothing.empty
    assert list(nothing) == list(store.query("select * from shifts limit 0"))
