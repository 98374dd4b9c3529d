"""What the papers compare by name: the only places where a family, a probe, a fact or a table has a number.

A: prompts and edits of images. B: PR-MCS (lexical edits). C: PAC-S++ (suites, captioners). D: robustness probes
(grounding, counts, size, negation, order). E: prototypicality. ``C1`` to ``C29`` are the numbers of the tables and
figures of B to E in a report.
"""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from core.analysis.comparisons import axes
from core.analysis.effects import Group
from core.analysis.questions.columns import EVALUATOR
from core.analysis.questions.question import Question
from core.analysis.table import BASELINE, ScoreTable, View
from core.probes.base import BASE_CAPTION, Axis
from core.probes.words.insertion import PREFIX


@dataclass(frozen=True, slots=True)
class Numbers:
    """Numbers of the directional families of one axis; ``paper``: what the table stands for, then the figure and the
    histograms."""

    table: str
    figure: str
    scores: str
    table_paper: str = ""
    figure_paper: str = ""
    scores_paper: str = ""


AXES: Mapping[str, Numbers] = {
    Axis.LEXICAL.value: Numbers("C3", "C1", "C5", "B, Tables 7–11", "B, Figure 6", "B, Figure 3"),
    Axis.OBJECT.value: Numbers("C-object", "C-object-drops", "C-object-scores", "D, 4.5"),
    Axis.SEMANTIC.value: Numbers("C21", "C21-drops", "C22", "D, 4.4", "", "D, Figure 3"),
}
"""Axes whose families the papers compare; the families of every other axis are numbered by its name."""

SECTIONS = ("Lexical", "Grounding", "Objects", "Language", "Crossings", "Prototypes", "Suites")
LEXICAL, GROUNDING, OBJECTS, LANGUAGE, CROSSED, PROTOTYPES, SUITES = SECTIONS
"""Sections of the matrix, in their order. Source: DIRECTIONAL, section 0.3."""

_SECTION_OF: Mapping[str, str] = {
    **dict.fromkeys(("grounding", "foil", "colour-word", "number-word"), GROUNDING),
    **dict.fromkeys(("mention-absent", "distractor"), OBJECTS),
    **dict.fromkeys(("mention-shuffled", "mention-negated", "size-shuffled", "size-share-shuffled"), CROSSED),
    "prototype": PROTOTYPES,
    **dict.fromkeys(("given", "given-picture"), SUITES),
}
_SECTION_OF_AXIS = {Axis.LEXICAL.value: LEXICAL, Axis.OBJECT.value: OBJECTS}


def section_of(family: str, axis: str) -> str:
    """Section that a directional family stands in: its own, else that of its axis.

    Example:
        >>> section_of("foil", "semantic"), section_of("negation", "semantic")
        ('Grounding', 'Language')
    """
    return _SECTION_OF.get(family) or _SECTION_OF_AXIS.get(axis, LANGUAGE)


TOGETHER = (Axis.LEXICAL.value, "C2", "B, Table 2")  # Axis whose edits a paper averages, and the number of that table

FOIL = "foil"
OF_C = ("hollow-tail", FOIL)  # Directional families that are paper C's, whatever their axis
AXIS_OF_C = Axis.SEMANTIC.value  # Axis of theirs
REWARDS = ("C-rewards", "C, Table 4 and sections 4 to 5.8")  # Table of these families, and what it stands for

LANGUAGES = ("C2-languages", "B, Table 2", ("C2-by-language", "C1-languages"))
"""Table of the same in every language, what it stands for, and its figures: all edits, and the mean of each."""

MEANS, MARGINS, ORDERS = ("C24", "E, Table 2"), ("C25", "E, Table 1"), ("C18", "D, Table 5")
"""Means of both sides, margins of both rankings, orders of several groups: of every family."""

FACTS: Mapping[str, tuple[str, str]] = {"group": ("C16", "D, Tables 1–3"), "domain": ("C23", "E, Figure 2")}
"""Fact of a variant by whose values a paper slices -> number of that table."""

OVERALL = ("C23",)  # Tables by a fact that end with all items together, and with the mean over the values

OTHER_FACTS = ("C28", "E, by knob and attribute")

NESTED = "nested"

RESPONSES: Mapping[str, tuple[str, str]] = {
    "mention": ("C19", "D, Table 6"),
    "size": ("C20", "D, Table 7"),
    NESTED: ("C-nested", "C, 4 to 5.8"),
}
"""Families both of whose sides are true."""

