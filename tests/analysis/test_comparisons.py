"""Comparisons of directional probes from the table of scores: which count, and what of a slice changes them."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from itertools import count
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.analysis.comparisons import NO_FAILURE, RESPONSE, axes, capabilities, comparison_rows, families, pairs
from core.analysis.facts import fact, keys, untold, verified
from core.analysis.reading import read_table
from core.analysis.slices import Slice
from core.analysis.table import ScoreTable, View
from core.store.store import Store
from tests.analysis.broken_runs import ITEMS, compared, facts_of, rows_of, write_broken
from tests.analysis.made_runs import audited, raw

Open = Callable[..., ScoreTable]
TOLD = {"falsity": ["verified", "presumed"], "kind": ["a", "b", "c"]}


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Open]:
    """Open a run of the test; the first lies in ``r0``."""
    number = count()
    with ExitStack() as stack:

        def opened(rows: list[dict], **told: object) -> ScoreTable:
            folder = write_broken(tmp_path / f"r{next(number)}", rows, **told)
            return read_table(stack.enter_context(Store.open(folder)))

        yield opened


def answered(view: View, **options: bool) -> pd.DataFrame:
    return comparison_rows(view, capabilities(view), **options)


def test_families_come_from_what_the_probes_say_and_from_nothing_else(made: Open) -> None:
    table = made(rows_of())
    assert list(table.of_expectation("directional")) == ["size-mixed", "masked", "shuffled", "denied", "swapped"]
    assert axes(table) == ("object", "lexical", "semantic")
    assert table.of_expectation(RESPONSE) == {
        "mention": ("mention:1", "mention:2"),
        "nested": ("nested:place", "nested:share"),
        "size": ("size:large", "size:small"),
    }
    assert list(families(table.view(), axis="semantic")) == ["denied", "swapped"]
    assert families(table.view(Slice(families=("denied",)))) == {"denied": ("denied",)}
    assert set(table.families()) == {"vertical-flip", "rotation", "blur", "null"}


def test_a_control_is_no_claim(made: Open) -> None:
    rows = [{**row, "control": row["probe"] == "denied"} for row in rows_of(probes=["identity", "denied", "masked"])]
    assert list(made(rows).of_expectation("directional")) == ["masked"]


def test_both_sides_are_the_stored_ones(made: Open, tmp_path: Path) -> None:
    table = made(rows_of())
    found = pairs(table.view(), "e", ("denied",))
    rows = compared(raw(tmp_path / "r0"), ["denied"]).set_index("item").loc[table.items["item"]]
    np.testing.assert_array_equal(found.right[0], rows["right"])
    np.testing.assert_array_equal(found.wrong[0], rows["wrong"])
    assert found.asked.all()


def test_a_side_without_a_score_is_missing_and_counted(made: Open) -> None:
    rows = rows_of()
    for row in rows:
        if (row["probe"], row["item"]) in (("denied", "i000"), ("identity", "i001")):
            row["score"] = None
    row = answered(made(rows).view()).set_index("family").loc["denied"]
    assert (row["n"], row["n_missing"]) == (ITEMS - 2, 2)
    assert "no score for 2 of 24 comparisons" in row["note"]


def test_facts_are_read_beside_the_scores_and_choose_comparisons(made: Open) -> None:
    table = made(rows_of(), facts=facts_of(["denied"], TOLD))
    assert fact(table, "kind", ("denied",))[0, :4].tolist() == ["a", "b", "c", "a"]
    assert set(fact(table, "kind", ("masked",))[0]) == {""}
    assert verified(table, ("denied", "masked")).sum(axis=1).tolist() == [ITEMS // 2, 0]
    assert untold(table, ("denied", "masked")).sum(axis=1).tolist() == [0, ITEMS]
    assert keys(table, ("denied", "masked")) == {"falsity": ("presumed", "verified"), "kind": ("a", "b", "c")}
    found = answered(table.view(), known=True).set_index("family")["n"]
    assert found.to_dict() == {"denied": ITEMS // 2}


def test_facts_of_another_subject_language_or_invariant_probe_are_not_read(made: Open) -> None:
    told = facts_of(["denied", "vflip"], TOLD)
    others = [{**row, "subject": "template"} for row in told] + [{**row, "language": "de"} for row in told]
    table = made(rows_of(), facts=[*others, *facts_of(["vflip"], TOLD)])
    assert table.about["facts"].empty
    assert untold(table, ("denied",)).all()


@pytest.mark.parametrize("values", [["one"], [f"word {place}" for place in range(30)]])
def test_a_fact_that_is_always_or_never_the_same_tells_no_kinds_apart(made: Open, values: list[str]) -> None:
    rows = [row for row in rows_of(items=30) if row["probe"] in ("identity", "denied")]
    assert keys(made(rows, facts=facts_of(["denied"], {"word": values}, items=30)), ("denied",)) == {}


def test_a_slice_of_items_leaves_their_comparisons(made: Open) -> None:
    rows = [{**row, "category": "animal" if row["item"] < "i010" else "food"} for row in rows_of()]
    view = made(rows).view(Slice(categories=("animal",)))
    assert set(answered(view)["n_items"]) == {10}


def test_items_of_one_source_are_drawn_together(made: Open) -> None:
    apart, together = (answered(made(rows_of(), pairs=pairs_).view()) for pairs_ in (0, 12))
    assert apart["failure"].tolist() == together["failure"].tolist()
    assert (apart["failure_low"] != together["failure_low"]).all()


def test_margins_say_in_words_that_there_is_no_failure(made: Open) -> None:
    frame = answered(made(rows_of(("truth",))).view())
    assert set(frame["incorrect"]) == {NO_FAILURE}
    assert set(frame["correct"]) == {"1.000 (n 24)", "1.000 (n 48)"}
    assert set(frame["failure"]) == {0.0}
    assert set(frame["verdict"]) == {"prefers the right one"}


def test_an_evaluator_of_one_number_fails_always_and_the_row_says_why(made: Open) -> None:
    frame = answered(made(rows_of(("e", "flat"))).view())
    flat = frame[frame["evaluator"] == "flat"]
    assert set(flat["failure"]) == set(flat["ties"]) == {100.0}
    assert set(flat["auroc"]) == {0.5}
    assert set(flat["verdict"]) == {"cannot tell"}
    assert flat["note"].str.contains("constant").all()


@pytest.mark.parametrize(("tests", "named"), [("", "the test of"), ("semantic", "the corrected test of")])
def test_a_share_that_its_test_does_not_bear_out_says_so_in_and_out_of_a_family_of_tests(
    made: Open, tests: str, named: str
) -> None:
    rows = rows_of(probes=["identity", "denied"])
    clean = {row["item"]: row["score"] for row in rows if row["probe"] == "identity"}
    for place, row in enumerate(row for row in rows if row["probe"] == "denied"):
        row["score"] = clean[row["item"]] + (0.3 + place / 100 if place < 6 else -0.01 - place / 1000)
    view = made(rows).view()
    row = comparison_rows(view, [replace(each, tests=tests) for each in capabilities(view)]).iloc[0]
    assert (row["verdict"], row["p"] > 0.05) == ("prefers the right one", True)
    assert row["conflict"] == f"the share tells the sides apart, {named} the means does not"


def test_runs_without_a_directional_probe_have_no_row(made: Open) -> None:
    view = made(audited("vflip")).view()
    assert answered(view).empty
    assert families(view) == {}
