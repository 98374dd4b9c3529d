"""Every evaluator in one row: the card's numbers, none of them worked out anew."""

import math

import pandas as pd
import pytest

from core.analysis.flip_cells import IQR
from core.analysis.flip_shifts import APART, SAME
from core.analysis.overview import at_a_glance, card_risks, fairness_card
from core.analysis.reading import read_table
from core.store.store import Store


def card_row(evaluator: str, axis: str, family: str, size: float) -> dict[str, object]:
    return {
        "evaluator": evaluator,
        "axis": axis,
        "family": family,
        "median_abs_percent": size,
        "abs_low": size - 1,
        "abs_high": size + 1,
        "n_items": 40,
        "median_percent": -size / 2,
        "drift": f"drift of {family}",
        "scatter": f"scatter of {family}",
        "alike": 2 if family == "gender" else 1,
    }


def risk_row(evaluator: str, family: str, evidence: float, unit: str = IQR, pairs: str = SAME) -> dict[str, object]:
    return {
        "evaluator": evaluator,
        "corpus": "c",
        "family": family,
        "unit": unit,
        "pairs": pairs,
        "evidence": evidence,
        "of_iqr": 100 * evidence,
        "evidence_low": evidence / 2,
        "evidence_high": 2 * evidence,
        "null_evidence": evidence / 10,
    }


CARD = pd.DataFrame(
    [
        card_row("wild", "spatial", "rotation", 9.0),
        card_row("wild", "societal", "gender", 2.0),
        card_row("calm", "spatial", "blur", 3.0),
        card_row("calm", "societal", "gender", 4.0),
    ]
)
RISKS = pd.DataFrame(
    [
        risk_row("wild", "rotation", 0.3),
        risk_row("wild", "gender", 0.5),
        risk_row("calm", "blur", 0.2),
        risk_row("calm", "gender", math.nan),
        risk_row("calm", "blur", 0.9, unit="scale"),
    ]
)


def test_evaluators_stand_by_name_and_never_by_calm_with_the_worst_family_of_each_axis() -> None:
    louder = CARD.assign(median_abs_percent=CARD["median_abs_percent"].where(CARD["evaluator"] == "wild", 90.0))
    assert list(at_a_glance(louder, RISKS)["evaluator"]) == ["calm", "wild"]
    found = at_a_glance(CARD, RISKS).set_index("evaluator")
    assert list(found.index) == ["calm", "wild"]
    assert found.loc["wild", ["spatial", "spatial_abs", "spatial_low", "spatial_high"]].tolist() == [
        "rotation",
        9,
        8,
        10,
    ]
    claims = ["spatial_n", "spatial_signed", "spatial_drift", "spatial_scatter"]
    assert found.loc["wild", claims].tolist() == [40, -4.5, "drift of rotation", "scatter of rotation"]
    assert found.loc["wild", ["spatial_alike", "societal_alike"]].tolist() == [1, 2]
    assert found["selectivity"].isna().all()


def test_the_gap_is_the_largest_and_none_where_a_family_has_none() -> None:
    found = at_a_glance(CARD, RISKS).set_index("evaluator")
    assert found.loc["wild", ["evidence", "of_iqr", "evidence_of"]].tolist() == [0.5, 50, "gender"]
    assert found.loc["wild", "null_evidence"] == 0.05
    assert math.isnan(found.loc["calm", "evidence"])
    assert found.loc["calm", "evidence_of"] == ""


def test_families_that_ask_for_the_same_gap_are_all_named_and_else_that_which_reaches_further() -> None:
    same = RISKS.assign(evidence=0.5, evidence_low=0.4, evidence_high=0.9)
    assert at_a_glance(CARD, same).set_index("evaluator").loc["wild", "evidence_of"] == "rotation, gender"
    wider = same.assign(evidence_high=[0.95, 0.9, 0.9, 0.9, 0.9])
    assert at_a_glance(CARD, wider).set_index("evaluator").loc["wild", "evidence_of"] == "rotation"


def test_selectivity_stands_beside_who_has_one() -> None:
    measured = pd.DataFrame({"evaluator": ["wild", "other"], "value": [0.7, 0.2], "low": 0.6, "high": 0.8})
    found = at_a_glance(CARD, RISKS, measured).set_index("evaluator")
    assert found.loc["wild", ["selectivity", "selectivity_low", "selectivity_high"]].tolist() == [0.7, 0.6, 0.8]
    assert math.isnan(found.loc["calm", "selectivity"])
    assert set(found.index) == {"calm", "wild"}


def test_without_a_card_there_is_nothing_to_see() -> None:
    assert at_a_glance(CARD.iloc[:0], RISKS.iloc[:0]).empty


def test_of_the_shipped_run_every_number_is_the_cards(store: Store) -> None:
    view = read_table(store).view()
    card = fairness_card(view)
    risks = card_risks(view, card)
    found = at_a_glance(card, risks).set_index("evaluator")
    assert set(found.index) == set(card["evaluator"])
    for row in card.itertuples():
        assert found.loc[row.evaluator, row.axis] == row.family
        assert found.loc[row.evaluator, f"{row.axis}_abs"] == pytest.approx(row.median_abs_percent)
    for name, own in risks[risks["unit"] == IQR].groupby("evaluator"):
        assert found.loc[name, "evidence"] == pytest.approx(own["evidence"].max())


def test_the_gap_of_the_same_picture_leads_where_a_family_has_one() -> None:
    apart = risk_row("wild", "gender", 0.5, pairs=APART)
    found = at_a_glance(CARD, pd.DataFrame([risk_row("wild", "rotation", 0.3), apart]))
    row = found.set_index("evaluator").loc["wild"]
    assert (row["evidence"], row["evidence_of"], row["evidence_pairs"]) == (0.3, "rotation", SAME)
    alone = at_a_glance(CARD, pd.DataFrame([apart])).set_index("evaluator").loc["wild"]
    assert (alone["evidence"], alone["evidence_pairs"]) == (0.5, APART)
