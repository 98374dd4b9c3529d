"""What dropping suspicious composites, or making them another way, does to the effect of repositioning.

Source: paper A, A.8.
"""

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from core.analysis.effects import IN_PERCENT, bounds, ends, median_over
from core.analysis.verdicts import apart as distance_said
from core.errors import InvalidInput
from core.statistics.bootstrap import Interval
from core.statistics.changes import WITHHELD, percent_changes
from core.statistics.power import reach
from core.statistics.wording import remarks

SHARES = (5, 10)  # Shares of the composites that a filter drops, in percent. Source: paper A, A.8

FILTERS: Mapping[str, tuple[str, ...]] = {
    "seam": ("seam",),
    "background": ("background",),
    "fill": ("fill",),
    "seam or fill": ("seam", "fill"),
}
"""What makes a composite suspicious to each filter."""

_SEEN_IN: Mapping[str, Mapping[str, float]] = {
    "seam": {"seam_energy": 1.0},
    "background": {"bg_delta": 1.0},
    "fill": {"fill_ratio": 1.0, "texture_ratio": 0.5},
}
"""Where each shows: diagnostic -> weight. A ratio counts by its distance from 1 on the log scale, on either side; a
variance is a square, so its distance counts half."""

USUAL = "usual"  # The composites as they are usually made: a feathered edge on the plate filled by example

SAME, TURNED, OPEN, NOTHING = "same", "turned", "unclear", "nothing to drop"
UNMEASURED = "not measured in these runs"  # Where a filtered median points, held against the unfiltered one


def beside(
    other: str,
    scores: Mapping[str, np.ndarray],
    measured: Mapping[str, Mapping[str, np.ndarray]],
    *,
    sources: np.ndarray | None = None,
) -> list[dict[str, object]]:
    """The move between the two places as usual and made another way, over the items that have both.

    Args:
        other: the other way, e.g. cut hard.
        scores: of both composites of every item by way, float64 [2, n].
        measured: diagnostics of the composites by way and name, float64 [2, n].
        sources: as of :func:`filtered_moves`.

    Returns:
        A row a way as :func:`filtered_moves` gives them, the other one held against the usual one; with it apart,
        apart_low, apart_high: median of the items' usual minus other % change, in points.
    """
    percent = {way: percent_changes(scores[way][1], scores[way][0]) for way in (USUAL, other)}
    both = ~np.isnan(percent[USUAL]) & ~np.isnan(percent[other])
    found = {way: median_over(each, both, sources) for way, each in percent.items()}
    apart = median_over(percent[USUAL] - percent[other], both, sources)
    return [
        {
            "filter": other if way == other else f"{USUAL}-{other}",
            "q": 0.0,
            "cut_items": 0,
            **ends(own, IN_PERCENT),
            "n_items": own.n,
            "direction": direction(own, found[USUAL]),
            "overlaps": overlap(own, found[USUAL]),
            **_kept_said(measured[way], both),
            **({} if way == USUAL else ends(apart, bounds("apart"))),
            "power": untold(own, found[USUAL]),
            "note": WITHHELD
            if bool((np.asarray(scores[way])[0] < 0).any())
            else own.note
            if way == USUAL
            else remarks(own.note, f"difference: {apart.note}" if apart.note not in ("", own.note) else ""),
        }
        for way, own in found.items()
    ]


