"""What some probes do to one evaluator over some items: one row's numbers, and what they allow to claim.

See :mod:`core.analysis.effects` for the tables that are made of such rows.
"""

import math
from dataclasses import dataclass, fields, replace

import numpy as np

from core.analysis.verdicts import MARGIN, NOT_ASKED, UNDECIDED, drift, scatter, untold
from core.statistics.bootstrap import Interval, median_bca, median_bca_levels
from core.statistics.changes import SHIFT_FLOOR, Changes, exceeds
from core.statistics.crossed_sources import crossed, first_of, widening
from core.statistics.power import reach
from core.statistics.shares import mean_changes, movers, share, share_of_sums
from core.statistics.shift_tests import PairedTest, cliffs_delta, paired_test
from core.statistics.wording import counted


@dataclass(frozen=True, slots=True)
class Effect:
    """What one group of probes does to one evaluator over some items."""

    median_percent: float  # median over items of an item's median % change, with its 95 % BCa interval low to high
    low: float
    high: float
    median_abs_percent: float  # the same of |% change|
    abs_low: float
    abs_high: float
    # edits in percent whose |% change| is above the margin, with its 95 % interval beyond_low to beyond_high, the
    # edits of one source together; see :func:`core.statistics.shares.share_of_sums`
    beyond: float
    beyond_low: float
    beyond_high: float
    # items whose median |% change| over their edits is, likewise: not to be compared between families of different
    # numbers of edits
    items_beyond: float
    items_beyond_low: float
    items_beyond_high: float
    # still, falls: items that stand still, and of those that move those that fall, in percent; see
    # :func:`core.statistics.shares.movers`
    still: float
    falls: float
    falls_low: float
    falls_high: float
    mean_percent: float  # change of the mean score in percent; see :func:`core.statistics.shares.mean_changes`
    mean_low: float
    mean_high: float
    median_delta: float  # the same of Δ, on the score's own scale
    delta_low: float
    delta_high: float
    standardised: float  # median Δ in standard deviations of the evaluator's unedited scores
    standardised_low: float
    standardised_high: float
    cliffs_delta: float  # Pr[edited > unedited] - Pr[edited < unedited] over all pairs of items
    # test, p, test_note: two-sided paired test of the scores before and after, of items or of the sources they share
    test: str
    p: float
    test_note: str
    # which way scores go; see :func:`core.analysis.verdicts.drift`. Where % change is withheld, by the median Δ, the
    # movers and the mean Δ, without a margin.
    drift: str
    scatter: str  # what the median |% change| allows to claim; see :func:`core.analysis.verdicts.scatter`
    # smallest drift of the median, in percent, that this n and spread show in four of five such runs; in a table, as
    # one of its m tests (:func:`core.statistics.power.among`)
    detectable: float
    needed: float  # items with which a drift of 0 is shown to lie within the margin in four of five such runs
    n_items: int  # items with a % change
    n_scored: int  # items with a Δ: those that are tested
    # n_shifts, n_zero_baseline, n_missing: see :class:`core.analysis.table.Changes`, summed
    n_shifts: int
    n_zero_baseline: int
    n_missing: int
    note: str  # why a number or an interval is missing or degenerate


NUMBERS = tuple(each.name for each in fields(Effect))


def effect(
    changes: Changes,
    keep: np.ndarray,
    *,
    spread: float,
    sources: np.ndarray | None = None,
    margin: float = MARGIN,
    level: float = 0.95,
) -> Effect | None:
    """Summarise the changes of some items.

    Args:
        keep: which items, bool [N].
        spread: standard deviation of the evaluator's unedited scores.
        sources: number of each item's source, int [N]; None: every item is one of its own.
        margin: equivalence margin in percent.
        level: of every interval; equivalence has that of two one-sided tests at half of what is left, 2 · level - 1.

    Returns:
        None where no row is stored for these items.
    """
    n_shifts, n_zero, n_missing = (
        int(each[keep].sum()) for each in (changes.n_shifts, changes.n_zero_baseline, changes.n_missing)
    )
    if not n_shifts + n_zero + n_missing:
        return None
    groups = None if sources is None else sources[keep]
    before, after = _scored(changes, keep)
    negative, withheld = int((before < 0).sum()), bool(changes.withheld[keep].any())
    sizes = _known(changes, changes.size, keep)
    beyond = _edits_beyond(changes, keep, groups, margin=margin, level=level)
    items_beyond = share(np.where(np.isnan(sizes), math.nan, exceeds(sizes, margin)), groups=groups, level=level)
    unit = spread if spread > 0 else math.nan
    found = drifted(changes, keep, sources=sources, margin=margin, level=level, unit=unit)
    size, shift = (median_bca(each, groups=groups, level=level) for each in (sizes, changes.delta[keep]))
    moved, test, claim, power = found.moved, found.test, found.claim, reach(found.moved, margin=margin)
    why = "other baselines of this evaluator are negative"
    if negative:
        why = f"the baseline is negative in {negative} of {counted(len(before), 'item')}"
    largest = float(np.fmax.reduce(changes.edits[:, keep], axis=None, initial=math.nan))  # NaN without an edit
    notes = (
        f"no score for {n_missing} of {counted(n_shifts + n_zero + n_missing, 'shift')}" if n_missing else "",
        f"% change withheld: {why}" if withheld else _floored_said(n_zero, n_shifts + n_zero, before),
        _withheld_said(shift, unit, claim) if withheld else moved.note,
    )
    mean = (math.nan, math.nan, math.nan) if withheld else found.mean.numbers()
    ends = shift.estimate / unit, shift.low / unit, shift.high / unit
    shares = (*beyond.numbers(100), *items_beyond.numbers(100), 100 * found.still, *found.falls.numbers(100))
    numbers = (*moved.numbers(), *size.numbers(), *shares, *mean, *shift.numbers(), *ends, cliffs_delta(after, before))
    scatters = UNDECIDED if withheld else scatter(size, beyond, margin=margin, largest=largest)
    said = (test.name, test.p, test.note, claim, scatters, power.detectable, power.needed)
    counts = (len(before) if withheld else moved.n, len(before), n_shifts, n_zero, n_missing)
    return Effect(*numbers, *said, *counts, "; ".join(filter(None, notes)))


