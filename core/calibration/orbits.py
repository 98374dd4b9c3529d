"""Scores of one evaluator as arrays: clean ones, and those of every family's variants with their baselines."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import compress

import numpy as np

from core.analysis.table import View
from core.errors import InvalidInput
from core.seeds import RUN_SEED


@dataclass(frozen=True, slots=True)
class Family:
    """Scores of one family, one row a probe, one column an item.

    Args:
        axis: axis of the family.
        probes: names, k of them.
        scores: S(x_t), float64 [k, n]; NaN where missing.
        baselines: score that each is compared with, float64 [k, n]: the clean one, or a neutral caption's.
    """

    axis: str
    probes: tuple[str, ...]
    scores: np.ndarray
    baselines: np.ndarray

    @property
    def shifts(self) -> np.ndarray:
        """Score minus baseline, float64 [k, n]."""
        return np.asarray(self.scores - self.baselines)


@dataclass(frozen=True, slots=True)
class Orbits:
    """All scores of one evaluator.

    Args:
        evaluator: its name.
        items: (corpus, item) of each column, n of them.
        clean: S(x) of the unedited image with its caption, float64 [n]; NaN where missing.
        families: by name, in the order of the names.
        sources: number of what each item was made of, int [n]: items of one source are resampled together; None: each
            is one of its own.
    """

    evaluator: str
    items: tuple[tuple[str, str], ...]
    clean: np.ndarray
    families: Mapping[str, Family]
    sources: np.ndarray | None = None

    def part(self, chosen: np.ndarray) -> "Orbits":
        """The items that are chosen, bool [n]."""
        families = {
            name: Family(family.axis, family.probes, family.scores[:, chosen], family.baselines[:, chosen])
            for name, family in self.families.items()
        }
        items = tuple(compress(self.items, chosen.tolist()))
        sources = None if self.sources is None else self.sources[chosen]
        return Orbits(self.evaluator, items, self.clean[chosen], families, sources)


def orbits(view: View, evaluator: str) -> Orbits:
    """Scores of one evaluator over the items of a view; controls and null edits, the noise floor, are left out.

    Raises:
        InvalidInput: if no shift of the evaluator is left.
    """
    own, table = view.of(evaluator), view.table
    families = {}
    for name, probes in own.families().items():
        if table.is_control(name):
            continue
        _, stored = own.shifts(evaluator, probes)
        if stored[:, view.items].any():
            before = table.before(evaluator, probes)
            after = np.where(stored, table.after(evaluator, probes), np.nan)
            families[name] = Family(table.axis_of(name), probes, after, before)
    if not families:
        raise InvalidInput(f"no shift of evaluator {evaluator!r} is here; audit some invariant probes with it first")
    return Orbits(evaluator, table.names, table.clean(evaluator), families, table.sources).part(view.items)


def dev_split(sources: Sequence[str], *, share: float = 0.5, seed: int = RUN_SEED) -> np.ndarray:
    """Mark the dev items, bool [n]; the same source is on the same side in every corpus, run and order.

    Args:
        sources: identity of what each item was made of, e.g. the hash of its image.
        share: of the sources that fall on the dev side, in (0, 1).
        seed: other seeds give other splits.

    Raises:
        InvalidInput: if share is out of range.
    """
    if not 0 < share < 1:
        raise InvalidInput(f"share must lie in (0, 1), got {share!r}")
    side = {source: _uniform(f"{seed}\x1f{source}") < share for source in set(sources)}
    return np.array([side[source] for source in sources], dtype=bool)


@lru_cache(maxsize=65_536)  # every slice of a corpus splits the same sources
def _uniform(text: str) -> float:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") / 2**64
