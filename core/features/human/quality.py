"""How carefully each annotator worked: attention items, time, straight lines. Signs to look at, no verdicts."""

import math
from collections.abc import Hashable, Mapping, Sequence

import pandas as pd

from core.features.human.definition import ORIGINAL
from core.features.human.kinds import Kind
from core.features.human.sharing import waiting_items
from core.features.human.studies import Study
from core.features.human.votes import vote_table

COLUMNS = (
    "annotator",
    "name",
    "pid",
    "state",
    "votes",
    "planned",
    "skipped",
    "corrections",
    "attention_hits",
    "attention_seen",
    "median_seconds",
    "longest_run",
    "same_share",
    "left_share",
    "last",
)


def quality_table(study: Study) -> pd.DataFrame:
    """One row an annotator: annotator, name, pid (of Prolific; None for others), state (``working``, ``done``, ``not
    begun``, ``practising``, ``screened out``, ``away``, ``no link``, ``withdrawn``, ``imported``), votes (complete,
    attention items aside), planned (votes and what is still waiting), skipped, corrections, attention_hits of
    attention_seen, median_seconds an item (NaN without a time), longest_run (most equal answers in a row), same_share
    (share of the commonest answer), left_share (share of preferences for side A among those that are no tie; NaN
    without one), last (server time)."""
    ledger = study.state()
    table = vote_table(study, withdrawn=True, skipped=True)
    rows = []
    for each in ledger.annotators.values():
        own = table[table["annotator"] == each.id]
        given = own[own["skipped"].isna()]
        votes, checks = given[~given["attention"]], given[given["attention"]]
        waiting = waiting_items(ledger, each)
        patterns = list(zip(votes["original"], votes["variant"], votes["preferred"], strict=True))
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
                "attention_hits": sum(_hit(row, study.definition.asked) for row in checks.to_dict("records")),
                "attention_seen": len(checks),
                "median_seconds": float(votes["seconds"].median()) if votes["seconds"].notna().any() else math.nan,
                "longest_run": _longest_run(patterns),
                "same_share": _commonest(patterns),
                "left_share": _left_share(votes),
                "last": each.last,
            }
        )
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _hit(row: Mapping[Hashable, object], kind: Kind) -> bool:
    """Whether an attention item was answered rightly: its wrong caption in the lower half, never preferred."""
    wrong = float(str(row["variant"]))
    if kind.share(wrong) >= 0.5:
        return False
    return kind.sides == 1 or row["preferred"] == ORIGINAL


def _longest_run(patterns: Sequence[tuple[object, ...]]) -> int:
    longest = run = 0
    for index, pattern in enumerate(patterns):
        run = run + 1 if index and _same(pattern, patterns[index - 1]) else 1
        longest = max(longest, run)
    return longest


def _commonest(patterns: Sequence[tuple[object, ...]]) -> float:
    counts = pd.Series([str(pattern) for pattern in patterns], dtype=object).value_counts(normalize=True)
    return float(counts.iloc[0]) if len(counts) else math.nan


def _same(one: tuple[object, ...], other: tuple[object, ...]) -> bool:
    return str(one) == str(other)  # NaN of a version that was not shown equals itself here


def _left_share(votes: pd.DataFrame) -> float:
    chosen = votes[votes["preferred"].isin(["original", "variant"])]
    return float((chosen["preferred"] == chosen["left"]).mean()) if len(chosen) else math.nan


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
                "id": item.id,
                "stratum": item.stratum,
                "item": item.item,
                "probe": item.probe,
                "shows": item.shows,
                "votes": votes[item.id],
                "wanted": study.definition.per_item,
                "planned": planned[item.id],
                "skipped": skipped[item.id],
            }
            for item in study.definition.items
            if not item.attention and item.id not in ledger.exercises
        ]
    )
