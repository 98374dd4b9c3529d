"""Sets that must be right as a whole, worked out anew from the stored rows."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.proportion import proportion_confint

from core.analysis.questions import Options, catalogue
from core.analysis.reading import read_table
from core.statistics.shares import share
from core.store.store import Store
from tests.analysis.made_runs import raw, score, write_run

SETS = 15
PROBES = {"wrong-caption": "given", "wrong-picture": "given-picture"}


def rows(*, sets: int = SETS, seed: int = 3) -> list[dict[str, Any]]:
    """Two items a set, each with its own side and both wrong ones; one set with a tie, one with a gap."""
    rng, found = np.random.default_rng(seed), []
    for place in range(2 * sets):
        own = float(rng.uniform(0.4, 0.6))
        found.append(score(f"i{place:03d}", "identity", own, subject="human", evaluator="e"))
        for probe, family in PROBES.items():
            value: float | None = own - float(rng.normal(0.03, 0.05))
            if (place, probe) == (0, "wrong-caption"):
                value = own
            if (place, probe) == (2, "wrong-picture"):
                value = None
            found.append(
                score(
                    f"i{place:03d}",
                    probe,
                    value,
                    subject="human",
                    evaluator="e",
                    axis="semantic",
                    family=family,
                    baseline="identity",
                    expectation="directional",
                )
            )
    return found


def items(*, sets: int = SETS, alone: bool = False) -> list[dict[str, Any]]:
    return [
        {
            "corpus": "c",
            "item": f"i{place:03d}",
            "image": f"{place}.png",
            "width": 8,
            "height": 8,
            "item_group": None if alone else f"set {place // 2}",
            "pixels_sha256": f"{place:064d}",
        }
        for place in range(2 * sets)
    ]


def answered(folder: Path, id_: str) -> tuple[pd.DataFrame, str]:
    with Store.open(folder) as store:
        table = read_table(store)
        question = next(each for each in catalogue(table) if each.id == id_)
        lacking = question.needs(table)
        return (pd.DataFrame() if lacking else question.compute(table.view(), Options())), lacking


def test_a_set_is_right_where_every_side_of_it_is_strictly_higher(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "r", rows(), items=items())
    frame = answered(folder, "C-sets")[0].set_index("label")
    stored = raw(folder)
    wide = stored.pivot_table(index="item", columns="probe", values="score", aggfunc="first")
    sets = wide.index.str.slice(1).astype(int) // 2
    right = {probe: (wide["identity"] > wide[probe]).groupby(sets).all() for probe in PROBES}
    scored = {probe: wide[probe].notna().groupby(sets).all() for probe in PROBES}
    both = scored["wrong-caption"] & scored["wrong-picture"]
    wanted = {
        "given": right["wrong-caption"],
        "given-picture": right["wrong-picture"][scored["wrong-picture"]],
        "every comparison": (right["wrong-caption"] & right["wrong-picture"])[both],
    }
    assert list(frame.index) == list(wanted)
    for label, each in wanted.items():
        row = frame.loc[label]
        low, high = proportion_confint(int(each.sum()), len(each), method="wilson")
        assert (row["n_sets"], row["share"]) == (len(each), pytest.approx(100 * each.mean()))
        assert (row["low"], row["high"]) == (pytest.approx(100 * low), pytest.approx(100 * high))
        probes = [probe for probe, family in PROBES.items() if label in (family, "every comparison")]
        kept = sets.isin(each.index)
        alone = pd.concat([(wide["identity"] > wide[probe])[kept] for probe in probes])
        together = share(alone, groups=np.concatenate([sets[kept]] * len(probes)))
        assert (row["n"], row["each"]) == (len(alone), pytest.approx(100 * alone.mean()))
        assert (row["each_low"], row["each_high"]) == pytest.approx((100 * together.low, 100 * together.high))
    assert not right["wrong-caption"][0]  # the tie
    assert (frame.loc["given", "n_sets"], frame.loc["given-picture", "n_sets"]) == (SETS, SETS - 1)
    assert frame.loc["given-picture", "note"] == "no score for a comparison of 1 set"
    assert frame.loc["every comparison", "share"] <= frame.loc[["given", "given-picture"], "share"].min()


def test_pictures_with_one_comparison_each_are_no_sets(tmp_path: Path) -> None:
    _, lacking = answered(write_run(tmp_path / "r", rows(), items=items(alone=True)), "C-sets")
    assert lacking == "no two comparisons here share a picture or an example"


def test_a_run_without_given_pairs_says_how_to_make_one(tmp_path: Path) -> None:
    own = [row for row in rows() if row["probe"] == "identity"]
    _, lacking = answered(write_run(tmp_path / "r", own, items=items()), "C-sets")
    assert "no run has a directional probe" in lacking
