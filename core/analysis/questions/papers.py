"""What papers B to E compare by name: the only places where a directional family or a fact has a number.

B: PR-MCS (lexical edits). C: PAC-S++ (suites, captioners). D: robustness probes (grounding, counts, size, negation,
order). E: prototypicality. ``C1`` to ``C29`` are the numbers of their tables and figures in a report.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from core.probes.base import Axis


@dataclass(frozen=True, slots=True)
class Numbers:
    """Numbers of the directional families of one axis.

    Args:
        table: of what every edit does.
        figure: of the drops.
        scores: of the histograms of both sides.
        paper: what the table stands for, then the figure and the histograms.
    """

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

LEXICAL, GROUNDING, OBJECTS, LANGUAGE, CROSSED, PROTOTYPES, SUITES = SECTIONS = (
    "Lexical", "Grounding", "Objects", "Language", "Crossings", "Prototypes", "Suites",
)  # fmt: skip
"""Sections of the matrix, in their order. Source: DIRECTIONAL, section 0.3."""

_SECTION_OF: Mapping[str, str] = {
    **dict.fromkeys(("grounding", "foil", "colour-word", "number-word"), GROUNDING),
    **dict.fromkeys(("mention-absent", "distractor"), OBJECTS),
    **dict.fromkeys(("mention-shuffled", "mention-negated", "size-shuffled", "size-share-shuffled"), CROSSED),
    "prototype": PROTOTYPES, **dict.fromkeys(("given", "given-picture"), SUITES),
}  # fmt: skip
_SECTION_OF_AXIS = {Axis.LEXICAL.value: LEXICAL, Axis.OBJECT.value: OBJECTS}


def section_of(family: str, axis: str) -> str:
    """Section that a directional family stands in: its own, else that of its axis.

    Example:
        >>> section_of("foil", "semantic"), section_of("negation", "semantic")
        ('Grounding', 'Language')
    """
    return _SECTION_OF.get(family) or _SECTION_OF_AXIS.get(axis, LANGUAGE)


TOGETHER = (Axis.LEXICAL.value, "C2", "B, Table 2")
"""Axis whose edits a paper averages, and the number of that table."""

FOIL = "foil"
OF_C = ("hollow-tail", FOIL)
"""Directional families that are paper C's, whatever their axis."""

AXIS_OF_C = Axis.SEMANTIC.value
"""Axis of theirs."""

REWARDS = ("C-rewards", "C, Table 4 and sections 4 to 5.8")
"""Table of these families, and what it stands for."""

LANGUAGES = ("C2-languages", "B, Table 2", ("C2-by-language", "C1-languages"))
"""Table of the same in every language, what it stands for, and its figures: all edits, and the mean of each."""

MEANS, MARGINS, ORDERS = ("C24", "E, Table 2"), ("C25", "E, Table 1"), ("C18", "D, Table 5")
"""Means of both sides, margins of both rankings, orders of several groups: of every family."""

FACTS: Mapping[str, tuple[str, str]] = {"group": ("C16", "D, Tables 1–3"), "domain": ("C23", "E, Figure 2")}
"""Fact of a variant by whose values a paper slices -> number of that table."""

OVERALL = ("C23",)
"""Tables by a fact that end with all items together, and with the mean over the values."""

OTHER_FACTS = ("C28", "E, by knob and attribute")

NESTED = "nested"

RESPONSES: Mapping[str, tuple[str, str]] = {
    "mention": ("C19", "D, Table 6"), "size": ("C20", "D, Table 7"), NESTED: ("C-nested", "C, 4 to 5.8"),
}  # fmt: skip
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
    "C6": ("B, Figure 5", "single captions with their edits are on the page Contrast tests"),
    "C7": ("B, few-shot", "it is of training a metric, and a run trains none"),
    "C8": ("B, training", "it is of training a metric; python -m core train writes its curves"),
    "C13": ("C, Table 6", "it compares captioners, and a run holds no captions of theirs"),
    "C14": ("C, caption health", "it is of a captioner's captions, and a run holds none"),
    "C15": ("C, Figure 5", "it compares scales of one metric, and a run holds one of each"),
    "C26": ("E, Figure 4", "agreement of every two annotators is of a study; where one is reported it is "
            "S-human-kappa, and the page Human validation draws it"),
}  # fmt: skip
"""Number of what the papers show and a run cannot give -> what it is there, and why."""
