"""The table of scores against plain readings of the raw Parquet with pandas."""

import gc
import math
import weakref
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from core.analysis.reading import part_of, read_table
from core.analysis.scope import Scope, narrow
from core.analysis.slices import Slice
from core.analysis.table import ScoreTable
from core.errors import InvalidInput
from core.statistics.changes import Changes
from core.store.store import Store
from tests.analysis.made_runs import raw, scores_of, shifts, write_run

EVALUATORS = ("conse-lite0", "conse-lite2", "grounding-judge")
FAMILIES = (
    "vertical-flip",
    "horizontal-flip",
    "rotation",
    "reposition",
    "cultural",
    "economic",
    "emotion",
    "gender",
    "blur",
    "null",
)

Open = Callable[..., ScoreTable]


@pytest.fixture(scope="module")
def table(store: Store) -> ScoreTable:
    return read_table(store)


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    return shifts(raw(), further=True)


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Open]:
    """Table of a run written by hand."""
    opened: list[Store] = []

    def make(rows: list[dict[str, Any]]) -> ScoreTable:
        opened.append(Store.open(write_run(tmp_path / f"r{len(opened)}", rows)))
        return read_table(opened[-1])

    yield make
    for store in opened:
        store.close()


def expected_changes(rows: pd.DataFrame, table: ScoreTable) -> pd.DataFrame:
    """What :class:`Changes` says of every item, from rows of one evaluator and some probes."""
    scored = rows["delta"].notna()
    rows = rows.assign(
        size=rows["percent"].abs(),
        kept=rows["baseline_score"].where(scored),
        n=rows["percent"].notna(),
        zero=scored & rows["percent"].isna(),
        missing=~scored,
    )
    items = rows.groupby("item")
    found = items[["percent", "size", "delta", "kept"]].median()
    found[["n", "zero", "missing"]] = items[["n", "zero", "missing"]].sum()
    return found.reindex(table.items["item"]).fillna({"n": 0, "zero": 0, "missing": 0})


def assert_changes(found: Changes, expected: pd.DataFrame) -> None:
    pairs = {
        "percent": "percent",
        "size": "size",
        "delta": "delta",
        "baseline": "kept",
        "n_shifts": "n",
        "n_zero_baseline": "zero",
        "n_missing": "missing",
    }
    for mine, theirs in pairs.items():
        values = getattr(found, mine)
        assert values.shape == (len(expected),), mine
        np.testing.assert_allclose(values, expected[theirs].to_numpy(dtype=float), err_msg=mine, atol=1e-12)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("evaluator", EVALUATORS)
def test_what_a_family_does_to_every_item_is_what_pandas_makes_of_the_rows(
    table: ScoreTable, rows: pd.DataFrame, evaluator: str, family: str
) -> None:
    probes = table.families()[family]
    own = rows[(rows["evaluator"] == evaluator) & rows["probe"].isin(probes)]
    assert set(own["family"]) == {family}
    assert_changes(table.changes(evaluator, probes), expected_changes(own, table))


def test_the_shipped_run_has_a_baseline_of_zero(table: ScoreTable) -> None:
    """Otherwise the counts above would be compared at nothing but zero."""
    zero = [
        table.changes(name, probes).n_zero_baseline.sum() for name in EVALUATORS for probes in table.families().values()
    ]
    assert sum(zero) > 0


@pytest.mark.parametrize(
    ("against", "probes"),
    [("base", ("cultural:African", "cultural:plain")), ("rotate+5", ("vflip", "hflip")), ("vflip", ("gender:boy",))],
)
def test_scores_can_be_held_against_any_probe(
    table: ScoreTable, rows: pd.DataFrame, against: str, probes: tuple[str, ...]
) -> None:
    scores = raw()
    other = scores[scores["probe"] == against][["item", "evaluator", "score"]]
    for name in EVALUATORS:
        own = scores[(scores["evaluator"] == name) & scores["probe"].isin(probes)]
        both = own.merge(other.rename(columns={"score": "baseline_score"}), on=["item", "evaluator"], how="left")
        delta = both["score"] - both["baseline_score"]
        percent = (100 * delta / both["baseline_score"]).where(both["baseline_score"].abs() >= 1e-6)
        expected = expected_changes(both.assign(delta=delta, percent=percent), table)
        assert_changes(table.changes(name, probes, against=against), expected)


