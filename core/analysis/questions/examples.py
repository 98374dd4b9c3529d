"""Examples: one comparison of every directional family, and which evaluators saw that its meaning broke.

Source: paper E, Figure 1. Ids and marks alone; the pairs with their captions and pictures are those of
:mod:`core.report.pair_slides`, and on the page Contrast tests.
"""

import numpy as np
import pandas as pd

from core.analysis.comparisons import families, pairs
from core.analysis.questions import papers
from core.analysis.questions.base import Column, Options, Question
from core.analysis.questions.columns import CORPUS
from core.analysis.questions.directional import DEPTH, SECTION, WHAT, needs
from core.analysis.table import ScoreTable, View
from core.seeds import RUN_SEED, stream

RIGHT, WRONG, TIE, NONE = "✓", "✗", "✗ tie", "–"


def questions(table: ScoreTable) -> tuple[Question, ...]:
    """The table of examples, a column of marks for every evaluator."""
    id_, paper = papers.EXAMPLES
    columns = (
        CORPUS, WHAT, Column("probe", "Probe", kind="text"), Column("item", "Item", kind="text"),
        *(Column(name, name, kind="text") for name in table.evaluators),
    )  # fmt: skip
    note = (
        f"One comparison of every family, drawn with seed {RUN_SEED} among those that most evaluators scored, whatever "
        f"these made of it. {RIGHT}: the right side scores higher; {WRONG}: it does not; {NONE}: a side has no score. "
        "An example proves nothing; the rates do."
    )
    return (
        Question(id_, "Which evaluators see that the meaning broke? Examples", SECTION, DEPTH, note, columns, examples,
                 needs, paper=paper, asks=("known",)),
    )  # fmt: skip


def examples(view: View, options: Options) -> pd.DataFrame:
    """One comparison of every family of the slice's caption, in the corpus that the others are held against.

    Returns:
        corpus, family, probe, item, and a column of marks for every evaluator.
    """
    table, corpus = view.table, view.table.reference
    own = table.of_corpus(corpus)
    records = []
    for family, probes in families(view).items():
        sides = {name: pairs(view, name, probes, known=options.known) for name in view.evaluators}
        scored = np.array([~np.isnan(each.right - each.wrong) & own for each in sides.values()])
        most = scored.sum(axis=0)
        if not most.any():
            continue
        which, items = np.nonzero(most == most.max())
        drawn = int(stream(RUN_SEED, "example", family).integers(len(which)))
        place = which[drawn], items[drawn]
        told = {name: _mark(float(each.right[place]), float(each.wrong[place])) for name, each in sides.items()}
        marks = {name: told.get(name, NONE) for name in table.evaluators}
        item = str(table.items["item"].to_numpy(dtype=object)[place[1]])
        records.append({"corpus": corpus, "family": family, "probe": probes[place[0]], "item": item, **marks})
    return pd.DataFrame(records, columns=["corpus", "family", "probe", "item", *table.evaluators])


def _mark(right: float, wrong: float) -> str:
    if np.isnan(right - wrong):
        return NONE
    return RIGHT if right > wrong else TIE if right == wrong else WRONG
