"""Effects against an independent way from the raw Parquet: pandas, scipy, statsmodels and brute force."""

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from core.analysis.effects import (
    ALL,
    MEASURES,
    Group,
    corpora,
    effects,
    family_groups,
    measured,
    modifier_groups,
    probe_groups,
    with_holm,
    words,
)
from core.analysis.reading import read_table
from core.analysis.slices import Slice
from core.analysis.table import ScoreTable, View
from core.analysis.verdicts import DRIFTS, STILL, TOO_FEW
from core.errors import InvalidInput
from core.statistics.bootstrap import LEAST_N, Interval, median_bca
from core.store.store import Store
from tests.analysis import two_sources
from tests.analysis.made_runs import raw, scores_of, shifts, write_run

EVALUATORS = ("conse-lite0", "conse-lite2", "grounding-judge")
Open = Callable[..., View]


@pytest.fixture(scope="module")
def table(store: Store) -> ScoreTable:
    return read_table(store)


@pytest.fixture(scope="module")
def scores() -> pd.DataFrame:
    return raw()


@pytest.fixture(scope="module")
def rows(scores: pd.DataFrame) -> pd.DataFrame:
    return shifts(scores)


@pytest.fixture(scope="module")
def families(table: ScoreTable) -> pd.DataFrame:
    return effects(table.view(), family_groups(table.view()))


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Open]:
    """View of runs written by hand."""
    opened: list[Store] = []

    def make(*runs: list[dict[str, Any]]) -> View:
        folder = tmp_path / f"s{len(opened)}"
        for place, rows in enumerate(runs):
            write_run(folder / f"r{place}", rows)
        opened.append(Store.open(folder))
        return read_table(opened[-1]).view()

    yield make
    for store in opened:
        store.close()


def moving(percent: list[float], *, baseline: float = 0.5, **told: Any) -> list[dict[str, Any]]:
    """Item i's unedited score is ``baseline + i / 100``; its flip moves it by ``percent[i]`` percent."""
    clean = [baseline + place / 100 for place in range(len(percent))]
    return scores_of(
        ["identity", "vflip"],
        len(percent),
        lambda probe, place: clean[place] * (1 + percent[place] / 100 if probe == "vflip" else 1),
        **told,
    )


def items_of(rows: pd.DataFrame) -> pd.DataFrame:
    """Each item's median % change, |% change|, Δ and baseline over its rows; an item counts once."""
    rows = rows.assign(size=rows["percent"].abs(), before=rows["baseline_score"].where(rows["delta"].notna()))
    return rows.groupby(["corpus", "item"])[["percent", "size", "delta", "before"]].median()


def reference_test(before: np.ndarray, after: np.ndarray) -> tuple[str, float]:
    """Paired t where both samples pass Shapiro-Wilk at 0.05, Wilcoxon otherwise. Source: PROTOCOL section 3."""
    if not (after - before).any():
        return "none", 1.0
    if min(stats.shapiro(before).pvalue, stats.shapiro(after).pvalue) >= 0.05:
        return "paired t", float(stats.ttest_rel(after, before).pvalue)
    return "Wilcoxon signed-rank", float(stats.wilcoxon(after - before).pvalue)


def cells(found: pd.DataFrame) -> Iterator[Any]:
    assert len(found)
    return found.itertuples()


def test_every_family_of_every_evaluator_has_its_row(families: pd.DataFrame, rows: pd.DataFrame) -> None:
    expected = rows[(rows["expectation"] == "invariant") & (rows["family"] != "base")]
    pairs = {(name, family) for name, family in zip(expected["evaluator"], expected["family"], strict=True)}
    assert set(zip(families["evaluator"], families["label"], strict=True)) == pairs
    assert set(families["corpus"]) == {"demo"}


