"""What a question is: what it needs, how it is answered, and how its answer is written and drawn.

A page draws questions and a report writes them; neither computes anything of its own, so that both say the same.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from core.analysis.effects import bounds
from core.analysis.slices import Slice
from core.analysis.table import ScoreTable, View
from core.analysis.verdicts import MARGIN
from core.charts.spec import Figure
from core.statistics.bootstrap import LEAST_N

SECTIONS: Mapping[str, tuple[str, str]] = {
    "space": (
        "Space",
        "Does the score change when the picture is flipped, its object moved, or the whole turned a little?",
    ),
    "object": ("Object", "Does the score depend on how large the object is, and on what kind of thing it is?"),
    "words": (
        "Words",
        "Does a word before the noun change the score, although the picture does not speak for or against it?",
    ),
    "natural": (
        "Natural captions",
        "In captions that people wrote: does the score change when a neutral word, or the "
        "contrasting one, takes the place of a social one?",
    ),
    "surface": (
        "Surface",
        "Does the score change when a picture was shrunk or saved otherwise, when letters stand in it, or "
        "when words that say nothing stand around the caption?",
    ),
    "strength": ("Strength", "From which strength on does an edit that should not matter change the score?"),
    "corpora": ("Corpora", "Does what holds on one corpus hold on the others?"),
    "summary": ("All", "What moves at all, do the evaluators order the items alike, and what was left out?"),
    "contrast": ("Contrast tests", "Does the score drop where the meaning breaks?"),
    "selectivity": ("Selectivity", "Does a broken meaning cost more than a harmless edit?"),
    "flips": ("Flips", "How often does an edit that should not matter invert a near tie?"),
    "calibration": ("Calibration", "How much of it does a calibration take away?"),
}
"""Section -> its title and what it asks."""


@dataclass(frozen=True, slots=True)
class Column:
    """How one column of a table is written; the frame keeps the bare numbers."""

    name: str  # column of the frame
    header: str  # what a reader sees above it
    digits: int = 2  # decimal places
    signed: bool = False  # write a plus before positive numbers
    low: str = ""  # column of the lower bound, written in brackets; empty for none
    high: str = ""  # column of the upper bound
    to: str = ""  # column of the value after a change, written ``before → after``; empty for none
    kind: str = "number"  # ``number``, ``p`` (a p-value), or ``text``
    help: str = ""  # what the numbers are, for those who ask; empty where the header says it


def bounded(name: str, header: str, **told: Any) -> Column:
    """A number with the ends of its interval beside it, as :func:`core.analysis.effects.bounds` names them."""
    _, low, high = bounds(name)
    return Column(name, header, low=low, high=high, **told)


@dataclass(frozen=True, slots=True)
class Options:
    """What a reader may set; a report has the usual ones."""

    margin: float = MARGIN  # equivalence margin in percent
    bare: bool = False  # hold a word against the caption without it instead of the neutral one closest in length
    family: str | None = None  # of the questions that are of one family: which; None: their first
    reference: str | None = None  # corpus whose direction is held against the others; None: that of the table
    # of the comparisons of a right and a wrong side, only those whose wrong side is known to be wrong
    known: bool = False
    least: int = LEAST_N  # items below which a cell of several factors is not looked at; LEAST_N or more


def _nothing(table: ScoreTable) -> str:
    return ""


def _silent(frame: pd.DataFrame, margin: float) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure of a question."""

    id: str  # e.g. ``F2``; names its files in a report.
    title: str  # in plain words
    note: str  # how to read it
    # makes the figure of this drawing, the question's frame and a measure of shifts
    make: "Callable[[Drawing, pd.DataFrame, str], Figure]"
    paper: str = ""  # the paper's counterpart
    # why the scores leave no mark of it where they answer its question, as of :class:`Question`
    needs: Callable[[ScoreTable], str] = _nothing
    # the pairs that a mark stands for: field of :class:`core.analysis.slices.Slice` -> the frame's column of its
    # value, or ``=value`` for one that all marks share; ``test`` -> the column of the directional family whose
    # comparisons it stands for. What a column leaves empty is not asked for, and a row that leaves all empty opens
    # nothing. Empty: a mark stands for no set of pairs.
    opens: Mapping[str, str] = field(default_factory=dict, hash=False)

    def figure(self, frame: pd.DataFrame, *, measure: str = "percent") -> Figure:
        """The figure of an answer; ``measure``: of :data:`core.analysis.effects.MEASURES`, where it shows shifts."""
        return self.make(self, frame, measure)

    def drawn(self, frame: pd.DataFrame, axis: str, **look: Any) -> Figure:
        """A figure under this drawing's own words; frame, axis and the rest are as of :class:`Figure`."""
        return Figure(self.id, self.title, self.note, frame, axis, paper=self.paper, **look)


@dataclass(frozen=True, slots=True)
class Question:
    """One question to the scores."""

    id: str  # short and stable, e.g. ``T3``; ``S…`` for what the paper has no number for.
    title: str  # in plain words
    section: str  # of :data:`SECTIONS`
    part: str  # of the section, e.g. a family; what a page shows together.
    note: str  # how to read the table: what a row is, which items, which tests
    columns: tuple[Column, ...]  # of the frame, as they are shown, in order; none where only the figures are
    compute: Callable[[View, Options], pd.DataFrame]  # answers it for the part of the scores that a view keeps
    # why the scores cannot give it, in a sentence that names what to audit or to choose; empty where they can
    needs: Callable[[ScoreTable], str] = _nothing
    figures: tuple[Drawing, ...] = ()  # drawn of the frame
    paper: str = ""  # the paper's counterpart, e.g. ``Table 3``; empty where it has none.
    tests: str = ""  # the family of tests that Holm's correction runs over, in words; empty without one
    # names of what a reader may set that changes the answer or its figure: ``measure`` and fields of :class:`Options`
    asks: tuple[str, ...] = ()
    families: tuple[str, ...] = ()  # those that ``Options.family`` can be, the usual one first
    pick: tuple[str, ...] = ()  # columns of the frame of which a page shows one value at a time
    part_of: str = ""  # the question whose table holds the same rows, or their summary: a report writes its table only
    # whether it reads items and their unedited scores alone, so that the answer is the same whichever edits a slice
    # keeps
    clean: bool = False
    # the answer in a sentence of :func:`compute`'s frame under a margin in percent; empty where there is none
    says: Callable[[pd.DataFrame, float], str] = _silent
    rule: str = ""  # from when on it says so, the margin as ``{0:g}``

    def read(self, chosen: Slice) -> Slice:
        """The part of a slice that can change the answer."""
        return chosen.of_items() if self.clean else chosen

    def family(self, options: Options) -> str:
        """The family that a question of one family is asked for."""
        return options.family if options.family in self.families else self.families[0]
