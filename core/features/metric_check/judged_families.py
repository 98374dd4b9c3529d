"""What a check judges of each family: harmless edits by how much they change the score, broken meanings by its drop."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from core.analysis.effect_of_items import effect, known_sizes
from core.analysis.effects import with_holm
from core.analysis.flip_shifts import APART, SAME
from core.analysis.verdicts import NO_CLAIM
from core.errors import InvalidInput
from core.features.lab.lab import LabRow
from core.probes.base import KNOWN_WRONG, Axis, Expectation, Probe
from core.probes.registry import catalogue
from core.statistics.bootstrap import Interval, adjusted_level, median_bca
from core.statistics.changes import WITHHELD, Changes
from core.statistics.comparisons import Comparison, compare
from core.statistics.flip_risk import CaptionPairs, evident_gap
from core.statistics.selectivity import Selectivity, selectivity
from core.statistics.shares import share
from core.statistics.shift_pairs import ShiftPairs

SELECTIVITY = "selectivity"  # names the selectivity beside the families


@dataclass(frozen=True, slots=True)
class FamilyFailures:
    """How often the metric fails to see one kind of broken meaning."""

    family: str
    axis: str
    found: Comparison  # right against wrong, over the items' comparisons
    missing: int  # comparisons without two scores: rejected or unscored
    # WITHIN or BEYOND, where ``held`` lies on that side of the threshold; UNDECIDED where it lies astride or there is
    # none, and of too few items or sources for a claim; NOTHING where there is no comparison
    verdict: str
    # the failures with the interval of the level that Holm's correction over the families asks of this one; alone, or
    # of too few for a claim, that of 95 %
    held: Interval


@dataclass(frozen=True, slots=True)
class Broken:
    """What the metric does where the meaning breaks."""

    families: tuple[FamilyFailures, ...]  # a line each
    # of meanings that are known to be broken against harmless edits; None where one of the two has no score
    selectivity: Selectivity | None
    most: float  # failures in percent that a family may have
    least_above: float | None  # how far above the metric's own chance the selectivity must lie; None: wherever it does

    @property
    def passed(self) -> bool:
        """Whether no family is shown to fail too often, nor the selectivity to fall short."""
        return all(each.verdict != BEYOND for each in self.families) and self.selective != BEYOND

    @property
    def selective(self) -> str:
        """WITHIN where the selectivity is shown to lie that far above the metric's own chance, BEYOND where to fall
        short; empty if nothing is asked for.

        Where it is asked for and there is none, it falls short.
        """
        if self.least_above is None:
            return ""
        if self.selectivity is None:
            return BEYOND
        found = self.selectivity.above
        return WITHIN if found.low >= self.least_above else BEYOND if found.high < self.least_above else UNDECIDED

    @property
    def undecided(self) -> tuple[str, ...]:
        """What these items decide neither way: families, and the selectivity."""
        families = tuple(each.family for each in self.families if each.verdict == UNDECIDED)
        return (*families, SELECTIVITY) if self.selective == UNDECIDED else families


def directional_probes() -> tuple[Probe, ...]:
    """Registered probes under which the score must drop, further readings of one edit aside; raises InvalidInput if
    there is none."""
    found = tuple(
        probe
        for probe in catalogue()
        if probe.expectation is Expectation.DIRECTIONAL and not probe.control and not probe.selector
    )
    if not found:
        raise InvalidInput("no directional probe is registered here; name probes that expect the score to drop")
    return found


def broken(
    probes: Sequence[Probe],
    rows: Sequence[Sequence[LabRow]],
    *,
    most: float,
    least_above: float | None,
    sources: np.ndarray | None = None,
) -> Broken:
    """Judge the directional probes of a check of so many items, harmless probes being there too; ``sources``: number of
    each item's source, int [items]: intervals take those of one together."""
    directional = [probe for probe in probes if probe.expectation is Expectation.DIRECTIONAL]
    invariant = [probe for probe in probes if probe.expectation is Expectation.INVARIANT and not probe.control]
    harmless = [probe for probe in invariant if probe.axis is not Axis.NULL]
    sides = {}
    for family in dict.fromkeys(probe.family for probe in directional):
        own = [probe for probe in directional if probe.family == family]
        names = [probe.name for probe in own]
        right, wrong = grid(names, rows, lambda row: row.baseline_score), grid(names, rows, lambda row: row.score)
        sides[family] = (own[0].axis.value, right, wrong)
    families = failures_of(sides, most=most, sources=sources)
    # what a meaning that is known to be broken costs; nothing of an edit that proves no falsity
    broken_by, kept = ([probe.name for probe in each] for each in (directional, harmless))
    lost = grid(broken_by, rows, lambda row: row.delta if row.falsity in KNOWN_WRONG else None)
    drops, harms = -lost, np.abs(grid(kept, rows, lambda row: row.delta))
    found = selectivity(drops, harms, sources=sources) if len(drops) and len(harms) else None
    return Broken(families, found if found is not None and found.n_pairs else None, most, least_above)


