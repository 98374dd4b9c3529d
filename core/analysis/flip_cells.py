"""Flip risk of every evaluator, corpus and family: read once from the table of scores, asked at any gap.

Two questions to the same shifts: how often does a family invert two scores that lie a gap apart (:func:`cell_risks`),
and how far apart must they lie so that it hardly ever does (:func:`evident_gaps`). Both stand beside the null family's.
Where the runs have several captions of a picture, the two scores are of captions of the same picture, and what
independent shifts would give stands behind (see :mod:`core.statistics.flip_risk`); and what really became of near ties
can be told (:func:`turned_ties`).
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from types import MappingProxyType

import numpy as np
import pandas as pd

from core.analysis.effects import Group, bounds
from core.analysis.flip_shifts import APART, SAME, Shifts, Together, pairs_of_captions
from core.analysis.table import View
from core.errors import InvalidInput
from core.probes.base import BASE_CAPTION, Axis
from core.statistics.bootstrap import LEAST_N, Interval, adjusted_level, too_few
from core.statistics.flip_risk import GAPS, TOLERATED
from core.statistics.shares import share
from core.statistics.wording import remarks

SCALE, IQR, SD = "scale", "interquartile range", "standard deviation"
UNITS = (SCALE, IQR)
"""What a gap is a share of: the span of the score's scale, or the interquartile range (IQR) of the unedited scores."""

BY = ("evaluator", "corpus", "axis", "family")

Picked = Mapping[tuple[str, ...], int]
"""By the name of a cell (BY), from how many it was picked after seeing them all; one that is not there, from none. Its
intervals are at the level of :func:`core.statistics.bootstrap.adjusted_level`."""

NONE_PICKED: Picked = MappingProxyType({})

_TWO = {SAME: "captions of one picture", APART: "captions of two different pictures"}

TWO_PICTURES = f"for {_TWO[APART]}"  # What the paper's number is of, whose two shifts are drawn independently

ONE_CAPTION = (
    f"Each picture has one caption here, so numbers are {TWO_PICTURES}: how two captions of one picture move together "
    "is unclear."
)
"""Where no pair of captions of one picture is known."""

PAIRS = (
    "The risk is of two captions of the same picture under the same edit. They are those that the run has in the "
    "scope's language, else the caption in view and its translations. At a gap it is half the share of such pairs "
    f"whose difference of scores changes by more. Behind it stands the risk {TWO_PICTURES}, whose shifts are drawn "
    "independently."
)
"""Whose captions a flip risk is of, where the run has several of a picture."""

READ = (
    "The risk is never above 50 %: an edit may help the caption that is ahead as well as hurt it. Shifts far larger "
    "than the gap come close to that. Beside it stands the floor: the risk under invisible edits."
)
"""How a flip risk is to be read; it stands wherever one is shown."""

REVERSED = f"reversed in {100 * TOLERATED:g} % of pairs or more"
"""What becomes, under a harmless edit, of a lead that is smaller than the trustworthy gap."""

EVIDENCE = (
    f"The smallest difference between two single captions that a harmless edit hardly reverses. Smaller ones are "
    f"{REVERSED}. Nine in ten pairs of shifts differ by no more than this gap."
)
"""What the trustworthy gap is, wherever one is shown."""


@dataclass(frozen=True, slots=True)
class Cell:
    """Shifts of one family under one evaluator in one corpus."""

    # evaluator, corpus, axis, family: its name
    evaluator: str
    corpus: str
    axis: str
    family: str
    apart: Shifts  # of the family's probes, each by itself
    together: Together | None  # of pairs of captions of one picture; None where the evaluator scored one caption alone
    # the same two of the same items under invisible edits; none where they were not audited
    floors: tuple[Shifts, Together | None]
    # of a gap by name: ``scale`` (span of the evaluator's scale; NaN where it has none), ``interquartile range`` and
    # ``standard deviation`` of its unedited scores of the corpus, whatever the slice
    units: dict[str, float]
    reach: float  # from the lowest to the highest of these unedited scores

    @property
    def name(self) -> tuple[str, ...]:
        """Its BY."""
        return self.evaluator, self.corpus, self.axis, self.family

    @property
    def shifts(self) -> Shifts:
        """Those whose flip risk leads: of the same picture where two pictures have two captions."""
        return self.apart if self.together is None or self.together.counts.n_items < 2 else self.together

    @property
    def null(self) -> Shifts:
        """The same under invisible edits."""
        apart, together = self.floors
        return apart if together is None or self.shifts is self.apart else together

    @property
    def spread(self) -> float:
        """Interquartile range of the evaluator's unedited scores."""
        return self.units[IQR]

    @property
    def is_null(self) -> bool:
        """Whether this is the floor itself."""
        return self.axis == Axis.NULL.value


