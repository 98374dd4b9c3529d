"""A bar for failures that a reader sets, and on which side of it an interval lies."""

import math

from core.statistics.bootstrap import Interval
from core.statistics.power import side_needed

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


def needed(found: Interval, most: float) -> float:
    """How many values would decide with 80 % power what an interval leaves undecided, were the truth as estimated.

    Args:
        found: what is judged.
        most: the threshold, in its unit.

    Returns:
        NaN where it is decided, or nothing can be said of it; see :func:`core.statistics.power.side_needed`.
    """
    return side_needed(found, bound=most) if judged(found, most) == UNDECIDED else math.nan
