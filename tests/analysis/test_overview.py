"""The fairness card and the worst findings, against the shipped run read with pandas."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.analysis.overview import (
    CARD_GAP,
    card_risks,
    fairness_card,
    family_contrasts,
    not_on_card,
    picked_of,
    worst_findings,
)
from core.analysis.reading import read_table
from core.analysis.slices import Slice
from core.analysis.table import View
from core.errors import InvalidInput
from core.report.fairness_card import card_report
from core.statistics.bootstrap import adjusted_level, median_bca
from core.statistics.shares import mean_changes
from core.statistics.shift_pairs import ShiftPairs
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


def test_how_sure_the_worst_family_is_stands_beside_it(card: pd.DataFrame, rows: pd.DataFrame) -> None:
    cut_outs = raw(table="items").drop_duplicates("item").set_index("item")["item_group"]
    for place in (0, 1, len(card) - 2):
        row = card.iloc[place]
        own = rows[(rows["evaluator"] == row["evaluator"]) & (rows["axis"] == row["axis"])]
        own = own.assign(size=own["percent"].abs())
        wide = own.pivot_table(index="item", columns="family", values="size", aggfunc="median", dropna=False)
        members = [each.to_numpy() for _, each in wide.groupby(cut_outs)]
        rng, won = np.random.default_rng(4), 0.0
        for _ in range(400):
            drawn = np.concatenate([members[at] for at in rng.integers(len(members), size=len(members))])
            medians = np.nanmedian(drawn, axis=0)
            top = medians == medians.max()
            won += top[list(wide.columns).index(row["family"])] / top.sum()
        assert row["worst_in"] == pytest.approx(won / 4, abs=6)
        assert picked_of(row["n_families"], row["worst_in"]).startswith(f"of {len(wide.columns)}, the worst in ")


def test_one_family_has_no_rival_and_no_share_of_the_draws(view: View) -> None:
    alone = fairness_card(view.table.view(Slice(families=("vertical-flip",))))
    assert alone["worst_in"].isna().all()
    assert picked_of(1, float("nan")) == "of 1"


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
        pairs = ShiftPairs(cell["delta"], cell["item"].astype("category").cat.codes)
        assert row["risk"] == pytest.approx(pairs.risks(np.array([row["d"]]))[0], abs=1e-12)
        assert row["risk"] <= 0.5
        assert row["gap"] == CARD_GAP
        just, below = pairs.risks(np.array([row["evidence"], 0.999 * row["evidence"]]))
        assert just < 0.05
        assert below >= 0.05 or row["evidence"] == 0


def test_findings_are_different_families_each_with_its_largest_shift(
    store: Store, view: View, rows: pd.DataFrame
) -> None:
    found = worst_findings(store, view)
    assert len(set(found["family"])) == len(found) == 3
    assert found["may_be_true"].tolist() == [False, False, False]
    assert list(found["median_abs_percent"]) == sorted(found["median_abs_percent"], reverse=True)
    rows = rows[rows["axis"] != "societal"]
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


def test_a_word_that_the_picture_may_support_heads_no_finding_unless_people_accept_it(store: Store, view: View) -> None:
    found = worst_findings(store, view, count=20)
    words = found["axis"] == "societal"
    assert words.any()
    assert (found["may_be_true"] == words).all()
    assert found["may_be_true"].is_monotonic_increasing
    judged = worst_findings(store, view, accepted={"cultural": "they do"})
    assert judged["family"].iloc[0] == "cultural"
    assert not judged["may_be_true"].any()
    assert judged["accepted"].tolist()[0] == "they do"


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
        rows = scores_of(
            ["identity", "vflip", "null:shift1"],
            12,
            lambda probe, item, f=factor: (1 + item / 8) * (f if probe == "vflip" else 1.0),
            corpus=corpus,
        )
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


def test_of_equal_medians_the_family_that_moves_more_items_is_the_worst_not_the_first_by_name(tmp_path: Path) -> None:
    def value(probe: str, item: int) -> float:
        return 0.5 + (0.1 if (probe, item % 24 < 5) == ("rotate-5", True) or (probe, item) == ("hflip", 3) else 0.0)

    with Store.open(
        write_run(tmp_path / "r", scores_of(["identity", "hflip", "rotate-5", "vflip"], 24, value))
    ) as store:
        view = read_table(store).view()
        families = family_contrasts(view).set_index("family")
        assert set(families["median_abs_percent"]) == {0.0}
        assert fairness_card(view)["family"].tolist() == ["rotation"]
    assert families.loc["rotation", "items_beyond"] == pytest.approx(100 * 5 / 24)
    assert families.loc["rotation", "still"] == pytest.approx(100 * 19 / 24)


def test_what_nothing_else_tells_apart_is_told_apart_by_its_flip_risk_and_not_by_its_name(tmp_path: Path) -> None:
    """Five items of 24 move as far under either flip: all upwards by one, up and down by the other."""

    def value(probe: str, item: int) -> float:
        sign = {"hflip": 1.0, "vflip": (-1.0) ** item}.get(probe, 0.0)
        return 0.5 + 0.02 * (item >= 12) + (0.1 * sign if item < 5 else 0.0)

    with Store.open(write_run(tmp_path / "r", scores_of(["identity", "hflip", "vflip"], 24, value))) as store:
        view = read_table(store).view()
        families = family_contrasts(view).set_index("family")
        (worst,) = fairness_card(view)["family"]
    one, other = families.loc["horizontal-flip"], families.loc["vertical-flip"]
    for column in ("median_abs_percent", "abs_high", "beyond"):
        assert one[column] == pytest.approx(other[column])
    assert worst == "vertical-flip"


def test_findings_are_ranked_by_what_is_certain_and_not_by_the_median(tmp_path: Path) -> None:
    def value(probe: str, item: int) -> float:
        return 0.5 + {"hflip": 0.3 if item < 13 else 0.011, "vflip": 0.1}.get(probe, 0.0)

    with Store.open(write_run(tmp_path / "r", scores_of(["identity", "hflip", "vflip"], 24, value))) as store:
        found = worst_findings(store, read_table(store).view()).set_index("family")
    assert found["median_abs_percent"].tolist() == pytest.approx([20.0, 60.0])
    assert found.index.tolist() == ["vertical-flip", "horizontal-flip"]


def test_an_evaluator_without_a_row_is_named_with_its_reason(tmp_path: Path) -> None:
    kinds = {"still": 0.3, "nought": 0.0, "silent": None, "below": -0.5, "usual": 0.5}
    rows = [
        row
        for name, level in kinds.items()
        for row in scores_of(
            ["identity", "vflip"],
            12,
            lambda probe, item, own=level: own if own in (0.3, 0.0, None) else own + 0.01 * item * (probe == "vflip"),
            evaluator=name,
        )
    ]
    with Store.open(write_run(tmp_path / "r", rows)) as store:
        families = family_contrasts(read_table(store).view())
        card, printed = fairness_card(read_table(store).view()), card_report(store)
        assert len(worst_findings(store, read_table(store).view())) == 1
    assert card["evaluator"].tolist() == ["usual"]
    assert not_on_card(families) == (
        "below on c is not on the card: % change withheld: the baseline is negative in 12 of 12 items; "
        "stability is not reported: its margin is one of % change.",
        "nought on c is not on the card: every score is 0: nothing can move.",
        "silent on c is not on the card: no score.",
        "still on c is not on the card: constant: invariance says nothing.",
    )
    assert all(sentence in printed for sentence in not_on_card(families))
    assert set(families["evaluator"]) == set(kinds)


def test_where_nobody_has_a_row_the_card_says_why(tmp_path: Path) -> None:
    rows = scores_of(["identity", "vflip"], 12, lambda probe, item: 0.0)
    with Store.open(write_run(tmp_path / "r", rows)) as store, pytest.raises(InvalidInput, match=r"e on c .* is 0"):
        card_report(store)


def test_what_is_named_worst_has_every_interval_at_the_level_of_the_picking(view: View, card: pd.DataFrame) -> None:
    alone = family_contrasts(view).set_index(["evaluator", "axis", "family"])
    for _, row in card.iterrows():
        changes = view.changes(row["evaluator"], view.families()[row["family"]])
        level, groups = adjusted_level(row["n_families"]), view.table.sources_of(view.items)
        moved = median_bca(changes.percent[view.items], level=level, groups=groups)
        (mean,) = mean_changes(changes.delta[view.items], changes.baseline[view.items], levels=(level,), groups=groups)
        assert (row["low"], row["high"]) == (moved.low, moved.high)
        assert (row["mean_low"], row["mean_high"]) == (mean.low, mean.high)
        before = alone.loc[(row["evaluator"], row["axis"], row["family"])]
        assert row["falls_low"] < before["falls_low"] < before["falls_high"] < row["falls_high"]
        assert row["beyond_low"] < before["beyond_low"]
        for low, high in re.findall(r"the mean score \w+ by [\d.]+ % \[([\d.]+), ([\d.]+)\]", row["direction"]):
            assert (low, high) == tuple(f"{each:.2f}" for each in sorted(map(abs, (mean.low, mean.high))))


def test_no_claim_on_the_card_hides_what_a_median_cannot_see(card: pd.DataFrame, rows: pd.DataFrame) -> None:
    judge = card.set_index(["evaluator", "axis"]).loc[("grounding-judge", "societal")]
    own = rows[(rows["evaluator"] == "grounding-judge") & (rows["family"] == judge["family"])]
    sizes = own["percent"].abs().groupby(own["item"]).median().dropna()
    assert judge["median_abs_percent"] == 0.0
    edits = own["percent"].abs().dropna()
    assert judge["beyond"] == pytest.approx(100 * (edits > 1).mean())
    assert judge["items_beyond"] == pytest.approx(100 * (sizes > 1).mean())
    assert judge["beyond_low"] > 5
    assert judge["conflict"] == ""  # of few backgrounds that disagree, movers and mean show no way
    turned = card.set_index(["evaluator", "axis"]).loc[("grounding-judge", "spatial")]
    assert (turned["drift"], turned["conflict"]) == ("drifts one way", "")
    assert "of those that do 70 % [58, 79] fall" in turned["direction"]  # named after seeing all: wider than alone
    moved = own.groupby("item")["delta"].median().dropna()
    assert judge["still"] == pytest.approx(100 * (moved == 0).mean())
