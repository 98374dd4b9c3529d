"""On how many tests an evaluator is better than a coin: by the verdicts of the grid, in words true of little."""

import pandas as pd

from core.analysis.against_coin import against_coin, too_few
from core.analysis.verdicts import TOO_FEW, TOO_FEW_SOURCES
from core.statistics.comparisons import OPEN, RIGHT, WRONG

FEW = "No test here has enough independent pictures to say whether a metric is better than a coin."


def rates(*rows: tuple[str, str, str, float]) -> pd.DataFrame:
    found = pd.DataFrame(rows, columns=["evaluator", "label", "verdict", "failure"])
    return found.assign(family=found["label"].str.split(":").str[0], caption="human, en")


def test_equal_counts_share_a_clause_and_the_test_missed_most_is_named() -> None:
    one = [("a", "foil", RIGHT, 10.0), ("a", "negation", RIGHT, 20.0), ("a", "masking", WRONG, 80.0)]
    other = [(name.replace("a", "b"), *rest) for name, *rest in one]
    assert against_coin(rates(*one, *other, ("c", "foil", OPEN, 100.0), ("c", "masking", OPEN, 45.0))) == (
        "Better than a coin: a and b on 2 of 3 tests, c on none of 2 tests.",
        "“Words masked” is missed most: from 45 % (c) to 80 % (b) of comparisons.",
    )


def test_kinds_of_a_test_and_tests_of_too_few_do_not_count() -> None:
    few = [("a", "negation", TOO_FEW, 100.0), ("a", "masking", TOO_FEW_SOURCES, 100.0)]
    known = [("a", "foil", RIGHT, 0.0), ("a", "foil: near", OPEN, 60.0)]
    assert against_coin(rates(*known, *few)) == ("Better than a coin: a on 1 of 1 test.", "")
    assert against_coin(rates(*few)) == (FEW, "")
    assert against_coin(rates()) == (FEW, "")


def test_a_test_has_too_few_where_it_has_under_every_evaluator() -> None:
    told = rates(("a", "foil", TOO_FEW, 0.0), ("b", "foil", RIGHT, 0.0), ("a", "order", TOO_FEW, 0.0))
    assert list(too_few(told)["label"]) == ["order"]
    assert too_few(rates()).empty
