"""People's mean ratings of both sides of comparisons, as rows beside those of evaluators. Source: paper E, Table 2."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from core.analysis.facts import verified
from core.analysis.people.comparisons import in_scope, judged_comparisons, people_rows
from core.analysis.questions.adversary import WHOLE
from core.analysis.table import View
from core.human.studies import Study
from core.human.votes import vote_table


def with_people(means: pd.DataFrame, view: View, studies: Sequence[Study], *, known: bool = False) -> pd.DataFrame:
    """Put people's ratings of both sides below the means of evaluators.

    Args:
        means: of the means of both sides, by evaluator, corpus and family.
        view: of the scores behind them; what it leaves out is left out of people's ratings too.
        studies: that are here; those of other runs, and those that rated no side, add nothing.
        known: leave out comparisons whose wrong side is not known to be wrong.

    Returns:
        The same with a row a study and family whose sides were rated: ``evaluator`` names the study, raw and scaled
        means are ratings on [0, 1].
    """
    rows = [row for study in studies for row in _rows(view, study, set(means["family"]), known=known)]
    return pd.concat([means, pd.DataFrame(rows)], ignore_index=True) if rows else means


def _rows(view: View, study: Study, families: set[str], *, known: bool) -> list[dict[str, object]]:
    corpus, judged = judged_in(view, study, known=known)
    rated = people_rows(judged).dropna(subset=["mean_right", "mean_wrong"])
    return [
        {"evaluator": f"people, study {study.id}", "corpus": corpus, "family": row["family"],
         "of": WHOLE, "n": row["n"], "n_items": row["n_items"], "mean_right": row["mean_right"],
         "mean_wrong": row["mean_wrong"], "scaled_right": row["mean_right"], "scaled_wrong": row["mean_wrong"],
         "note": f"mean ratings on [0, 1]; the right one is rated higher in {row['higher']:.0f} % of them"}
        for row in rated.to_dict("records") if row["family"] in families
    ]  # fmt: skip


def judged_in(view: View, study: Study, *, known: bool = False) -> tuple[str, pd.DataFrame]:
    """The corpus that a study is of, and what it says of the comparisons that a slice leaves.

    Returns:
        The name, empty where the scope does not hold the study's run; and rows of
        :func:`core.analysis.people.comparisons.judged_comparisons`.
    """
    corpus = {run: name for name, run in view.table.scope.runs}.get(study.definition.run, "")
    judged, _ = judged_comparisons(vote_table(study), study.definition.asked)
    judged = in_scope(judged, view.table) if corpus else judged.head(0)
    return corpus, judged[_looked_at(view, judged, known=known)].reset_index(drop=True)


def _looked_at(view: View, judged: pd.DataFrame, *, known: bool) -> np.ndarray:
    """Which judged comparisons a slice leaves, bool [n]."""
    table = view.table
    places = pd.MultiIndex.from_frame(table.items[["corpus", "item"]])
    items = places.get_indexer(pd.MultiIndex.from_frame(judged[["corpus", "item"]]))
    probes = table.probes.index.get_indexer(pd.Index(judged["probe"], dtype=object))
    there = np.broadcast_to(view.items, (len(table.probes), len(view.items)))
    names = tuple(map(str, table.probes.index))
    kept = [each for name in table.evaluators if (each := view.where(name, names)) is not None]
    if kept:
        there = there & np.logical_or.reduce(kept)
    if known:
        there = there & verified(table, names)
    found = (items >= 0) & (probes >= 0)
    found[found] = there[probes[found], items[found]]
    return np.asarray(found)
