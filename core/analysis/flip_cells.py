"""Flip risk of every evaluator, corpus and family: read once from the table of scores, asked at any gap.

Two questions to the same shifts: how often does a family invert two scores that lie a gap apart (:func:`cell_risks`),
and how far apart must they lie so that it hardly ever does (:func:`evident_gaps`). Both stand beside the null family's.
"""

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TypeVar

import numpy as np
import pandas as pd

from core.analysis.effects import Group
from core.analysis.table import View
from core.errors import InvalidInput
from core.probes.base import BASE_CAPTION, Axis
from core.statistics.bootstrap import Interval
from core.statistics.flip_risk import GAPS, TOLERATED, evident_gap, excess, intervals_of
from core.statistics.shift_pairs import ShiftPairs

A = TypeVar("A")

SCALE, IQR, SD = "scale", "interquartile range", "standard deviation"
UNITS = (SCALE, IQR)
MOST_KEPT = 4096
"""Answers about shifts that are kept with a table, 1 kB each, a curve 4 kB."""
"""What a gap is a share of: the span of the score's scale, or the interquartile range (IQR) of the clean scores."""

BY = ("evaluator", "corpus", "axis", "family")

READ = (
    "Never above 50 %: what one draw of shifts does, the swapped draw undoes, and any continuous shift far larger than "
    "the gap comes close. Beside it the risk under edits that nobody can see (family null), the floor, and the risk "
    "less that floor, paired by source."
)
"""How a flip risk is to be read; it stands wherever one is shown."""

EVIDENCE = (
    "The smallest gap from which on the flip risk is below 5 %: two scores that lie closer together are no evidence "
    "that one caption is better, since an edit that should not matter would turn them round too often. It is the gap "
    "that nine in ten pairs of shifts stay below."
)
"""What the gap of evidence is, wherever one is shown."""


@dataclass(frozen=True, slots=True)
class Counts:
    """How many there are of what."""

    n_items: int
    n_sources: int
    n_shifts: int
    n_missing: int


class Shifts:
    """Shifts of some probes, put in order when one asks for what is not known yet.

    What was answered is kept with the table of scores: a filter by evaluator or family asks the same again.

    Args:
        view: of the table of scores.
        evaluator, corpus: whose.
        group: the probes, and what they are compared with.
        keep: which items, bool [N].
    """

    def __init__(self, view: View, evaluator: str, corpus: str, group: Group, keep: np.ndarray) -> None:
        self._view, self._evaluator, self._group, self._kept = view, evaluator, group, view.table.kept
        self._items = view.items & keep & view.table.of_corpus(corpus)
        self._key = (evaluator, group.probes, group.against, view.looked, np.packbits(self._items).tobytes())

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

    def evident(self) -> Interval:
        """See :func:`core.statistics.flip_risk.evident_gap`."""
        return self._ask("evident", lambda: evident_gap(self.pairs))

    def risk(self, d: float) -> Interval:
        """See :func:`core.statistics.flip_risk.intervals_of`."""
        return self._ask(("risk", d), lambda: intervals_of(self.pairs, (d,))[0])

    def over(self, null: "Shifts", d: float) -> Interval:
        """See :func:`core.statistics.flip_risk.excess`."""
        return self._ask(("over", null._key, d), lambda: excess(self.pairs, null.pairs, d))

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


@dataclass(frozen=True, slots=True)
class Cell:
    """Shifts of one family under one evaluator in one corpus.

    Args:
        evaluator, corpus, axis, family: its name.
        shifts: of the family's probes.
        null: those of the same items under edits that nobody can see; none where they were not audited.
        units: of a gap by name: ``scale`` (span of the evaluator's scale; NaN where it has none), ``interquartile
            range`` and ``standard deviation`` of its clean scores of the corpus, whatever the slice.
        reach: from the lowest to the highest of these clean scores.
    """

    evaluator: str
    corpus: str
    axis: str
    family: str
    shifts: Shifts
    null: Shifts
    units: dict[str, float]
    reach: float

    @property
    def spread(self) -> float:
        """Interquartile range of the evaluator's clean scores."""
        return self.units[IQR]

    @property
    def is_null(self) -> bool:
        """Whether this is the floor itself."""
        return self.axis == Axis.NULL.value


