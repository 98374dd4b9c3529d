"""What the making of an edit does to a shift: compositing, filling a hole, cutting corners off.

What dropping suspicious composites, or making them another way, does to the effect of repositioning.
Source: paper A, A.8, Table 2.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from core.analysis.comparisons import percent
from core.analysis.effects import IN_PERCENT, PLAIN, bounds, corpora, ends, median_over, words
from core.analysis.lacks import no_probe
from core.analysis.questions import papers
from core.analysis.questions.columns import COUNT, HEAD, NOTE, PERCENT, SAID, Dots, axis_of, cells, power
from core.analysis.questions.question import Column, Drawing, Options, Question, bounded
from core.analysis.table import ScoreTable, View
from core.analysis.verdicts import apart as distance_said
from core.analysis.verdicts import sided
from core.errors import InvalidInput
from core.statistics.arithmetic import row_medians
from core.statistics.bootstrap import Interval, adjusted_level
from core.statistics.changes import WITHHELD, percent_changes
from core.statistics.power import among, reach
from core.statistics.ratios import ratio_bca
from core.statistics.wording import between, metrics, remarks

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

SAME, TURNED, UNCLEAR, NOTHING = "same", "turned", "unclear", "nothing to drop"
UNMEASURED = "not measured in these runs"  # Where a filtered median points, held against the unfiltered one


def beside(
    other: str,
    scores: Mapping[str, np.ndarray],
    measured: Mapping[str, Mapping[str, np.ndarray]],
    *,
    sources: np.ndarray | None = None,
) -> list[dict[str, object]]:
    """The move between the two places as usual and made another way, over the items that have both. ``other``: the
    other way, e.g. cut hard. ``scores``: of both composites of every item by way, float64 [2, n]. ``measured``:
    diagnostics of the composites by way and name, float64 [2, n]. ``sources``: as of :func:`filtered_moves`. Returns a
    row a way as :func:`filtered_moves` gives them, the other one held against the usual one; with it apart, apart_low,
    apart_high: median of the items' usual minus other % change, in points."""
    percent = {way: percent_changes(scores[way][1], scores[way][0]) for way in (USUAL, other)}
    both = ~np.isnan(percent[USUAL]) & ~np.isnan(percent[other])
    found = {way: median_over(each, both, sources) for way, each in percent.items()}
    apart = median_over(percent[USUAL] - percent[other], both, sources)
    rows = list[dict[str, object]]()
    for way, own in found.items():
        note = own.note
        if way == other and apart.note not in ("", own.note):
            note = remarks(own.note, f"difference: {apart.note}")
        note = WITHHELD if bool((np.asarray(scores[way])[0] < 0).any()) else note
        row = _row(other if way == other else f"{USUAL}-{other}", own, found[USUAL], measured[way], both)
        rows.append(row | {"note": note} | ({} if way == USUAL else ends(apart, bounds("apart"))))
    return rows


def _row(
    name: str, own: Interval, whole: Interval, measured: Mapping[str, np.ndarray], kept: np.ndarray
) -> dict[str, object]:
    """A median, held against the unfiltered or the usual one, with the median diagnostics of what is kept."""
    held = {"direction": direction(own, whole), "overlaps": overlap(own, whole), "power": untold(own, whole)}
    row = {"filter": name, "q": 0.0, "cut_items": 0, **ends(own, IN_PERCENT), "n_items": own.n}
    return {**row, **held, **_kept_said(measured, kept)}


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
        direction (of SAME, TURNED, UNCLEAR, NOTHING, held against the unfiltered one; UNMEASURED where no composite has
        the diagnostic), overlaps (the intervals do), seam, background, fill, texture (median diagnostics of what is
        kept), power (beside UNCLEAR, what would have shown), note.

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
        row = _row(name, found, whole, measured, ~cut)
        dropped = int((cut & ~np.isnan(percent)).sum())
        if not (withheld or dropped or name == "none"):
            known = any(np.isfinite(_suspicion(kind, measured)).any() for kind in FILTERS[name])
            row["direction"] = NOTHING if known else UNMEASURED
        yield row | {"q": q, "cut_items": dropped, "note": WITHHELD if withheld else found.note}


