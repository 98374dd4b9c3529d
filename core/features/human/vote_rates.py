"""How often people answer so, for people and items like these, and how many more of either would halve the interval."""

import math
from collections.abc import Iterator

import numpy as np
import pandas as pd

from core.analysis.effects import ends
from core.features.human.crossed_votes import FEWEST_PEOPLE, Rate, exchange, rate, what_halves
from core.features.human.definition import ORIGINAL, VARIANT
from core.features.human.kinds import ACCEPTABILITY, CORRECTNESS, TIE, Kind
from core.features.human.study_outcomes import FEWEST, in_numbers, sources_by_id
from core.features.human.votes import ACCEPTABLE, REASONS, upholds

COLUMNS = (
    "question",
    "n",
    "n_votes",
    "annotators",
    "rate",
    "low",
    "high",
    "of_items",
    "of_people",
    "of_rest",
    "more",
    "note",
)
"""Rate and its interval in percent; of_items, of_people and of_rest: parts of its variance, in percent of it."""


def vote_rates(votes: pd.DataFrame, kind: Kind, *, live: bool = False) -> pd.DataFrame:
    """Rates over votes, each item counting alike, with intervals for people and items like these; if ``live``, at every
    look.

    Attention items are left out, and items with one vote where there are annotators enough for an interval. Returns
    COLUMNS, a row for pairs, one for comparisons and one for each reason, as far as the study asks about them; more:
    how many more annotators or items would halve the interval, in a sentence.
    """
    plain = votes[~votes["attention"]]
    if plain["annotator"].nunique() >= FEWEST_PEOPLE:
        plain = plain[plain.groupby("id")["id"].transform("size") >= FEWEST]
    return pd.DataFrame([_row(*each, live=live) for each in _asked(plain, kind)], columns=list(COLUMNS))


def _asked(votes: pd.DataFrame, kind: Kind) -> Iterator[tuple[str, pd.DataFrame]]:
    """What is counted, and the votes with ``said`` in [0, 1]."""
    pairs, compared = votes[~votes["directional"]], votes[votes["directional"]]
    if kind.sides == 1:
        rated = votes[[ORIGINAL, VARIANT]].mean(axis=1).map(kind.share)
        found = [("found correct" if kind is CORRECTNESS else "mean rating", votes.assign(said=rated))]
        for name in kind.reasons:
            given = votes["reasons"].map(lambda told, name=name: name in told.split(REASONS))
            found.append((f"not correct: {name}", votes.assign(said=given.astype(float))))
    elif kind is ACCEPTABILITY:
        both = (pairs[ORIGINAL] >= ACCEPTABLE) & (pairs[VARIANT] >= ACCEPTABLE)
        found = [("votes that accept both versions", pairs.assign(said=both))]
    else:
        found = [("both versions equally good", pairs.assign(said=pairs["preferred"] == TIE))]
    if kind.sides == 2:
        found.append(("comparison upheld", compared.assign(said=upholds(compared, kind))))
    yield from ((name, rows) for name, rows in found if len(rows))


def _row(question: str, rows: pd.DataFrame, *, live: bool) -> dict[str, object]:
    _, units = np.unique(rows["id"].to_numpy(dtype=str), return_inverse=True)
    said = np.column_stack([rows["said"].to_numpy(dtype=np.float64), np.ones(len(rows))])
    found = exchange(said, units, rows["annotator"].to_numpy(dtype=str), lambda sums: sums[:, :1] / sums[:, 1:])
    told = rate(found, 0, groups=in_numbers(sources_by_id(rows)), live=live)
    interval = told.interval()
    return {
        "question": question,
        "n": told.n,
        "n_votes": len(rows),
        "annotators": told.annotators,
        **ends(interval, ("rate", "low", "high"), times=100),
        **_parts(told),
        "more": what_halves(told),
        "note": told.note,
    }


def _parts(told: Rate) -> dict[str, float]:
    each = told.parts
    whole = each.error()[0] if each else 0.0
    names = {"of_items": "items", "of_people": "people", "of_rest": "rest"}
    return {name: 100 * getattr(each, part) / whole if whole > 0 else math.nan for name, part in names.items()}
