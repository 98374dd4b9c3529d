"""Votes as tables: one row an annotator and item, sides resolved to original and variant."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from core.features.human.ledger import Entry, Ledger
from core.features.human.sides import resolve
from core.features.human.studies import Study

COLUMNS = (
    "study", "annotator", "id", "corpus", "item", "probe", "baseline", "subject", "language", "rank", "axis", "family",
    "directional", "source", "stratum", "attention", "shows", "left", "original", "variant", "preferred", "seconds",
    "finished", "corrections", "skipped", "comment", "withdrawn",
)  # fmt: skip
"""``original`` and ``variant`` hold the answer about that version on the study's scale, NaN where it was not shown;
``preferred`` is ``original``, ``variant``, ``tie`` or None. Of a directional item the original is the right side."""


def vote_table(study: Study, *, withdrawn: bool = False, skipped: bool = False) -> pd.DataFrame:
    """Finished votes of a study.

    Args:
        study: any kind.
        withdrawn: keep the rows of annotators who were withdrawn; the column says so.
        skipped: keep what was skipped, its answers empty.

    Returns:
        COLUMNS, attention items included, practice items never; by annotator in the order of the log.
    """
    ledger = study.state()
    rows = list(_rows(study.id, ledger, withdrawn=withdrawn, skipped=skipped))
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    numbers = dict.fromkeys(("original", "variant", "seconds", "finished"), "float64")
    flags = dict.fromkeys(("attention", "withdrawn", "directional"), bool)
    return table.astype({**numbers, **flags, "corrections": "int64", "rank": "int64"})


def _rows(study: str, ledger: Ledger, *, withdrawn: bool, skipped: bool) -> Iterator[dict[str, Any]]:
    practised = ledger.exercises
    for (annotator, item_id), entry in ledger.entries.items():
        if item_id in practised:
            continue
        counted = ledger.counts(annotator)
        if (counted or withdrawn) and (ledger.complete(entry) or (skipped and entry.skipped is not None)):
            yield {"study": study, "annotator": annotator, "withdrawn": not counted, **_row(ledger, item_id, entry)}


_ABOUT = (
    "id",
    "corpus",
    "item",
    "probe",
    "baseline",
    "subject",
    "language",
    "rank",
    "axis",
    "family",
    "directional",
    "source",
    "stratum",
    "attention",
    "shows",
)


def _row(ledger: Ledger, item_id: str, entry: Entry) -> dict[str, Any]:
    item = ledger.by_id[item_id]
    about = {name: getattr(item, name) for name in _ABOUT}
    answers = {} if entry.skipped is not None else entry.answers
    return {
        **about,
        **resolve(item, entry.left, answers),
        "left": entry.left,
        "seconds": entry.seconds,
        "finished": entry.finished,
        "corrections": entry.corrections,
        "skipped": entry.skipped,
        "comment": entry.comment,
    }
