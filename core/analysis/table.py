"""The table of scores, and what a slice leaves of it: evaluators, probes, items, and which of their scores."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import and_
from typing import Concatenate, ParamSpec, TypeVar

import numpy as np
import pandas as pd

from core.analysis.memo import Memo
from core.analysis.score_array import BASELINE, CAPTIONS, MOST_CHANGES, ScoreArray
from core.analysis.slices import EVERY, PROBES, Items, Slice, is_cut, picked
from core.errors import InvalidInput
from core.probes.base import Axis, Expectation
from core.statistics.changes import Changes, NullBand, null_band

__all__ = ["BASELINE", "CAPTIONS", "ScoreTable", "View"]

P = ParamSpec("P")
R = TypeVar("R")

MOST_SLICES = 16
"""Slices whose items and answers are kept."""


@dataclass(frozen=True, eq=False)
class ScoreTable(ScoreArray):
    """The array of scores with what is worked out of it, and the slices of it; see :class:`ScoreArray`."""

    def memo(self, function: Callable[Concatenate["ScoreTable", P], R], *arguments: P.args, **named: P.kwargs) -> R:
        """``function(table, *arguments)``, worked out once; dropped with the table. Nobody writes into it."""
        return self._memo.get(function, (arguments, *named.items()), lambda: function(self, *arguments, **named))

    @cached_property
    def _memo(self) -> Memo:
        return Memo()

    def view(self, chosen: Slice | None = None) -> "View":
        """The part of the table that a slice keeps; views of one slice, while it is among the last, share answers."""
        return View(self, chosen or Slice())

    def sliced(self, chosen: Slice) -> tuple[np.ndarray, Memo]:
        """Items of a slice, bool [N], and what was worked out of it (:meth:`View.memo`), of the last slices.

        The views themselves would hold the table, and it would stay until a collection.
        """
        return self._memo.get(ScoreTable.sliced, chosen, lambda: (items_of(self, chosen), Memo()), most=MOST_SLICES)


class View:
    """What a slice leaves of a table: evaluators, probes, items, and which of their scores.

    Args:
        table: all scores of the scope.
        chosen: the slice.
    """

    def __init__(self, table: ScoreTable, chosen: Slice) -> None:
        self.table, self.chosen = table, chosen
        self.evaluators = tuple(name for name in table.evaluators if not chosen.evaluators or name in chosen.evaluators)
        self.items, self.kept = table.sliced(chosen)
        """Items that the slice keeps, bool [N]; what was worked out of it."""
        self.looked = (chosen.sign, chosen.inside, chosen.accepted, chosen.upheld, chosen.whole)
        """What of the slice changes what an item counts, and not only which items and probes are there."""

    def memo(self, function: Callable[Concatenate["View", P], R], *arguments: P.args, **named: P.kwargs) -> R:
        """``function(view, *arguments)``, worked out once for its slice, while that is among the last."""
        return self.kept.get(function, (arguments, *named.items()), lambda: function(self, *arguments, **named))

    def of(self, evaluator: str) -> "View":
        """The same of one evaluator.

        Raises:
            InvalidInput: if it scored nothing here, or the slice leaves it out.
        """
        if evaluator not in self.evaluators:
            there = ", ".join(self.evaluators) or "none"
            raise InvalidInput(f"no shift of evaluator {evaluator!r} is here; evaluators: {there}")
        return View(self.table, replace(self.chosen, evaluators=(evaluator,)))

    def whole(self, *fields: str) -> "View":
        """The same with some choices of the slice taken back: what the tests of a question are counted over.

        Args:
            fields: of the slice; none: those of probes (PROBES).
        """
        taken = dict.fromkeys(fields or PROBES, ())
        chosen = replace(self.chosen, **taken)  # type: ignore[arg-type]
        return self if chosen == self.chosen else View(self.table, chosen)

    @cached_property
    def item_places(self) -> np.ndarray:
        """Places of the items that the slice keeps, int [n]."""
        return np.flatnonzero(self.items)

    @property
    def corpora(self) -> tuple[str, ...]:
        """Corpora that have an item here."""
        return tuple(name for name in self.table.corpora if (self.table.of_corpus(name) & self.items).any())

    def probes(self, names: Sequence[str]) -> tuple[str, ...]:
        """Which of some probes the slice keeps."""
        return tuple(name for name in names if name in self._probes)

    @cached_property
    def _probes(self) -> frozenset[str]:
        rows, chosen = self.table.probes, self.chosen
        keep = _kept(rows["axis"], chosen.axes) & _kept(rows["family"], chosen.families)
        keep &= _kept(rows["modifier"], chosen.modifiers) & _kept(rows.index, chosen.probes)
        return frozenset(map(str, rows.index[keep]))

    def families(self, *, axis: str | None = None, controls: bool = False) -> dict[str, tuple[str, ...]]:
        """Family -> the probes that the slice keeps of it; families without one are left out."""
        found = self.table.families(axis=axis, controls=controls or self.chosen.controls)
        kept = {name: self.probes(names) for name, names in found.items()}
        return {name: names for name, names in kept.items() if names}

    def changes(self, evaluator: str, probes: Sequence[str], *, against: str = BASELINE) -> Changes:
        """See :meth:`ScoreTable.changes`; of every item, also those that the slice leaves out."""

        def work() -> Changes:
            return self.table.changes(evaluator, probes, against=against, where=self.where(evaluator, probes))

        if not any(each not in (None, False) for each in self.looked):
            return work()
        return self.table.kept.get("looked", (self.looked, evaluator, tuple(probes), against), work, most=MOST_CHANGES)

    def shifts(
        self, evaluator: str, probes: Sequence[str], *, against: str = BASELINE
    ) -> tuple[np.ndarray, np.ndarray]:
        """See :meth:`ScoreTable.shifts`; of every item, also those that the slice leaves out."""
        return self.table.shifts(evaluator, probes, against=against, where=self.where(evaluator, probes))

    def where(self, evaluator: str, probes: Sequence[str], *, items: Items = EVERY) -> np.ndarray | None:
        """Scores that the slice looks at by what they are, not by where they stand, bool [k, n]; None: all.

        Args:
            evaluator: whose scores.
            probes: names.
            items: n of them.
        """
        return _where(self.table, self.chosen, self.table.place(evaluator), self.table.places(probes), items)

    def after(self, evaluator: str, probes: Sequence[str]) -> np.ndarray:
        """See :meth:`ScoreTable.after`; of every item, NaN where the slice leaves the comparison out."""
        scores, least = self.table.after(evaluator, probes), self.chosen.upheld
        if least is None:
            return scores
        return np.where(_upheld(self.table, least, self.table.places(probes), EVERY), scores, math.nan)

    def null_size(self, evaluator: str) -> np.ndarray:
        """|%Δ| of every item under edits that nobody can see, float64 [N]; NaN where none was scored."""
        probes = [name for names in self.table.families(axis=Axis.NULL.value).values() for name in names]
        if not probes:
            return np.full(len(self.items), math.nan)
        return self.changes(evaluator, probes).size

    def null_sizes(self, evaluator: str, corpus: str) -> np.ndarray:
        """|%Δ| of the slice's items under edits that nobody can see, float64; items without one are left out."""
        size = self.null_size(evaluator)[self.items & self.table.of_corpus(corpus)]
        return np.asarray(size[~np.isnan(size)])

    def null_median(self, evaluator: str, corpus: str) -> float:
        """Median of :meth:`null_sizes`, what the median |%Δ| of a family is held against; NaN where none was scored."""
        size = self.null_sizes(evaluator, corpus)
        return float(np.median(size)) if len(size) else math.nan

    def null_band(self, evaluator: str, corpus: str) -> NullBand:
        """How far one edit that nobody can see moves one score: what a single pair is held against."""
        percent = np.concatenate(
            [
                self.changes(evaluator, (name,)).percent[self.items & self.table.of_corpus(corpus)]
                for names in self.table.families(axis=Axis.NULL.value).values()
                for name in names
            ]
            or [np.empty(0)]
        )
        return null_band(percent)


