"""What lies on the surface: colour in JPEG, letters that a photograph holds already, words that say nothing.

Words that say nothing differ in wording too, so the trend is that of the wrappers at hand: each is a point, not each
length. Letters are asked for where the corpus was to be read (its option ``text=read``); see
:mod:`core.probes.pixels.text_reader`.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from core.analysis.effects import PLAIN, bounds, corpora, ends, median_over, words
from core.analysis.facts import fact, facts_of
from core.analysis.lacks import no_family, no_probe
from core.analysis.questions.columns import COUNT, HEAD, NOTE, SAID, UNTOLD, Dots, cells
from core.analysis.questions.factor_tests import of_reference
from core.analysis.questions.object_kinds import CURVE, curve_figure, curves_along
from core.analysis.questions.question import Column, Drawing, Options, Question, bounded
from core.analysis.table import ScoreTable, View
from core.analysis.verdicts import TOO_FEW, sided, untold
from core.corpora.registry import READ, TEXT
from core.probes.families.preparation import HALF_COLOUR, WHOLE_COLOUR
from core.probes.pixels.text_reader import CONFIDENCE, HELD, HOLDS, HOLDS_NONE, LEAST_SIGNS, WRITTEN_IN
from core.probes.titles import title
from core.statistics.shift_tests import median_differences
from core.statistics.splines import KNOTS

HIGHER_AT_HALF, LOWER_AT_HALF = "higher at 4:2:0", "lower at 4:2:0"
OPEN = "cannot be told apart"

_COLOUR = "Colour in JPEG: 4:2:0 and 4:4:4 of the same quality"
_COPIES = (HALF_COLOUR, WHOLE_COLOUR)
_COLOUR_COLUMNS = ("n_items", "half", "whole", "value", "low", "high", "said", "power", "note")


def of_colour(table: ScoreTable) -> tuple[Question, ...]:
    """Both copies and their paired difference."""
    half = Column("half", "4:2:0, median % change", signed=True, digits=3)
    whole = Column("whole", "4:4:4, median % change", signed=True, digits=3)
    value = Column("value", "4:2:0 − 4:4:4, points [95 % CI]", signed=True, digits=3, low="low", high="high")
    said = replace(SAID, help="The interval of the difference against 0")
    columns = (*HEAD, COUNT, half, whole, value, said, UNTOLD, NOTE)
    note = (
        "Each picture was saved as JPEG of quality 75 twice: with colour at half the width and height (4:2:0, what "
        "most programs write) and with all of it (4:4:4). Both are compared with the unedited picture; the difference "
        "is taken item by item: median over items of % change at 4:2:0 minus % change at 4:4:4, in points, with its 95 "
        "% BCa interval. No test and no correction."
    )
    make = Dots("evaluator", series="corpus", panel=(), values=PLAIN, axis="4:2:0 − 4:4:4, points of % change")
    drawing = Drawing("F-chroma", _COLOUR, "4:2:0 minus 4:4:4 of the same quality; the line is no difference.", make)
    needs = partial(no_probe, probes=_COPIES, what="JPEG of one quality with half of the colour and with all of it")
    return (Question("S-chroma", _COLOUR, "surface", "compression", note, columns, _copies, needs, (drawing,)),)


def _copies(view: View, options: Options) -> pd.DataFrame:
    def percent(evaluator: str) -> list[np.ndarray]:
        return [view.changes(evaluator, (name,)).percent for name in _COPIES]

    def row(half: np.ndarray, whole: np.ndarray, items: np.ndarray) -> dict[str, object]:
        found = median_over(half - whole, items, view.table.sources)
        said = sided(found, HIGHER_AT_HALF, LOWER_AT_HALF, OPEN)
        power = untold(found, unit="points") if said == OPEN else ""
        medians = {"half": np.median(half[items]), "whole": np.median(whole[items])}
        return {**words(found), **medians, "said": said, "power": power}

    return cells(view, _COLOUR_COLUMNS, percent, row, asked=view.probes(_COPIES) == _COPIES)


HIGHER_WITH_TEXT, LOWER_WITH_TEXT = "higher where there is text", "lower where there is text"

_LETTERS = "Words written in: photographs that hold text already, and those that hold none"
_LETTER_COLUMNS = (
    "evaluator", "corpus", "probe", "label", "held_n", "held", "held_low", "held_high", "bare_n", "bare", "bare_low",
    "bare_high", "n_items", "value", "low", "high", "said", "power", "note",
)  # fmt: skip


def of_letters(table: ScoreTable) -> tuple[Question, ...]:
    """Both groups and their difference."""
    label = Column("label", "Edit", kind="text")
    held_n = Column("held_n", "n with text", digits=0, help="Items whose photograph holds legible text")
    held = bounded("held", "With text, median % change [95 % CI]", signed=True)
    bare_n = Column("bare_n", "n without", digits=0, help="Items in whose photograph no legible text was found")
    bare = bounded("bare", "Without, median % change [95 % CI]", signed=True)
    value = Column("value", "With − without, points [95 % CI]", signed=True, low="low", high="high")
    said = replace(SAID, help="Of % change with its sign: the interval of the difference against 0")
    columns = (*HEAD, label, held_n, held, bare_n, bare, value, said, UNTOLD, NOTE)
    note = (
        f"A photograph holds text where a line of {LEAST_SIGNS} letters or digits or more is read with a confidence of "
        f"{CONFIDENCE:g} or more; small and faint text is missed. Median % change of each group with its 95 % BCa "
        "interval; difference of the two medians, in points, with its 95 % BCa interval, the groups drawn "
        "independently and items of one source together. No test and no correction. Photographs with text differ in "
        "what they show, too, so that a difference is no proof that the text makes it."
    )
    make = Dots(values=PLAIN, axis="with text minus without, points of % change")
    read = "Median % change with text minus without; the line is no difference."
    question = Question("S-text", _LETTERS, "surface", WRITTEN_IN, note, columns, _with_letters, _reading_needed)
    return (replace(question, figures=(Drawing("F-text", _LETTERS, read, make),)),)


def _reading_needed(table: ScoreTable) -> str:
    lack = no_family(table, WRITTEN_IN, what="a word written into the picture")
    if lack or (facts_of(table)["key"] == HELD).any():
        return lack
    return f"no photograph was read for text that it holds; an audit with --option {TEXT}={READ} reads them"


def _with_letters(view: View, options: Options) -> pd.DataFrame:
    table, records = view.table, list[dict[str, object]]()
    for name in view.families().get(WRITTEN_IN, ()):
        (found,) = fact(table, HELD, (name,))
        for evaluator in view.evaluators:
            percent = view.changes(evaluator, (name,)).percent
            for corpus, own in corpora(table):
                there = own & view.items & ~np.isnan(percent)
                held, bare = there & (found == HOLDS), there & (found == HOLDS_NONE)
                if (held | bare).any():
                    told = {"evaluator": evaluator, "corpus": corpus, "probe": name, "label": title(name)}
                    records.append(told | _letter_row(percent, held, bare, table.sources))
    return pd.DataFrame(records, columns=list(_LETTER_COLUMNS))


def _letter_row(
    percent: np.ndarray, held: np.ndarray, bare: np.ndarray, sources: np.ndarray | None
) -> dict[str, object]:
    groups = None if sources is None else (sources[held], sources[bare])
    (apart,) = median_differences(percent[held], percent[bare], levels=(0.95,), groups=groups)
    open_ = TOO_FEW if np.isnan(apart.low) else OPEN  # of a side, while both together may be enough
    said = sided(apart, HIGHER_WITH_TEXT, LOWER_WITH_TEXT, open_)
    row = {**words(apart), "said": said, "power": untold(apart, unit="points") if said == OPEN else ""}
    for name, items in (("held", held), ("bare", bare)):
        found = median_over(percent, items, sources)
        row |= {f"{name}_n": found.n, **ends(found, bounds(name))}
    return row


FAMILY = "verbosity"

NO_TREND = "no trend with length shown"

LEAST_LENGTHS = 3  # Numbers of added words that an item needs for its own trend


def of_length(table: ScoreTable) -> tuple[Question, ...]:
    """The trend over the words added, and the curve."""
    note = (
        "Of every item with wrappers of three lengths or more, % change is fitted by least squares on the number of "
        "words added; median over items of the slope with its 95 % BCa interval, in points of % change a word. "
        "Wrappers differ in wording as well as in length, and they are few. Uncorrected: no test is made here."
    )
    value = Column("value", "Per word, points [95 % CI]", digits=3, signed=True, low="low", high="high")
    columns = (*HEAD, COUNT, value, Column("wrappers", "Wrappers", digits=0), SAID, UNTOLD, NOTE)
    title = "Length without content: percent change on the number of words added"
    figure = partial(curve_figure, x="words added that say nothing", y="% change", unit=" %")
    drawn = f"{CURVE}{of_reference(table)}"
    drawing = Drawing("F-length", title, drawn, figure)
    asked = "Length without content: how much a word changes the score"
    trends = Question("S36", asked, "surface", FAMILY, note, columns, _trends, _wrappers_needed)
    curve = Question("S36-curve", title, "surface", FAMILY, drawn, (), lambda view, _: curves_along(view, _added(view)))
    return trends, replace(curve, needs=_lengths_needed, figures=(drawing,), pick=("evaluator",))


_wrappers_needed = partial(no_family, family=FAMILY, what="harmless words around the caption")


def _lengths_needed(table: ScoreTable) -> str:
    found = len(set(_added(table).values()))
    if found >= KNOTS:
        return ""
    return _wrappers_needed(table) or (
        f"the words around the captions are of {found} lengths, and the curve has {KNOTS} knots; captions that are one "
        "noun phrase take more of them"
    )


def _added(of: ScoreTable | View) -> Mapping[str, int]:
    """Probe of the family -> the words that it adds."""
    from core.probes.families.verbosity import wrappers  # here: a table that somebody broke takes down its probes alone

    known = {f"{FAMILY}:{each.name}": each.words for each in wrappers()}
    return {name: known[name] for name in of.families().get(FAMILY, ()) if name in known}


def _trends(view: View, options: Options) -> pd.DataFrame:
    added = _added(view)

    def slopes(evaluator: str) -> list[np.ndarray]:
        percent = np.array([view.changes(evaluator, (name,)).percent for name in added])
        return [trends(np.array([*added.values()], dtype=np.float64), percent)]

    def row(slopes: np.ndarray, items: np.ndarray) -> dict[str, object]:
        found = median_over(slopes, items, view.table.sources)
        said = sided(found, "longer scores higher", "longer scores lower", NO_TREND)
        power = untold(found, unit="points a word", digits=3) if said == NO_TREND else ""
        return {**words(found), "wrappers": len(added), "said": said, "power": power}

    names = ("n_items", "value", "low", "high", "wrappers", "said", "power", "note")
    return cells(view, names, slopes, row, asked=bool(added))


def trends(lengths: np.ndarray, percent: np.ndarray) -> np.ndarray:
    """Least-squares slope of each item's shifts along the words added. ``lengths``: words that each wrapper adds,
    float64 [k]. ``percent``: % change of every wrapper and item, float64 [k, N]; NaN where there is none. Returns
    points a word, float64 [N]; NaN with fewer than LEAST_LENGTHS lengths."""
    there = ~np.isnan(percent)
    varied = np.array([there[lengths == each].any(axis=0) for each in np.unique(lengths)]).sum(axis=0) >= LEAST_LENGTHS
    count = np.maximum(there.sum(axis=0), 1)
    away = np.where(there, lengths[:, None] - (lengths[:, None] * there).sum(axis=0) / count, 0.0)
    spread = np.where(varied, (away**2).sum(axis=0), np.nan)
    slopes: np.ndarray = (away * np.where(there, percent, 0.0)).sum(axis=0) / spread
    return slopes