def test_medians_and_counts_are_those_that_pandas_finds_in_the_raw_rows(
    table: ScoreTable, families: pd.DataFrame, rows: pd.DataFrame, scores: pd.DataFrame
) -> None:
    spread = scores[scores["probe"] == "identity"].groupby("evaluator")["score"].std()
    for row in cells(families):
        own = rows[(rows["evaluator"] == row.evaluator) & rows["probe"].isin(table.families()[row.label])]
        items = items_of(own)
        assert row.median_percent == pytest.approx(items["percent"].median())
        assert row.median_abs_percent == pytest.approx(items["size"].median())
        assert row.median_delta == pytest.approx(items["delta"].median())
        assert row.standardised == pytest.approx(items["delta"].median() / spread[row.evaluator])
        assert (row.n_items, row.n_scored) == (items["percent"].count(), items["delta"].count())
        assert row.n_shifts == own["percent"].notna().sum()
        assert row.n_zero_baseline == (own["delta"].notna() & own["percent"].isna()).sum()
        assert row.n_missing == own["delta"].isna().sum()
    assert families["n_zero_baseline"].sum() > 0


def test_tests_and_effect_sizes_are_those_of_scipy_and_of_every_pair(
    table: ScoreTable, families: pd.DataFrame, rows: pd.DataFrame
) -> None:
    for row in cells(families):
        own = rows[(rows["evaluator"] == row.evaluator) & rows["probe"].isin(table.families()[row.label])]
        items = items_of(own).dropna(subset="delta")
        before = items["before"].to_numpy()
        after = before + items["delta"].to_numpy()
        sources = raw(table="items").set_index(["corpus", "item"])["item_group"].reindex(items.index).to_numpy()
        means = pd.DataFrame({"before": before, "after": after}).groupby(sources).mean()
        name, p = reference_test(means["before"].to_numpy(), means["after"].to_numpy())
        sides = (pd.Series(each, index=items.index.get_level_values("item")) for each in (before, after))
        p = two_sources.paired(p, *sides, ranks=name != "paired t")
        held = pytest.approx(math.nan if name == "none" else p, nan_ok=True)
        assert (row.test, row.p) == (name if name == "none" else f"{name}, by source", held)
        assert row.cliffs_delta == pytest.approx(np.sign(after[:, None] - before[None, :]).mean())


@pytest.mark.parametrize("family", ["vertical-flip", "rotation", "cultural"])
@pytest.mark.parametrize("evaluator", EVALUATORS[:2])
def test_intervals_are_scipys_bca_bootstrap_over_cut_outs_within_its_own_error(
    table: ScoreTable, families: pd.DataFrame, rows: pd.DataFrame, evaluator: str, family: str
) -> None:
    own = rows[(rows["evaluator"] == evaluator) & rows["probe"].isin(table.families()[family])]
    found = families[(families["evaluator"] == evaluator) & (families["label"] == family)].iloc[0]
    for column, low, high in (
        ("percent", "low", "high"),
        ("size", "abs_low", "abs_high"),
        ("delta", "delta_low", "delta_high"),
    ):
        values = items_of(own)[column].dropna()
        sources = raw(table="items").set_index(["corpus", "item"])["item_group"].reindex(values.index)
        members = [each.to_numpy() for _, each in values.groupby(sources)]
        expected = stats.bootstrap(
            (np.arange(len(members)),),
            lambda drawn: np.median(np.concatenate([members[at] for at in drawn])),  # noqa: B023
            n_resamples=2999,
            method="BCa",
            rng=np.random.default_rng(3),
            vectorized=False,
        )
        bounds, error, middle = expected.confidence_interval, expected.standard_error, values.median()
        owed = np.sign(values - middle).set_axis(values.index.get_level_values("item"))
        below, above = (two_sources.longer(owed) * (end - middle) for end in bounds)
        assert found[low] == pytest.approx(max(middle + below, values.min()), abs=0.5 * error), column
        assert found[high] == pytest.approx(min(middle + above, values.max()), abs=0.5 * error), column


def test_holm_is_statsmodels_within_evaluator_corpus_and_axis_controls_outside(families: pd.DataFrame) -> None:
    assert set(families.loc[families["label"].isin(["blur", "null"]), "tests"]) == {""}
    assert dict(zip(families["label"], families["tests"], strict=True))["rotation"] == "spatial"
    outside = families[families["tests"] == ""]
    assert outside["p_holm"].isna().all()
    assert (outside["m_tests"] == 0).all()
    inside = families[families["tests"] != ""]
    for _, own in inside.groupby(["evaluator", "corpus", "tests"]):
        assert len(own) > 1
        tested = own[own["test"] != "none"]
        np.testing.assert_allclose(tested["p_holm"], multipletests(tested["p"], method="holm")[1])
        assert (tested["m_tests"] == len(tested)).all()
        assert own.loc[own["test"] == "none", "p_holm"].isna().all()