def shift_cells(view: View) -> tuple[Cell, ...]:
    """Sort the shifts of a view into cells, in O(n log n). Controls are left out, the null family stays: it is the
    noise floor that the others are read against."""
    table, null = view.table, Axis.NULL.value
    named = [
        (Group(family, probes), view.items)
        for family, probes in view.families().items()
        if family != BASE_CAPTION and (not table.is_control(family) or table.axis_of(family) == null)
    ]
    return group_cells(view, named)


def group_cells(view: View, groups: Sequence[tuple[Group, np.ndarray]]) -> tuple[Cell, ...]:
    """The shifts of any groups of probes as cells, named by the groups' labels; ``groups``: each with the items that it
    is of, bool [N]."""
    cells, floor = [], Group("null", view.unseen)
    for evaluator, corpus in product(view.evaluators, view.corpora):
        floors: dict[bytes, tuple[Shifts, Together | None]] = {}
        clean = view.table.clean(evaluator)[view.table.of_corpus(corpus)]
        clean = clean[~np.isnan(clean)]
        reach = float(np.ptp(clean)) if len(clean) else math.nan
        units = {SCALE: view.table.span(evaluator), IQR: view.table.middle_half(evaluator, corpus)}
        units[SD] = view.table.spread(evaluator, corpus)
        several = bool(pairs_of_captions(view.table, evaluator))

        def both(group: Group, keep: np.ndarray) -> tuple[Shifts, Together | None]:
            of = (view, evaluator, corpus, group, keep)  # noqa: B023  # called in its own turn
            return Shifts(*of), Together(*of) if several else None  # noqa: B023

        for group, keep in groups:
            null = floors.setdefault(keep.tobytes(), both(floor, keep))
            axis = str(view.table.probes.loc[group.probes[0], "axis"])
            cells.append(Cell(evaluator, corpus, axis, group.label, *both(group, keep), null, units, reach))
    return tuple(cells)


def cell_risks(
    cells: Iterable[Cell], *, gaps: Sequence[float] = GAPS, unit: str = SCALE, picked: Picked = NONE_PICKED
) -> pd.DataFrame:
    """RRF of every cell at every gap, beside the null family's.

    Args:
        cells: of :func:`shift_cells`.
        gaps: shares of the unit.
        unit: SCALE: d = gap · span of the evaluator's scale. IQR: d = gap · interquartile range of the evaluator's
            unedited scores, since evaluators' scales differ.
        picked: see :data:`Picked`.

    Returns:
        One row a (cell, gap): BY + gap, d (in units of the score), risk, low, high, null_risk, over, over_low,
        over_high (risk less the null family's; NaN for the null family), pairs (SAME or APART, of which captions these
        are), apart_risk, apart_low, apart_high (the risk for captions of two different pictures), n_items,
        n_shifts (of SAME: pairs of captions), n_missing, note.

    Raises:
        InvalidInput: if unit is not one of UNITS.
    """
    records = []
    for cell, distances in _distances(cells, gaps, unit):
        for gap, d in zip(gaps, distances, strict=True):
            found, null, over, apart = _at(cell, d, adjusted_level(picked.get(cell.name, 1)))
            told = (gap, d, *found.numbers(), null, *over.numbers())
            behind = (cell.shifts.of, *apart.numbers())
            records.append((*cell.name, *told, *behind, *_counted(cell), _noted(cell, found, over)))
    return pd.DataFrame(records, columns=[*BY, *_COLUMNS])


def _noted(cell: Cell, risk: Interval, over: Interval) -> str:
    """Why the risk, or what it is less that of the null family, has no interval."""
    if risk.n == 0 or over.note == risk.note != "":
        return risk.note
    if cell.is_null:
        return remarks(risk.note, "the floor itself")
    return remarks(risk.note, over.note and f"less null: {over.note if cell.null.counts.n_shifts else _NO_NULL}")