@pytest.mark.parametrize(
    "baselines",
    [
        ("base", "base", "base", "base"),
        ("base", "base", None, "base"),
        ("base", "blur-1", "base", None),
        (None, None, None, None),
    ],
)
def test_each_score_is_compared_with_the_baseline_that_its_own_row_names(
    made: Open, baselines: tuple[str | None, ...]
) -> None:
    probes = ["identity", "base", "blur-1", "gender:boy", "vflip"]
    drawn = np.random.default_rng(3).uniform(size=(len(probes), len(baselines)))
    rows = scores_of(probes, len(baselines), lambda probe, item: float(drawn[probes.index(probe), item]))
    for row in (row for row in rows if row["probe"] == "gender:boy"):
        row["baseline"] = baselines[int(row["item"][1:])]
    rows = [row for row in rows if (row["probe"], row["item"]) != ("vflip", "i001")]
    table = made(rows)
    own = [math.nan if name is None else drawn[probes.index(name), item] for item, name in enumerate(baselines)]
    flipped = np.where(np.arange(len(baselines)) == 1, math.nan, drawn[0])
    for asked, expected in ((("gender:boy",), [own]), (("gender:boy", "vflip", "base"), [own, flipped, drawn[0]])):
        for items in (slice(None), slice(1, 3), np.array([3, 1])):
            np.testing.assert_array_equal(table.before("e", asked, items=items), np.array(expected)[:, items])
            after, before, stored = table.pairs("e", asked, items=items)
            np.testing.assert_array_equal(before, np.array(expected)[:, items])
            np.testing.assert_array_equal(stored, ~np.isnan(np.array(expected))[:, items])
            np.testing.assert_array_equal(after, table.after("e", asked)[:, items])


def test_a_table_that_was_looked_at_is_let_go_at_once(made: Open) -> None:
    """It is the largest thing that a server holds, and a collection may be long in coming."""
    table = made(scores_of(["identity", "base", "vflip"], 3, lambda probe, item: float(item)))
    seen = table.view(Slice(categories=("animal",)))
    assert table.view(Slice(categories=("animal",))).kept is seen.kept
    held = weakref.ref(table)
    gc.collect()
    gc.disable()
    try:
        del table, seen
        assert held() is None
    finally:
        gc.enable()


def test_against_a_probe_that_nobody_scored_every_score_is_missing(table: ScoreTable) -> None:
    found = table.changes("conse-lite0", ("vflip", "hflip"), against="nothing of the kind")
    assert np.isnan(found.delta).all()
    assert found.n_missing.sum() == table.stored[0][table.places(("vflip", "hflip"))].sum()


def test_a_probe_that_nobody_scored_changes_no_item_and_counts_nothing(table: ScoreTable) -> None:
    found = table.changes("conse-lite0", ("nothing of the kind",))
    for values in (found.percent, found.size, found.delta, found.baseline):
        assert values.shape == (len(table.items),)
        assert np.isnan(values).all()
    for counts in (found.n_shifts, found.n_zero_baseline, found.n_missing):
        assert counts.tolist() == [0] * len(table.items)


def test_an_item_counts_once_however_many_probes_its_family_has(made: Open) -> None:
    """Baselines of 1: item 0 moves by +1 % and +3 %, item 1 by -4 % and +10 %."""
    moved = {("rotate-5", 0): 1.01, ("rotate+5", 0): 1.03, ("rotate-5", 1): 0.96, ("rotate+5", 1): 1.10}
    table = made(scores_of(["identity", "rotate-5", "rotate+5"], 2, lambda probe, item: moved.get((probe, item), 1.0)))
    found = table.changes("e", ("rotate-5", "rotate+5"))
    assert found.percent == pytest.approx([2.0, 3.0])
    assert found.size == pytest.approx([2.0, 7.0])
    assert found.delta == pytest.approx([0.02, 0.03])
    assert found.n_shifts.tolist() == [2, 2]


def test_asking_again_and_asking_of_some_scores_alone_give_the_same_numbers(table: ScoreTable) -> None:
    probes = table.families()["rotation"]
    first, again = (table.changes("conse-lite2", probes) for _ in range(2))
    everything = table.changes("conse-lite2", probes, where=np.ones((len(probes), len(table.items)), dtype=bool))
    for name in ("percent", "size", "delta", "baseline", "n_shifts", "n_zero_baseline", "n_missing"):
        np.testing.assert_array_equal(getattr(first, name), getattr(again, name))
        np.testing.assert_array_equal(getattr(first, name), getattr(everything, name))


