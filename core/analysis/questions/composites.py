"""Is the effect of repositioning one of the object's place, or of the compositing? Source: paper A, A.8, Table 2."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from core.analysis.effects import corpora
from core.analysis.questions import paper
from core.analysis.questions.base import Column, Drawing, Options, Question
from core.analysis.questions.columns import CORPUS, COUNT, EVALUATOR, IN_PERCENT, PERCENT, Dots, axis_of
from core.analysis.questions.filters import USUAL, beside, filtered_moves
from core.analysis.questions.needs import no_probe
from core.analysis.table import ScoreTable, View

_COLUMNS = (
    "filter", "q", "cut_items", "median_percent", "low", "high", "n_items", "direction", "overlaps", "seam",
    "background", "fill", "texture", "apart", "apart_low", "apart_high", "power", "note",
)  # fmt: skip


_KEPT = (
    "Share of the items with a %Δ that stay. The paper drops a share of its samples; here a sample is one of an item's "
    "two composites, and an item goes where either is dropped: the top 5 % of the composites take up to 10 % of the "
    "items with them, and a filter by seam or fill more."
)


def questions(table: ScoreTable) -> tuple[Question, ...]:
    """The paper's table 2."""
    columns = (
        EVALUATOR, CORPUS, Column("label", "Composites", kind="text"), Column("retained", "Kept %", digits=0,
        help=_KEPT), COUNT,
        PERCENT, Column("direction", "Direction", kind="text", help="Same or turned: the interval lies on the side of "
                        "0 of the median without a filter, or on the other one. Nothing to drop: no "
                        "composite is more suspicious than the rest, a cut would fall among equals"),
        Column("overlap", "Interval", kind="text", help="With the one without a filter"),
        Column("seam", "Seam ratio", help="Median over the composites kept; 1: as strong as the object's own edge"),
        Column("background", "BGΔ · 10³", help="Median over the composites kept"),
        Column("fill", "Fill: gradient", help="Mean gradient inside the filled hole over that of its rim, median over "
               "the composites kept; 1: alike, below 1: smoother"),
        Column("texture", "Fill: texture", help="Mean local variance inside the filled hole over that of its "
               "rim, median over the composites kept; 1: alike, below 1: flatter. A dash where no run measured it"),
        Column("apart", "Usual − this, points [95 % CI]", signed=True, low="apart_low", high="apart_high",
               help="Median over items of the item's %Δ as usual (a feathered edge, the hole filled by example) minus "
                    "that of this row"),
        Column("power", "Where it cannot be told", kind="text", help="The median %Δ that these items find with 80 % "
               "power, and the items that would tell one as large as here"),
        Column("note", "Remark", kind="text"),
    )  # fmt: skip
    title = "Repositioning without the suspicious composites"
    drawing = Drawing("F-composites", title, "Median %Δ from top left to bottom right with its 95 % BCa interval. If "
                      "the shift came from the seam of the composite or a disturbed background, it would fade.",
                      Dots(values=IN_PERCENT, axis=axis_of("percent")))  # fmt: skip
    return (
        Question("T2", title, "space", "contrasts", _note(table), columns, _compute, _needs, (drawing,), "Table 2"),
    )  # fmt: skip


def _needs(table: ScoreTable) -> str:
    lack = no_probe(table, paper.CORNERS, what="an object moved to the top left and to the bottom right")
    if lack or _measured(table)["seam_energy"].any():
        return lack
    return "no run measured the seams of its composites; audit the probes of reposition again with this version"


def _measured(table: ScoreTable) -> dict[str, np.ndarray]:
    """Which of the two composites of each item were measured, bool [2, N], by diagnostic."""
    return {name: np.isfinite(each.of(table.places(paper.CORNERS))) for name, each in table.diagnostics.items()}


