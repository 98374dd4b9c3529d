"""Planted evaluators: what each of them does to an edit is known, since it was put there.

They are made for a corpus whose pictures they know, and are listed nowhere. An item's score is a level of its own times
noise; where the picture is upside down, those that fall lose a share of it in some sources' items, chosen by the seed.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from core.corpora.images import check_rgb
from core.evaluators.base import Evaluator, EvaluatorSpec, Fingerprint, check_lengths
from core.seeds import stream

SHARE = 0.3
"""Share of the sources whose items fall."""

FALLS = (0.05, 0.1, 0.25)
"""What a fall takes of the score of an item that falls."""

NOISES = (0.02, 0.05, 0.1)
"""Standard deviation of a score, as a share of its level."""

LEVELS = (0.3, 0.9)
"""Lowest and highest level of an item."""

PICTURE, LENGTH, NEGATION = "picture", "length", "negation"
"""What a planted evaluator looks at."""

UPRIGHT, FLIPPED, OTHER = 0, 1, 2
"""How a picture stands: as it is, upside down, the other way round."""

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