def test_what_a_slice_looks_at_is_worked_out_once_whatever_else_the_slice_leaves_out(table: ScoreTable) -> None:
    probes = table.families()["rotation"]
    slices = (Slice(sign="down"), Slice(sign="up"), Slice(inside=(0.5, 1.0)), Slice())
    for chosen in slices:
        view = table.view(chosen)
        found = view.changes("conse-lite2", probes)
        known = table.changes("conse-lite2", probes, where=view.where("conse-lite2", probes))
        for name in ("percent", "size", "delta", "baseline", "n_shifts", "n_zero_baseline", "n_missing"):
            np.testing.assert_array_equal(getattr(found, name), getattr(known, name))
        assert table.view(replace(chosen, categories=("animal",))).changes("conse-lite2", probes) is found


def test_scores_outside_the_cells_are_neither_medians_nor_counts(table: ScoreTable, rows: pd.DataFrame) -> None:
    probes = table.families()["reposition"]
    down = table.changes("conse-lite0", probes, where=table.signs[0][table.places(probes)] == -1)
    own = rows[(rows["evaluator"] == "conse-lite0") & rows["probe"].isin(probes) & (rows["delta"] < 0)]
    assert_changes(down, expected_changes(own, table))


def test_signs_say_where_every_score_went(table: ScoreTable, rows: pd.DataFrame) -> None:
    counted = np.unique(table.signs[table.baselines >= 0], return_counts=True)
    delta = rows["delta"]
    expected = {-1: (delta < 0).sum(), 0: (delta == 0).sum(), 1: (delta > 0).sum(), 2: delta.isna().sum()}
    assert dict(zip(*(values.tolist() for values in counted), strict=True)) == {k: n for k, n in expected.items() if n}
    assert set(np.unique(table.signs[table.baselines < 0])) == {2}


def test_shifts_are_every_delta_and_whether_it_is_stored(table: ScoreTable, rows: pd.DataFrame) -> None:
    probes = table.families()["cultural"]
    delta, stored = table.shifts("grounding-judge", probes)
    own = rows[(rows["evaluator"] == "grounding-judge") & rows["probe"].isin(probes)]
    assert delta.shape == stored.shape == (len(probes), len(table.items))
    assert stored.sum() == len(own)
    assert np.isnan(delta[stored]).sum() == own["delta"].isna().sum()
    np.testing.assert_allclose(np.nansum(delta), own["delta"].sum())


@pytest.mark.parametrize("evaluator", EVALUATORS)
def test_spreads_are_those_of_the_scores_of_unedited_pairs_alone(table: ScoreTable, evaluator: str) -> None:
    scores = raw()
    clean = scores[(scores["probe"] == "identity") & (scores["evaluator"] == evaluator)]["score"]
    assert table.spread(evaluator, "demo") == pytest.approx(clean.std())
    assert table.middle_half(evaluator, "demo") == pytest.approx(clean.quantile(0.75) - clean.quantile(0.25))
    assert np.nansum(table.clean(evaluator)) == pytest.approx(clean.sum())
    assert math.isnan(table.spread(evaluator, "nowhere"))


def test_families_hold_invariant_probes_and_leave_controls_out_unless_they_are_all(made: Open) -> None:
    probes = [
        "identity",
        "vflip",
        "rotate+5",
        "rotate-5",
        "blur-1",
        "base",
        "gender:plain",
        "gender:boy",
        "jumble",
        "mention:2",
    ]
    table = made(scores_of(probes, 1, lambda probe, item: 1.0))
    assert table.families() == {
        "base": ("base",),
        "blur": ("blur-1",),
        "gender": ("gender:boy",),
        "rotation": ("rotate+5", "rotate-5"),
        "vertical-flip": ("vflip",),
    }
    assert table.families(controls=True)["gender"] == ("gender:boy", "gender:plain")
    assert set(table.families(axis="societal")) == {"base", "gender"}
    assert (table.axis_of("blur"), table.is_control("blur"), table.is_control("gender")) == ("spatial", True, False)


