"""The shipped run of words hit more and more often: its curves worked out anew from the raw Parquet."""

from collections.abc import Iterator

import pandas as pd
import pytest

from core.analysis.questions import Options, catalogue
from core.analysis.reading import read_table
from core.analysis.scope import Scope
from core.analysis.table import ScoreTable
from core.settings import results_dir
from core.store.store import Store
from tests.analysis.made_runs import raw, shifts

RUN = results_dir() / "demo-lexical-sweeps"
PROBABILITIES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)


@pytest.fixture(scope="module")
def table() -> Iterator[ScoreTable]:
    with Store.open(RUN) as store:
        yield read_table(store, Scope(subject="human", language="en", directional=True))


@pytest.fixture(scope="module")
def sides() -> pd.DataFrame:
    return shifts(raw(RUN))


def _answer(table: ScoreTable, id_: str) -> pd.DataFrame:
    question = next(each for each in catalogue(table) if each.id == id_)
    assert not question.needs(table)
    return question.compute(table.view(), Options())


def test_every_point_of_a_curve_is_the_median_of_stored_pairs(table: ScoreTable, sides: pd.DataFrame) -> None:
    rows = _answer(table, "C-sweep")
    stored = sides.dropna(subset=["delta"]).groupby(["evaluator", "probe"])["percent"]
    seen: dict[str, set[float]] = {}
    for row in rows.to_dict("records"):
        family, at = row["family"], row["label"]
        name = f"{family}:len{at:g}" if family == "hollow-tail" else family if at == 0.4 else f"{family}:p{at:g}"
        own = stored.get_group((row["evaluator"], name))
        assert (row["n_items"], row["median_percent"]) == (len(own), pytest.approx(own.median()))
        seen.setdefault(family, set()).add(at)
    assert {name: each for name, each in seen.items() if name != "hollow-tail"} == {
        name: set(PROBABILITIES) for name in ("masking", "removal", "repetition")
    }
    assert seen["hollow-tail"] >= set(range(1, 9))


def test_removal_as_printed_takes_away_more_words_than_removal_as_written(table: ScoreTable) -> None:
    facts = pd.read_parquet(RUN / "variants")
    told = facts[facts["key"].isin(["words", "changed"]) & facts["probe"].isin(["removal", "removal:printed"])]
    wide = told.assign(value=told["value"].astype(float)).pivot_table(
        index=["item", "probe"], columns="key", values="value"
    )
    share = (wide["changed"] / wide["words"]).groupby("probe").mean()
    assert share["removal"] == pytest.approx(0.4, abs=0.07)
    assert share["removal:printed"] == pytest.approx(0.6, abs=0.07)
    assert len(_answer(table, "C-rates").query("label == family and family == 'removal'")) == len(table.evaluators)
