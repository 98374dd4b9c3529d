"""Verdicts: what the intervals of a shift allow to claim, in words about the quantity that stands beside them.

Two claims, never one for both: *drift* is about the signed median, *scatter* about how far the items move whichever
way. A family whose signed median is 0 while its items move by 12 % drifts nowhere and is not invariant.

Source: PROTOCOL section 3, Equivalence.
"""

import math
from dataclasses import dataclass

import pandas as pd

from core.statistics import bootstrap
from core.statistics.bootstrap import LEAST_N, Interval, lacks_sources
from core.statistics.power import aside
from core.statistics.wording import counted

MARGIN = 1.0
"""Default equivalence margin, in percent. Source: PROTOCOL section 3."""

ALPHA = 0.05
"""Level at which a corrected test rejects."""

MOST_BEYOND = 0.1
"""Share of the items that may move beyond the margin where they are said to stay within it; medians are blind to it."""

UNDECIDED = "undecided"
TOO_FEW = bootstrap.TOO_FEW
TOO_FEW_SOURCES = bootstrap.TOO_FEW_SOURCES
NO_CLAIM = (TOO_FEW, TOO_FEW_SOURCES)
"""What is said where there is no interval to claim anything from."""

DRIFTS = "drifts"
DRIFTS_WITHIN = "drifts, within the margin"
STILL = "no drift beyond the margin"

SCATTERS = "scatters beyond the margin"
HOLDS = "stays within the margin"
PARTS = "some items beyond the margin"

CONSTANT = "constant: invariance says nothing"
ALL_ZERO = "every score is 0: nothing can move"
NO_SCORE = "no score"
SILENT = (CONSTANT, ALL_ZERO, NO_SCORE)
"""What is said of an evaluator whose scores cannot show a shift, instead of praise."""

FURTHER = "further than null edits"
NO_FURTHER = "no further than null edits"
NOT_TOLD = "not told apart from null edits"

CLAIMS = (DRIFTS, DRIFTS_WITHIN)
"""Drifts that a test has to bear out."""


def too_few_for(found: Interval) -> str:
    """Say that items, or the sources that they come from, are too few for an interval; empty where they are not."""
    if found.n < LEAST_N:
        return TOO_FEW
    return TOO_FEW_SOURCES if lacks_sources(found) else ""


def drift(moved: Interval, equivalent: Interval, *, margin: float = MARGIN) -> str:
    """Say what the signed median allows to claim.

    Args:
        moved: 95 % interval of the median percent change: does it exclude 0?
        equivalent: 90 % interval of the same: does it lie inside ±margin (TOST at 5 %)?
        margin: in percent.

    Returns:
        One of DRIFTS, DRIFTS_WITHIN, STILL, UNDECIDED, or one of NO_CLAIM. A shift can differ from
        zero and still be negligible; that case has its own words instead of hiding behind one of the two.
    """
    if few := too_few_for(moved):
        return few
    small = equivalent.within(margin)
    if moved.excludes_zero():
        return DRIFTS_WITHIN if small else DRIFTS
    # ties at 0 can narrow the 90 % interval to a point while the wider one reaches beyond the margin
    return STILL if small and moved.within(margin) else UNDECIDED


def scatter(size: Interval, beyond: Interval, *, margin: float = MARGIN) -> str:
    """Say how far items move, whichever way: half of them, and the rest.

    A median is blind to what less than half of the items do, so that items stay within the margin only where few lie
    beyond it.

    Args:
        size: 95 % interval of the median |%Δ|.
        beyond: 95 % interval of the share of items whose |%Δ| exceeds the margin.
        margin: in percent.

    Returns:
        SCATTERS where the interval of the median lies above the margin. HOLDS where it lies below and that of the
        share below MOST_BEYOND; PARTS where it lies below and that of the share above. Else UNDECIDED; one
        of NO_CLAIM where there is no interval.
    """
    if few := too_few_for(size):
        return few
    if size.low > margin:
        return SCATTERS
    if not size.high < margin:
        return UNDECIDED
    if beyond.low > MOST_BEYOND:
        return PARTS
    return HOLDS if beyond.high < MOST_BEYOND else UNDECIDED


def against_null(over: Interval) -> str:
    """Say whether items move further than under edits that nobody can see.

    Args:
        over: 95 % interval of the median of the items' |%Δ| less their own |%Δ| under null edits.

    Returns:
        FURTHER where it lies above 0, NO_FURTHER where it does not reach above 0, else NOT_TOLD; or one of NO_CLAIM.
    """
    if few := too_few_for(over):
        return few
    if over.low > 0:
        return FURTHER
    return NOT_TOLD if over.high > 0 else NO_FURTHER


@dataclass(frozen=True, slots=True)
class Agreed:
    """A drift beside its corrected test.

    Args:
        drift: UNDECIDED where the interval claims what the test does not bear out.
        conflict: where the two do not say the same, what each says; empty otherwise.
    """

    drift: str
    conflict: str = ""


def agreed(found: str, p_holm: float, p: float = math.nan) -> Agreed:
    """Hold a drift to its test, so that no row claims what its own p-value takes back.

    Args:
        found: what :func:`drift` said.
        p_holm: corrected p-value; NaN where the row is in no family of tests.
        p: p-value of the row alone, which a row in no family of tests is held to.
    """
    corrected = not math.isnan(p_holm)
    held = p_holm if corrected else p
    if found in CLAIMS and held >= ALPHA:
        return Agreed(UNDECIDED, NOT_REJECTED if corrected else NOT_REJECTED_ALONE)
    if found in (STILL, UNDECIDED) and held < ALPHA:
        return Agreed(found, NOT_SHOWN)
    return Agreed(found)


