"""The worst family and the worst slices, against pandas and intervals drawn item by item; never by their names."""

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.analysis.overview import CARD_GAP, fairness_card, family_contrasts, furthest, worst_findings, worst_first
from core.analysis.questions import Options, Question, catalogue
from core.analysis.questions.families import BEYOND, SHOWN, worst_slices
from core.analysis.reading import read_table
from core.analysis.slices import Slice
from core.analysis.table import ScoreTable
from core.analysis.verdicts import TOO_FEW
from core.report.fairness_card import card_report
from core.statistics.bootstrap import LEAST_N, bca_bounds, median_bca
from core.statistics.shift_pairs import ShiftPairs
from core.store.store import Store
from tests.analysis import two_sources
from tests.analysis.made_runs import audited, raw, scores_of, shifts, write_run

CELL = ["evaluator", "family", "category", "coverage_bin"]

FILLINGS = ("reposition-hard", "reposition-telea", "reposition-true")
"""Other fillings of the hole that a moved object leaves: controls of one family, no families of their own."""


@pytest.fixture(scope="module")
def table(store: Store) -> ScoreTable:
    return read_table(store)


@pytest.fixture(scope="module")
def sizes() -> pd.DataFrame:
    """|% change| of every item under every family that is no control, from the raw rows."""
    rows = shifts(raw(), further=True)
    rows = rows[(rows["expectation"] == "invariant") & ~rows["control"].astype(bool) & (rows["axis"] != "null")]
    rows = rows[~rows["family"].isin(FILLINGS)].assign(size=rows["percent"].abs())
    found = rows.groupby([*CELL, "item"])["size"].median().dropna().reset_index()
    source = raw(table="items").drop_duplicates("item").set_index("item")["item_group"]
    return found.assign(source=found["item"].map(source))


def question(table: ScoreTable, id_: str) -> Question:
    return next(each for each in catalogue(table) if each.id == id_)


def test_cells_are_ranked_by_bounds_that_hold_for_all_that_were_looked_at(
    table: ScoreTable, sizes: pd.DataFrame
) -> None:
    frame = question(table, "S-slices").compute(table.view(), Options())
    assert set(frame["evaluator"]) == set(table.evaluators)
    enough = sizes.groupby(CELL).filter(lambda own: len(own) >= LEAST_N and own["source"].nunique() >= LEAST_N)
    for name, rows in frame.groupby("evaluator"):
        looked_at = enough[enough["evaluator"] == name].groupby(CELL)
        assert set(rows["n_cells"]) == {looked_at.ngroups}
        assert set(rows["level"]) == {1 - 0.05 / looked_at.ngroups}
        assert rows["abs_low"].is_monotonic_decreasing
        assert len(rows) == min(SHOWN, looked_at.ngroups)
        shown = {tuple(row[each] for each in CELL) for _, row in rows.iterrows()}
        for key, own in looked_at:
            if key not in shown:  # of those left out, none reaches higher
                level, sources = rows["level"].iloc[0], two_sources.numbers(own["item"])
                drawn = math.ceil(2 * BEYOND / (1 - level))
                left = median_bca(own["size"], level=level, groups=sources, resamples=drawn)
                assert left.low <= rows["abs_low"].iloc[-1] + 1e-9
    for _, row in frame.iterrows():
        own = sizes[(sizes[CELL] == row[CELL]).all(axis=1)]
        whole = sizes[(sizes[["evaluator", "family"]] == row[["evaluator", "family"]]).all(axis=1)]
        assert (row["n_items"], row["n_whole"]) == (len(own), len(whole))
        assert (row["median_abs_percent"], row["whole"]) == pytest.approx(
            (own["size"].median(), whole["size"].median())
        )
        assert row["abs_low"] <= row["median_abs_percent"] <= row["abs_high"]
        plain = resampled(own)
        assert row["abs_low"] <= plain[0] + 1e-9
        assert row["abs_high"] >= plain[1] - 1e-9