def test_a_test_keeps_its_adjusted_p_whatever_evaluator_axis_or_order_is_looked_at(
    table: ScoreTable, families: pd.DataFrame
) -> None:
    key = ["evaluator", "label"]
    for chosen in (Slice(evaluators=("conse-lite2",)), Slice(axes=("spatial",)), Slice(axes=("societal", "null"))):
        view = table.view(chosen)
        found = effects(view, family_groups(view)[::-1]).merge(families, on=key, suffixes=("", "_all"))
        assert len(found) > 2
        for column in ("p", "p_holm", "m_tests"):
            pd.testing.assert_series_equal(found[column], found[f"{column}_all"], check_names=False)


def test_rows_without_a_test_are_not_counted_in_holms_correction() -> None:
    frame = pd.DataFrame(
        [
            ("e", "c", "x", "paired t", 0.01),
            ("e", "c", "x", "none", 1.0),
            ("e", "c", "x", "paired t", 0.04),
            ("e", "c", "", "paired t", 0.001),
            ("e", "d", "x", "paired t", 0.03),
            ("f", "c", "x", "paired t", 0.02),
            ("f", "c", "x", "none", math.nan),
        ],
        columns=["evaluator", "corpus", "tests", "test", "p"],
    )
    found = with_holm(frame)
    np.testing.assert_allclose(found["p_holm"], [0.02, math.nan, 0.04, math.nan, 0.03, 0.02, math.nan])
    assert found["m_tests"].tolist() == [2, 0, 2, 0, 1, 1, 0]
    assert "p_holm" not in frame


@pytest.mark.parametrize("level", ["category", "coverage_bin"])
def test_rows_of_a_level_are_of_its_items_alone(table: ScoreTable, rows: pd.DataFrame, level: str) -> None:
    view = table.view(Slice(evaluators=("conse-lite0",)))
    found = effects(view, [Group("flip", ("vflip",)), Group("turn", table.families()["rotation"])], level=level)
    assert set(found[level]) == set(rows[level].dropna())
    for row in cells(found):
        probes = ("vflip",) if row.label == "flip" else table.families()["rotation"]
        own = rows[
            (rows["evaluator"] == row.evaluator) & rows["probe"].isin(probes) & (rows[level] == getattr(row, level))
        ]
        items = items_of(own)
        assert row.median_percent == pytest.approx(items["percent"].median())
        assert (row.n_items, row.n_shifts) == (items["percent"].count(), own["percent"].notna().sum())
        assert row.test == "none" or row.m_tests == len(
            found[(found["tests"] == row.tests) & (found["test"] != "none")]
        )


def test_items_that_are_not_kept_are_in_no_number(table: ScoreTable, rows: pd.DataFrame) -> None:
    keep = np.arange(len(table.items)) % 3 == 0
    found = effects(table.view(), [Group("flip", ("vflip",))], keep=keep).set_index("evaluator")
    own = rows[(rows["probe"] == "vflip") & rows["item"].isin(table.items["item"][keep])]
    for name in EVALUATORS:
        items = items_of(own[own["evaluator"] == name])
        assert found.loc[name, "n_items"] == items["percent"].count()
        assert found.loc[name, "median_percent"] == pytest.approx(items["percent"].median())


@pytest.mark.parametrize("bare", [False, True])
def test_words_are_held_against_the_neutral_or_the_bare_caption(
    table: ScoreTable, scores: pd.DataFrame, bare: bool
) -> None:
    view = table.view()
    groups = modifier_groups(view, "cultural", controls=True, bare=bare)
    found = effects(view, groups)
    assert set(found["label"]) >= {"African", "plain"}
    base = scores[scores["probe"] == "base"][["item", "evaluator", "score"]]
    own = shifts(scores)
    own = own[own["family"] == "cultural"]
    if bare:
        own = own.drop(columns="baseline_score").merge(
            base.rename(columns={"score": "baseline_score"}), on=["item", "evaluator"]
        )
        own["delta"] = own["score"] - own["baseline_score"]
        own["percent"] = (100 * own["delta"] / own["baseline_score"]).where(own["baseline_score"].abs() >= 1e-6)
    for row in cells(found):
        items = items_of(own[(own["evaluator"] == row.evaluator) & (own["modifier"] == row.label)])
        assert row.median_percent == pytest.approx(items["percent"].median())
        assert row.median_delta == pytest.approx(items["delta"].median())
        assert row.n_items == items["percent"].count()
    assert set(found.loc[found["label"] == "plain", "tests"]) == {""}


