"""Is the effect of repositioning one of the object's place, or of the compositing? Source: paper A, A.8, Table 2."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from core.analysis.effects import corpora, median_over
from core.analysis.questions import paper
from core.analysis.questions.base import Column, Drawing, Options, Question
from core.analysis.questions.columns import CORPUS, COUNT, EVALUATOR, IN_PERCENT, PERCENT, Dots, axis_of
from core.analysis.questions.needs import no_probe
from core.analysis.table import ScoreTable, View
from core.errors import InvalidInput
from core.statistics.bootstrap import Interval
from core.statistics.changes import percent_change

SHARES = (5, 10)
"""Shares of the composites that a filter drops, in percent. Source: paper A, A.8."""

FILTERS: Mapping[str, tuple[str, ...]] = {
    "seam": ("seam_energy",),
    "background": ("bg_delta",),
    "either": ("seam_energy", "bg_delta"),
    "fill": ("fill_ratio",),
}
"""What each filter looks at; of the fill's texture, how far it is from that of its rim, on either side."""

SAME, TURNED, OPEN, NOTHING = "same", "turned", "cannot be told", "nothing to drop"
"""Where a filtered median points, held against the unfiltered one."""

_COLUMNS = (
    "filter", "q", "cut_items", "median_percent", "low", "high", "n_items", "direction", "overlaps", "seam",
    "background", "fill", "note",
)  # fmt: skip


