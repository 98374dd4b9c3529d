"""Kinds of wrong answers held against each other, and the hardest of several: what one failure rate does not say.

Sources: paper D, 4.2 (difference of differences) and 4.5; FOIL-COCO keeps the foil that a captioner finds hardest.
"""

import math
from collections.abc import Mapping
from itertools import combinations

import numpy as np
import pandas as pd

from core.analysis.comparisons import DIRECTIONAL, families, pairs, percent
from core.analysis.effects import corpora, corrected, median_over
from core.analysis.questions import papers
from core.analysis.questions.base import Column, Options, Question
from core.analysis.questions.columns import CORPUS, COUNT, EVALUATOR
from core.analysis.questions.directional import CORRECTED, DEPTH, MADE, NOTE, PAIRS, SECTION, WHAT, needs
from core.analysis.table import ScoreTable, View
from core.analysis.verdicts import with_conflicts
from core.statistics.shares import share
from core.statistics.shift_tests import paired_test

_DIFFERENCES = ("evaluator", "corpus", "family", "above", "below", "label", "tests", "n_items", "value", "low", "high",
                "delta", "test", "p", "note")  # fmt: skip
_HARDEST = ("evaluator", "corpus", "family", "n_items", "n", "each", "each_low", "each_high", "hardest", "hardest_low",
            "hardest_high", "ties", "ties_low", "ties_high", "note")  # fmt: skip

LEAST = 2
"""Wrong sides of an item that have a hardest one."""


def questions(table: ScoreTable) -> tuple[Question, ...]:
    """Differences of differences, and mean and hardest of several foils."""
    return (_differences(), _hardest())


def _differences() -> Question:
    columns = (
        EVALUATOR, CORPUS, WHAT, Column("above", "Drop under this", kind="text"),
        Column("below", "minus drop under this", kind="text"), COUNT,
        Column("value", "Median, SD [95 % CI]", digits=3, signed=True, low="low", high="high",
               help="Above 0: the first kind costs more. In standard deviations of the evaluator’s clean scores"),
        Column("delta", "Median, raw", digits=4, signed=True), *CORRECTED, NOTE,
    )  # fmt: skip
    note = (
        "Wrong sides of several kinds that replace the same right side: of each item how much more one kind costs than "
        "another, (right − first) − (right − second). Median over items with its 95 % BCa interval; paired test; "
        "Holm’s correction within evaluator, corpus and family over the pairs of kinds."
    )
    return Question("C18-differences", "Does one kind of wrong answer cost more than another?", SECTION, MADE, note,
                    columns, _of_kinds, _no_kinds, paper=papers.ORDERS[1], tests="the pairs of kinds",
                    asks=("known",))  # fmt: skip


def _kinds(table: ScoreTable) -> dict[str, tuple[str, ...]]:
    found = table.of_expectation(DIRECTIONAL)
    return {family: probes for family, probes in found.items() if len(probes) > 1}


def _no_kinds(table: ScoreTable) -> str:
    if _kinds(table):
        return ""
    return needs(table) or "no family here replaces one right side by wrong sides of several kinds; grounding does"


def _of_kinds(view: View, options: Options) -> pd.DataFrame:
    table, records = view.table, list[Mapping[str, object]]()
    for evaluator in view.evaluators:
        kept = families(view)
        for family, names in families(view.whole()).items():
            if len(kept.get(family, ())) < LEAST:
                continue
            both = pairs(view, evaluator, names, known=options.known)
            right = table.baselines[table.place(evaluator), table.places(names)]
            for (one, above), (other, below) in combinations(enumerate(names), 2):
                drops = np.where(right[one] == right[other], both.right - both.wrong, math.nan)
                values = drops[one] - drops[other]
                for corpus, own in corpora(table):
                    items = own & view.items & ~np.isnan(values)
                    if items.any():
                        told = {"evaluator": evaluator, "corpus": corpus, "family": family, "above": above,
                                "below": below, "label": f"{above} − {below}", "tests": family,
                                "shown": {above, below} <= set(kept[family])}  # fmt: skip
                        records.append({**told, **_difference(table, values, items, table.spread(evaluator, corpus))})
    return with_conflicts(corrected(pd.DataFrame(records, columns=[*_DIFFERENCES, "shown"])))