def direction(found: Interval, whole: Interval) -> str:
    """Where a filtered median points: SAME or TURNED where its interval lies on a side of 0, not by a sign."""
    if np.isnan(found.estimate) or np.isnan(whole.estimate):
        return ""
    if whole.estimate == 0 or not found.excludes_zero():
        return UNCLEAR
    return SAME if (found.low > 0) == (whole.estimate > 0) else TURNED


def untold(found: Interval, whole: Interval) -> str:
    """What these items could have told of a direction that they leave open, in words; empty beside any other."""
    if direction(found, whole) != UNCLEAR or found.excludes_zero():
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


_WAYS_COLUMNS = (
    "filter", "q", "cut_items", "median_percent", "low", "high", "n_items", "direction", "overlaps", "seam",
    "background", "fill", "texture", "apart", "apart_low", "apart_high", "power", "note",
)  # fmt: skip


_KEPT = (
    "Share of the items with a % change that stay. The paper drops a share of its samples; here a sample is one of an "
    "item's two composites, and an item goes where either is dropped: the top 5 % of the composites take up to 10 % of "
    "the items with them, and a filter by seam or fill more."
)


def of_compositing(table: ScoreTable) -> tuple[Question, ...]:
    """The paper's table 2."""
    direction = (
        "Same or turned: the interval lies on the side of 0 of the median without a filter, or on the other "
        "one. Nothing to drop: no composite is more suspicious than the rest, a cut would fall among equals"
    )
    apart_help = (
        "Median over items of the item's % change as usual (a feathered edge, the hole filled by example) "
        "minus that of this row"
    )
    inside = "inside the filled hole over that of its rim, median over the composites kept; 1: alike"
    dash = "A dash where no run measured it"
    of = Column("label", "Composites", kind="text"), Column("retained", "Kept %", digits=0, help=_KEPT)
    told = (
        Column("direction", "Direction", kind="text", help=direction),
        Column("overlap", "Interval", kind="text", help="With the one without a filter"),
        Column("seam", "Seam ratio", help="Median over the composites kept; 1: as strong as the object's own edge"),
        Column("background", "BGΔ · 10³", help="Median over the composites kept"),
        Column("fill", "Fill: gradient", help=f"Mean gradient {inside}, below 1: smoother"),
        Column("texture", "Fill: texture", help=f"Mean local variance {inside}, below 1: flatter. {dash}"),
        bounded("apart", "Usual − this, points [95 % CI]", signed=True, help=apart_help),
        power("The median % change that these items find"),
    )
    columns = (*HEAD, *of, COUNT, PERCENT, *told, NOTE)
    title = "Repositioning without the suspicious composites"
    read = (
        "Median % change from top left to bottom right with its 95 % BCa interval. If "
        "the shift came from the seam of the composite or a disturbed background, it would fade."
    )
    drawing = Drawing("F-composites", title, read, Dots(values=IN_PERCENT, axis=axis_of("percent")))
    question = Question("T2", title, "space", "contrasts", _note(table), columns, _ways_apart, _ways_needed)
    return (replace(question, figures=(drawing,), paper="Table 2"),)


def _ways_needed(table: ScoreTable) -> str:
    lack = no_probe(table, papers.CORNERS, what="an object moved to the top left and to the bottom right")
    if lack or _measured(table)["seam_energy"].any():
        return lack
    return "no run measured the seams of its composites; audit the probes of reposition again with this version"


def _measured(table: ScoreTable) -> dict[str, np.ndarray]:
    """Which of the two composites of each item were measured, bool [2, N], by diagnostic."""
    return {name: np.isfinite(each.of(table.places(papers.CORNERS))) for name, each in table.diagnostics.items()}