def test_a_group_can_be_held_against_any_probe(table: ScoreTable, scores: pd.DataFrame) -> None:
    found = effects(table.view(), [Group("flips", ("vflip",), against="hflip")]).set_index("evaluator")
    for name in EVALUATORS:
        own = scores[scores["evaluator"] == name].set_index("item")
        after, before = (own[own["probe"] == probe]["score"] for probe in ("vflip", "hflip"))
        delta = (after - before).dropna()
        assert found.loc[name, "median_delta"] == pytest.approx(delta.median())
        cut_outs = raw(table="items").set_index("item")["item_group"][delta.index].to_numpy()
        means = [each[delta.index].groupby(cut_outs).mean().to_numpy() for each in (before, after)]
        test, p = reference_test(*means)
        p = two_sources.paired(p, before[delta.index], after[delta.index], ranks=test != "paired t")
        assert found.loc[name, "p"] == pytest.approx(p)


def test_groups_say_what_is_tested_together(table: ScoreTable) -> None:
    view = table.view()
    by_family = {group.label: group for group in family_groups(view)}
    assert "base" not in by_family
    assert by_family["rotation"].probes == ("rotate+10", "rotate+5", "rotate-10", "rotate-5")
    assert {group.label for group in family_groups(view, controls=False)} == set(by_family) - {"blur", "null"}
    assert {group.label for group in family_groups(view, axis="societal")} == {
        "cultural",
        "economic",
        "emotion",
        "gender",
    }
    probes = {group.label: group.tests for group in probe_groups(view, "gender")}
    assert (probes["gender:boy"], probes["gender:plain"]) == ("gender", "")
    assert {group.tests for group in probe_groups(view, "blur")} == {""}
    assert probe_groups(view, "nothing") == modifier_groups(view, "nothing") == []
    plain = {group.label for group in modifier_groups(view, "gender")}
    assert {group.label for group in modifier_groups(view, "gender", controls=True)} - plain == {
        "ordinary",
        "plain",
        "typical",
    }
    assert modifier_groups(view, "rotation") == []


def test_corpora_stand_apart_and_are_pooled_only_when_asked(made: Open) -> None:
    view = made(moving([10.0, 20.0, 30.0]), moving([-50.0, -40.0], corpus="d"))
    apart = effects(view, [Group("flip", ("vflip",))])
    assert apart.set_index("corpus")["median_percent"].to_dict() == pytest.approx({"c": 20.0, "d": -45.0})
    pooled = effects(view, [Group("flip", ("vflip",))], pooled=True).set_index("corpus")
    assert pooled.loc[ALL, ["median_percent", "n_items"]].tolist() == pytest.approx([10.0, 5])
    assert math.isnan(pooled.loc[ALL, "standardised"])
    assert pooled.loc["c", "median_percent"] == pytest.approx(20.0)
    alone = made(moving([10.0, 20.0, 30.0]))
    assert [name for name, _ in corpora(alone.table, pooled=True)] == ["c"]


def test_a_family_that_moves_is_told_from_noise_by_test_and_effect_size(made: Open) -> None:
    rng = np.random.default_rng(5)
    clean, moved = rng.uniform(1, 2, size=40), {"vflip": 0.2, "hflip": 0.0, "identity": None}
    rows = scores_of(
        list(moved),
        40,
        lambda probe, item: clean[item] + (0.0 if probe == "identity" else moved[probe] + rng.normal(scale=0.1)),
    )
    view = made(rows)
    found = effects(view, family_groups(view)).set_index("label")
    np.testing.assert_allclose(found["p_holm"], multipletests(found["p"], method="holm")[1])
    assert found.loc["vertical-flip", "p_holm"] < 0.001 < found.loc["horizontal-flip", "p"]
    after = np.array([row["score"] for row in rows if row["probe"] == "vflip"])
    assert found.loc["vertical-flip", "cliffs_delta"] == pytest.approx(np.sign(after[:, None] - clean[None, :]).mean())
    assert found.loc["vertical-flip", "median_delta"] == pytest.approx(np.median(after - clean))


