"""How alike the two captions of a comparison are in their words: a test of shared words is a test of grounding.

Paper D's pairs share most of their words, so that no score can tell them by words alone; its F1 stands beside each of
our tests. Source: paper D, 4.1 and Table 4.
"""

from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np
import pandas as pd

from core.analysis.comparisons import Capability, comparison_rows, families, pairs, percent
from core.analysis.effects import corpora
from core.analysis.questions.columns import COUNT, HEAD, NOTE
from core.analysis.questions.comparison_columns import FAILURE, PAIRS, TIES, WHAT
from core.analysis.questions.directional import DEPTH, SECTION, needs
from core.analysis.questions.question import Column, Options, Question, bounded
from core.analysis.table import ScoreTable, View
from core.probes.words.caption_words import LANGUAGES, words
from core.statistics.bootstrap import Interval
from core.statistics.shares import share

ID, PAPER = "C17", "D, Table 4"


def questions(table: ScoreTable) -> tuple[Question, ...]:
    """One table: overlap and failures of every family that breaks a caption."""
    help_ = "Mean over comparisons of the F1 of both captions’ sets of words, without case and punctuation; 1: the same"
    f1 = Column("f1", "Word overlap, F1", digits=3, help=f"{help_} words")
    help_ = "Both captions hold the same words, in another order or number; Wilson’s interval over sources"
    same = bounded("same", "Same words, % [95 % CI]", digits=1, help=help_)
    columns = (*HEAD, WHAT, COUNT, PAIRS, f1, same, FAILURE, TIES, NOTE)
    note = (
        "Comparisons of two captions of one picture, scored on both sides; those of two pictures have one caption. "
        "Paper D prints an F1 of 0.725 of its own pairs and of 0.224 of Composite’s. Japanese words are those of a "
        "dictionary."
    )
    title = "How many words do right and wrong captions share?"
    return (Question(ID, title, SECTION, DEPTH, note, columns, _compute, _lacking, paper=PAPER, asks=("known",)),)


def token_f1(right: str, wrong: str, language: str = "en") -> float:
    """F1 of the sets of words of two captions, in [0, 1]; NaN where neither has a word.

    Example:
        >>> round(token_f1("A dog, a cat.", "a dog and a bird"), 3)
        0.571
    """
    one, other = _set(right, language), _set(wrong, language)
    return 2 * len(one & other) / (len(one) + len(other)) if one or other else float("nan")


@cache
def _set(caption: str, language: str) -> frozenset[str]:
    return frozenset(word.core.casefold() for word in words(caption, language) if word.core)


def _lacking(table: ScoreTable) -> str:
    if why := needs(table):
        return why
    if table.texts is None:
        return "the captions of this table cannot be read again"
    if table.scope.language in LANGUAGES:
        return ""
    return f"words are told apart in {', '.join(LANGUAGES)}, and the captions are in {table.scope.language}"


def _compute(view: View, options: Options) -> pd.DataFrame:
    found = families(view)
    asked = [Capability(name, name, view.table.axis_of(name), probes) for name, probes in found.items()]
    frame = comparison_rows(view, asked, known=options.known)
    told = [_told(view, row, found, known=options.known) for row in frame.to_dict("records")]
    same = pd.DataFrame([percent("same", same) for _, same in told], columns=["same", "same_low", "same_high"])
    whole = frame.assign(f1=[f1 for f1, _ in told]).join(same)
    return whole[whole["f1"].notna()].reset_index(drop=True)


def _told(
    view: View, row: Mapping[object, object], found: Mapping[str, tuple[str, ...]], *, known: bool
) -> tuple[float, Interval]:
    """Mean overlap, and share with the same words, of the comparisons of a row; NaN without two captions."""
    probes = found[str(row["family"])]
    both = pairs(view, str(row["evaluator"]), probes, known=known)
    own = dict(corpora(view.table))[str(row["corpus"])]
    words_shared = overlaps(view.table, probes)
    there = ~np.isnan(both.right + both.wrong) & own & ~np.isnan(words_shared)
    values, items = words_shared[there], np.broadcast_to(np.arange(len(own)), there.shape)[there]
    groups = view.table.clusters(items)
    return float(values.mean()) if len(values) else float("nan"), share(values == 1, groups=groups)


def overlaps(table: ScoreTable, probes: Sequence[str]) -> np.ndarray:
    """F1 of both captions of every comparison of some probes, float64 [k, N]; NaN where they are one or not told."""
    return table.memo(_laid_out, tuple(probes))


def _laid_out(table: ScoreTable, probes: tuple[str, ...]) -> np.ndarray:
    places = table.places(probes)
    baselines = table.baselines[:, places].max(axis=0)  # every evaluator that scored a pair names the same one
    names = list(map(str, table.probes.index))
    wanted = sorted({*probes, *(names[place] for place in np.unique(baselines[baselines >= 0]))})
    rows = pd.DataFrame() if table.texts is None else table.texts(wanted)
    keys = zip(*(rows.get(name, pd.Series(dtype=object)).tolist() for name in ("corpus", "item", "probe")), strict=True)
    said = dict(zip(keys, rows.get("caption", pd.Series(dtype=object)).tolist(), strict=True))
    items = list(zip(table.items["corpus"], table.items["item"], strict=True))
    found = np.full(baselines.shape, np.nan)
    for probe, place in np.argwhere(baselines >= 0).tolist():
        right, wrong = (said.get((*items[place], names[name])) for name in (baselines[probe, place], places[probe]))
        if isinstance(right, str) and isinstance(wrong, str) and right != wrong:
            found[probe, place] = token_f1(right, wrong, table.scope.language)
    return found
