"""Does the arithmetic alone move a score? An evaluator in half precision beside the same one in single precision.

Picture, caption and weights are the same, so nothing that a score is about differs: what moves it is how numbers are
rounded. The family *precision* has no edit: its two sides are two evaluators of the table.
"""

from collections.abc import Iterator
from dataclasses import asdict, fields, replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from core.analysis.effects import Effect, effect, with_holm
from core.analysis.overview import over_null
from core.analysis.questions.base import Column, Drawing, Options, Question
from core.analysis.questions.columns import ABSOLUTE, CORPUS, COUNT, EVALUATOR, PERCENT, TESTS, Dots, how
from core.analysis.questions.needs import no_clean
from core.analysis.table import ScoreTable, View
from core.evaluators.registry import CHECKPOINT
from core.evaluators.weights.catalogue import HALVES, PRECISIONS

FAMILY = "precision"
SINGLE = PRECISIONS["fp32"]

_TESTS = "the half precisions of one evaluator"
_TITLE = "Half precision: how far the arithmetic alone moves the score"
_NOTE = (
    "The score of an unedited item in half precision, held against the score of the same picture and caption in single "
    "precision by the same weights. %Δ is of the score in single precision. Over null: |%Δ| less the item's own |%Δ| "
    "under edits that nobody can see, in single precision."
)
_NAMES = ("evaluator", "single", "precision", "corpus", "tests", "largest", "over_null", "over_null_low",
          "over_null_high", "than_null", "null_detectable", "null_needed")  # fmt: skip


class Twins(NamedTuple):
    """Two evaluators of one corpus that differ in their precision alone.

    Args:
        half, single: names.
        precision: of the half, as its fingerprint says.
        corpus: that both scored.
    """

    half: str
    single: str
    precision: str
    corpus: str


def questions(table: ScoreTable) -> tuple[Question, ...]:
    """The family, where an evaluator was audited in both precisions; without that nobody asks."""
    if not any(twins(table)):
        return ()
    columns = (
        EVALUATOR, Column("single", "In single precision", kind="text"), Column("precision", "Precision", kind="text"),
        CORPUS, COUNT, PERCENT, ABSOLUTE, Column("largest", "Largest |%Δ|"),
        Column("over_null", "Over null, pp [95 % CI]", signed=True, low="over_null_low", high="over_null_high"),
        Column("than_null", "Beside null edits", kind="text"), *TESTS,
    )  # fmt: skip
    values = (ABSOLUTE.name, ABSOLUTE.low, ABSOLUTE.high)
    drawing = Drawing("F-precision", _TITLE, "Median |%Δ| of the unedited items with its 95 % BCa interval.",
                      Dots("evaluator", series="corpus", panel=(), values=values, axis="median |%Δ|"))  # fmt: skip
    return (
        Question("S-precision", _TITLE, "summary", FAMILY, f"{_NOTE} {how(_TESTS)}", columns, _compute, no_clean,
                 (drawing,), tests=_TESTS, asks=("margin",)),
    )  # fmt: skip


def twins(table: ScoreTable) -> Iterator[Twins]:
    """Evaluators in half precision with the one that they are held against: of the same name and weights."""
    rows = table.about.get("evaluators", pd.DataFrame(columns=["evaluator", "corpus", "weights", "precision"]))
    rows = rows[rows["evaluator"].isin(table.evaluators)].sort_values(["evaluator", "corpus"], kind="stable")
    known = list(rows[["evaluator", "corpus", "weights", "precision"]].itertuples(index=False, name=None))
    for half, corpus, weights, precision in known:
        for single, *same in known:
            if precision in HALVES and same == [corpus, weights, SINGLE] and _plain(half) == _plain(single):
                yield Twins(half, single, precision, corpus)


def _plain(name: str) -> str:
    """An evaluator's name without what it says of its precision, e.g. ``clipscore@mine`` of ``clipscore:bf16@mine``."""
    base, at, label = name.partition(CHECKPOINT)
    before, _, low = base.rpartition(":")
    return (before if low in PRECISIONS else base) + at + label


def _compute(view: View, options: Options) -> pd.DataFrame:
    return halves(view, margin=options.margin)


def halves(view: View, *, margin: float) -> pd.DataFrame:
    """A row for every pair of twins of a view; see _NOTE.

    Args:
        view: of the table of scores.
        margin: equivalence margin in percent.
    """
    records: list[dict[str, object]] = []
    for pair in twins(view.table):
        if {pair.half, pair.single} <= set(view.evaluators):
            records += _row(view, pair, margin)
    columns = [*_NAMES, *(each.name for each in fields(Effect))]
    return with_holm(pd.DataFrame(records, columns=columns), by=("single", "corpus", "tests"))


def _row(view: View, pair: Twins, margin: float) -> list[dict[str, object]]:
    table = view.table
    changes, keep = table.beside(pair.half, pair.single), view.items & table.of_corpus(pair.corpus)
    found = effect(changes, keep, spread=table.spread(pair.single, pair.corpus), sources=table.sources, margin=margin)
    if found is None:
        return []
    if said := table.silent(pair.single, pair.corpus) or table.silent(pair.half, pair.corpus):
        found = replace(found, drift=said, scatter=said)
    sizes = changes.size[keep]
    largest = float(np.nanmax(sizes)) if (~np.isnan(sizes)).any() else np.nan
    over = over_null(view, pair.single, pair.corpus, changes.size)
    told = (pair.half, pair.single, pair.precision, pair.corpus, FAMILY, largest, *over)
    return [dict(zip(_NAMES, told, strict=True)) | asdict(found)]


def sentences(view: View, *, margin: float) -> dict[str, str]:
    """What the precision does to each evaluator in half precision, a sentence with its numbers; of one corpus.

    Args:
        view: of the table of scores, one corpus of it.
        margin: equivalence margin in percent.
    """
    return {str(row["evaluator"]): _sentence(row) for _, row in halves(view, margin=margin).iterrows()}


def _sentence(row: pd.Series) -> str:
    n = f"n = {row['n_items']}"
    if np.isnan(row["median_abs_percent"]):
        return f"Precision: {row['precision']} beside {row['single']}: {row['note'] or row['scatter']}, {n}."
    ends = "" if np.isnan(row["abs_low"]) else f" ({row['abs_low']:.2f} to {row['abs_high']:.2f})"
    null = "" if np.isnan(row["over_null_low"]) else f"; {row['than_null']}"
    return (
        f"Precision: {row['precision']} alone moves the unedited items from {row['single']} by median |%Δ| "
        f"{row['median_abs_percent']:.2f}{ends}, at most {row['largest']:.2f}{null}; {row['scatter']}, {n}."
    )
