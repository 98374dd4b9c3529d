"""Questions of scores that hold little: a number or a note, never an interval of no width, a bare p or a rank."""

import math
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.analysis.questions import Options, catalogue
from core.analysis.reading import read_table
from core.analysis.table import ScoreTable
from core.analysis.verdicts import TOO_FEW, TOO_FEW_SOURCES
from core.probes.families.distance import GRID
from core.store.schema import VARIANTS
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


SPATIAL = {"axis": "spatial", "baseline": "identity"}
SURFACE = {"axis": "surface", "baseline": "identity"}
ASKED: Mapping[str, Mapping[str, Mapping[str, object]]] = {
    "S22": {
        "reposition-TL": SPATIAL | {"family": "reposition"},
        "blur-1": SPATIAL | {"family": "blur", "control": True},
    },
    "S25": {f"reposition{way}-TL": SPATIAL | {"family": f"reposition{way}"} for way in ("", "-true")},
    "S-text": {"typographic:neutral": SURFACE | {"family": "typographic"}},
    "S36": {f"verbosity:{name}": SURFACE | {"family": "verbosity"} for name in ("here", "as-seen", "what-shows")},
    "S19-lean": {each.name: SPATIAL | {"family": "distance"} for each in GRID},
}
"""Question -> the probes that it needs."""


def answered(folder: Path, id_: str, *, items: int, sources: int) -> str:
    """What a question says in words of a run whose items share so many sources."""
    rng, rows = np.random.default_rng(2), []
    for place in range(items):
        name, clean = f"i{place:03d}", float(rng.uniform(0.4, 0.8))
        rows.append(score(name, "identity", clean))
        rows += [score(name, probe, clean * rng.normal(0.95, 0.02), **about) for probe, about in ASKED[id_].items()]
    shared = [
        {"corpus": "c", "item": f"i{place:03d}", "item_group": f"s{place // 2 % sources}"} for place in range(items)
    ]
    write_run(folder / "r", rows, items=shared, corpus={"name": "c"})
    if id_ == "S-text":
        told = [
            {
                "run": "r",
                "corpus": "c",
                "item": f"i{place:03d}",
                "probe": "typographic:neutral",
                "rank": 0,
                "subject": "template",
                "language": "en",
                "key": "text_already",
                "value": "some" if place % 2 else "none",
            }
            for place in range(items)
        ]
        (folder / "r" / "variants").mkdir()
        pq.write_table(pa.Table.from_pylist(told, schema=VARIANTS), folder / "r" / "variants" / "shard-00000.parquet")
    with Store.open(folder) as store:
        table = read_table(store)
        question = next(each for each in catalogue(table) if each.id == id_)
        assert not question.needs(table)
        (said,) = question.compute(table.view(), Options())["said"]
    return str(said)


@pytest.mark.parametrize("id_", ASKED)
def test_what_is_said_of_few_sources_of_few_items_and_of_enough(tmp_path: Path, id_: str) -> None:
    assert answered(tmp_path / "sources", id_, items=30, sources=6) == TOO_FEW_SOURCES
    assert answered(tmp_path / "items", id_, items=8, sources=8) == TOO_FEW
    assert answered(tmp_path / "enough", id_, items=40, sources=20) not in (TOO_FEW, TOO_FEW_SOURCES)
