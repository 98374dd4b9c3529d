"""Shifts that a flip risk is of: of captions each by itself, and of pairs of captions of one picture.

Both are put in order when one asks for what is not known yet, and what was answered is kept with the table of scores.
"""

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TypeVar

import numpy as np

from core.analysis.beside import other_captions
from core.analysis.effects import Group
from core.analysis.scores import once
from core.analysis.table import BASELINE, ScoreTable, View
from core.statistics.bootstrap import Interval
from core.statistics.flip_risk import TOLERATED, CaptionPairs, evident_gap, excess, intervals_of
from core.statistics.shift_pairs import ShiftPairs

A = TypeVar("A")

MOST_KEPT = 4096  # Answers about shifts that are kept with a table, 1 kB each, a curve 4 kB
SAME, APART = "same picture", "different pictures"  # Whose captions a flip risk is of


@dataclass(frozen=True, slots=True)
class Counts:
    """How many there are of what."""

    n_items: int
    n_sources: int
    n_shifts: int
    n_missing: int


class Shifts:
    """Shifts of some probes over some items, put in order when one asks for what is not known yet. What was answered is
    kept with the table of scores: a filter by evaluator or family asks the same again."""

    of = APART

    def __init__(self, view: View, evaluator: str, corpus: str, group: Group, keep: np.ndarray) -> None:
        self._view, self._evaluator, self._group, self._kept = view, evaluator, group, view.table.kept
        self._items = view.items & keep & view.table.of_corpus(corpus)
        held = np.packbits(self._items).tobytes()
        self._key = (self.of, evaluator, group.probes, group.against, view.looked, held)

    @property
    def counts(self) -> Counts:
        """Items and sources that have a shift, shifts that were scored, and that were not."""
        return self._ask("counts", lambda: self._ordered[1])

    @property
    def pairs(self) -> ShiftPairs:
        """The shifts in order; items of one source are numbered so."""
        return self._ordered[0]

    def gap(self) -> float:
        """The estimate of :meth:`evident`, without the interval."""
        return self._ask("gap", lambda: self.pairs.gap_at(TOLERATED))

    def gap_within(self) -> tuple[float, float]:
        """See :meth:`core.statistics.shift_pairs.ShiftPairs.gap_within`; of the same gap."""
        return self._ask("gap within", lambda: self.pairs.gap_within(TOLERATED))

    def evident(self, level: float = 0.95) -> Interval:
        """See :func:`core.statistics.flip_risk.evident_gap`."""
        return self._ask(("evident", level), lambda: evident_gap(self.pairs, level=level))

    def risk(self, d: float, level: float = 0.95) -> Interval:
        """See :func:`core.statistics.flip_risk.intervals_of`."""
        return self._ask(("risk", d, level), lambda: intervals_of(self.pairs, (d,), level=level)[0])

    def over(self, null: "Shifts", d: float, level: float = 0.95) -> Interval:
        """See :func:`core.statistics.flip_risk.excess`."""
        return self._ask(("over", null._key, d, level), lambda: excess(self.pairs, null.pairs, d, level=level))

    def curve(self, distances: tuple[float, ...]) -> np.ndarray:
        """See :meth:`core.statistics.shift_pairs.ShiftPairs.curve`."""
        return self._ask(("curve", distances), lambda: self.pairs.curve(np.array(distances)))

    def _ask(self, what: Hashable, answer: Callable[[], A]) -> A:
        return self._kept.get("flips", (self._key, what), answer, most=MOST_KEPT)

    @cached_property
    def _ordered(self) -> tuple[ShiftPairs, Counts]:
        items = np.flatnonzero(self._items)
        delta, stored = self._view.shifts(self._evaluator, self._group.probes, against=self._group.against)
        delta, stored = delta[:, items], stored[:, items]
        scored = int((~np.isnan(delta)).sum())
        pairs = ShiftPairs(delta, np.broadcast_to(items, delta.shape), self._view.table.sources)
        return pairs, Counts(pairs.n_items, len(pairs.sources), scored, int(stored.sum()) - scored)


