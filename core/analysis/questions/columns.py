"""Columns, words and figures that many questions share."""

import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from core.analysis.beside import caption_of, every_caption
from core.analysis.effects import ALL, COLUMNS, MEASURES, PLAIN, Names, corpora
from core.analysis.questions.question import Column, Drawing, Options, Question, bounded
from core.analysis.table import ScoreTable, View
from core.analysis.verdicts import MOST_BEYOND, NO_CLAIM
from core.charts.spec import Figure, marks_of, says_its_labels
from core.corpora.schema import COVERAGE_BINS
from core.statistics.bootstrap import LEAST_N

EVALUATOR, CORPUS = Column("evaluator", "Metric", kind="text"), Column("corpus", "Corpus", kind="text")
HEAD = (EVALUATOR, CORPUS)  # First columns of nearly every table

FAMILY = Column("family", "Family", kind="text")
NOTE, SAID = Column("note", "Remark", kind="text"), Column("said", "In words", kind="text")


def power(found: str) -> Column:
    """Power beside a row that leaves its answer open (:func:`core.analysis.verdicts.untold`): what would be found."""
    return Column("power", "Why it is unclear", kind="text", help=f"{found} in four of five such runs")


UNTOLD = power("What these items would have found")


def medians(what: str) -> tuple[Column, Column]:
    """Median differences, standardised and raw; ``what`` they mean, in a sentence or nothing."""
    said = f"{what}In standard deviations of the evaluator’s unedited scores"
    return (
        Column("value", "Median, SD [95 % CI]", digits=3, signed=True, low="low", high="high", help=said),
        Column("delta", "Median, raw", digits=4, signed=True),
    )


COUNT = Column("n_items", "n", digits=0, help="Items")
_MEDIAN_PERCENT = (
    "Median over items of an item's median change in percent of its baseline score, 95 % BCa bootstrap over items"
)
PERCENT = Column(
    "median_percent", "Median % change [95 % CI]", signed=True, low="low", high="high", help=_MEDIAN_PERCENT
)
STANDARDISED = bounded("standardised", "Median Δ, SD [95 % CI]", digits=3, signed=True)
_MEDIAN_ABS_PERCENT = "Median over items of an item's median absolute change in percent"
ABSOLUTE = Column(
    "median_abs_percent", "Median |% change| [95 % CI]", low="abs_low", high="abs_high", help=_MEDIAN_ABS_PERCENT
)
_DRIFT = (
    "Which way scores go. Drifts: the 95 % interval of the median % change or of the change of the mean "
    "excludes 0, or that of the movers that fall excludes one half, and the corrected test rejects, of a control "
    "the test itself. No drift beyond the margin: the 90 % intervals of median and mean lie inside. Below "
    f"{LEAST_N} items nothing is claimed: an interval of a median of so few is little more than their range."
)
_SCATTER = (
    "Of the median |% change|: how much items change, in either direction. Beyond the "
    "margin: its 95 % interval lies above it. Within: below it, and so few edits beyond the margin that the "
    f"interval of their share lies below {100 * MOST_BEYOND:g} %. Some edits: their share lies above."
)
CLAIMED = (
    Column("drift", "Drift", kind="text", help=_DRIFT),
    Column(
        "direction", "Shown by", kind="text", help="Which of median, movers and mean show the drift, with intervals"
    ),
    Column("scatter", "Stability", kind="text", help=_SCATTER),
)
"""What may be claimed of a shift, in words."""