def _note(table: ScoreTable) -> str:
    said = "Median % change from top left to bottom right, with ever more suspicious composites dropped;"
    said += " 95 % BCa intervals."
    if table.diagnostics and len(table.places(papers.CORNERS)) == len(papers.CORNERS) and not _ways_needed(table):
        own = {name: each.of(table.places(papers.CORNERS)) for name, each in table.diagnostics.items()}
        said += (
            f" Over the {int(_measured(table)['seam_energy'].sum())} composites, the median BGΔ is "
            f"{1000 * np.nanmedian(own['bg_delta']):.2f} · 10⁻³ and the median seam ratio "
            f"{np.nanmedian(own['seam_ratio']):.2f} (1: the seam is as strong as the object's own edge)."
        )
        said += _flat(own["bg_delta"])
    return f"{said} Kept: {_KEPT[0].lower()}{_KEPT[1:]} {_ways_said(table)}"


def _flat(background: np.ndarray) -> str:
    there = background[np.isfinite(background)]
    if there.size == 0 or np.ptp(there) > 0:
        return ""
    return (
        " BGΔ is the same in every composite, as the fill stays within the 8 px that it leaves out: a filter by it has "
        "nothing to drop. What the fill did to the hole, gradient and texture against its rim say."
    )


_SAID: Mapping[str, tuple[str, str, str]] = {
    "hard": ("feathered and hard edge", "feathered edge, items with both edges", "hard edge, the same items"),
    "telea": ("fill by example and Telea's", "filled by example, items with both fills", "fill=telea, the same items"),
    "true": ("filled and true plate", "filled by example, items with a true plate", "true plate, the same items"),
}
"""Way -> what its comparison is called, and its two rows."""


def _ways_said(table: ScoreTable) -> str:
    """What the lines of the other ways are here, or what they need."""
    named, how = (
        "; ".join(_SAID[way][0] for way in _ways(table)),
        "the same items at the same places rendered both ways",
    )
    said = [f"{named}: {how}, their % change compared item by item."] if named else []
    for way in (way for way in papers.OTHER_WAYS if way not in _ways(table)):
        needed = no_probe(table, papers.OTHER_WAYS[way], what="the same places made that way")
        said.append(f"{_SAID[way][0]}: {needed}.")
    return " ".join(f"{each[0].upper()}{each[1:]}" for each in said)


def _ways(table: ScoreTable) -> tuple[str, ...]:
    """The other ways that these scores hold both composites of."""
    return tuple(way for way, probes in papers.OTHER_WAYS.items() if len(table.places(probes)) == len(probes))


def _ways_apart(view: View, options: Options) -> pd.DataFrame:
    table, records = view.table, list[dict[str, object]]()
    if len(view.probes([name for name in papers.CORNERS if name in table.probes.index])) < len(papers.CORNERS):
        return pd.DataFrame(columns=["evaluator", "corpus", *_WAYS_COLUMNS, "label", "retained", "overlap"])
    sources = table.sources
    for evaluator in view.evaluators:
        ways = {USUAL: papers.CORNERS, **{way: papers.OTHER_WAYS[way] for way in _ways(table)}}
        scores = {way: _scores(view, evaluator, probes) for way, probes in ways.items()}
        for corpus, own in corpora(table):
            items = np.flatnonzero(own & view.items)
            parts = {way: each[:, items] for way, each in scores.items()}
            measured = {
                way: {name: each.of(table.places(ways[way]), items) for name, each in table.diagnostics.items()}
                for way in parts
            }
            grouped = None if sources is None else sources[items]
            rows = list(filtered_moves(parts[USUAL], measured[USUAL], sources=grouped))
            for way in papers.OTHER_WAYS:
                needed = f"needs an audit with --probes {','.join(papers.OTHER_WAYS[way])}"  # instead of a number
                lacking = {"filter": f"no-{way}", "q": 0.0, "cut_items": 0, "n_items": 0, "direction": needed}
                lacking |= {"overlaps": False, "power": "", "note": ""}
                rows += beside(way, parts, measured, sources=grouped) if way in parts else [lacking]
            records += [{"evaluator": evaluator, "corpus": corpus, **record} for record in rows]
    frame = pd.DataFrame(records, columns=["evaluator", "corpus", *_WAYS_COLUMNS])
    said = [_label(*named) for named in zip(frame["filter"], frame["q"], frame["direction"], strict=True)]
    frame = frame.assign(
        label=said,
        retained=100 * frame["n_items"] / (frame["n_items"] + frame["cut_items"]).replace(0, np.nan),
        overlap=in_words(frame["overlaps"], "overlaps", "apart", frame["low"].notna()),
    )
    return frame[frame.groupby(["evaluator", "corpus"])["n_items"].transform("max") > 0].reset_index(drop=True)