def _at(cell: Cell, d: float, level: float) -> tuple[Interval, float, Interval, Interval]:
    """Risk of a cell at a gap, the null family's, the risk less that, and the one of different pictures."""
    if math.isnan(d):
        nothing = Interval(math.nan, math.nan, math.nan, cell.shifts.counts.n_items, level, _NO_SPAN)
        return nothing, math.nan, nothing, nothing
    found, null, apart = cell.shifts.risk(d, level), cell.null.risk(d).estimate, cell.apart.risk(d, level)
    if cell.is_null:
        return found, null, Interval(math.nan, math.nan, math.nan, found.n, found.level), apart
    return found, null, cell.shifts.over(cell.null, d, level), apart


_NO_FLOOR = Interval(math.nan, math.nan, math.nan, 0, 0.95)
_NO_NULL = "no invisible edit was scored on these items"
_NO_SPAN = "no gap: the scale of the evaluator has no upper bound, or the run does not tell it"


def evident_gaps(cells: Iterable[Cell], *, floor: bool = True, picked: Picked = NONE_PICKED) -> pd.DataFrame:
    """The smallest gap of every cell from which on its flip risk is below 5 %, beside the null family's.

    Args:
        cells: of :func:`shift_cells`.
        floor: work the null family's out too; otherwise it is NaN.
        picked: see :data:`Picked`.

    Returns:
        One row a cell: BY + d, low, high (in units of the score), of_iqr, of_iqr_low, of_iqr_high, of_sd, of_sd_low,
        of_sd_high (in percent of the interquartile range and of the standard deviation of the evaluator's clean
        scores), null_d, null_low, null_high, null_of_iqr, pairs (SAME or APART), apart_d, apart_low, apart_high (the
        gap for captions of two different pictures), n_items, n_sources, reach (how far apart the evaluator's unedited
        scores lie at most), said (in words), note.
    """
    records = []
    for cell in cells:
        level = adjusted_level(picked.get(cell.name, 1))
        found, apart = cell.shifts.evident(level), cell.apart.evident(level)
        null = cell.null.evident() if floor else _NO_FLOOR
        ends = found.numbers()
        shares = [100 * end / (cell.units[unit] or math.nan) for unit in (IQR, SD) for end in ends]
        under_null = (*null.numbers(), 100 * null.estimate / (cell.spread or math.nan))
        counts = (cell.shifts.counts.n_items, cell.shifts.counts.n_sources)
        behind = (cell.shifts.of, *apart.numbers())
        said = _said(found, cell.reach, cell.shifts.of)
        records.append((*cell.name, *ends, *shares, *under_null, *behind, *counts, cell.reach, said, found.note))
    return pd.DataFrame(records, columns=[*BY, *_GAPS])


_GAPS = (
    "d", "low", "high", "of_iqr", "of_iqr_low", "of_iqr_high", "of_sd", "of_sd_low", "of_sd_high", "null_d", "null_low",
    "null_high", "null_of_iqr", "pairs", "apart_d", "apart_low", "apart_high", "n_items", "n_sources", "reach", "said",
    "note",
)  # fmt: skip


def widest_gaps(cells: Iterable[Cell]) -> pd.DataFrame:
    """:func:`evident_gaps` of the cells of every evaluator and corpus whose gap is the largest, one, or who share it:
    of captions of the same picture where any is, of enough items and sources for a claim. Intervals allow for the
    picking from all of the evaluator's cells that have a gap."""
    known: dict[tuple[str, str], list[Cell]] = {}
    for cell in cells:
        counts = cell.shifts.counts
        if min(counts.n_items, counts.n_sources) >= LEAST_N and not math.isnan(cell.shifts.gap_within()[1]):
            known.setdefault((cell.evaluator, cell.corpus), []).append(cell)
    found, among = list[Cell](), Counter[str]()
    for every in known.values():
        own = [cell for cell in every if cell.shifts.of == SAME] or every
        reached = max(cell.shifts.gap_within()[0] for cell in own)
        near = [cell for cell in own if cell.shifts.gap_within()[1] >= reached]
        largest = max(cell.shifts.gap() for cell in near)
        found += [cell for cell in near if cell.shifts.gap() == largest]
        among[own[0].evaluator] += len(own)
    return evident_gaps(found, floor=False, picked={cell.name: among[cell.evaluator] for cell in found})


