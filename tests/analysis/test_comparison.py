"""Two sides held against each other: scipy's tests and the items' own differences are the references."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from core.analysis.reading import read_table
from core.analysis.scope import Scope
from core.analysis.slices import Slice
from core.analysis.table import View
from core.analysis.verdicts import CONSTANT, NO_SCORE, TOO_FEW
from core.errors import InvalidInput
from core.features.compare.two_sides import (
    ALIKE,
    ALL,
    COLUMNS,
    DIFFER,
    INDEPENDENT,
    NO_SPREAD,
    PAIRED,
    SCATTER_DIFFERS,
    SCATTER_DIFFERS_WITHIN,
    can_pair,
    compare,
)
from core.statistics.bootstrap import Interval, median_bca
from core.store.store import Store
from tests.analysis import two_sources
from tests.analysis.made_runs import raw, scores_of, shifts, write_run

ONE, OTHER = Slice(evaluators=("conse-lite0",)), Slice(evaluators=("conse-lite2",))
Held = Callable[..., pd.DataFrame]


@pytest.fixture(scope="module")
def everything(store: Store) -> View:
    return read_table(store).view()


@pytest.fixture(scope="module")
def held(everything: View) -> Held:
    """Hold a slice of the shipped run against another."""
    return lambda one, other, **options: compare(everything.table.view(one), everything.table.view(other), **options)


def differences(probe: str) -> pd.Series:
    """% change under conse-lite0 minus that under conse-lite2 of every item, from the raw rows."""
    rows = shifts(raw())
    rows = rows[rows["probe"] == probe]
    one, other = (rows[rows["evaluator"] == each.evaluators[0]].set_index("item")["percent"] for each in (ONE, OTHER))
    return (one - other).dropna()


def test_two_evaluators_are_paired_by_item(held: Held) -> None:
    table = held(ONE, OTHER).set_index("label")
    rows = differences("vflip").sort_index()
    cut_outs = raw(table="items").drop_duplicates("item").set_index("item")["item_group"]
    expected = median_bca(rows, groups=two_sources.numbers(rows.index))
    assert expected.high - expected.low > 1.01 * (median_bca(rows).high - median_bca(rows).low)
    found = table.loc["vertical-flip"]
    assert found["how"] == PAIRED
    assert (found["difference"], found["low"], found["high"]) == pytest.approx(
        (expected.estimate, expected.low, expected.high)
    )
    assert found["n_items"] == found["shared"] == len(rows)
    p = stats.wilcoxon(rows.groupby(cut_outs[rows.index].to_numpy()).mean()).pvalue
    assert found["p"] == pytest.approx(two_sources.paired(p, 0 * rows, rows, ranks=True))
    assert found["test"] == "Wilcoxon signed-rank, by source"


def test_scatter_is_compared_by_the_sizes_of_the_items_shifts(held: Held) -> None:
    found = held(ONE, OTHER).set_index("label").loc["rotation"]
    rows = shifts(raw())
    rows = rows[rows["family"] == "rotation"].assign(size=lambda each: each["percent"].abs())
    sizes = rows.pivot_table(index="item", columns="evaluator", values="size", aggfunc="median")
    apart = (sizes["conse-lite0"] - sizes["conse-lite2"]).dropna()
    cut_outs = raw(table="items").drop_duplicates("item").set_index("item")["item_group"]
    expected = median_bca(apart, groups=two_sources.numbers(apart.index))
    assert (found["a_size"], found["b_size"]) == pytest.approx(
        (sizes["conse-lite0"].median(), sizes["conse-lite2"].median())
    )
    assert (found["size_difference"], found["size_low"], found["size_high"]) == pytest.approx(
        (expected.estimate, expected.low, expected.high)
    )
    p = stats.wilcoxon(apart.groupby(cut_outs[apart.index].to_numpy()).mean()).pvalue
    assert found["size_p"] == pytest.approx(two_sources.paired(p, 0 * apart, apart, ranks=True))


def test_sides_of_one_drift_that_scatter_differently_are_not_called_alike(tmp_path: Path) -> None:
    def value(reach: float, probe: str, item: int) -> float:
        return (0.5 + item / 1000) * (
            1 + (0 if probe == "identity" else (reach if item % 2 else -reach) * (1 + item / 1000))
        )

    rows = [
        row
        for name, reach in (("calm", 0.001), ("wild", 0.12))
        for row in scores_of(["identity", "vflip"], 300, partial(value, reach), evaluator=name)
    ]
    rows += scores_of(["identity", "vflip"], 300, partial(value, 0.0012), evaluator="mild")
    with Store.open(write_run(tmp_path / "r", rows)) as store:
        sides = {name: read_table(store).view(Slice(evaluators=(name,))) for name in ("calm", "mild", "wild")}
    near = compare(sides["mild"], sides["calm"]).iloc[0]
    assert (near["verdict"], near["scatter"]) == (ALIKE, SCATTER_DIFFERS_WITHIN)
    found = compare(sides["wild"], sides["calm"]).iloc[0]
    assert found["scatter"] == SCATTER_DIFFERS
    assert (found["a_size"], found["b_size"]) == (pytest.approx(13.8, abs=0.1), pytest.approx(0.115, abs=0.001))
    other = compare(sides["wild"], sides["calm"], measure="standardised").iloc[0]
    assert other["scatter"] == SCATTER_DIFFERS
    assert np.isnan(other["size_needed"])


def test_a_claim_that_its_test_takes_back_is_named(held: Held) -> None:
    table = held(ONE, OTHER)
    for claim, of in (("verdict", ""), ("scatter", "size_")):
        apart = (table[f"{of}low"] > 0) | (table[f"{of}high"] < 0)
        differ = apart != (table[f"{of}p_holm"].fillna(table[f"{of}p"]) < 0.05)
        assert (differ == (table[f"{of}conflict"] != "")).all()
        assert not table.loc[table[claim].str.contains("differs"), f"{of}conflict"].any()


def test_swapping_the_sides_turns_the_differences_round(held: Held) -> None:
    one, other = held(ONE, OTHER), held(OTHER, ONE)
    np.testing.assert_allclose(one["difference"], -other["difference"], atol=1e-12)
    np.testing.assert_allclose(one["p"], other["p"])
    assert list(one["a_n"]) == list(other["b_n"])


def test_two_kinds_of_items_are_independent(held: Held) -> None:
    animals = Slice(evaluators=("conse-lite0",), categories=("animal",))
    food = Slice(evaluators=("conse-lite0",), categories=("food",))
    found = held(animals, food).set_index("label").loc["vertical-flip"]
    rows = shifts(raw())
    rows = rows[(rows["evaluator"] == "conse-lite0") & (rows["probe"] == "vflip")]
    values = {name: rows[rows["category"] == name]["percent"].dropna() for name in ("animal", "food")}
    assert found["how"] == INDEPENDENT
    assert found["difference"] == pytest.approx(values["animal"].median() - values["food"].median())
    cut_outs = raw(table="items").drop_duplicates("item").set_index("item")["item_group"]
    by_item = rows.set_index("item")
    own = {
        name: by_item.loc[by_item["category"] == name, "percent"].dropna().groupby(cut_outs).mean() for name in values
    }
    p = stats.mannwhitneyu(own["animal"], own["food"]).pvalue
    sides = (by_item.loc[by_item["category"] == name, "percent"].dropna() for name in values)
    assert found["p"] == pytest.approx(two_sources.apart(p, *sides))
    assert found["test"] == "Mann-Whitney, by source"


def test_a_part_of_the_same_shifts_is_not_paired_with_itself(held: Held, everything: View) -> None:
    part = Slice(evaluators=("conse-lite0",), categories=("animal",))
    assert not can_pair(everything.table.view(ONE), everything.table.view(part))
    found = held(ONE, part).set_index("label").loc["vertical-flip"]
    assert found["how"] == INDEPENDENT
    assert found["shared"] == found["b_n"]
    assert found["difference"] != 0


def test_two_words_are_compared_all_together(held: Held) -> None:
    african, american = (
        Slice(evaluators=("conse-lite0",), modifiers=(word,), families=("cultural",))
        for word in ("African", "American")
    )
    table = held(african, american, by="modifier")
    assert list(table["label"]) == [ALL]
    assert table.iloc[0]["how"] == PAIRED
    assert table.iloc[0]["verdict"] in (DIFFER, ALIKE, "undecided")


def test_null_edits_are_left_out_of_all_together_unless_they_are_asked_for(held: Held) -> None:
    table = held(ONE, OTHER).set_index("label")
    rows = shifts(raw())
    rows = rows[(rows["evaluator"] == "conse-lite0") & (rows["expectation"] == "invariant")]
    without = rows[~rows["control"].astype(bool)].groupby("item")["percent"].median().median()
    assert table.loc[ALL, "a_value"] == pytest.approx(without)
    null = held(
        Slice(evaluators=ONE.evaluators, axes=("null",)), Slice(evaluators=OTHER.evaluators, axes=("null",))
    ).set_index("label")
    assert null.loc[ALL, "a_value"] == pytest.approx(null.loc["null", "a_value"])


def test_few_items_on_a_side_have_no_verdict(held: Held) -> None:
    few = Slice(evaluators=("conse-lite0",), categories=("furniture",))
    found = held(few, Slice(evaluators=("conse-lite0",), categories=("animal",)))
    assert set(found["verdict"]) == {TOO_FEW}


def test_beside_a_difference_stands_what_it_would_have_shown(held: Held) -> None:
    table = held(ONE, OTHER, margin=1.0)
    for row in table.dropna(subset=["low"]).itertuples():
        error = (row.high - row.low) / (2 * stats.norm.ppf(0.975))
        if error > 0:
            assert row.detectable == pytest.approx((stats.norm.ppf(0.975) + stats.norm.ppf(0.8)) * error)
            assert row.needed >= 1
    scaled = held(ONE, OTHER, measure="standardised")
    assert scaled["needed"].isna().all()  # a margin in percent says nothing of standard deviations


def test_standardised_sides_are_never_called_alike_by_a_margin_in_percent(held: Held) -> None:
    table = held(ONE, OTHER, measure="standardised")
    assert not table["verdict"].str.contains("margin").any()


def test_an_empty_side_gives_an_empty_table(held: Held) -> None:
    table = held(ONE, Slice(evaluators=("conse-lite2",), families=("nowhere",)))
    assert table.empty
    assert list(table.columns) == list(COLUMNS)


def test_a_side_of_several_evaluators_is_refused(held: Held) -> None:
    with pytest.raises(InvalidInput, match="side A has 3 evaluators"):
        held(Slice(), ONE)


def test_raw_scales_are_refused(held: Held) -> None:
    with pytest.raises(InvalidInput, match="percent, standardised"):
        held(ONE, OTHER, measure="delta")  # type: ignore[arg-type]


def test_holms_correction_is_over_the_rows(held: Held) -> None:
    table = held(ONE, OTHER)
    rows = shifts(raw())
    control = rows.groupby("family")["control"].agg(lambda own: own.astype(bool).all())
    outside = table["label"].isin(control.index[control])
    assert set(table.loc[outside, "label"]) == {"null", "blur"}
    for of in ("", "size_"):
        tested = table[~outside & (table[f"{of}test"] != "none")]
        np.testing.assert_allclose(tested[f"{of}p_holm"], multipletests(tested[f"{of}p"], method="holm")[1])
        assert set(tested[f"{of}m_tests"]) == {len(tested)}
        assert table.loc[outside, f"{of}p_holm"].isna().all()
        assert not table.loc[outside, f"{of}m_tests"].any()


@pytest.mark.parametrize("by", ["family", "modifier", "probe", "category", "coverage_bin"])
def test_levels_are_those_of_both_sides_each_with_its_own_medians(held: Held, by: str) -> None:
    table = held(ONE, OTHER, by=by).set_index("label").drop(index=ALL)
    rows = shifts(raw())
    rows = rows[(rows["expectation"] == "invariant") & (rows["family"] != "base")]
    bare = rows["control"].astype(bool) & (rows["axis"] != "null")
    rows = rows[~bare | (rows["family"] == "blur")] if by in ("family", "probe") else rows[~bare]
    assert set(table.index) == set(rows[by].dropna())
    for label, row in table.iterrows():
        own = rows[rows[by] == label]
        for name, evaluator in (("a", "conse-lite0"), ("b", "conse-lite2")):
            items = own[own["evaluator"] == evaluator].groupby("item")["percent"].median().dropna()
            assert row[f"{name}_value"] == pytest.approx(items.median())
            assert row[f"{name}_n"] == len(items)


def test_cliffs_delta_is_that_of_every_pair_of_items(held: Held) -> None:
    row = held(ONE, OTHER).set_index("label").loc["vertical-flip"]
    rows = shifts(raw())
    rows = rows[(rows["probe"] == "vflip")].dropna(subset="percent")
    a, b = (rows[rows["evaluator"] == each.evaluators[0]]["percent"].to_numpy() for each in (ONE, OTHER))
    assert row["cliffs_delta"] == pytest.approx(np.sign(a[:, None] - b[None, :]).mean())


def test_standardised_values_are_over_the_spread_of_the_clean_scores_of_each_side(held: Held) -> None:
    row = held(ONE, OTHER, measure="standardised").set_index("label").loc["vertical-flip"]
    scores = raw()
    spread = scores[scores["probe"] == "identity"].groupby("evaluator")["score"].std()
    delta = shifts(scores).query("probe == 'vflip'").groupby("evaluator")["delta"].median()
    for name, evaluator in (("a", "conse-lite0"), ("b", "conse-lite2")):
        assert row[f"{name}_value"] == pytest.approx(delta[evaluator] / spread[evaluator])


def test_unknown_levels_are_refused(held: Held) -> None:
    with pytest.raises(InvalidInput, match="family, modifier, probe, category, coverage_bin, got 'score'"):
        held(ONE, OTHER, by="score")


def runs_of(folder: Path, **factors: float) -> Store:
    """Runs of the same 12 items; a flip multiplies every score by the run's factor, and a bit more item by item."""
    for run, factor in factors.items():
        rows = scores_of(
            ["identity", "vflip"],
            12,
            lambda probe, item, f=factor: (1 + item / 8) * (f + item / 100 if probe == "vflip" else 1.0),
        )
        write_run(folder / run, rows)
    return Store.open(folder)