BOTH_ORDERS = ("C21-both", "D, 4.4.1, with its converse")
"""The 2 × 2 of what is there and what is absent, affirmed and denied."""

EXAMPLES = ("C27", "E, Figure 1")

CENTRES = ("small_centre", "large_centre")
"""Facts of the size probes: how far the smaller and the larger object lie from the centre, in half diagonals."""

CROSSINGS = ("C-crossed", "D, 4.5")

SETS, GIVEN = ("C-sets", ""), ("given", "given-picture")
"""Comparisons that must be right together, and the families whose comparisons a corpus gives in sets."""

QUADRUPLE = ("C29", "E, with the control of its confound")

CELLS = ("nonproto_right", "nonproto_wrong", "proto_right", "proto_wrong")
"""Pictures of one text: what is shown is no prototype of its kind or one, the detail that the text names is right or
wrong. A probe says by the fact ROLE, or by the end of its name, which one it shows; the first is the item's own where
none does."""

ROLE = "role"

ELSEWHERE: Mapping[str, tuple[str, str]] = {
    "C6": ("B, Figure 5", "single captions with their edits are under Does it notice?"),
    "C7": ("B, few-shot", "it is of training a metric, and a run trains none"),
    "C8": ("B, training", "it is of training a metric; python -m core train writes its curves"),
    "C13": ("C, Table 6", "it compares captioners, and a run has no captions of theirs"),
    "C14": ("C, caption health", "it is of a captioner's captions, and a run has none"),
    "C15": ("C, Figure 5", "it compares scales of one metric, and a run has one of each"),
    "C26": (
        "E, Figure 4",
        "agreement of every two annotators is of a study; where one is reported it is "
        "S-human-kappa, and People draws it",
    ),
}
"""Number of what the papers show and a run cannot give -> what it is there, and why."""


FLIP = "vertical-flip"  # Tables 3 and 9, figure 2

CORNERS = ("reposition-TL", "reposition-BR")
"""Tables 2 and 4, figure 3: the same object at the top left, and at the bottom right."""

HARD_CORNERS = ("reposition-hard-TL", "reposition-hard-BR")
"""Table 2, last line: the same places, cut hard instead of feathered."""

OTHER_WAYS: Mapping[str, tuple[str, ...]] = {
    "hard": HARD_CORNERS,
    "telea": ("reposition-telea-TL", "reposition-telea-BR"),
    "true": ("reposition-true-TL", "reposition-true-BR"),
}
"""The same places made another way: cut hard (table 2), filled smoothly, and on what is truly behind the object."""

SMALL_TURNS = ("rotate-10", "rotate+10")  # Table 4, figure 4


@dataclass(frozen=True, slots=True)
class Contrast:
    """What the paper compares under one name."""

    label: str  # names its rows
    family: str  # that its probes are of
    probes: tuple[str, ...]  # that are edited; an item counts the median over those that are here
    against: str = ""  # probe that each is compared with, which must be here too; empty for its own baseline


_CULTURAL = ("American", "European", "Asian", "Russian", "Arab", "African", "Oceanian")

CONTRASTS = (
    Contrast("vertical flip", FLIP, ("vflip",)),
    Contrast("bottom right vs top left", "reposition", CORNERS[1:], CORNERS[0]),
    Contrast("rotation by ±10°", "rotation", SMALL_TURNS),
    Contrast("cultural vs neutral", "cultural", tuple(f"cultural:{word}" for word in _CULTURAL)),
    Contrast("cheap, expensive vs neutral", "economic", ("economic:cheap", "economic:expensive")),
)
"""Columns of tables 13 and 16 and of figure 11; the second and third are the rows of table 4. Table 13 prints no list
of words: those of tables 7 and 8 are taken."""

DISTANCE = "distance"  # Appendix A.4: a grid of places, each probe named by its radius, 1 at the edge; drawn as a curve

PERSON = "person"
"""Category whose items are left out of economic words, and told apart for the other words. Source: section 5.3."""

THINGS_ONLY = ("economic",)  # Families of words that are said of things


@dataclass(frozen=True, slots=True)
class WordNumbers:
    """Numbers of a family of words: table, figure and factor tests, with their counterparts in the paper."""

    table: str
    figure: str
    levels: str
    table_paper: str = ""
    figure_paper: str = ""


