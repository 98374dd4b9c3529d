"""Selectivity before and after a calibration: from the raw rows, and where it is unclear."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.analysis.reading import read_table
from core.analysis.table import View
from core.features.calibration.fit import Fit, fit
from core.features.calibration.selective import change, lacking
from core.statistics.selectivity import item_selectivity
from core.store.store import Store
from tests.analysis.broken_runs import BROKEN, SHIFT, facts_of, rows_of, write_broken
from tests.analysis.made_runs import raw

HARMS = ("vflip", "rotate-5", "rotate+5")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = rows_of(("e", "truth"), items=60)
    for row in rows:  # a drift that a correction can take out
        row["score"] += 0.06 * (row["probe"] == "vflip" and row["evaluator"] == "e")
    told = facts_of(["denied"], {"falsity": ["verified", "presumed"]}, items=60)
    told += facts_of([name for name in BROKEN if name not in ("denied", "masked")], {"falsity": ["verified"]}, items=60)
    return write_broken(tmp_path_factory.mktemp("runs") / "r", rows, facts=told)


@pytest.fixture(scope="module")
def view(folder: Path) -> Iterator[View]:
    with Store.open(folder) as store:
        yield read_table(store).view()


@pytest.fixture(scope="module")
def found(view: View) -> Fit:
    return fit(view, evaluator="e", reading="shift")


def _wide(folder: Path, found: Fit) -> pd.DataFrame:
    rows = raw(folder)
    own = rows[rows["evaluator"] == "e"]
    wide = own.pivot_table(index="item", columns="probe", values="score", aggfunc="first")
    return wide.loc[[item for _, item in found.scores.items]]


def test_harms_shrink_by_the_correction_and_drops_stay(folder: Path, view: View, found: Fit) -> None:
    wide = _wide(folder, found)
    baseline = {name: told.get("baseline", "identity") for name, told in BROKEN.items()}
    drops = np.array([wide[baseline[name]] - wide[name] for name in BROKEN])
    place = wide.index.str.slice(1).astype(int)
    drops[list(BROKEN).index("denied"), place % 2 == 1] = np.nan  # presumed
    drops[list(BROKEN).index("masked")] = np.nan  # untold
    shifts = np.array([wide[name] - wide["identity"] for name in HARMS])
    medians = np.array(
        [
            found.terms.shifts[family][name]
            for name, family in (("vflip", "vertical-flip"), ("rotate-5", "rotation"), ("rotate+5", "rotation"))
        ]
    )
    for strength in (0.0, 0.5, 1.0):
        made = change(view, found, strength)
        before, after = (np.abs(shifts - share * medians[:, None]) for share in (0.0, strength))
        assert made.before.value.estimate == pytest.approx(np.mean(item_selectivity(drops, before)))
        assert made.after.value.estimate == pytest.approx(np.mean(item_selectivity(drops, after)))
        assert made.after.signal == made.before.signal
        assert set(made.families) == {"vertical-flip", "rotation"}
    assert change(view, found, 1.0).after.value.estimate > made.before.value.estimate + 0.01
    unit = view.table.spread("e", "c")
    nuisance = np.median(np.median(np.abs(shifts), axis=0)) / unit
    assert made.before.nuisance.estimate == pytest.approx(nuisance)


def test_the_reading_of_orbits_says_what_it_would_need(view: View) -> None:
    said = lacking(view, fit(view, evaluator="e", reading="orbit"))
    assert "needs the scores of its own edits" in said
    assert "orbit" in said


def test_a_run_without_broken_meanings_names_the_command(tmp_path: Path) -> None:
    rows = rows_of(("e", "truth"), items=40, probes=[name for name in SHIFT if name in ("identity", *HARMS)])
    with Store.open(write_broken(tmp_path / "r", rows)) as store:
        held = read_table(store).view()
        said = lacking(held, fit(held, evaluator="e"))
    assert said.startswith("No run has a directional probe")
    assert "--probes directional" in said
