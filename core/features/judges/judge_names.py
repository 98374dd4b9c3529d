"""The names of judges: model, rubric and variant, whether asked here or in a batch."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from core.analysis.table import ScoreTable
from core.evaluators.imported import IMPORTED
from core.evaluators.network.rubrics import MARK

PREFIX = "judge:"


class Variant(NamedTuple):
    """A judge asked in another way, and the same one asked as usual."""

    # name, base: of evaluators
    name: str
    base: str
    way: str  # what differs, e.g. ``scale-5``.

    @property
    def repeats(self) -> bool:
        """Whether it is the very same question again."""
        return self.way.startswith("repeat-")


def variants(table: ScoreTable) -> Iterator[Variant]:
    """Judges of a table that are asked in another way than one that is there too."""
    for name in table.evaluators:
        plain, imported = (name.removesuffix(IMPORTED), IMPORTED if name.endswith(IMPORTED) else "")
        base, mark, way = plain.rpartition(MARK)
        if name.startswith(PREFIX) and mark and f"{base}{imported}" in table.evaluators:
            yield Variant(name, f"{base}{imported}", way)


def asked_as_usual(table: ScoreTable) -> tuple[str, ...]:
    """Judges of a table that are no variants."""
    judges = (name for name in table.evaluators if name.startswith((PREFIX, "judge-")) or name == "judge")
    return tuple(name for name in judges if MARK not in name)


def scale(table: ScoreTable, name: str) -> tuple[float, float]:
    """Lowest score of an evaluator, and from there to its highest; NaN where no run tells it, or runs do not agree."""
    known = table.about.get("evaluators", pd.DataFrame(columns=["evaluator", "lowest"]))
    found = known.loc[known["evaluator"] == name, "lowest"].unique()
    return (float(found[0]) if len(found) == 1 else np.nan), table.span(name)