def resampled(own: pd.DataFrame) -> tuple[float, float]:
    """The plain 95 % percentile interval of a median, whole sources drawn one by one, and narrowed by a tenth."""
    rng = np.random.default_rng(7)
    parts = [each["size"].to_numpy() for _, each in own.groupby("source")]
    picks = rng.integers(len(parts), size=(400, len(parts)))
    drawn = [np.median(np.concatenate([parts[place] for place in row])) for row in picks]
    low, high = np.quantile(drawn, [0.05, 0.95])
    return float(low), float(high)


def test_a_cell_that_stands_out_comes_first_and_the_whole_family_is_beside_it(tmp_path: Path) -> None:
    def value(probe: str, place: int) -> float:
        if probe == "identity":
            return 0.5
        return 0.5 + (0.2 if place < 20 and probe == "vflip" else 0.001) * (1 + place % 5 / 10)

    rows = scores_of(["identity", "vflip", "hflip"], 80, value)
    rows = [{**row, "coverage_bin": "0-10" if row["item"] < "i020" else "10-20"} for row in rows]
    with Store.open(write_run(tmp_path / "run", rows)) as store:
        frame = worst_slices(read_table(store).view())
    first = frame.iloc[0]
    assert (first["family"], first["category"], first["coverage_bin"]) == ("vertical-flip", "animal", "0-10")
    assert first["median_abs_percent"] == pytest.approx(48)
    assert first["n_cells"] == len(frame) == 4
    assert first["whole_high"] < first["abs_low"]


def test_a_filter_leaves_fewer_cells_and_so_narrower_intervals(table: ScoreTable) -> None:
    every = worst_slices(table.view())
    fewer = worst_slices(table.view(Slice(families=("vertical-flip",))))
    assert set(fewer["family"]) == {"vertical-flip"}
    assert fewer["n_cells"].max() < every["n_cells"].max()
    both = every.merge(fewer, on=CELL, suffixes=("", "_fewer"))
    assert len(both)
    assert (both["abs_low_fewer"] >= both["abs_low"]).all()
    assert (both["abs_high_fewer"] <= both["abs_high"]).all()


def test_a_larger_least_size_looks_at_fewer_cells(table: ScoreTable) -> None:
    assert worst_slices(table.view(), least=LEAST_N + 1).empty


def test_too_few_items_in_every_cell_are_said_with_the_largest(tmp_path: Path) -> None:
    with Store.open(write_run(tmp_path / "run", audited("vflip", items=LEAST_N - 1))) as store:
        small = read_table(store)
    assert f"the largest holds {LEAST_N - 1}, and a claim takes {LEAST_N}" in question(small, "S-slices").needs(small)
    assert worst_slices(small.view()).empty


@given(
    values=st.lists(st.floats(0, 1e3), min_size=12, max_size=40),
    level=st.sampled_from([0.95, 0.999, 1 - 1e-6, 1 - 1e-12]),
    sources=st.integers(10, 12),
)
def test_bounds_are_numbers_around_the_median_at_any_level(values: list[float], level: float, sources: int) -> None:
    groups = np.arange(len(values)) % sources
    found, usual = (median_bca(values, level=each, groups=groups, resamples=500) for each in (level, 0.5))
    assert min(values) <= found.low <= usual.low
    assert usual.high <= found.high <= max(values)


def test_a_bound_whose_correction_has_no_end_is_the_furthest_draw() -> None:
    drawn = np.linspace(0, 1, 1001)
    low, high = bca_bounds(drawn, estimate=0.5, acceleration=0.3, level=1 - 1e-9)
    assert 0 <= low < 0.5
    assert high == 1


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
        vertical, horizontal = (ShiftPairs(shifts[name], None).risks(np.array([d])) for name in ("vflip", "hflip"))
        assert vertical > horizontal > 0


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
