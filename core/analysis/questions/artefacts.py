"""How much of a shift comes from the making of an edit: compositing, filling a hole, cutting corners off.

Source: paper A, A.8, Table 2.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from core.analysis.comparisons import percent
from core.analysis.effects import IN_PERCENT, PLAIN, bounds, corpora, median_over, words
from core.analysis.lacks import no_probe
from core.analysis.questions import papers
from core.analysis.questions.columns import COUNT, HEAD, NOTE, PERCENT, SAID, Dots, axis_of, cells, power
from core.analysis.questions.filters import NOTHING, UNMEASURED, USUAL, beside, filtered_moves
from core.analysis.questions.question import Column, Drawing, Options, Question, bounded
from core.analysis.table import ScoreTable, View
from core.analysis.verdicts import apart, too_few_for
from core.statistics.arithmetic import row_medians
from core.statistics.bootstrap import Interval, adjusted_level
from core.statistics.power import among, reach
from core.statistics.ratios import ratio_bca
from core.statistics.wording import between, metrics

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
    columns = (
        *HEAD,
        Column("label", "Composites", kind="text"),
        Column("retained", "Kept %", digits=0, help=_KEPT),
        COUNT,
        PERCENT,
        Column("direction", "Direction", kind="text", help=direction),
        Column("overlap", "Interval", kind="text", help="With the one without a filter"),
        Column("seam", "Seam ratio", help="Median over the composites kept; 1: as strong as the object's own edge"),
        Column("background", "BGΔ · 10³", help="Median over the composites kept"),
        Column("fill", "Fill: gradient", help=f"Mean gradient {inside}, below 1: smoother"),
        Column("texture", "Fill: texture", help=f"Mean local variance {inside}, below 1: flatter. {dash}"),
        bounded("apart", "Usual − this, points [95 % CI]", signed=True, help=apart_help),
        power("The median % change that these items find"),
        NOTE,
    )
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
    make = Dots(
        "evaluator",
        series="corpus",
        panel=(),
        values=PLAIN,
        axis="← filled lower · higher → (points\u00a0of\u00a0%\u00a0change)",
        even=True,
    )
    drawing = Drawing("F-filling", _FILLED, "Filled minus true plate; the line is no difference.", make)
    question = Question("S25", _FILLED, "space", "families", _FILLED_NOTE, columns, _filled_and_true)
    return (replace(question, needs=_both_plates_needed, figures=(drawing,), says=_filling_says),)


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


def _both_plates_needed(table: ScoreTable) -> str:
    if _pairs(table):
        return ""
    wanted = [f"reposition{way}-{anchor}" for way in ("", "-true") for anchor in ANCHORS]
    return no_probe(table, wanted, what="moved objects on the filled and on the true plate")


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
    said = _share_said(share)
    return {
        **words(difference),
        **dict(zip(("filled", "true", *_SIZES), medians, strict=True)),
        **percent("share", share),
        "said": said,
        "power": apart(times * reach(share, margin=math.nan).detectable, unit="%") if said == OPEN else "",
        "note": difference.note or share.note,
    }


def _share_said(share: Interval) -> str:
    if few := too_few_for(share):
        return few
    if np.isnan(share.estimate):
        return STILL
    if share.low > 0:
        return ADDS
    return HIDES if share.high < 0 else OPEN