def failures_of(
    sides: Mapping[str, tuple[str, np.ndarray, np.ndarray]], *, most: float, sources: np.ndarray | None
) -> tuple[FamilyFailures, ...]:
    """Judge each family by its interval, those that have enough for a claim together; see :func:`_together`. ``sides``:
    family -> its axis, and the scores of the right and the wrong sides, float64 [k, N], NaN without one."""
    found, at = dict[str, FamilyFailures](), dict[str, Callable[..., Interval]]()
    for family, (axis, right, wrong) in sides.items():
        items = np.broadcast_to(np.arange(right.shape[1]), right.shape).ravel()
        of = None if sources is None else sources[items]
        told = compare(right.ravel(), wrong.ravel(), items=items, sources=of)
        few = told.n and told.verdict in NO_CLAIM
        verdict = UNDECIDED if few else judged(told.failure, most / 100)
        found[family] = FamilyFailures(family, axis, told, right.size - told.n, verdict, told.failure)
        if told.n and not few:
            both = ~np.isnan(right.ravel() + wrong.ravel())
            failed, groups = (wrong >= right).ravel()[both], (items if of is None else of)[both]
            at[family] = partial(share, failed, groups=groups)
    found |= {
        family: replace(found[family], verdict=said, held=held)
        for family, (held, said) in _together(at, most / 100).items()
    }
    return tuple(found.values())


def _together(at: Mapping[str, Callable[..., Interval]], most: float) -> dict[str, tuple[Interval, str]]:
    """The interval that each family is judged by, and what it says, Holm's correction over all.

    Step by step: of m families that are open, those decide whose interval of level 1 - α/m excludes the threshold; then
    m is smaller. It is Holm's test of all, turned into intervals.
    """
    found, left = dict[str, tuple[Interval, str]](), dict(at)
    while left:
        held = {family: interval(level=adjusted_level(len(left))) for family, interval in left.items()}
        found |= {family: (each, judged(each, most)) for family, each in held.items()}
        open_ = {family: interval for family, interval in left.items() if found[family][1] == UNDECIDED}
        if len(open_) == len(left):
            break
        left = open_
    return found


def grid(
    probes: Sequence[str], rows: Sequence[Sequence[LabRow]], value: Callable[[LabRow], float | None]
) -> np.ndarray:
    """A value of every probe, by name, and item, float64 [k, N]; NaN where there is none."""
    place = {name: number for number, name in enumerate(probes)}
    found = np.full((len(probes), len(rows)), np.nan)
    for item, own in enumerate(rows):
        for row in own:
            if row.probe in place and (told := value(row)) is not None:
                found[place[row.probe], item] = told
    return found


WITHIN, BEYOND, UNDECIDED, NOTHING = "within", "beyond", "undecided", "nothing scored"
"""What is found of a family beside its threshold; by its interval, never by the estimate alone."""

MOST_FAILURES = 50.0
"""Percent: at chance. The least that a metric developer may want to hear of, not a constant of any paper."""


def judged(found: Interval, most: float) -> str:
    """On which side of a threshold an interval lies; undecided where it has none."""
    if not found.n:
        return NOTHING
    if found.high <= most:
        return WITHIN
    return BEYOND if found.low > most else UNDECIDED


@dataclass(frozen=True, slots=True)
class FamilyShift:
    """How far one family moves the metric."""

    family: str
    axis: str
    # median over items of an item's median |% change|, with its BCa interval; items of one source count together
    size: Interval
    shift: Interval  # median over items of an item's median % change, signed, likewise
    missing: int  # pairs without a % change: rejected, unscored, or with a baseline of 0
    # WITHIN or BEYOND, where ``held`` lies on that side of the threshold; UNDECIDED where it lies astride or there is
    # none; NOTHING where no pair has a % change; WITHHELD where the metric gives negative baselines. Neither of the
    # last two decides anything.
    verdict: str
    # which of median, movers and mean show that scores drift, in words, after Holm's correction over the families that
    # are no controls; see :func:`core.analysis.verdicts.direction`. Empty where none does.
    direction: str
    note: str  # why shifts have no % change
    held: Interval  # the size with the interval of the level that Holm's correction over the families asks of this one


