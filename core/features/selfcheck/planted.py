"""Planted evaluators: what each of them does to an edit is known, since it was put there.

They are made for a corpus whose pictures they know, and are listed nowhere. An item's score is a level of its own times
noise; where the picture is upside down, those that fall lose a share of it in some sources' items, chosen by the seed.
"""

import hashlib
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from core.analysis.comparisons import families, pairs
from core.analysis.reading import read_table
from core.analysis.scope import Scope
from core.analysis.table import ScoreTable
from core.audit.plan import make_plan
from core.audit.request import AuditRequest, Choice
from core.audit.run import run_audit
from core.corpora.images import check_rgb
from core.corpora.item_pictures import read_item
from core.corpora.schema import Corpus, Item
from core.errors import BadImage, InvalidInput
from core.evaluators.base import Evaluator, EvaluatorSpec, Fingerprint, check_lengths
from core.evaluators.pool import Pool
from core.evaluators.registry import offered
from core.probes.base import ENGLISH, IDENTITY
from core.seeds import stream
from core.store.store import Store

SHARE = 0.3  # share of the sources whose items fall
FALLS = (0.05, 0.1, 0.25)  # what a fall takes of the score of an item that falls
NOISES = (0.02, 0.05, 0.1)  # standard deviation of a score, as a share of its level
LEVELS = (0.3, 0.9)  # lowest and highest level of an item
PICTURE, LENGTH, NEGATION = "picture", "length", "negation"  # what a planted evaluator looks at
UPRIGHT, FLIPPED, OTHER = 0, 1, 2  # how a picture stands: as it is, upside down, the other way round

DENIAL = re.compile(r"\b(no|not|nobody|nothing|none|never|without|cannot|\w+n't)\b", re.IGNORECASE)
"""Words by which the one that notices negation notices it."""


@dataclass(frozen=True, slots=True)
class Planting:
    """What an evaluator was made to do."""

    looks_at: str = PICTURE  # PICTURE, LENGTH or NEGATION
    fall: float = 0.0  # share of its score that an item which falls loses where its picture is upside down
    noise: float = 0.0  # standard deviation of every score, as a share of the item's level

    @property
    def name(self) -> str:
        """Short and stable, e.g. ``planted-fall10-noise5``."""
        if self.looks_at != PICTURE:
            return f"planted-{self.looks_at}"
        parts = [f"{what}{100 * size:g}" for what, size in (("fall", self.fall), ("noise", self.noise)) if size]
        return "-".join(["planted", *(parts or ["still"])])

    @property
    def title(self) -> str:
        """What it does, in words."""
        if self.looks_at != PICTURE:
            return {LENGTH: "reads length only", NEGATION: "notices only negation"}[self.looks_at]
        noise = f"noise of {100 * self.noise:g} %" if self.noise else ""
        if not self.fall:
            return f"{noise} only" if noise else "stands still"
        return f"falls by {100 * self.fall:g} % in {100 * SHARE:g} % of sources" + (f", {noise}" if noise else "")

    def scores(self, items: np.ndarray, sources: np.ndarray, stands: np.ndarray, *, seed: str) -> np.ndarray:
        """Scores of pictures, float64 [n] above 0, for one that looks at pictures.

        Half of the noise's variance is of the source: items of one source move alike, as they do under real ones. A
        score depends on the seed and on its own numbers alone: ``items``, ``sources`` from 0, and ``stands``: UPRIGHT,
        FLIPPED, OTHER, or any further number, of another edit; int [n].
        """
        low, high = LEVELS
        level = low + (high - low) * _drawn(seed, "level", items, 0, normal=False)
        falls = (_drawn(seed, "falls", sources, 0, normal=False) < SHARE) & (stands == FLIPPED)
        noise = sum(
            _drawn(seed, what, of, stands, normal=True) for what, of in (("source", sources), ("picture", items))
        )
        moved = np.clip(1 + self.noise * noise / np.sqrt(2), 0.05, None)
        return np.asarray(level * np.where(falls, 1 - self.fall, 1.0) * moved)


def _drawn(seed: str, what: str, of: np.ndarray, stands: np.ndarray | int, *, normal: bool) -> np.ndarray:
    """A number for each pair of numbers: of a stream a way of standing, the place in it being the other number."""
    ways, found = np.broadcast_to(stands, of.shape), np.empty(of.shape)
    for way in np.unique(ways):
        rng, own = stream(0, seed, what, str(way)), ways == way
        size = int(of[own].max()) + 1
        found[own] = (rng.standard_normal(size) if normal else rng.random(size))[of[own]]
    return found


PLANTED = (
    Planting(),
    *(Planting(noise=noise) for noise in NOISES),
    *(Planting(fall=fall, noise=noise) for noise in NOISES for fall in FALLS),
    Planting(LENGTH),
    Planting(NEGATION),
)
"""Every planted evaluator."""


Known = Mapping[str, tuple[int, int, int]]
"""Digest of a picture that is known -> its item's number, its source's, and how it stands."""


def digest(pixels: np.ndarray) -> str:
    """Of a picture, uint8 RGB [H, W, 3], by every third pixel of every third row: fifteen evaluators look at each."""
    seen = np.ascontiguousarray(pixels[::3, ::3])
    return hashlib.blake2b(
        seen.data, digest_size=12, person=f"{pixels.shape[0]}x{pixels.shape[1]}".encode()
    ).hexdigest()