def leading(found: pd.DataFrame) -> pd.DataFrame:
    """Of rows of cells those that are of captions of the same picture; of an evaluator and corpus without any, all;
    ``found``: columns evaluator, corpus and pairs."""
    same = found["pairs"] == SAME
    return found[same | ~same.groupby([found["evaluator"], found["corpus"]]).transform("any")]


def nearest_gap(cells: Sequence[Cell], gaps: Sequence[float], *, unit: str) -> float:
    """The gap of some, shares of the unit, rising, that lies nearest to :func:`middle_gap`; of two as near, the first.
    NaN likewise."""

    def nearest(middle: float) -> float:
        return middle if math.isnan(middle) else min(gaps, key=lambda gap: abs(gap - middle))

    low = nearest(_middle(cells, unit, lambda cell: cell.shifts.gap_within()[0]))
    high = nearest(_middle(cells, unit, lambda cell: cell.shifts.gap_within()[1]))
    return low if low == high else nearest(middle_gap(cells, unit=unit))


def middle_gap(cells: Sequence[Cell], *, unit: str) -> float:
    """Where a map of risks shows most: the median of the cells' trustworthy gaps, invisible edits aside; ``cells``: of
    :func:`shift_cells`. Returns a share of the unit; NaN where no cell has both a unit and a gap above 0. Raises
    InvalidInput if unit is not one of UNITS."""
    return _middle(cells, unit, lambda cell: cell.shifts.gap())


def _middle(cells: Sequence[Cell], unit: str, gap: Callable[[Cell], float]) -> float:
    """Median of the cells' gaps, or of an end of what they lie within, of those whose gap lies above 0."""
    sizes = [(cell, size) for cell, (size,) in _distances(cells, (1.0,), unit) if not cell.is_null]
    known = [gap(cell) / size for cell, size in sizes if cell.shifts.gap_within()[1] > 0 and size > 0]
    return float(np.median(known)) if known else math.nan


def _said(found: Interval, reach: float, of: str) -> str:
    """What a trustworthy gap says of the evaluator's scores, in words; nothing of scores that do not differ; ``reach``:
    how far apart the unedited scores lie at most."""
    if math.isnan(found.estimate) or not reach:
        return ""
    if found.estimate == 0:
        return f"no difference between {_TWO[of]} is {REVERSED}"
    if found.estimate > reach:
        return f"all differences between {_TWO[of]} are {REVERSED}: none exceeds {reach:.3g}"
    return f"differences below {found.estimate:.3g} between {_TWO[of]} are {REVERSED}"


def cell_curves(cells: Iterable[Cell], *, gaps: Sequence[float] = GAPS, unit: str = SCALE) -> pd.DataFrame:
    """RRF of every cell at many gaps, for a figure: without intervals, each within CURVE_ERROR of the exact one;
    ``cells``: of :func:`shift_cells`; ``gaps``: shares of the unit. Returns one row a (cell, gap): BY + gap, d, risk,
    n_items, n_shifts, n_missing. Raises InvalidInput if unit is not one of UNITS."""
    records = []
    for cell, distances in _distances(cells, gaps, unit):
        known = not np.isnan(distances).any()
        risks = cell.shifts.curve(tuple(distances)) if known else np.full(len(distances), math.nan)
        told = zip(gaps, distances, risks.tolist(), strict=True)
        records += [(*cell.name, gap, d, risk, *_counted(cell)) for gap, d, risk in told]
    return pd.DataFrame(records, columns=[*BY, "gap", "d", "risk", "n_items", "n_shifts", "n_missing"])


def pairs_said(cells: Sequence[Cell]) -> str:
    """Whose captions the risks of some cells are of, in a sentence or three."""
    alone = sum(cell.shifts.of != SAME for cell in cells)
    if alone == len(cells):
        return ONE_CAPTION
    some = f" In {alone} of {len(cells)} rows each picture has one caption: they have the latter alone."
    return PAIRS + some * bool(alone)


