"""A corrected p-value is of a family of tests that is fixed before anybody filters: what is left keeps it."""

from collections.abc import Callable
from functools import cache

import numpy as np
import pandas as pd
import pytest

from core.analysis.questions import Options, Question, catalogue
from core.analysis.reading import read_table
from core.analysis.slices import Slice
from core.analysis.table import ScoreTable
from core.store.store import Store

SLICES = {
    "one family of flips": Slice(families=("vertical-flip",)),
    "one family of words": Slice(families=("gender",)),
    "an axis": Slice(axes=("spatial",)),
    "two words": Slice(modifiers=("male", "female")),
    "two probes": Slice(probes=("rotate+10", "reposition-TL")),
}
"""Choices of rows."""

OF_ITEMS = {
    "categories": (Slice(categories=("animal", "food")), ("S15-category", "S3-category", "S3-category-pairs")),
    "coverage": (Slice(coverage_bins=("10-20", "20-35")), ("S15-coverage", "S3-coverage", "S3-coverage-pairs")),
}
"""Choices of items that are rows of some questions."""

NAMES = ("evaluator", "corpus", "axis", "family", "label", "tests", "level", "shown", "a", "b", "form")


@pytest.fixture(scope="module")
def table(store: Store) -> ScoreTable:
    return read_table(store)


Unfiltered = Callable[[Question, str | None], pd.DataFrame]


@pytest.fixture(scope="module")
def unfiltered(table: ScoreTable) -> Unfiltered:
    """What a question answers of every row, worked out once for all choices."""

    @cache
    def of(name: str, family: str | None) -> pd.DataFrame:
        (question,) = (each for each in catalogue(table) if each.id == name)
        return question.compute(table.view(Slice()), Options(family=family))

    return lambda question, family: of(question.id, family)


def compare(table: ScoreTable, unfiltered: Unfiltered, chosen: Slice, *, only: tuple[str, ...] = ()) -> tuple[int, int]:
    """How many rows with a corrected test were found again under a slice, and how many were left out."""
    found = lost = 0
    for question in catalogue(table):
        if question.needs(table) or (only and question.id not in only):
            continue
        if not any(each.name == "p_holm" for each in question.columns):
            continue
        for family in question.families or (None,):
            every = unfiltered(question, family)
            own = question.compute(table.view(chosen), Options(family=family))
            keys = [name for name in NAMES if name in every]
            both = own.merge(every, on=keys, how="inner", suffixes=("", "_every"), validate="1:1")
            p, p_every = (both[name].to_numpy(dtype=float) for name in ("p", "p_every"))
            same = np.isclose(p, p_every, rtol=1e-12, atol=0, equal_nan=True)
            if "test" in both:
                same = same & (both["test"] == both["test_every"])
            of = [name for name in ("evaluator", "corpus", "tests") if name in both]
            # a narrower choice of probes makes other tests of the rows themselves
            both = both[both.assign(same=same).groupby(of)["same"].transform("all").astype(bool)]
            held, whole = (both[name].astype(float) for name in ("p_holm", "p_holm_every"))
            np.testing.assert_allclose(held, whole, rtol=1e-9, err_msg=question.id)
            assert list(both["m_tests"]) == list(both["m_tests_every"]), question.id
            found, lost = found + int(held.notna().sum()), lost + len(every) - len(own)
    return found, lost


@pytest.mark.parametrize("chosen", SLICES.values(), ids=SLICES)
def test_a_choice_of_rows_changes_no_corrected_p_value_of_what_it_leaves(
    table: ScoreTable, unfiltered: Unfiltered, chosen: Slice
) -> None:
    found, lost = compare(table, unfiltered, chosen)
    assert found >= 3
    assert lost > 10


@pytest.mark.parametrize(("chosen", "only"), OF_ITEMS.values(), ids=OF_ITEMS)
def test_levels_that_are_left_out_are_tests_all_the_same(
    table: ScoreTable, unfiltered: Unfiltered, chosen: Slice, only: tuple[str, ...]
) -> None:
    found, lost = compare(table, unfiltered, chosen, only=only)
    assert found >= 3
    assert lost > 3
