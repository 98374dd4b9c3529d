"""What the paper (A) compares by name: the only places where a family, a probe or a table has a number."""

from collections.abc import Container, Mapping
from dataclasses import dataclass

from core.probes.words.own_captions import PREFIX

FLIP = "vertical-flip"
"""Tables 3 and 9, figure 2."""

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

SMALL_TURNS = ("rotate-10", "rotate+10")
"""Table 4, figure 4."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """What the paper compares under one name.

    Args:
        label: names its rows.
        family: that its probes are of.
        probes: that are edited; an item counts the median over those that are here.
        against: probe that each is compared with, which must be here too; empty for its own baseline.
    """

    label: str
    family: str
    probes: tuple[str, ...]
    against: str = ""


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

DISTANCE = "distance"
"""Appendix A.4: a grid of places, each probe named by its radius, 1 at the edge; drawn as a curve."""

PERSON = "person"
"""Category whose items are left out of economic words, and told apart for the other words. Source: section 5.3."""

THINGS_ONLY = ("economic",)
"""Families of words that are said of things."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """Numbers of a family of words: table, figure and factor tests, with their counterparts in the paper."""

    table: str
    figure: str
    levels: str
    table_paper: str = ""
    figure_paper: str = ""


WORDS: Mapping[str, Numbers] = {
    "cultural": Numbers("T7", "F7", "S6", "Table 7", "Figure 7"),
    "economic": Numbers("T8", "F8", "S7", "Table 8", "Figure 8"),
    "gender": Numbers("S4", "F14", "S8", "", "Figure 14"),
    "emotion": Numbers("S5", "F15", "S9", "", "Figure 15"),
}
"""Families of words that the paper shows, in its order; every other family is numbered by its name."""

LEVELS: Mapping[str, str] = {"reposition": "S2"}
"""Families of images whose probes the paper compares (B.1), and the number of that table."""

SUBSETS: Mapping[str, tuple[str, ...]] = {
    FLIP: ("vflip",),
    "cultural": tuple(f"cultural:{word}" for word in ("American", "European", "Asian", "African")),
    "economic": ("economic:cheap", "economic:expensive"),
}
"""Tables 9 to 12: probes that are averaged an item, corpus by corpus."""


def subset(family: str, there: Container[str]) -> tuple[str, ...]:
    """The probes of a subset under the caption that is held: words of the template, else the same in people's captions.

    Args:
        there: names of the probes that were scored; a caption holds one of both constructions.
    """
    template = SUBSETS[family]
    inserted = tuple(f"{PREFIX}{name}" for name in template)
    return inserted if any(name in there for name in inserted) else template


SUBSET_LABELS: Mapping[str, str] = {
    FLIP: "vertical flip",
    "cultural": "cultural subset",
    "economic": "economic subset",
}
"""What the subsets are called beside whole families."""
