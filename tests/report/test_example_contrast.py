"""The example of papers B to E under docs is what the shipped runs of captions, prototypes and scenes give.

After a change that moves a number: make examples.
"""

from collections.abc import Iterator

import pandas as pd
import pytest

from core.analysis.questions import Options, catalogue
from core.analysis.reading import read_table
from core.analysis.scope import Scope
from core.analysis.table import ScoreTable
from core.settings import ROOT, results_dir
from core.store.store import Store

EXAMPLE = ROOT / "docs" / "example-contrast"
RUNS = ("demo-captions", "demo-prototypes", "demo-scenes", "demo-scenes-one")
TABLES = {
    "B": ("C2", "C3"),
    "C": ("C-rewards",),
    "D": ("C18", "C19", "C20", "C21", "C-crossed"),
    "E": ("C23", "C24", "C25", "C29"),
    "": ("C-rates", "C-selectivity"),
}
"""Paper -> tables of it; every paper has one."""


@pytest.fixture(scope="module")
def table() -> Iterator[ScoreTable]:
    with Store.open([results_dir() / run for run in RUNS]) as store:
        yield read_table(store, Scope(corpus="demo", subject="human", language="en"))


@pytest.mark.parametrize(("paper", "id_"), [(paper, id_) for paper, ids in TABLES.items() for id_ in ids])
def test_a_table_holds_the_numbers_of_the_runs_that_ship(table: ScoreTable, paper: str, id_: str) -> None:
    question = next(each for each in catalogue(table) if each.id == id_)
    assert question.paper.startswith(paper)
    made = question.compute(table.view(), Options())
    stored = pd.read_csv(EXAMPLE / "data" / f"{id_}.csv", keep_default_na=False, na_values=[""])
    names = [each.name for each in question.columns if each.name in stored]
    assert {"evaluator", "corpus"} < set(names)
    assert len(stored) == len(made)
    numbers = [name for name in names if pd.api.types.is_numeric_dtype(made[name])]
    pd.testing.assert_frame_equal(
        made[numbers].reset_index(drop=True).astype(float), stored[numbers].astype(float), check_exact=False, rtol=1e-6
    )
    words = [name for name in names if name not in numbers]
    named = made[words].replace("null", "invisible edits")
    said, told = (frame[words].astype(object).fillna("").astype(str).to_numpy().tolist() for frame in (named, stored))
    assert said == told


def test_it_is_small_and_names_no_machine() -> None:
    files = [path for path in EXAMPLE.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 3_000_000
    assert str(ROOT) not in (EXAMPLE / "report.md").read_text("utf-8")