class Together(Shifts):
    """The same of pairs of captions of one picture: what an edit moves one by more than the other. Counts are of pairs
    in the place of shifts."""

    of = SAME

    @property
    def captions(self) -> CaptionPairs:
        """The pairs."""
        return self._paired[0]

    @property
    def counts(self) -> Counts:  # noqa: D102
        return self._ask("counts", lambda: self._paired[1])

    def gap(self) -> float:  # noqa: D102
        return self._ask("gap", lambda: self.captions.gap_at())

    def gap_within(self) -> tuple[float, float]:  # noqa: D102
        return self.gap(), self.gap()

    def evident(self, level: float = 0.95) -> Interval:  # noqa: D102
        return self._ask(("evident", level), lambda: self.captions.evident(level=level))

    def risk(self, d: float, level: float = 0.95) -> Interval:  # noqa: D102
        return self._ask(("risk", d, level), lambda: self.captions.risk(d, level=level))

    def over(self, null: Shifts, d: float, level: float = 0.95) -> Interval:  # noqa: D102
        assert isinstance(null, Together)
        return self._ask(("over", null._key, d, level), lambda: self.captions.excess(null.captions, d, level=level))

    def curve(self, distances: tuple[float, ...]) -> np.ndarray:  # noqa: D102
        return self._ask(("curve", distances), lambda: self.captions.risks(distances))

    @cached_property
    def _paired(self) -> tuple[CaptionPairs, Counts]:
        items, parts, missing = np.flatnonzero(self._items), list[tuple[np.ndarray, ...]](), 0
        for pair in pairs_of_captions(self._view.table, self._evaluator):
            names = [name for name in self._group.probes if all(name in side.table.probes.index for side in pair)]
            one, other = (side.scores(self._view, self._evaluator, names, self._group.against, items) for side in pair)
            if not names or one is None or other is None:
                continue
            after, before, stored = one[0] - other[0], one[1] - other[1], one[2] & other[2]
            parts.append((before, after, np.broadcast_to(items, after.shape)))
            missing += int((stored & np.isnan(after - before)).sum())
        every = zip(*parts, strict=True) if parts else ((), (), ())
        before, after, own = (np.concatenate([np.empty(0), *map(np.ravel, each)]) for each in every)
        pairs = CaptionPairs(before, after, own, self._view.table.sources)
        return pairs, Counts(pairs.n_items, len(pairs.sources), pairs.n_pairs, missing)


@dataclass(frozen=True, eq=False)
class _Side:
    """One caption of the pictures of a table: its own table, and the place there of each item, -1 for none, int [N]."""

    table: ScoreTable
    places: np.ndarray

    def scores(
        self, view: View, evaluator: str, probes: Sequence[str], against: str, items: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """See :meth:`ScoreTable.pairs`, of some items of the view's table; None without what it is compared with."""
        if against != BASELINE and against not in self.table.probes.index:
            return None
        where = self.table.view(view.chosen).where(evaluator, probes)
        after, before, stored = self.table.pairs(evaluator, probes, against=against, where=where)
        at = self.places[items]
        there = at >= 0
        return np.where(there, after[:, at], math.nan), before[:, at], stored[:, at] & there


@once
def pairs_of_captions(table: ScoreTable, evaluator: str) -> tuple[tuple[_Side, _Side], ...]:
    """Which captions of a picture are held against each other: all of the scope's language; where that has one alone,
    the one in view and each of the others."""
    own, *others = (side for side in _sides(table) if evaluator in side.table.evaluators)
    near = [side for side in others if side.table.scope.language == table.scope.language]
    return tuple(combinations([own, *near], 2)) if near else tuple((own, side) for side in others)


@once
def _sides(table: ScoreTable) -> tuple[_Side, ...]:
    found = [_Side(table, np.arange(len(table.items)))]
    for other in other_captions(table):
        known = {name: place for place, name in enumerate(other.names)}
        found.append(_Side(other, np.array([known.get(name, -1) for name in table.names], dtype=np.intp)))
    return tuple(found)