def ways(pixels: np.ndarray) -> dict[int, str]:
    """Digest of a picture in each way that it is known to stand."""
    return {UPRIGHT: digest(pixels), FLIPPED: digest(pixels[::-1]), OTHER: digest(pixels[:, ::-1])}


class PlantedEvaluator(Evaluator):
    """Scores as its planting says, of the pictures that it knows; NaN for others."""

    planting: ClassVar[Planting]
    known: ClassVar[Known]
    seed: ClassVar[str]

    @classmethod
    def load(cls, *, device: str = "cpu") -> Self:
        """There is nothing to load."""
        return cls()

    @property
    def fingerprint(self) -> Fingerprint:
        """The planting and its seed; there are no weights."""
        planting = self.planting
        settings = {"looks_at": planting.looks_at, "fall": planting.fall, "noise": planting.noise, "seed": self.seed}
        return Fingerprint(self.spec.name, "none", "none", "float64", settings=settings)

    def score(self, images: Sequence[np.ndarray], captions: Sequence[str]) -> np.ndarray:
        """Score n pairs; float64 [n], NaN where the picture is none that it knows."""
        check_lengths(images, captions)
        for image in images:
            check_rgb(image)
        if self.planting.looks_at == LENGTH:
            return np.array([1 / (1 + len(caption)) for caption in captions], dtype=np.float64)
        if self.planting.looks_at == NEGATION:
            return np.array([0.5 if DENIAL.search(caption) else 1.0 for caption in captions], dtype=np.float64)
        found = [self.known.get(digest(image)) for image in images]
        scores, there = np.full(len(images), np.nan), [place for place, each in enumerate(found) if each is not None]
        if there:
            items, sources, stands = np.array([each for each in found if each is not None]).T
            scores[there] = self.planting.scores(items, sources, stands, seed=self.seed)
        return scores


def planted_evaluator(planting: Planting, known: Known, *, seed: str) -> type[PlantedEvaluator]:
    """The class of a planted evaluator of these pictures, for an audit of this process."""
    spec = EvaluatorSpec(
        name=planting.name,
        title=f"Planted: {planting.title}",
        summary="Planted, to see what is found of it.",
        family="planted",
        score_range=(0.0, None),
        memory_mb=0,
        offline=True,
        source="core/features/selfcheck",
        licence="Apache-2.0",
    )
    return type("Planted", (PlantedEvaluator,), {"planting": planting, "known": known, "seed": seed, "spec": spec})


STANDS = {IDENTITY: UPRIGHT, "vflip": FLIPPED, "hflip": OTHER}
"""Probe -> how its picture stands. What falls falls under the first edit of these."""

BROKEN = ("order", "negation")  # families of broken meanings whose truth is known of those that read captions
TOLERANCE = 1e-12  # largest difference, relative, between a score as it was planted and as it came out of the store


@dataclass(frozen=True, slots=True)
class Sides:
    """Both sides of the comparisons of a family under one evaluator."""

    evaluator: str  # its planting's ``looks_at``
    family: str
    axis: str
    right: np.ndarray  # right, wrong: scores, float64 [k, N], NaN without one
    wrong: np.ndarray
    sources: np.ndarray  # of the items, int [N] or [N, 2]


@dataclass(frozen=True, slots=True)
class PlantedAudit:
    """What is resampled."""

    corpus: str  # its name
    # (item, source, second source) of every item whose picture was flipped, by name
    items: tuple[tuple[str, str, str], ...]
    sources: np.ndarray  # numbers of both, int [N] or [N, 2]; each item its own where none share theirs
    compared: int = 0  # compared, apart: scores that were held against what was planted, and how many of them differ
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
    labelled, told = any(item.label for item in items), any(item.captions.get(ENGLISH) for item in items)
    subject: Choice = "both" if labelled and told else "template" if labelled else "human"
    probes = (*(name for name in STANDS if name != IDENTITY), *(BROKEN if told else ()))
    asked: dict[str, Any] = {"corpus": corpus.name, "evaluators": tuple(kinds), "probes": probes, "subject": subject}
    request = AuditRequest.of(**asked, limit=limit, seed=seed, device="cpu")
    with tempfile.TemporaryDirectory(prefix="invariscope-selfcheck-") as folder, offered(kinds.values()):
        run_audit(make_plan(corpus, request), Path(folder), run_id="selfcheck", pool=Pool(device="cpu"))
        with Store.open([Path(folder)]) as store:
            flips = read_table(store, Scope(subject="template" if labelled else "human"))
            words = read_table(store, Scope(subject="human")) if told else None
    sides = () if words is None else tuple(_sides(words))
    return PlantedAudit(corpus.name, items_of(flips), sources_of(flips), *_compared(flips, ways_of, str(seed)), sides)


def items_of(table: ScoreTable) -> tuple[tuple[str, str, str], ...]:
    """(item, source, second source) of every item of a table, by name."""
    names = ("item", "source", "second_source")
    return tuple(sorted(zip(*(map(str, table.items[name]) for name in names), strict=True)))


def sources_of(table: ScoreTable) -> np.ndarray:
    """Numbers of the items' sources, int [N] or [N, 2]; each item its own where none share theirs."""
    return table.clusters(np.arange(len(table.items)))


Ways = Mapping[int, tuple[int, int, int]]  # how a picture stands after an edit -> what it is known as


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
