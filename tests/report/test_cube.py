"""The dense array of scores against the rows that it was made of."""

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.analysis.shift_tests import contrasts_with_tests
from core.audit.store import Store
from core.errors import InvalidInput
from core.report.cube import per_item, percent, read_cube
from core.report.shifts import contrasts
from core.settings import ROOT


def test_every_shift_of_the_store_is_in_the_array(demo: Store) -> None:
    cube = read_cube(demo, ["demo"])
    rows = demo.query("select evaluator, probe, item, delta, percent from shifts where not control")
    for probe, part in rows.groupby("probe"):
        for evaluator, known in part.groupby("evaluator"):
            after, before = cube.after(evaluator, [probe])[0], cube.before(evaluator, [probe])[0]
            found = pd.DataFrame({"delta": after - before, "percent": percent(after, before)}, cube.items["item"])
            expected = known.set_index("item")[["delta", "percent"]].reindex(found.index)
            pd.testing.assert_frame_equal(found, expected, check_names=False, check_exact=False, rtol=1e-12)


def test_a_cell_has_the_numbers_of_the_contrast_table(demo: Store) -> None:
    cube = read_cube(demo, ["demo"])
    names = ("vertical-flip", "rotation", "cultural", "economic")
    found = contrasts(cube, {name: cube.chosen(family=name, control=False) for name in names})
    rows = demo.query("select * from shifts where not control and list_contains($names, family)", {"names": names})
    known = contrasts_with_tests(rows, by=("evaluator", "corpus", "family"))
    both = found.merge(known, left_on=["evaluator", "corpus", "group"], right_on=["evaluator", "corpus", "family"],
                       suffixes=("", "_known"))  # fmt: skip
    assert len(both) == len(found) == len(known)
    for column in ("median_percent", "low", "high", "median_abs_percent", "abs_low", "abs_high", "median_delta",
                   "standardised", "cliffs_delta", "p", "p_holm"):  # fmt: skip
        np.testing.assert_allclose(both[column], both[f"{column}_known"], rtol=1e-9, atol=1e-12, err_msg=column)
    for column in ("n_items", "test", "verdict"):
        assert (both[column] == both[f"{column}_known"]).all(), column


def test_the_median_of_an_item_leaves_missing_scores_out() -> None:
    values = np.array([[1.0, np.nan, np.nan], [3.0, 5.0, np.nan]])
    np.testing.assert_array_equal(per_item(values), [2.0, 5.0, np.nan])


def test_a_baseline_of_zero_has_no_percent_change() -> None:
    assert np.isnan(percent(np.array([1.0]), np.array([0.0])))[0]


def test_the_digest_follows_the_scores_and_nothing_else(demo: Store, several: Store) -> None:
    assert read_cube(demo, ["demo"]).digest() == read_cube(demo, ["demo"]).digest()
    names = [run.id for run in several.runs()]
    assert read_cube(several, names).digest() == read_cube(several, names[::-1]).digest()
    assert read_cube(several, names).digest() != read_cube(several, names[:1]).digest()


def test_calibration_gets_what_it_takes_from_the_rows(demo: Store) -> None:
    from core.analysis.calibration_fit import calibration_rows
    from core.analysis.orbits import orbits
    from core.analysis.slices import Slice

    known = orbits(calibration_rows(demo, Slice()))["conse-lite0"]
    found = read_cube(demo, ["demo"]).orbits("conse-lite0")
    assert found.items == known.items
    assert list(found.families) == list(known.families)
    np.testing.assert_array_equal(found.clean, known.clean)
    for name, family in known.families.items():
        assert found.families[name].probes == family.probes
        np.testing.assert_array_equal(found.families[name].scores, family.scores)
        np.testing.assert_array_equal(found.families[name].shifts, family.shifts)


@pytest.mark.parametrize(("runs", "problem"), [(["other"], "no run 'other' is open"), ([], "hold no score")])
def test_runs_that_cannot_be_read_are_named(demo: Store, runs: list[str], problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        read_cube(demo, runs)


def test_one_pair_scored_by_two_runs_is_refused(tmp_path: Path) -> None:
    for name in ("one", "two"):
        shutil.copytree(ROOT / "data" / "results" / "demo", tmp_path / name)
        manifest = tmp_path / name / "manifest.json"
        manifest.write_text(manifest.read_text("utf-8").replace('"run": "demo"', f'"run": "{name}"', 1), "utf-8")
        for path in (tmp_path / name).rglob("*.parquet"):
            table = pq.read_table(path)
            field = table.schema.field("run")
            runs = pa.array([name] * len(table), type=field.type)
            table = table.set_column(table.column_names.index("run"), field, runs)
            pq.write_table(table, path, write_page_checksum=True)
    with Store.open([tmp_path]) as store, pytest.raises(InvalidInput, match="scored twice"):
        read_cube(store, ["one", "two"])