def test_two_runs_of_one_corpus_are_paired_by_item_from_tables_of_their_own(tmp_path: Path) -> None:
    with runs_of(tmp_path, before=0.9, after=0.7) as store:
        one, other = (read_table(store, Scope(runs=(run,))).view() for run in ("before", "after"))
    row = compare(one, other).set_index("label").loc["vertical-flip"]
    assert (row["how"], row["shared"], row["n_items"]) == (PAIRED, 12, 12)
    assert (row["difference"], row["low"], row["high"]) == (pytest.approx(20.0),) * 3
    assert row["verdict"] == DIFFER


def test_items_are_paired_by_corpus_and_name_and_not_by_their_place(tmp_path: Path) -> None:
    """The second run lacks the first items and holds another corpus' items of the same names."""
    with runs_of(tmp_path / "one", before=0.9) as store:
        one = read_table(store).view()
    rows = scores_of(["identity", "vflip"], 12, lambda probe, item: 1 + item / 8 if probe == "identity" else 0.5)
    write_run(tmp_path / "two" / "after", [row for row in rows if row["item"] >= "i004"])
    with Store.open(tmp_path / "two") as store:
        other = read_table(store).view()
    row = compare(one, other).set_index("label").loc["vertical-flip"]
    places = np.arange(4, 12)
    expected = (-10 + places) - 100 * (0.5 / (1 + places / 8) - 1)
    assert (row["how"], row["shared"]) == (PAIRED, 8)
    assert row["difference"] == pytest.approx(np.median(expected))
    write_run(tmp_path / "three" / "else", [row | {"corpus": "d"} for row in rows])
    with Store.open(tmp_path / "three") as store:
        stranger = compare(one, read_table(store).view()).set_index("label").loc["vertical-flip"]
    assert (stranger["how"], stranger["shared"], stranger["n_items"]) == (INDEPENDENT, 0, 24)


