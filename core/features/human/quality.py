"""How carefully each annotator worked: attention items, time, straight lines. Signs to look at, no verdicts."""

import math
from collections import Counter
from itertools import groupby

import pandas as pd

from core.features.human.definition import ORIGINAL
from core.features.human.sharing import waiting_items
from core.features.human.studies import Study
from core.features.human.votes import vote_table

_COUNTS = ("votes", "planned", "skipped", "corrections", "attention_hits", "attention_seen")
_SIGNS = ("median_seconds", "longest_run", "same_share", "left_share")
COLUMNS = ("annotator", "name", "pid", "state", *_COUNTS, *_SIGNS, "last")


def quality_table(study: Study) -> pd.DataFrame:
    """One row an annotator: annotator, name, pid (of Prolific; None for others), state (``working``, ``done``, ``not
    begun``, ``practising``, ``screened out``, ``away``, ``no link``, ``withdrawn``, ``imported``), votes (complete,
    attention items aside), planned (votes and what is still waiting), skipped, corrections, attention_hits of
    attention_seen, median_seconds an item (NaN without a time), longest_run (most equal answers in a row), same_share
    (share of the commonest answer), left_share (share of preferences for side A among those that are no tie; NaN
    without one), last (server time)."""
    ledger = study.state()
    table = vote_table(study, withdrawn=True, skipped=True)
    kind, rows = study.definition.asked, []
    for each in ledger.annotators.values():
        own = table[table["annotator"] == each.id]
        given = own[own["skipped"].isna()]
        votes, checks = given[~given["attention"]], given[given["attention"]]
        waiting = waiting_items(ledger, each)
        patterns = [str(each) for each in zip(votes["original"], votes["variant"], votes["preferred"], strict=True)]
        chosen = votes[votes["preferred"].isin(["original", "variant"])]
        # a known answer is right where the wrong caption is in the lower half and not preferred
        hits = (checks["variant"].map(kind.share) < 0.5) & ((kind.sides == 1) | (checks["preferred"] == ORIGINAL))
        rows.append(
            {
                "annotator": each.id,
                "name": each.name,
                "pid": each.pid,
                "state": _state(study, each.id, bool(waiting)),
                "votes": len(votes),
                "planned": len(votes) + sum(not ledger.by_id[item].attention for item in waiting),
                "skipped": int(own["skipped"].notna().sum()),
                "corrections": int(own["corrections"].sum()),
                "attention_hits": int(hits.sum()),
                "attention_seen": len(checks),
                "median_seconds": float(votes["seconds"].median()) if votes["seconds"].notna().any() else math.nan,
                "longest_run": max((len(list(run)) for _, run in groupby(patterns)), default=0),
                "same_share": max(Counter(patterns).values()) / len(patterns) if patterns else math.nan,
                "left_share": float((chosen["preferred"] == chosen["left"]).mean()) if len(chosen) else math.nan,
                "last": each.last,
            }
        )
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _state(study: Study, annotator: str, waiting: bool) -> str:
    each = study.state().annotators[annotator]
    if each.withdrawn:
        return "withdrawn"
    if each.imported and not each.active:
        return "imported"
    if not each.active:
        return "no link"
    if study.state().passed(each) is False:
        return "screened out"
    if each.away:
        return "away"
    if not each.begun and not each.done:
        return "not begun"
    if study.state().passed(each) is None:
        return "practising"
    return "working" if waiting else "done"


def coverage_table(study: Study) -> pd.DataFrame:
    """Votes of every item, attention and practice items aside: id, stratum, item, probe, shows, votes, wanted, planned
    (queues it waits in), skipped."""
    ledger = study.state()
    votes = ledger.votes()
    planned = dict.fromkeys(ledger.by_id, 0)
    for each in ledger.annotators.values():
        for item in waiting_items(ledger, each):
            planned[item] += 1
    skipped = dict.fromkeys(ledger.by_id, 0)
    for (annotator, item), entry in ledger.entries.items():
        skipped[item] += entry.skipped is not None and ledger.counts(annotator)
    return pd.DataFrame(
        [
            {
                **{name: getattr(item, name) for name in ("id", "stratum", "item", "probe", "shows")},
                "votes": votes[item.id],
                "wanted": study.definition.per_item,
                "planned": planned[item.id],
                "skipped": skipped[item.id],
            }
            for item in study.definition.items
            if not item.attention and item.id not in ledger.exercises
        ]
    )