BEHIND = (
    bounded("beyond", "Edits beyond the margin, % [95 % CI]", digits=0,
           help="Share of the edits whose |% change| exceeds the margin, Wilson's interval, edits of one source "
           "together"),
    bounded("items_beyond", "Items beyond it, % [95 % CI]", digits=0,
           help="Share of the items whose median over their edits does; not to be compared between families of "
           "different numbers of edits"),
    Column("still", "Items that do not change, %", digits=0),
    bounded("falls", "Of those that change, falling, % [95 % CI]", digits=0,
           help="Wilson's interval, items of one source together; 50: as many rise"),
    Column("mean_percent", "Mean score, % [95 % CI]", signed=True, low="mean_low", high="mean_high",
           help="Change of the mean score in percent of the mean before, Student's interval over sources"),
    Column("cliffs_delta", "Cliff’s δ", signed=True, help="Share of pairs in which an edited score is above an "
           "unedited one, minus the share below; from −1 to 1"),
    Column("test", "Test", kind="text",
           help="Paired t where both samples pass Shapiro–Wilk at 0.05, Wilcoxon signed-rank otherwise; by source: "
           "of the means over the items of each source, since items of one are no independent evidence"),
    Column("n_scored", "n tested", digits=0, help="Items with a Δ, which test and δ are of; a baseline of 0 has a "
           "Δ and no % change"),
    Column("p", "p", kind="p"),
    Column("p_holm", "p (Holm)", kind="p", help="Corrected for the m tests beside it; a control is not corrected"),
    Column("m_tests", "m", digits=0, help="Tests that Holm's correction runs over; 0 for a control"),
    Column("conflict", "Where interval and test differ", kind="text", help="A row's interval against its test, a "
           "control's against its own p; where β₁ stands beside them, against that too"),
    Column("detectable", "Drift it would have shown, %", help="Smallest true median % change that this n "
           "and spread show in four of five such runs"),
    Column("needed", "n for the margin", digits=0, help="Items with which a drift of 0 is shown to lie within the "
           "margin in four of five such runs"),
    Column("note", "Remark", kind="text", help="Why a number is missing, or what it cannot show"),
)  # fmt: skip
"""What stands behind the claims."""

_FURTHER = (
    "Of pairs of an edit and an invisible edit of the same item, those in which the first moves the "
    "score further, ties half; mean over items, items of one source together. 50: no further"
)
FURTHER = (
    bounded("further", "More than invisible edits, % [95 % CI]", digits=0, help=_FURTHER),
    Column("than_null", "Beside invisible edits", kind="text", help="Further: the interval lies above 50 %"),
    Column(
        "null_detectable",
        "It would have shown, pp",
        help="Beside edits that are not told apart from invisible edits: the smallest distance from 50 % that this n "
        "and spread find in four of five such runs",
    ),
)

TESTS = (*CLAIMED, *BEHIND)  # What stands behind the median of every shift

UNITS: Mapping[str, tuple[str, int]] = {"percent": (" %", 2), "standardised": (" SD", 3), "delta": ("", 4)}
"""Measure -> (unit behind a number, decimals)."""

SHIFTS = ("measure", "margin")  # What a reader may set of a table of shifts


def how(tests: str) -> str:
    """How a table of shifts was made: what an item counts, intervals, tests, claims; ``tests``: the family of tests
    that Holm's correction runs over, in words."""
    return (
        "An item counts once, by the median over its probes. Intervals: 95 % BCa bootstrap over items, 10,000 "
        "resamples, seed 2025. Test: paired t where both samples pass Shapiro–Wilk at 0.05, Wilcoxon signed-rank "
        "otherwise, two-sided, of the sources' means where items share theirs; p (Holm) within an evaluator and corpus "
        f"over {tests}, m of them, controls aside. Drift: does the 95 % interval of the median or of the change of the "
        "mean exclude 0, or that of the share of movers that fall one half, and the corrected test reject; do the 90 % "
        "intervals of median and mean lie within the margin, ±1 % unless another is chosen. Stability: does the 95 % "
        f"interval of the median |% change| lie above the margin; below it, do fewer than {100 * MOST_BEYOND:g} % of "
        "the edits lie beyond the margin (Wilson's interval of their share). A family is invariant only where both "
        f"stay within it. No interval below {LEAST_N} items."
    )


SIZES: Names = (ABSOLUTE.name, ABSOLUTE.low, ABSOLUTE.high)
"""Columns of how far items move, whichever way, with its interval; in percent."""


