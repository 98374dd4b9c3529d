"""Flip risk of every evaluator, corpus and family: read once from the table of scores, asked at any gap."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from core.analysis.effects import Group
from core.analysis.table import View
from core.errors import InvalidInput
from core.probes.base import BASE_CAPTION, Axis
from core.statistics.flip_risk import GAPS, intervals_of
from core.statistics.shift_pairs import ShiftPairs

SCALE, IQR = "scale", "interquartile range"
UNITS = (SCALE, IQR)
"""What a gap is a share of: the score's own scale (1), or the interquartile range of the evaluator's clean scores."""

BY = ("evaluator", "corpus", "axis", "family")


@dataclass(frozen=True, slots=True)
class Cell:
    """Shifts of one family under one evaluator in one corpus.

    Args:
        evaluator, corpus, axis, family: its name.
        pairs: the shifts in order.
        spread: interquartile range of the evaluator's clean scores of the corpus, whatever the slice.
        n_shifts: shifts that were scored.
        n_missing: shifts that were not.
    """

    evaluator: str
    corpus: str
    axis: str
    family: str
    pairs: ShiftPairs
    spread: float
    n_shifts: int
    n_missing: int


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
    return tuple(
        _cell(view, evaluator, corpus, group, keep)
        for evaluator in view.evaluators
        for corpus in view.corpora
        for group, keep in groups
    )


def _families(view: View) -> Iterator[tuple[str, tuple[str, ...]]]:
    table = view.table
    for family, probes in view.families().items():
        if family != BASE_CAPTION and (not table.is_control(family) or table.axis_of(family) == Axis.NULL.value):
            yield family, probes


def _cell(view: View, evaluator: str, corpus: str, group: Group, keep: np.ndarray) -> Cell:
    table = view.table
    items = np.flatnonzero(view.items & keep & table.of_corpus(corpus))
    delta, stored = view.shifts(evaluator, group.probes, against=group.against)
    delta, stored = delta[:, items], stored[:, items]
    scored = int((~np.isnan(delta)).sum())
    pairs = ShiftPairs(delta, np.broadcast_to(items, delta.shape))
    spread = table.middle_half(evaluator, corpus)
    axis = str(table.probes.loc[group.probes[0], "axis"])
    return Cell(evaluator, corpus, axis, group.label, pairs, spread, scored, int(stored.sum()) - scored)


def cell_risks(
    cells: Iterable[Cell], *, gaps: Sequence[float] = GAPS, unit: str = SCALE, resamples: int | None = None
) -> pd.DataFrame:
    """RRF of every cell at every gap.

    Args:
        cells: of :func:`shift_cells`.
        gaps: shares of the unit.
        unit: SCALE: d = gap. IQR: d = gap · interquartile range of the evaluator's clean scores, since evaluators'
            scales differ.
        resamples: bootstrap samples of each interval; None: see
            :func:`core.statistics.flip_risk.flip_risk_intervals`.

    Returns:
        One row a (cell, gap): BY + gap, d (on the score's scale), risk, low, high, n_items, n_shifts, n_missing, note.

    Raises:
        InvalidInput: if unit is not one of UNITS.
    """
    records = []
    for cell, distances in _distances(cells, gaps, unit):
        found = intervals_of(cell.pairs, distances, resamples=resamples)
        for gap, d, interval in zip(gaps, distances, found, strict=True):
            told = (gap, d, interval.estimate, interval.low, interval.high)
            records.append((*_name(cell), *told, interval.n, cell.n_shifts, cell.n_missing, interval.note))
    return pd.DataFrame(records, columns=[*BY, *_COLUMNS])


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
        risks = cell.pairs.curve(np.array(distances))
        counts = (cell.pairs.n_items, cell.n_shifts, cell.n_missing)
        told = zip(gaps, distances, risks.tolist(), strict=True)
        records += [(*_name(cell), gap, d, risk, *counts) for gap, d, risk in told]
    return pd.DataFrame(records, columns=[*BY, *(name for name in _COLUMNS if name not in ("low", "high", "note"))])


_COLUMNS = ("gap", "d", "risk", "low", "high", "n_items", "n_shifts", "n_missing", "note")


def _name(cell: Cell) -> tuple[str, ...]:
    return cell.evaluator, cell.corpus, cell.axis, cell.family


def _distances(cells: Iterable[Cell], gaps: Sequence[float], unit: str) -> Iterable[tuple[Cell, list[float]]]:
    if unit not in UNITS:
        raise InvalidInput(f"unit must be one of {', '.join(UNITS)}, got {unit!r}")
    return ((cell, [gap * (cell.spread if unit == IQR else 1.0) for gap in gaps]) for cell in cells)
