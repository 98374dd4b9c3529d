"""How much of a shift is the filling's, and of a rotation the objects that it cuts, in words and raw rows."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.analysis.questions import Options, Question, catalogue
from core.analysis.questions.artefacts import ADDS, ANCHORS, HIDES, OPEN, STILL
from core.analysis.questions.space import ALL_ITEMS, SMALL_TURNS, UNCUT
from core.analysis.reading import read_table
from core.analysis.table import ScoreTable
from core.analysis.verdicts import TOO_FEW
from core.features.systems.system_file import Kept
from core.statistics.bootstrap import median_bca
from core.store.store import Store
from tests.analysis import two_sources
from tests.analysis.made_runs import raw, score, shifts, write_run


def moved(*, items: int = 24, smear: float = 0.1, places: tuple[str, ...] = ("TL", "BR")) -> list[dict]:
    """An audit of items moved onto both plates; the filled one costs so much more of the score."""
    rng, rows = np.random.default_rng(3), []
    for place in range(items):
        item, clean = f"i{place:02d}", float(rng.uniform(0.4, 0.8))
        rows.append(score(item, "identity", clean))
        for anchor in places:
            away = float(rng.normal(-0.04, 0.01))
            for way, more in (("", -smear * clean), ("-true", 0.0)):
                about = {"axis": "spatial", "family": f"reposition{way}", "baseline": "identity"}
                if (place, way, anchor) != (0, "-true", "BR"):  # one place that only the filled plate has
                    rows.append(score(item, f"reposition{way}-{anchor}", clean + away + more, **about))
    return rows


def answered(folder: Path, rows: list[dict], question_id: str = "S25") -> pd.DataFrame:
    write_run(folder / "r", rows, corpus={"name": "c"})
    with Store.open(folder) as store:
        table = read_table(store)
        question = next(each for each in catalogue(table) if each.id == question_id)
        assert not question.needs(table)
        return question.compute(table.view(), Options())


def test_the_share_of_the_filling_is_that_of_the_raw_rows(tmp_path: Path) -> None:
    row = answered(tmp_path, moved(), "S25").iloc[0]
    wide = raw(tmp_path / "r").pivot_table(index="item", columns="probe", values="score")
    change = {
        way: pd.DataFrame(
            {anchor: 100 * (wide[f"reposition{way}-{anchor}"] / wide["identity"] - 1) for anchor in ("TL", "BR")}
        )
        for way in ("", "-true")
    }
    both = change[""].notna() & change["-true"].notna()
    filled, true = (change[way].where(both).median(axis=1) for way in ("", "-true"))
    assert row["n_items"] == len(filled) == 24
    assert (row["filled"], row["true"]) == (pytest.approx(filled.median()), pytest.approx(true.median()))
    assert row["value"] == pytest.approx((filled - true).median())
    assert row["low"] <= row["value"] <= row["high"]
    share = 100 * (filled.abs() - true.abs()).sum() / filled.abs().sum()
    assert row["share"] == pytest.approx(share)
    assert row["share_low"] < share < row["share_high"]
    assert row["said"] == ADDS


@pytest.mark.parametrize(("smear", "items", "words"), [(-0.05, 24, HIDES), (0.0, 24, OPEN), (0.1, 6, TOO_FEW)])
def test_the_words_follow_the_interval_of_the_share(tmp_path: Path, smear: float, items: int, words: str) -> None:
    assert answered(tmp_path, moved(items=items, smear=smear)).iloc[0]["said"] == words


def test_where_nothing_moves_there_is_no_share_and_the_items_are_not_called_too_few(tmp_path: Path) -> None:
    rows = [{**row, "score": 0.5} for row in moved(places=("TL",))]
    row = answered(tmp_path, rows).iloc[0]
    assert (row["n_items"], row["said"]) == (24, STILL)
    assert np.isnan(row["share"])


def test_the_true_plate_is_no_family_of_its_own(tmp_path: Path) -> None:
    write_run(tmp_path / "r", moved(), corpus={"name": "c"})
    with Store.open(tmp_path) as store:
        assert list(read_table(store).families()) == ["reposition"]


def test_without_the_true_plate_the_question_says_what_to_audit(tmp_path: Path) -> None:
    write_run(tmp_path / "r", [row for row in moved() if "-true" not in row["probe"]], corpus={"name": "c"})
    with Store.open(tmp_path) as store:
        table = read_table(store)
        question = next(each for each in catalogue(table) if each.id == "S25")
        assert ",".join(f"reposition-true-{anchor}" for anchor in ANCHORS) in question.needs(table)
        assert question.compute(table.view(), Options()).empty


def test_a_share_is_claimed_at_the_level_of_all_the_evaluators(tmp_path: Path) -> None:
    rows = moved()
    alone = answered(tmp_path / "alone", rows).iloc[0]
    several = [{**row, "evaluator": name} for name in ("e", "f", "g") for row in rows]
    found = answered(tmp_path / "several", several)
    assert (found["share_low"] < alone["share_low"]).all()
    assert (found["share_high"] > alone["share_high"]).all()


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
