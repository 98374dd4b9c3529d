"""What is reported of one evaluator on one suite, measure by measure and group by group.

Each number stands beside the one that another processing of the same judgements would give: τ_b beside τ_c, ratings
as they are beside their mean, a tie as one half beside a tie as an error, pairs pooled beside the mean over groups.
Every rated dimension is measured alone; raters who are named have a row each.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy import stats

from core.analysis.effects import ends
from core.analysis.preferences import (
    PEARSON,
    PEARSON_RATERS,
    RHO,
    RHO_RATERS,
    accuracy,
    by_rater,
    correlations,
    length,
    mean_of_groups,
    outcomes,
    rated_pairs,
)
from core.corpora.suites.model import ACCURACY, TAU_B, TAU_B_RATERS, TAU_C, Compared, Decision, Rated, Suite
from core.probes.words.caption_words import LANGUAGES, words
from core.scoring.suite_scores import SuiteScores
from core.statistics.battles import Battles, two_orders
from core.statistics.bootstrap import Interval
from core.statistics.shares import share

STRICT = "accuracy_strict"
AVERAGED = {TAU_B: "tau_b_averaged", TAU_C: "tau_c_averaged"}
LENGTH, LENGTH_RATED = "length", "length_rated"
ALL, MEAN = "", "mean of groups"  # groups that are none: everything pooled, and the mean over the groups
MOST_RATERS = 20  # most raters who have a row each; of more, the mean over them stands alone
COLUMNS = ("measure", "dimension", "group", "rater", "value", "low", "high", "n", "ties", "note")


def suite_table(suite: Suite, scores: SuiteScores) -> pd.DataFrame:
    """What is reported of one evaluator's scores, in the suite's order, on one suite.

    Returns:
        :data:`COLUMNS`: measure (``tau_b``, ``tau_c``, each also ``_averaged`` over the ratings of a caption where one
        has several, ``rho``, ``pearson``, ``tau_b_raters``, ``rho_raters`` and ``pearson_raters`` where the suite names
        its raters, ``length`` and ``length_rated``, all × 100; ``accuracy`` and ``accuracy_strict`` in percent),
        dimension (what was rated; empty where the suite does not name it), group (:data:`ALL`, :data:`MEAN` or one of
        the suite), rater (empty but in a rater's own rows), value, low, high, n, ties, note. Ratings in several
        languages are not pooled: their scores have no common order.
    """
    made = _of_suite(suite, scores) if suite.rated else _of_pairs(suite, scores)
    return pd.DataFrame(list(made), columns=list(COLUMNS))


def several_ratings(rated: Sequence[Rated]) -> int:
    """How many captions people rated more than once in one dimension."""
    counts = Counter((each.dimension, each.image, each.caption) for each in rated)
    return sum(count > 1 for count in counts.values())


def _of_suite(suite: Suite, scores: SuiteScores) -> Iterator[dict[str, object]]:
    names = ("image", "caption", "rating", "dimension", "group", "language", "rater")
    table = pd.DataFrame({name: [getattr(each, name) for each in suite.rated] for name in names})
    if suite.by_text:  # pictures of a text stand together, as captions of a picture do
        table = table.rename(columns={"image": "caption", "caption": "image"})
    table["words"] = [
        len(words(each.caption, each.language if each.language in LANGUAGES else "en")) for each in suite.rated
    ]
    drawn, averaged = np.atleast_2d(scores.rated), several_ratings(suite.rated) > 0
    for dimension in dict.fromkeys(table["dimension"]):
        chosen = (table["dimension"] == dimension).to_numpy()
        own = _of_dimension(table[chosen].reset_index(drop=True), drawn[:, chosen], averaged=averaged)
        yield from (each | {"dimension": dimension} for each in own)


def _of_dimension(table: pd.DataFrame, drawn: np.ndarray, *, averaged: bool) -> Iterator[dict[str, object]]:
    by = "language" if len(set(table["language"])) > 1 else "group"
    names = [str(each) for each in dict.fromkeys(table[by])]
    several = names if len(names) > 1 else []
    for group in several if by == "language" else [ALL, *several]:
        chosen = (table[by] == group).to_numpy() if group else np.ones(len(table), dtype=bool)
        own = table[chosen].reset_index(drop=True)
        yield from _of_ratings(own, drawn[:, chosen], group, averaged=averaged)
        raters = [str(each) for each in dict.fromkeys(own["rater"]) if each]
        for rater in raters if len(raters) <= MOST_RATERS and (by == "language" or not group) else ():
            at = (own["rater"] == rater).to_numpy()
            found = correlations(drawn[:, chosen][:, at], own["rating"].to_numpy()[at], list(own["image"][at]))
            for name in (TAU_B, TAU_C, RHO, PEARSON):
                yield _record(name, group, found[name], 1.0, 0) | {"rater": rater}


def _of_ratings(table: pd.DataFrame, drawn: np.ndarray, group: str, *, averaged: bool) -> Iterator[dict[str, object]]:
    ratings, images = table["rating"].to_numpy(), list(table["image"])
    found = correlations(drawn, ratings, images)
    yield from (_record(name, group, found[name], 1.0, 0) for name in (TAU_B, TAU_C, RHO, PEARSON))
    if table["rater"].astype(bool).any():
        alone = by_rater(drawn, ratings, list(table["rater"]), images)
        yield from (_record(name, group, alone[name], 1.0, 0) for name in (TAU_B_RATERS, RHO_RATERS, PEARSON_RATERS))
    if averaged:
        parts = [_averaged(table, each) for each in drawn]
        means = np.array([each["score"] for each in parts])
        found = correlations(means, parts[0]["rating"].to_numpy(), list(parts[0]["image"]))
        yield from (_record(AVERAGED[name], group, found[name], 1.0, 0) for name in (TAU_B, TAU_C))
    pairs = [rated_pairs(table.assign(score=each)) for each in drawn]
    preferred, other = (np.array([each[name] for each in pairs]) for name in ("preferred", "other"))
    yield from _accuracies(group, preferred, other, list(pairs[0]["image"]))
    many, middle = table["words"].to_numpy(), drawn.mean(axis=0)
    yield _record(LENGTH, group, length(middle, many, images), 1.0, 0)
    yield _record(LENGTH_RATED, group, length(middle, many, images, ratings=ratings), 1.0, 0)


def _averaged(table: pd.DataFrame, scores: np.ndarray) -> pd.DataFrame:
    rows = table.assign(score=scores).groupby(["image", "caption"], sort=True, observed=True)
    return rows[["rating", "score"]].mean().reset_index()


def _of_pairs(suite: Suite, scores: SuiteScores) -> Iterator[dict[str, object]]:
    kept = np.array([not each.tied for each in suite.compared], dtype=bool)
    preferred, other = (np.atleast_2d(each)[:, kept] for each in (scores.preferred, scores.other))
    images = [each.source for each in suite.compared if not each.tied]
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
    about = {"measure": measure, "dimension": "", "group": group, "rater": ""}
    return {**about, **ends(found, times=scale), "n": found.n, "ties": ties, "note": found.note}


# Every decision between a suite's file and its number, with the count that it concerns: why is mine different?
#
# The decisions of reading come with the suite (:mod:`core.corpora.suites`); those of measuring are named here, and each
# says which number stands for the other choice.
_TAUS = {TAU_B: "τ_b", TAU_C: "τ_c"}


def decisions_of(suite: Suite) -> tuple[Decision, ...]:
    """The decisions of reading a suite, then those of measuring it."""
    done = "entries without a usable rating, label or caption, and those that a decision leaves out, are in no number"
    usable = Decision("unusable", "unusable entries", done, suite.left_out, "entries")
    measured = _decisions_of_ratings(suite) if suite.rated else _decisions_of_pairs(suite)
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


def _decisions_of_ratings(suite: Suite) -> tuple[Decision, ...]:
    rows = "ratings of one caption stand as so many rows with the same score; their mean is the other choice"
    many, of = several_ratings(suite.rated), "captions with several ratings"
    several = Decision("raters", "several ratings", rows, many, of)
    half = (
        f"accuracy is over {'pictures of one text' if suite.by_text else 'captions of one image'} whose mean ratings "
        "differ; a tie of the two scores counts one half, and as an error in the strict accuracy"
    )
    ties = Decision("ties", "ties of scores", half, _rated_pairs(suite), "pairs")
    if suite.convention == TAU_B_RATERS:
        each_alone = (
            "the field reports the mean of τ_b, and of ρ, over annotators, each with all captions; one τ_b of all "
            "ratings is the other choice"
        )
        people = len({each.rater for each in suite.rated})
        mean = Decision("annotators", "annotators", each_alone, people, "annotators")
        done = "the ratings of a caption are not averaged first; τ_b of their mean is the other choice"
        return (mean, *_of_named_raters(suite), replace(several, done=done), ties)
    levels = Counter((each.dimension, each.rating) for each in suite.rated)
    other = _TAUS[TAU_B if suite.convention == TAU_C else TAU_C]
    taus = (
        f"{_TAUS[suite.convention]} is the number of {suite.name}; {other} stands beside it, and they differ in what "
        "ties of ratings cost"
    )
    tied = sum(count * (count - 1) // 2 for count in levels.values())
    tau = Decision("tau", "τ", taus, tied, "pairs of ratings that tie")
    names = [each for each in dict.fromkeys(each.dimension for each in suite.rated) if each]
    done = f"each is measured alone: {', '.join(names)}" if len(names) > 1 else f"the ratings are of {''.join(names)}"
    parts = (Decision("dimensions", "what was rated", done, len(names), "dimensions"),) if names else ()
    return (*parts, tau, *_of_named_raters(suite), several, ties)


def _of_named_raters(suite: Suite) -> tuple[Decision, ...]:
    """What becomes of raters where they are named, and of those who give one value."""
    given: dict[tuple[str, str, str], set[float]] = {}
    for each in suite.rated:
        if each.rater:
            given.setdefault((each.dimension, each.language, each.rater), set()).add(each.rating)
    many = len({rater for *_, rater in given})
    if not many:
        return ()
    alike = [
        f"{rater} ({dimension})" if dimension else rater
        for (dimension, _, rater), ratings in given.items()
        if len(ratings) == 1
    ]
    alone = "have a row each" if many <= MOST_RATERS else f"are more than {MOST_RATERS}: none has a row of its own"
    said = (
        "a rater who gives one value has no correlation, and then raters have no mean; pooled numbers keep the ratings"
    )
    told = f"{said}: {', '.join(alike[:5])}{' …' if len(alike) > 5 else ''}" if alike else said
    return (
        Decision("rows", "raters", f"raters are kept apart: they {alone}", many, "raters"),
        Decision("one-value", "raters who give one value", told, len(alike), "raters"),
    )


def _decisions_of_pairs(suite: Suite) -> tuple[Decision, ...]:
    counted = [each for each in suite.compared if not each.tied]
    groups = {each.group for each in counted}
    half = "a tie of the two scores counts one half, and as an error in the strict accuracy"
    alike = "every pair counts the same; the mean over groups, each counting the same, is the other choice"
    ties = Decision("ties", "ties of scores", half, len(counted), "pairs")
    return (ties, Decision("groups", "groups", alike, len(groups), "groups")) if len(groups) > 1 else (ties,)


def _rated_pairs(suite: Suite) -> int:
    """Pairs of captions of one image whose mean ratings differ."""
    ratings: dict[tuple[str, str], dict[str, list[float]]] = {}
    for each in suite.rated:
        of, what = (each.caption, each.image) if suite.by_text else (each.image, each.caption)
        ratings.setdefault((each.dimension, of), {}).setdefault(what, []).append(each.rating)
    total = 0
    for captions in ratings.values():
        levels = Counter(sum(values) / len(values) for values in captions.values())
        many = sum(levels.values())
        total += (many * many - sum(count * count for count in levels.values())) // 2
    return total


# Captioners ranked by battles: by people's verdicts, and by which caption an evaluator scores higher.
#
# Win rates have Wilson intervals over images. Strengths are those of Bradley and Terry; where they are not finite, the
# win rates stand alone. Ranks and the agreement of both orders have intervals over images: in every sample both sides
# rank anew (:mod:`core.statistics.battles`).
NO_STRENGTH = "no finite strengths: some captioners won, or lost, every battle with the others"


@dataclass(frozen=True, slots=True)
class Ranks:
    """Captioners in both orders."""

    # a row a captioner, the best of people's first: system, n, people, people_low, people_high, metric, metric_low,
    # metric_high (win rates in percent), people_strength, metric_strength, people_rank, people_rank_low,
    # people_rank_high, metric_rank, metric_rank_low, metric_rank_high
    table: pd.DataFrame
    # ρ of both orders, over images; NaN with fewer than three captioners, or where one order is all ties
    spearman: Interval
    kendall: Interval  # τ_b of both orders, likewise
    battles: int  # that both sides decided
    note: str = ""  # why there are no strengths or no intervals; empty where there are


def ranked(suite: Suite, scores: SuiteScores) -> Ranks | None:
    """Rank the captioners of a suite of battles by scores in its order; None where it names none. A battle without both
    scores is left out of both orders."""
    preferred, other = (np.atleast_2d(each).mean(axis=0) for each in (scores.preferred, scores.other))
    known = [bool(each.systems) for each in suite.compared]
    kept = np.flatnonzero(~np.isnan(preferred + other) & np.array(known, dtype=bool))
    if not len(kept):
        return None
    battles = [suite.compared[place] for place in kept]
    people = np.array([0.5 if each.tied else 1.0 for each in battles])
    metric = (preferred > other)[kept] + 0.5 * (preferred == other)[kept]
    systems = sorted({name for each in battles for name in each.systems})
    sides = {"people": people, "metric": metric}
    place = {name: number for number, name in enumerate(systems)}
    pairs = np.array([[place[name] for name in each.systems] for each in battles])
    pictures = np.unique([each.image for each in battles], return_inverse=True)[1]
    found = two_orders(Battles(pairs, np.array(list(sides.values())), pictures, len(systems)))
    table = pd.DataFrame({"system": systems})
    for side, (name, first) in enumerate(sides.items()):
        rates = _rates(battles, first, systems)
        table["n"] = rates["n"]
        table[[name, f"{name}_low", f"{name}_high"]] = rates[["rate", "low", "high"]]
        table[f"{name}_strength"] = found.strengths[side]
        table[f"{name}_rank"] = stats.rankdata(-found.orders[side].round(9), method="min").astype(int)
        table[f"{name}_rank_low"], table[f"{name}_rank_high"] = found.low[side], found.high[side]
    table = table.sort_values(["people_rank", "system"], kind="stable").reset_index(drop=True)
    strong = not np.isnan(found.strengths).any()
    said = [] if strong else [NO_STRENGTH]
    if strong and found.without > 0:
        said.append(f"win rates rank in {100 * found.without:.1f} % of the samples, which have no finite strengths")
    said += [each.note for each in (found.spearman, found.kendall) if each.note]
    return Ranks(table, found.spearman, found.kendall, len(battles), "; ".join(dict.fromkeys(said)))


def _rates(battles: Sequence[Compared], first: np.ndarray, systems: Sequence[str]) -> pd.DataFrame:
    """Battles and win rate in percent with its interval of every system; ``first`` is what the first side won."""
    rows = pd.DataFrame(
        {
            "system": [name for each in battles for name in each.systems],
            "image": [each.image for each in battles for _ in each.systems],
            "won": np.stack([first, 1 - first], axis=1).ravel(),
        }
    )
    found = [share(part["won"], groups=part["image"]) for part in (rows[rows["system"] == name] for name in systems)]
    return pd.DataFrame([(each.n, *each.numbers(100)) for each in found], columns=["n", "rate", "low", "high"])
