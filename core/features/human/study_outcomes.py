"""What a study found: acceptability by majority, preferences, agreement, and the items that people disagree on.

Outcomes are of pairs of which people should find both versions equally good; what they say of a right and a wrong side
is in :mod:`core.features.human.judged_comparisons`.

The item is what every share counts: the votes on one item are of one picture, so they are no independent trials. Items
of one source (a cut-out, else a picture) are taken together, and the annotators are a sample of people as the items are
one of items (:mod:`core.features.human.crossed_votes`).

Source: PROTOCOL section 6 (paper A, A.11).
"""

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from core.analysis.effects import ends
from core.features.human.crossed_votes import FEWEST_PEOPLE, exchange, rate, what_halves, whom_it_is_about
from core.features.human.definition import ORIGINAL, VARIANT
from core.features.human.kinds import ACCEPTABILITY, CORRECTNESS, PREFERENCE, TIE, Kind
from core.features.human.studies import Study
from core.features.human.votes import ACCEPTABLE, REASONS, upholds, vote_table
from core.statistics.agreement import Agreement, agreement, pairwise_kappas
from core.statistics.bootstrap import Interval, too_few
from core.statistics.crossed_sources import numbered
from core.statistics.shares import share
from core.statistics.wording import counted

MAJORITY = 2 / 3  # share of votes that makes a majority
CLOSE = 1e-9  # difference of shares that is of rounding
BOTH, ONE, NONE, NO_MAJORITY = "both", "one", "none", "no majority"
OUTCOMES = (BOTH, ONE, NONE, NO_MAJORITY)
_NAMED = {
    BOTH: "a majority accepts both",
    ONE: "a majority accepts one",
    NONE: "a majority accepts neither",
    NO_MAJORITY: "no majority on one of them",
}
"""What is said of the items of an outcome: it counts items, not votes (see :func:`vote_rates`)."""

FEWEST = 2  # items with fewer votes have no majority worth the name and are counted apart


def item_outcomes(votes: pd.DataFrame) -> pd.DataFrame:
    """Majorities of every item of an acceptability study; attention items and comparisons are left out.

    Returns:
        One row an item with at least FEWEST votes: id, corpus, item, probe, baseline, subject, axis, family, stratum,
        source, second_source (see :func:`sources_of`), votes, accepted_original, accepted_variant, accepted (shares of
        voters; the last: both versions), outcome (of OUTCOMES), fully_correct (majority fully correct on both),
        preference (``original``, ``variant``, ``tie`` or ``no majority``), leans (the version that more of its votes
        prefer, ties aside; ``tie`` where as many prefer either), disagreement (share of unequal pairs of votes over all
        questions, in [0, 1]).
    """
    plain = of_pairs(votes)
    about = ["id", "corpus", "item", "probe", "baseline", "subject", "axis", "family", "stratum"]
    rows = [
        {**dict(zip(about, rows.iloc[0][about], strict=True)), **sources_of(rows), **_outcome(rows)}
        for _, rows in plain.groupby("id", sort=True)
        if len(rows) >= FEWEST
    ]
    return pd.DataFrame(rows, columns=[*about, *SOURCES, *_OUTCOME])


SOURCES = ("source", "second_source")


def sources_of(rows: pd.DataFrame) -> dict[str, str]:
    """SOURCES of an item: its cut-out or picture, else it is one of its own, and its background; ``rows`` its votes."""
    first = rows.iloc[0]
    own = str(first["source"] or f"{first['corpus']}\x1f{first['item']}")
    return dict(zip(SOURCES, (own, str(first["second_source"] or own)), strict=True))


def sources_by_id(votes: pd.DataFrame) -> pd.DataFrame:
    """SOURCES of every item, by id and in the order of the ids."""
    named = {item: sources_of(rows) for item, rows in votes.groupby("id", sort=True)}
    return pd.DataFrame(named, index=list(SOURCES), dtype=object).T


def in_numbers(sources: pd.DataFrame) -> np.ndarray:
    """SOURCES of some items as :func:`core.statistics.crossed_sources.numbered` has them."""
    return numbered(*(sources[name].astype(str) for name in SOURCES))