_LABELS: Mapping[str, str] = {
    "none": "all composites",
    **{f"{USUAL}-{way}": usual for way, (_, usual, _) in _SAID.items()},
    **{way: other for way, (_, _, other) in _SAID.items()},
    **{f"no-{way}": named for way, (named, _, _) in _SAID.items()},
}


def _label(name: str, q: float, direction: str) -> str:
    """What a row is of; one that drops nothing is not called a row without something."""
    if name in _LABELS:
        return _LABELS[name]
    dropped = f"top {q:g} % by {name}"
    return f"{dropped}: {direction}" if direction in (NOTHING, UNMEASURED) else f"without the {dropped}"


def in_words(marks: pd.Series, yes: str, no: str, known: pd.Series) -> np.ndarray:
    """One of two words for each mark; nothing where it is not known."""
    return np.where(known, np.where(marks.astype(bool), yes, no), "")


def _scores(view: View, evaluator: str, probes: Sequence[str]) -> np.ndarray:
    """Scores of two composites of every item, float64 [2, N], NaN where the view leaves one out, by sign aside."""
    table = view.table
    scores = table.after(evaluator, probes)
    plain = view if view.chosen.sign is None else table.view(view.chosen.without("sign"))
    kept = plain.where(evaluator, probes)
    return scores if kept is None else np.where(kept, scores, np.nan)


ANCHORS = ("TL", "TR", "BL", "BR")  # Places that both plates may have been asked for

ADDS = "the filling adds to how much scores change"
HIDES = "the filling hides part of how much scores change"
OPEN = "a part of the filling cannot be distinguished from none"
STILL = "nothing moves on the filled plate, so that there is no share"

_SHORT = {
    ADDS: "Filling the gap makes a part of the change:",
    HIDES: "Filling the gap hides a part of the change:",
    OPEN: "Filling the gap: no effect shown in",
}

_FILLED = "How much of the change comes from filling the place that the object left?"
_FILLED_NOTE = (
    "Composed items whose background is known, moved to the same places on the plate that was filled by example and on "
    "the true one; both are compared with the unedited picture, and an item counts by its median over the places that "
    "both have. Filled − true: median over items of the difference of their % change, in points, with its 95 % BCa "
    "interval. Share: the sum over items of |% change| filled minus |% change| true, over the sum of |% change| "
    "filled, BCa over items of one source together, at level 1 − 0.05/N for the N evaluators that one is claimed of; 0 "
    "says that the filling does nothing to the size of shifts, below 0 that shifts are larger on the true plate. The "
    "true plate has no shadow of the object; the filled one keeps what lies beyond the hole."
)


