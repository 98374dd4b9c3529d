"""How often people fail at the comparisons that evaluators fail at: a column beside failure rates.

Source: paper D, 4.1 and Table 4 (people fail 15.4 % of its pairs).
"""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from core.analysis.beside import caption_of, every_caption
from core.analysis.facts import verified
from core.analysis.people.comparisons import ALL, in_scope, judged_comparisons, people_rows
from core.analysis.questions.base import Column, Question
from core.analysis.questions.directional import RATES
from core.analysis.questions.overlap import ID as OVERLAP
from core.analysis.questions.prototype_pairs import WHOLE
from core.analysis.table import View
from core.human.studies import Study
from core.human.votes import vote_table

BESIDE = (RATES, OVERLAP)
"""Tables of failure rates that the column stands in."""

COLUMNS = (
    Column("people", "People fail, % [95 % CI]", digits=1, low="people_low", high="people_high",
           help="Of the judged comparisons of the family, those whose right side two thirds of the votes do not "
           "prefer or, where people only rated, whose right side is not rated higher; Wilson’s interval, those of "
           "one source together. Of several studies that which judged most"),
    Column("n_people", "n judged", digits=0, help="Comparisons that at least two people judged"),
)  # fmt: skip
_NAMES = ("people", "people_low", "people_high", "n_people")


def with_baseline(rates: pd.DataFrame, view: View, studies: Sequence[Study], *, known: bool = False) -> pd.DataFrame:
    """Put how often people fail beside failure rates, where a study asked.

    Args:
        rates: of a table of BESIDE: evaluator, corpus and family; caption where there are several; label where kinds
            have rows of their own, which get nothing.
        view: of the scores behind them; what it leaves out is left out of people's answers too.
        studies: that are here.
        known: leave out comparisons whose wrong side is not known to be wrong.

    Returns:
        The same with the columns of COLUMNS and of their intervals; unchanged where no study judged a family of it.
    """
    told = _judged(view, studies, known=known) if studies else pd.DataFrame()
    if told.empty:
        return rates
    captions = rates["caption"] if "caption" in rates else caption_of(view.table)
    whole = rates["label"] == rates["family"] if "label" in rates else True
    keys = ["corpus", "caption", "family"]
    both = rates.assign(caption=captions, whole=whole).merge(
        told.assign(whole=True), on=[*keys, "whole"], how="left", validate="m:1"
    )
    found = both[[*rates.columns, *_NAMES]]
    return found if found["n_people"].notna().any() else rates


def asked_of_people(question: Question, frame: pd.DataFrame) -> Question:
    """The question with the columns of people, where its answer has them."""
    if "n_people" not in frame:
        return question
    return replace(question, columns=with_columns(question.columns))


def with_columns(columns: tuple[Column, ...]) -> tuple[Column, ...]:
    """Columns of a table of failures with those of people behind the ties."""
    place = [each.name for each in columns].index("ties") + 1
    return (*columns[:place], *COLUMNS, *columns[place:])


def _judged(view: View, studies: Sequence[Study], *, known: bool) -> pd.DataFrame:
    """Columns corpus, caption, family and _NAMES: what people say of every family that a study judged."""
    records = list[Mapping[str, object]]()
    for table in every_caption(view.table):
        own = view if table is view.table else table.view(view.chosen)
        for study in studies:
            corpus, judged = judged_in(own, study, known=known)
            told = {"corpus": corpus, "caption": caption_of(table)}
            rows = people_rows(judged)
            records += [{**told, **_failing(row)} for row in rows[rows["family"] != ALL].to_dict("records")]
    found = pd.DataFrame(records)
    if found.empty:
        return found
    order = found.sort_values("n_people", ascending=False, kind="stable")
    return order.drop_duplicates(["corpus", "caption", "family"])


def _failing(row: Mapping[Hashable, Any]) -> Mapping[str, object]:
    of = "higher" if math.isnan(row["prefer"]) else "prefer"
    return {"family": row["family"], "people": 100 - row[of], "people_low": 100 - row[f"{of}_high"],
            "people_high": 100 - row[f"{of}_low"], "n_people": row["n"]}  # fmt: skip


# People's mean ratings of both sides of comparisons, as rows beside those of evaluators. Source: paper E, Table 2.


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
