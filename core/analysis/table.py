"""One table of scores: evaluators × probes × items, aligned; the only way from stored rows to a number.

A page, a report, a card and a file ask hundreds of questions of the same rows. They read them from this one array, so
they cannot disagree on which rows they read: one subject, one language, one run a corpus (:mod:`core.analysis.scope`).
A slice is a mask on it (:class:`View`). 5 evaluators × 46 probes × 9000 items are 2 million scores, 16 MB.
"""

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from operator import and_
from typing import Concatenate, ParamSpec, TypeVar

import numpy as np
import pandas as pd

from core.analysis.scope import Narrowed
from core.analysis.scores import Memo, Scores
from core.analysis.slices import EVERY, PROBES, Items, Slice, is_cut, picked
from core.errors import InvalidInput
from core.probes.base import IDENTITY, Axis, Expectation
from core.statistics.changes import Changes, NullBand, null_band

P = ParamSpec("P")
R = TypeVar("R")

CAPTIONS = "captions"
"""Name under which a table keeps the texts of natural captions: columns corpus, item, probe, caption."""


MOST_SLICES = 16  # Slices whose items and answers are kept

BASELINE = "baseline"
"""What a score is usually compared with: its own baseline, for a modified caption the length-matched neutral."""

MOST_CHANGES = 96
"""Changes that are kept, 0.5 MB each for 9 000 items; as many of scores that a slice chose by what they are."""