def _note(table: ScoreTable) -> str:
    said = "Median %Δ from top left to bottom right, with ever more suspicious composites dropped; 95 % BCa intervals."
    if table.diagnostics and len(table.places(paper.CORNERS)) == len(paper.CORNERS) and not _needs(table):
        own = {name: each.of(table.places(paper.CORNERS)) for name, each in table.diagnostics.items()}
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
    here, lacking = _ways(table), [way for way in paper.OTHER_WAYS if way not in _ways(table)]
    said = []
    if here:
        named = "; ".join(_SAID[way][0] for way in here)
        said.append(f"{named[0].upper()}{named[1:]}: the same items at the same places rendered both ways, their %Δ "
                    "compared item by item.")  # fmt: skip
    for way in lacking:
        needed = no_probe(table, paper.OTHER_WAYS[way], what="the same places made that way")
        said.append(f"{_SAID[way][0][0].upper()}{_SAID[way][0][1:]}: {needed}.")
    return " ".join(said)


def _ways(table: ScoreTable) -> tuple[str, ...]:
    """The other ways that these scores hold both composites of."""
    return tuple(way for way, probes in paper.OTHER_WAYS.items() if len(table.places(probes)) == len(probes))


def _compute(view: View, options: Options) -> pd.DataFrame:
    table, records = view.table, list[dict[str, object]]()
    if len(view.probes([name for name in paper.CORNERS if name in table.probes.index])) < len(paper.CORNERS):
        return pd.DataFrame(columns=["evaluator", "corpus", *_COLUMNS, "label", "retained", "overlap"])
    sources = table.sources
    for evaluator in view.evaluators:
        ways = {USUAL: paper.CORNERS, **{way: paper.OTHER_WAYS[way] for way in _ways(table)}}
        scores = {way: _scores(view, evaluator, probes) for way, probes in ways.items()}
        for corpus, own in corpora(table):
            items = np.flatnonzero(own & view.items)
            parts = {way: each[:, items] for way, each in scores.items()}
            measured = {way: _diagnostics(table, ways[way], items) for way in parts}
            grouped = None if sources is None else sources[items]
            rows = list(filtered_moves(parts[USUAL], measured[USUAL], sources=grouped))
            for way in paper.OTHER_WAYS:
                rows += beside(way, parts, measured, sources=grouped) if way in parts else [_not_here(way)]
            records += [{"evaluator": evaluator, "corpus": corpus, **record} for record in rows]
    frame = pd.DataFrame(records, columns=["evaluator", "corpus", *_COLUMNS])
    said = [_label(*named) for named in zip(frame["filter"], frame["q"], strict=True)]
    frame = frame.assign(
        label=said, retained=100 * frame["n_items"] / (frame["n_items"] + frame["cut_items"]).replace(0, np.nan),
        overlap=in_words(frame["overlaps"], "overlaps", "apart", frame["low"].notna()),
    )  # fmt: skip
    some = frame.groupby(["evaluator", "corpus"])["n_items"].transform("max") > 0
    return frame[some].reset_index(drop=True)


_LABELS: Mapping[str, str] = {
    "none": "all composites",
    **{f"{USUAL}-{way}": usual for way, (_, usual, _) in _SAID.items()},
    **{way: other for way, (_, _, other) in _SAID.items()},
    **{f"no-{way}": named for way, (named, _, _) in _SAID.items()},
}


def _label(name: str, q: float) -> str:
    return _LABELS.get(name) or f"without the top {q:g} % by {name}"


def _not_here(way: str) -> dict[str, object]:
    """The row of a way in which nobody made the composites: what it needs, instead of a number."""
    needed = f"needs an audit with --probes {','.join(paper.OTHER_WAYS[way])}"
    return {"filter": f"no-{way}", "q": 0.0, "cut_items": 0, "n_items": 0, "direction": needed, "overlaps": False,
            "power": "", "note": ""}  # fmt: skip


def _diagnostics(table: ScoreTable, probes: Sequence[str], items: np.ndarray) -> dict[str, np.ndarray]:
    return {name: each.of(table.places(probes), items) for name, each in table.diagnostics.items()}


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
