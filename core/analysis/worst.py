"""Worst failures: the comparisons of one test whose wrong side an evaluator puts furthest above the right one."""

import numpy as np
import pandas as pd

from core.analysis.comparisons import families, pairs
from core.analysis.table import View

COLUMNS = ("run", "item", "subject", "probe", "corpus", "margin", "right", "wrong", "upheld")
"""PAIR of :mod:`core.analysis.failures`, corpus, then wrong minus right, both scores, and the share of people in [0, 1]
who uphold the comparison, NaN where no study asked."""


def worst_failures(
    view: View, evaluator: str, family: str, *, known: bool = False, limit: int = 12
) -> tuple[pd.DataFrame, int]:
    """The worst failures of one family under one evaluator, in the corpus in view.

    Args:
        view: of the table of scores.
        evaluator: whose scores.
        family: directional.
        known: leave out comparisons whose wrong side is not known to be wrong.
        limit: how many at most.

    Returns:
        COLUMNS, the largest margin (wrong minus right) first, of equal ones the first by item and probe; and how many
        failures there are. Empty where there is none.
    """
    probes = families(view).get(family, ())
    table = view.table
    if not probes:
        return pd.DataFrame(columns=list(COLUMNS)), 0
    both = pairs(view, evaluator, probes, known=known)
    margin = np.where(table.of_corpus(table.scope.corpus), both.wrong - both.right, np.nan)
    which, item = np.nonzero(margin >= 0)
    found = pd.DataFrame(
        {"run": table.scope.run, "item": table.items["item"].to_numpy(dtype=object)[item],
         "subject": table.scope.subject, "probe": np.array(probes, dtype=object)[which], "corpus": table.scope.corpus,
         "margin": margin[which, item], "right": both.right[which, item], "wrong": both.wrong[which, item],
         "upheld": table.upheld[table.places(probes)][which, item]}
    )  # fmt: skip
    found = found.sort_values(["margin", "item", "probe"], ascending=[False, True, True], kind="stable")
    return found.head(limit).reset_index(drop=True), len(found)