def test_what_is_not_here_is_named(table: ScoreTable) -> None:
    with pytest.raises(InvalidInput, match="no score of evaluator 'clipscore' is here; there are: conse-lite0, conse"):
        table.changes("clipscore", ("vflip",))
    with pytest.raises(InvalidInput, match="no shift of evaluator 'conse-lite2' is here; evaluators: conse-lite0"):
        table.view(Slice(evaluators=("conse-lite0",))).of("conse-lite2")
    with pytest.raises(InvalidInput, match="evaluators: none"):
        table.view(Slice(evaluators=("nobody",))).of("conse-lite2")
    assert table.places(("vflip", "nothing")).tolist() == [table.probes.index.get_loc("vflip")]


@pytest.mark.parametrize("chosen", [Slice(), Slice(categories=("animal",)), Slice(axes=("spatial",)), Slice(sign="up")])
@pytest.mark.parametrize("evaluator", EVALUATORS)
def test_the_noise_floor_of_families_is_a_median_and_that_of_pairs_a_95th_percentile(
    table: ScoreTable, rows: pd.DataFrame, evaluator: str, chosen: Slice
) -> None:
    own = rows[(rows["evaluator"] == evaluator) & (rows["axis"] == "null")]
    own = own[own["category"].isin(chosen.categories)] if chosen.categories else own
    own = own[own["delta"] > 0] if chosen.sign else own
    expected = own.assign(size=own["percent"].abs()).groupby("item")["size"].median().median()
    assert table.view(chosen).null_median(evaluator, "demo") == pytest.approx(expected)
    band, sizes = table.view(chosen).null_band(evaluator, "demo"), own["percent"].abs().dropna()
    assert (band.reach, band.n) == (pytest.approx(sizes.quantile(0.95)), len(sizes))
    assert np.mean([band.holds(shift) for shift in own["percent"].dropna()]) == pytest.approx(0.95, abs=1 / len(sizes))


def test_the_null_band_is_of_one_corpus(tmp_path: Path) -> None:
    for corpus, factor in (("c", 1.01), ("d", 1.05)):
        probes = ["identity", "null:shift1"]
        rows = scores_of(probes, 3, lambda probe, item, f=factor: f if probe != "identity" else 1.0, corpus=corpus)
        write_run(tmp_path / "runs" / corpus, rows)
    with Store.open(tmp_path / "runs") as store:
        view = read_table(store).view()
    assert (view.null_median("e", "c"), view.null_median("e", "d")) == (pytest.approx(1.0), pytest.approx(5.0))
    assert (view.null_band("e", "c").reach, view.null_band("e", "d").n) == (pytest.approx(1.0), 3)
    assert math.isnan(view.null_median("e", "nowhere"))
    assert math.isnan(view.null_band("e", "nowhere").reach)


def test_a_view_of_one_evaluator_keeps_the_rest_of_its_slice(table: ScoreTable) -> None:
    chosen = Slice(categories=("animal",), families=("rotation", "gender"), sign="down")
    own = table.view(chosen).of("conse-lite2")
    assert own.evaluators == ("conse-lite2",)
    assert own.families() == table.view(chosen).families()
    np.testing.assert_array_equal(own.items, (table.items["category"] == "animal").to_numpy())
    assert own.chosen.sign == "down"


def test_a_view_says_which_corpora_have_an_item_left(tmp_path: Path) -> None:
    for corpus, category in (("c", "animal"), ("d", "food")):
        rows = scores_of(["identity", "vflip"], 2, lambda probe, item: 1.0, corpus=corpus, category=category)
        write_run(tmp_path / "runs" / corpus, rows)
    with Store.open(tmp_path / "runs") as store:
        table = read_table(store)
    assert table.view(Slice(categories=("food",))).corpora == ("d",)
    assert table.view(Slice(categories=("nothing",))).corpora == ()


def test_a_part_of_the_evaluators_is_what_reading_them_alone_gives(store: Store) -> None:
    whole = narrow(store)
    for names in (whole.evaluators[:1], whole.evaluators[1:]):
        scope = narrow(store, Scope(evaluators=names))
        read, part = read_table(store, scope), part_of(read_table(store, whole), scope)
        assert read.digest() == part.digest()
        pd.testing.assert_frame_equal(read.probes, part.probes)
        pd.testing.assert_frame_equal(read.items, part.items)
        for name in ("baselines", "stored", "inside", "accepted"):
            np.testing.assert_array_equal(getattr(read, name), getattr(part, name))
        every = np.arange(len(read.probes))
        for name, measured in read.diagnostics.items():
            np.testing.assert_array_equal(measured.of(every), part.diagnostics[name].of(every))
            np.testing.assert_array_equal(measured.there(), part.diagnostics[name].there())