def shift_cells(view: View) -> tuple[Cell, ...]:
    """Sort the shifts of a view into cells, in O(n log n).

    Controls are left out, the null family stays: it is the noise floor that the others are read against.
    """
    return group_cells(view, [(Group(family, probes), view.items) for family, probes in _families(view)])


def group_cells(view: View, groups: Sequence[tuple[Group, np.ndarray]]) -> tuple[Cell, ...]:
    """The shifts of any groups of probes as cells, named by the groups' labels.

    Args:
        view: of the table of scores.
        groups: each with the items that it is of, bool [N].
    """
    cells, floor = [], Group("null", _null_probes(view))
    for evaluator, corpus in product(view.evaluators, view.corpora):
        floors: dict[bytes, Shifts] = {}
        units, reach = _units(view, evaluator, corpus)
        for group, keep in groups:
            null = floors.setdefault(keep.tobytes(), Shifts(view, evaluator, corpus, floor, keep))
            axis = str(view.table.probes.loc[group.probes[0], "axis"])
            shifts = Shifts(view, evaluator, corpus, group, keep)
            cells.append(Cell(evaluator, corpus, axis, group.label, shifts, null, units, reach))
    return tuple(cells)


def _units(view: View, evaluator: str, corpus: str) -> tuple[dict[str, float], float]:
    """Units of a gap, and from the lowest to the highest clean score."""
    table = view.table
    clean = table.clean(evaluator)[table.of_corpus(corpus)]
    clean = clean[~np.isnan(clean)]
    units = {
        SCALE: table.span(evaluator),
        IQR: table.middle_half(evaluator, corpus),
        SD: table.spread(evaluator, corpus),
    }
    return units, float(np.ptp(clean)) if len(clean) else math.nan


def _families(view: View) -> Iterator[tuple[str, tuple[str, ...]]]:
    table = view.table
    for family, probes in view.families().items():
        if family != BASE_CAPTION and (not table.is_control(family) or table.axis_of(family) == Axis.NULL.value):
            yield family, probes


def _null_probes(view: View) -> tuple[str, ...]:
    """Edits that nobody can see, whichever families are looked at."""
    return tuple(name for names in view.table.families(axis=Axis.NULL.value).values() for name in names)


def cell_risks(cells: Iterable[Cell], *, gaps: Sequence[float] = GAPS, unit: str = SCALE) -> pd.DataFrame:
    """RRF of every cell at every gap, beside the null family's.

    Args:
        cells: of :func:`shift_cells`.
        gaps: shares of the unit.
        unit: SCALE: d = gap · span of the evaluator's scale. IQR: d = gap · interquartile range of the evaluator's
            clean scores, since evaluators' scales differ.

    Returns:
        One row a (cell, gap): BY + gap, d (in units of the score), risk, low, high, null_risk, over, over_low,
        over_high (risk less the null family's, paired by source; NaN for the null family), n_items, n_shifts,
        n_missing, note.

    Raises:
        InvalidInput: if unit is not one of UNITS.
    """
    records = []
    for cell, distances in _distances(cells, gaps, unit):
        for gap, d in zip(gaps, distances, strict=True):
            found, null, over = _at(cell, d)
            told = (gap, d, found.estimate, found.low, found.high, null, over.estimate, over.low, over.high)
            records.append((*_name(cell), *told, *_counted(cell), _noted(cell, found, over)))
    return pd.DataFrame(records, columns=[*BY, *_COLUMNS])