def _difference(table: ScoreTable, values: np.ndarray, items: np.ndarray, spread: float) -> Mapping[str, object]:
    found, unit = median_over(values, items, table.sources), spread if spread > 0 else math.nan
    groups = table.sources_of(items)
    test = paired_test(np.zeros(int(items.sum())), values[items], groups=groups)
    return {
        "n_items": found.n, "value": found.estimate / unit, "low": found.low / unit, "high": found.high / unit,
        "delta": found.estimate, "test": test.name, "p": test.p, "note": found.note,
    }  # fmt: skip


def _hardest() -> Question:
    columns = (
        EVALUATOR, CORPUS, WHAT, COUNT, PAIRS,
        Column("each", "Failures, mean over siblings, % [95 % CI]", digits=1, low="each_low", high="each_high"),
        Column("hardest", "Failures, hardest sibling, % [95 % CI]", digits=1, low="hardest_low", high="hardest_high",
               help="Any sibling of the item scores at least as high as the right caption"),
        Column("ties", "Ties with the hardest, % [95 % CI]", digits=1, low="ties_low", high="ties_high"), NOTE,
    )  # fmt: skip
    note = (
        "Every sibling that can be named in an object’s place is a foil of its own: how often one of them fools the "
        "evaluator, on average, and how often the hardest does, the one that this evaluator scores highest. FOIL-COCO "
        "keeps the one that a captioner finds hardest. Items of two siblings or more; Wilson’s interval over items, "
        "those of one source together."
    )
    return Question("C11-siblings", "FOIL with every sibling: the mean and the hardest", SECTION, DEPTH, note, columns,
                    _of_siblings, _no_siblings, paper="C, Table 4; D, 4.2", asks=("known",))  # fmt: skip


def _siblings(table: ScoreTable) -> tuple[str, ...]:
    rows = table.probes[table.probes["family"] == papers.FOIL]
    return tuple(map(str, rows.index[rows["expectation"] == DIRECTIONAL]))


def _no_siblings(table: ScoreTable) -> str:
    if len(_siblings(table)) >= LEAST:
        return ""
    return needs(table) or "one sibling an object was drawn; --probes foil,foil-siblings scores every one"


def _of_siblings(view: View, options: Options) -> pd.DataFrame:
    table, records = view.table, list[Mapping[str, object]]()
    names = view.probes(_siblings(table))
    for evaluator in view.evaluators if len(names) >= LEAST else ():
        both = pairs(view, evaluator, names, known=options.known)
        margin = np.where(view.items, both.right - both.wrong, math.nan)
        several = (~np.isnan(margin)).sum(axis=0) >= LEAST
        for corpus, own in corpora(table):
            kept = own & several
            if kept.any():
                groups = table.sources_of(kept)
                told = {"evaluator": evaluator, "corpus": corpus, "family": papers.FOIL}
                records.append({**told, **_of_items(margin[:, kept], groups)})
    return pd.DataFrame(records, columns=list(_HARDEST))


def _of_items(margin: np.ndarray, groups: np.ndarray | None) -> Mapping[str, object]:
    """Of margins [k, n], NaN where an item has no such sibling."""
    there, lowest = ~np.isnan(margin), np.nanmin(margin, axis=0)
    items = np.broadcast_to(np.arange(margin.shape[1]) if groups is None else groups, margin.shape)[there]
    each, hardest = share(margin[there] <= 0, groups=items), share(lowest <= 0, groups=groups)
    return {
        "n_items": len(lowest), "n": int(there.sum()), **percent("each", each), **percent("hardest", hardest),
        **percent("ties", share(lowest == 0, groups=groups)), "note": hardest.note,
    }  # fmt: skip
