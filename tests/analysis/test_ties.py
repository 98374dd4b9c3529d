"""Every column of ties has an interval; a sentence that names one of several alike says how many there are."""

from pathlib import Path

import pytest
from statsmodels.stats.proportion import proportion_confint

from core.analysis.comparisons import capabilities, comparison_rows
from core.analysis.questions import Options, catalogue
from core.analysis.questions.selective import blind_spots
from core.analysis.reading import read_table
from core.analysis.verdicts import reached, smallest
from core.store.store import Store
from tests.analysis.made_runs import scores_of, write_run
from tests.analysis.test_degenerate_questions import rows


def test_every_column_of_ties_names_its_ends(store: Store) -> None:
    columns = [
        (question.id, each)
        for question in catalogue(read_table(store))
        for each in question.columns
        if each.name in ("ties", "near")
    ]
    assert len(columns) > 3
    assert [id_ for id_, each in columns if not (each.low and each.high)] == []


def test_ties_of_a_family_have_the_interval_of_statsmodels(tmp_path: Path) -> None:
    rows = scores_of(
        ["identity", "jumble"],
        40,
        lambda probe, item: 0.5 if probe == "identity" or item < 8 else 0.4,
        axis="lexical",
        family="jumble",
        expectation="directional",
    )
    with Store.open(write_run(tmp_path / "r", rows)) as store:
        view = read_table(store).view()
        row = comparison_rows(view, capabilities(view)).iloc[0]
    low, high = proportion_confint(8, 40, method="wilson")
    assert (row["ties"], row["ties_low"], row["ties_high"]) == pytest.approx((20, 100 * low, 100 * high))


def test_pairs_of_levels_that_lie_as_far_apart_are_counted(tmp_path: Path) -> None:
    """Three categories whose scores do not overlap: each pair has δ = 1."""
    made = rows(lambda probe, item: 0.2 + 0.1 * (item % 3) + item / 1e6, 30, "c")
    with Store.open(write_run(tmp_path / "r", made, corpus={"name": "c"})) as store:
        table = read_table(store)
        question = next(each for each in catalogue(table) if each.id == "S3-category")
        (row,) = question.compute(table.view(), Options()).to_dict("records")
    assert row["pairs"] == 3
    assert row["strongest"].endswith("δ 1.00 and 2 more as far apart")


def test_families_that_fail_as_often_are_counted_behind_those_that_are_named(tmp_path: Path) -> None:
    """Three ways to break a caption, none of which an evaluator of one number sees."""
    made = scores_of(["identity", "jumble"], 24, lambda probe, item: 0.5 + item / 100)
    made += [
        {**row, "probe": name, "family": name}
        for name in ("masked", "denied")
        for row in made
        if row["probe"] == "jumble"
    ]
    with Store.open(write_run(tmp_path / "r", made, corpus={"name": "c"})) as store:
        view = read_table(store).view()
    assert blind_spots(view, most=1)["e"].count("It fails 2 more as often") == 1
    assert "as often" not in blind_spots(view, most=3)["e"]


@pytest.mark.parametrize(("value", "said"), [(0.284, "0.28"), (0.0032, "0.003"), (12.0, "12.00")])
def test_a_smallest_effect_is_never_nothing(value: float, said: str) -> None:
    assert smallest(value) == said
    assert f"a drift from {said} % on" in reached("undecided", value, float("nan"))
