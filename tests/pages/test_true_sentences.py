"""Sentences of the pages that a run of few pictures, or of scores that do not differ, could make false."""

import pytest

from core.settings import results_dir
from tests.analysis.broken_runs import rows_of, write_broken
from tests.pages.opening import CALIBRATION, CONTRAST, FAILURES, FLIP_RISK, OVERVIEW, RESULTS, UNFOLDED, Open, said

PROBES = ("identity", "vflip", "null:shift1", "shuffled", "denied")


@pytest.fixture
def two_pictures(open_page: Open) -> None:
    write_broken(results_dir() / "two", rows_of(("e", "flat"), probes=PROBES, items=2))


def test_of_one_picture_no_number_and_no_sameness_of_pairs_is_shown(open_page: Open) -> None:
    write_broken(results_dir() / "one", rows_of(("e",), probes=PROBES, items=1))
    start = open_page(OVERVIEW, **UNFOLDED)
    assert "every unedited pair" not in said(start)
    cells = [str(value) for each in start.dataframe for value in each.value.to_numpy().ravel()]
    assert "not known" in cells
    assert not [each for each in cells if each.startswith("nan %")]


@pytest.mark.usefixtures("two_pictures")
def test_of_two_pictures_no_page_says_what_nothing_told(open_page: Open) -> None:
    opened = open_page(OVERVIEW, **UNFOLDED)
    start, glance = said(opened), opened.dataframe[0].value
    assert glance["Gap to trust under these edits"].tolist() == ["not known"]
    assert "Of no harmless edit is it known" in start
    assert "is shown to change a score" not in start
    assert "What it fails to see most" not in start
    assert "flat by none" not in said(open_page(RESULTS))
    notice = said(open_page(CONTRAST))
    assert "e: too few items" in notice
    assert "(n = 2, below 10)" not in notice  # behind the interval of the share that is missed
    assert "; the 1 whose wrong side" not in notice
    flips = said(open_page(FLIP_RISK))
    assert "n = 2 pictures a cell" in flips
    assert "about half of the kinds of edits" not in flips


def test_of_scores_that_do_not_differ_no_caption_is_ahead_by_a_share_of_their_spread(open_page: Open) -> None:
    rows = [
        {**row, "score": 0.5 if row["evaluator"] == "flat" else row["score"]}
        for row in rows_of(("e", "flat"), probes=PROBES, items=72)
    ]
    write_broken(results_dir() / "flat", rows)
    said_of = said(open_page(FLIP_RISK))
    assert "under e" in said_of
    assert "under flat" not in said_of


def test_of_invisible_edits_alone_no_difference_is_said_to_be_trustworthy(open_page: Open) -> None:
    write_broken(results_dir() / "null", rows_of(("e",), probes=("identity", "null:shift1")))
    assert "The smallest gap to trust" not in said(open_page(FLIP_RISK))


def test_of_one_source_nobody_is_told_to_audit_more_of_its_items(open_page: Open) -> None:
    write_broken(results_dir() / "one", rows_of(("e", "flat"), probes=PROBES), source="one")
    assert "audit items of more sources" in said(open_page(CALIBRATION))


def test_scores_that_are_all_the_same_are_a_reason_for_no_correlation(open_page: Open) -> None:
    write_broken(results_dir() / "flat", rows_of(("e", "flat"), probes=PROBES))
    assert "or scores that are all the same, no correlation is known" in said(open_page(CALIBRATION))


@pytest.mark.parametrize(("moved", "absent"), [(0.0, "most for certain"), (0.05, "the largest change")])
def test_equal_shifts_have_no_largest_and_no_changes_have_no_most(open_page: Open, moved: float, absent: str) -> None:
    rows = [
        {**row, "score": int(row["item"][1:]) / 24 + 0.4 - moved * (row["probe"] != "identity")}
        for row in rows_of(("e",), probes=PROBES)
    ]
    write_broken(results_dir() / "equal", rows)
    start = open_page(OVERVIEW, **UNFOLDED)
    assert not start.exception
    assert absent not in said(start)


def test_a_caption_that_no_run_tells_is_not_shown_as_one(open_page: Open) -> None:
    rows = [{**row, "caption": None} for row in rows_of(("e",), probes=PROBES)]
    write_broken(results_dir() / "untold", rows)
    assert "nan" not in said(open_page(OVERVIEW)).split()
    assert "“nan”" not in said(open_page(FAILURES))
