"""How far judges agree on the same items: the measures of agreement between people, of judges on one scale."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from core.analysis.effects import corpora
from core.analysis.questions.columns import CORPUS
from core.analysis.questions.question import Column, Options, Question
from core.analysis.table import ScoreTable, View
from core.features.judges.ways_of_asking import asked_as_usual, scale
from core.statistics.agreement import agreement
from core.statistics.crossed_sources import first_of

MOST_ANSWERS = 11
"""Answers of a scale whose agreement is counted answer by answer: 0 to 10. Finer ones have rank correlations."""

_TITLE = "Do the judges agree?"
_NOTE = (
    "Unedited items, the answers of judges on one scale of whole numbers counted as votes, by the measures that "
    "people's votes are held to; Krippendorff's α for ordered answers. Equal scores agree, near ones do not but for α. "
    "Intervals at 95 %, BCa, items of one source together. Judges on finer scales stand in the rank correlations alone."
)
_NAMES = ("jurors", "corpus", "measure", "estimate", "low", "high", "n_items", "n_votes", "note")


def questions(table: ScoreTable) -> tuple[Question, ...]:
    """The table, where two judges have one scale; without that nobody asks."""
    if not any(juries(table)):
        return ()
    columns = (
        Column("jurors", "Judges", kind="text"),
        CORPUS,
        Column("measure", "Measure", kind="text"),
        Column("estimate", "Estimate [95 % CI]", low="low", high="high"),
        Column("n_items", "n", digits=0, help="Items with two answers or more"),
        Column("n_votes", "Answers", digits=0),
        Column("note", "Remark", kind="text"),
    )
    return (Question("S-jurors", _TITLE, "summary", "judges", _NOTE, columns, _compute, clean=True),)


def juries(table: ScoreTable) -> Iterator[tuple[tuple[str, ...], np.ndarray]]:
    """Judges on one scale, at least two, and its answers."""
    by_scale: dict[tuple[float, float], list[str]] = {}
    for name in asked_as_usual(table):
        by_scale.setdefault(scale(table, name), []).append(name)
    for (low, span), names in by_scale.items():
        answers = np.arange(low, low + span + 1) if span < MOST_ANSWERS else np.empty(0)
        if len(names) > 1 and len(answers) > 1 and _whole(table, names, answers):
            yield tuple(names), answers


def _whole(table: ScoreTable, names: list[str], answers: np.ndarray) -> bool:
    """Whether every score is one of the answers."""
    scores = np.concatenate([table.clean(name) for name in names])
    return bool(np.isin(scores[~np.isnan(scores)], answers).all())


def _compute(view: View, _options: Options) -> pd.DataFrame:
    records = list[dict[str, object]]()
    for names, answers in juries(view.table):
        jurors = [name for name in names if name in view.evaluators]
        if len(jurors) < 2:
            continue
        scores = np.stack([view.table.clean(name) for name in jurors])
        counts = (scores[:, :, None] == answers).sum(axis=0)
        for corpus, own in corpora(view.table):
            keep = own & view.items
            of = view.table.sources_of(keep)
            found = agreement(counts[keep], groups=None if of is None else first_of(of), ordinal=True)
            records += [{**row, "jurors": ", ".join(jurors), "corpus": corpus} for row in found.rows()]
    return pd.DataFrame(records, columns=list(_NAMES))
