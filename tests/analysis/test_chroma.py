"""JPEG of one quality with half of the colour and with all of it, item by item."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import bootstrap

from core.analysis.questions import Options, Question, catalogue
from core.analysis.questions.surface import HIGHER_AT_HALF, LOWER_AT_HALF, OPEN
from core.analysis.reading import read_table
from core.analysis.table import ScoreTable
from core.analysis.verdicts import TOO_FEW
from core.store.store import Store
from tests.analysis.made_runs import raw, score, write_run

HALF, WHOLE = "compression:q75", "compression:q75-444"


def saved(*, items: int = 30, apart: float = 0.004) -> list[dict]:
    """Items that JPEG moves by much, each by its own, and colour by little, all alike."""
    rng, rows = np.random.default_rng(5), []
    about = {"axis": "surface", "family": "compression", "baseline": "identity"}
    for place in range(items):
        clean, moved = float(rng.uniform(0.4, 0.8)), float(rng.normal(0, 0.05))
        rows.append(score(f"i{place:02d}", "identity", clean))
        rows.append(score(f"i{place:02d}", WHOLE, clean * (1 + moved), **about))
        if place:  # the first has no copy with half of the colour
            rows.append(score(f"i{place:02d}", HALF, clean * (1 + moved + apart + rng.normal(0, 0.001)), **about))
    return rows


def question(table: ScoreTable, id_: str = "S-chroma") -> Question:
    return next(each for each in catalogue(table) if each.id == id_)


def answered(folder: Path, rows: list[dict], id_: str = "S-chroma") -> pd.Series:
    write_run(folder / "r", rows, corpus={"name": "c"})
    with Store.open(folder) as store:
        table = read_table(store)
        assert not question(table, id_).needs(table)
        return question(table, id_).compute(table.view(), Options()).iloc[0]


def test_the_difference_is_the_median_over_items_of_the_raw_rows(tmp_path: Path) -> None:
    row = answered(tmp_path, saved(), "S-chroma")
    wide = raw(tmp_path / "r").pivot_table(index="item", columns="probe", values="score").dropna()
    percent = {name: 100 * (wide[name] / wide["identity"] - 1) for name in (HALF, WHOLE)}
    apart = (percent[HALF] - percent[WHOLE]).to_numpy()
    assert row["n_items"] == len(wide) == 29
    assert row["value"] == pytest.approx(np.median(apart))
    assert row["half"] == pytest.approx(percent[HALF].median())
    assert row["whole"] == pytest.approx(percent[WHOLE].median())
    reference = bootstrap((apart,), np.median, method="BCa", rng=np.random.default_rng(0)).confidence_interval
    assert row["low"] == pytest.approx(reference.low, abs=0.01)
    assert row["high"] == pytest.approx(reference.high, abs=0.01)
    # held against the original alone, neither copy tells: the items' own shifts are far larger
    assert row["low"] > 0
    assert row["said"] == HIGHER_AT_HALF


@pytest.mark.parametrize(
    ("apart", "items", "said"), [(-0.004, 30, LOWER_AT_HALF), (0.0, 30, OPEN), (0.004, 6, TOO_FEW)]
)
def test_the_words_follow_the_interval(tmp_path: Path, apart: float, items: int, said: str) -> None:
    found = answered(tmp_path, saved(items=items, apart=apart))
    assert found["said"] == said
    assert ("on would have shown" in found["power"]) == (said == OPEN)


def test_without_both_copies_the_question_says_what_to_audit(tmp_path: Path) -> None:
    write_run(tmp_path / "r", [row for row in saved() if row["probe"] != WHOLE], corpus={"name": "c"})
    with Store.open(tmp_path) as store:
        table = read_table(store)
        assert f"--probes {WHOLE}" in question(table).needs(table)
        assert question(table).compute(table.view(), Options()).empty
