"""What stands behind the scores: the evaluators, how far they agree, what was left out, what the arithmetic alone does.

An evaluator in half precision stands beside the same one in single precision: picture, caption and weights are the
same, so nothing that a score is about differs, and what moves it is how numbers are rounded. The family *precision*
has no edit: its two sides are two evaluators of the table.
"""

from collections.abc import Iterator
from dataclasses import asdict, fields, replace
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
import pandas as pd

from core.analysis.effect_of_items import Effect, effect
from core.analysis.effects import bounds, corpora, with_holm
from core.analysis.lacks import left_out, no_clean
from core.analysis.overview import further
from core.analysis.preferences import LEAST_IMAGES, RHO, rank_correlations
from core.analysis.questions.columns import ABSOLUTE, CORPUS, COUNT, EVALUATOR, FURTHER, NOTE, PERCENT, TESTS, Dots, how
from core.analysis.questions.question import Column, Drawing, Options, Question, bounded
from core.analysis.table import ScoreTable, View
from core.corpora.suites.model import TAU_B, TAU_C
from core.evaluators.registry import CHECKPOINT
from core.evaluators.weights.catalogue import HALVES, PRECISIONS
from core.statistics.rank_agreement import rank_agreement


def questions(table: ScoreTable) -> tuple[Question, ...]:
    """Evaluators, their agreement, and the rejections."""
    return (_evaluators(table), _agreement(), _rejections())


def origins(table: ScoreTable) -> dict[str, str]:
    """Where imported scores are from, a sentence an evaluator; nothing for those that the run made itself."""
    known = table.about["evaluators"]
    said = zip(known["evaluator"].astype(str), known["origin"].astype(str), strict=True)
    return {name: f"{told[0].upper()}{told[1:]}." for name, told in said if told and name in table.evaluators}


_TIME = "Seconds a picture are those of scoring it with all its captions, beside whatever else the machine did"


def _evaluators(table: ScoreTable) -> Question:
    imported = bool(origins(table))
    known = table.about["evaluators"]
    judged = bool((known.loc[known["evaluator"].isin(table.evaluators), "asked"] != "").any())
    columns = (
        Column("run", "Run", kind="text"),
        CORPUS,
        EVALUATOR,
        Column("key", "Fingerprint", kind="text"),
        Column("weights", "Weights (sha256, first digits)", kind="text"),
        Column("precision", "Precision", kind="text"),
        Column("images", "Pictures", digits=0),
        Column("seconds", "s a picture", digits=3, help=_TIME),
        Column("machine", "Scored on", kind="text"),
        *((Column("origin", "Imported", kind="text"),) if imported else ()),
        *((Column("asked", "What the model is asked", kind="text"),) if judged else ()),
    )

    def compute(view: View, options: Options) -> pd.DataFrame:
        known = view.table.about["evaluators"]
        found = known[known["evaluator"].isin(view.evaluators)]
        return found.assign(weights=found["weights"].astype(str).str[:24]).reset_index(drop=True)

    note = f"The fingerprint covers weights, preprocessing, precision, library versions and settings. {_TIME}."
    if imported:
        note += " That of imported scores covers their file, the pairs, and what was told of the metric."
    return Question("S0", "Evaluators", "summary", "runs", note, columns, compute)


_CORRELATIONS = {"spearman": RHO, "kendall_b": TAU_B, "kendall_c": TAU_C}
"""Column -> what it is called where it is bootstrapped."""


def _agreement() -> Question:
    taus = bounded("kendall_b", "Kendall’s τ_b [95 % CI]"), bounded("kendall_c", "τ_c [95 % CI]")
    numbers = bounded("spearman", "Spearman’s ρ [95 % CI]"), *taus, Column("p", "p (τ = 0)", kind="p")
    columns = (EVALUATOR, Column("other", "and", kind="text"), CORPUS, COUNT, *numbers, NOTE)

    def compute(view: View, options: Options) -> pd.DataFrame:
        records = []
        ends = [(name, end) for name in _CORRELATIONS for end in ("low", "high")]
        for (one, other), (corpus, own) in product(combinations(view.evaluators, 2), corpora(view.table)):
            keep = own & view.items
            both = view.table.clean(one)[keep], view.table.clean(other)[keep]
            found = rank_agreement(*both, groups=view.table.sources_of(keep))
            around = rank_correlations(*both, view.table.clusters(np.flatnonzero(keep)))
            said = dict.fromkeys(filter(None, (found.note, around[RHO].note)))
            row = {"evaluator": one, "other": other, "corpus": corpus, "n_items": found.n, "p": found.kendall_p}
            row |= {name: getattr(found, name) for name in _CORRELATIONS}
            row |= {f"{name}_{end}": getattr(around[_CORRELATIONS[name]], end) / 100 for name, end in ends}
            records.append({**row, "note": "; ".join(said)})
        bounds = [f"{name}_{end}" for name, end in ends]
        names = ["evaluator", "other", "corpus", "n_items", *_CORRELATIONS, *bounds, "p", "note"]
        return pd.DataFrame(records, columns=names)

    def needs(table: ScoreTable) -> str:
        if len(table.evaluators) > 1:
            return no_clean(table)
        others = sorted(set(left_out(table, "evaluator")["evaluator"]))
        further = f"{others[0]} is open too, but the scope leaves it out" if others else "audit a second one"
        return f"it compares evaluators and the scope has one, {table.evaluators[0]}; {further}"

    note = (
        "Rank correlations of the unedited scores of the same items, each with a 95 % bootstrap interval over the "
        f"pictures that items are made from, on Fisher’s scale; none below {LEAST_IMAGES} of them. Where items share "
        "such a picture, p is of the means over the items of each, since items of one are no independent evidence."
    )
    title = "Do the evaluators order the items alike?"
    return Question("S11", title, "summary", "agreement", note, columns, compute, needs, paper="3.3", clean=True)


