"""What comes out of scores that hold little: a number with a note, or one sentence; never an error of another kind."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from core.analysis.effects import Group, effects, family_groups, modifier_groups, probe_groups
from core.analysis.flip_cells import UNITS, cell_curves, cell_risks, shift_cells
from core.analysis.overview import card_risks, fairness_card, worst_findings
from core.analysis.ranking import facets
from core.analysis.reading import read_table
from core.analysis.scope import Scope, narrow
from core.analysis.slices import Slice
from core.analysis.table import View
from core.analysis.verdicts import ALL_ZERO, CONSTANT, DRIFTS, NO_SCORE, TOO_FEW
from core.errors import InvalidInput
from core.features.calibration.fit import fit, sweep_table
from core.features.compare.two_sides import BY, compare
from core.features.geometry.geometry import modifier_objects, modifier_shifts
from core.features.human.reanalysis import reanalyse
from core.features.human.study_outcomes import ONE
from core.probes.base import BASE_CAPTION
from core.store.store import Store
from tests.analysis.made_runs import PROBES, score, scores_of, write_run

Value = Callable[[str, int], float | None]
FLIP = [Group("vertical-flip", ("vflip",), tests="spatial")]


def noise(probe: str, item: int) -> float:
    """Between -1 and 1, another for every probe and item."""
    return math.sin(1000 * (list(PROBES).index(probe) + 1) + 77 * item)


SCORES: Mapping[str, Value] = {
    "usual": lambda probe, item: 0.5 + 0.1 * noise(probe, item),
    "constant": lambda probe, item: 0.3,
    "all zero": lambda probe, item: 0.0,
    "all null": lambda probe, item: None,
    "negative": lambda probe, item: -0.5 + 0.1 * noise(probe, item),
    "around zero": noise,
    "tiny": lambda probe, item: 1e-9 * (2 + noise(probe, item)),
    "huge": lambda probe, item: 1e12 * (2 + noise(probe, item)),
    "half null": lambda probe, item: 0.5 + 0.1 * noise(probe, item) if item % 2 else None,
    "zero baselines": lambda probe, item: 0.0 if probe == "identity" else 0.5,
    "one that differs": lambda probe, item: 0.5 + (probe == "vflip" and item == 0),
}
COUNTS = (1, 2, pytest.param(3, marks=pytest.mark.whole), 12)
"""Of three items a change breaks what it breaks of two."""


@dataclass(frozen=True, slots=True)
class Opened:
    store: Store
    view: View


Open = Callable[..., Opened]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Open]:
    """Open runs written by hand: a list of rows each."""
    stores: list[Store] = []

    def make(*runs: list[dict[str, Any]], scope: Scope | None = None) -> Opened:
        folder = tmp_path / f"s{len(stores)}"
        for place, rows in enumerate(runs):
            write_run(folder / f"r{place}", rows)
        stores.append(Store.open(folder))
        return Opened(stores[-1], read_table(stores[-1], scope).view())

    yield make
    for store in stores:
        store.close()


def everything(store: Store, view: View) -> dict[str, pd.DataFrame]:
    """Every question of a view that has an answer; what has none has said so in a sentence."""
    groups = [*family_groups(view), *modifier_groups(view, "gender", controls=True, bare=True)]
    groups += [group for family in view.families() for group in probe_groups(view, family)]
    card, cells = fairness_card(view), shift_cells(view)
    found = {
        "effects": effects(view, groups, pooled=True),
        "by category": effects(view, groups, level="category"),
        "card": card,
        "card risks": card_risks(view, card),
        "findings": worst_findings(store, view),
        **{f"risks, {unit}": cell_risks(cells, unit=unit) for unit in UNITS},
        **{f"curves, {unit}": cell_curves(cells, unit=unit) for unit in UNITS},
    }
    facets(view.table, Slice(sign="up", inside=(0.0, 1.0)))
    modifier_objects(view)
    for evaluator in view.evaluators:
        own = view.of(evaluator)
        found[f"words, {evaluator}"] = modifier_shifts(own, evaluator=evaluator)
        for measure in ("percent", "standardised"):
            for by in BY:
                found[f"{by}, {measure}, {evaluator}"] = compare(own, own, by=by, measure=measure)
        found |= _fitted(own, evaluator)
    return found | _judged(view)


def _fitted(view: View, evaluator: str) -> dict[str, pd.DataFrame]:
    try:
        split = fit(view, evaluator=evaluator)
    except InvalidInput:  # too few items to split, or nothing to calibrate
        return {}
    return {f"fit, {evaluator}": sweep_table(split, split.bands())}


def _judged(view: View) -> dict[str, pd.DataFrame]:
    item = view.table.items.iloc[0]
    said = {
        "corpus": item["corpus"],
        "item": item["item"],
        "probe": "vflip",
        "subject": view.table.scope.subject,
        "outcome": ONE,
        "fully_correct": False,
    }
    try:
        return {"people": reanalyse(view.table, pd.DataFrame([said]), scope="run").table}
    except InvalidInput:  # nobody scored the pair that people judged
        return {}


@pytest.mark.parametrize("n", COUNTS)
@pytest.mark.parametrize("kind", SCORES)
def test_every_question_has_an_answer_whatever_the_scores(opened: Open, kind: str, n: int) -> None:
    made = opened(scores_of(list(PROBES), n, SCORES[kind]))
    tables = everything(made.store, made.view)
    assert len(tables["effects"]) > 0
    for name, table in tables.items():
        numbers = table.select_dtypes("number").to_numpy(dtype=float)
        assert not np.isinf(numbers).any(), name
        if {"low", "high", "median_percent"} <= set(table.columns):
            bounded = table.dropna(subset=["low", "high"])
            assert (bounded["low"] <= bounded["median_percent"] + 1e-9 * bounded["median_percent"].abs()).all(), name
            assert (bounded["median_percent"] <= bounded["high"] + 1e-9 * bounded["high"].abs()).all(), name


@pytest.mark.parametrize("n", [1, 2, 3, 9])
def test_one_item_has_a_median_and_no_interval_and_few_have_no_verdict(opened: Open, n: int) -> None:
    row = effects(opened(scores_of(["identity", "vflip"], n, SCORES["usual"])).view, FLIP).iloc[0]
    assert not math.isnan(row["median_percent"])
    assert math.isnan(row["low"])
    assert math.isnan(row["high"])
    assert (row["n_items"], row["note"], row["drift"]) == (n, f"no interval (n = {n}, below 10)", TOO_FEW)
    assert (row["test"] == "none", math.isnan(row["p"])) == (True, True)


def test_scores_that_never_move_are_named_and_have_no_test(opened: Open) -> None:
    row = effects(opened(scores_of(list(PROBES), 12, SCORES["constant"])).view, FLIP).iloc[0]
    assert (row["median_percent"], row["test"]) == (0.0, "none")
    assert row[["low", "high", "mean_low", "mean_high", "beyond_low", "beyond_high", "p"]].isna().all()
    assert (row["drift"], row["scatter"]) == (CONSTANT, CONSTANT)
    assert math.isnan(row["p_holm"])


def test_one_negative_baseline_withholds_every_change_in_percent_of_a_row(opened: Open) -> None:
    view = opened(scores_of(["identity", "vflip"], 12, lambda probe, item: item - 0.5 + (probe == "vflip"))).view
    row = effects(view, FLIP).iloc[0]
    assert math.isnan(row["median_percent"])
    assert math.isnan(row["median_abs_percent"])
    assert row["median_delta"] == pytest.approx(1.0)
    assert row["note"].startswith("% change withheld: the baseline is negative in 1 of 12 items")


@pytest.mark.parametrize("clean", [0.0, 0.1, 0.3, -7.7, 1e12])
def test_clean_scores_of_one_value_have_no_spread_to_measure_a_shift_in(opened: Open, clean: float) -> None:
    view = opened(scores_of(["identity", "vflip"], 12, lambda probe, item: clean + (probe == "vflip") * item)).view
    row = effects(view, FLIP).iloc[0]
    assert view.table.spread("e", "c") == 0.0
    assert row["median_delta"] == pytest.approx(5.5)
    assert math.isnan(row["standardised"])
    assert math.isnan(row["standardised_low"])
    assert compare(view, view, measure="standardised").loc[0, "a_n"] == 0


def test_baselines_of_zero_have_no_percent_change_and_are_counted(opened: Open) -> None:
    for kind in ("all zero", "zero baselines", "tiny"):
        row = effects(opened(scores_of(["identity", "vflip"], 12, SCORES[kind])).view, FLIP).iloc[0]
        assert math.isnan(row["median_percent"]), kind
        assert (row["n_items"], row["n_scored"], row["n_zero_baseline"], row["n_missing"]) == (0, 12, 12, 0), kind
        assert row["drift"] == (ALL_ZERO if kind == "all zero" else TOO_FEW)
        small = "baseline below 1e-06, the least with a % change," if kind == "tiny" else "baseline 0"
        assert row["note"] == f"{small} in 12 of 12 shifts; no values"
    assert row["median_delta"] != 0


def test_scores_that_are_all_missing_are_counted_and_nothing_is_claimed(opened: Open) -> None:
    made = opened(scores_of(list(PROBES), 12, SCORES["all null"]))
    row = effects(made.view, FLIP).iloc[0]
    assert (row["n_items"], row["n_scored"], row["n_missing"], row["drift"]) == (0, 0, 12, NO_SCORE)
    assert fairness_card(made.view).empty
    assert worst_findings(made.store, made.view).empty
    assert set(cell_risks(shift_cells(made.view))["note"]) == {"no shifts"}


@pytest.mark.parametrize("factor", [1e-3, 1.0, 1e12])
def test_percent_changes_do_not_know_the_scale_of_a_metric(opened: Open, factor: float) -> None:
    usual = SCORES["usual"]
    plain, scaled = (
        effects(opened(scores_of(list(PROBES), 12, value)).view, FLIP).iloc[0]
        for value in (usual, lambda probe, item: factor * usual(probe, item))
    )
    for column in ("median_percent", "low", "high", "median_abs_percent"):
        assert scaled[column] == pytest.approx(plain[column]), column
    assert scaled["p"] == pytest.approx(plain["p"])
    assert scaled["median_delta"] == pytest.approx(factor * plain["median_delta"])


def test_negative_baselines_have_no_percent_change_and_the_row_says_so(opened: Open) -> None:
    usual = SCORES["usual"]
    row = effects(opened(scores_of(list(PROBES), 12, lambda probe, item: -usual(probe, item))).view, FLIP).iloc[0]
    for column in ("median_percent", "low", "high", "median_abs_percent"):
        assert math.isnan(row[column]), column
    assert row["note"].startswith("% change withheld: the baseline is negative in 12 of 12 items")
    assert "stability is not reported: its margin is one of % change" in row["note"]
    assert ("SD of the unedited scores on would have shown" in row["note"]) == (row["drift"] == "undecided")
    assert row["n_items"] == 12
    assert (row["drift"] == DRIFTS) == (row["delta_low"] > 0 or row["delta_high"] < 0)


def test_infinite_scores_are_refused_in_a_sentence(opened: Open) -> None:
    rows = scores_of(["identity", "vflip"], 12, SCORES["usual"])
    view = opened([*rows[:-1], rows[-1] | {"score": math.inf}]).view
    for ask in (lambda: effects(view, FLIP), lambda: fairness_card(view), lambda: cell_risks(shift_cells(view))):
        with pytest.raises(InvalidInput, match="infinite"):
            ask()


def test_without_unedited_pairs_every_shift_from_them_is_missing(opened: Open) -> None:
    probes = [name for name in PROBES if name != "identity"]
    made = opened(scores_of(probes, 12, SCORES["usual"]))
    everything(made.store, made.view)
    row = effects(made.view, FLIP).iloc[0]
    assert (row["n_items"], row["n_missing"]) == (0, 12)
    assert math.isnan(made.view.table.spread("e", "c"))
    words = modifier_shifts(made.view, evaluator="e")
    assert words["n_items"].tolist() == [12, 12]  # words have baselines of their own
    split = fit(made.view, evaluator="e")
    assert (split.n_dev, split.n_test) == (0, 0)
    assert np.isnan(split.test.sensitivity["vertical-flip"]).all()
    assert not np.isnan(split.test.sensitivity["gender"]).any()


def test_unedited_pairs_alone_have_no_shift(opened: Open) -> None:
    made = opened(scores_of(["identity"], 12, SCORES["usual"]))
    for name, table in everything(made.store, made.view).items():
        assert table.empty, name
    assert made.view.families() == {}
    with pytest.raises(InvalidInput, match="no shift of evaluator 'e' is here; audit some invariant probes"):
        fit(made.view, evaluator="e")


def test_without_null_edits_there_is_no_band(opened: Open) -> None:
    made = opened(scores_of([name for name in PROBES if name != "null:shift1"], 12, SCORES["usual"]))
    assert math.isnan(made.view.null_median("e", "c"))
    assert fairness_card(made.view)["null_median"].isna().all()
    everything(made.store, made.view)


def test_null_edits_alone_have_a_risk_and_no_card(opened: Open) -> None:
    made = opened(scores_of(["identity", "null:shift1"], 12, SCORES["usual"]))
    assert fairness_card(made.view).empty
    assert set(cell_risks(shift_cells(made.view))["family"]) == {"null"}


def test_a_word_without_a_neutral_or_a_bare_caption_is_missing(opened: Open) -> None:
    view = opened(scores_of(["identity", "gender:boy"], 12, SCORES["usual"])).view
    for bare in (False, True):
        row = effects(view, modifier_groups(view, "gender", bare=bare)).iloc[0]
        assert (row["label"], row["n_items"], row["n_missing"]) == ("boy", 0, 12)
    assert BASE_CAPTION not in view.table.probes.index


def test_an_evaluator_that_saw_one_of_two_corpora_has_rows_of_that_one(opened: Open) -> None:
    usual = SCORES["usual"]
    made = opened(
        scores_of(list(PROBES), 12, usual),
        scores_of(list(PROBES), 3, usual, corpus="d") + scores_of(list(PROBES), 3, usual, corpus="d", evaluator="f"),
    )
    everything(made.store, made.view)
    found = effects(made.view, FLIP, pooled=True)
    assert found[["evaluator", "corpus"]].to_numpy().tolist() == [
        ["e", "c"],
        ["e", "d"],
        ["e", "all"],
        ["f", "d"],
        ["f", "all"],
    ]
    assert math.isnan(made.view.table.spread("f", "c"))
    risks = cell_risks(shift_cells(made.view))
    nothing = risks[(risks["evaluator"] == "f") & (risks["corpus"] == "c")]
    assert set(nothing["note"]) <= {"no shifts"}


def test_a_probe_of_one_item_is_of_one_item(opened: Open) -> None:
    rows = [*scores_of(["identity", "vflip"], 12, SCORES["usual"]), score("i003", "hflip", 0.9)]
    made = opened(rows)
    everything(made.store, made.view)
    row = effects(made.view, [Group("horizontal-flip", ("hflip",))]).iloc[0]
    assert (row["n_items"], row["n_shifts"], row["n_missing"]) == (1, 1, 0)


def test_two_sides_without_a_shared_family_are_compared_all_together(opened: Open) -> None:
    view = opened(scores_of(["identity", "vflip", "hflip"], 12, SCORES["usual"])).view
    one, other = (view.table.view(Slice(probes=(probe,))) for probe in ("vflip", "hflip"))
    assert compare(one, other)["label"].tolist() == ["all shifts"]


def test_items_that_the_table_of_items_does_not_know_have_scores_and_no_category(tmp_path: Path) -> None:
    rows = scores_of(list(PROBES), 12, SCORES["usual"])
    with Store.open(write_run(tmp_path / "r", rows, items=())) as store:
        view = read_table(store, narrow(store)).view()
        assert len(everything(store, view)["effects"]) > 0
        assert view.table.items["category"].isna().all()
        assert not view.table.view(Slice(categories=("animal",))).items.any()
        assert facets(view.table, Slice())["categories"] == {}