NOT_REJECTED = "the interval excludes 0, the corrected test does not reject"
NOT_REJECTED_ALONE = "the interval excludes 0, the test does not reject"
"""Of a row whose p-value is not corrected: a control."""

NOT_SHOWN = "the test finds that scores shift, the median does not show it"

MEAN_SHIFTS = "the interval of the mean shift β₁ excludes 0, no drift is claimed"
MEAN_OPEN = "the median drifts, the interval of the mean shift β₁ holds 0"
MEAN_OPPOSED = "the median drifts one way, the mean shift β₁ goes the other"


def beside_mean(found: str, median: float, mean: Interval) -> str:
    """Say where a drift of the median and the mean shift beside it do not say the same; empty where they do.

    Args:
        found: the drift, as :func:`agreed` left it.
        median: the median change, whose sign is the drift's.
        mean: 95 % interval of the mean shift; without bounds there is nothing to be at odds with.
    """
    if math.isnan(mean.low) or math.isnan(mean.high):
        return ""
    if found in (STILL, UNDECIDED):
        return MEAN_SHIFTS if mean.excludes_zero() else ""
    if found not in CLAIMS:
        return ""
    if not mean.excludes_zero():
        return MEAN_OPEN
    return MEAN_OPPOSED if (median > 0) != (mean.low > 0) else ""


def at_odds(interval: Interval, p: float, *, corrected: bool = True) -> str:
    """Say where the interval of a median difference and its test do not say the same; empty where they do.

    Args:
        interval: 95 %; without bounds there is nothing to be at odds with.
        p: corrected where several tests are; NaN for none.
        corrected: whether p is.
    """
    if math.isnan(interval.low) or math.isnan(p) or interval.excludes_zero() == (p < ALPHA):
        return ""
    if not interval.excludes_zero():
        return NOT_SHOWN
    return NOT_REJECTED if corrected else NOT_REJECTED_ALONE


def with_conflicts(table: pd.DataFrame) -> pd.DataFrame:
    """Add conflict: where a row's interval and its corrected test differ, in words.

    Args:
        table: columns value, low, high, n_items and p_holm.
    """
    rows = zip(table["value"], table["low"], table["high"], table["n_items"], table["p_holm"], strict=True)
    return table.assign(conflict=[at_odds(Interval(value, low, high, n, 0.95), p) for value, low, high, n, p in rows])


def reached(found: str, detectable: float, needed: float) -> str:
    """Say beside an undecided drift what the sample would have shown; empty beside any other claim.

    Args:
        found: the drift.
        detectable, needed: see :class:`core.statistics.power.Reach`, in percent and items.
    """
    if found != UNDECIDED or math.isnan(detectable):
        return ""
    more = (
        ""
        if math.isnan(needed)
        else f"; {counted(needed, 'item')} would show that it lies within the margin if it is 0"
    )
    return f"a drift from {smallest(detectable)} % on would have shown{more}"


def smallest(value: float, *, digits: int = 2) -> str:
    """A smallest effect in words: one that rounds to 0 keeps its first digit, for an effect of 0 is none.

    Example:
        >>> smallest(0.284), smallest(0.0032)
        ('0.28', '0.003')
    """
    return f"{value:.{digits}f}" if float(f"{value:.{digits}f}") > 0 else f"{value:.1g}"


def untold(found: Interval, *, unit: str, bound: float = 0.0, of: str = "items", digits: int = 1) -> str:
    """Say of an interval that lies astride of a bound what its items would have shown; see :func:`apart`."""
    power = aside(found, bound=bound)
    return apart(power.detectable, power.needed, unit=unit, of=of, digits=digits)


def apart(detectable: float, needed: float, *, unit: str, of: str = "items", digits: int = 1) -> str:
    """Say beside what cannot be told what these items would have shown, and how many would tell; empty if unknown.

    Args:
        detectable, needed: see :class:`core.statistics.power.Aside`.
        unit: of the first.
        of: what the second counts.
        digits: of the first.

    Example:
        >>> apart(1.25, 812, unit="points")
        'a difference from 1.2 points on would have shown; were it as found here, 812 items would tell'
    """
    if math.isnan(detectable):
        return ""
    more = "" if math.isnan(needed) else f"; were it as found here, {needed:,.0f} {of} would tell"
    return f"a difference from {smallest(detectable, digits=digits)} {unit} on would have shown{more}"


def settled(found: str, needed: float) -> str:
    """Say beside an undecided scatter how many items would decide it; empty beside any other claim.

    Args:
        found: the scatter.
        needed: see :class:`core.analysis.effects.Effect`, ``scatter_needed``.
    """
    if found != UNDECIDED or math.isnan(needed):
        return ""
    return f"were it as found here, {counted(needed, 'item')} would decide it"


def told_from_null(found: str, detectable: float, needed: float) -> str:
    """Say beside NOT_TOLD what would have been told, and with how many items; empty beside any other claim.

    Args:
        found: what :func:`against_null` said.
        detectable: in percentage points; see :func:`core.analysis.overview.beside_null`.
        needed: items.
    """
    if found != NOT_TOLD or math.isnan(detectable):
        return ""
    more = "" if math.isnan(needed) else f"; were it as found here, {counted(needed, 'item')} would tell"
    return f"{detectable:.2g} percentage points would have been told{more}"
