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
    evaluator, evaluators = _coded(shifts["evaluator"])
    (corpus, corpora), (item, items) = _coded(shifts["corpus"]), _coded(shifts["item"])
    (family, families), (probe, probes) = _coded(shifts["family"]), _coded(shifts["probe"])
    width = max(len(items), 1)
    pairs, place = _ranked(corpus * width + item)
    _refuse_twice(shifts, (evaluator * max(len(pairs), 1) + place) * max(len(probes), 1) + probe)
    listed = tuple((corpora[pair // width], items[pair % width]) for pair in pairs.tolist())
    columns = _Columns(
        place, probe, probes, family, families, shifts["axis"],
        shifts["score"].to_numpy(np.float64), shifts["baseline_score"].to_numpy(np.float64),
        (shifts["baseline"] == IDENTITY).to_numpy(bool),
    )  # fmt: skip
    return {
        name: _orbits(name, np.flatnonzero(evaluator == code), columns, listed) for code, name in enumerate(evaluators)
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


@dataclass(frozen=True, slots=True)
class _Columns:
    """Rows of every evaluator: numbers for names, a value a row."""

    place: np.ndarray
    probe: np.ndarray
    probes: Sequence[str]
    family: np.ndarray
    families: Sequence[str]
    axis: pd.Series
    score: np.ndarray
    baseline: np.ndarray
    plain: np.ndarray


def _coded(column: pd.Series) -> tuple[np.ndarray, list[str]]:
    """A number for each row's name, and the names in order."""
    codes, found = pd.factorize(column)
    names = np.array(found, dtype=object)
    order = np.argsort(names, kind="stable")
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.arange(len(order))
    return ranks[codes], list(map(str, names[order]))


def _ranked(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The codes that occur, in order, and the rank of each row's."""
    if len(codes) and codes.max() <= 4 * len(codes) + 1_000_000:
        seen = np.bincount(codes) > 0
        return np.flatnonzero(seen), (np.cumsum(seen) - 1)[codes]
    found, ranks = np.unique(codes, return_inverse=True)
    return found, ranks


def _refuse_twice(shifts: pd.DataFrame, keys: np.ndarray) -> None:
    if len(_ranked(keys)[0]) == len(keys):
        return
    row = shifts[pd.Series(keys).duplicated().to_numpy()].iloc[0]
    raise InvalidInput(
        f"probe {row['probe']} of item {row['item']} ({row['corpus']}) is there twice; choose one run of a corpus"
    )


def _orbits(evaluator: str, rows: np.ndarray, columns: _Columns, items: tuple[tuple[str, str], ...]) -> Orbits:
    clean = np.full(len(items), np.nan)
    plain = rows[columns.plain[rows] & ~np.isnan(columns.baseline[rows])][::-1]  # the first row of an item stays
    clean[columns.place[plain]] = columns.baseline[plain]
    family = columns.family[rows]
    families = {columns.families[code]: _family(rows[family == code], columns, len(items))
                for code in np.unique(family).tolist()}  # fmt: skip
    return Orbits(evaluator, items, clean, families)


def _family(rows: np.ndarray, columns: _Columns, n: int) -> Family:
    found, ranks = _ranked(columns.probe[rows])
    tables = []
    for values in (columns.score, columns.baseline):
        table = np.full((len(found), n), np.nan)
        table[ranks, columns.place[rows]] = values[rows]
        tables.append(table)
    names = tuple(columns.probes[code] for code in found.tolist())
    return Family(str(columns.axis.iloc[rows[0]]), names, *tables)


def _uniform(text: str) -> float:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") / 2**64
