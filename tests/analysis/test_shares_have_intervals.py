"""No share and no rate stands in a table without its interval, but for what is counted of the corpus itself."""

import re

import pytest

from core.analysis.questions import Question, catalogue
from core.analysis.reading import read_table
from core.corpora.schema import COVERAGE_BINS
from core.store.store import Store

SHARES = re.compile(r"(^Share\b|,? %|\brisk %)( \[95 % CI\])?$")
"""Headers of shares in percent; a change in percent of a score is none."""

COUNTED = {
    *(("S-balance", each) for each in COVERAGE_BINS),  # of the items that the run holds: no sample of anything
    ("S-ties", "share"),
    ("S-masks", "share"),  # likewise
    ("S-cut", "least"),
    ("T2", "retained"),  # what an edit, or a filter, left of what there was
    ("S34", "chance"),
    ("S35", "chance"),  # what the share beside it is held against
    ("S-turned", "told"),  # what was told beforehand, beside what turned, which has one
    ("T16", "null_risk"),
    ("T13", "null_risk"),
    ("T13", "iqr_null_risk"),  # the floor has its own row, and the excess its interval
}
"""Shares without an interval, and why they have none."""

REACH = ("detectable", "null_detectable")
"""What the sample could have shown: no estimate."""


@pytest.fixture(scope="module")
def asked(store: Store) -> tuple[Question, ...]:
    """Every question, those to runs that break meanings too."""
    return catalogue(read_table(store))


def test_every_share_has_an_interval_or_a_reason(asked: tuple[Question, ...]) -> None:
    bare = {
        (question.id, column.name)
        for question in asked
        for column in question.columns
        if column.kind == "number"
        and not column.low
        and SHARES.search(column.header)
        and "Δ" not in column.header
        and column.name not in REACH
        and column.name != "still"  # of the others the share that falls has one
        and not column.name.startswith("of_")
    }
    assert bare <= COUNTED


def test_rank_correlations_have_one_too(asked: tuple[Question, ...]) -> None:
    agreement = next(each for each in asked if each.id == "S11")
    assert all(each.low for each in agreement.columns if each.name in ("spearman", "kendall_b", "kendall_c"))