@dataclass(frozen=True, slots=True)
class Dots:
    """Makes figures of medians with their intervals, a line a label."""

    label: str = "label"  # column of the frame that names a line
    series: str = "evaluator"  # column that colour and marker tell apart
    panel: tuple[str, ...] = ("corpus",)  # columns that make panels, where they have several values
    values: Names | None = None  # columns of the values; None: of the shift in the measure asked for
    axis: str = ""  # name of the values; empty for that of the measure
    order: "Callable[[pd.DataFrame], Sequence[str]] | None" = None  # puts the labels in order; None: as they come
    # words for the labels of the answer, where they are not their own
    names: "Callable[[pd.DataFrame], Mapping[str, str]] | None" = None
    lines: bool = False  # connect the marks of a series
    free: bool = False  # every panel has its own scale
    only: str = ""  # draws the rows of this label; empty for all
    # adds columns that ``opens`` of the drawing names and that the answer does not have; None: it has all
    opened: "Callable[[pd.DataFrame], pd.DataFrame] | None" = None
    even: bool = False  # the values reach as far below 0 as above

    def __call__(self, drawing: Drawing, frame: pd.DataFrame, measure: str) -> Figure:
        """The figure of a frame; raw scales of different evaluators never share an axis."""
        frame = frame[frame["label"] == self.only] if self.only else frame
        frame = frame if self.opened is None else self.opened(frame)
        raw = self.values is None and measure == "delta"
        series, panel = ("corpus", ("evaluator",)) if raw else (self.series, self.panel)
        label = "corpus" if raw and self.label == "evaluator" else self.label
        values = self.values or COLUMNS[measure]
        data = marks(frame, label=label, series=series, panel=panel, values=values, opens=drawing.opens)
        span: tuple[float | None, float | None] = (0.0 if self.values == SIZES else None, None)
        if self.even:  # of none but 0 the ends are those of the renderer
            furthest = 1.1 * float(np.nanmax(data[["value", "low", "high"]].abs().to_numpy(dtype=float), initial=0.0))
            span = (-furthest, furthest) if furthest else (None, None)
        unit = UNITS["percent" if self.values == SIZES else measure][0] if self.values in (None, SIZES) else ""
        look: dict[str, Any] = {"unit": unit, "span": span, "free": self.free or raw, "overlay": says_its_labels(data)}
        look |= {"kind": "lines" if self.lines else "dots", "counts": not self.lines}
        order = () if self.order is None else tuple(map(str, self.order(frame)))
        names = {} if self.names is None else self.names(frame)
        return drawing.drawn(data, self.axis or axis_of(measure), order=order, names=names, **look)


@dataclass(frozen=True, slots=True)
class Map:
    """Makes maps of medians: a row a label, a column a series, the number and its n in every cell."""

    # label, series, panel, values, axis, order: as of :class:`Dots`
    label: str
    series: str
    panel: tuple[str, ...] = ("evaluator", "corpus")
    values: Names | None = None
    axis: str = ""
    order: "Callable[[pd.DataFrame], Sequence[str]] | None" = None
    columns: "Callable[[pd.DataFrame], Sequence[str]] | None" = None  # puts the series in order; None: as they come
    digits: int = 2  # decimals; those of the measure for shifts

    def __call__(self, drawing: Drawing, frame: pd.DataFrame, measure: str) -> Figure:
        """The figure of a frame."""
        shifts = self.values is None
        unit, digits = (UNITS[measure][0], 1 if measure == "percent" else 3) if shifts else ("", self.digits)
        order = None if self.columns is None else self.columns(frame)
        if order is not None:
            frame = frame.assign(place=[order.index(each) for each in frame[self.series]])
            frame = frame.sort_values("place", kind="stable")
        of, values = {"label": self.label, "series": self.series}, self.values or COLUMNS[measure]
        data = marks(frame, **of, panel=self.panel, values=values, opens=drawing.opens)
        said = [f"{value:{'+' if shifts else ''}.{digits}f}".replace("-", "−") for value in data["value"]]
        data = data.assign(text=[f"{each}{unit}\nn {n}" for each, n in zip(said, data["n"], strict=True)])
        labels = () if self.order is None else tuple(map(str, self.order(frame)))
        axis = self.axis or axis_of(measure)
        return drawing.drawn(data, axis, kind="map", unit=unit, diverging=shifts, order=labels)


def axis_of(measure: str) -> str:
    """Name of the values of shifts in a measure."""
    return f"median {MEASURES[measure].partition(',')[0]}"


