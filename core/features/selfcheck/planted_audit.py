"""One audit of the planted evaluators: a corpus through the whole tool, and what it stored of them."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from core.analysis.comparisons import families, pairs
from core.analysis.reading import read_table
from core.analysis.scope import Scope
from core.analysis.table import ScoreTable
from core.audit.plan import make_plan
from core.audit.request import AuditRequest, Choice
from core.audit.run import run_audit
from core.corpora.item_pictures import read_item
from core.corpora.schema import Corpus, Item
from core.errors import BadImage, InvalidInput
from core.evaluators.pool import Pool
from core.evaluators.registry import offered
from core.features.selfcheck.planted import (
    FLIPPED,
    LENGTH,
    NEGATION,
    OTHER,
    PICTURE,
    PLANTED,
    UPRIGHT,
    Known,
    planted_evaluator,
    ways,
)
from core.probes.base import ENGLISH, IDENTITY
from core.store.store import Store

STANDS = {IDENTITY: UPRIGHT, "vflip": FLIPPED, "hflip": OTHER}
"""Probe -> how its picture stands. What falls falls under the first edit of these."""

BROKEN = ("order", "negation")
"""Families of broken meanings whose truth is known of those that read captions."""

TOLERANCE = 1e-12
"""Largest difference, relative, between a score as it was planted and as it came out of the store."""


@dataclass(frozen=True, slots=True)
class Sides:
    """Both sides of the comparisons of a family under one evaluator."""

    evaluator: str  # its planting's ``looks_at``
    family: str
    axis: str
    # right, wrong: scores, float64 [k, N], NaN without one
    right: np.ndarray
    wrong: np.ndarray
    sources: np.ndarray  # of the items, int [N] or [N, 2]


@dataclass(frozen=True, slots=True)
class PlantedAudit:
    """What is resampled."""

    corpus: str  # its name
    # (item, source, second source) of every item whose picture was flipped, by name
    items: tuple[tuple[str, str, str], ...]
    sources: np.ndarray  # numbers of both, int [N] or [N, 2]; each item its own where none share theirs
    # compared, apart: scores that were held against what was planted, and how many of them differ
    compared: int = 0
    apart: int = 0
    sides: tuple[Sides, ...] = ()  # of broken meanings; none where the corpus has no English caption by a person


def audit_planted(corpus: Corpus, *, seed: int, limit: int | None = None) -> PlantedAudit:
    """Audit every planted evaluator over pictures, and hold what was stored against what was planted; raises
    InvalidInput if the corpus is empty, holds no pictures, or no item that can be flipped."""
    items = corpus.items[:limit]
    if not items:
        raise InvalidInput(f"corpus {corpus.name!r} is empty, so nothing can be planted in it; choose another")
    if any(item.frames for item in items):
        raise InvalidInput(f"corpus {corpus.name!r} is of videos, and planted evaluators know pictures; choose another")
    known, ways_of = _known(items)
    kinds = {each.name: planted_evaluator(each, known, seed=str(seed)) for each in PLANTED}
    labelled, told = (
        any(each) for each in zip(*((item.label, item.captions.get(ENGLISH)) for item in items), strict=True)
    )
    subject: Choice = "both" if labelled and told else "template" if labelled else "human"
    request = AuditRequest.of(
        corpus=corpus.name,
        evaluators=tuple(kinds),
        probes=(*(name for name in STANDS if name != IDENTITY), *(BROKEN if told else ())),
        subject=subject,
        limit=limit,
        seed=seed,
        device="cpu",
    )
    with tempfile.TemporaryDirectory(prefix="invariscope-selfcheck-") as folder, offered(kinds.values()):
        run_audit(make_plan(corpus, request), Path(folder), run_id="selfcheck", pool=Pool(device="cpu"))
        with Store.open([Path(folder)]) as store:
            flips = read_table(store, Scope(subject="template" if labelled else "human"))
            words = read_table(store, Scope(subject="human")) if told else None
    return PlantedAudit(
        corpus.name,
        items_of(flips),
        sources_of(flips),
        *_compared(flips, ways_of, str(seed)),
        () if words is None else tuple(_sides(words)),
    )


def items_of(table: ScoreTable) -> tuple[tuple[str, str, str], ...]:
    """(item, source, second source) of every item of a table, by name."""
    names = ("item", "source", "second_source")
    return tuple(sorted(zip(*(map(str, table.items[name]) for name in names), strict=True)))


def sources_of(table: ScoreTable) -> np.ndarray:
    """Numbers of the items' sources, int [N] or [N, 2]; each item its own where none share theirs."""
    return table.clusters(np.arange(len(table.items)))


Ways = Mapping[int, tuple[int, int, int]]
"""How a picture stands after an edit -> what it is known as."""


def _known(items: Sequence[Item]) -> tuple[Known, dict[str, Ways]]:
    """Every picture of a corpus, that can be read, in each way it may stand; and the same by its item's name."""
    known, sources, seen = dict[str, tuple[int, int, int]](), dict[str, int](), dict[str, tuple[int, dict[int, str]]]()
    for item in items:
        try:
            picture = read_item(item)
        except BadImage:
            continue
        seen[item.id] = (sources.setdefault(item.drawn_with(picture.pixels_sha256), len(sources)), ways(picture.pixels))
    for stands in (UPRIGHT, FLIPPED, OTHER):  # a picture that is another one's flip is known as it is
        for place, (source, digests) in enumerate(seen.values()):
            known.setdefault(digests[stands], (place, source, stands))
    return known, {name: {way: known[one] for way, one in digests.items()} for name, (_, digests) in seen.items()}


def _compared(table: ScoreTable, ways_of: Mapping[str, Ways], seed: str) -> tuple[int, int]:
    """Scores of the table that are held against what was planted, and how many of them differ."""
    there = [(place, ways_of[str(name)]) for place, name in enumerate(table.items["item"]) if str(name) in ways_of]
    compared = apart = 0
    for planting in (each for each in PLANTED if each.looks_at == PICTURE):
        for probe, stands in STANDS.items():
            stored = table.after(planting.name, (probe,))[:, [place for place, _ in there]]
            kept = ~np.isnan(stored).all(axis=0)
            if not kept.any():
                continue
            planted = planting.scores(*np.array([each[stands] for _, each in there]).T, seed=seed)
            compared += int(kept.sum())
            apart += int((np.abs(stored[0] - planted) > TOLERANCE * planted)[kept].sum())
    return compared, apart


def _sides(table: ScoreTable) -> Iterator[Sides]:
    view = table.view()
    for name in (LENGTH, NEGATION):
        evaluator = next(each.name for each in PLANTED if each.looks_at == name)
        for family, probes in families(view).items():
            found = pairs(view, evaluator, probes)
            if not np.isnan(found.right + found.wrong).all():
                axis, sources = table.axis_of(family), sources_of(table)
                yield Sides(name, family, axis, found.right, found.wrong, sources)