def test_fewer_than_half_of_the_smaller_side_shared_is_independent(tmp_path: Path) -> None:
    with runs_of(tmp_path, before=0.9, after=0.7) as store:
        one, other = (read_table(store, Scope(runs=(run,))) for run in ("before", "after"))
    rows = scores_of(["identity", "vflip"], 9, lambda probe, item: 1.0)
    some = [row | {"item": f"x{row['item']}" if row["item"] >= "i004" else row["item"]} for row in rows]
    with Store.open(write_run(tmp_path / "apart" / "third", some)) as store:
        third = read_table(store).view()
    row = compare(one.view(), third).set_index("label").loc["vertical-flip"]
    assert (row["how"], row["shared"], row["n_items"]) == (INDEPENDENT, 4, 21)
    assert compare(one.view(), other.view()).iloc[0]["how"] == PAIRED


def test_a_side_whose_clean_scores_have_no_spread_is_not_called_small(tmp_path: Path) -> None:
    def value(flat: bool, probe: str, item: int) -> float:
        clean = 0.5 if flat else 0.5 + item / 1000
        return clean if probe == "identity" else clean * (0.9 + item / 10_000)

    rows = [
        row
        for name, flat in (("flat", True), ("wide", False))
        for row in scores_of(["identity", "vflip"], 30, partial(value, flat), evaluator=name)
    ]
    with Store.open(write_run(tmp_path / "r", rows)) as store:
        flat, wide = (read_table(store).view(Slice(evaluators=(name,))) for name in ("flat", "wide"))
    found = compare(flat, wide, measure="standardised")
    assert set(found["verdict"]) == set(found["scatter"]) == {NO_SPREAD}
    assert not set(compare(flat, wide)["verdict"]) & {NO_SPREAD, TOO_FEW}


