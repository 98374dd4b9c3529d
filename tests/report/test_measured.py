"""A report shows what was measured of a calibration, or says why it does not."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core import settings
from core.analysis.reading import read_table
from core.analysis.slices import Slice
from core.analysis.table import ScoreTable
from core.features.calibration.fit import fit
from core.features.calibration.measured import find, settled
from core.features.calibration.questions import MEASURED_TABLE
from core.features.feature import parts
from core.report.document import Report
from core.report.kept_results import measured_tables
from core.store.run_files import Run, read_run
from core.store.store import Store
from tests.analysis.made_runs import SHIPPED


@pytest.fixture
def ships(monkeypatch: pytest.MonkeyPatch) -> Run:
    """The shipped run, beside which its measurement lies."""
    monkeypatch.setattr(settings, "results_dir", lambda: SHIPPED.parent)
    return read_run(SHIPPED)


@pytest.fixture(scope="module")
def table(store: Store) -> ScoreTable:
    return read_table(store)


def test_every_family_stands_as_measured_beside_the_formula(table: ScoreTable, ships: Run) -> None:
    found = measured_tables(table, [ships])
    (made,), missing = found.tables, found.missing
    assert (made.id, missing) == (MEASURED_TABLE, [])
    rows = made.frame
    assert set(rows["evaluator"]) == {"conse-lite0"}
    for weights, own in rows.groupby("weights"):
        found = fit(
            table.view(Slice(families=tuple(own["name"]))),
            evaluator="conse-lite0",
            reading="orbit",
            weights=str(weights),
        )
        scored, _ = find(found, ships, subject="template", language="en")
        assert scored is not None
        usual = settled(found, scored)
        assert set(own["strength"]) == {usual.strength}
        theirs = scored.effect(usual.strength).query("measure == 'sensitivity'").set_index("name")
        mine = own.set_index("name")
        for column in ("before", "after", "ratio", "ratio_low", "ratio_high", "n"):
            np.testing.assert_allclose(mine[column].astype(float), theirs[column].astype(float)[mine.index])
        np.testing.assert_allclose(mine["after"] / mine["before"], mine["ratio"])
        assert not np.allclose(mine["constructed"], mine["ratio"], atol=0.02)  # a formula is no measurement
    assert (rows["spread"] < 100).all()


def test_a_run_without_a_measurement_or_with_a_stale_one_says_so(table: ScoreTable, ships: Run) -> None:
    told = json.loads(json.dumps(dict(ships.manifest)))
    anew = replace(ships, manifest=told | {"created": "2030-01-01T00:00:00Z"})
    found = measured_tables(table, [anew])
    tables, (missing,) = found.tables, found.missing
    assert tables == []
    assert missing.id == MEASURED_TABLE
    assert "was made anew since" in missing.reason


def test_without_a_measurement_the_report_names_how_to_make_one(
    table: ScoreTable, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(settings, "results_dir", lambda: tmp_path)
    monkeypatch.setattr(settings, "calibrations_dir", lambda: tmp_path)
    found = measured_tables(table, [read_run(SHIPPED)])
    tables, (missing,) = found.tables, found.missing
    assert tables == []
    assert "calibrate --measure" in missing.reason


def test_the_report_holds_the_table_and_the_page_names_it(demo_report: Report) -> None:
    frame = next(each.frame for each in demo_report.tables if each.id == MEASURED_TABLE)
    assert isinstance(frame, pd.DataFrame)
    assert len(frame)
    assert MEASURED_TABLE not in {each.id for each in demo_report.missing}
    assert MEASURED_TABLE in parts()["calibration", "measured"].held
