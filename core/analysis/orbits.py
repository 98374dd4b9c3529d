"""Scores of one evaluator as arrays: clean ones, and those of every family's variants with their baselines."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from core.errors import InvalidInput
from core.evaluators.score_arithmetic import row_medians as row_medians
from core.probes.base import IDENTITY
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
        return self.scores - self.baselines


@dataclass(frozen=True, slots=True)
class Orbits:
    """All scores of one evaluator.

    Args:
        evaluator: its name.
        items: (corpus, item) of each column, n of them.
        clean: S(x) of the unedited image with its caption, float64 [n]; NaN where missing.
        families: by name, in the order of the names.
    """

    evaluator: str
    items: tuple[tuple[str, str], ...]
    clean: np.ndarray
    families: Mapping[str, Family]

    def part(self, chosen: np.ndarray) -> "Orbits":
        """The items that are chosen, bool [n]."""
        families = {
            name: Family(family.axis, family.probes, family.scores[:, chosen], family.baselines[:, chosen])
            for name, family in self.families.items()
        }
        items = tuple(item for item, keep in zip(self.items, chosen, strict=True) if keep)
        return Orbits(self.evaluator, items, self.clean[chosen], families)


def orbits(shifts: pd.DataFrame) -> dict[str, Orbits]:
    """Arrange the rows of several evaluators over the same items in the same order.

    Args:
        shifts: rows of the store's ``shifts`` view whose expectation is ``invariant`` and which are no
            controls; needs evaluator, corpus, item, axis, family, probe, subject, baseline, score,
            baseline_score. The clean score is the baseline_score of rows with baseline ``identity``.

    Returns:
        By evaluator. An item that an evaluator lacks is NaN there.

    Raises:
        InvalidInput: if the rows hold two subjects (an item would have two clean scores), or one probe twice
            for an item, as two runs of one corpus give.
    """
    subjects = sorted(map(str, shifts["subject"].unique()))
    if len(subjects) > 1:
        raise InvalidInput(f"calibration takes one subject at a time, got {', '.join(subjects)}; filter the rows")
    twice = shifts.duplicated(["evaluator", "corpus", "item", "probe"])
    if twice.any():
        row = shifts[twice].iloc[0]
        raise InvalidInput(
            f"probe {row['probe']} of item {row['item']} ({row['corpus']}) is there twice; choose one run of a corpus"
        )
    index = pd.MultiIndex.from_frame(shifts[["corpus", "item"]].drop_duplicates().sort_values(["corpus", "item"]))
    return {
        str(name): _orbits(str(name), rows, index)
        for name, rows in shifts.groupby("evaluator", sort=True, observed=True)
    }


def dev_split(images: Sequence[str], *, share: float = 0.5, seed: int = RUN_SEED) -> np.ndarray:
    """Mark the dev items, bool [n]; the same image is on the same side in every corpus, run and order.

    Args:
        images: identity of each item's image, e.g. the hash of its pixels.
        share: of the images that fall on the dev side, in (0, 1).
        seed: other seeds give other splits.

    Raises:
        InvalidInput: if share is out of range.
    """
    if not 0 < share < 1:
        raise InvalidInput(f"share must lie in (0, 1), got {share!r}")
    side = {image: _uniform(f"{seed}\x1f{image}") < share for image in set(images)}
    return np.array([side[image] for image in images], dtype=bool)


def _orbits(evaluator: str, rows: pd.DataFrame, index: pd.MultiIndex) -> Orbits:
    clean = rows[rows["baseline"] == IDENTITY].groupby(["corpus", "item"], observed=True)["baseline_score"].first()
    families = {str(name): _family(group, index) for name, group in rows.groupby("family", sort=True, observed=True)}
    items = tuple((str(corpus), str(item)) for corpus, item in index)
    return Orbits(evaluator, items, clean.reindex(index).to_numpy(np.float64), families)


def _family(rows: pd.DataFrame, index: pd.MultiIndex) -> Family:
    tables = [
        rows.pivot(index=["corpus", "item"], columns="probe", values=column).reindex(index)  # noqa: PD010 one row a cell
        for column in ("score", "baseline_score")
    ]
    scores, baselines = (np.ascontiguousarray(table.to_numpy(np.float64).T) for table in tables)
    return Family(str(rows["axis"].iloc[0]), tuple(map(str, tables[0].columns)), scores, baselines)


def _uniform(text: str) -> float:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") / 2**64
