"""Flip risk of captions of one picture: calibrated where captions move together, and what is told where none is."""

import itertools
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.analysis.flip_cells import (
    EVERY,
    ONE_CAPTION,
    TWO_PICTURES,
    cell_curves,
    cell_risks,
    evident_gaps,
    pairs_said,
    shift_cells,
    turned_ties,
    widest_gaps,
)
from core.analysis.flip_shifts import APART, SAME
from core.analysis.questions import Options, catalogue
from core.analysis.reading import read_table
from core.analysis.scope import Scope
from core.analysis.slices import Slice
from core.analysis.table import View
from core.settings import results_dir
from core.statistics.flip_risk import LEAST_PICTURES, CaptionPairs
from core.store.store import Store
from tests.analysis.made_runs import raw, score, scores_of, shifts, write_run


def view_of(folder: Path, rows: list[dict], scope: Scope | None = None) -> View:
    write_run(folder / "r", rows)
    with Store.open(folder) as store:
        view = read_table(store, scope).view()
        shift_cells(view)  # what stands beside is read while the store is open
        return view


def together(seed: int, n: int, r: float = 0.8) -> list[dict]:
    """Two captions a picture whose shifts under a flip correlate by r, however far apart they score."""
    rng = np.random.default_rng(seed)
    clean, own = rng.normal(0.5, 0.2, (2, n)), rng.normal(0, 0.1, (2, n))
    shared = rng.normal(0, 0.1, n)
    moved = clean + math.sqrt(r) * shared + math.sqrt(1 - r) * own
    return [
        score(f"i{item:03d}", probe, float(scores[place, item]), subject=subject)
        for place, subject in enumerate(("template", "human"))
        for probe, scores in (("identity", clean), ("vflip", moved))
        for item in range(n)
    ]


@pytest.mark.whole
def test_where_captions_move_together_their_own_risk_is_what_turns_and_the_independent_one_is_not(
    tmp_path: Path,
) -> None:
    held, missed = 0, 0
    for seed in range(20):
        ties = turned_ties(shift_cells(view_of(tmp_path / str(seed), together(seed, 600))))
        near = ties[(ties["family"] == EVERY) & (ties["told_of"] == "5 % or more")].iloc[0]
        held += near["low"] <= near["told"] <= near["high"]
        missed += near["apart"] > near["high"]
        assert near["n_items"] == near["n_pairs"] <= 600
    assert held >= 18
    assert missed >= 18


def test_a_few_pairs_by_hand() -> None:
    # differences before -> after: 0.1 -> -0.2 turns (moves 0.3), 0.2 -> 0.1 (0.1), -0.1 -> 0 ties (0.1), 0 -> 0.4 (0.4)
    pairs = CaptionPairs([0.1, 0.2, -0.1, 0.0], [-0.2, 0.1, 0.0, 0.4], [0, 1, 2, 2])
    assert pairs.turned.tolist() == [True, False, False, False]
    assert pairs.risks([0.0, 0.2, 0.35, 0.5]) == pytest.approx([0.5, (1 + 0 + 1 / 2) / 6, 1 / 12, 0.0])
    assert pairs.gap_at(0.05) == pytest.approx(0.4)
    assert pairs.gap_at(0.1) == pytest.approx(0.3)
    found = pairs.risk(0.2)
    assert (found.n, found.note) == (3, "no interval (n = 3, below 10)")
    assert math.isnan(found.low)
    assert math.isnan(CaptionPairs([0.1], [0.2], [0]).risk(0.0).estimate)
    assert CaptionPairs([0.1], [0.2], [0]).risk(0.0).note == "one picture"
    assert CaptionPairs([], [], []).evident().note == "no pair of captions"
    assert CaptionPairs([math.nan, 0.1], [0.1, math.nan], [0, 1]).n_pairs == 0