def of_pairs(votes: pd.DataFrame) -> pd.DataFrame:
    """Votes on pairs both of whose versions should be equally good: no attention item, no comparison."""
    return votes[~votes["attention"] & ~votes["directional"]]


_ACCEPTED = ("accepted_original", "accepted_variant", "accepted")
_OUTCOME = ("votes", *_ACCEPTED, "outcome", "fully_correct", "preference", "leans", "disagreement")


@dataclass(frozen=True, slots=True)
class Aggregates:
    """The aggregates of section 6, over items, each with its interval for people and items like these."""

    outcomes: dict[str, Interval]  # share of items by outcome (both, one, none acceptable, no majority)
    majority_tie: Interval  # share of items whose majority finds both equally good
    both_fully_correct: Interval  # share of items that a majority finds fully correct in both versions
    variant_preferred: Interval  # share of items that lean to the variant among those that lean to either version
    # exact two-sided sign test against one half, a source counting once, as most of its items that lean do; NaN where
    # no source leans, or votes still come in: a test that is looked at again and again is none
    balance_p: float
    n_items: int  # items with two votes or more; those behind every share but ``variant_preferred``
    n_short: int  # items with fewer than two votes, left out
    about: str  # which people and items the intervals are about, in words

    def table(self) -> pd.DataFrame:
        """One row a number: what, share, low, high, n, note."""
        named = {_NAMED[name]: found for name, found in self.outcomes.items()} | {
            "a majority finds both fully correct": self.both_fully_correct,
            "a majority prefers neither": self.majority_tie,
            "the variant is ahead, of the items that lean": self.variant_preferred,
        }
        rows = [(name, *each.numbers(), each.n, each.note) for name, each in named.items()]
        return pd.DataFrame(rows, columns=["what", "share", "low", "high", "n", "note"])


def aggregates(votes: pd.DataFrame, *, live: bool = False) -> Aggregates:
    """Aggregate the votes of an acceptability study; see :class:`Aggregates`. ``live``: votes still come in, so that
    the intervals have to hold at every look."""
    items = item_outcomes(votes)
    plain = of_pairs(votes)
    own = plain[plain["id"].isin(items["id"])]
    units, people = (np.unique(own[name].to_numpy(dtype=str), return_inverse=True)[1] for name in ("id", "annotator"))
    found = exchange(_marks(own), units, people, _told)
    groups = in_numbers(items)
    leaning = items[items["leans"].isin((VARIANT, ORIGINAL))]  # the sign test is over sources
    ahead = pd.Series(np.where(leaning["leans"] == VARIANT, 1, -1), dtype=np.int64)
    sources = np.sign(ahead.groupby(leaning["source"].to_numpy()).sum())
    variant, original = (int((sources == sign).sum()) for sign in (1, -1))
    tested = variant + original and not live

    def part(what: str, *, of: str | None = None) -> Interval:
        bottom = None if of is None else _TOLD.index(of)
        return rate(found, _TOLD.index(what), bottom=bottom, groups=groups, live=live).interval()

    return Aggregates(
        outcomes={name: part(name) for name in OUTCOMES},
        majority_tie=part(TIE),
        both_fully_correct=part(_FULLY),
        variant_preferred=part(VARIANT, of=_LEANS),
        balance_p=float(stats.binomtest(variant, variant + original).pvalue) if tested else math.nan,
        n_items=len(items),
        n_short=plain["id"].nunique() - len(items),
        about=whom_it_is_about(plain["annotator"].nunique(), live=live),
    )


_FULLY, _LEANS = "fully correct", "leans"
_TOLD = (*OUTCOMES, _FULLY, TIE, VARIANT, _LEANS)


def _marks(rows: pd.DataFrame) -> np.ndarray:
    """Of every vote: 1, each version acceptable, each fully correct, each preferred, neither; float64 [n, 8]."""
    versions = rows[[ORIGINAL, VARIANT]].to_numpy(dtype=np.float64)
    preferred = rows["preferred"].to_numpy()[:, None] == np.array([ORIGINAL, VARIANT, TIE], dtype=object)
    fully = versions == len(ACCEPTABILITY.scale) - 1
    return np.column_stack([np.ones(len(rows)), versions >= ACCEPTABLE, fully, preferred]).astype(np.float64)