def _rejections() -> Question:
    probe, code = Column("probe", "Probe", kind="text"), Column("code", "Reason", kind="text")
    columns = (CORPUS, probe, code, Column("n", "n items", digits=0))

    def compute(view: View, options: Options) -> pd.DataFrame:
        found = view.table.about["rejections"]
        return found.assign(probe=found["probe"].replace("", "the item itself")).reset_index(drop=True)

    note = (
        "Items and pairs that were left out, with the reason's short name; python -m core probes explains them. "
        "order-free is by construction: an evaluator that knows no order of a video's frames gives the video backwards "
        "the score of the video, and nothing was measured."
    )

    def needs(table: ScoreTable) -> str:
        return "" if len(table.about["rejections"]) else "the runs left nothing out"

    of = ("S13", "What was left out, and why", "summary", "runs")
    return Question(*of, note, columns, compute, needs, paper="A.3")


FAMILY = "precision"
SINGLE = PRECISIONS["fp32"]

_HALF_TESTS = "the half precisions of one evaluator"
_HALF = "Half precision: how much the arithmetic alone changes the score"
_HALF_NOTE = (
    "The score of an unedited item in half precision, held against the score of the same picture and caption in single "
    "precision by the same weights. % change is of the score in single precision. More than invisible edits: held "
    "against invisible edits of the same item, in single precision."
)
_HALF_OF = ("evaluator", "single", "precision", "corpus", "tests")
_HALF_NAMES = (*_HALF_OF, "largest", *bounds("further"), "than_null", "null_detectable")


class Twins(NamedTuple):
    """Two evaluators of one corpus that differ in their precision alone."""

    # half, single: names
    half: str
    single: str
    precision: str  # of the half, as its fingerprint says
    corpus: str  # that both scored


def of_precision(table: ScoreTable) -> tuple[Question, ...]:
    """The family, where an evaluator was audited in both precisions; without that nobody asks."""
    if not any(twins(table)):
        return ()
    single = Column("single", "In single precision", kind="text")
    precision = Column("precision", "Precision", kind="text")
    largest = Column("largest", "Largest |% change|")
    columns = (EVALUATOR, single, precision, CORPUS, COUNT, PERCENT, ABSOLUTE, largest, *FURTHER, *TESTS)
    values = (ABSOLUTE.name, ABSOLUTE.low, ABSOLUTE.high)
    make = Dots("evaluator", series="corpus", panel=(), values=values, axis="median |% change|")
    drawing = Drawing("F-precision", _HALF, "Median |% change| of the unedited items with its 95 % BCa interval.", make)

    def compute(view: View, options: Options) -> pd.DataFrame:
        return halves(view, margin=options.margin)

    note = f"{_HALF_NOTE} {how(_HALF_TESTS)}"
    question = Question("S-precision", _HALF, "summary", FAMILY, note, columns, compute, no_clean, (drawing,))
    return (replace(question, tests=_HALF_TESTS, asks=("margin",)),)


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


def halves(view: View, *, margin: float) -> pd.DataFrame:
    """A row for every pair of twins of a view; see _HALF_NOTE; ``margin``: equivalence margin in percent."""
    records: list[dict[str, object]] = []
    for pair in twins(view.table):
        if {pair.half, pair.single} <= set(view.evaluators):
            records += _half_row(view, pair, margin)
    columns = [*_HALF_NAMES, *(each.name for each in fields(Effect))]
    return with_holm(pd.DataFrame(records, columns=columns), by=("single", "corpus", "tests"))


def _half_row(view: View, pair: Twins, margin: float) -> list[dict[str, object]]:
    table = view.table
    changes, keep = table.beside(pair.half, pair.single), view.items & table.of_corpus(pair.corpus)
    found = effect(changes, keep, spread=table.spread(pair.single, pair.corpus), sources=table.sources, margin=margin)
    if found is None:
        return []
    if said := table.silent(pair.single, pair.corpus) or table.silent(pair.half, pair.corpus):
        found = replace(found, drift=said, scatter=said)
    sizes = changes.size[keep]
    largest = float(np.nanmax(sizes)) if (~np.isnan(sizes)).any() else np.nan
    over = further(view, pair.single, pair.corpus, lambda: changes.delta[None], called=(pair.half, FAMILY))
    told = (pair.half, pair.single, pair.precision, pair.corpus, FAMILY, largest, *over)
    return [dict(zip(_HALF_NAMES, told, strict=True)) | asdict(found)]


def sentences(view: View, *, margin: float) -> dict[str, str]:
    """What the precision does to each evaluator in half precision, a sentence with its numbers, in a view of one
    corpus; ``margin``: equivalence margin in percent."""
    return {str(row["evaluator"]): _sentence(row) for _, row in halves(view, margin=margin).iterrows()}


def _sentence(row: pd.Series) -> str:
    n = f"n = {row['n_items']}"
    if np.isnan(row["median_abs_percent"]):
        return f"Precision: {row['precision']} beside {row['single']}: {row['note'] or row['scatter']}, {n}."
    ends = "" if np.isnan(row["abs_low"]) else f" ({row['abs_low']:.2f} to {row['abs_high']:.2f})"
    null = "" if np.isnan(row["further_low"]) else f"; {row['than_null']}"
    return (
        f"Precision: {row['precision']} alone moves the unedited items from {row['single']} by median |% change| "
        f"{row['median_abs_percent']:.2f}{ends}, at most {row['largest']:.2f}{null}; {row['scatter']}, {n}."
    )
