"""Health of systems, and what evaluators pick of several captions, worked out by hand."""

import numpy as np
import pandas as pd
import pytest

from core.features.systems.board_scores import COLUMNS
from core.features.systems.system_captions import MEASURES, best_of, health, wide


def row(item: int, system: str, caption: str, **more: object) -> dict[str, object]:
    base = {"item": str(item), "source": str(item), "system": system, "place": 0, "caption": caption}
    base |= {"evaluator": "one", "family": "", "probe": "", "score": 1.0, "tokens": 6.0, "cut": False}
    return base | {"clip_tokens": 7.0, "named": 2.0, "invented": 0.0} | more


def table(records: list[dict[str, object]]) -> pd.DataFrame:
    return pd.DataFrame(records, columns=list(COLUMNS))


def test_a_systems_health_is_that_of_its_captions_on_the_shared_pictures() -> None:
    records = [
        row(n, system, caption, cut=n < 3, clip_tokens=80.0 if n == 0 else 7.0, invented=float(n % 2))
        for n in range(12)
        for system, caption in (("A", "a dog on a"), ("B", "a dog runs"))
        if (system, n) != ("B", 11)
    ]
    found = health(table(records), ["A", "B"])
    a = found[found["system"] == "A"].set_index("measure")
    assert a["n_captions"].unique().tolist() == [11]
    assert a.loc[["rep-1", "rep-2", "words", "wrong-ending"], "value"].tolist() == [1.0, 0.0, 4.0, 100.0]
    assert a.loc["distinct-1", "value"] == pytest.approx(100 * 3 / 44)
    assert a.loc["over-77", "value"] == pytest.approx(100 / 11)
    assert a.loc["cut one", "value"] == pytest.approx(300 / 11)
    assert a.loc["chair-s", "value"] == pytest.approx(500 / 11)
    assert a.loc["chair-i", "value"] == pytest.approx(500 / 22)
    assert 50 < a.loc["wrong-ending", "low"] < 100
    assert wide(found).set_index("system").loc["B", "wrong-ending"] == 0
    assert set(found["measure"]) == {*MEASURES, "cut one"}


def test_a_measure_that_cannot_be_had_says_why() -> None:
    found = health(table([row(1, "A", "a dog", named=np.nan, invented=np.nan, cut=None, tokens=np.nan)]), ["A"])
    chair = found.set_index("measure").loc["chair-s"]
    assert np.isnan(chair["value"])
    assert "nobody counted the objects" in chair["note"]
    assert not [name for name in found["measure"] if name.startswith("cut")]


def test_the_highest_caption_is_picked_and_ties_are_shared() -> None:
    records = []
    for n in range(10):
        records += [row(n, "A", "a dog", score=0.5), row(n, "B", "a dog on a", score=0.9 if n < 4 else 0.5)]
        records.append(row(n, "C", "a dog", score=0.5))
    records.append(row(99, "A", "a cat", score=1.0))
    picks, shares = best_of(table(records), ["one"], ["A", "B", "C"])
    (found,) = picks.to_dict("records")
    assert found["picked_hollow"] == pytest.approx(100 * (4 + 6 / 2) / 10)
    assert found["offered_hollow"] == pytest.approx(50.0)
    assert found["excess"] == pytest.approx(20.0)
    assert (found["n_images"], found["n_captions"], found["tied"]) == (10, 20, 6)
    by = shares.set_index("system")
    assert by.loc["B", "picked"] == pytest.approx(70.0)
    assert by.loc["A", "picked"] == by.loc["C", "picked"] == pytest.approx(15.0)
    assert by["picked"].sum() == pytest.approx(100.0)
    assert by.loc["A", "offered"] == pytest.approx(25.0)


def test_one_caption_an_image_is_no_choice() -> None:
    picks, _ = best_of(table([row(n, "A", "a dog") for n in range(12)]), ["one"], ["A"])
    assert picks.loc[0, "n_images"] == 0
    assert np.isnan(picks.loc[0, "picked_hollow"])
