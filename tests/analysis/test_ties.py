"""Every column of ties stands with an interval, and the interval is Wilson's."""

from pathlib import Path

import pytest
from statsmodels.stats.proportion import proportion_confint

from core.analysis.comparisons import capabilities, comparison_rows
from core.analysis.questions import catalogue
from core.analysis.reading import read_table
from core.store.store import Store
from tests.analysis.made_runs import scores_of, write_run


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