def test_a_group_without_scores_has_no_test_and_stands_in_the_table(made: Open) -> None:
    view = made(scores_of(["identity", "vflip"], 1, lambda probe, item: 1.0 if probe == "identity" else None))
    row = effects(view, [Group("flip", ("vflip",))]).iloc[0]
    assert (row["test"], row["n_missing"]) == ("none", 1)
    assert math.isnan(row["p_holm"])


def test_below_ten_items_nothing_is_claimed(made: Open) -> None:
    few, enough = (
        effects(made(moving([9.0 + place / 10 for place in range(n)])), [Group("flip", ("vflip",))]).iloc[0]
        for n in (LEAST_N - 1, LEAST_N)
    )
    assert (few["drift"], few["scatter"]) == (TOO_FEW, TOO_FEW)
    assert enough["drift"] == DRIFTS
    assert few["median_percent"] > 9
    assert math.isnan(few["low"])
    assert few["note"] == "no interval (n = 9, below 10)"
    assert enough["low"] > 0


def test_a_standardised_change_is_over_the_spread_of_the_clean_scores(made: Open) -> None:
    percent = [1.0, 2.0, 3.0, 4.0, 10.0] * 3
    clean = 0.5 + np.arange(15) / 100
    found = measured(effects(made(moving(percent)), [Group("flip", ("vflip",))]), "standardised").iloc[0]
    expected = median_bca(clean * np.array(percent) / 100 / clean.std(ddof=1))
    assert (found["value"], found["low"], found["high"]) == pytest.approx(
        (expected.estimate, expected.low, expected.high)
    )
    assert found["value"] == found["standardised"]


def test_a_wider_margin_never_takes_a_stillness_back(made: Open) -> None:
    view = made(moving(list(np.random.default_rng(3).normal(0, 2, 40))))
    said = [
        effects(view, [Group("flip", ("vflip",))], margin=margin).iloc[0]["drift"] == STILL
        for margin in (0.1, 1.0, 5.0, 20.0)
    ]
    assert said == sorted(said)
    assert said[-1]


@pytest.mark.parametrize("measure", MEASURES)
def test_a_measure_brings_its_own_value_and_bounds(families: pd.DataFrame, measure: str) -> None:
    names = {
        "percent": ("median_percent", "low", "high"),
        "delta": ("median_delta", "delta_low", "delta_high"),
        "standardised": ("standardised", "standardised_low", "standardised_high"),
    }[measure]
    found = measured(families, measure)
    for mine, theirs in zip(("value", "low", "high"), names, strict=True):
        np.testing.assert_array_equal(found[mine], families[theirs])


def test_bad_input_is_refused_with_what_is_allowed(table: ScoreTable, families: pd.DataFrame) -> None:
    with pytest.raises(InvalidInput, match="percent, standardised, delta"):
        measured(families, "raw")
    for margin in (0.0, -1.0, math.nan):
        with pytest.raises(InvalidInput, match="positive"):
            effects(table.view(), [], margin=margin)


def test_groups_without_a_probe_and_slices_without_an_item_give_no_row_and_every_column(
    table: ScoreTable, families: pd.DataFrame
) -> None:
    flip = Group("flip", ("vflip",))
    for found in (
        effects(table.view(), []),
        effects(table.view(), [Group("nothing", ())]),
        effects(table.view(), [Group("nobody", ("a probe that nobody scored",))]),
        effects(table.view(Slice(categories=("nothing of the kind",))), [flip]),
        effects(table.view(Slice(evaluators=("nobody",))), [flip]),
        effects(table.view(), [flip], keep=np.zeros(len(table.items), dtype=bool)),
    ):
        assert found.empty
        assert list(found.columns) == list(families.columns)


def test_an_interval_is_told_in_the_words_of_a_table() -> None:
    assert words(Interval(1.0, 0.5, 1.5, 9, 0.95, "why")) == {
        "value": 1.0,
        "low": 0.5,
        "high": 1.5,
        "n_items": 9,
        "note": "why",
    }
