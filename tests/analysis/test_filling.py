"""How much of a shift is the filling's: against the raw rows, and in words."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.analysis.questions import Options, catalogue
from core.analysis.questions.artefacts import ADDS, ANCHORS, HIDES, OPEN, STILL
from core.analysis.reading import read_table
from core.analysis.verdicts import TOO_FEW
from core.store.store import Store
from tests.analysis.made_runs import raw, score, write_run


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
