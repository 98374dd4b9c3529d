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

TOGETHER = (Axis.LEXICAL.value, "C2", "B, Table 2")
"""Axis whose edits a paper averages, and the number of that table."""

MEANS, MARGINS, ORDERS = ("C24", "E, Table 2"), ("C25", "E, Table 1"), ("C18", "D, Table 5")
"""Means of both sides, margins of both rankings, orders of several groups: of every family."""

FACTS: Mapping[str, tuple[str, str]] = {"group": ("C16", "D, Tables 1–3"), "domain": ("C23", "E, Figure 2")}
"""Fact of a variant by whose values a paper slices -> number of that table."""

OTHER_FACTS = ("C28", "E, by knob and attribute")

RESPONSES: Mapping[str, tuple[str, str]] = {"mention": ("C19", "D, Table 6"), "size": ("C20", "D, Table 7")}
"""Families both of whose sides are true."""

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
    "C4": ("B, Tables 3, 4 and 6", "agreement with people's ratings is of a suite, and a run holds none; "
           "python -m core suite measures it"),
    "C6": ("B, Figure 5", "single captions with their edits are on the page Contrast tests"),
    "C7": ("B, few-shot", "it is of training a metric, and a run trains none"),
    "C8": ("B, training", "it is of training a metric; python -m core train writes its curves"),
    "C9": ("C, Tables 1, 5 and 8", "agreement with people's ratings is of a suite, and a run holds none; "
           "python -m core suite measures it"),
    "C10": ("C, Table 3", "it is of a suite of preferences, and a run holds none; python -m core suite measures it"),
    "C11": ("C, Table 4", "it is of the suite FOIL; python -m core suite measures it"),
    "C12": ("C, Table 2", "it is of videos, and a run holds pictures"),
    "C13": ("C, Table 6", "it compares captioners, and a run holds no captions of theirs"),
    "C14": ("C, caption health", "it is of a captioner's captions, and a run holds none"),
    "C15": ("C, Figure 5", "it compares scales of one metric, and a run holds one of each"),
    "C26": ("E, Figure 4", "agreement of every two annotators is of a study; where one is reported it is "
            "S-human-kappa, and the page Human validation draws it"),
    "C17": ("D, Table 4", "it counts the tokens that two captions share, which no table here does; python -m core "
            "audit --corpus pairs reads such a file and gives its failures"),
}  # fmt: skip
"""Number of what the papers show and a run cannot give -> what it is there, and why."""