def test_intervals_of_the_risk_and_of_the_gap_hold_and_none_has_no_width() -> None:
    rng, n, runs, held = np.random.default_rng(1), 120, 300, np.zeros(2)
    truth = np.abs(rng.normal(size=400_000) * np.exp(0.5 * rng.normal(size=400_000)))
    risk, gap = (truth > 1).mean() / 2, float(np.quantile(truth, 0.9))
    sources = np.arange(n) // 2
    for _ in range(runs):
        sizes = np.exp(0.5 * rng.normal(size=n // 2))[sources]
        pairs = CaptionPairs(np.zeros((2, n)), rng.normal(size=(2, n)) * sizes, np.tile(np.arange(n), (2, 1)), sources)
        ends = (pairs.risk(1.0), risk), (pairs.evident(), gap)
        held += [each.low <= true <= each.high for each, true in ends]
        assert all(each.low < each.high for each, _ in ends)
    assert (held / runs >= 0.92).all()
    few = CaptionPairs(np.zeros(60), np.repeat([0.0, 1.0], 30), np.arange(60)).evident()  # only two gaps
    assert few.estimate == 1.0
    assert few.note or few.low < few.high
    still = CaptionPairs(np.ones(60), np.ones(60), np.arange(60))
    assert still.evident().note.startswith("no interval: no edit moves")
    assert still.risk(0.0).high > 0
    assert math.isnan(CaptionPairs(np.zeros(39), np.arange(39), np.arange(39)).evident().low)
    assert LEAST_PICTURES == 40


def test_a_run_of_one_caption_says_so_and_shows_the_independent_number_under_its_name(store: Store) -> None:
    table = read_table(store)
    cells = shift_cells(table.view())
    assert pairs_said(cells) == ONE_CAPTION
    found = evident_gaps(cells)
    assert set(found["pairs"]) == {APART}
    assert found["said"].str.contains(TWO_PICTURES.removeprefix("for ")).all()
    assert found["d"].equals(found["apart_d"])
    asked = {each.id: each for each in catalogue(table)}
    assert "one caption a picture" in asked["S-turned"].needs(table)
    for name in ("S24", "T13"):
        assert ONE_CAPTION in asked[name].note
        assert any("different pictures [95 % CI]" in column.header for column in asked[name].columns)
    assert turned_ties(cells).empty


@pytest.mark.parametrize(
    ("told", "pairs"),
    [
        ({"subject": "human"}, 1),
        ({"rank": 1}, 1),
        ({"language": "de"}, 1),
    ],
)
def test_any_second_caption_of_a_picture_makes_a_pair(tmp_path: Path, told: dict, pairs: int) -> None:
    probes, rng = ["identity", "vflip"], np.random.default_rng(0)
    rows = [*scores_of(probes, 12, lambda *_: rng.normal()), *scores_of(probes, 12, lambda *_: rng.normal(), **told)]
    (cell,) = shift_cells(view_of(tmp_path, rows, Scope(subject="template", language="en")))
    assert cell.shifts.of == SAME
    assert (cell.shifts.counts.n_items, cell.shifts.counts.n_shifts) == (12, 12 * pairs)


def test_captions_of_the_same_language_come_before_translations(tmp_path: Path) -> None:
    probes, rng = ["identity", "vflip"], np.random.default_rng(0)
    rows = [
        row
        for told in ({}, {"subject": "human"}, {"subject": "human", "language": "de"})
        for row in scores_of(probes, 12, lambda *_: rng.normal(), **told)
    ]
    (cell,) = shift_cells(view_of(tmp_path, rows, Scope(subject="template", language="en")))
    assert cell.shifts.counts.n_shifts == 12


def test_nulls_ties_constants_and_two_items(tmp_path: Path) -> None:
    probes = ["identity", "vflip"]
    human = {"subject": "human"}
    rows = [*scores_of(probes, 2, lambda *_: 0.5), *scores_of(probes, 2, lambda *_: 0.5, **human)]
    found = evident_gaps(shift_cells(view_of(tmp_path / "two", rows))).iloc[0]
    assert (found["d"], found["n_items"], found["pairs"]) == (0.0, 2, SAME)
    assert math.isnan(found["low"])
    assert found["said"] == ""  # no two of these scores differ
    ties = turned_ties(shift_cells(view_of(tmp_path / "ties", rows)))
    assert ties.empty  # equal scores have no order to turn
    rows = [
        *scores_of(probes, 12, lambda probe, item: None if item < 2 else item / 10),
        *scores_of(probes, 12, lambda probe, item: None if item == 2 else item / 20, **human),
    ]
    cell = shift_cells(view_of(tmp_path / "nulls", rows))[0]
    assert (cell.shifts.counts.n_items, cell.shifts.counts.n_missing) == (9, 3)
    assert cell_risks((cell,), gaps=(0.1,)).iloc[0]["note"].startswith("no interval (n = 9, below 10)")
    one = [*scores_of(probes, 3, lambda *_: 0.5), *scores_of(probes, 1, lambda *_: 0.5, **human)]
    assert shift_cells(view_of(tmp_path / "one", one))[0].shifts.of == APART


@pytest.fixture(scope="module")
def captions() -> tuple[View, pd.DataFrame]:
    """The shipped run of template and human captions, and its shifts under both, as the files have them."""
    rows = shifts(raw(results_dir() / "demo-captions"))
    rows = rows[(rows["expectation"] == "invariant") & (rows["language"] == "en")]
    with Store.open(results_dir() / "demo-captions") as store:
        view = read_table(store, Scope(subject="human", language="en")).view()
        shift_cells(view)
    keys = ["evaluator", "family", "probe", "item"]
    sides = [rows.loc[rows["subject"] == subject, [*keys, "score", "delta"]] for subject in ("template", "human")]
    both = sides[0].merge(sides[1], on=keys, suffixes=("_a", "_b")).dropna()
    after = both["score_a"] - both["score_b"]
    before = after - (both["delta_a"] - both["delta_b"])
    return view, both.assign(before=before, after=after, moved=(after - before).abs())


def test_the_shipped_run_against_its_files(captions: tuple[View, pd.DataFrame]) -> None:
    view, rows = captions
    cells = shift_cells(view)
    gaps = evident_gaps(cells).set_index(["evaluator", "family"])
    risks = cell_risks(cells, gaps=(0.01,)).set_index(["evaluator", "family"])
    curves = cell_curves(cells, gaps=(0.01,)).set_index(["evaluator", "family"])
    ties = turned_ties(cells)
    for (evaluator, family), own in rows.groupby(["evaluator", "family"]):
        if (evaluator, family) not in gaps.index or family == "blur":
            continue
        weights = 1 / own.groupby("item")["item"].transform("size") / own["item"].nunique()
        row, d = gaps.loc[evaluator, family], risks.loc[(evaluator, family), "d"]
        expected = next(gap for gap in [0, *sorted(own["moved"])] if weights[own["moved"] > gap + 1e-12].sum() < 0.1)
        assert row["pairs"] == SAME
        assert row["d"] == pytest.approx(expected, abs=1e-9)
        risk = weights[own["moved"] > d].sum() / 2
        assert risks.loc[(evaluator, family), "risk"] == pytest.approx(risk, abs=1e-9)
        assert curves.loc[(evaluator, family), "risk"] == pytest.approx(risk, abs=1e-9)
        told = np.array([weights[own["moved"] > abs(gap)].sum() / 2 for gap in own["before"]])
        near = (told >= 0.05) & (own["before"] != 0)
        found = ties[(ties["evaluator"] == evaluator) & (ties["family"] == family)].iloc[0]
        assert found["n_pairs"] == pytest.approx(near.sum(), abs=1)
        assert found["turned"] == pytest.approx((own["before"] * own["after"] < 0)[near].mean(), abs=0.02)
        assert found["told"] == pytest.approx(told[near].mean(), abs=0.01)
    assert len(gaps) == len(rows[rows["family"] != "blur"].groupby(["evaluator", "family"]))


def test_the_independent_number_stands_behind_and_overstates_what_turns(captions: tuple[View, pd.DataFrame]) -> None:
    view, _ = captions
    cells = shift_cells(view)
    gaps = evident_gaps(cells)
    assert (gaps["apart_d"] > gaps["d"]).all()
    assert set(widest_gaps(cells)["pairs"]) == {SAME}
    near = turned_ties(cells).query("family == @EVERY and told_of == '5 % or more'").set_index("evaluator")
    lite = near.loc["conse-lite0"]
    assert lite["low"] <= lite["told"] <= lite["high"] < lite["apart"]
    assert not (near[["low", "high"]].diff(axis=1)["high"] == 0).any()


def test_every_pair_of_three_captions_counts_and_a_slice_keeps_its_own(tmp_path: Path) -> None:
    probes, rng = ["identity", "vflip"], np.random.default_rng(0)
    rows = [row for rank in range(3) for row in scores_of(probes, 12, lambda *_: rng.normal(), rank=rank)]
    view = view_of(tmp_path, rows)
    (cell,) = shift_cells(view)
    assert cell.shifts.counts.n_shifts == 12 * len(list(itertools.combinations(range(3), 2)))
    assert shift_cells(view.table.view(Slice(categories=("nothing",)))) == ()
    turned = next(each for each in catalogue(view.table) if each.id == "S-turned")
    assert not turned.needs(view.table)
    assert turned.figures[0].figure(turned.compute(view, Options())).kind == "scatter"
