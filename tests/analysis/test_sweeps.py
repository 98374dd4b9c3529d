"""Drops along the strength of an edit, worked out anew from the stored rows."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.analysis.questions import Options, Question, catalogue
from core.analysis.reading import read_table
from core.analysis.table import ScoreTable
from core.store.store import Store
from tests.analysis.broken_runs import facts_of, write_broken
from tests.analysis.made_runs import raw, score

POINTS = {"hidden": "0.4", "hidden:p0.1": "0.1", "hidden:p0.8": "0.8", "hidden:printed": "0.4", "hidden:draw2": "0.4"}
ITEMS = 20


def rows() -> list[dict[str, object]]:
    rng, found = np.random.default_rng(5), []
    clean = rng.uniform(0.4, 0.9, ITEMS)
    for name in ("identity", *POINTS, "few", "few:p0.1"):
        told = (
            {}
            if name == "identity"
            else {
                "axis": "lexical",
                "family": name.partition(":")[0],
                "baseline": "identity",
                "expectation": "directional",
            }
        )
        drop = float(POINTS.get(name, 0)) * 0.2
        found += [
            score(f"i{place:03d}", name, float(clean[place] - rng.normal(drop, 0.02)), subject="human", **told)
            for place in range(ITEMS)
        ]
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    facts = [fact for name, share in POINTS.items() for fact in facts_of([name], {"share": [share]}, items=ITEMS)]
    facts += facts_of(["hidden:printed"], {"algorithm": ["printed"]}, items=ITEMS)
    facts += facts_of(["hidden:draw2"], {"draw": ["2"]}, items=ITEMS)
    facts += [
        fact
        for name, share in (("few", "0.4"), ("few:p0.1", "0.1"))
        for fact in facts_of([name], {"share": [share]}, items=ITEMS)
    ]
    return write_broken(tmp_path_factory.mktemp("runs") / "r", rows(), facts=facts)


def answer(folder: Path, id_: str) -> tuple[Question, ScoreTable]:
    with Store.open(folder) as store:
        table = read_table(store)
    return next(each for each in catalogue(table) if each.id == id_), table


def test_a_curve_has_a_point_a_strength_and_each_is_the_median_change_of_its_items(folder: Path) -> None:
    question, table = answer(folder, "C-sweep")
    assert question.needs(table) == ""
    frame = question.compute(table.view(), Options())
    wide = raw(folder).pivot_table(index="item", columns="probe", values="score", aggfunc="first")
    assert list(zip(frame["family"], frame["label"], strict=True)) == [
        ("hidden", 0.1),
        ("hidden", 0.4),
        ("hidden", 0.8),
    ]
    for row, name in zip(frame.to_dict("records"), ("hidden:p0.1", "hidden", "hidden:p0.8"), strict=True):
        change = 100 * (wide[name] - wide["identity"]) / wide["identity"]
        assert row["median_percent"] == pytest.approx(change.median())
        assert row["failure"] == pytest.approx(100 * (wide[name] >= wide["identity"]).mean())
    assert frame["median_percent"].is_monotonic_decreasing
    figure = question.figures[0].figure(frame)
    assert figure.frame["label"].tolist() == [0.1, 0.4, 0.8]
    assert pd.api.types.is_numeric_dtype(figure.frame["label"])


def test_fewer_strengths_make_no_curve(tmp_path: Path) -> None:
    some = [row for row in rows() if row["probe"] in ("identity", "few", "few:p0.1")]
    question, table = answer(write_broken(tmp_path / "r", some), "C-sweep")
    assert "no edit here was made at several strengths" in question.needs(table)