@dataclass(frozen=True, slots=True)
class Drifted:
    """Which way scores go, and what says so; see :class:`Effect`."""

    moved: Interval  # median % change
    still: float  # share of items that stand still, in [0, 1]
    falls: Interval  # share of movers that fall, likewise
    # change of the mean score in percent; where % change is withheld, of the mean Δ in percent of the unit
    mean: Interval
    test: PairedTest  # of the scores before and after
    claim: str  # the drift, before any correction for several tests


def drifted(
    changes: Changes,
    keep: np.ndarray,
    *,
    sources: np.ndarray | None,
    margin: float = MARGIN,
    level: float = 0.95,
    unit: float = math.nan,
) -> Drifted:
    """The part of :func:`effect` that says which way scores go; arguments as there, ``unit`` being the spread."""
    groups = None if sources is None else sources[keep]
    withheld = bool(changes.withheld[keep].any())
    percent, delta, whole = _known(changes, changes.percent, keep), changes.delta[keep], changes.baseline[keep]
    still, falls = movers(delta, whole, groups=groups, level=level)
    on = np.where(np.isnan(delta), math.nan, unit) if withheld else whole
    levels = (level, 2 * level - 1)
    means = mean_changes(delta, on, levels=levels, groups=groups)
    moved, narrow = median_bca_levels(percent, levels=levels, groups=groups)
    if withheld:
        shift = median_bca(delta, groups=groups, level=level)
        claim = drift(shift, NOT_ASKED, falls=falls, means=(means[0], NOT_ASKED))
    else:
        claim = drift(moved, narrow, margin=margin, falls=falls, means=(means[0], means[1]))
    return Drifted(moved, still, falls, means[0], tested(changes, keep, sources), claim)


def known_sizes(changes: Changes, keep: np.ndarray) -> np.ndarray:
    """|% change| of some items, float64 [n], as :func:`effect` counts them: none is given where a baseline is negative;
    ``keep``: which items, bool [N]."""
    return _known(changes, changes.size, keep)


def _scored(changes: Changes, keep: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    scored = keep & ~np.isnan(changes.delta)
    before = changes.baseline[scored]
    return before, before + changes.delta[scored]


def tested(changes: Changes, keep: np.ndarray, sources: np.ndarray | None) -> PairedTest:
    """Paired test of some items' scores; see :class:`Effect`."""
    scored = keep & ~np.isnan(changes.delta)
    return paired_test(*_scored(changes, keep), groups=None if sources is None else sources[scored])


def _known(changes: Changes, percent: np.ndarray, keep: np.ndarray) -> np.ndarray:
    """Changes in percent of some items; none where those of one of their corpora are withheld."""
    return np.full(int(keep.sum()), math.nan) if changes.withheld[keep].any() else percent[keep]


def _edits_beyond(
    changes: Changes, keep: np.ndarray, groups: np.ndarray | None, *, margin: float, level: float
) -> Interval:
    """Share of the edits of some items whose |% change| is above the margin; those of one source, or item, together."""
    if changes.withheld[keep].any():
        return NOT_ASKED
    over, counts = exceeds(changes.edits[:, keep], margin).sum(axis=0), changes.n_shifts[keep]
    times = 1.0
    if groups is not None:
        if crossed(groups) and counts.any():
            times = widening(over - over.sum() / counts.sum() * counts, groups, level=level)
        ranks = np.unique(first_of(groups), return_inverse=True)[1]
        over, counts = np.bincount(ranks, over), np.bincount(ranks, counts)
    return share_of_sums(over[counts > 0], counts[counts > 0], level=level, times=times)


def _withheld_said(shift: Interval, unit: float, claim: str) -> str:
    """Beside a withheld % change: what of drift and scatter is open, and what these items would have shown."""
    said = "stability is not reported: its margin is one of % change"
    if claim != UNDECIDED:
        return said
    own = replace(shift, estimate=shift.estimate / unit, low=shift.low / unit, high=shift.high / unit)
    power = untold(own, unit="SD of the unedited scores", digits=2)
    return f"{said}; drift on the score's own scale: {power}" if power else said


def _floored_said(low: int, scored: int, before: np.ndarray) -> str:
    """Why shifts have no % change: their baseline is 0, or smaller than any that one is told of."""
    if not low:
        return ""
    above = bool(((before > 0) & (before < SHIFT_FLOOR)).any())
    said = f"baseline below {SHIFT_FLOOR:g}, the least with a % change," if above else "baseline 0"
    return f"{said} in {low} of {counted(scored, 'shift')}"