def turned_ties(cells: Iterable[Cell]) -> pd.DataFrame:
    """What became of near ties: pairs of captions of one picture, by the risk that was told at their gap.

    Args:
        cells: of families; those whose captions are of different pictures tell nothing of a pair, and have no row.

    Returns:
        Of every (evaluator, corpus) the near ties (told 5 % or more) of all families but the null one together, the
        same by told risk, and those of each family: evaluator, corpus, family (EVERY or its name), told_of (which told
        risks), gap (median, in units of the score), told (mean risk), apart (mean risk if the two captions belonged to
        different pictures), turned, low, high (share that turned, every pair counting once, items of one source
        together), n_pairs, n_items, n_tied (equal before the edit, left out), said, note.
    """
    known: dict[tuple[str, str], list[tuple[Cell, pd.DataFrame]]] = {}
    for cell in cells:
        if cell.together is not None and cell.shifts.of == SAME:
            known.setdefault((cell.evaluator, cell.corpus), []).append((cell, _ties(cell, cell.together)))
    records = []
    for name, own in known.items():
        plain = [ties for cell, ties in own if not cell.is_null]
        if plain:
            together = pd.concat(plain, ignore_index=True)
            records += [(*name, EVERY, *_turned(together, low, high)) for low, high in ((TOLERATED, 0.5), *_BINS)]
        records += [(*name, cell.family, *_turned(ties, TOLERATED, 0.5)) for cell, ties in own]
    found = pd.DataFrame(records, columns=["evaluator", "corpus", "family", *_TURNED])
    return found[found["n_pairs"] > 0].reset_index(drop=True)


EVERY = "every family"
_EDGES = (0.0, TOLERATED, 0.1, 0.2, 0.3, 0.4, 0.5)
_BINS = tuple(zip(_EDGES[-2::-1], _EDGES[:0:-1], strict=True))
_NODES = 65  # Gaps at which the risk of different pictures is counted; between them it is read off straight lines


def _ties(cell: Cell, pairs: Together) -> pd.DataFrame:
    """Every pair of a cell: gap, what was told at it, whether it turned, item and source."""
    own = pairs.captions
    nodes = np.unique(np.quantile(own.gaps, np.linspace(0, 1, _NODES)))
    apart = np.interp(own.gaps, nodes, cell.apart.curve(tuple(nodes.tolist())))
    told = own.risks(own.gaps)
    sources = dict(zip(("source", "second"), own.owners.reshape(own.n_pairs, -1).T, strict=False))
    numbers = {"gap": own.gaps, "told": told, "apart": apart, "turned": own.turned}
    return pd.DataFrame({**numbers, "item": own.items, **sources})


def _turned(ties: pd.DataFrame, low: float, high: float) -> tuple[object, ...]:
    """Columns of one row, of the pairs whose told risk is at least ``low`` and below ``high``, or both at 0.5."""
    told = ties["told"].to_numpy()
    own = ties[(told >= low) & ((told < high) | (high == 0.5))]  # no risk is above
    tied = own["gap"] == 0
    own, of = own[~tied], f"{100 * low:g} % or more" if high - low > 0.4 else f"{100 * low:g} to {100 * high:g} %"
    owners = own[["source", "second"] if "second" in own else "source"].to_numpy()
    n_items, found = own["item"].nunique(), share(own["turned"], groups=owners)
    note = too_few(n_items, own["source"].nunique())
    ends = (math.nan, math.nan) if note else (found.low, found.high)
    mean = own["told"].mean()
    said = "more than told" if mean < ends[0] else "less than told" if mean > ends[1] else "as told"
    numbers = (own["gap"].median(), mean, own["apart"].mean(), found.estimate, *ends)
    return (of, *numbers, len(own), n_items, int(tied.sum()), "unclear" if note else said, note)


_TURNED = ("told_of", "gap", "told", "apart", "turned", "low", "high", "n_pairs", "n_items", "n_tied", "said", "note")

_APART = ("apart_risk", "apart_low", "apart_high")
_COUNTED = ("n_items", "n_shifts", "n_missing")
_COLUMNS = ("gap", "d", "risk", "low", "high", "null_risk", *bounds("over"), "pairs", *_APART, *_COUNTED, "note")


def _counted(cell: Cell) -> tuple[int, int, int]:
    counts = cell.shifts.counts
    return counts.n_items, counts.n_shifts, counts.n_missing


def _distances(cells: Iterable[Cell], gaps: Sequence[float], unit: str) -> Iterable[tuple[Cell, list[float]]]:
    if unit not in UNITS:
        raise InvalidInput(f"unit must be one of {', '.join(UNITS)}, got {unit!r}")
    return ((cell, [gap * cell.units[unit] for gap in gaps]) for cell in cells)