def sides(folder: Path, **values: Callable[[str, int], float | None]) -> tuple[View, View]:
    """Two evaluators of 40 items: what each gives to a probe of an item."""
    rows = [
        row
        for name, value in values.items()
        for row in scores_of(["identity", "vflip", "hflip"], 40, value, evaluator=name)
    ]
    with Store.open(write_run(folder / "r", rows)) as store:
        table = read_table(store)
    one, other = (table.view(Slice(evaluators=(name,))) for name in values)
    return one, other


def moving(probe: str, item: int) -> float:
    return (0.5 + item / 1000) * (1 if probe == "identity" else 0.9 + item / 10_000)


def test_a_conflict_is_of_the_two_sides_and_not_of_a_score_that_shifts(tmp_path: Path) -> None:
    """In a fifth of the items B falls: every test sees it, and no median."""

    def other(probe: str, item: int) -> float:
        return moving(probe, item) * (0.9 if probe != "identity" and item % 5 == 0 else 1)

    found = compare(*sides(tmp_path, one=moving, two=other)).iloc[0]
    assert (found["difference"], found["p_holm"] < 0.05) == (0, True)
    assert found["conflict"] == "the test finds that the sides differ, the median difference does not show it"
    assert found["size_conflict"].startswith("the test finds that the sides’ sizes differ")
    assert found["note"] == "32 of 40 differences equal the median: exact bound"