WORDS: Mapping[str, WordNumbers] = {
    "cultural": WordNumbers("T7", "F7", "S6", "Table 7", "Figure 7"),
    "economic": WordNumbers("T8", "F8", "S7", "Table 8", "Figure 8"),
    "gender": WordNumbers("S4", "F14", "S8", "", "Figure 14"),
    "emotion": WordNumbers("S5", "F15", "S9", "", "Figure 15"),
}
"""Families of words that the paper shows, in its order; every other family is numbered by its name."""

PLACE_LEVELS: Mapping[str, str] = {"reposition": "S2"}
"""Families of images whose probes the paper compares (B.1), and the number of that table."""

SUBSETS: Mapping[str, tuple[str, ...]] = {
    FLIP: ("vflip",),
    "cultural": tuple(f"cultural:{word}" for word in ("American", "European", "Asian", "African")),
    "economic": ("economic:cheap", "economic:expensive"),
}
"""Tables 9 to 12: probes that are averaged an item, corpus by corpus."""


def subset(family: str, there: Container[str]) -> tuple[str, ...]:
    """The probes of a subset under the caption that is held: words of the template, else the same in people's captions;
    ``there``: names of the probes that were scored; a caption holds one of both constructions."""
    template = SUBSETS[family]
    inserted = tuple(f"{PREFIX}{name}" for name in template)
    return inserted if any(name in there for name in inserted) else template


SUBSET_LABELS: Mapping[str, str] = {FLIP: "vertical flip", "cultural": "cultural subset", "economic": "economic subset"}
"""What the subsets are called beside whole families."""


CONTRAST, FAMILY, BOTH = "paper’s contrast", "whole family", "contrast and whole family"  # What a row is of


@dataclass(frozen=True, slots=True, eq=False)
class Named:
    """A group of probes with what it is."""

    group: Group  # its label, probes and what they are compared with
    of: str  # CONTRAST, FAMILY, or BOTH where the contrast takes every plain probe of its family
    family: str  # that the probes are of
    items: np.ndarray  # that it is said of, bool [N]


def named_groups(view: View, *, controls: Sequence[str] = ()) -> list[Named]:
    """The contrasts that a view keeps, in the paper's order, then every family that is not one of them; ``controls``:
    axes whose families of controls stay: the null axis is a noise floor."""
    table, families = view.table, view.families()
    found, same = list[Named](), set[str]()
    for contrast in CONTRASTS:
        if (group := contrast_group(view, contrast)) is not None:
            items, plain = shown(view, contrast.family), set(families.get(contrast.family, ()))
            whole = group.against == BASELINE and set(group.probes) == plain and np.array_equal(items, view.items)
            same |= {contrast.family} if whole else set()
            found.append(Named(group, BOTH if whole else CONTRAST, contrast.family, items))
    return found + [
        Named(Group(name, probes), FAMILY, name, view.items)
        for name, probes in families.items()
        if name not in same and name != BASE_CAPTION and (not table.is_control(name) or table.axis_of(name) in controls)
    ]


def contrast_group(view: View, contrast: Contrast, *, tests: str = "", shown: bool = True) -> Group | None:
    """The probes of a contrast that a view keeps; None where it keeps none, or not what they are compared with."""
    here = view.probes([name for name in (*contrast.probes, contrast.against) if name in view.table.probes.index])
    probes = tuple(name for name in contrast.probes if name in here)
    if not probes or (contrast.against and contrast.against not in here):
        return None
    return Group(contrast.label, probes, contrast.against or BASELINE, tests, shown)


def shown(view: View, family: str) -> np.ndarray:
    """Items that a family is said of, bool [N]: some words are said of things only."""
    if family not in THINGS_ONLY:
        return np.asarray(view.items)
    return np.asarray(view.items & (view.table.items["category"].fillna("") != PERSON).to_numpy())


def without(table: ScoreTable) -> str:
    """Name the contrasts that no score here is of, as the end of a note; empty where all are here."""
    absent = [each.label for each in CONTRASTS if contrast_group(table.view(), each) is None]
    return f" Left out, for no score here is of it: {'; '.join(absent)}." if absent else ""


def of_no_run(table: ScoreTable) -> tuple[Question, ...]:
    """One for each of these, where the runs have a directional probe at all."""

    def never_here(id_: str, paper: str, why: str) -> Question:
        of = (id_, paper, "contrast", "elsewhere", why, (EVALUATOR,))
        return Question(*of, lambda *_: pd.DataFrame(columns=["evaluator"]), lambda _: why, paper=paper)

    return tuple(never_here(id_, *about) for id_, about in ELSEWHERE.items()) if axes(table) else ()
