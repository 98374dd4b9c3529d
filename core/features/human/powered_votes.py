"""What people would say of every pair that a study could have drawn, from votes on a few and the scores of all.

The votes of a study are on a sample. An evaluator has scored every pair, and its scores are turned into predictions:
the share of the pairs that score lower. Votes and predictions are joined by strata
(:mod:`core.features.human.prediction_powered`); whatever the evaluator is worth, the estimate aims at the rate of
people, and a worthless one leaves the votes alone. The unit is an item in a stratum, an item's edits in it counting
alike. The items are a finite number, and how far people differ counts beside how far these do
(:mod:`core.features.human.crossed_votes`).
"""

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from core.analysis.comparisons import percent
from core.analysis.table import ScoreTable
from core.errors import InvalidInput
from core.features.human.crossed_votes import parts_of, too_few_people
from core.features.human.definition import ORIGINAL, VARIANT
from core.features.human.kinds import ACCEPTABILITY, PREFERENCE, TIE, Kind
from core.features.human.prediction_powered import FEWEST_LABELS, Powered, Stratum, powered_mean
from core.features.human.sampling import DIRECTIONAL, inclusion, rows_of, strata_named
from core.features.human.studies import Study
from core.features.human.votes import ACCEPTABLE, vote_table
from core.probes.base import Axis
from core.probes.registry import further_readings
from core.statistics.bootstrap import Interval

MORE_VOTES = 100
LEAST_GAIN = 0.02
"""Part of the interval's half-width that an evaluator takes off; below it, it buys nothing worth the name."""

COLUMNS = (
    "question", "evaluator", "n", "n_votes", "n_all", "n_missing", "votes", "votes_low", "votes_high", "joined",
    "joined_low", "joined_high", "tuning", "shorter", "more_items", "more_votes_half", "more_joined_half", "note",
)  # fmt: skip
FITS, RATED, UNCHANGED, RIGHT = (
    "the edited pair's caption fits",
    "mean rating of the edited pair",
    "both versions equally good",
    "the right side is preferred",
)


@dataclass(frozen=True, slots=True)
class _Question:
    """What is estimated: a number in [0, 1] of each vote, and the score that should go with it."""

    name: str
    directional: bool
    said: Callable[[pd.DataFrame], pd.Series]
    score: Callable[[ScoreTable, str], np.ndarray]


@dataclass(frozen=True, slots=True)
class _Frame:
    """The pairs that a study could have drawn from, and how likely each item was."""

    pairs: pd.DataFrame  # stratum (its number), place (of the item), probe_place, in the order of the strata
    chance: pd.DataFrame  # stratum and place -> probability of being drawn
    drawn: dict[int, int]  # stratum -> items that were drawn


