"""Votes as tables: one row an annotator and item, sides resolved to original and variant.

What the votes say of (item, probe) pairs, in the shapes that scores are joined with.
"""

from collections.abc import Iterable
from typing import Any

import pandas as pd
import pyarrow as pa

from core.features.human.definition import ORIGINAL, VARIANT, resolve
from core.features.human.kinds import ACCEPTABILITY, Kind
from core.features.human.ledger import Entry, Ledger
from core.features.human.studies import Study
from core.store.schema import VERDICTS

COLUMNS = (
    "study", "annotator", "id", "corpus", "item", "probe", "baseline", "subject", "language", "rank", "axis", "family",
    "directional", "source", "second_source", "stratum", "attention", "shows", "left", "original", "variant",
    "preferred", "reasons", "seconds", "finished", "corrections", "skipped", "comment", "withdrawn",
)  # fmt: skip
"""``original`` and ``variant`` hold the answer about that version on the study's scale, NaN where it was not shown;
``preferred`` is ``original``, ``variant``, ``tie`` or None; ``reasons`` are those that were given, ``; `` between them.
Of a directional item the original is the right side."""


def vote_table(study: Study, *, withdrawn: bool = False, skipped: bool = False) -> pd.DataFrame:
    """Finished votes of a study, COLUMNS: attention items included, practice items never; by annotator in the order of
    the log.

    ``withdrawn`` keeps the rows of annotators who were withdrawn, and the column says so; ``skipped`` keeps what was
    skipped, its answers empty.
    """
    ledger, rows = study.state(), list[dict[str, Any]]()
    practised = ledger.exercises
    for (name, item_id), entry in ledger.entries.items():
        counts = ledger.counts(name)
        finished = ledger.complete(entry) or (skipped and entry.skipped is not None)
        if item_id not in practised and (counts or withdrawn) and finished:
            about = {"study": study.id, "annotator": name, "withdrawn": not counts}
            rows.append({**about, **_row(ledger, item_id, entry)})
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    numbers = dict.fromkeys(("original", "variant", "seconds", "finished"), "float64")
    flags = dict.fromkeys(("attention", "withdrawn", "directional"), bool)
    return table.astype({**numbers, **flags, "corrections": "int64", "rank": "int64"})


_ABOUT = COLUMNS[COLUMNS.index("id") : COLUMNS.index("left")]  # what an item says of itself
_SAID = ("left", "seconds", "finished", "corrections", "skipped", "comment")  # what an entry says of itself


def _row(ledger: Ledger, item_id: str, entry: Entry) -> dict[str, Any]:
    item = ledger.by_id[item_id]
    about = {name: getattr(item, name) for name in _ABOUT}
    answers = {} if entry.skipped is not None else entry.answers
    kind = ledger.definition.asked
    due = kind.due(answers)
    return {
        **about,
        **resolve(item, entry.left, answers),
        "reasons": REASONS.join(name for name in kind.reasons if name in due and answers.get(name) == 1),
        **{name: getattr(entry, name) for name in _SAID},
    }


REASONS = "; "  # between reasons


PAIR = ["corpus", "item", "probe", "subject"]
JUDGED = [*PAIR, "language", "rank"]
ACCEPTABLE = 1  # lowest answer that is acceptable: partially correct. Source: PROTOCOL section 6.


