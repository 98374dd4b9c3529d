"""Tables 9 to 12 and figures 9 and 10 of paper A as two shipped runs fill them, from the raw Parquet."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest

from core.analysis.questions import Options, Question, catalogue
from core.analysis.reading import read_table
from core.analysis.scope import narrow
from core.analysis.table import ScoreTable
from core.settings import results_dir
from core.store.store import Store
from tests.analysis.made_runs import raw, shifts
from tests.analysis.questions_reference import of

REFERENCE, OTHER = "demo", "demo-scenes"
"""Corpora, and the runs of them that ship."""

EVALUATORS = ("conse-lite0", "conse-lite2", "grounding-judge")
"""They scored both; a fourth scored the other alone."""

PROBES = {
    "T9": ("vflip",),
    "T10": tuple(f"cultural:{word}" for word in ("American", "European", "Asian", "African")),
    "T11": ("economic:cheap", "economic:expensive"),
}
LABELS = {"T9": "vertical flip", "T10": "cultural subset", "T11": "economic subset"}


@pytest.fixture(scope="module")
def table() -> Iterator[ScoreTable]:
    with Store.open([results_dir() / name for name in (REFERENCE, OTHER)]) as store:
        yield read_table(store)


@pytest.fixture(scope="module")
def asked(table: ScoreTable) -> dict[str, Question]:
    return {each.id: each for each in catalogue(table)}


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    """Every pair of the template in English, with its baseline beside it."""
    scores = pd.concat([raw(results_dir() / name) for name in (REFERENCE, OTHER)], ignore_index=True)
    return shifts(of(scores, subject="template", language="en"))


def pairs(rows: pd.DataFrame, id_: str, evaluator: str) -> pd.DataFrame:
    """Pairs of a table's words or flips; economic words of things alone."""
    own = of(rows[rows["probe"].isin(PROBES[id_])], evaluator=evaluator)
    return own[own["category"] != "person"] if id_ == "T11" else own


def test_all_shipped_runs_together_open_on_the_same_two_corpora(table: ScoreTable) -> None:
    with Store.open(sorted(results_dir().glob("demo*"))) as store:
        assert narrow(store).runs == table.scope.runs == ((REFERENCE, REFERENCE), (OTHER, OTHER))


@pytest.mark.parametrize("id_", PROBES)
def test_a_subset_is_the_median_of_each_item_s_mean_change(
    table: ScoreTable, asked: dict[str, Question], rows: pd.DataFrame, id_: str
) -> None:
    assert not asked[id_].needs(table)
    found = asked[id_].compute(table.view(), Options())
    of_both = found[found["evaluator"].isin(EVALUATORS)]
    assert len(of_both) == len(EVALUATORS) * 2
    assert set(found["evaluator"]) - set(EVALUATORS) == {"conse-multilingual"}
    for row in found.to_dict("records"):
        own = of(pairs(rows, id_, row["evaluator"]), corpus=row["corpus"])
        means = own.groupby("item")["percent"].mean().dropna().to_numpy()
        assert (row["n_items"], row["median_percent"]) == (len(means), pytest.approx(np.median(means)))
        assert row["n_items"] >= 30
        if np.ptp(means) > 0:
            assert row["low"] <= row["median_percent"] <= row["high"]
        else:  # the judge looks for nouns and asks no adjective: nothing moves, and there is no spread
            assert (row["evaluator"], row["median_percent"]) == ("grounding-judge", 0)
            assert np.isnan(row["low"])
    for drawing in asked[id_].figures:
        drawn = drawing.figure(found).frame
        assert drawing.paper in ("Figure 9", "Figure 10")
        shown = drawn.sort_values(["label", "series"])[["value", "low", "high"]].to_numpy(float)
        told = found.sort_values(["evaluator", "corpus"])[["median_percent", "low", "high"]].to_numpy(float)
        np.testing.assert_allclose(shown, told)
    assert {each.id for each in asked[id_].figures} == {"T9": set(), "T10": {"F9"}, "T11": {"F10"}}[id_]


@pytest.mark.parametrize("id_", PROBES)
def test_agreement_is_the_share_of_items_that_move_as_the_median_of_the_reference(
    table: ScoreTable, asked: dict[str, Question], rows: pd.DataFrame, id_: str
) -> None:
    answer = asked["T12"].compute(table.view(), Options())
    found = answer[answer["family"] == LABELS[id_]]
    assert set(found["corpus"]) == {OTHER}
    told = found.set_index("evaluator").loc[list(EVALUATORS)]
    for evaluator, row in told.iterrows():
        items = pairs(rows, id_, str(evaluator)).groupby(["corpus", "item"])["delta"].median().dropna()
        way, here = np.sign(items[REFERENCE].median()), np.sign(items[OTHER])
        assert row["n_items"] == len(here)
        if way == 0:
            assert (evaluator, row["note"]) == ("grounding-judge", "the reference has no direction")
            continue
        agreed = np.where(here == 0, 0.5, here == way)
        assert row["low"] <= row["agreement"] <= row["high"]
        assert row["agreement"] == pytest.approx(100 * agreed.mean())
    assert told["agreement"].notna().sum() >= 2
