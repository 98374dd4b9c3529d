"""The other half of a metric's check: does the score drop where the meaning breaks, and by more than harmless edits?"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from core.analysis.verdicts import NO_CLAIM
from core.errors import InvalidInput
from core.features.lab.lab import LabRow
from core.probes.base import KNOWN_WRONG, Axis, Expectation, Probe
from core.probes.registry import catalogue
from core.statistics.bootstrap import Interval
from core.statistics.comparisons import Comparison, compare
from core.statistics.selectivity import Selectivity, selectivity

SELECTIVITY = "selectivity"
"""Names the selectivity beside the families."""


@dataclass(frozen=True, slots=True)
class FamilyFailures:
    """How often the metric fails to see one kind of broken meaning.

    Args:
        found: right against wrong, over the items' comparisons.
        missing: comparisons without two scores: rejected or unscored.
        verdict: WITHIN or BEYOND, where the interval of the failures lies on that side of the threshold; UNDECIDED
            where it lies astride or there is none, and of too few items or sources for a claim; NOTHING where there is
            no comparison.
    """

    family: str
    axis: str
    found: Comparison
    missing: int
    verdict: str


@dataclass(frozen=True, slots=True)
class Broken:
    """What the metric does where the meaning breaks.

    Args:
        families: a line each.
        selectivity: of meanings that are known to be broken against harmless edits; None where one of the two has no
            score.
        most: failures in percent that a family may have.
        least: selectivity that the metric must reach; None: whatever it is.
    """

    families: tuple[FamilyFailures, ...]
    selectivity: Selectivity | None
    most: float
    least: float | None

    @property
    def passed(self) -> bool:
        """Whether no family is shown to fail too often, nor the selectivity to fall short."""
        return all(each.verdict != BEYOND for each in self.families) and self.selective != BEYOND

    @property
    def selective(self) -> str:
        """WITHIN where the selectivity is shown to be reached, BEYOND where to fall short; empty if none is asked for.

        Where one is asked for and there is none, it falls short.
        """
        if self.least is None:
            return ""
        if self.selectivity is None:
            return BEYOND
        found = self.selectivity.value
        return WITHIN if found.low >= self.least else BEYOND if found.high < self.least else UNDECIDED

    @property
    def undecided(self) -> tuple[str, ...]:
        """What these items decide neither way: families, and the selectivity."""
        families = tuple(each.family for each in self.families if each.verdict == UNDECIDED)
        return (*families, SELECTIVITY) if self.selective == UNDECIDED else families


def directional_probes() -> tuple[Probe, ...]:
    """Registered probes under which the score must drop, further readings of one edit aside.

    Raises:
        InvalidInput: if there is none.
    """
    found = tuple(
        probe
        for probe in catalogue()
        if probe.expectation is Expectation.DIRECTIONAL and not probe.control and not probe.selector
    )
    if not found:
        raise InvalidInput("no directional probe is registered here; name probes that expect the score to drop")
    return found


def check_bounds(most: float, least: float | None) -> None:
    """Refuse thresholds that nothing could meet, or everything.

    Raises:
        InvalidInput: if one is out of range.
    """
    if not 0 <= most <= 100:
        raise InvalidInput(f"failures are a percentage from 0 to 100, got {most:g}")
    if least is not None and not 0 <= least <= 1:
        raise InvalidInput(f"a selectivity is a probability from 0 to 1, got {least:g}")


def broken(
    probes: Sequence[Probe],
    rows: Sequence[Sequence[LabRow]],
    *,
    most: float,
    least: float | None,
    sources: np.ndarray | None = None,
) -> Broken:
    """Judge the directional probes of a check.

    Args:
        probes: every probe that was tried, harmless ones too.
        rows: of every item.
        most: failures in percent that a family may have.
        least: selectivity that must be reached.
        sources: number of each item's source, int [items]: intervals take those of one together. None: each is one.
    """
    directional = [probe for probe in probes if probe.expectation is Expectation.DIRECTIONAL]
    harmless = [probe for probe in probes if probe.expectation is Expectation.INVARIANT and not probe.control]
    kept = [probe for probe in harmless if probe.axis is not Axis.NULL]
    families = tuple(
        _family(family, [probe for probe in directional if probe.family == family], rows, most, sources)
        for family in dict.fromkeys(probe.family for probe in directional)
    )
    drops, harms = _grid(directional, rows, _lost), np.abs(_grid(kept, rows, lambda row: row.delta))
    found = selectivity(drops, harms, sources=sources) if len(drops) and len(harms) else None
    return Broken(families, found if found is not None and found.n_pairs else None, most, least)


def _family(
    family: str, probes: Sequence[Probe], rows: Sequence[Sequence[LabRow]], most: float, sources: np.ndarray | None
) -> FamilyFailures:
    right = _grid(probes, rows, lambda row: row.baseline_score)
    wrong = _grid(probes, rows, lambda row: row.score)
    items = np.broadcast_to(np.arange(len(rows)), right.shape)
    of = None if sources is None else sources[items.ravel()]
    found = compare(right.ravel(), wrong.ravel(), items=items.ravel(), sources=of)
    verdict = UNDECIDED if found.n and found.verdict in NO_CLAIM else judged(found.failure, most / 100)
    return FamilyFailures(family, probes[0].axis.value, found, right.size - found.n, verdict)


def _grid(
    probes: Sequence[Probe], rows: Sequence[Sequence[LabRow]], value: Callable[[LabRow], float | None]
) -> np.ndarray:
    """A value of every probe and item, float64 [k, N]; NaN where there is none."""
    place = {probe.name: number for number, probe in enumerate(probes)}
    found = np.full((len(probes), len(rows)), np.nan)
    for item, own in enumerate(rows):
        for row in own:
            if row.probe in place and (told := value(row)) is not None:
                found[place[row.probe], item] = told
    return found


def _lost(row: LabRow) -> float | None:
    """What a meaning that is known to be broken costs; None for an edit that proves no falsity."""
    return None if row.delta is None or row.falsity not in KNOWN_WRONG else -row.delta


# A bar for failures that a reader sets, and on which side of it an interval lies.


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
