"""What is reported of one evaluator on one suite, measure by measure and group by group.

Each number stands beside the one that another processing of the same judgements would give: τ_b beside τ_c, ratings
as they are beside their mean, a tie as one half beside a tie as an error, pairs pooled beside the mean over groups.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from core.analysis.preferences import (
    RHO_RATERS,
    accuracy,
    by_rater,
    length,
    mean_of_groups,
    outcomes,
    rated_pairs,
    taus,
)
from core.corpora.suites import ACCURACY, TAU_B, TAU_B_RATERS, TAU_C, Suite
from core.probes.words.caption_words import LANGUAGES, words
from core.scoring.suites import SuiteScores
from core.statistics.bootstrap import Interval

STRICT = "accuracy_strict"
AVERAGED = {TAU_B: "tau_b_averaged", TAU_C: "tau_c_averaged"}
LENGTH, LENGTH_RATED = "length", "length_rated"

ALL, MEAN = "", "mean of groups"
"""Groups that are none: everything pooled, and the mean over the groups."""

COLUMNS = ("measure", "group", "value", "low", "high", "n", "ties", "note")


def suite_table(suite: Suite, scores: SuiteScores) -> pd.DataFrame:
    """What is reported of one evaluator on one suite.

    Args:
        suite: the suite.
        scores: in its order.

    Returns:
        :data:`COLUMNS`: measure (``tau_b``, ``tau_c``, each also ``_averaged`` over the ratings of a caption where one
        has several, ``tau_b_raters`` and ``rho_raters`` where the suite names its annotators, ``length`` and
        ``length_rated``, all × 100; ``accuracy`` and ``accuracy_strict`` in percent),
        group (:data:`ALL`, :data:`MEAN` or one of the suite), value, low, high, n, ties, note. Ratings in several
        languages are not pooled: their scores have no common order.
    """
    made = _of_suite(suite, scores) if suite.rated else _of_pairs(suite, scores)
    return pd.DataFrame(list(made), columns=list(COLUMNS))


def several_ratings(suite: Suite) -> int:
    """How many captions of a suite people rated more than once."""
    counts = pd.Series([(each.image, each.caption) for each in suite.rated], dtype=object).value_counts()
    return int((counts > 1).sum())


def _of_suite(suite: Suite, scores: SuiteScores) -> Iterator[dict[str, object]]:
    table = pd.DataFrame(
        {
            "image": [each.image for each in suite.rated], "caption": [each.caption for each in suite.rated],
            "rating": [each.rating for each in suite.rated], "group": [each.group for each in suite.rated],
            "language": [each.language for each in suite.rated], "rater": [each.rater for each in suite.rated],
        }
    )  # fmt: skip
    table["words"] = [
        len(words(each.caption, each.language if each.language in LANGUAGES else "en")) for each in suite.rated
    ]
    drawn, averaged = np.atleast_2d(scores.rated), several_ratings(suite) > 0
    by = "language" if len({each.language for each in suite.rated}) > 1 else "group"
    names = [str(each) for each in dict.fromkeys(table[by])]
    several = names if len(names) > 1 else []
    for group in several if by == "language" else [ALL, *several]:
        chosen = (table[by] == group).to_numpy() if group else np.ones(len(table), dtype=bool)
        yield from _of_ratings(table[chosen].reset_index(drop=True), drawn[:, chosen], group, averaged=averaged)


def _of_ratings(table: pd.DataFrame, drawn: np.ndarray, group: str, *, averaged: bool) -> Iterator[dict[str, object]]:
    ratings, images = table["rating"].to_numpy(), list(table["image"])
    found = taus(drawn, ratings, images)
    yield from (_record(name, group, found[name], 1.0, 0) for name in (TAU_B, TAU_C))
    if table["rater"].astype(bool).any():
        alone = by_rater(drawn, ratings, list(table["rater"]), images)
        yield from (_record(name, group, alone[name], 1.0, 0) for name in (TAU_B_RATERS, RHO_RATERS))
    if averaged:
        parts = [_averaged(table, each) for each in drawn]
        means = np.array([each["score"] for each in parts])
        found = taus(means, parts[0]["rating"].to_numpy(), list(parts[0]["image"]))
        yield from (_record(AVERAGED[name], group, found[name], 1.0, 0) for name in (TAU_B, TAU_C))
    pairs = [rated_pairs(table.assign(score=each)) for each in drawn]
    preferred, other = (np.array([each[name] for each in pairs]) for name in ("preferred", "other"))
    yield from _accuracies(group, preferred, other, list(pairs[0]["image"]))
    many, middle = table["words"].to_numpy(), drawn.mean(axis=0)
    yield _record(LENGTH, group, length(middle, many, images), 1.0, 0)
    yield _record(LENGTH_RATED, group, length(middle, many, images, ratings=ratings), 1.0, 0)


def _averaged(table: pd.DataFrame, scores: np.ndarray) -> pd.DataFrame:
    """One row a caption, its ratings averaged."""
    rows = table.assign(score=scores).groupby(["image", "caption"], sort=True, observed=True)
    return rows[["rating", "score"]].mean().reset_index()


def _of_pairs(suite: Suite, scores: SuiteScores) -> Iterator[dict[str, object]]:
    kept = np.array([not each.tied for each in suite.compared], dtype=bool)
    preferred, other = (np.atleast_2d(each)[:, kept] for each in (scores.preferred, scores.other))
    images = [each.image for each in suite.compared if not each.tied]
    groups = np.array([each.group for each in suite.compared if not each.tied], dtype=object).astype(str)
    yield from _accuracies(ALL, preferred, other, images)
    names = list(dict.fromkeys(groups.tolist()))
    if len(names) < 2:
        return
    whole = ~(np.isnan(preferred) | np.isnan(other)).any(axis=0)
    for measure, strict in ((ACCURACY, False), (STRICT, True)):
        right, known = outcomes(preferred, other, images, strict=strict)
        found = mean_of_groups(right, known, groups[whole])
        yield _record(measure, MEAN, found, 100.0, _ties(preferred, other))
    for group in names:
        chosen = groups == group
        part = [image for image, keep in zip(images, chosen, strict=True) if keep]
        yield from _accuracies(group, preferred[:, chosen], other[:, chosen], part)


def _accuracies(
    group: str, preferred: np.ndarray, other: np.ndarray, images: Sequence[str]
) -> Iterator[dict[str, object]]:
    for measure, strict in ((ACCURACY, False), (STRICT, True)):
        found = accuracy(preferred, other, images, strict=strict)
        yield _record(measure, group, found, 100.0, _ties(preferred, other))


def _ties(preferred: np.ndarray, other: np.ndarray) -> int:
    """Pairs whose two scores are equal, the mean over draws."""
    return round(float((preferred == other).sum(axis=1).mean()))


def _record(measure: str, group: str, found: Interval, scale: float, ties: int) -> dict[str, object]:
    return {
        "measure": measure, "group": group, "value": scale * found.estimate, "low": scale * found.low,
        "high": scale * found.high, "n": found.n, "ties": ties, "note": found.note,
    }  # fmt: skip