def powered_rows(study: Study, table: ScoreTable) -> pd.DataFrame:
    """Rates of people over all pairs, from votes alone and joined with each evaluator's scores of the study's run.
    Raises InvalidInput saying why nothing can be estimated: the table is not of the captions that were asked about, the
    run has other pairs than those drawn from, or a stratum has too few items with votes.

    Returns:
        COLUMNS, a row a question and evaluator: n items with n_votes votes, of n_all items in the strata of the study;
        n_missing of their pairs without a score, which are predicted to be in the middle; votes (the rate from votes
        alone) and joined (with the scores) in percent, with 95 % intervals for people like these annotators and the
        n_all items, none below FEWEST_PEOPLE annotators; tuning (λ in [0, 1]); shorter (how much
        of the interval's half-width the scores take off, in percent); more_items (items that MORE_VOTES votes more
        would label) and the half-widths to be expected with them, in percentage points; note.
    """
    votes = vote_table(study)
    votes = votes[~votes["attention"]]
    frame = _frame(study, table)
    rows = [
        _row(question, evaluator, frame, *found, table, live=study.live)
        for question in _questions(study.definition.asked)
        if (found := _labels(question, votes, frame, table, study)) is not None
        for evaluator in table.evaluators
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def what_more_votes_buy(row: Mapping[Hashable, Any]) -> str:
    """Say in a sentence what MORE_VOTES votes more would do to the interval of a row of :func:`powered_rows`."""
    now = (float(row["votes_high"]) - float(row["votes_low"])) / 2
    joined = (float(row["joined_high"]) - float(row["joined_low"])) / 2
    if math.isnan(now):
        return f"What more votes would buy is unclear: {row['note']}."
    if not row["more_items"]:
        return "Every item of these strata has votes already: more votes make each item surer, and label no new one."
    alone, both = float(row["more_votes_half"]), float(row["more_joined_half"])
    each = float(row["n_votes"]) / float(row["n"])
    return (
        f"{MORE_VOTES} more votes, at {each:.1f} an item as now, would label {row['more_items']} more items: the "
        f"interval should become ±{alone:.1f} points instead of ±{now:.1f} from votes alone, and ±{both:.1f} instead "
        f"of ±{joined:.1f} joined with {row['evaluator']}."
    )


def _questions(kind: Kind) -> tuple[_Question, ...]:
    lowest, span = kind.lowest, len(kind.scale) - 1
    if kind is ACCEPTABILITY:
        found = [
            _Question(FITS, False, lambda rows: (rows[VARIANT] >= ACCEPTABLE).where(rows[VARIANT].notna()), _after)
        ]
    else:
        found = [_Question(RATED, False, lambda rows: (rows[VARIANT] - lowest) / span, _after)]
    if any(question.name == PREFERENCE for question in kind.questions):
        found.append(_Question(UNCHANGED, False, lambda rows: (rows["preferred"] == TIE).astype(float), _steadiness))
        found.append(_Question(RIGHT, True, lambda rows: (rows["preferred"] == ORIGINAL).astype(float), _lead))
    return tuple(found)


def _after(table: ScoreTable, evaluator: str) -> np.ndarray:
    """Score of every edited pair, [P, N]."""
    return np.asarray(table.scores[table.place(evaluator)])


def _lead(table: ScoreTable, evaluator: str) -> np.ndarray:
    """How much higher the unedited pair scores, [P, N]."""
    place = table.place(evaluator)
    scores, before = table.scores[place], table.baselines[place]
    held = np.take_along_axis(scores, np.maximum(before, 0), axis=0)
    return np.asarray(np.where(before >= 0, held, np.nan) - scores)


def _steadiness(table: ScoreTable, evaluator: str) -> np.ndarray:
    """The less a score moves, the more alike both versions are, [P, N]."""
    return np.asarray(-np.abs(_lead(table, evaluator)))


def _frame(study: Study, table: ScoreTable) -> _Frame:
    """The pairs of every stratum as the study drew them, from its run's scores; InvalidInput if they are others."""
    definition = study.definition
    if not definition.strata:
        raise InvalidInput(
            f"study {study.id!r} does not say what it was drawn from, so its votes stand for no other pair"
        )
    plain = [item for item in definition.items if not item.attention]
    caption = (table.scope.subject, table.scope.language, table.scope.rank)
    if other := sum((item.subject, item.language, item.rank) != caption for item in plain):
        raise InvalidInput(
            f"{other} of {len(plain)} items were asked about with another caption than the scores are of "
            f"({caption[0]}, {caption[1]}); their rate cannot be carried over to all pairs"
        )
    pairs = _candidates(table)
    state = study.state()
    practised = {(state.by_id[name].stratum, state.by_id[name].item) for name in state.exercises}
    parts, held, drawn = list[pd.DataFrame](), list[np.ndarray](), dict[int, int]()
    strata = strata_named([name for name, *_ in definition.strata])
    for number, (stratum, (name, _, available, taken)) in enumerate(zip(strata, definition.strata, strict=True)):
        own = rows_of(pairs, stratum)
        if own["item"].nunique() != available:
            raise InvalidInput(
                f"stratum {name!r} of study {study.id!r} was drawn from {available} items and the scores hold "
                f"{own['item'].nunique()}: the run or its probes changed, so the votes are no sample of these pairs"
            )
        held.append(np.unique(own["place"].to_numpy(dtype=np.int64)))
        drawn[number] = taken
        # a plain list would be no mask where the stratum has no candidate
        asked = np.array([(name, item) not in practised for item in own["item"]], dtype=bool)
        parts.append(own[asked].assign(stratum=number))
    shares = enumerate(zip(held, inclusion(held, list(drawn.values())), strict=True))
    chances = [pd.DataFrame({"stratum": number, "place": at, "chance": share}) for number, (at, share) in shares]
    return _Frame(pd.concat(parts, ignore_index=True), pd.concat(chances, ignore_index=True), drawn)


def _candidates(table: ScoreTable) -> pd.DataFrame:
    """Pairs of a table that a study could ask about, as :func:`core.features.human.sampling.candidates` has them."""
    probes, items = table.probes, table.items
    further = set(further_readings())
    fit = [
        row.axis != Axis.NULL.value
        and (not row.control or row.family == "blur")
        and not (row.expectation == DIRECTIONAL and name in further)
        for name, row in zip(probes.index, probes.itertuples(), strict=True)
    ]
    there = (table.stored & (table.baselines >= 0)).any(axis=0) & np.asarray(fit)[:, None]
    probe, place = np.nonzero(there)
    return pd.DataFrame(
        {
            "probe": probes.index.to_numpy()[probe],
            "probe_place": probe,
            "place": place,
            "family": probes["family"].to_numpy()[probe],
            "expectation": probes["expectation"].to_numpy()[probe],
            "coverage_bin": items["coverage_bin"].to_numpy()[place],
            "item": items["item"].to_numpy()[place],
        }
    )


def _labels(
    question: _Question, votes: pd.DataFrame, frame: _Frame, table: ScoreTable, study: Study
) -> tuple[pd.DataFrame, pd.DataFrame] | None:
    """Mean answer of every voted item (stratum, place, at, probe_place, label, votes), and every vote on them: at
    (place of its item among these), annotator, said. None where it was not asked."""
    numbers = {name: number for number, (name, *_) in enumerate(study.definition.strata)}
    own = votes[votes["directional"] == question.directional]
    own = own.assign(said=question.said(own).astype(float)).dropna(subset=["said"])
    if own.empty:
        return None
    grouped = own.groupby(["stratum", "item", "probe"], sort=True)["said"]
    labels = pd.DataFrame({"label": grouped.mean(), "votes": grouped.size()}).reset_index()
    labels["stratum"] = labels["stratum"].map(numbers)
    places = pd.Series(np.arange(len(table.items)), index=table.items["item"])
    labels["place"] = labels["item"].map(places)
    labels["at"] = np.arange(len(labels))
    labels["probe_place"] = table.probes.index.get_indexer(pd.Index(labels["probe"], dtype=object))
    asked = {
        numbers[item.stratum]
        for item in study.definition.items
        if not item.attention and item.directional == question.directional
    }
    given = labels["stratum"].value_counts()
    for number in sorted(asked & set(frame.pairs["stratum"])):
        if (held := int(given.get(number, 0))) < FEWEST_LABELS:
            name = study.definition.strata[number][0]
            raise InvalidInput(
                f"stratum {name!r} has {held} item{'' if held == 1 else 's'} with votes; {FEWEST_LABELS} in every "
                "stratum are needed before anything is said of all pairs"
            )
    return labels, own.assign(at=grouped.ngroup())


def _row(
    question: _Question,
    evaluator: str,
    frame: _Frame,
    labels: pd.DataFrame,
    given: pd.DataFrame,
    table: ScoreTable,
    *,
    live: bool,
) -> dict[str, Any]:
    strata, places, missing = _strata(question, evaluator, frame, labels, table)
    n, n_votes = len(labels), int(labels["votes"].sum())
    rest = sum(len(each.others) for each in strata)
    people, influence = given["annotator"].to_numpy(dtype=str), _influence(strata, places, given)

    def joined_by(tuning: float | None, more: float = 1.0) -> tuple[Powered, Interval]:
        found = powered_mean(strata, tuning=tuning, more=more, finite=True)
        left = max(1 - n * more / (n + rest), 0.0)
        now = parts_of(found.error**2, influence, people, sources=found.freedom + 1.0, left=left)
        items = max(found.error**2 - left * now.rest / more, 0.0)
        parts = replace(now, items=items, rest=now.rest / more)
        interval = found.interval(parts=parts, live=live)
        said = interval.note or too_few_people(len(set(people)))
        return found, replace(interval, low=math.nan, high=math.nan, note=said) if said else interval

    (_, votes), (joined, both) = joined_by(0.0), joined_by(None)
    more = min(round(MORE_VOTES * n / n_votes), rest)
    grown = [joined_by(tuning, 1 + more / n)[1] for tuning in (0.0, None)]
    shorter = 1 - _half(both) / _half(votes) if _half(votes) > 0 else math.nan
    note = "every item has votes, so there is nothing to predict"
    if rest:
        no_gain = "the scores buy nothing: they take next to nothing off the interval"
        note = "" if shorter >= LEAST_GAIN else no_gain
    return {
        "question": question.name,
        "evaluator": evaluator,
        "n": n,
        "n_votes": n_votes,
        "n_all": n + rest,
        "n_missing": missing,
        **percent("votes", votes),
        **percent("joined", both),
        "tuning": joined.tuning,
        "shorter": 100 * shorter,
        "more_items": more,
        "more_votes_half": 100 * _half(grown[0]),
        "more_joined_half": 100 * _half(grown[1]),
        "note": votes.note or note,
    }


def _influence(strata: Sequence[Stratum], places: Sequence[np.ndarray], given: pd.DataFrame) -> np.ndarray:
    """What the rate moves by where a vote gives way to the others on its item; a lone one, to those of its stratum."""
    weights, middle = np.zeros(given["at"].max() + 1), np.zeros(given["at"].max() + 1)
    for stratum, at in zip(strata, places, strict=True):
        own = np.ones(len(at)) if stratum.weights is None else stratum.weights
        weights[at], middle[at] = stratum.share * own / own.sum(), np.average(stratum.labels, weights=own)
    at, said = given["at"].to_numpy(), given["said"].to_numpy(dtype=np.float64)
    sizes = np.bincount(at)
    means = np.bincount(at, said) / np.maximum(sizes, 1)
    several = sizes[at] > 1
    apart = np.where(several, (said - means[at]) / np.maximum(sizes[at] - 1, 1), said - middle[at])
    return np.asarray(weights[at] * apart)


def _strata(
    question: _Question, evaluator: str, frame: _Frame, labels: pd.DataFrame, table: ScoreTable
) -> tuple[list[Stratum], list[np.ndarray], int]:
    """Strata with labels and predictions, places of these labels among all, and how many pairs have no score."""
    numbers = sorted(set(labels["stratum"]))
    pairs = frame.pairs[frame.pairs["stratum"].isin(numbers)]
    raw = question.score(table, evaluator)[pairs["probe_place"], pairs["place"]]
    # share of the pairs that score lower, in (0, 1); a pair without a score is predicted to be in the middle
    predicted, there = np.full(len(raw), 0.5), ~np.isnan(raw)
    predicted[there] = (rankdata(raw[there]) - 0.5) / max(there.sum(), 1)
    pairs = pairs.assign(predicted=predicted)
    sizes = pairs.groupby("stratum")["place"].nunique()
    found, places = list[Stratum](), list[np.ndarray]()
    for number in numbers:
        own, given = pairs[pairs["stratum"] == number], labels[labels["stratum"] == number]
        exact = given.merge(own[["place", "probe_place", "predicted"]], on=["place", "probe_place"], how="inner")
        chance = frame.chance[frame.chance["stratum"] == number].set_index("place")["chance"]
        labelled = chance * len(exact) / max(frame.drawn[number], 1)
        others = own[~own["place"].isin(exact["place"])].groupby("place")["predicted"].mean()
        places.append(exact["at"].to_numpy())
        found.append(
            Stratum(
                share=float(sizes[number] / sizes.sum()),
                labels=exact["label"].to_numpy(),
                predicted=exact["predicted"].to_numpy(),
                others=others.to_numpy(),
                weights=1 / labelled.loc[exact["place"]].to_numpy(),
                other_weights=1 / np.maximum(1 - labelled.loc[others.index].to_numpy(), _NEVER),
            )
        )
    return found, places, int(np.isnan(raw).sum())


_NEVER = 1e-3
"""Least probability of an item that was not labelled: its class may have been drawn in nearly every sample."""


def _half(found: Interval) -> float:
    return (found.high - found.low) / 2
