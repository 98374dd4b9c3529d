"""The ranking of pairs against a plain reading of it with pandas, on the shipped run."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.analysis import failures
from core.analysis.facts import may_be_true
from core.analysis.failures import (
    EXPORTED,
    PAIR,
    as_json,
    export,
    picture_hashes,
    record,
    relaxations,
    scales,
    under_every_evaluator,
    verdicts,
)
from core.analysis.ranking import ORDERS, rank
from core.analysis.reading import read_table
from core.analysis.scope import Narrowed, Scope, narrow
from core.analysis.slices import Slice
from core.analysis.table import ScoreTable
from core.errors import InvalidInput
from core.settings import results_dir
from core.store.schema import VERDICTS
from core.store.store import Store

KEYS = list(PAIR)


@pytest.fixture(scope="module")
def scope(store: Store) -> Narrowed:
    return narrow(store)


@pytest.fixture(scope="module")
def table(store: Store, scope: Narrowed) -> ScoreTable:
    return read_table(store, scope)


@pytest.fixture(scope="module")
def usual(table: ScoreTable) -> pd.DataFrame:
    return scales(table)


@pytest.fixture(scope="module")
def everything(store: Store) -> pd.DataFrame:
    clean = store.query("select evaluator, score from scores where probe = 'identity'").groupby("evaluator")["score"]
    rows = store.query("select * from shifts where expectation = 'invariant' and (not control or axis = 'null')")
    rows["sd"] = rows["evaluator"].map(clean.std(ddof=1))
    rows["typical"] = rows["evaluator"].map(clean.median())
    return rows


def read_plainly(rows: pd.DataFrame, chosen: Slice, order: str, floor: float) -> pd.Series:
    """Key of every pair, by (run, item, subject, probe)."""
    if chosen.families:
        rows = rows[rows["family"].isin(chosen.families)]
    if chosen.evaluators:
        rows = rows[rows["evaluator"].isin(chosen.evaluators)]
    if chosen.categories:
        rows = rows[rows["category"].isin(chosen.categories)]
    if chosen.sign == "down":
        rows = rows[rows["delta"] < 0]
    counted = rows["percent"].abs().where(rows["baseline_score"].abs() >= floor * rows["typical"])
    key = {"percent": counted, "absolute": rows["delta"].abs(), "standardised": (rows["delta"] / rows["sd"]).abs()}
    if order in key:
        return key[order].groupby([rows[name] for name in KEYS]).max()
    groups = (rows["delta"] / rows["sd"]).groupby([rows[name] for name in KEYS])
    return (groups.max() - groups.min()).where(groups.count() > 1)


slices = st.builds(
    Slice,
    families=st.sampled_from([(), ("rotation",), ("cultural", "gender"), ("nowhere",)]),
    evaluators=st.sampled_from([(), ("conse-lite0",), ("conse-lite2", "grounding-judge")]),
    categories=st.sampled_from([(), ("animal", "kitchen")]),
    sign=st.sampled_from([None, "down"]),
)


@settings(max_examples=30, deadline=None)
@given(
    chosen=slices,
    order=st.sampled_from(sorted(ORDERS)),
    floor=st.sampled_from([0.0, 0.05, 0.5, 1.0]),
    offset=st.sampled_from([0, 12, 700]),
)
def test_pairs_come_by_what_their_order_counts(
    table: ScoreTable,
    usual: pd.DataFrame,
    everything: pd.DataFrame,
    chosen: Slice,
    order: str,
    floor: float,
    offset: int,
) -> None:
    expected = read_plainly(everything, chosen, order, floor)
    found = rank(table, chosen, usual, order=order, floor=floor, limit=12, offset=offset)
    assert found.n_pairs == len(expected)
    assert found.n_unranked == expected.isna().sum()
    keys = np.sort(expected.dropna())[::-1][offset : offset + 12]
    np.testing.assert_allclose(found.pairs["key"].dropna(), keys, rtol=1e-12)
    own = [expected[tuple(pair[name] for name in KEYS)] for _, pair in found.pairs.iterrows()]
    np.testing.assert_allclose(found.pairs["key"].astype(float), own, rtol=1e-12)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("chosen", [Slice(), Slice(sign="down", categories=("animal",)), Slice(inside=(0.2, 0.9))])
def test_items_that_are_ranked_a_few_at_a_time_are_ranked_alike(
    table: ScoreTable, usual: pd.DataFrame, order: str, chosen: Slice, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = rank(table, chosen, usual, order=order, limit=40)
    assert len(whole.pairs) == 40
    monkeypatch.setattr("core.analysis.ranking._PAIRS_AT_ONCE", 500)
    parts = rank(table, chosen, usual, order=order, limit=40)
    pd.testing.assert_frame_equal(whole.pairs, parts.pairs)
    counts = ("n_pairs", "n_shifts", "n_unranked", "n_items")
    assert [getattr(whole, name) for name in counts] == [getattr(parts, name) for name in counts]


def test_the_pages_together_are_every_pair_once(table: ScoreTable, usual: pd.DataFrame) -> None:
    chosen = Slice(families=("horizontal-flip", "emotion"))
    first = rank(table, chosen, usual, order="standardised", limit=50)
    pages = [
        rank(table, chosen, usual, order="standardised", limit=50, offset=start).pairs
        for start in range(0, first.n_pairs, 50)
    ]
    whole = pd.concat(pages)
    assert len(whole) == len(whole.drop_duplicates(KEYS)) == first.n_pairs
    assert whole["key"].dropna().is_monotonic_decreasing


@pytest.mark.parametrize("order", sorted(ORDERS))
def test_an_item_is_there_once_with_its_furthest_pair(
    table: ScoreTable, usual: pd.DataFrame, everything: pd.DataFrame, order: str
) -> None:
    chosen = Slice(families=("rotation", "cultural"))
    expected = read_plainly(everything, chosen, order, 0.05)
    best = expected.groupby(level="item").max().sort_values(ascending=False)
    found = rank(table, chosen, usual, order=order, floor=0.05, limit=40, offset=10, once=True)
    assert found.n_items == len(best)
    np.testing.assert_allclose(found.pairs["key"], best.to_numpy()[10:50], rtol=1e-12)
    assert found.pairs["item"].is_unique
    others = expected.groupby(level="item").size() - 1
    assert found.pairs["more"].tolist() == others[found.pairs["item"]].tolist()


def test_one_item_is_looked_at_alone(table: ScoreTable, usual: pd.DataFrame) -> None:
    found = rank(table, Slice(families=("rotation",)), usual, order="absolute", limit=12, item="cat")
    assert set(found.pairs["item"]) == {"cat"}
    assert (found.n_pairs, found.n_items) == (4, 1)
    assert rank(table, Slice(), usual, order="absolute", limit=12, item="gone").n_pairs == 0


def test_only_the_pairs_that_are_named_are_looked_at(
    store: Store, scope: Narrowed, table: ScoreTable, usual: pd.DataFrame
) -> None:
    first = rank(table, Slice(), usual, order="absolute", limit=3).pairs
    names = list(first[["item", "probe"]].itertuples(index=False, name=None))
    found = rank(table, Slice(), usual, order="absolute", limit=9, named=[*names[:2], ("gone", "gone")])
    assert list(found.pairs[["item", "probe"]].itertuples(index=False, name=None)) == names[:2]
    assert found.n_pairs == 2
    taken = export(store, scope, Slice(), usual, order="absolute", named=names[:2])
    assert set(taken[["item", "probe"]].itertuples(index=False, name=None)) == set(names[:2])
    assert rank(table, Slice(), usual, order="absolute", limit=9, named=[]).n_pairs == 0


@pytest.mark.parametrize("order", ORDERS)
def test_words_that_may_be_true_stand_behind_whatever_is_known_to_keep_the_meaning(
    table: ScoreTable, usual: pd.DataFrame, order: str
) -> None:
    words = may_be_true(table)
    chosen, asked = Slice(families=("horizontal-flip", "cultural")), {"order": order, "limit": 4_000}
    found, plain = (rank(table, chosen, usual, **asked, behind=each) for each in (words, ()))
    is_word = found.pairs["probe"].isin(table.families()["cultural"]).to_numpy()
    ranked = found.pairs["key"].notna().to_numpy()
    mixed = plain.pairs["probe"].isin(table.families()["cultural"]).to_numpy()
    assert (mixed[:-1] & ~mixed[1:]).any()
    assert 0 < is_word.sum() < len(is_word)
    assert not (is_word[:-1] & ~is_word[1:] & ranked[1:]).any()
    for kind in (is_word, ~is_word):  # among themselves as ever, each with its own number
        own = found.pairs[kind & ranked]
        same = plain.pairs[plain.pairs["key"].notna()].merge(own[KEYS], on=KEYS)
        np.testing.assert_array_equal(own["key"], same["key"])
    once = rank(table, chosen, usual, order=order, limit=12, once=True, behind=words)
    assert not once.pairs["probe"].isin(table.families()["cultural"]).any()
    alone = [rank(table, Slice(families=("cultural",)), usual, **asked, behind=each).pairs for each in (words, ())]
    pd.testing.assert_frame_equal(*alone)


def test_beyond_the_last_page_the_counts_stay(table: ScoreTable, usual: pd.DataFrame) -> None:
    chosen = Slice(families=("vertical-flip",))
    found = rank(table, chosen, usual, order="percent", limit=12, offset=9_000)
    assert found.pairs.empty
    assert (found.n_pairs, found.n_shifts) == (252, 756)


def test_a_pair_is_led_by_the_evaluator_whose_shift_is_the_key(
    store: Store, scope: Narrowed, table: ScoreTable, usual: pd.DataFrame
) -> None:
    found = rank(table, Slice(), usual, order="absolute", limit=12)
    rows = under_every_evaluator(store, scope, found.pairs, usual)
    for _, pair in found.pairs.iterrows():
        own = rows[(rows[KEYS] == pair[KEYS]).all(axis=1)].set_index("evaluator")["delta"].abs()
        assert own.idxmax() == pair["leader"]
        assert own.max() == pair["key"]


def test_a_pair_outside_the_floor_is_still_there_and_last(table: ScoreTable, usual: pd.DataFrame) -> None:
    chosen = Slice(evaluators=("conse-lite0",))
    free = rank(table, chosen, usual, order="percent", limit=1)
    held = rank(table, chosen, usual, order="percent", floor=0.25, limit=1)
    assert held.n_pairs == free.n_pairs
    assert held.n_unranked > free.n_unranked
    assert held.pairs["key"].iloc[0] < free.pairs["key"].iloc[0]


def test_disagreement_of_one_evaluator_alone_is_not_defined(table: ScoreTable, usual: pd.DataFrame) -> None:
    found = rank(table, Slice(evaluators=("conse-lite0",)), usual, order="disagreement", limit=3)
    assert found.pairs["key"].isna().all()
    assert found.n_unranked == found.n_pairs > 0


def test_the_same_pair_is_shown_under_evaluators_outside_the_slice_too(
    store: Store, scope: Narrowed, table: ScoreTable, usual: pd.DataFrame
) -> None:
    found = rank(table, Slice(evaluators=("conse-lite0",), families=("rotation",)), usual, order="percent", limit=12)
    rows = under_every_evaluator(store, scope, found.pairs, usual)
    assert len(rows) == 36
    assert list(rows["evaluator"].iloc[:3]) == ["conse-lite0", "conse-lite2", "grounding-judge"]
    assert list(rows["item"].iloc[::3]) == list(found.pairs["item"])


def test_scales_are_the_spread_of_clean_scores_and_the_reach_of_null_edits(store: Store, usual: pd.DataFrame) -> None:
    for _, row in usual.iterrows():
        name = {"name": row["evaluator"]}
        clean = store.query("select score from scores where probe = 'identity' and evaluator = $name", name)["score"]
        assert row["sd"] == pytest.approx(np.std(clean.dropna(), ddof=1))
        assert row["typical"] == pytest.approx(np.median(clean.dropna()))
        null = store.query("select item, percent from shifts where axis = 'null' and evaluator = $name", name)
        sizes = null["percent"].abs().dropna()
        assert row["null_percent"] == pytest.approx(np.quantile(sizes, 0.95))
        assert row["n_null"] == len(sizes)


@pytest.mark.parametrize("order", sorted(ORDERS))
def test_an_export_holds_every_shift_in_order(
    store: Store, scope: Narrowed, table: ScoreTable, usual: pd.DataFrame, everything: pd.DataFrame, order: str
) -> None:
    chosen = Slice(families=("gender",))
    rows = export(store, scope, chosen, usual, order=order, floor=0.05)
    assert list(rows.columns) == [*EXPORTED, "standardised", "key"]
    assert len(rows) == (everything["family"] == "gender").sum()
    assert rows["key"].dropna().is_monotonic_decreasing or order == "disagreement"
    best = rank(table, chosen, usual, order=order, floor=0.05, limit=1).pairs
    assert rows["key"].max() == pytest.approx(best["key"].iloc[0])


def test_an_export_is_capped_at_the_furthest(
    store: Store, scope: Narrowed, usual: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = export(store, scope, Slice(families=("gender",)), usual, order="percent")
    monkeypatch.setattr(failures, "EXPORT_ROWS", 10)
    pd.testing.assert_frame_equal(
        export(store, scope, Slice(families=("gender",)), usual, order="percent"), whole.head(10), check_dtype=False
    )


def test_taking_a_choice_back_leaves_what_is_counted(store: Store, scope: Narrowed) -> None:
    chosen = Slice(families=("rotation",), modifiers=("African",), categories=("animal",))
    counts = relaxations(store, scope, chosen)
    assert set(counts) == {"families", "modifiers", "categories"}
    assert counts["categories"] == 0
    kept = "select count(*) as n from shifts where modifier = 'African' and category = 'animal' and not control"
    assert counts["families"] == store.query(kept)["n"].iloc[0] > 0
    assert list(counts.values()) == sorted(counts.values(), reverse=True)


def test_a_record_is_json_with_every_column(
    store: Store, scope: Narrowed, table: ScoreTable, usual: pd.DataFrame
) -> None:
    pair = rank(table, Slice(families=("cultural",)), usual, order="percent", limit=1).pairs.iloc[0]
    records = json.loads(as_json(record(store, scope, dict(pair[KEYS]), usual)))
    assert [each["evaluator"] for each in records] == ["conse-lite0", "conse-lite2", "grounding-judge"]
    stored = store.query("select * from shifts limit 1")
    assert set(stored.columns) | {"standardised", "image", "pixels_sha256", "licence"} <= set(records[0])


def test_a_pair_that_is_not_there_has_no_record(store: Store, scope: Narrowed, usual: pd.DataFrame) -> None:
    assert record(store, scope, {"run": "demo", "item": "x'; --", "subject": "template", "probe": "vflip"}, usual) == []


def test_people_s_verdicts_come_with_the_pairs_they_judged(usual: pd.DataFrame) -> None:
    told = [
        {
            "corpus": "demo",
            "item": "cat",
            "probe": "vflip",
            "subject": "template",
            "language": "en",
            "rank": 0,
            "accepted": 0.75,
            "votes": 4,
        }
    ]
    pairs = pd.DataFrame(
        [
            {"run": "demo", "corpus": "demo", "item": "cat", "subject": "template", "probe": name}
            for name in ("vflip", "hflip")
        ]
    )
    with Store.open(results_dir() / "demo", verdicts=pa.Table.from_pylist(told, schema=VERDICTS)) as opened:
        found = verdicts(opened, pairs)
        assert found["probe"].tolist() == ["vflip"]
        assert found["accepted"].tolist() == [0.75]
        assert verdicts(opened, pairs, language="de").empty
        found = rank(read_table(opened), Slice(accepted=0.7), usual, order="percent", limit=9)
        assert found.pairs["item"].tolist() == ["cat"]
    with Store.open(results_dir()) as opened:
        assert verdicts(opened, pairs).empty


def test_every_item_of_a_page_has_the_hash_that_the_run_recorded(store: Store) -> None:
    pairs = pd.DataFrame({"item": ["cat"]})
    stored = store.query("select pixels_sha256 from items where item = 'cat'")["pixels_sha256"].iloc[0]
    assert picture_hashes(store, pairs) == {("demo", "cat"): stored}


@pytest.mark.parametrize(
    ("wrong", "value"),
    [
        ({"order": "loudness"}, "loudness"),
        ({"floor": 1.5}, "1.5"),
        ({"floor": float("nan")}, "nan"),
        ({"limit": 0}, "0"),
        ({"offset": -1}, "-1"),
    ],
)
def test_a_question_that_makes_no_sense_is_refused_with_the_value(
    table: ScoreTable, usual: pd.DataFrame, wrong: dict, value: str
) -> None:
    with pytest.raises(InvalidInput, match=value):
        rank(table, Slice(), usual, **{"order": "percent", "limit": 3, **wrong})


@pytest.mark.parametrize("once", [False, True])
@pytest.mark.parametrize("order", ORDERS)
def test_where_a_slice_keeps_nothing_there_is_nothing_to_rank(
    scope: Narrowed, table: ScoreTable, usual: pd.DataFrame, order: str, once: bool
) -> None:
    for nothing in (Slice(families=("nowhere",)), Slice(categories=("nowhere",)), Slice(evaluators=("nobody",))):
        found = rank(table, nothing, usual, order=order, limit=3, once=once)
        assert (found.n_pairs, found.n_shifts, found.n_unranked, found.n_items, len(found.pairs)) == (0, 0, 0, 0, 0)
    with Store.open([]) as empty:
        assert under_every_evaluator(empty, scope, found.pairs, usual).empty


def test_a_scope_of_one_evaluator_ranks_by_it_alone(store: Store, usual: pd.DataFrame) -> None:
    own = read_table(store, Scope(evaluators=("conse-lite2",)))
    found = rank(own, Slice(families=("vertical-flip",)), usual, order="percent", limit=12)
    assert (found.n_pairs, found.n_shifts) == (252, 252)
    assert set(found.pairs["leader"]) == {"conse-lite2"}
