"""Models, balanced means and rows beside the paper's tables of scores that hold little: a number or a note."""

import math
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.analysis.questions import Options, catalogue
from core.analysis.reading import read_table
from core.analysis.table import ScoreTable
from core.store.store import Store
from tests.analysis.made_runs import PROBES, score, write_run

Value = Callable[[str, int], float | None]
OWN = ("S14-size", "S14-category", "S14-gender", "S3-balanced", "T2", "T12", "T13", "S4", "S22")

WORDS = ("gender:plain", "gender:boy", "gender:girl")
MOVED: Mapping[str, Mapping[str, object]] = {
    f"reposition-{edge}{anchor}": {
        "axis": "spatial",
        "family": f"reposition{'-hard' if edge else ''}",
        "baseline": "identity",
    }
    for edge in ("", "hard-")
    for anchor in ("TL", "BR")
}


def noise(probe: str, item: int) -> float:
    """Between -1 and 1, another for every probe and item."""
    return math.sin(1000 * (sum(map(ord, probe)) + 1) + 77 * item)


SCORES: Mapping[str, Value] = {
    "usual": lambda probe, item: 0.5 + 0.1 * noise(probe, item),
    "constant": lambda probe, item: 0.3,
    "all zero": lambda probe, item: 0.0,
    "all null": lambda probe, item: None,
    "negative": lambda probe, item: -0.5 + 0.1 * noise(probe, item),
    "tiny": lambda probe, item: 1e-9 * (2 + noise(probe, item)),
    "huge": lambda probe, item: 1e12 * (2 + noise(probe, item)),
    "half null": lambda probe, item: 0.5 + 0.1 * noise(probe, item) if item % 2 else None,
    "by category alone": lambda probe, item: 0.2 + 0.1 * (item % 3),
    "one that differs": lambda probe, item: 0.5 + (probe == "vflip" and item == 0),
}


def rows(value: Value, count: int, corpus: str) -> list[dict[str, object]]:
    about = {**{name: PROBES[name] for name in ("identity", "vflip", "blur-1", "null:shift1", "base", *WORDS)}, **MOVED}
    bins = ("0-10", "50-70", "90-100")
    return [
        score(
            f"i{place:02d}",
            probe,
            value(probe, place),
            corpus=corpus,
            coverage=0.05 + 0.04 * (place % 20),
            coverage_bin=bins[place % 2],
            category=("animal", "person", "food")[place % 3],
            label=f"l{place % 4}",
            **{"seam_energy": 0.0, "seam_ratio": 1.0, "bg_delta": 0.0, "fill_ratio": 1.0},
            **told,
        )
        for probe, told in about.items()
        for place in range(count)
    ]


def opened(folder: Path, kind: str, count: int) -> Store:
    for corpus, many in (("c", count), ("d", max(1, count // 2))):
        write_run(folder / corpus, rows(SCORES[kind], many, corpus), corpus={"name": corpus})
    return Store.open(folder)


def finite_intervals(frame: pd.DataFrame, table: ScoreTable, id_: str) -> None:
    question = next(each for each in catalogue(table) if each.id == id_)
    for column in question.columns:
        if column.low:
            low, value, high = (frame[name].astype(float) for name in (column.low, column.name, column.high))
            there = low.notna() & high.notna()
            slack = 1e-9 * value.abs() + 1e-300
            assert (low <= value + slack)[there].all(), (id_, column.name)
            assert (value <= high + slack)[there].all(), (id_, column.name)
            assert not np.isinf(frame[[column.low, column.name, column.high]].astype(float)).any(axis=None), id_


@pytest.mark.parametrize("count", [2, 12])
@pytest.mark.parametrize("kind", SCORES)
def test_an_answer_is_made_of_what_is_there(kind: str, count: int, tmp_path: Path) -> None:
    with opened(tmp_path, kind, count) as store:
        table = read_table(store)
        for question in catalogue(table):
            if question.id in OWN and not question.needs(table):
                frame = question.compute(table.view(), Options())
                finite_intervals(frame, table, question.id)
                if kind == "all null":
                    assert (
                        not frame.filter(regex="^(value|beta|balanced|adjusted|median_percent)$").notna().any(axis=None)
                    )
