"""Which family is the worst: by what was measured, never by its name."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.analysis.overview import CARD_GAP, fairness_card, family_contrasts, furthest, worst_findings, worst_first
from core.analysis.reading import read_table
from core.analysis.verdicts import TOO_FEW
from core.report.fairness_card import card_report
from core.statistics.flip_risk import flip_risk
from core.store.store import Store
from tests.analysis.made_runs import scores_of, write_run

PROBES = ["identity", "hflip", "rotate-5", "vflip"]


def risen(probe: str, item: int) -> float:
    """Under every edit the first 30 of 100 items rise by a fifth; with a flip, by more from item to item."""
    clean = 0.4 + item / 1000
    return clean * ((1.2 + (item / 100 if probe == "vflip" else 0)) if probe != "identity" and item < 30 else 1)


@pytest.mark.parametrize("first", [(), ("median_percent",)])
def test_flip_risk_tells_apart_what_the_intervals_cannot(tmp_path: Path, first: tuple[str, ...]) -> None:
    with Store.open(write_run(tmp_path / "r", scores_of(PROBES, 100, risen))) as store:
        view = read_table(store).view()
        families = family_contrasts(view)
        assert len(families[["median_abs_percent", "abs_high", "beyond"]].drop_duplicates()) == 1
        found = worst_first(view, families, ["evaluator", "axis"], first=first)
        assert found["family"].tolist() == ["vertical-flip", "horizontal-flip", "rotation"]
        assert found["alike"].iloc[0] == 1
        assert fairness_card(view)["family"].tolist() == ["vertical-flip"]
        clean = np.array([risen("identity", item) for item in range(100)])
        d = CARD_GAP * np.subtract(*np.percentile(clean, [75, 25]))
        shifts = {name: np.array([risen(name, item) for item in range(100)]) - clean for name in PROBES[1:]}
        assert flip_risk(shifts["vflip"], d) > flip_risk(shifts["hflip"], d) > 0


def test_a_larger_value_before_the_size_leads_and_alike_counts_what_is_left(tmp_path: Path) -> None:
    probes = ["identity", "hflip", "rotate-5"]
    rows = scores_of(probes, 60, lambda probe, item: 0.5 + (0.1 if probe != "identity" and item % 2 else item / 1e6))
    with Store.open(write_run(tmp_path / "r", rows)) as store:
        view = read_table(store).view()
        families = family_contrasts(view)
        assert worst_first(view, families, ["evaluator"])["alike"].tolist() == [2, 2]
        assert fairness_card(view)["alike"].tolist() == [2]
        assert "(of 2 and 1 more alike, the worst in 50 % of the draws)" in card_report(store)
        led = worst_first(view, families.assign(led=[0.0, 1.0]), ["evaluator"], first=["led"])
    assert led["family"].tolist() == ["rotation", "horizontal-flip"]
    assert led["alike"].iloc[0] == 1


def test_a_family_of_too_few_items_is_not_the_worst_however_far_it_moves(tmp_path: Path) -> None:
    """Turned were 8 items alone, by half; all 40 were flipped, by a tenth and a bit."""

    def value(probe: str, item: int) -> float | None:
        if probe == "rotate-5" and item >= 8:
            return None
        return (0.5 + item / 1000) * {"vflip": 1.1 + item / 1000, "rotate-5": 1.5}.get(probe, 1.0)

    rows = scores_of(["identity", "vflip", "rotate-5"], 40, value)
    with Store.open(write_run(tmp_path / "r", rows)) as store:
        view = read_table(store).view()
        families = family_contrasts(view).set_index("family")
        assert families.loc["rotation", "drift"] == TOO_FEW
        assert families.loc["rotation", "median_abs_percent"] > families.loc["vertical-flip", "median_abs_percent"]
        (row,) = fairness_card(view).to_dict("records")
    assert (row["family"], row["n_families"], row["alike"]) == ("vertical-flip", 2, 1)


def test_findings_of_one_lower_end_stand_by_their_size(tmp_path: Path) -> None:
    def value(probe: str, item: int) -> float:
        return 0.5 * (1 if probe == "identity" else 1.1 if probe != "vflip" or item < 30 else 1.5)

    with Store.open(write_run(tmp_path / "r", scores_of(PROBES, 60, value))) as store:
        view = read_table(store).view()
        families = family_contrasts(view).assign(abs_low=5.0)
        assert worst_findings(store, view, families=families)["family"].iloc[0] == "vertical-flip"


def test_the_furthest_reaches_further_and_all_that_are_alike_are_given() -> None:
    found = pd.DataFrame(
        {
            "family": ["a", "b", "c", "d", "e"],
            "d": [1.0, 2.0, 2.0, 2.0, np.nan],
            "low": [0.5, 1.5, 1.0, 1.5, np.nan],
            "high": [9.0, 3.0, 3.0, 3.0, np.nan],
        }
    )
    assert furthest(found, value="d")["family"].tolist() == ["b", "d"]
    assert furthest(found.assign(high=[9, 3, 4, 3, 5.0]), value="d")["family"].tolist() == ["c"]
    assert furthest(found.assign(low=np.nan, high=np.nan), value="d")["family"].tolist() == ["b", "c", "d"]
    assert furthest(found.iloc[4:], value="d").empty
    assert furthest(found, value="d").index.tolist() == found.index[found["family"].isin(["b", "d"])].tolist()


def test_the_furthest_is_what_pandas_leaves_step_by_step() -> None:
    rng = np.random.default_rng(3)
    for n in range(12):
        found = pd.DataFrame(
            {name: rng.choice([0.0, 1.0, np.nan], n) for name in ("d", "low", "high")}, rng.permutation(n)
        )
        known = found.dropna(subset=["d"])
        for name in ("d", "high", "low"):
            values = known[name].fillna(-1.0)
            known = known[values == values.max()]
        pd.testing.assert_frame_equal(furthest(found, value="d"), known)