def _told(sums: np.ndarray) -> np.ndarray:
    """What sums of :func:`_marks` over an item say, a column each of _TOLD: as :func:`item_outcomes` has it."""
    votes, shares = sums[:, 0], sums[:, 1:] / np.maximum(sums[:, :1], 1)
    yes, no = shares[:, :2] >= MAJORITY - CLOSE, 1 - shares[:, :2] >= MAJORITY - CLOSE
    decided, good = (yes | no).all(axis=1), yes.sum(axis=1)
    fully = (shares[:, 2:4] >= MAJORITY - CLOSE).all(axis=1)
    tie = sums[:, 7] >= (MAJORITY - CLOSE) * np.maximum(sums[:, 5:8].sum(axis=1), 1)
    ahead = sums[:, 6] - sums[:, 5]
    named = [decided & (good == count) for count in (2, 1, 0)]
    return np.column_stack([*named, ~decided, fully, tie, ahead > 0, ahead != 0]) * (votes > 0)[:, None]


def study_agreement(votes: pd.DataFrame, kind: Kind) -> list[Agreement]:
    """Agreement on what was asked of the versions (both versions of an item together) and on the preference.

    Intervals are over the items' sources.
    """
    plain = votes[~votes["attention"]]
    of = in_numbers(sources_by_id(plain))
    scale = [kind.lowest + index for index in range(len(kind.scale))]
    versions = [_counts(plain, version, scale) for version in (ORIGINAL, VARIANT)]
    found = [agreement(np.stack(versions, axis=1), groups=of, question=version_name(kind), ordinal=True)]
    if any(question.name == PREFERENCE for question in kind.questions):
        found.append(agreement(_counts(plain, "preferred", [ORIGINAL, TIE, VARIANT]), groups=of, question=PREFERENCE))
    return found


def version_name(kind: Kind) -> str:
    """What is asked of the versions, in a word."""
    return kind.name if kind in (ACCEPTABILITY, CORRECTNESS) else "rating"


def study_kappas(votes: pd.DataFrame, kind: Kind) -> pd.DataFrame:
    """Quadratic-weighted κ of every pair of annotators on the scale of the kind, as ``pairwise_kappas`` has it, and
    n_items: the items that both judged, of which n are versions. Intervals are over the items' sources, both versions
    of an item together."""
    plain = votes[~votes["attention"]]
    judged = plain.groupby("annotator")["id"].agg(set)
    long = plain.melt(id_vars=["annotator", "id"], value_vars=[ORIGINAL, VARIANT], value_name="answer").dropna()
    long = long.assign(unit=long["id"] + long["variable"])
    of = sources_by_id(plain).loc[(units := long.drop_duplicates("unit"))["id"]].set_index(units["unit"])
    table = pairwise_kappas(long, levels=[kind.lowest + index for index in range(len(kind.scale))], sources=of)
    shared = [len(judged[one] & judged[other]) for one, other in zip(table["one"], table["other"], strict=True)]
    return table.assign(n_items=pd.Series(shared, index=table.index, dtype="int64"))


def disagreements(votes: pd.DataFrame, *, count: int = 24) -> pd.DataFrame:
    """The ``count`` items that people disagree on most, with their votes in words: id, votes, disagreement, original,
    variant (answers as text, e.g. ``2 2 0``), preferred, comments; items on which all agree are not among them."""
    rows, asked = [], (ORIGINAL, VARIANT, "preferred")
    for item, own in votes[~votes["attention"]].groupby("id", sort=True):
        share = _disagreement(own)
        if len(own) >= FEWEST and share > 0:
            answers = (_in_order(own[name]) for name in asked)
            rows.append((item, len(own), share, *answers, [text for text in own["comment"] if text]))
    table = pd.DataFrame(rows, columns=["id", "votes", "disagreement", *asked, "comments"])
    return table.sort_values(["disagreement", "id"], ascending=[False, True], ignore_index=True).head(count)