def marks(
    frame: pd.DataFrame,
    *,
    label: str,
    series: str,
    panel: Sequence[str] = (),
    values: Names = PLAIN,
    opens: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """Rows of an answer as a figure takes them; a mark of too few items for a verdict is drawn open.

    Evaluators that are labels have their own colours where there is one corpus, not that corpus's.

    ``label``, ``series`` and ``panel`` are columns of it, ``values`` those of the value and of its interval's ends;
    ``opens``: see :class:`core.analysis.questions.question.Drawing`.
    """
    if (label, series) == ("evaluator", "corpus") and len(frame["corpus"].unique()) < 2:
        series = "evaluator"
    several = [name for name in panel if len(frame[name].unique()) > 1]
    title = joined(frame, several) if several else ""
    data = marks_of(frame, frame[label], frame[series].astype(str), title, values)
    if "drift" in frame:
        data["hollow"] = frame["drift"].isin(NO_CLAIM)
    if opens:
        data["opens"] = openings(frame, opens)
    kept = data if data["value"].notna().all() else data.dropna(subset=["value"])
    return kept.reset_index(drop=True)


CONTROL = " (control)"  # Behind the label of a row that others are held against


def openings(frame: pd.DataFrame, opens: Mapping[str, str]) -> list[str]:
    """:func:`opening` of every row of an answer; rows that open the same are asked once."""
    asked = [name for name in dict.fromkeys(("evaluator", "corpus", "tests", *opens.values())) if name in frame]
    rows = list(zip(*(frame[name].tolist() for name in asked), strict=True))
    found = {row: opening(dict(zip(asked, row, strict=True)), opens) for row in dict.fromkeys(rows)}
    return [found[row] for row in rows]


def opening(row: Mapping[Hashable, Any], opens: Mapping[str, str]) -> str:
    """The pairs behind a row, as the parameters of a link that asks for them. ``row``: of an answer; has evaluator and
    corpus. ``opens``: see :class:`core.analysis.questions.question.Drawing`. Returns a JSON object of texts; nothing
    for a row of all corpora, and for one that leaves every column of ``opens`` empty."""
    told = dict[str, str]()
    for name, said in opens.items():
        if value := said[1:] if said.startswith("=") else str(row[said]).removesuffix(CONTROL):
            told[name] = value
    if row["corpus"] == ALL or not told:
        return ""
    controls = {"controls": "yes"} if row.get("tests") == "" else {}
    return json.dumps({"evaluators": row["evaluator"], "corpus": row["corpus"], **told, **controls})


def joined(frame: pd.DataFrame, names: Sequence[str]) -> list[str]:
    """The words of some columns of each row in one text."""
    return [" · ".join(row) for row in zip(*(frame[name].astype(str) for name in names), strict=True)]


def by_value(frame: pd.DataFrame) -> list[str]:
    """Labels from the most raised to the most lowered, controls last; by the evaluators' ranks, since scales differ."""
    ranks = frame.groupby(["evaluator", "corpus"])["median_percent"].rank()
    mean = ranks.groupby(frame["label"]).mean().sort_values(ascending=False, kind="stable")
    control = (frame["tests"] == "").groupby(frame["label"]).any()
    return [*(name for name in mean.index if not control[name]), *(name for name in mean.index if control[name])]


def in_order(levels: Sequence[str], factor: str) -> list[str]:
    """Coverage bins from small to large, other levels by name."""
    known = list(COVERAGE_BINS)
    if factor == "coverage_bin":
        return sorted(levels, key=lambda level: (known.index(level) if level in known else len(known), level))
    return sorted(levels)


def cells(
    view: View,
    names: Sequence[str],
    values: Callable[[str], Sequence[np.ndarray]],
    row: Callable[..., Mapping[str, object]],
    *,
    asked: bool = True,
) -> pd.DataFrame:
    """A row of every evaluator and corpus of a view with an item that has every value. ``names``: columns behind
    evaluator and corpus. ``values``: of an evaluator, each of every item, float64 [N]; NaN where an item has none.
    ``row``: columns of these values, each an argument, and of the items that have all of them, bool [N]. ``asked``:
    False: no row, since the view lacks what the values are of."""
    records = list[dict[str, object]]()
    for evaluator in view.evaluators if asked else ():
        found = values(evaluator)
        for corpus, own in corpora(view.table):
            if (items := own & view.items & ~np.isnan(found).any(axis=0)).any():
                records.append({"evaluator": evaluator, "corpus": corpus, **row(*found, items)})
    return pd.DataFrame(records, columns=["evaluator", "corpus", *names])


WHAT = Column("family", "What breaks", kind="text")
PAIRS = Column("n", "n comparisons", digits=0, help="Right and wrong sides with both scores; an item may give several")
_FAILURE = (
    "Comparisons whose wrong side scores at least as high as the right one, ties among them; Wilson’s interval, "
    "comparisons of one source together"
)
FAILURE = bounded("failure", "Failures, % [95 % CI]", digits=1, help=_FAILURE)
TIED_SHARE = ("ties", "ties_low", "ties_high")
_TIES = "Both sides score exactly the same; interval as that of the share beside it"
TIES = bounded("ties", "Ties, % [95 % CI]", digits=1, help=_TIES)
_DROP = (
    "Mean wrong score minus mean right one, in percent of the mean right one: the number of papers B and D. BCa "
    "bootstrap over items"
)
DROP = bounded("drop", "Drop of means, % [95 % CI]", digits=1, signed=True, help=_DROP)
_OF_ITEMS = (
    "Median over items of an item’s median change in percent: the number of paper A. It differs from the drop of means "
    "where scores come near 0"
)
MEDIAN = replace(PERCENT, header="Median % change of items [95 % CI]", digits=1, help=_OF_ITEMS)
_MEANS = Column("mean_right", "Mean of the captions", digits=4), Column("mean_wrong", "Mean of the edits", digits=4)
OF_MEANS = (Column("language", "Language", kind="text"), COUNT, PAIRS, *_MEANS, DROP, MEDIAN, FAILURE, NOTE)
_VERDICT = (
    "By the interval of the failures against 50 %. Prefers the wrong one: it "
    "is strictly above in more than half; a tie prefers neither"
)
VERDICT = Column("verdict", "In words", kind="text", help=_VERDICT)
_DETECTABLE = (
    "Beside ‘cannot tell’: smallest distance of the "
    "share from 50 % that these comparisons show in four of five such runs"
)
WOULD_HAVE_TOLD = (Column("detectable", "Would have told, points", digits=1, help=_DETECTABLE),)
"""What stands beside a preference that is unclear."""

_P = (
    "Paired test of the items’ means: paired t where both sides pass Shapiro–Wilk at "
    "0.05, Wilcoxon signed-rank otherwise; of the sources’ means where items share theirs"
)
CORRECTED = (
    Column("p", "p", kind="p", help=_P),
    Column("p_holm", "p (Holm)", kind="p", help="Corrected for the m tests beside it"),
    Column("m_tests", "m", digits=0, help="Tests that Holm’s correction runs over"),
    Column("conflict", "Where interval and test differ", kind="text"),
)
_T_P = (
    "Extra: two-sample t of all scores as if the two sides were "
    "independent, as paper D prints it; they are paired, so p above is the test"
)
AS_IF = Column("t_p", "p of D’s t", kind="p", help=_T_P)
_CAPTION = (
    "Whose caption is broken, and its language: one that people "
    "wrote, or the template’s, with which tests are filed that write both of their captions"
)
CAPTION = Column("caption", "Caption", kind="text", help=_CAPTION)
HOW = (
    "A comparison has a right and a wrong side of one item; a failure is a wrong side that scores at least as high. "
    "Shares count comparisons, medians and tests count items. "
)


def under_its_caption(question: Question) -> Question:
    """The question, answered of the scope's caption or, where that cannot answer it, of another one of the same runs,
    with a column that names the caption. It lacks what every caption lacks, and says what the scope's own does."""

    def needs(table: ScoreTable) -> str:
        return "" if _of(table) is not None else question.needs(table)

    def compute(view: View, options: Options) -> pd.DataFrame:
        table = _of(view.table) or view.table
        own = view if table is view.table else table.view(view.chosen)
        return question.compute(own, options).assign(caption=caption_of(table))

    def _of(table: ScoreTable) -> ScoreTable | None:
        if not question.needs(table):
            return table
        return next((each for each in every_caption(table)[1:] if not question.needs(each)), None)

    place = question.columns.index(CORPUS) + 1 if question.columns else 0
    columns = (*question.columns[:place], CAPTION, *question.columns[place:]) if place else ()
    return replace(question, columns=columns, needs=needs, compute=compute)
