"""Verdicts: what the intervals of a shift allow to claim, in words about the quantity that stands beside them.

Two claims, never one for both: *drift* is about the signed median, *scatter* about how far the items move whichever
way. A family whose signed median is 0 while its items move by 12 % drifts nowhere and is not invariant.

Source: PROTOCOL section 3, Equivalence.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from core.probes.titles import family_title
from core.statistics import bootstrap
from core.statistics.bootstrap import LEAST_N, Interval, lacks_sources
from core.statistics.comparisons import RIGHT
from core.statistics.power import reach
from core.statistics.wording import between, counted, tallied

MARGIN = 1.0  # Default equivalence margin, in percent. Source: PROTOCOL section 3
ALPHA = 0.05  # Level at which a corrected test rejects

MOST_BEYOND = 0.1
"""Share of the edits that may move a score beyond the margin where items are said to stay within it; medians are blind
to it."""

UNDECIDED = "undecided"
TOO_FEW = bootstrap.TOO_FEW
TOO_FEW_SOURCES = bootstrap.TOO_FEW_SOURCES
NO_CLAIM = (TOO_FEW, TOO_FEW_SOURCES)  # What is said where there is no interval to claim anything from

DRIFTS = "drifts one way"
DRIFTS_WITHIN = "drifts one way, within the margin"
STILL = "no drift beyond the margin"

SCATTERS = "unstable (beyond the margin)"
HOLDS = "stable (within the margin)"
PARTS = "some edits beyond the margin"
UNMOVED = "every change is 0"
"""Of too few edits to be called stable: equal values have no spread to claim from, and are not undecided either."""

UNMOVED_WITHIN = 1e-9  # |% change| up to which a change is of rounding

CONSTANT = "constant: invariance says nothing"
ALL_ZERO = "every score is 0: nothing can move"
NO_SCORE = "no score"
SILENT = (CONSTANT, ALL_ZERO, NO_SCORE)
"""What is said of an evaluator whose scores cannot show a shift, instead of praise."""

FURTHER = "more than invisible edits"
NO_FURTHER = "no more than invisible edits"
NOT_TOLD = "not told apart from invisible edits"
NO_NULL = "what invisible edits do is not known"  # Stands beside a family where none was scored, or none has a % change

NOT_ASKED = Interval(math.nan, math.nan, math.nan, 0, 0.95)
"""Stands in the place of an interval that a claim does without."""

Row = Mapping[Any, Any] | pd.Series  # A row of a table of effects, its columns by name
CLAIMS = (DRIFTS, DRIFTS_WITHIN)  # Drifts that a test has to bear out


def too_few_for(found: Interval) -> str:
    """Say that items, or the sources that they come from, are too few for an interval; empty where they are not."""
    if found.n < LEAST_N:
        return TOO_FEW
    return TOO_FEW_SOURCES if lacks_sources(found) else ""


def sided(found: Interval, above: str, below: str, neither: str) -> str:
    """What is said of a difference by the side of 0 that its interval lies on, or that it is of too few."""
    return too_few_for(found) or (above if found.low > 0 else below if found.high < 0 else neither)


def drift(
    moved: Interval,
    equivalent: Interval,
    *,
    margin: float = MARGIN,
    falls: Interval = NOT_ASKED,
    means: tuple[Interval, Interval] = (NOT_ASKED, NOT_ASKED),
) -> str:
    """Say which way scores go, by three numbers of one rule: any of them may show it, since each is blind to something.

    A median of mostly zeros is 0 whatever the other items do; a share of movers knows no size; a mean is moved by few.

    Args:
        moved: 95 % interval of the median percent change: does it exclude 0?
        equivalent: 90 % interval of the same: does it lie inside ±margin (TOST at 5 %)?
        margin: in percent.
        falls: 95 % interval of the share of movers that fall: does it exclude one half?
        means: 95 % interval of the change of the mean score in percent, does it exclude 0? And the 90 % one, which has
            to lie inside the margin too.

    Returns:
        One of DRIFTS, DRIFTS_WITHIN, STILL, UNDECIDED, or one of NO_CLAIM. A shift can differ from
        zero and still be negligible; that case has a separate words instead of hiding behind one of the two.
    """
    if few := too_few_for(moved):
        return few
    small = equivalent.within(margin) and (math.isnan(means[1].low) or means[1].within(margin))
    if moved.excludes_zero() or means[0].excludes_zero() or one_way(falls.low, falls.high):
        return DRIFTS_WITHIN if small else DRIFTS
    # ties at 0 can narrow the 90 % interval to a point while the wider one reaches beyond the margin
    return STILL if small and moved.within(margin) else UNDECIDED


def one_way(low: float, high: float, *, half: float = 0.5) -> bool:
    """Whether an interval of the share of movers that fall is defined and excludes one half."""
    return low > half or high < half


def direction(row: Row) -> str:
    """Which of the three numbers shows a drift, in words with them; empty where none is claimed; ``row``: of an effect,
    in percent."""
    if row["drift"] not in CLAIMS:
        return ""
    said = []
    if row["low"] > 0 or row["high"] < 0:
        said.append(f"the middle item {_way(row['median_percent'])} by {_sized(row, 'median_percent', '')}")
    if one_way(row["falls_low"], row["falls_high"], half=50):
        down, still = row["falls"] > 50, round(row["still"])
        share, low, high = row["falls"], row["falls_low"], row["falls_high"]
        share, low, high = (share, low, high) if down else (100 - share, 100 - high, 100 - low)
        moved, way = f"{share:.0f} % [{low:.0f}, {high:.0f}]", "fall" if down else "rise"
        stand = "half" if 48 <= still <= 52 else f"{still} %"
        lead = f"{stand} of the items do not change; of those that do {moved}" if still else f"{moved} of the items"
        said.append(f"{lead} {way}")
    if row["mean_low"] > 0 or row["mean_high"] < 0:
        said.append(f"the mean score {_way(row['mean_percent'])} by {_sized(row, 'mean_percent', 'mean_')}")
    return "; ".join(said)


def _way(value: float) -> str:
    return "rises" if value > 0 else "falls"


def _sized(row: Row, name: str, of: str) -> str:
    low, high = sorted(abs(row[f"{of}{end}"]) for end in ("low", "high"))
    return f"{abs(row[name]):.2f} % [{low:.2f}, {high:.2f}]"


def scatter(size: Interval, beyond: Interval, *, margin: float = MARGIN, largest: float = math.nan) -> str:
    """Say how much items change, in either direction: half of them, and the rest.

    A median is blind to what less than half of the items do, so that items stay within the margin only where few edits
    move one beyond it. ``beyond``: 95 % interval of the share of edits whose |% change| exceeds the margin. ``margin``:
    in percent. ``largest``: largest |% change| of an edit; NaN where it is not known. Returns SCATTERS where the
    interval of the median lies above the margin. HOLDS where it lies below and that of the share below MOST_BEYOND;
    PARTS where it lies below and that of the share above. Else UNMOVED where no edit changes a score, and UNDECIDED
    where some does; one of NO_CLAIM where there is no interval."""
    if few := too_few_for(size):
        return few
    if size.low > margin:
        return SCATTERS
    if not size.high < margin:
        return UNDECIDED
    if beyond.low > MOST_BEYOND:
        return PARTS
    if beyond.high < MOST_BEYOND:
        return HOLDS
    return UNMOVED if largest <= UNMOVED_WITHIN else UNDECIDED


def against_null(over: Interval) -> str:
    """Say whether edits move a score further than invisible edits, by the 95 % interval of the probability that one
    changes an item's score more: FURTHER above one half, NO_FURTHER not reaching above, else NOT_TOLD; or one of
    NO_CLAIM."""
    if few := too_few_for(over):
        return few
    if over.low > 0.5:
        return FURTHER
    return NOT_TOLD if over.high > 0.5 else NO_FURTHER


def further_said(row: Row) -> str:
    """How often an edit changes a score more than an invisible edit of the same item, in words; empty where none is
    known; ``row``: further, further_low and further_high, in percent."""
    if math.isnan(row["further"]):
        return ""
    ends = "no interval" if math.isnan(row["further_low"]) else f"{row['further_low']:.0f} to {row['further_high']:.0f}"
    return (
        f"in {row['further']:.0f} % of an item's pairs ({ends}) an edit moves scores more than one of them. "
        "50 % is no further"
    )


EXCLUDES = "the interval excludes 0"
SHOWS_A_WAY = "movers or mean show a way"
_REJECTS_NOT, _REJECTS_NOT_ALONE = ", the corrected test does not reject", ", the test does not reject"
NOT_REJECTED, NOT_REJECTED_ALONE = EXCLUDES + _REJECTS_NOT, EXCLUDES + _REJECTS_NOT_ALONE
"""The second of a row whose p-value is not corrected: a control."""


@dataclass(frozen=True, slots=True)
class Agreed:
    """A drift beside its corrected test."""

    drift: str  # UNDECIDED where the interval claims what the test does not bear out
    conflict: str = ""  # where the two do not say the same, what each says; empty otherwise


def agreed(found: str, p_holm: float, p: float = math.nan, *, shown: str = EXCLUDES) -> Agreed:
    """Hold a drift to its test, so that no row claims what its own p-value takes back. ``found``: what :func:`drift`
    said. ``p_holm``: corrected p-value; NaN where the row is in no family of tests. ``p``: p-value of the row alone,
    which a row in no family of tests is held to."""
    corrected = not math.isnan(p_holm)
    held = p_holm if corrected else p
    if found in CLAIMS and held >= ALPHA:
        return Agreed(UNDECIDED, f"{shown}{_REJECTS_NOT if corrected else _REJECTS_NOT_ALONE}")
    if found in (STILL, UNDECIDED) and held < ALPHA:
        return Agreed(found, NOT_SHOWN)
    return Agreed(found)


NOT_SHOWN = "the test finds that scores shift, neither median, movers nor mean show it"

MEAN_SHIFTS = "the interval of the mean shift β₁ excludes 0, no drift is claimed"
MEAN_OPEN = "the median drifts, the interval of the mean shift β₁ holds 0"
MEAN_OPPOSED = "the median drifts one way, the mean shift β₁ goes the other"


def beside_mean(found: str, median: float, mean: Interval) -> str:
    """Say where a drift (:func:`agreed`) of the median, whose sign is the median's, and the 95 % interval of the mean
    shift beside it do not say the same; empty where they do, and where that has no bounds."""
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
    """Say where the 95 % interval of a median difference and its test (NaN for none) do not say the same; empty where
    they do, and without bounds."""
    if math.isnan(interval.low) or math.isnan(p) or interval.excludes_zero() == (p < ALPHA):
        return ""
    if not interval.excludes_zero():
        return NOT_SHOWN
    return NOT_REJECTED if corrected else NOT_REJECTED_ALONE


def with_conflicts(table: pd.DataFrame) -> pd.DataFrame:
    """Add conflict: where a row's interval and its corrected test differ, in words; ``table``: columns value, low,
    high, n_items and p_holm."""
    rows = zip(table["value"], table["low"], table["high"], table["n_items"], table["p_holm"], strict=True)
    return table.assign(conflict=[at_odds(Interval(value, low, high, n, 0.95), p) for value, low, high, n, p in rows])


def reached(found: str, detectable: float, needed: float) -> str:
    """Say beside an undecided drift what the sample would have shown; empty beside any other claim; ``detectable``,
    ``needed``: see :class:`core.statistics.power.Reach`, in percent and items."""
    if found != UNDECIDED or math.isnan(detectable):
        return ""
    within = "would show that it lies within the margin if it is 0"
    more = "" if math.isnan(needed) else f"; {counted(needed, 'item')} {within}"
    return f"a drift from {smallest(detectable)} % on would have shown in four of five such runs{more}"


def smallest(value: float, *, digits: int = 2) -> str:
    """A smallest effect in words: one that rounds to 0 keeps its first digit, for an effect of 0 is none.

    Example:
        >>> smallest(0.284), smallest(0.0032)
        ('0.28', '0.003')
    """
    return f"{value:.{digits}f}" if float(f"{value:.{digits}f}") > 0 else f"{value:.1g}"


def untold(found: Interval, *, unit: str, digits: int = 1) -> str:
    """Say of an interval that lies astride of a bound what its items would have shown; see :func:`apart`."""
    return apart(reach(found, margin=math.nan).detectable, unit=unit, digits=digits)


def apart(detectable: float, *, unit: str, digits: int = 1) -> str:
    """Say beside what is unclear what these items would have shown; empty if unknown; ``detectable``: see
    :class:`core.statistics.power.Reach`.

    Example:
        >>> apart(1.25, unit="points")
        'a difference from 1.2 points on would have shown in four of five such runs'
    """
    if math.isnan(detectable):
        return ""
    least = smallest(detectable, digits=digits)
    return f"a difference from {least} {unit} on would have shown in four of five such runs"


def told_from_null(found: str, detectable: float) -> str:
    """Say beside NOT_TOLD of :func:`against_null` what would have been told, in percentage points; empty beside any
    other claim."""
    if found != NOT_TOLD or math.isnan(detectable):
        return ""
    return f"{50 + detectable:.2g} % would have been told in four of five such runs"


# Which tests an evaluator passes: whether it is better at them than a coin, by the intervals of its failure rates.


def too_few(rates: pd.DataFrame) -> pd.DataFrame:
    """Rows of the tests that have too few items, or too few sources, under every evaluator and in every corpus."""
    few = rates["verdict"].isin(NO_CLAIM)
    return rates[few.groupby([rates["label"], rates["caption"]]).transform("all")] if len(rates) else rates


def against_coin(rates: pd.DataFrame) -> str:
    """On how many tests each evaluator is better than a coin, in a sentence; ``rates``: of
    :func:`core.analysis.questions.directional.matrix`; a test of several corpora counts in each."""
    right = _counts(rates)
    if right.empty:
        return "No test here has enough independent pictures to say whether a metric is better than guessing."
    counts = {str(name): (better, asked) for name, better, asked in right.itertuples(name=None)}
    return f"Better than guessing: {tallied(counts, 'on', 'test')}.{_missed_most(rates)}"


def _missed_most(rates: pd.DataFrame) -> str:
    """The test whose mean share of misses over evaluators is highest, with the shares' ends; empty where none leads."""
    by = _told(rates).groupby("label", sort=False)["failure"].agg(["mean", "min", "max"])
    first = by[by["mean"] == by["mean"].max()]
    if len(by) < 2 or len(first) > 1:
        return ""
    return f" Missed most: {family_title(str(first.index[0]))}, {between(first[['min', 'max']].iloc[0])} %."


def passed(rates: pd.DataFrame) -> dict[str, str]:
    """Evaluator -> on how many tests it is better than a coin, in words that go on from its name; likewise."""
    rows = _counts(rates).itertuples(name=None)
    return {str(name): f"beats guessing on {better or 'none'} of {counted(n, 'test')}" for name, better, n in rows}


def _counts(rates: pd.DataFrame) -> pd.DataFrame:
    """Tests that each evaluator passes, and those that say anything, evaluators by name."""
    told = _told(rates)
    return (told["verdict"] == RIGHT).groupby(told["evaluator"]).agg(["sum", "size"]).astype(int).sort_index()


def _told(rates: pd.DataFrame) -> pd.DataFrame:
    """Rows of whole tests of which there is enough to claim anything."""
    return rates[~rates["verdict"].isin(NO_CLAIM) & (rates["label"] == rates["family"])]