def _outcome(rows: pd.DataFrame) -> dict[str, object]:
    good = {version: rows[version] >= ACCEPTABLE for version in (ORIGINAL, VARIANT)}
    shares = {version: float(each.mean()) for version, each in good.items()}
    decided = {version: _majority(share) for version, share in shares.items()}
    fully = len(ACCEPTABILITY.scale) - 1
    ahead = int((rows["preferred"] == VARIANT).sum()) - int((rows["preferred"] == ORIGINAL).sum())
    return {
        "votes": len(rows),
        "accepted_original": shares[ORIGINAL],
        "accepted_variant": shares[VARIANT],
        "accepted": float((good[ORIGINAL] & good[VARIANT]).mean()),
        "outcome": NO_MAJORITY if None in decided.values() else (NONE, ONE, BOTH)[sum(map(bool, decided.values()))],
        "fully_correct": all(_majority(float((rows[version] == fully).mean())) is True for version in good),
        "preference": majority_preference(rows["preferred"]),
        "leans": VARIANT if ahead > 0 else ORIGINAL if ahead < 0 else TIE,  # what more votes prefer, however many more
        "disagreement": _disagreement(rows),
    }


def majority_preference(preferred: pd.Series) -> str:
    """What at least two thirds of an item's votes prefer: ORIGINAL, VARIANT or TIE; else NO_MAJORITY."""
    shares = preferred.value_counts(normalize=True)
    return str(shares.index[0]) if len(shares) and _majority(shares.iloc[0]) is True else NO_MAJORITY


def _majority(share: float) -> bool | None:
    """True or False where at least two thirds say so, else None."""
    if share >= MAJORITY - CLOSE:
        return True
    return False if 1 - share >= MAJORITY - CLOSE else None


def _disagreement(rows: pd.DataFrame) -> float:
    shares = []
    for name in (ORIGINAL, VARIANT, "preferred"):
        counts = rows[name].value_counts().to_numpy()
        n = counts.sum()
        if n >= FEWEST:
            shares.append(1 - (counts * (counts - 1)).sum() / (n * (n - 1)))
    return float(np.mean(shares)) if shares else 0.0


def _counts(votes: pd.DataFrame, column: str, answers: list[Any]) -> np.ndarray:
    """Votes for each answer, [items, answers]; an item without votes on this column has a row of zeros."""
    items = sorted(votes["id"].unique())
    table = pd.crosstab(votes["id"], votes[column].astype(object))
    return table.reindex(index=items, columns=answers, fill_value=0).to_numpy()


def _in_order(values: pd.Series) -> str:
    return " ".join(str(int(value)) if isinstance(value, float) else str(value) for value in values.dropna())


def accepted_by_people(studies: Sequence[Study], runs: Collection[str]) -> dict[str, str]:
    """Family -> how many items, and of which studies, in words, of families of which people were asked and accept both
    versions.

    The rule, for every page and file: of LEAST_N items or more, of as many sources, the interval of the share that a
    majority accepts in both versions lies above one half. Of fewer, a word that may be true stays one. Studies of other
    runs than those that are read, and those that ask for something else, are passed over.
    """
    judged = [
        item_outcomes(vote_table(study)).assign(study=study.id)
        for study in studies
        if study.definition.run in runs and study.definition.asked is ACCEPTABILITY
    ]
    found = dict[str, str]()
    for rows in judged and [pd.concat(judged, ignore_index=True)]:
        for family, own in rows.groupby("family", sort=True):
            kept = own["outcome"] == BOTH
            if not too_few(len(own), own["source"].nunique()) and share(kept, groups=in_numbers(own)).low > 0.5:
                named = ", ".join(sorted(set(own["study"])))
                many = f"{int(kept.sum())} of {counted(len(own), 'item')}"
                found[str(family)] = f"people accept both captions of {many} (study {named})"
    return found


# How often people answer so, for people and items like these, and how many more of either would halve the interval.
_OF = ("of_items", "of_people", "of_rest")
COLUMNS = ("question", "n", "n_votes", "annotators", "rate", "low", "high", *_OF, "more", "note")
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
    whole = told.parts.error()[0] if told.parts else 0.0
    parts = (getattr(told.parts, name.removeprefix("of_"), math.nan) for name in _OF)
    return {
        "question": question,
        "n": told.n,
        "n_votes": len(rows),
        "annotators": told.annotators,
        **ends(told.interval(), ("rate", "low", "high"), times=100),
        **{name: 100 * part / whole if whole > 0 else math.nan for name, part in zip(_OF, parts, strict=True)},
        "more": what_halves(told),
        "note": told.note,
    }