def filtered_moves(
    scores: np.ndarray,
    measured: Mapping[str, np.ndarray],
    *,
    sources: np.ndarray | None = None,
    shares: Sequence[float] = SHARES,
) -> Iterator[dict[str, object]]:
    """Median percent change from the first composite to the second, with ever more suspicious ones dropped.

    Each filter ranks the composites of both places by their diagnostic and drops the top q %; an item is left out
    where one of its two composites is. A composite without the diagnostic is never dropped by it, and a cut never
    falls among equals: the tied ones all stay.

    Args:
        scores: of both composites of every item, float64 [2, n]; NaN where there is none.
        measured: diagnostics of the composites by name, float64 [2, n].
        sources: number of each item's source, int [n]; None: every item is one of its own.
        shares: q, in percent.

    Returns:
        One row a (filter, q), the unfiltered one first: filter, q, cut_items, median_percent, low, high, n_items,
        direction (of SAME, TURNED, OPEN, NOTHING, held against the unfiltered one; UNMEASURED where no composite has
        the diagnostic), overlaps (the intervals do), seam, background, fill, texture (median diagnostics of what is
        kept), power (beside OPEN, what would have shown), note.

    Raises:
        InvalidInput: if a share is not in [0, 100).
    """
    if not all(0 <= q < 100 for q in shares):
        raise InvalidInput(f"a filter drops between 0 and 100 percent, got {list(shares)}")
    percent, whole = percent_changes(scores[1], scores[0]), None
    withheld = bool((scores[0] < 0).any())
    for name, q, cut in _cuts(scores, measured, shares):
        found = median_over(percent, ~cut, sources)
        whole = whole or found
        yield {
            "filter": name,
            "q": q,
            "cut_items": int((cut & ~np.isnan(percent)).sum()),
            **ends(found, IN_PERCENT),
            "n_items": found.n,
            "direction": direction(found, whole)
            if withheld or (cut & ~np.isnan(percent)).any() or name == "none"
            else NOTHING
            if any(np.isfinite(_suspicion(kind, measured)).any() for kind in FILTERS[name])
            else UNMEASURED,
            "overlaps": overlap(found, whole),
            **_kept_said(measured, ~cut),
            "power": untold(found, whole),
            "note": WITHHELD if withheld else found.note,
        }


def direction(found: Interval, whole: Interval) -> str:
    """Where a filtered median points: SAME or TURNED where its interval lies on a side of 0, not by a sign."""
    if np.isnan(found.estimate) or np.isnan(whole.estimate):
        return ""
    if whole.estimate == 0 or not found.excludes_zero():
        return OPEN
    return SAME if (found.low > 0) == (whole.estimate > 0) else TURNED


def untold(found: Interval, whole: Interval) -> str:
    """What these items could have told of a direction that they leave open, in words; empty beside any other."""
    if direction(found, whole) != OPEN or found.excludes_zero():
        return ""
    return distance_said(reach(found, margin=math.nan).detectable, unit="%")


_TOLD = (
    ("seam", "seam_ratio", 1.0),
    ("background", "bg_delta", 1000.0),
    ("fill", "fill_ratio", 1.0),
    ("texture", "texture_ratio", 1.0),
)
"""Column of the table, diagnostic, what it is multiplied by."""


def _kept_said(measured: Mapping[str, np.ndarray], kept: np.ndarray) -> dict[str, float]:
    """Median diagnostics of the composites of some items; NaN where none was measured."""
    medians = {}
    for name, column, scale in _TOLD:
        values = measured[column][:, kept] if column in measured else np.empty(0)
        values = values[~np.isnan(values)]
        medians[name] = scale * float(np.median(values)) if values.size else np.nan
    return medians


def overlap(one: Interval, other: Interval) -> bool:
    """Whether two intervals share a value."""
    return bool(one.low <= other.high and other.low <= one.high)


def _cuts(
    scores: np.ndarray, measured: Mapping[str, np.ndarray], shares: Sequence[float]
) -> Iterator[tuple[str, float, np.ndarray]]:
    """Name and share of every filter, and which items it drops, bool [n]."""
    yield "none", 0.0, np.zeros(scores.shape[1], dtype=bool)
    there = ~np.isnan(scores)
    for name, kinds in FILTERS.items():
        for q in shares:
            worst = [_top(np.where(there, _suspicion(kind, measured), np.nan), q) for kind in kinds]
            yield name, float(q), np.logical_or.reduce(worst).any(axis=0)


def _suspicion(kind: str, measured: Mapping[str, np.ndarray]) -> np.ndarray:
    """How suspicious each composite is, the larger the more; NaN where nothing of the kind was measured."""
    worst = np.full(next(iter(measured.values())).shape, np.nan)
    for column in _SEEN_IN[kind].keys() & measured.keys():
        with np.errstate(divide="ignore"):  # the ratio of a flat hole is infinitely far from 1
            values = np.abs(np.log(measured[column])) if kind == "fill" else measured[column]
        worst = np.fmax(worst, _SEEN_IN[kind][column] * values)
    return worst


def _top(values: np.ndarray, q: float) -> np.ndarray:
    """Marks the q % largest of the values that are there, fewer where the cut would fall among equal ones."""
    present = np.sort(values[~np.isnan(values)])[::-1]
    count = round(len(present) * q / 100)
    if not 0 < count < len(present):
        return np.zeros(values.shape, dtype=bool)
    return np.asarray(values > present[count] if present[count - 1] == present[count] else values >= present[count - 1])