def _kept(column: pd.Series | pd.Index, values: Sequence[str]) -> np.ndarray:
    return np.asarray(column.isin(values)) if values else np.ones(len(column), dtype=bool)


def items_of(table: ScoreTable, chosen: Slice) -> np.ndarray:
    """Items that a slice keeps, bool [N]."""
    items = table.items
    kept = _kept(items["category"], chosen.categories) & _kept(items["coverage_bin"], chosen.coverage_bins)
    if chosen.told:
        kept = kept & _told(table, chosen.told)
    return np.asarray(kept & ~table.tied if chosen.untied else kept)


def _told(table: ScoreTable, wanted: Sequence[tuple[str, str]]) -> np.ndarray:
    """Items that tell, or of which some variant tells, one of the wanted values of every wanted key, bool [N]."""
    kept = np.ones(len(table.items), dtype=bool)
    names = pd.MultiIndex.from_frame(table.items[["corpus", "item"]].astype(object))
    rows = table.about.get("facts", pd.DataFrame(columns=["corpus", "item", "key", "value"]))
    for key in dict.fromkeys(key for key, _ in wanted):
        values = [value for name, value in wanted if name == key]
        if key in table.own:
            kept &= table.items[key].isin(values).to_numpy()
            continue
        own = rows[(rows["key"] == key) & rows["value"].isin(values)]
        there = names.get_indexer(pd.MultiIndex.from_frame(own[["corpus", "item"]].astype(object).drop_duplicates()))
        found = np.zeros(len(kept), dtype=bool)
        found[there[there >= 0]] = True
        kept &= found
    return kept


def _where(table: ScoreTable, chosen: Slice, which: int, places: np.ndarray, items: Items) -> np.ndarray | None:
    """See :meth:`View.where`."""
    found = []
    if chosen.sign is not None:
        found.append(picked(table.signs()[which], places, items) == {"up": 1, "none": 0, "down": -1}[chosen.sign])
    if chosen.inside is not None:
        inside, (low, high) = picked(table.inside[which], places, items), chosen.inside
        found.append((inside >= low) & (inside <= high))
    if chosen.accepted is not None:
        found.append(picked(table.accepted, places, items) >= chosen.accepted)
    if chosen.upheld is not None:
        found.append(_upheld(table, chosen.upheld, places, items))
    if chosen.whole and "object_kept" in table.diagnostics:
        found.append(~is_cut(table.diagnostics["object_kept"].of(places, items)))
    return reduce(and_, found) if found else None


def _upheld(table: ScoreTable, least: float, places: np.ndarray, items: Items) -> np.ndarray:
    """Comparisons that at least such a share of people uphold, and all that is no comparison, bool [k, n]."""
    compared = (table.probes["expectation"] == Expectation.DIRECTIONAL.value).to_numpy()[places]
    return np.asarray(~compared[:, None] | (picked(table.upheld, places, items) >= least))