def of_filling(table: ScoreTable) -> tuple[Question, ...]:
    """The share of the filling, where both plates were audited."""
    filled = Column("filled", "Filled, median % change", signed=True)
    true = Column("true", "True plate, median % change", signed=True)
    value = Column("value", "Filled − true, points [95 % CI]", signed=True, low="low", high="high")
    filled_size = Column("filled_size", "Filled, median |% change|")
    true_size = Column("true_size", "True plate, median |% change|")
    share = bounded("share", "Share of the filling, % [adjusted CI]", digits=1, signed=True)
    unclear = power("The share that these items find")
    columns = (*HEAD, COUNT, filled, true, value, filled_size, true_size, share, SAID, unclear, NOTE)
    axis = "← filled lower · higher → (points\u00a0of\u00a0%\u00a0change)"
    make = Dots("evaluator", series="corpus", panel=(), values=PLAIN, axis=axis, even=True)
    drawing = Drawing("F-filling", _FILLED, "Filled minus true plate; the line is no difference.", make)
    question = Question("S25", _FILLED, "space", "families", _FILLED_NOTE, columns, _filled_and_true)

    def needs(table: ScoreTable) -> str:
        wanted = [f"reposition{way}-{anchor}" for way in ("", "-true") for anchor in ANCHORS]
        return (
            "" if _pairs(table) else no_probe(table, wanted, what="moved objects on the filled and on the true plate")
        )

    return (replace(question, needs=needs, figures=(drawing,), says=_filling_says),)


def _filling_says(frame: pd.DataFrame, margin: float) -> str:
    """What the filling does to how much each evaluator's score changes; evaluators of one verdict together."""
    if len(set(frame["corpus"])) != 1:
        return ""
    if len(frame) > 1 and (frame["said"] == OPEN).all():
        return "Filling the gap: no metric shows an effect."
    said = []
    for verdict, rows in frame.groupby("said", sort=False):
        share = f" ({between(rows['share'].abs())} %)" if verdict in (ADDS, HIDES) else ""
        short = _SHORT.get(str(verdict), f"{str(verdict)[0].upper()}{str(verdict)[1:]}:")
        said.append(f"{short} {metrics(list(rows['evaluator']))}{share}.")
    return " ".join(said)


def _pairs(table: ScoreTable) -> dict[str, str]:
    """Probe on the filled plate -> the same place on the true one."""
    pairs = {f"reposition-{anchor}": f"reposition-true-{anchor}" for anchor in ANCHORS}
    return {one: other for one, other in pairs.items() if {one, other} <= set(table.probes.index)}


def _filled_and_true(view: View, options: Options) -> pd.DataFrame:
    pairs = {one: other for one, other in _pairs(view.table).items() if view.probes((one, other)) == (one, other)}

    def both(evaluator: str) -> tuple[np.ndarray, np.ndarray]:
        sides = [
            np.array([view.changes(evaluator, (name,)).percent for name in side])
            for side in (pairs.keys(), pairs.values())
        ]
        absent = np.isnan(sides[0]) | np.isnan(sides[1])
        filled, true = (row_medians(np.where(absent, np.nan, side)) for side in sides)
        return filled, true

    return cells(view, _FILLED_COLUMNS, both, partial(_filled_row, view.table), asked=bool(pairs))


_SIZES = ("filled_size", "true_size")
_FILLED_COLUMNS = ("n_items", "filled", "true", *PLAIN, *_SIZES, *bounds("share"), "said", "power", "note")


def _filled_row(table: ScoreTable, filled: np.ndarray, true: np.ndarray, items: np.ndarray) -> dict[str, object]:
    difference = median_over(filled - true, items, table.sources)
    groups, times = table.sources_of(items), 100 * among(len(table.evaluators))
    one, other = np.abs(filled[items]), np.abs(true[items])
    share = ratio_bca(one - other, one, groups=groups, level=adjusted_level(len(table.evaluators)))
    medians = (np.median(each) for each in (filled[items], true[items], one, other))
    row = words(difference) | dict(zip(("filled", "true", *_SIZES), medians, strict=True)) | percent("share", share)
    said = sided(share, ADDS, HIDES, STILL if np.isnan(share.estimate) else OPEN)
    power = distance_said(times * reach(share, margin=math.nan).detectable, unit="%") if said == OPEN else ""
    return row | {"said": said, "power": power, "note": difference.note or share.note}
