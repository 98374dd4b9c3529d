"""The paper's contrasts as groups of probes, and the whole families beside them: what tables 4, 13 and 16 are of."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.analysis.effects import Group
from core.analysis.questions import paper
from core.analysis.table import BASELINE, ScoreTable, View
from core.probes.base import BASE_CAPTION

CONTRAST, FAMILY, BOTH = "paper’s contrast", "whole family", "contrast and whole family"
"""What a row is of."""


@dataclass(frozen=True, slots=True, eq=False)
class Named:
    """A group of probes with what it is.

    Args:
        group: its label, probes and what they are compared with.
        of: CONTRAST, FAMILY, or BOTH where the contrast takes every plain probe of its family.
        family: that the probes are of.
        items: that it is said of, bool [N].
    """

    group: Group
    of: str
    family: str
    items: np.ndarray


def named_groups(view: View, *, controls: Sequence[str] = ()) -> list[Named]:
    """The contrasts that a view keeps, in the paper's order, then every family that is not one of them.

    Args:
        view: whose probes.
        controls: axes whose families of controls stay: the null axis is a noise floor.
    """
    table, families = view.table, view.families()
    found, same = list[Named](), set[str]()
    for contrast in paper.CONTRASTS:
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


def contrast_group(view: View, contrast: paper.Contrast, *, tests: str = "", shown: bool = True) -> Group | None:
    """The probes of a contrast that a view keeps; None where it keeps none, or not what they are compared with."""
    wanted = [name for name in (*contrast.probes, contrast.against) if name in view.table.probes.index]
    here = view.probes(wanted)
    probes = tuple(name for name in contrast.probes if name in here)
    if not probes or (contrast.against and contrast.against not in here):
        return None
    return Group(contrast.label, probes, contrast.against or BASELINE, tests, shown)


def shown(view: View, family: str) -> np.ndarray:
    """Items that a family is said of, bool [N]: some words are said of things only."""
    if family not in paper.THINGS_ONLY:
        return np.asarray(view.items)
    return np.asarray(view.items & (view.table.items["category"].fillna("") != paper.PERSON).to_numpy())


def without(table: ScoreTable) -> str:
    """Name the contrasts that no score here is of, as the end of a note; empty where all are here."""
    view = table.view()
    absent = [each.label for each in paper.CONTRASTS if contrast_group(view, each) is None]
    return f" Left out, for no score here is of it: {'; '.join(absent)}." if absent else ""