@dataclass(frozen=True, slots=True)
class FamilyEvidence:
    """The trustworthy gap under a family; see :mod:`core.statistics.flip_risk`."""

    family: str
    gap: Interval  # in units of the score
    pairs: str  # SAME or APART: of which two captions it is
    apart: Interval  # the gap for captions of two different pictures


def _places(found: Sequence[tuple[Any, ...]]) -> np.ndarray:
    return np.array([place for place, *_ in found], dtype=np.int64)


def evidence_of(
    family: str, rows: Sequence[Sequence[LabRow]], others: Mapping[int, Sequence[LabRow]], groups: np.ndarray
) -> FamilyEvidence:
    """Trustworthy gap of one family; ``others``: rows of the items that have a second caption, under that, by the
    item's place."""
    own = ((place, row) for place, item in enumerate(rows) for row in item if row.family == family)
    known = [(place, row) for place, row in own if row.delta is not None]
    apart = evident_gap(ShiftPairs([row.delta or 0 for _, row in known], _places(known), groups))
    beside = {(place, row.probe): row for place, item in others.items() for row in item if row.delta is not None}
    both = [(place, row, beside[place, row.probe]) for place, row in known if (place, row.probe) in beside]
    after = np.array([(row.score or 0) - (other.score or 0) for _, row, other in both])
    moved = np.array([(row.delta or 0) - (other.delta or 0) for _, row, other in both])
    pairs = CaptionPairs(after - moved, after, _places(both), groups)
    if pairs.n_items < 2:
        return FamilyEvidence(family, apart, APART, apart)
    return FamilyEvidence(family, pairs.evident(), SAME, apart)


def shifts_of(
    probes: Sequence[Probe], rows: Sequence[Sequence[LabRow]], threshold: float, groups: np.ndarray
) -> tuple[FamilyShift, ...]:
    """How far every harmless family moves the metric, the invisible edits first; threshold in percent, groups int
    [items]."""
    pairs = [("null", "null"), *((probe.family, probe.axis.value) for probe in probes)]
    axes, controls = dict(pairs), {"null"} | {probe.family for probe in probes if probe.control}
    below = any(row.baseline_score is not None and row.baseline_score < 0 for item in rows for row in item)
    changes = {family: _changes(family, rows, withheld=below) for family in axes}
    sources, every = groups[: len(rows)], np.ones(len(rows), dtype=bool)  # fewer where the metric could not be run
    found = {name: effect(each, every, spread=math.nan, sources=sources) for name, each in changes.items()}
    sizes = {name: partial(median_bca, known_sizes(each, every), groups=sources) for name, each in changes.items()}
    usual = {name: size() for name, size in sizes.items()}
    held = _together({name: size for name, size in sizes.items() if not math.isnan(usual[name].low)}, threshold)
    records = [
        {"family": name, "tests": "" if name in controls else "families", **asdict(each)}
        for name, each in found.items()
        if each is not None and not math.isnan(each.p)
    ]
    tested = with_holm(pd.DataFrame(records), by=("tests",)) if records else None
    ways = {} if tested is None else dict(zip(tested["family"], tested["direction"], strict=True))
    shifts = []
    for name, axis in axes.items():
        own, told = usual[name], found[name]
        judging, verdict = held.get(name, (own, judged(own, threshold)))
        percent = np.full(len(rows), math.nan) if below else changes[name].percent
        known = 0 if below else int(changes[name].n_shifts.sum())
        missing = sum(row.family == name for item in rows for row in item) - known
        verdict, note = WITHHELD if below else verdict, "" if told is None else told.note
        shift = median_bca(percent, groups=sources)
        shifts.append(FamilyShift(name, axis, own, shift, missing, verdict, ways.get(name, ""), note, judging))
    return tuple(shifts)


def _changes(family: str, rows: Sequence[Sequence[LabRow]], *, withheld: bool) -> Changes:
    probes = sorted({row.probe for item in rows for row in item if row.family == family})
    before = grid(probes, rows, lambda row: None if row.score is None else row.baseline_score)
    after = grid(probes, rows, lambda row: None if row.baseline_score is None else row.score)
    return Changes.of(after, before, ~np.isnan(after), np.full(len(rows), withheld))