def _noted(cell: Cell, risk: Interval, over: Interval) -> str:
    """Why the risk, or what it is less that of the null family, has no interval."""
    if risk.n == 0 or over.note == risk.note != "":
        return risk.note
    said = (
        _FLOOR if cell.is_null else over.note and f"less null: {over.note if cell.null.counts.n_shifts else _NO_NULL}"
    )
    return "; ".join(filter(None, (risk.note, said)))


def _at(cell: Cell, d: float) -> tuple[Interval, float, Interval]:
    """Risk of a cell at a gap, the null family's, and the risk less that."""
    if math.isnan(d):
        nothing = Interval(math.nan, math.nan, math.nan, cell.shifts.counts.n_items, 0.95, _NO_SPAN)
        return nothing, math.nan, nothing
    found, null = cell.shifts.risk(d), cell.null.risk(d).estimate
    if cell.is_null:
        return found, null, Interval(math.nan, math.nan, math.nan, found.n, found.level)
    return found, null, cell.shifts.over(cell.null, d)


_FLOOR = "the floor itself"
_NO_FLOOR = Interval(math.nan, math.nan, math.nan, 0, 0.95)
_NO_NULL = "no edit that nobody can see was scored on these items"
_NO_SPAN = "no gap: the scale of the evaluator has no upper bound, or the run does not tell it"


def evident_gaps(cells: Iterable[Cell], *, floor: bool = True) -> pd.DataFrame:
    """The smallest gap of every cell from which on its flip risk is below 5 %, beside the null family's.

    Args:
        cells: of :func:`shift_cells`.
        floor: work the null family's out too; otherwise it is NaN.

    Returns:
        One row a cell: BY + d, low, high (in units of the score), of_iqr, of_iqr_low, of_iqr_high, of_sd, of_sd_low,
        of_sd_high (in percent of the interquartile range and of the standard deviation of the evaluator's clean
        scores), null_d, null_low, null_high, null_of_iqr, n_items, n_sources, said (in words), note.
    """
    records = []
    for cell in cells:
        found, null = cell.shifts.evident(), cell.null.evident() if floor else _NO_FLOOR
        ends = (found.estimate, found.low, found.high)
        shares = [100 * end / (cell.units[unit] or math.nan) for unit in (IQR, SD) for end in ends]
        under_null = (null.estimate, null.low, null.high, 100 * null.estimate / (cell.spread or math.nan))
        counts = (cell.shifts.counts.n_items, cell.shifts.counts.n_sources)
        records.append((*_name(cell), *ends, *shares, *under_null, *counts, _said(found, cell.reach), found.note))
    return pd.DataFrame(records, columns=[*BY, *_GAPS])


_GAPS = (
    "d", "low", "high", "of_iqr", "of_iqr_low", "of_iqr_high", "of_sd", "of_sd_low", "of_sd_high", "null_d", "null_low",
    "null_high", "null_of_iqr", "n_items", "n_sources", "said", "note",
)  # fmt: skip


def widest_gaps(cells: Iterable[Cell]) -> tuple[Cell, ...]:
    """The cells of every evaluator and corpus whose gap of evidence is the largest: one, or those that share it."""
    known: dict[tuple[str, str], list[Cell]] = {}
    for cell in cells:
        if not math.isnan(cell.shifts.gap_within()[1]):
            known.setdefault((cell.evaluator, cell.corpus), []).append(cell)
    found = list[Cell]()
    for own in known.values():
        reached = max(cell.shifts.gap_within()[0] for cell in own)
        near = [cell for cell in own if cell.shifts.gap_within()[1] >= reached]
        largest = max(cell.shifts.gap() for cell in near)
        found += [cell for cell in near if cell.shifts.gap() == largest]
    return tuple(found)


