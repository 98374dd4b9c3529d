"""The fairness card and the worst findings, against the shipped run read with pandas."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.analysis.overview import CARD_GAP, card_risks, fairness_card, family_contrasts, worst_findings
from core.analysis.reading import read_table
from core.analysis.slices import Slice
from core.analysis.table import View
from core.statistics.flip_risk import flip_risk
from core.store.store import Store
from tests.analysis.made_runs import raw, scores_of, shifts, write_run


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    found = shifts(raw())
    return found[(found["expectation"] == "invariant") & (found["axis"] != "null") & ~found["control"].astype(bool)]


@pytest.fixture(scope="module")
def view(store: Store) -> View:
    return read_table(store).view()


@pytest.fixture(scope="module")
def card(view: View) -> pd.DataFrame:
    return fairness_card(view)


def test_the_card_names_the_family_that_moves_the_items_most(card: pd.DataFrame, rows: pd.DataFrame) -> None:
    per_item = rows.assign(size=rows["percent"].abs()).groupby(["evaluator", "axis", "family", "item"])["size"].median()
    medians = per_item.groupby(["evaluator", "axis", "family"]).median()
    assert len(card) == medians.groupby(["evaluator", "axis"]).ngroups == 6
    for _, row in card.iterrows():
        cells = medians.loc[row["evaluator"], row["axis"]]
        assert cells[row["family"]] == cells.max()
        assert row["median_abs_percent"] == pytest.approx(cells.max())
        assert row["n_families"] == len(cells)


def test_contrasts_are_of_every_family_with_the_null_one_and_without_controls(view: View, rows: pd.DataFrame) -> None:
    found = family_contrasts(view)
    assert list(found.columns[:5]) == ["evaluator", "corpus", "axis", "family", "label"]
    expected = {*rows[["evaluator", "axis", "family"]].itertuples(index=False, name=None)}
    expected |= {(name, "null", "null") for name in view.evaluators}
    keys = found[["evaluator", "axis", "family"]]
    assert {*keys.itertuples(index=False, name=None)} == expected
    assert not keys.duplicated().any()
    pd.testing.assert_frame_equal(keys, keys.sort_values(list(keys)), check_like=False)


def test_the_null_band_is_the_shift_under_edits_that_nobody_sees(card: pd.DataFrame) -> None:
    found = shifts(raw())
    null = found[found["axis"] == "null"].assign(size=lambda each: each["percent"].abs())
    bands = null.groupby(["evaluator", "item"])["size"].median().groupby("evaluator").median()
    for _, row in card.iterrows():
        assert row["null_median"] == pytest.approx(bands[row["evaluator"]])


def test_the_null_family_has_the_band_as_its_own_median(view: View, card: pd.DataFrame) -> None:
    table = family_contrasts(view)
    for _, row in card.iterrows():
        null = table[(table["axis"] == "null") & (table["evaluator"] == row["evaluator"])]
        assert row["null_median"] == null["median_abs_percent"].max()


def test_the_flip_risk_on_the_card_is_that_of_the_family_item_by_item(
    view: View, card: pd.DataFrame, rows: pd.DataFrame
) -> None:
    risks = card_risks(view, card)
    assert len(risks) == 2 * len(card)
    scores = raw()
    clean = scores[scores["probe"] == "identity"].groupby("evaluator")["score"]
    spread = clean.quantile(0.75) - clean.quantile(0.25)
    for _, row in risks.iterrows():
        cell = rows[(rows["evaluator"] == row["evaluator"]) & (rows["family"] == row["family"])].dropna(subset="delta")
        span = 10 if row["evaluator"] == "grounding-judge" else 1
        d = CARD_GAP * (span if row["unit"] == "scale" else spread[row["evaluator"]])
        assert row["d"] == pytest.approx(d)
        expected = flip_risk(cell["delta"], [row["d"]], items=cell["item"].astype("category").cat.codes)
        assert row["risk"] == pytest.approx(expected[0], abs=1e-12)
        assert row["risk"] <= 0.5
        assert row["gap"] == CARD_GAP
        just, below = flip_risk(cell["delta"], [row["evidence"], 0.999 * row["evidence"]],
                                items=cell["item"].astype("category").cat.codes)  # fmt: skip
        assert just < 0.05
        assert below >= 0.05 or row["evidence"] == 0


def test_findings_are_different_families_each_with_its_largest_shift(
    store: Store, view: View, rows: pd.DataFrame
) -> None:
    found = worst_findings(store, view)
    assert len(set(found["family"])) == len(found) == 3
    assert list(found["median_abs_percent"]) == sorted(found["median_abs_percent"], reverse=True)
    per_item = rows.assign(size=rows["percent"].abs()).groupby(["evaluator", "family", "item"])["size"].median()
    worst = per_item.groupby(["evaluator", "family"]).median().groupby("family").max().nlargest(3)
    assert dict(zip(found["family"], found["median_abs_percent"], strict=True)) == pytest.approx(worst.to_dict())
    for _, row in found.iterrows():
        cell = rows[(rows["evaluator"] == row["evaluator"]) & (rows["family"] == row["family"])]
        largest = cell[cell["delta"].abs() == np.nanmax(cell["delta"].abs())].sort_values(["item", "probe"]).iloc[0]
        for name in ("item", "probe", "caption", "score", "baseline_score", "delta"):
            assert row[name] == largest[name], name
        assert row["percent"] == pytest.approx(largest["percent"], nan_ok=True)
        assert (row["run"], row["subject"]) == ("demo", "template")


def test_findings_keep_to_the_count_and_to_the_slice(store: Store, view: View) -> None:
    assert len(worst_findings(store, view, count=1)) == 1
    animals = worst_findings(store, view.table.view(Slice(categories=("animal",), axes=("spatial",))))
    items = set(raw().query("category == 'animal'")["item"])
    assert set(animals["item"]) <= items
    assert set(animals["axis"]) == {"spatial"}


def test_what_was_worked_out_already_is_not_worked_out_differently(store: Store, view: View) -> None:
    families = family_contrasts(view)
    pd.testing.assert_frame_equal(fairness_card(view, families=families), fairness_card(view))
    pd.testing.assert_frame_equal(
        worst_findings(store, view, families=families), worst_findings(store, view), check_dtype=False
    )


def test_each_corpus_has_a_card_and_an_example_of_its_own(tmp_path: Path) -> None:
    for corpus, factor in (("c", 1.5), ("d", 0.9)):
        rows = scores_of(["identity", "vflip", "null:shift1"], 12,
                         lambda probe, item, f=factor: (1 + item / 8) * (f if probe == "vflip" else 1.0),
                         corpus=corpus)  # fmt: skip
        write_run(tmp_path / "runs" / f"run of {corpus}".replace(" ", "-"), rows)
    with Store.open(tmp_path / "runs") as store:
        view = read_table(store).view()
        card = fairness_card(view).set_index("corpus")
        finding = worst_findings(store, view).iloc[0]
    assert card["median_abs_percent"].to_dict() == pytest.approx({"c": 50.0, "d": 10.0})
    assert card["null_median"].tolist() == [0.0, 0.0]
    assert (finding["corpus"], finding["run"], finding["item"]) == ("c", "run-of-c", "i011")


def test_a_slice_of_nothing_has_an_empty_card_and_no_finding(store: Store, view: View) -> None:
    nothing = view.table.view(Slice(categories=("nothing of the kind",)))
    card = fairness_card(nothing)
    assert card.empty
    assert {"n_families", "null_median", "family"} <= set(card.columns)
    assert worst_findings(store, nothing).empty
    assert card_risks(nothing, card).empty
