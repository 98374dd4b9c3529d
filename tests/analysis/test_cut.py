"""Rotations without the objects that they cut, and the balance of category and size, against pandas on raw rows."""

import numpy as np
import pandas as pd
import pytest

from core.analysis.questions import Options, Question, catalogue
from core.analysis.questions.space import ALL_ITEMS, SMALL_TURNS, UNCUT
from core.analysis.reading import read_table
from core.analysis.table import ScoreTable
from core.features.systems.system_file import Kept
from core.statistics.bootstrap import median_bca
from core.store.store import Store
from tests.analysis import two_sources
from tests.analysis.made_runs import raw, shifts

TURNS = ("rotate-10", "rotate+10")


@pytest.fixture(scope="module")
def table(store: Store) -> ScoreTable:
    return read_table(store)


def question(table: ScoreTable, id_: str) -> Question:
    return next(each for each in catalogue(table) if each.id == id_)


def test_an_item_is_left_out_where_one_of_the_turns_cut_its_object(table: ScoreTable) -> None:
    frame = question(table, "S-cut").compute(table.view(), Options()).set_index(["evaluator", "label"])
    rows = shifts(raw())
    rows = rows[rows["probe"].isin(TURNS) & (rows["evaluator"] == "conse-lite0")]
    medians = rows.groupby("item")["percent"].median()
    gone = set(rows.loc[rows["object_kept"].astype(float) < 0.98, "item"])
    places = pd.Series(np.arange(len(table.items)), index=table.items["item"])
    sources = two_sources.numbers(table.items["item"])
    for name, values in ((ALL_ITEMS, medians), (UNCUT, medians[~medians.index.isin(gone)])):
        found, expected = (
            frame.loc["conse-lite0", f"{SMALL_TURNS}, {name}"],
            median_bca(values, groups=sources[places[values.index]]),
        )
        assert (found["median_percent"], found["low"], found["high"], found["n_items"]) == pytest.approx(
            (expected.estimate, expected.low, expected.high, expected.n)
        )
        apart = (expected.low > 0) == (medians.median() > 0) if expected.excludes_zero() else None
        assert found["direction"] == {None: "unclear", True: "same", False: "turned"}[apart]
        assert bool(found["power"]) == (apart is None)
    assert found["cut_items"] == len(gone) > 0
    assert found["least"] == pytest.approx(100 * rows["object_kept"].astype(float).min())


def test_the_balance_counts_every_scored_item_once(table: ScoreTable) -> None:
    asked = question(table, "S-balance")
    frame = asked.compute(table.view(), Options())
    items = raw(table="items").drop_duplicates("item")
    expected = pd.crosstab(items["category"], items["coverage_bin"], margins=True, margins_name="all")
    found = frame.drop(columns="corpus").set_index("category")
    pd.testing.assert_frame_equal(found[expected.columns], expected, check_names=False, check_dtype=False)
    assert {column.name for column in asked.columns} <= set(frame)


def test_without_masks_nothing_is_said_to_be_cut(table: ScoreTable) -> None:
    from dataclasses import replace

    own = table.diagnostics["object_kept"]
    blind = replace(own, values=np.full_like(own.values, np.nan))
    bare = replace(table, diagnostics={**table.diagnostics, "object_kept": blind}, kept=Kept())
    assert "takes a corpus with masks" in question(bare, "S-cut").needs(bare)


def test_a_family_that_was_not_audited_is_named_with_the_command_that_audits_it(table: ScoreTable) -> None:
    lacking = {each.id: each.needs(table) for each in catalogue(table) if each.part == "not audited"}
    assert {"S-occupational", "S-natural-gender", "S-verbosity"} <= set(lacking)
    assert all("--probes" in reason for reason in lacking.values())
    assert not any(name in lacking for name in ("S-cultural", "S-rotation", "S-null"))
