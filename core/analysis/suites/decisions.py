"""Every decision between a suite's file and its number, with the count that it concerns: why is mine different?

The decisions of reading come with the suite (:mod:`core.corpora.suites`); those of measuring are named here, and each
says which number stands for the other choice.
"""

from collections import Counter
from collections.abc import Mapping

from core.analysis.suites.measures import ALL, AVERAGED, MEAN, STRICT, several_ratings
from core.corpora.suites import ACCURACY, TAU_B, TAU_B_RATERS, TAU_C, Decision, Suite

_TAUS = {TAU_B: "τ_b", TAU_C: "τ_c"}


def decisions_of(suite: Suite) -> tuple[Decision, ...]:
    """The decisions of reading a suite, then those of measuring it."""
    usable = Decision("unusable", "unusable entries", "entries without a usable rating, label or caption, and those "
                      "that a decision leaves out, are in no number", suite.left_out, "entries")  # fmt: skip
    measured = _of_ratings(suite) if suite.rated else _of_pairs(suite)
    return (*suite.decisions, usable, *measured)


def otherwise(convention: str) -> Mapping[str, tuple[tuple[str, str], tuple[str, str]]]:
    """Decision -> measure and group of the number as reported, and of the one that the other choice gives."""
    if convention == TAU_B_RATERS:
        return {
            "annotators": ((TAU_B_RATERS, ALL), (TAU_B, ALL)),
            "raters": ((TAU_B_RATERS, ALL), (AVERAGED[TAU_B], ALL)),
            "ties": ((ACCURACY, ALL), (STRICT, ALL)),
        }
    tau = convention if convention != ACCURACY else TAU_C
    return {
        "tau": ((tau, ALL), (TAU_B if tau == TAU_C else TAU_C, ALL)),
        "raters": ((tau, ALL), (AVERAGED[tau], ALL)),
        "ties": ((ACCURACY, ALL), (STRICT, ALL)),
        "groups": ((ACCURACY, ALL), (ACCURACY, MEAN)),
    }


def _of_ratings(suite: Suite) -> tuple[Decision, ...]:
    levels = Counter(each.rating for each in suite.rated)
    tied = sum(count * (count - 1) // 2 for count in levels.values())
    ties = Decision("ties", "ties of scores", "accuracy is over captions of one image whose mean ratings differ; a tie "
                    "of the two scores counts one half, and as an error in the strict accuracy", _rated_pairs(suite),
                    "pairs")  # fmt: skip
    if suite.convention == TAU_B_RATERS:
        many = len({each.rater for each in suite.rated})
        return (
            Decision("annotators", "annotators", "the field reports the mean of τ_b, and of ρ, over annotators, each "
                     "with all captions; one τ_b of all ratings is the other choice", many, "annotators"),
            Decision("raters", "several ratings", "the ratings of a caption are not averaged first; τ_b of their mean "
                     "is the other choice", several_ratings(suite), "captions with several ratings"),
            ties,
        )  # fmt: skip
    other = _TAUS[TAU_B if suite.convention == TAU_C else TAU_C]
    return (
        Decision("tau", "τ", f"{_TAUS[suite.convention]} is the number of {suite.name}; {other} stands beside it, "
                 "and they differ in what ties of ratings cost", tied, "pairs of ratings that tie"),
        Decision("raters", "several ratings", "ratings of one caption stand as so many rows with the same score; "
                 "their mean is the other choice", several_ratings(suite), "captions with several ratings"),
        ties,
    )  # fmt: skip


def _of_pairs(suite: Suite) -> tuple[Decision, ...]:
    counted = [each for each in suite.compared if not each.tied]
    groups = {each.group for each in counted}
    found = [Decision("ties", "ties of scores", "a tie of the two scores counts one half, and as an error in the "
                      "strict accuracy", len(counted), "pairs")]  # fmt: skip
    if len(groups) > 1:
        found.append(Decision("groups", "groups", "every pair counts the same; the mean over groups, each counting "
                              "the same, is the other choice", len(groups), "groups"))  # fmt: skip
    return tuple(found)


def _rated_pairs(suite: Suite) -> int:
    """Pairs of captions of one image whose mean ratings differ."""
    ratings: dict[str, dict[str, list[float]]] = {}
    for each in suite.rated:
        ratings.setdefault(each.image, {}).setdefault(each.caption, []).append(each.rating)
    total = 0
    for captions in ratings.values():
        levels = Counter(sum(values) / len(values) for values in captions.values())
        many = sum(levels.values())
        total += (many * many - sum(count * count for count in levels.values())) // 2
    return total