def test_a_side_whose_scores_cannot_move_is_named_and_never_alike(tmp_path: Path) -> None:
    found = compare(*sides(tmp_path, one=lambda probe, item: 0.3, two=lambda probe, item: 0.4))
    assert set(found["verdict"]) == set(found["scatter"]) == {CONSTANT}
    assert found["note"].str.startswith(f"side A: {CONSTANT}; side B: {CONSTANT}").all()
    missing = compare(*sides(tmp_path / "m", one=moving, two=lambda probe, item: None))
    assert set(missing["verdict"]) == {NO_SCORE}
    assert missing["note"].str.startswith(f"side B: {NO_SCORE}").all()


def test_baselines_of_zero_leave_a_side_without_spread_and_not_with_too_few(tmp_path: Path) -> None:
    """Every Δ is there, and no unedited score differs from another."""
    one, other = sides(tmp_path, one=moving, two=lambda probe, item: 0.0 if probe == "identity" else item / 100)
    found = compare(one, other, measure="standardised")
    assert set(found["verdict"]) == {NO_SPREAD}
    assert found["note"].str.startswith(f"side B: {NO_SPREAD}").all()
    assert set(compare(one, other)["verdict"]) == {TOO_FEW}  # none has a change in percent


def test_equal_rows_are_no_tests_and_are_not_corrected_for(tmp_path: Path) -> None:
    def other(probe: str, item: int) -> float:
        return moving(probe, item) * (0.95 if probe == "vflip" else 1)

    found = compare(*sides(tmp_path, one=moving, two=other), by="probe").set_index("label")
    assert (found.loc["hflip", "test"], found.loc["hflip", "m_tests"]) == ("none", 0)
    assert math.isnan(found.loc["hflip", "p"])
    assert found.loc["vflip", "m_tests"] == 2  # and all together


def test_what_one_side_says_alone_is_worked_out_once_however_many_it_is_held_against(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = read_table(store)
    one, other, third = map(table.view, (ONE, OTHER, replace(OTHER, categories=("animal", "person"))))
    expected = [compare(one, other, by=by) for by in ("family", "category")]
    asked = list[int]()

    def counted(values: np.ndarray, **more: Any) -> Interval:
        asked.append(len(values))
        return median_bca(values, **more)

    monkeypatch.setattr("core.features.compare.two_sides.median_bca", counted)
    again = [compare(one, other, by=by) for by in ("family", "category")]
    assert not asked
    for found, known in zip(again, expected, strict=True):
        pd.testing.assert_frame_equal(found, known)
    rows = compare(one, third)
    assert len(asked) == 2 * len(rows), "the drift and the scatter of the new side"
    fresh = read_table(store)
    pd.testing.assert_frame_equal(rows, compare(fresh.view(one.chosen), fresh.view(third.chosen)))
