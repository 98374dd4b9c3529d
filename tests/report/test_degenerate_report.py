"""A report on scores that hold little: in every cell a number that can be read, or words; nothing is left unsaid."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.analysis.flip_cells import REVERSED
from core.analysis.verdicts import ALL_ZERO, CONSTANT, NO_SCORE
from core.report.build import build
from core.report.document import Report, Table, cells
from core.report.fairness_card import card_report
from core.report.report_files import markdown
from core.store.store import Store
from tests.analysis.made_runs import PROBES, scores_of, write_run
from tests.analysis.test_degenerate_scores import SCORES, noise

KINDS = {**SCORES, "enormous": lambda probe, item: 1e200 * (2 + noise(probe, item))}
"""Name of an evaluator -> its scores."""

ITEMS = 24


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    probes = [name for name in PROBES if name not in ("jumble", "rotate-5", "rotate+5")]
    rows = [
        {**row, "coverage": 0.05 + int(row["item"][1:]) / 40}
        for name, value in KINDS.items()
        for row in scores_of(probes, ITEMS, value, evaluator=name)
    ]
    folder = tmp_path_factory.mktemp("degenerate")
    with Store.open(write_run(folder / "r", rows, corpus={"name": "c"})) as store:
        yield store


@pytest.fixture(scope="module")
def report(opened: Store) -> Report:
    return build(opened)


def of(report: Report, id_: str) -> Table:
    return next(each for each in (*report.tables, *report.details) if each.id == id_)


def test_no_cell_holds_nan_infinity_or_a_number_of_more_than_twelve_digits(report: Report) -> None:
    for table in (*report.tables, *report.details):
        for row in cells(table):
            for cell in row:
                assert not re.search(r"\b(nan|inf|None)\b", cell), (table.id, row)
                assert not re.search(r"\d{13}", cell), (table.id, row)
    assert not re.search(r"\d{17}", markdown(report).replace("sha:", ""))


def test_every_evaluator_is_named_in_the_table_of_families_and_on_the_card(report: Report, opened: Store) -> None:
    families = of(report, "S1").frame
    assert set(families["evaluator"]) == set(KINDS)
    card = card_report(opened)
    for name in KINDS:
        assert f"<b>{name}</b>" in card or f"{name} on c is not on the card: " in card
    said = {name: set(own["drift"]) for name, own in families.groupby("evaluator")}
    assert (said["constant"], said["all zero"], said["all null"]) == ({CONSTANT}, {ALL_ZERO}, {NO_SCORE})


def test_what_is_left_out_of_a_median_is_said_beside_it(report: Report) -> None:
    table = of(report, "S1")
    flips = table.frame[table.frame["label"] == "vertical-flip"].set_index("evaluator")
    remark = [each.name for each in table.columns].index("note")
    assert any("baseline 0 in 24 of 24 shifts" in row[remark] for row in cells(table))
    for name in ("all zero", "zero baselines"):
        assert flips.loc[name, "note"].startswith("baseline 0 in 24 of 24 shifts"), name
    assert flips.loc["tiny", "note"].startswith("baseline below 1e-06, the least with a % change, in 24 of 24 shifts")
    shown = [each.name for each in table.columns]
    row = next(row for row in cells(table) if {"zero baselines", "vertical-flip"} <= set(row))
    assert (row[shown.index("n_items")], row[shown.index("n_scored")]) == ("0", "24")  # the test has its own n
    assert flips.loc["half null", "note"].startswith("no score for 12 of 24 shifts")
    assert flips.loc["all null", "note"].startswith("no score for 24 of 24 shifts")
    assert flips.loc["negative", "note"].startswith("% change withheld: the baseline is negative in 24 of 24 items")
    assert flips.loc["one that differs", "still"] == pytest.approx(100 * 23 / 24)


def test_no_change_in_percent_of_a_negative_baseline_is_printed_anywhere(report: Report) -> None:
    for id_ in ("S1", "T3", "S4", "S12", "S15-coverage", "S16"):
        own = of(report, id_).frame
        own = own[own["evaluator"] == "negative"]
        assert len(own), id_
        assert own["median_percent"].isna().all(), id_
    assert of(report, "T15").frame.set_index("evaluator").loc["negative", ["before", "after"]].isna().all(axis=None)
    assert "negative" not in set(of(report, "S8").frame["evaluator"])  # its levels have no percent change


def test_huge_scores_have_the_tests_and_models_of_their_shape(report: Report) -> None:
    """What is 1e200 times as large moves by the same percents, p-values and standard deviations."""
    families, flips = of(report, "S1").frame, of(report, "T3").frame
    for frame in (families[families["label"] == "vertical-flip"], flips):
        huge, enormous = (frame[frame["evaluator"] == name].iloc[0] for name in ("huge", "enormous"))
        for column in ("median_percent", "low", "high", "p", "standardised", "cliffs_delta", "drift", "test"):
            expected = huge[column]
            assert enormous[column] == (pytest.approx(expected) if isinstance(expected, float) else expected), column
    huge, enormous = (flips[flips["evaluator"] == name].iloc[0] for name in ("huge", "enormous"))
    assert enormous["beta"] == pytest.approx(1e188 * huge["beta"], rel=1e-6)
    assert enormous["beta_note"] == huge["beta_note"]
    risks = of(report, "T13").frame.set_index(["evaluator", "family"])["iqr_risk"]
    assert risks["enormous", "vertical-flip"] == pytest.approx(risks["huge", "vertical-flip"])


def test_levels_that_are_not_apart_have_no_strongest_pair(report: Report) -> None:
    words = of(report, "S8").frame.set_index("evaluator")
    assert words.loc["constant", "strongest"] == ""
    assert all(
        "δ 0.00" not in each
        for table in report.tables
        if "strongest" in table.frame
        for each in table.frame["strongest"]
    )


def test_a_correlation_that_is_none_says_why(report: Report) -> None:
    agreement = of(report, "S11")
    assert "note" in [each.name for each in agreement.columns]
    missing = agreement.frame[agreement.frame["spearman"].isna()]
    assert len(missing)
    assert missing["note"].ne("").all()


def test_no_sentence_of_the_first_page_holds_nan(report: Report) -> None:
    assert report.opening is not None
    opening = report.opening
    said = " ".join(
        (*opening.audited, *opening.cautions, *(each for told in opening.evaluators.values() for each in told))
    )
    assert REVERSED in said
    assert not re.search(r"\bnan\b", said)


def test_a_run_whose_every_score_is_the_same_has_a_report(tmp_path: Path) -> None:
    rows = scores_of(["vflip", "null:shift1"], ITEMS, lambda probe, item: 0.5, evaluator="same")
    with Store.open(write_run(tmp_path / "r", rows, corpus={"name": "c"})) as store:
        made = build(store)
    told = {each.id: each.reason for each in made.missing}
    assert "S30" in {each.id for each in (*made.tables, *made.details)} | set(told)
    assert CONSTANT in markdown(made)
