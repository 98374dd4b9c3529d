"""The fairness card and the worst findings, against the shipped run read with pandas."""

import numpy as np
import pandas as pd
import pytest

from core.analysis.flip_risk import flip_risk
from core.analysis.overview import CARD_GAP, card_risks, fairness_card, family_contrasts, worst_findings
from core.audit.store import Store


@pytest.fixture(scope="module")
def rows(store: Store) -> pd.DataFrame:
    found = store.query("select * from shifts where expectation = 'invariant' and axis <> 'null' and not control")
    return found.astype(dict.fromkeys(("evaluator", "axis", "family", "item"), object))


@pytest.fixture(scope="module")
def card(store: Store) -> pd.DataFrame:
    return fairness_card(store)


def test_the_card_names_the_family_that_moves_the_items_most(card: pd.DataFrame, rows: pd.DataFrame) -> None:
    per_item = rows.assign(size=rows["percent"].abs()).groupby(["evaluator", "axis", "family", "item"])["size"].median()
    medians = per_item.groupby(["evaluator", "axis", "family"]).median()
    for _, row in card.iterrows():
        cells = medians.loc[row["evaluator"], row["axis"]]
        assert row["family"] == cells.idxmax()
        assert row["median_abs_percent"] == pytest.approx(cells.max())
        assert row["n_families"] == len(cells)


def test_the_null_band_is_the_shift_under_edits_that_nobody_sees(store: Store, card: pd.DataFrame) -> None:
    table = family_contrasts(store)
    for _, row in card.iterrows():
        null = table[(table["axis"] == "null") & (table["evaluator"] == row["evaluator"])]
        assert row["null_band"] == null["median_abs_percent"].max()


def test_the_flip_risk_on_the_card_is_that_of_the_family_item_by_item(
    store: Store, card: pd.DataFrame, rows: pd.DataFrame
) -> None:
    risks = card_risks(store, card)
    assert len(risks) == 2 * len(card)
    for _, row in risks.iterrows():
        cell = rows[(rows["evaluator"] == row["evaluator"]) & (rows["family"] == row["family"])].dropna(subset="delta")
        expected = flip_risk(cell["delta"], [row["d"]], items=cell["item"].astype("category").cat.codes)
        assert row["risk"] == pytest.approx(expected[0], abs=1e-12)
        assert row["risk"] <= 0.5
        assert row["gap"] == CARD_GAP


def test_findings_are_different_families_each_with_its_largest_shift(store: Store, rows: pd.DataFrame) -> None:
    found = worst_findings(store)
    assert len(set(found["family"])) == len(found) == 3
    assert list(found["median_abs_percent"]) == sorted(found["median_abs_percent"], reverse=True)
    for _, row in found.iterrows():
        cell = rows[(rows["evaluator"] == row["evaluator"]) & (rows["family"] == row["family"])]
        assert abs(row["delta"]) == pytest.approx(np.nanmax(cell.dropna(subset="percent")["delta"].abs()))


def test_an_empty_store_has_an_empty_card(tmp_path) -> None:
    with Store.open(tmp_path) as empty:
        assert fairness_card(empty).empty
        assert worst_findings(empty).empty
