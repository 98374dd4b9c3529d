"""How often people fail, beside the failure rates of evaluators: counted from the votes by hand."""

from pathlib import Path

import pytest
from statsmodels.stats.proportion import proportion_confint

from core.analysis.questions import Options, catalogue
from core.analysis.reading import read_table
from core.analysis.slices import Slice
from core.analysis.table import ScoreTable
from core.features.human.judged_comparisons import BESIDE, BESIDE_COLUMNS, asked_of_people, with_baseline
from core.features.human.studies import Study
from core.report.build import build
from core.store.store import Store
from tests.analysis.broken_runs import ITEMS, facts_of, rows_of, write_broken
from tests.features.human.small_study import comparisons, make, vote_versions

KINDS = {"kind": ["near", "far"]}
LOST = {"i001": "tie", "i003": "variant"}
"""Comparisons of ``swapped`` whose right side the majority does not prefer; people prefer all others."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    probes = ["identity", "vflip", "denied", "swapped:near"]
    return write_broken(tmp_path / "demo", rows_of(("e", "flat"), probes=probes), facts=facts_of(["denied"], KINDS))


def _study(parent: Path, name: str, count: int) -> Study:
    study = make(parent, name, items=comparisons(count))
    for person in study.invite(["", "", ""]):
        for item in study.definition.items:
            vote_versions(study, person, item.id, original=2, variant=0, preferred=LOST.get(item.item, "original"))
    return study


def _rates(table: ScoreTable, id_: str = "C-rates", chosen: Slice | None = None):
    asked = next(each for each in catalogue(table) if each.id == id_)
    return asked, asked.compute(table.view(chosen), Options())


def test_people_fail_where_two_thirds_do_not_prefer_the_right_side(folder: Path, tmp_path: Path) -> None:
    study = _study(tmp_path, "sides", 24)
    with Store.open(folder) as store:
        table = read_table(store)
        asked, rates = _rates(table)
        found = with_baseline(rates, table.view(), [study]).set_index(["evaluator", "label"])
    for evaluator in ("e", "flat"):
        assert found.loc[(evaluator, "denied"), ["people", "n_people"]].tolist() == [0, 12]
        row = found.loc[(evaluator, "swapped")]
        assert (row["people"], row["n_people"]) == (pytest.approx(100 * 2 / 12), 12)
        low, high = proportion_confint(2, 12, method="wilson")  # each of the twelve is of its own source
        assert 0 < row["people_low"] < 100 * low < 100 * high < row["people_high"] < 100  # people are a sample too
        assert found.loc[[(evaluator, "denied: near"), (evaluator, "denied: far")], "people"].isna().all()
    shown = [each.name for each in asked_of_people(asked, found).columns]
    assert shown.index("people") == shown.index("ties") + 1
    # the rest is as it was
    same = found.reset_index()[list(rates.columns)]
    assert same.equals(rates)


def test_the_study_that_judged_most_counts_and_a_slice_holds(folder: Path, tmp_path: Path) -> None:
    few, many = _study(tmp_path, "few", 4), _study(tmp_path, "many", 12)
    with Store.open(folder) as store:
        table = read_table(store)
        _, rates = _rates(table)
        found = with_baseline(rates, table.view(), [few, many]).set_index(["evaluator", "label"])
        assert found.loc[("e", "swapped"), "n_people"] == 6
        small = table.view(Slice(coverage_bins=("none",)))
        assert with_baseline(rates, small, [few, many]).columns.tolist() == rates.columns.tolist()


def test_without_a_study_of_the_run_nothing_is_added(folder: Path, tmp_path: Path) -> None:
    other = make(tmp_path, "elsewhere", run="another", items=comparisons(4))
    with Store.open(folder) as store:
        table = read_table(store)
        asked, rates = _rates(table)
        for studies in ([], [other]):
            found = with_baseline(rates, table.view(), studies)
            assert found is rates
            assert asked_of_people(asked, found) is asked


def test_the_report_has_the_column_beside_both_tables_of_rates(folder: Path, tmp_path: Path) -> None:
    study = _study(tmp_path, "sides", 12)
    with Store.open(folder) as store:
        report = build(store, studies=[study], figures=False)
        bare = build(store, figures=False)
    for id_ in BESIDE:
        table = next(each for each in report.tables if each.id == id_)
        assert [each for each in table.columns if each in BESIDE_COLUMNS] == list(BESIDE_COLUMNS)
        assert table.frame.loc[table.frame["family"] == "swapped", "people"].dropna().nunique() == 1
        assert not set(BESIDE_COLUMNS) & set(next(each for each in bare.tables if each.id == id_).columns)
    assert len(table.frame) <= 2 * ITEMS