def nearest_gap(cells: Sequence[Cell], gaps: Sequence[float], *, unit: str) -> float:
    """The gap of some that lies nearest to :func:`middle_gap`; of two as near, the first. NaN likewise.

    Args:
        cells: of :func:`shift_cells`.
        gaps: shares of the unit, rising.
        unit: one of UNITS.
    """

    def nearest(middle: float) -> float:
        return middle if math.isnan(middle) else min(gaps, key=lambda gap: abs(gap - middle))

    low = nearest(_middle(cells, unit, lambda cell: cell.shifts.gap_within()[0]))
    high = nearest(_middle(cells, unit, lambda cell: cell.shifts.gap_within()[1]))
    return low if low == high else nearest(middle_gap(cells, unit=unit))


def middle_gap(cells: Sequence[Cell], *, unit: str) -> float:
    """Where a map of risks shows most: the median of the cells' gaps of evidence, null edits aside.

    Args:
        cells: of :func:`shift_cells`.
        unit: one of UNITS.

    Returns:
        A share of the unit; NaN where no cell has both a unit and a gap above 0.

    Raises:
        InvalidInput: if unit is not one of UNITS.
    """
    return _middle(cells, unit, lambda cell: cell.shifts.gap())


def _middle(cells: Sequence[Cell], unit: str, gap: Callable[[Cell], float]) -> float:
    """Median of the cells' gaps, or of an end of what they lie within, of those whose gap lies above 0."""
    sizes = [(cell, size) for cell, (size,) in _distances(cells, (1.0,), unit) if not cell.is_null]
    known = [gap(cell) / size for cell, size in sizes if cell.shifts.gap_within()[1] > 0 and size > 0]
    return float(np.median(known)) if known else math.nan


def _said(found: Interval, reach: float) -> str:
    """What a gap of evidence says of the evaluator's scores, in words."""
    if math.isnan(found.estimate):
        return ""
    if found.estimate == 0:
        return f"any difference counts: fewer than {200 * TOLERATED:g} % of the pairs of shifts differ at all"
    if found.estimate >= reach:
        return f"no difference between two of its scores is evidence: they lie at most {reach:.3g} apart"
    return f"differences below {found.estimate:.3g} are no evidence"


def cell_curves(cells: Iterable[Cell], *, gaps: Sequence[float] = GAPS, unit: str = SCALE) -> pd.DataFrame:
    """RRF of every cell at many gaps, for a figure: without intervals, each within CURVE_ERROR of the exact one.

    Args:
        cells: of :func:`shift_cells`.
        gaps: shares of the unit.
        unit: one of UNITS.

    Returns:
        One row a (cell, gap): BY + gap, d, risk, n_items, n_shifts, n_missing.

    Raises:
        InvalidInput: if unit is not one of UNITS.
    """
    records = []
    for cell, distances in _distances(cells, gaps, unit):
        known = not np.isnan(distances).any()
        risks = cell.shifts.curve(tuple(distances)) if known else np.full(len(distances), math.nan)
        told = zip(gaps, distances, risks.tolist(), strict=True)
        records += [(*_name(cell), gap, d, risk, *_counted(cell)) for gap, d, risk in told]
    return pd.DataFrame(records, columns=[*BY, "gap", "d", "risk", "n_items", "n_shifts", "n_missing"])


_COLUMNS = (
    "gap",
    "d",
    "risk",
    "low",
    "high",
    "null_risk",
    "over",
    "over_low",
    "over_high",
    "n_items",
    "n_shifts",
    "n_missing",
    "note",
)


def _name(cell: Cell) -> tuple[str, ...]:
    return cell.evaluator, cell.corpus, cell.axis, cell.family


def _counted(cell: Cell) -> tuple[int, int, int]:
    counts = cell.shifts.counts
    return counts.n_items, counts.n_shifts, counts.n_missing


def _distances(cells: Iterable[Cell], gaps: Sequence[float], unit: str) -> Iterable[tuple[Cell, list[float]]]:
    if unit not in UNITS:
        raise InvalidInput(f"unit must be one of {', '.join(UNITS)}, got {unit!r}")
    return ((cell, [gap * cell.units[unit] for gap in gaps]) for cell in cells)