def questions(table: ScoreTable) -> tuple[Question, ...]:
    """The paper's table 2."""
    columns = (
        EVALUATOR, CORPUS, Column("label", "Composites", kind="text"), Column("retained", "Kept %", digits=0), COUNT,
        PERCENT, Column("direction", "Direction", kind="text", help="Turned: the interval lies on the other side of 0 "
                        "than the median without a filter. Nothing to drop: no composite is more suspicious than the "
                        "rest, a cut would fall among equals"),
        Column("overlap", "Interval", kind="text", help="With the one without a filter"),
        Column("seam", "Seam ratio", help="Median over the composites kept; 1: as strong as the object's own edge"),
        Column("background", "BGΔ · 10³", help="Median over the composites kept"),
        Column("fill", "Fill ratio", help="Texture inside the filled hole over that of its rim, median over the "
               "composites kept; 1: alike, below 1: smoother"),
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
    return {name: np.isfinite(values[table.places(paper.CORNERS)]) for name, values in table.diagnostics.items()}


def _note(table: ScoreTable) -> str:
    said = "Median %Δ from top left to bottom right, with ever more suspicious composites dropped; 95 % BCa intervals."
    if table.diagnostics and len(table.places(paper.CORNERS)) == len(paper.CORNERS) and not _needs(table):
        own = {name: values[table.places(paper.CORNERS)] for name, values in table.diagnostics.items()}
        said += (
            f" Over the {int(_measured(table)['seam_energy'].sum())} composites, the median BGΔ is "
            f"{1000 * np.nanmedian(own['bg_delta']):.2f} · 10⁻³ and the median seam ratio "
            f"{np.nanmedian(own['seam_ratio']):.2f} (1: the seam is as strong as the object's own edge)."
        )
    return (
        f"{said} The paper's line on feathered composites needs the same items rendered without: every composite here "
        "is feathered. An item is left out where either of its two composites is dropped."
    )


def _compute(view: View, options: Options) -> pd.DataFrame:
    table, records = view.table, list[dict[str, object]]()
    if len(view.probes([name for name in paper.CORNERS if name in table.probes.index])) < len(paper.CORNERS):
        return pd.DataFrame(columns=["evaluator", "corpus", *_COLUMNS, "label", "retained", "overlap"])
    sources = table.sources
    for evaluator in view.evaluators:
        scores = _scores(view, evaluator)
        for corpus, own in corpora(table):
            items = np.flatnonzero(own & view.items)
            measured = {name: values[np.ix_(table.places(paper.CORNERS), items)]
                        for name, values in table.diagnostics.items()}  # fmt: skip
            for record in filtered_moves(
                scores[:, items], measured, sources=None if sources is None else sources[items]
            ):
                records.append({"evaluator": evaluator, "corpus": corpus, **record})
    frame = pd.DataFrame(records, columns=["evaluator", "corpus", *_COLUMNS])
    named = zip(frame["filter"], frame["q"], strict=True)
    said = ["all composites" if name == "none" else f"without the top {q:g} % by {name}" for name, q in named]
    frame = frame.assign(
        label=said, retained=100 * frame["n_items"] / (frame["n_items"] + frame["cut_items"]).clip(lower=1),
        overlap=in_words(frame["overlaps"], "overlaps", "apart", frame["low"].notna()),
    )  # fmt: skip
    some = frame.groupby(["evaluator", "corpus"])["n_items"].transform("max") > 0
    return frame[some].reset_index(drop=True)


def in_words(marks: pd.Series, yes: str, no: str, known: pd.Series) -> np.ndarray:
    """One of two words for each mark; nothing where it is not known."""
    return np.where(known, np.where(marks.astype(bool), yes, no), "")


def _scores(view: View, evaluator: str) -> np.ndarray:
    """Scores of the two composites of every item, float64 [2, N], NaN where the view leaves one out, by sign aside."""
    table = view.table
    scores = table.after(evaluator, paper.CORNERS)
    plain = view if view.chosen.sign is None else table.view(view.chosen.without("sign"))
    if plain.cells is None:
        return scores
    return np.where(plain.cells[table.place(evaluator), table.places(paper.CORNERS)], scores, np.nan)


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
        direction (of SAME, TURNED, OPEN, NOTHING, held against the unfiltered one), overlaps (the intervals do),
        seam, background, fill (median diagnostics of what is kept), note.

    Raises:
        InvalidInput: if a share is not in [0, 100).
    """
    if not all(0 <= q < 100 for q in shares):
        raise InvalidInput(f"a filter drops between 0 and 100 percent, got {list(shares)}")
    percent, whole = percent_change(scores[1], scores[0]), None
    for name, q, cut in _cuts(scores, measured, shares):
        found = median_over(percent, ~cut, sources)
        whole = whole or found
        yield {
            "filter": name, "q": q, "cut_items": int((cut & ~np.isnan(percent)).sum()),
            "median_percent": found.estimate, "low": found.low, "high": found.high, "n_items": found.n,
            "direction": direction(found, whole) if cut.any() or name == "none" else NOTHING,
            "overlaps": overlap(found, whole), **_kept_said(measured, ~cut), "note": found.note,
        }  # fmt: skip


def direction(found: Interval, whole: Interval) -> str:
    """Where a filtered median points; a sign alone turns nothing."""
    if np.isnan(found.estimate) or np.isnan(whole.estimate):
        return ""
    beyond = found.high < 0 if whole.estimate > 0 else found.low > 0
    if whole.estimate != 0 and beyond:
        return TURNED
    return SAME if np.sign(found.estimate) == np.sign(whole.estimate) else OPEN


_TOLD = (("seam", "seam_ratio", 1.0), ("background", "bg_delta", 1000.0), ("fill", "fill_ratio", 1.0))
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
    for name, columns in FILTERS.items():
        for q in shares:
            worst = [_top(np.where(there, _suspicion(column, measured), np.nan), q) for column in columns]
            yield name, float(q), np.logical_or.reduce(worst).any(axis=0)


def _suspicion(column: str, measured: Mapping[str, np.ndarray]) -> np.ndarray:
    """How suspicious a diagnostic makes each composite, the larger the more; NaN where it was not measured."""
    values = measured.get(column)
    if values is None:
        return np.full(next(iter(measured.values())).shape, np.nan)
    return np.abs(np.log(np.where(values > 0, values, np.nan))) if column == "fill_ratio" else values


def _top(values: np.ndarray, q: float) -> np.ndarray:
    """Marks the q % largest of the values that are there, fewer where the cut would fall among equal ones."""
    present = np.sort(values[~np.isnan(values)])[::-1]
    count = round(len(present) * q / 100)
    if not 0 < count < len(present):
        return np.zeros(values.shape, dtype=bool)
    return np.asarray(values > present[count] if present[count - 1] == present[count] else values >= present[count - 1])
