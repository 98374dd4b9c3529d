"""What a check found of every item, as a file that a later check is held against."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

import core
from core.corpora.ordinary_paths import ordinary
from core.corpora.versioned_files import read_versioned
from core.errors import InvalidInput
from core.features.lab.lab import LabRow
from core.probes.base import IDENTITY, Expectation, Probe
from core.seeds import RUN_SEED
from core.statistics.changes import item_medians

CLEAN = "clean score"
"""The line of unedited pairs, beside the families."""

Name = Annotated[str, StringConstraints(min_length=1, max_length=300)]
Number = Annotated[float, Field(allow_inf_nan=False)] | None
Numbers = Annotated[tuple[Number, ...], Field(max_length=100_000)]


class FamilyOfItems(BaseModel):
    """What a family does to every item."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    directional: bool  # whether the score must drop
    probes: Annotated[tuple[Name, ...], Field(max_length=10_000)]  # that an item's number is the median over
    shift: Numbers  # median %Δ of every item, in percent; None where it has none
    size: Numbers  # median |%Δ| likewise


class MetricBaseline(BaseModel):
    """A check item by item."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal[1] = 1
    invariscope: Name  # version of whatever wrote it
    # evaluator, fingerprint: whose scores, and the key of what they depend on
    evaluator: Name
    fingerprint: Name
    seed: int  # of the probes' random streams
    # id, digits of the picture's SHA-256 and caption of every item: what tells that it is the same
    items: Annotated[tuple[tuple[str, str, str], ...], Field(max_length=100_000)]
    sources: tuple[tuple[str, str], ...]  # first and second source of every item
    clean: Numbers  # its score unedited; None without one
    families: Mapping[Name, FamilyOfItems]  # by name


def baseline_of(
    evaluator: str,
    fingerprint: str,
    items: Sequence[tuple[str, str, str]],
    sources: Sequence[tuple[str, str]],
    probes: Sequence[Probe],
    rows: Sequence[Sequence[LabRow]],
) -> MetricBaseline:
    """Keep what a check found; ``rows`` of every item, fewer where the metric could not be run."""
    breaks = {probe.family: probe.expectation is Expectation.DIRECTIONAL for probe in probes}
    kept = {}
    for family, directional in {"null": False, **breaks}.items():
        own = [[row for row in item if row.family == family] for item in rows]
        names = sorted({row.probe for item in own for row in item})
        below = any(row.baseline_score is not None and row.baseline_score < 0 for item in own for row in item)
        percent = np.full((len(names), len(own)), np.nan)
        for place, item in enumerate(own):
            for row in item:
                if row.percent is not None and not below:
                    percent[names.index(row.probe), place] = row.percent
        shift, size = (_plain(item_medians(each)) for each in (percent, np.abs(percent)))
        kept[family] = FamilyOfItems(directional=directional, probes=tuple(names), shift=shift, size=size)
    clean = [next((row.baseline_score for row in item if row.baseline == IDENTITY), None) for item in rows]
    return MetricBaseline(
        invariscope=core.__version__,
        evaluator=evaluator,
        fingerprint=fingerprint,
        seed=RUN_SEED,
        items=tuple(items[: len(rows)]),
        sources=tuple(sources[: len(rows)]),
        clean=tuple(clean),
        families=kept,
    )


def _plain(values: np.ndarray) -> tuple[float | None, ...]:
    return tuple(None if np.isnan(value) else float(value) for value in values)


def is_baseline(path: Path) -> bool:
    """Whether a file is one, by its beginning."""
    with ordinary(path).open("rb") as file:
        return file.read(40).replace(b" ", b"").startswith(b'{"format":')


def read_baseline(path: Path) -> MetricBaseline:
    """Read what ``check --save-baseline`` wrote; raises InvalidInput if it is cut off, of a newer version, or no such
    file."""
    found = read_versioned(path, MetricBaseline, called="a baseline of check --save-baseline", anew="save it anew")
    counts = {len(each) for one in found.families.values() for each in (one.shift, one.size)}
    if counts - {len(found.items)} or not len(found.items) == len(found.sources) == len(found.clean) > 0:
        raise InvalidInput(f"{path} does not hold a number for each of its {len(found.items)} items; save it anew")
    return found


def numbers_of(values: Sequence[float | None]) -> np.ndarray:
    """Numbers of a baseline's items, float64 [n], NaN where an item has none."""
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