def verdicts(studies: Iterable[Study]) -> pa.Table:
    """What those who voted found, pair by pair: both versions acceptable, or a comparison upheld.

    Of a pair both of whose versions should be equally good, ``accepted`` is the share who found both acceptable, in
    studies of acceptability only: their scale alone says what is acceptable. Of a comparison, ``upheld`` is the share
    who uphold it (:func:`upholds`) in studies that show both sides at once; where only single sides were rated it is 1
    if the mean rating of the right one is higher, else 0. Attention items and withdrawn annotators are left out; the
    same pair in two studies has the votes of both. Returns columns of VERDICTS; one row a pair with at least one vote
    (of single sides: one on each), sorted. ``votes`` are those behind the share, of single sides those of the side that
    has fewer.
    """
    cast = [(study.definition.asked, _cast(study)) for study in studies]
    accepted = [
        votes.assign(said=(votes[ORIGINAL] >= ACCEPTABLE) & (votes[VARIANT] >= ACCEPTABLE))
        for kind, given in cast
        if kind is ACCEPTABILITY and len(votes := given[~given["directional"]])
    ]
    compared = [(kind, votes) for kind, given in cast if len(votes := given[given["directional"]])]
    upheld = _shares([votes.assign(said=upholds(votes, kind)) for kind, votes in compared if kind.sides == 2], "upheld")
    single = _rated_higher([votes for kind, votes in compared if kind.sides == 1])
    single = single[~single.index.isin(upheld.index)]
    parts = [part for part in (_shares(accepted, "accepted"), upheld, single) if len(part)]
    table = pd.concat(parts).reset_index() if parts else pd.DataFrame(columns=VERDICTS.names)
    table = table.reindex(columns=VERDICTS.names).sort_values(JUDGED, ignore_index=True)
    table = table.astype(dict.fromkeys(("accepted", "upheld"), float)).astype(dict.fromkeys(("rank", "votes"), "int32"))
    return pa.Table.from_pandas(table, schema=VERDICTS, preserve_index=False)


def upholds(votes: pd.DataFrame, kind: Kind) -> pd.Series:
    """Which votes, rows of :func:`vote_table`, uphold a comparison that was shown with both sides at once, bool, a row
    a vote.

    Where people said what is acceptable, by accepting the right side and refusing the wrong one; where they rated both
    and chose, by preferring the right one. Whoever finds both equally good upholds nothing.
    """
    if kind is ACCEPTABILITY:
        return (votes[ORIGINAL] >= ACCEPTABLE) & (votes[VARIANT] < ACCEPTABLE)
    return votes["preferred"] == ORIGINAL


def ratings(studies: Iterable[Study]) -> pd.DataFrame:
    """Human judgements as H of a calibration: one number an (item, probe) pair.

    An answer on a scale of k levels counts (level - lowest) / (k - 1), so that 0 is the worst and 1 the best answer
    (paper E scales to [0, 1] as well); the rating is the mean over all votes of all studies. The unedited version of a
    pair rates its baseline probe, e.g. ``identity``, or the neutral control of a modified caption. Returns corpus,
    item, probe, subject, rating in [0, 1], votes; one row a pair with at least one vote, sorted.
    """
    parts = [pd.DataFrame(columns=[*PAIR, "share"]).astype({"share": float})]
    for study in studies:
        table = _cast(study)
        for version, probe in ((ORIGINAL, "baseline"), (VARIANT, "probe")):
            rated = table[["corpus", "item", probe, "subject"]].set_axis(PAIR, axis=1)
            kind = study.definition.asked
            share = (table[version] - kind.lowest) / (len(kind.scale) - 1)
            parts.append(rated.assign(share=share).dropna(subset=["share"]))
    grouped = pd.concat([part for part in parts if len(part)] or parts).groupby(PAIR, sort=True)["share"]
    return pd.DataFrame({"rating": grouped.mean(), "votes": grouped.size()}).reset_index()


def _cast(study: Study) -> pd.DataFrame:
    votes = vote_table(study)
    return votes[~votes["attention"]]


def _shares(parts: list[pd.DataFrame], name: str) -> pd.DataFrame:
    """Share of votes whose ``said`` is true and their number, by JUDGED."""
    if not parts:
        return pd.DataFrame(columns=[name, "votes"])
    grouped = pd.concat(parts, ignore_index=True).groupby(JUDGED, sort=True)["said"]
    return pd.DataFrame({name: grouped.mean().astype(float), "votes": grouped.size()})


def _rated_higher(parts: list[pd.DataFrame]) -> pd.DataFrame:
    """1 where the right side has the higher mean rating, else 0, by JUDGED; of comparisons with a vote on each side."""
    if not parts:
        return pd.DataFrame(columns=["upheld", "votes"])
    grouped = pd.concat(parts, ignore_index=True).groupby(JUDGED, sort=True)[[ORIGINAL, VARIANT]]
    means, counts = grouped.mean(), grouped.count().min(axis=1)
    found = pd.DataFrame({"upheld": (means[ORIGINAL] > means[VARIANT]).astype(float), "votes": counts})
    return found[counts > 0]