@dataclass(frozen=True, eq=False)
class ScoreTable(Scores):
    """Scores and what is asked of them by comparison; made by :func:`core.analysis.reading.read_table`."""

    reader: "Callable[[Narrowed], ScoreTable] | None" = field(default=None, repr=False)

    def after(self, evaluator: str, probes: Sequence[str]) -> np.ndarray:
        """Scores under some probes, float64 [k, N]."""
        return picked(self.scores[self.place(evaluator)], self.places(probes))

    def before(
        self, evaluator: str, probes: Sequence[str], *, against: str = BASELINE, items: Items = EVERY
    ) -> np.ndarray:
        """Score that each is compared with, float64 [k, n]: its baseline's, or that of the probe named ``against``. Not
        to be written to: probes of one baseline share its scores."""
        which, places = self.place(evaluator), self.places(probes)
        if against != BASELINE:
            other = self.places((against,))
            score = self.scores[which, other[0]] if len(other) else np.full(len(self.items), math.nan)
            return np.broadcast_to(score[items], (len(places), len(score[items])))
        one, all_ = (each[which, places] for each in self._one_baseline)
        if len(one) and one[0] >= 0 and all_.all() and (one == one[0]).all():
            score = self.scores[which, one[0], items]
            return np.broadcast_to(score, (len(places), len(score)))
        baselines = picked(self.baselines[which], places, items)
        found = np.empty(baselines.shape)
        for row, own, place in zip(found, baselines, one, strict=True):
            row[:] = self.scores[which, own if place < 0 else place, self._numbers[items] if place < 0 else items]
            np.copyto(row, math.nan, where=own < 0)
        return found

    @cached_property
    def _one_baseline(self) -> tuple[np.ndarray, np.ndarray]:
        """Place of the one baseline that a probe's scores name, int16 [E, P], -1 where they name none or several; and
        whether the score of every item names one, bool [E, P]."""
        if not len(self.items):
            return np.full(self.scores.shape[:2], -1, dtype=np.int16), np.ones(self.scores.shape[:2], dtype=bool)
        most = self.baselines.max(axis=2)
        least = self.baselines.view(np.uint16).min(axis=2)  # as such, none comes after every place
        return np.where(least == most, most, -1), self.baselines.min(axis=2) >= 0

    @cached_property
    def _numbers(self) -> np.ndarray:
        return np.arange(len(self.items))

    def changes(
        self, evaluator: str, probes: Sequence[str], *, against: str = BASELINE, where: np.ndarray | None = None
    ) -> Changes:
        """What some probes do to every item under one evaluator. ``probes``: names; what an item counts is the median
        over them. ``against``: BASELINE, or the name of the probe that each is compared with. ``where``: which of their
        scores to look at, bool [k, N]; None: all."""

        def work() -> Changes:
            pairs = self.pairs(evaluator, probes, against=against, where=where)
            return Changes.of(*pairs, self._withheld(evaluator, None if against == BASELINE else pairs[1]))

        if where is not None:
            return work()
        return self.kept.get("changes", (evaluator, tuple(probes), against), work, most=MOST_CHANGES)

    def withheld(self, evaluator: str, corpus: str) -> bool:
        """Whether % change is withheld, since one of the evaluator's baselines in a corpus is negative: the change of a
        negative score has the wrong sign, and without the items that have one the others are a choice by score."""
        return corpus in self._negative[evaluator]

    def withheld_said(self) -> str:
        """Name the evaluators whose % change is withheld, in a sentence; empty where it is of none."""
        every = ((name, corpus) for name in self.evaluators for corpus in self.corpora)
        found = [f"{name} on {corpus}" for name, corpus in every if self.withheld(name, corpus)]
        if not found:
            return ""
        return (
            f"% change is withheld of {', '.join(found)}: some baseline scores are negative, so that no change in "
            "percent is told; what is of % change alone leaves it out."
        )

    def _withheld(self, evaluator: str, before: np.ndarray | None) -> np.ndarray:
        """Items whose % change is withheld, bool [N]; ``before``: scores [k, N] that stand in the baselines' place."""
        found = np.zeros(len(self.items), dtype=bool)
        for corpus in self.corpora:
            own = self.of_corpus(corpus)
            if self.withheld(evaluator, corpus) or (before is not None and bool((before[:, own] < 0).any())):
                found |= own
        return found

    @cached_property
    def _negative(self) -> dict[str, frozenset[str]]:
        """Evaluator -> the corpora in which one of its baselines is negative."""
        every, found = tuple(map(str, self.probes.index)), dict.fromkeys(self.evaluators, frozenset[str]())
        for name in self.evaluators:
            if (self.scores[self.place(name)] < 0).any():  # else no baseline is: they are scores, too
                low = (self.before(name, every) < 0).any(axis=0)
                found[name] = frozenset(corpus for corpus in self.corpora if (low & self.of_corpus(corpus)).any())
        return found

    def shifts(
        self, evaluator: str, probes: Sequence[str], *, against: str = BASELINE, where: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Every shift of some probes, and whether it is stored, scored or not; see :meth:`changes`. Returns Δ, float64
        [k, N], NaN without a score; bool [k, N]."""
        after, before, stored = self.pairs(evaluator, probes, against=against, where=where)
        return after - before, stored

    def pairs(
        self,
        evaluator: str,
        probes: Sequence[str],
        *,
        against: str = BASELINE,
        where: np.ndarray | None = None,
        items: Items = EVERY,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Scores of some probes, what they are compared with, and whether the pair is stored, scored or not.
        ``evaluator``, ``probes``, ``against``: see :meth:`changes`. ``where``: which of these scores to look at, bool
        [k, n]; None: all. Returns float64, float64 (see :meth:`before`) and bool, each [k, n]; a score that is not
        looked at is NaN, its pair not stored."""
        which, places = self.place(evaluator), self.places(probes)
        after, stored = (picked(each[which], places, items) for each in (self.scores, self.stored))
        if against == BASELINE and not self._one_baseline[1][which, places].all():
            stored &= picked(self.baselines[which], places, items) >= 0
        if where is not None:
            stored &= where
            np.copyto(after, math.nan, where=~where)
        return after, self.before(evaluator, probes, against=against, items=items), stored

    def beside(self, evaluator: str, other: str) -> Changes:
        """What the unedited score of every item changes from the other evaluator to this one on the same scale; picture
        and caption are the same: what differs is the evaluator."""
        places = [self.place(evaluator), self.place(other)]
        after, before = (self.clean(name)[None] for name in (evaluator, other))
        stored = self.stored[places][:, self.places((IDENTITY,))].any(axis=1)
        return Changes.of(after, before, np.asarray(stored.all(axis=0))[None], self._withheld(other, before))

    @cached_property
    def signs(self) -> np.ndarray:
        """Where each score went from its baseline, int8 [E, P, N]: 1 up, 0 nowhere, -1 down, 2 not known."""
        found = np.empty(self.scores.shape, dtype=np.int8)
        for name, own in zip(self.evaluators, found, strict=True):
            for probe, signs in zip(map(str, self.probes.index), own, strict=True):  # one at a time: little is held
                moved = np.sign(self.after(name, (probe,)) - self.before(name, (probe,)))[0]
                signs[:] = np.where(np.isnan(moved), 2, moved)
        return found

    def view(self, chosen: Slice | None = None) -> "View":
        """The part of the table that a slice keeps; views of one slice, while it is among the last, share answers."""
        return View(self, chosen or Slice())

    def sliced(self, chosen: Slice) -> tuple[np.ndarray, Memo]:
        """Items of a slice, bool [N], and what was worked out of it (:meth:`View.memo`), of the last slices. The views
        themselves would hold the table, and it would stay until a collection."""
        return self._memo.get(ScoreTable.sliced, chosen, lambda: (items_of(self, chosen), Memo()), most=MOST_SLICES)

    def seen(self, scope: Narrowed) -> "ScoreTable":
        """The same scores in a scope of the same rows, with another corpus in view."""
        return replace(self, scope=scope)

    def digest(self) -> str:
        """Sixteen hexadecimal digits of every score; the same scores give the same digits in any order of rows."""
        names = [*self.evaluators, *self.probes.index, *self.items["corpus"], *self.items["item"], self.scope.subject]
        found = hashlib.sha256("\x1f".join(map(str, names)).encode())
        found.update(np.ascontiguousarray(self.scores + 0.0).astype("<f8").tobytes())
        found.update(np.ascontiguousarray(self.baselines).astype("<i2").tobytes())
        return found.hexdigest()[:16]


class View:
    """What a slice leaves of a table: evaluators, probes, items, and which of their scores."""

    def __init__(self, table: "ScoreTable", chosen: Slice) -> None:
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
        """The same of one evaluator. Raises InvalidInput if it scored nothing here, or the slice leaves it out."""
        if evaluator not in self.evaluators:
            there = ", ".join(self.evaluators) or "none"
            raise InvalidInput(f"no shift of evaluator {evaluator!r} is here; evaluators: {there}")
        return View(self.table, replace(self.chosen, evaluators=(evaluator,)))

    def whole(self, *fields: str) -> "View":
        """The same with some choices of the slice taken back: what the tests of a question are counted over;
        ``fields``: of the slice; none: those of probes (PROBES)."""
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
        """Scores that the slice looks at by what they are, not by where they stand, bool [k, n]; None: all."""
        table, chosen, found = self.table, self.chosen, list[np.ndarray]()
        which, places = table.place(evaluator), table.places(probes)
        if chosen.sign is not None:
            found.append(picked(table.signs[which], places, items) == {"up": 1, "none": 0, "down": -1}[chosen.sign])
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

    def after(self, evaluator: str, probes: Sequence[str]) -> np.ndarray:
        """See :meth:`ScoreTable.after`; of every item, NaN where the slice leaves the comparison out."""
        scores, least = self.table.after(evaluator, probes), self.chosen.upheld
        if least is None:
            return scores
        return np.where(_upheld(self.table, least, self.table.places(probes), EVERY), scores, math.nan)

    @cached_property
    def unseen(self) -> tuple[str, ...]:
        """Edits that nobody can see, whichever families are looked at."""
        return tuple(name for names in self.table.families(axis=Axis.NULL.value).values() for name in names)

    def null_sizes(self, evaluator: str, corpus: str) -> np.ndarray:
        """|% change| of the slice's items under invisible edits, float64; items without one are left out."""
        if not self.unseen:
            return np.empty(0)
        size = self.changes(evaluator, self.unseen).size[self.items & self.table.of_corpus(corpus)]
        return np.asarray(size[~np.isnan(size)])

    def null_median(self, evaluator: str, corpus: str) -> float:
        """Median of :meth:`null_sizes`, what the median |% change| of a family is held against; NaN where none was
        scored."""
        size = self.null_sizes(evaluator, corpus)
        return float(np.median(size)) if len(size) else math.nan

    def null_band(self, evaluator: str, corpus: str) -> NullBand:
        """How far one edit that nobody can see moves one score: what a single pair is held against."""
        own = self.items & self.table.of_corpus(corpus)
        percent = [self.changes(evaluator, (name,)).percent[own] for name in self.unseen]
        return null_band(np.concatenate(percent or [np.empty(0)]))


def _kept(column: pd.Series | pd.Index, values: Sequence[str]) -> np.ndarray:
    return np.asarray(column.isin(values)) if values else np.ones(len(column), dtype=bool)


def items_of(table: "ScoreTable", chosen: Slice) -> np.ndarray:
    """Items that a slice keeps, bool [N]."""
    items = table.items
    kept = _kept(items["category"], chosen.categories) & _kept(items["coverage_bin"], chosen.coverage_bins)
    if chosen.told:
        kept = kept & _told(table, chosen.told)
    return np.asarray(kept & ~table.tied if chosen.untied else kept)


def _told(table: "ScoreTable", wanted: Sequence[tuple[str, str]]) -> np.ndarray:
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


def _upheld(table: "ScoreTable", least: float, places: np.ndarray, items: Items) -> np.ndarray:
    """Comparisons that at least such a share of people uphold, and all that is no comparison, bool [k, n]."""
    compared = (table.probes["expectation"] == Expectation.DIRECTIONAL.value).to_numpy()[places]
    return np.asarray(~compared[:, None] | (picked(table.upheld, places, items) >= least))
