"""What people say of comparisons: do they prefer the right side, and how often do they fail where evaluators fail?

The evaluators stand beside them on exactly the same comparisons.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from core.analysis.beside import caption_of, every_caption
from core.analysis.comparisons import pairs, percent
from core.analysis.effects import bounds, ends
from core.analysis.facts import verified
from core.analysis.questions.both_sides import OVERLAP
from core.analysis.questions.caption_sets import WHOLE
from core.analysis.questions.directional import RATES
from core.analysis.questions.question import Column, Question
from core.analysis.reading import read_table
from core.analysis.scope import Scope
from core.analysis.table import ScoreTable, View
from core.errors import InvalidInput
from core.features.human.crossed_votes import Exchange, exchange, rate
from core.features.human.definition import ORIGINAL, VARIANT
from core.features.human.kinds import TIE, Kind
from core.features.human.studies import Study
from core.features.human.study_outcomes import (
    CLOSE,
    FEWEST,
    MAJORITY,
    NO_MAJORITY,
    SOURCES,
    in_numbers,
    majority_preference,
    sources_of,
)
from core.features.human.votes import vote_table
from core.statistics.bootstrap import Interval
from core.statistics.comparisons import failures
from core.store.store import Store

ALL = "all comparisons"  # name of the row over every family
RIGHT, WRONG = "right", "wrong"
COMPARISON = ("corpus", "item", "probe", "subject", "language", "rank")  # what a comparison is of
JUDGED = (*COMPARISON, "family", *SOURCES, "votes", "preference", "rated_right", "rated_wrong", "exchanged", "live")
PEOPLE = (
    "family", "n", "n_items", "n_votes", "prefer", "prefer_low", "prefer_high", "against", "against_low",
    "against_high", "tied", "tied_low", "tied_high", "undecided", "undecided_low", "undecided_high", "higher",
    "higher_low", "higher_high", "equal", "equal_low", "equal_high", "mean_right", "mean_wrong", "gap",
    "gap_low", "gap_high", "annotators", "note",
)  # fmt: skip
EVALUATORS = ("family", "evaluator", "n", "n_missing", *bounds("failure"), *bounds("ties"), "note")


def judged_comparisons(votes: pd.DataFrame, kind: Kind, *, live: bool = False) -> tuple[pd.DataFrame, int]:
    """What people say of every comparison of a study.

    Attention items and pairs that are no comparison are left out. ``live``: votes still come in, so that intervals have
    to hold at every look.

    Returns:
        One row a comparison of which both sides have at least FEWEST votes, columns JUDGED: votes (of the side that
        has fewer), preference (of two thirds of the votes: RIGHT, WRONG, TIE or NO_MAJORITY; None where it was not
        asked), rated_right and rated_wrong (mean answer about each side on [0, 1] of the kind's scale), exchanged (the
        comparison as a unit of :class:`core.features.human.crossed_votes.Exchange`: what its votes say, the annotator
        of each, and what moves where it is exchanged), live; and how many comparisons have fewer.
    """
    own = votes[votes["directional"] & ~votes["attention"]]
    found = [
        {**dict(zip(COMPARISON, key, strict=True)), **_judged(rows, kind)}
        for key, rows in own.groupby(list(COMPARISON), sort=True)
    ]
    table = pd.DataFrame(found, columns=list(JUDGED))
    table["live"] = live
    enough = table["votes"] >= FEWEST
    return table[enough].reset_index(drop=True), int((~enough).sum())


def score_tables(store: Store, run: str, judged: pd.DataFrame) -> list[ScoreTable]:
    """Scores of the run that a study is of, for every caption that some judged comparisons hold, as far as they are
    here."""
    found = []
    for row in judged[["subject", "language"]].drop_duplicates().itertuples():
        with suppress(InvalidInput):  # the run is gone, or another of that name is here: what is missing is counted
            scope = Scope(runs=(run,), subject=str(row.subject), language=str(row.language))
            found.append(read_table(store, scope))
    return found


def in_scope(judged: pd.DataFrame, table: ScoreTable) -> pd.DataFrame:
    """The comparisons whose captions are those of a table."""
    return judged[_of(table, judged)].reset_index(drop=True)


def people_rows(judged: pd.DataFrame) -> pd.DataFrame:
    """What people say of judged comparisons, by family and over all.

    Returns:
        PEOPLE, a row a family and then ALL: n comparisons of n_items items with n_votes votes; prefer, against, tied
        and undecided (shares of comparisons whose majority prefers the right side, the wrong one, neither, or that
        have no majority), higher and equal (shares whose right side has the higher mean rating, or the same), all in
        percent; mean ratings of both sides on [0, 1] and their difference, gap; intervals for people and comparisons
        like these, those of one source together; how many annotators. What was not asked is NaN. Empty where nothing
        was judged.
    """
    return pd.DataFrame([_people(name, own) for name, own in _parts(judged)], columns=list(PEOPLE))


def evaluator_rows(judged: pd.DataFrame, tables: Iterable[ScoreTable]) -> pd.DataFrame:
    """How often every evaluator fails on exactly the comparisons that people judged, by family and over all.

    ``tables``: scores of the study's run, one a subject and language; a comparison whose table is not among them is
    missing.

    Returns:
        EVALUATORS, a row a family and evaluator, ALL last: failure (share of the n comparisons with both scores whose
        wrong side scores at least as high) and the ties among them, in percent, Wilson's intervals over comparisons,
        those of one source together; n_missing comparisons lack a score. Empty where no evaluator scored one.
    """
    scored = list(tables)
    names = sorted({name for table in scored for name in table.evaluators})
    sides = {name: _sides(judged, scored, name) for name in names}
    rows = [
        {"family": family, "evaluator": name, **_failures(own, sides[name][own.index.to_numpy()])}
        for family, own in _parts(judged)
        for name in names
    ]
    return pd.DataFrame(rows, columns=list(EVALUATORS))


def _judged(rows: pd.DataFrame, kind: Kind) -> dict[str, Any]:
    means = {version: rows[version].mean() for version in (ORIGINAL, VARIANT)}
    asked = rows["preferred"].dropna()
    named = {ORIGINAL: RIGHT, VARIANT: WRONG, TIE: TIE, NO_MAJORITY: NO_MAJORITY}
    sides = rows[[ORIGINAL, VARIANT]].map(kind.share).to_numpy(dtype=np.float64)
    preferred = rows["preferred"].to_numpy()[:, None] == np.array([ORIGINAL, VARIANT, TIE], dtype=object)
    marks = np.column_stack([~np.isnan(sides), np.nan_to_num(sides), preferred]).astype(np.float64)
    within = np.unique(rows["id"].to_numpy(dtype=str), return_inverse=True)[1]
    people = rows["annotator"].to_numpy(dtype=str)
    return {
        "family": rows["family"].iloc[0],
        **sources_of(rows),
        "votes": int(min(rows[version].notna().sum() for version in means)),
        "preference": named[majority_preference(asked)] if len(asked) else None,
        "rated_right": kind.share(means[ORIGINAL]),
        "rated_wrong": kind.share(means[VARIANT]),
        "exchanged": exchange(marks, np.zeros(len(rows), dtype=np.int64), people, _tell, within=within),
    }


_TOLD = (RIGHT, WRONG, TIE, NO_MAJORITY, "higher", "equal", "gap", "asked", "rated")


def _tell(sums: np.ndarray) -> np.ndarray:
    """What sums over a comparison say, a column each of _TOLD."""
    rated = (sums[:, :2] > 0).all(axis=1)
    gap = np.where(rated, sums[:, 2] / np.maximum(sums[:, 0], 1) - sums[:, 3] / np.maximum(sums[:, 1], 1), 0.0)
    asked = sums[:, 4:].sum(axis=1)
    won = (sums[:, 4:] >= (MAJORITY - CLOSE) * np.maximum(asked, 1)[:, None]) & (asked > 0)[:, None]
    none = (asked > 0) & ~won.any(axis=1)
    return np.column_stack([won, none, gap > CLOSE, (np.abs(gap) <= CLOSE) & rated, gap, asked > 0, rated])


def _parts(judged: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    yield from ((str(name), own) for name, own in judged.groupby("family", sort=True))
    if len(judged):
        yield ALL, judged


def _people(family: str, own: pd.DataFrame) -> dict[str, Any]:
    parts: list[Exchange] = list(own["exchanged"])  # comparisons one by one are the units of a rate
    units = np.repeat(np.arange(len(parts)), [len(each.people) for each in parts])
    told, people, moved = (
        np.concatenate([getattr(each, name) for each in parts]) for name in ("told", "people", "moved")
    )
    found, groups, live = Exchange(told, units, people, moved), in_numbers(own), bool(own["live"].any())

    def part(name: str, of: str, *, bounded: bool = True) -> Interval:
        top, bottom = _TOLD.index(name), _TOLD.index(of)
        return rate(found, top, bottom=bottom, groups=groups, live=live, bounded=bounded).interval()

    apart = part("gap", "rated", bounded=False)
    shares = {
        name: part(what, "asked")
        for name, what in (("prefer", RIGHT), ("against", WRONG), ("tied", TIE), ("undecided", NO_MAJORITY))
    } | {name: part(name, "rated") for name in ("higher", "equal")}
    return {
        "family": family,
        "n": len(own),
        "n_items": len(own.drop_duplicates(["corpus", "item"])),
        "n_votes": int(own["votes"].sum()),
        **{column: value for name, each in shares.items() for column, value in percent(name, each).items()},
        "mean_right": own["rated_right"].mean(),
        "mean_wrong": own["rated_wrong"].mean(),
        **ends(apart, bounds("gap")),
        "annotators": len(np.unique(found.people)),
        "note": shares["higher"].note,
    }


def _failures(own: pd.DataFrame, sides: np.ndarray) -> dict[str, Any]:
    there = ~np.isnan(sides).any(axis=1)
    right, wrong = sides[there].T
    failure, ties = failures(right, wrong, groups=in_numbers(own)[there])
    counts = {"n": int(there.sum()), "n_missing": int((~there).sum())}
    return {**counts, **percent("failure", failure), **percent("ties", ties), "note": failure.note}


def _sides(judged: pd.DataFrame, tables: Iterable[ScoreTable], evaluator: str) -> np.ndarray:
    """Scores of both sides of every comparison, float64 [n, 2]; NaN where there is none."""
    found = np.full((len(judged), 2), math.nan)
    for table in (each for each in tables if evaluator in each.evaluators):
        names = pd.MultiIndex.from_frame(table.items[["corpus", "item"]])
        for probe, own in judged[_of(table, judged)].groupby("probe"):
            places = names.get_indexer(pd.MultiIndex.from_frame(own[["corpus", "item"]]))
            there = places >= 0
            if str(probe) in table.probes.index and there.any():
                scored = pairs(table.view(), evaluator, (str(probe),))
                rows = own.index.to_numpy()[there]
                found[rows] = np.column_stack([scored.right[0, places[there]], scored.wrong[0, places[there]]])
    return found


def _of(table: ScoreTable, judged: pd.DataFrame) -> np.ndarray:
    """Which comparisons are of the captions that a table holds, bool [n]."""
    scope = table.scope
    own = (judged["subject"] == scope.subject) & (judged["language"] == scope.language)
    return np.asarray(own & (judged["rank"] == scope.rank))


BESIDE = (RATES, OVERLAP)  # tables of failure rates that the column stands in

_FAILING = (
    "Of the judged comparisons of the family, those whose right side two thirds of the votes do not prefer or, where "
    "people only rated, whose right side is not rated higher; the interval is about people and comparisons like these. "
    "Of several studies that which judged most"
)
BESIDE_COLUMNS = (
    Column("people", "People fail, % [95 % CI]", digits=1, low="people_low", high="people_high", help=_FAILING),
    Column("n_people", "n judged", digits=0, help="Comparisons that at least two people judged"),
)
_NAMES = ("people", "people_low", "people_high", "n_people")


def with_baseline(rates: pd.DataFrame, view: View, studies: Sequence[Study], *, known: bool = False) -> pd.DataFrame:
    """Put how often people fail (BESIDE_COLUMNS and their intervals) beside failure rates, where a study judged a
    family of them.

    Args:
        rates: of a table of BESIDE: evaluator, corpus and family; caption where there are several; label where kinds
            have rows of their own, which get nothing.
        view: of the scores behind them; what it leaves out is left out of people's answers too.
        known: leave out comparisons whose wrong side is not known to be wrong.
    """
    told = _those_asked(view, studies, known=known) if studies else pd.DataFrame()
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
    return question if "n_people" not in frame else replace(question, columns=with_columns(question.columns))


def with_columns(columns: tuple[Column, ...]) -> tuple[Column, ...]:
    """Columns of a table of failures with those of people behind the ties."""
    place = [each.name for each in columns].index("ties") + 1
    return (*columns[:place], *BESIDE_COLUMNS, *columns[place:])


def _those_asked(view: View, studies: Sequence[Study], *, known: bool) -> pd.DataFrame:
    """Columns corpus, caption, family and _NAMES: what people say of every family that a study judged."""
    records = list[Mapping[str, object]]()
    for table in every_caption(view.table):
        own = view if table is view.table else table.view(view.chosen)
        for study in studies:
            corpus, judged = judged_in(own, study, known=known)
            told = {"corpus": corpus, "caption": caption_of(table)}
            rows = people_rows(judged)
            for row in rows[rows["family"] != ALL].to_dict("records"):
                of = "higher" if math.isnan(row["prefer"]) else "prefer"
                fail = {"people": 100 - row[of], "n_people": row["n"]}
                fail |= {"people_low": 100 - row[f"{of}_high"], "people_high": 100 - row[f"{of}_low"]}
                records.append({**told, "family": row["family"], **fail})
    found = pd.DataFrame(records)
    if found.empty:
        return found
    order = found.sort_values("n_people", ascending=False, kind="stable")
    return order.drop_duplicates(["corpus", "caption", "family"])


# People's mean ratings of both sides of comparisons, as rows beside those of evaluators. Source: paper E, Table 2.
def with_people(means: pd.DataFrame, view: View, studies: Sequence[Study], *, known: bool = False) -> pd.DataFrame:
    """Put people's ratings of both sides below the means of evaluators: a row a study and family whose sides were
    rated; ``evaluator`` names the study, raw and scaled means are ratings on [0, 1]. Other arguments as in
    :func:`with_baseline`."""
    rows, families = list[dict[str, object]](), set(means["family"])
    for study in studies:
        corpus, judged = judged_in(view, study, known=known)
        rated = people_rows(judged).dropna(subset=["mean_right", "mean_wrong"])
        for row in (each for each in rated.to_dict("records") if each["family"] in families):
            about = {"evaluator": f"people, study {study.id}", "corpus": corpus, "family": row["family"], "of": WHOLE}
            numbers = {name: row[name] for name in ("n", "n_items", "mean_right", "mean_wrong")}
            scaled = {"scaled_right": row["mean_right"], "scaled_wrong": row["mean_wrong"]}
            note = f"mean ratings on [0, 1]; the right one is rated higher in {row['higher']:.0f} % of them"
            rows.append({**about, **numbers, **scaled, "note": note})
    return pd.concat([means, pd.DataFrame(rows)], ignore_index=True) if rows else means


def judged_in(view: View, study: Study, *, known: bool = False) -> tuple[str, pd.DataFrame]:
    """The corpus that a study is of, empty where the scope does not hold the study's run; and the rows of
    :func:`judged_comparisons` that a slice leaves."""
    corpus = {run: name for name, run in view.table.scope.runs}.get(study.definition.run, "")
    judged, _ = judged_comparisons(vote_table(study), study.definition.asked, live=study.live)
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
