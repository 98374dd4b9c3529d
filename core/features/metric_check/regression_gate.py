"""A metric held against what it did before, item by item: which families got worse, and what could have been caught.

A family of harmless edits is worse where it moves items further, one of broken meanings where the score drops less, and
the clean score where it falls. A family fails where the mean over its items is worse by more than its allowance for
noise: Student's quantile times the standard error of that mean, of the differences themselves, by source
(:func:`core.statistics.mixed_model.mean_by_source`, and the second source by
:func:`core.statistics.crossed_sources.widening`). The quantile is that of LEVEL over the number of families, so that
an unchanged metric, however noisy, fails a whole gate with about that probability.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from scipy.special import ndtri, stdtrit

import core
from core.corpora.ordinary_paths import ordinary
from core.corpora.versioned_files import read_versioned
from core.errors import InvalidInput
from core.features.lab.lab import LabRow
from core.features.metric_check.judged_families import grid
from core.probes.base import IDENTITY, Expectation, Probe
from core.seeds import RUN_SEED
from core.statistics.bootstrap import LEAST_N, too_few
from core.statistics.changes import item_medians
from core.statistics.crossed_sources import first_of, numbered, widening
from core.statistics.mixed_model import mean_by_source

CLEAN = "clean score"  # the line of unedited pairs, beside the families

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
    evaluator: Name  # evaluator, fingerprint: whose scores, and the key of what they depend on
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
        own = [row for item in rows for row in item if row.family == family]
        names = sorted({row.probe for row in own})
        below = any(row.baseline_score is not None and row.baseline_score < 0 for row in own)
        percent = np.full((len(names), len(rows)), np.nan) if below else grid(names, rows, lambda row: row.percent)
        shift, size = (
            tuple(None if np.isnan(value) else float(value) for value in item_medians(each))
            for each in (percent, np.abs(percent))
        )
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


LEVEL = 0.001  # probability with which an unchanged metric may fail a whole gate
CAUGHT = 0.95  # probability with which the smallest fall that is told would be caught
SHARE = 1 / 3  # share of the items of the second fall that is told

TOLERANCE = 0.001
"""Points that count as none: a hundredth of a thousandth of a score, as in the promise of order and batches."""


@dataclass(frozen=True, slots=True)
class FamilyGate:
    """One family beside the baseline, in percentage points; of the clean score, percent of its mean before."""

    family: str
    directional: bool
    worse: float  # mean over items of how much worse each is; NaN where no item has two numbers
    allowance: float  # that it may be worse by, of noise alone; NaN where there are too few items for one
    low: float  # lower bound of what it is worse by at least, at the level of the gate; NaN likewise
    n: int  # n, sources: items with two numbers, and their sources
    sources: int
    smallest: float  # mean fall of every item alike that is caught with probability CAUGHT; NaN likewise
    smallest_of_some: float  # fall of a third of the items alone; NaN also where none, however large, is caught so
    # id of the item that got worse most, before and after: in percent, or of the clean score, in its unit
    worst: tuple[str, float, float] | None
    note: str  # why there is no allowance; empty otherwise

    @property
    def failed(self) -> bool:
        """Whether it is worse by more than its allowance."""
        return self.worse > self.allowance

    def sentence(self) -> str:
        """By how much it got worse, how surely, and the worst item."""
        what = {True: "the score drops less where the meaning breaks, by", False: "the score moves further, by"}
        said = "the score itself fell by" if self.family == CLEAN else what[self.directional]
        unit = "%" if self.family == CLEAN else "points"
        told = (
            f"{self.family}: {said} {self.worse:.3g} {unit} in the mean of {self.n} items, by at least {self.low:.3g} "
            f"at a level of {100 * LEVEL:g} % over all families; noise alone is allowed {self.allowance:.3g}"
        )
        if self.worst is None:
            return told
        of, before, after = self.worst
        sign = "" if self.family == CLEAN else " %"
        return f"{told}; worst item {of}: {before:.3g}{sign} before, {after:.3g}{sign} now"


@dataclass(frozen=True, slots=True)
class Gate:
    """Every family beside the baseline, the furthest worse first."""

    families: tuple[FamilyGate, ...]  # a line each
    items: int  # that both hold
    left_out: tuple[str, ...]  # sentences on what only one of them holds, or was made with
    seed: int  # of the probes' random streams

    @property
    def failed(self) -> tuple[FamilyGate, ...]:
        """Families that got worse."""
        return tuple(each for each in self.families if each.failed)

    def as_dict(self) -> dict[str, Any]:
        """Plain dictionary for JSON."""
        families = [{**asdict(each), "failed": each.failed} for each in self.families]
        told = {"passed": not self.failed, "level": LEVEL, "caught": CAUGHT, "seed": self.seed, "items": self.items}
        return {**told, "left_out": list(self.left_out), "families": families}


def gate(before: MetricBaseline, now: MetricBaseline, *, common: bool = False) -> Gate:
    """Hold a check against a baseline; ``common``: over the items and families that both hold, whatever else differs.
    Raises InvalidInput if they differ in items, probes, version, fingerprint or seed and ``common`` is not asked for,
    or have no item in common, one sentence."""
    differences = _differences(before, now)
    if differences and not common:
        raise InvalidInput(
            f"the baseline cannot be held against this check: {'; '.join(differences)}; save it anew, or compare over "
            "what both hold with --common"
        )
    places = {item: place for place, item in enumerate(before.items)}
    shared = [(places[item], place) for place, item in enumerate(now.items) if item in places]
    if not shared:
        raise InvalidInput("the baseline and this check have no item in common; save the baseline anew")
    one, other = np.array(shared).T
    groups = numbered(*(np.array([now.sources[place][side] for place in other]) for side in (0, 1)))
    names = [now.items[place][0] for place in other]
    pairs = {CLEAN: (False, numbers_of(before.clean)[one], numbers_of(now.clean)[other])}
    for name, own in now.families.items():
        past, of = before.families.get(name), "shift" if own.directional else "size"
        if past is not None and past.probes == own.probes:
            sides = numbers_of(getattr(past, of))[one], numbers_of(getattr(own, of))[other]
            pairs[name] = (own.directional, *sides)
    return Gate(held_to(pairs, names, groups), len(shared), tuple(differences), now.seed)


def held_to(
    pairs: Mapping[str, tuple[bool, np.ndarray, np.ndarray]], names: Sequence[str], groups: np.ndarray
) -> tuple[FamilyGate, ...]:
    """Every family (-> whether it is directional, its items' numbers before and now, float64 [n], NaN without one)
    beside what it was, the furthest worse first; ``groups``: sources of the items, int [n] or [n, 2]."""
    worse = {name: _worse(name, before, now) for name, (_, before, now) in pairs.items()}
    judged = sum(bool((~np.isnan(each)).any()) for each in worse.values())
    level = 1 - 2 * LEVEL / max(judged, 1)
    found = []
    for name, (directional, before, now) in pairs.items():
        there = np.flatnonzero(~np.isnan(worse[name]))
        apart, own = worse[name][there], groups[there]
        n, ranks = len(apart), np.unique(first_of(own), return_inverse=True)[1]
        sources = int(ranks.max(initial=-1)) + 1
        mean = float(apart.mean()) if n else math.nan
        worst = None
        if n and apart.max() > 0:
            place = int(there[apart.argmax()])
            worst = (names[place], float(before[place]), float(now[place]))
        note = "no item has two numbers" if not n else too_few(n, sources, least=LEAST_N)
        allowance = low = smallest = some = math.nan
        if not note:
            bound = mean_by_source(apart, ranks, about=mean, level=level)
            half = 0.0 if math.isnan(bound.low) else (bound.high - mean) * widening(apart - mean, own, level=level)
            allowance, low = max(half, TOLERANCE), mean - half
            smallest, some = _smallest(half, apart, sources, level)
        found.append(FamilyGate(name, directional, mean, allowance, low, n, sources, smallest, some, worst, note))
    return tuple(sorted(found, key=lambda each: (not each.failed, -each.worse if each.n else math.inf)))


def _worse(name: str, before: np.ndarray, now: np.ndarray) -> np.ndarray:
    """How much worse each item is: of the clean score its fall in percent of the mean; of edits the number rises.

    One mean divides all falls: a ratio for each item would be drawn off by the noise of what it is divided by.
    """
    apart = now - before
    if name == CLEAN:
        scale = np.abs(before[~np.isnan(apart)]).mean() if (~np.isnan(apart)).any() else 0.0
        apart = -100 * apart / scale if scale > 0 else np.full(len(apart), np.nan)
    return np.asarray(np.where(np.abs(apart) <= TOLERANCE, 0.0, apart))


def _smallest(half: float, apart: np.ndarray, sources: int, level: float) -> tuple[float, float]:
    """Smallest fall of every item, and of a share of them, that is caught with probability CAUGHT.

    A fall y of a share p of the items, whichever, moves the mean by py and adds y²p(1 - p) to the items' variance s².
    It is caught where py exceeds M √(variance / n), M being what the allowance and the power come to in such units now,
    sources with it: a square equation in y.
    """
    quantile, power = float(stdtrit(sources - 1, (1 + level) / 2)), float(ndtri(CAUGHT))
    every, alone = half * (1 + power / quantile), float(apart.std(ddof=1)) / math.sqrt(len(apart))
    times = every / alone if alone > 0 else quantile + power
    room = SHARE**2 - times**2 * SHARE * (1 - SHARE) / len(apart)
    every = max(every, TOLERANCE)
    return every, (every / math.sqrt(room) if room > 0 else math.nan)


def _differences(before: MetricBaseline, now: MetricBaseline) -> list[str]:
    said = [
        f"its {what} is {was} and here {here}"
        for what, was, here in (
            ("version", before.invariscope, now.invariscope),
            ("evaluator", before.evaluator, now.evaluator),
            ("fingerprint", before.fingerprint, now.fingerprint),
            ("seed", before.seed, now.seed),
        )
        if was != here
    ]
    gone, new = len({*before.items} - {*now.items}), len({*now.items} - {*before.items})
    if gone or new:
        said.append(f"{gone} of its {len(before.items)} items are not here and {new} here are not in it")
    one, other = ({(name, own.probes) for name, own in each.families.items()} for each in (before, now))
    others = sorted({name for name, _ in one ^ other})
    return [*said, f"the probes of {', '.join(others)} differ"] if others else said
