"""What stands behind the scores: the evaluators, how far they agree, and what was left out."""

from itertools import combinations

import numpy as np
import pandas as pd

from core.analysis.effects import corpora
from core.analysis.preferences import LEAST_IMAGES, RHO, rank_correlations
from core.analysis.questions.base import Column, Options, Question
from core.analysis.questions.columns import CORPUS, COUNT, EVALUATOR
from core.analysis.questions.needs import left_out, no_clean
from core.analysis.table import ScoreTable, View
from core.corpora.suites import TAU_B, TAU_C
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
    columns = (
        Column("run", "Run", kind="text"), CORPUS, EVALUATOR, Column("key", "Fingerprint", kind="text"),
        Column("weights", "Weights (sha256, first digits)", kind="text"), Column("precision", "Precision", kind="text"),
        Column("images", "Pictures", digits=0), Column("seconds", "s a picture", digits=3, help=_TIME),
        Column("machine", "Scored on", kind="text"),
        *((Column("origin", "Imported", kind="text"),) if imported else ()),
    )  # fmt: skip

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
    columns = (
        EVALUATOR, Column("other", "and", kind="text"), CORPUS, COUNT,
        Column("spearman", "Spearman’s ρ [95 % CI]", low="spearman_low", high="spearman_high"),
        Column("kendall_b", "Kendall’s τ_b [95 % CI]", low="kendall_b_low", high="kendall_b_high"),
        Column("kendall_c", "τ_c [95 % CI]", low="kendall_c_low", high="kendall_c_high"),
        Column("p", "p (τ = 0)", kind="p"),
        Column("note", "Remark", kind="text"),
    )  # fmt: skip

    def compute(view: View, options: Options) -> pd.DataFrame:
        records = []
        for one, other in combinations(view.evaluators, 2):
            for corpus, own in corpora(view.table):
                keep = own & view.items
                both = view.table.clean(one)[keep], view.table.clean(other)[keep]
                found = rank_agreement(*both, groups=view.table.sources_of(keep))
                around = rank_correlations(*both, view.table.clusters(np.flatnonzero(keep)))
                ends = {
                    f"{name}_{end}": getattr(around[known], end) / 100
                    for name, known in _CORRELATIONS.items() for end in ("low", "high")
                }  # fmt: skip
                said = dict.fromkeys(filter(None, (found.note, around[RHO].note)))
                records.append(
                    {"evaluator": one, "other": other, "corpus": corpus, "n_items": found.n,
                     "spearman": found.spearman, "kendall_b": found.kendall_b, "kendall_c": found.kendall_c, **ends,
                     "p": found.kendall_p, "note": "; ".join(said)}
                )  # fmt: skip
        bounds = [f"{name}_{end}" for name in _CORRELATIONS for end in ("low", "high")]
        names = ["evaluator", "other", "corpus", "n_items", *_CORRELATIONS, *bounds, "p", "note"]
        return pd.DataFrame(records, columns=names)

    def needs(table: ScoreTable) -> str:
        if len(table.evaluators) > 1:
            return no_clean(table)
        others = sorted(set(left_out(table, "evaluator")["evaluator"]))
        further = f"{others[0]} is open too, but the scope leaves it out" if others else "audit a second one"
        return f"it compares evaluators and the scope holds one, {table.evaluators[0]}; {further}"

    note = (
        "Rank correlations of the clean scores of the same items, each with a 95 % bootstrap interval over the pictures"
        f" that items are made from, on Fisher’s scale; none below {LEAST_IMAGES} of them. Where items share such a "
        "picture, p is of the means over the items of each, since items of one are no independent evidence."
    )
    return Question("S11", "Do the evaluators order the items alike?", "summary", "agreement", note, columns, compute,
                    needs, paper="3.3", clean=True)  # fmt: skip


def _rejections() -> Question:
    columns = (CORPUS, Column("probe", "Probe", kind="text"), Column("code", "Reason", kind="text"),
               Column("n", "n items", digits=0))  # fmt: skip

    def compute(view: View, options: Options) -> pd.DataFrame:
        found = view.table.about["rejections"]
        return found.assign(probe=found["probe"].replace("", "the item itself")).reset_index(drop=True)

    note = (
        "Items and pairs that were left out, with the reason's short name; python -m core probes explains them. "
        "order-free is by construction: an evaluator that knows no order of a video's frames gives the video backwards "
        "the score of the video, and nothing was measured."
    )
    return Question("S13", "What was left out, and why", "summary", "runs", note, columns, compute,
                    lambda table: "" if len(table.about["rejections"]) else "the runs left nothing out",
                    paper="A.3")  # fmt: skip
