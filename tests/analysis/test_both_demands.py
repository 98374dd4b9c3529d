import math
from pathlib import Path

import pandas as pd
import pytest

from core.analysis.both_demands import (
    FALLS,
    FEW,
    NO_FALL,
    NOT_ASKED,
    OPEN,
    SAME,
    answers,
    changed_most,
    demands,
    verdict,
)
from core.analysis.reading import read_table
from core.store.store import Store
from tests.analysis.broken_runs import rows_of, write_broken


def told(*rows: tuple[str, str, float, float, float], said: str = "") -> list[tuple[str, str, str, str]]:
    frame = pd.DataFrame(rows, columns=["evaluator", "falls", "ratio", "ratio_low", "ratio_high"]).assign(said=said)
    return [(each.evaluator, each.told, each.ends, each.said) for each in answers(frame)]


DROPS = "as far when the meaning breaks as harmless edits change it"


def test_a_ratio_stands_beside_its_interval_and_no_metric_is_ranked_by_it() -> None:
    found = told(("b", FALLS, 7.13, 4.84, 12.4), ("a", FALLS, 2.88, 2.16, 4.18), ("c", FALLS, 0.42, 0.3, 0.61))
    assert found == [
        ("a", "Drops 2.9 ×", "2.2 to 4.2", DROPS),
        ("b", "Drops 7.1 ×", "4.8 to 12", DROPS),
        ("c", "Drops 0.42 ×", "0.3 to 0.61", DROPS),
    ]


def test_what_is_not_shown_to_drop_has_no_ratio_and_stands_behind() -> None:
    numbers = (0.5, -0.2, 1.1)
    found = told(
        *((name, falls, *numbers) for name, falls in zip("edcb", (NOT_ASKED, FEW, NO_FALL, OPEN), strict=True))
    )
    assert [(name, said, ends) for name, said, ends, _ in found] == [
        ("b", "Unclear", ""),
        ("c", "No typical drop", ""),
        ("d", "Too few", ""),
        ("e", "Not tested", ""),
    ]


FAR, NEAR, LOW = (7.0, 4.8, 9.2), (6.0, 4.9, 9.3), (3.0, 2.2, 4.2)
TELL, NONE = "tell a broken meaning from a harmless edit", (math.nan,) * 3


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], ""),
        ([("a", FALLS, *FAR)], "a tells a broken meaning from a harmless edit."),
        (
            [("a", FALLS, *NEAR), ("b", FALLS, *FAR), ("c", FALLS, *LOW), ("d", NO_FALL, *NONE)],
            f"a and b {TELL} best, with no clear difference between them; c less; "
            "d typically does not drop when the meaning breaks.",
        ),
        ([("a", FALLS, *FAR), ("b", FALLS, *FAR)], f"a and b {TELL}, with no clear difference between them."),
        (
            [("a", FALLS, 7.0, 4.0, math.inf), ("b", FALLS, *LOW)],
            f"a and b {TELL}, with no clear difference between them.",
        ),
        (
            [("a", FALLS, 9.0, 4.0, 20.0), ("b", FALLS, 8.0, 7.0, 9.0), ("c", FALLS, 5.0, 4.5, 5.5)],
            f"a, b and c {TELL}, none clearly less than a.",
        ),
        (
            [("a", FALLS, 9.0, 7.0, 12.0), ("b", FALLS, 6.0, 4.0, 8.0), ("c", FALLS, 4.5, 3.0, 6.0)],
            f"a and b {TELL} best, with no clear difference between them; c less than a.",
        ),
        ([("a", FALLS, *FAR), ("b", FALLS, *LOW)], "a tells a broken meaning from a harmless edit best; b less."),
        (
            [("a", FALLS, 1.2, 0.8, 1.9), ("b", FALLS, 0.4, 0.3, 0.6), ("c", FALLS, 0.4, 0.3, 0.6)],
            "a does not clearly drop further than harmless edits change it; "
            "b and c drop less than harmless edits change them.",
        ),
        ([("a", FEW, *NONE), ("b", FEW, *NONE)], "a and b have too few independent broken meanings to tell."),
        (
            [("a", FALLS, *NONE), ("b", NOT_ASKED, *NONE)],
            "a drops when the meaning breaks; b was not tested on broken meanings.",
        ),
        (
            [(name, OPEN, *NONE) for name in "abcde"],
            "a, b, c and 2 more are not shown to drop typically when the meaning breaks.",
        ),
    ],
)
def test_one_sentence_says_who_tells_a_broken_meaning_and_ranks_nobody_whose_intervals_overlap(
    rows: list[tuple[str, str, float, float, float]], said: str
) -> None:
    frame = pd.DataFrame(rows, columns=["evaluator", "falls", "ratio", "ratio_low", "ratio_high"]).assign(said="")
    assert verdict(frame) == said


@pytest.mark.parametrize("ratio", [(math.nan,) * 3, (math.inf,) * 3, (3.0, math.nan, math.nan)])
def test_a_drop_without_a_ratio_or_without_its_interval_is_told_in_words(ratio: tuple[float, float, float]) -> None:
    assert told(("a", FALLS, *ratio))[0][1:3] == ("Drops", "")


def test_a_ratio_to_what_cannot_be_told_from_no_change_is_none() -> None:
    assert told(("a", FALLS, 7.0, 4.0, math.inf), said="no change")[0][1:3] == ("Drops", "")


def test_a_ratio_whose_harmless_change_may_be_none_has_a_lower_end_alone() -> None:
    assert told(("a", FALLS, 7.0, 4.0, math.inf))[0][1:3] == ("Drops 7 ×", "4 or more")


def test_a_metric_of_one_score_was_asked_and_has_no_unit(tmp_path: Path) -> None:
    write_broken(tmp_path / "broken", rows_of(("e", "flat")))
    with Store.open([tmp_path / "broken"]) as store:
        found = demands(read_table(store).view()).set_index("evaluator")["falls"]
    assert found.to_dict() == {"e": FALLS, "flat": SAME}


def test_no_metric_makes_no_answer() -> None:
    assert told() == []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, ""),
        ({"a": math.nan}, ""),
        ({"a": 0.051}, "Typically 0.05 SD under harmless edits"),
        (
            {"a": 0.051, "b": 0.049},
            "Typically 0.05 SD under harmless edits",
        ),
        ({"a": 0.2, "b": 0.0, "c": 0.1}, "Least stable: a, typically 0.20 SD under harmless edits"),
        (
            {"a": 0.0, "b": 0.0, "c": 0.1},
            "Least stable: c, typically 0.10 SD under harmless edits",
        ),
        (
            {"a": 0.0, "b": 0.1, "c": 0.1, "d": 0.1, "e": math.nan},
            "Least stable: 3 metrics, typically 0.10 SD under harmless edits",
        ),
    ],
)
def test_who_is_changed_most_is_named(changes: dict[str, float], said: str) -> None:
    assert changed_most(pd.DataFrame({"evaluator": list(changes), "nuisance": pd.Series(changes.values())})) == said
