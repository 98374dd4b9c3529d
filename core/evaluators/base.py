"""What an evaluator is: anything that scores (image, caption) pairs; and evaluators made of others."""

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import numpy as np

from core.corpora.schema import Box, Mask
from core.errors import InvalidInput, InvariscopeError, NotAvailable

if TYPE_CHECKING:
    from torch import Tensor

BLIND = "blind"  # family of readers that never see the image: baselines of directional tests, nothing to choose by
BATCH_SIZE = 32  # most images, captions or pairs in one call of an evaluator that says nothing else


@dataclass(frozen=True, slots=True)
class EvaluatorSpec:
    """What is known of an evaluator without loading it."""

    name: str
    title: str
    summary: str
    family: str
    score_range: tuple[float | None, float | None]  # native range, (low, high); None where there is no such bound
    memory_mb: int  # size of the weights when loaded on a CPU, for the pool's budget
    offline: bool  # whether ``pip install`` brings the weights
    source: str
    licence: str
    higher_is_better: bool = True
    # whether it compares with reference captions and cannot score without any; its ``score`` takes them as a third
    # argument (:class:`core.evaluators.references.Referenced`)
    takes_references: bool = False
    languages: tuple[str, ...] = ()  # ISO 639-1 codes that it reads, as its publisher says; empty: unknown

    def reads(self, language: str) -> bool:
        """Whether captions in a language may be scored; where nothing is known of it, they may."""
        return not self.languages or language in self.languages

    def unread(self, language: str) -> str:
        """Why captions in a language are not scored, in one sentence without its full stop."""
        return f"{self.name} reads {', '.join(self.languages)} and not {language}"


@dataclass(frozen=True, slots=True)
class Availability:
    """Whether an evaluator can be loaded here; if not, why, and the one command that gets it."""

    ready: bool
    reason: str = ""
    command: str = ""


@dataclass(frozen=True, slots=True)
class Footprint:
    """What a loaded evaluator takes."""

    memory_mb: float  # of the weights, in MB
    device: str  # where they lie now
    note: str = ""  # where memory ran out while scoring and what was done about it; empty where it did not


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """Everything that a score depends on beside the pair itself; keys every cache."""

    name: str
    weights: str
    preprocessing: str
    precision: str
    versions: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    settings: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON-ready dictionary, for manifests."""
        return {
            **{name: getattr(self, name) for name in ("name", "weights", "preprocessing", "precision")},
            "versions": dict(self.versions),
            "settings": dict(self.settings),
        }

    @property
    def key(self) -> str:
        """Short hexadecimal digest, stable across processes."""
        text = json.dumps(self.as_dict(), sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Sight:
    """What the metric saw of one pair."""

    views: tuple[tuple[str, np.ndarray], ...]  # what enters the network, (title, uint8 RGB [h, w, 3]) pairs
    crop: Box | None  # the part of the image that reaches the network, in its pixels; None: all of it
    prompt: str  # the text that enters the text tower, prefix included
    truncated: str = ""  # the words that were cut off, empty where none were
    tokens: int | None = None  # number of tokens of the whole prompt, or None where there is no tokenizer
    object_inside: float | None = None  # share of the object's area inside the crop, in [0, 1]; None without an object
    evidence: tuple[tuple[str, float], ...] = ()  # (label, value) pairs that explain the score, best first
    notes: tuple[str, ...] = ()  # sentences for the reader


class PartlyScored(InvariscopeError):
    """Raised by ``score`` where some pairs have no score and there is a reason beside each.
    ``scores``: float64 [n]; NaN where there is none. ``errors``: n texts; None where the pair was scored."""

    def __init__(self, scores: np.ndarray, errors: Sequence[str | None]) -> None:
        reasons = [error for error in errors if error]
        super().__init__(f"{len(reasons)} of {len(errors)} pairs have no score, the first because: {reasons[0]}")
        self.scores = scores
        self.errors = tuple(error or None for error in errors)


def all_scored(scores: np.ndarray, errors: Sequence[str | None]) -> np.ndarray:
    """The scores of n pairs as they are. Raises PartlyScored where one of the pairs has a reason why it has none."""
    if any(errors):
        raise PartlyScored(scores, errors)
    return scores


class Evaluator(ABC):
    """Scores pairs: S(x, c). Judges and generative scorers derive from it directly."""

    spec: ClassVar[EvaluatorSpec]
    one_process: ClassVar[bool] = False  # whether one process alone may run it: it keeps one budget or one journal

    @classmethod
    def availability(cls) -> Availability:
        """Say whether :meth:`load` can work here. Cheap: no weights are read."""
        return Availability(True)

    @classmethod
    def check_available(cls) -> None:
        """Raise NotAvailable, with the command that gets what is missing, where :meth:`load` cannot work here."""
        found = cls.availability()
        if not found.ready:
            raise NotAvailable(f"{cls.spec.name} is not available: {found.reason}; get it with: {found.command}")

    @classmethod
    @abstractmethod
    def load(cls, *, device: str = "cpu") -> Self:
        """Load the weights. Raises NotAvailable with the command that gets what is missing."""

    @classmethod
    def needs_mb(cls, device: str) -> float:
        """Memory that the weights will take on a device, in MB: what the pool makes room for before it loads."""
        return float(cls.spec.memory_mb)

    def footprint(self) -> Footprint | None:
        """What the weights take now that they are loaded; None: as :meth:`needs_mb` said."""
        return None

    @property
    def full_batch(self) -> int:
        """Most images, captions or pairs worth giving it in one call, at least 1, for the device it was loaded on. It
        stays the same as long as the evaluator is loaded, so that a run that is resumed forms the same batches."""
        return BATCH_SIZE

    @property
    @abstractmethod
    def fingerprint(self) -> Fingerprint:
        """What the scores depend on."""

    @abstractmethod
    def score(self, images: Sequence[np.ndarray], captions: Sequence[str]) -> np.ndarray:
        """Score n pairs: float64 [n], NaN where a pair cannot be scored; it does not depend on the others."""

    @property
    def asked(self) -> str:
        """What a model is asked about every pair, where one is asked in words; empty otherwise."""
        return ""

    def forget(self) -> None:  # noqa: B027  # most have nothing to forget
        """Drop what earlier calls left and what could touch the last bits of a later score, such as an embedding that
        was made in another batch. An audit asks for it before each shard, so that shards do not depend on each other.
        """

    def crop(self, width: int, height: int) -> Box:
        """Part of an image of that size that reaches the network, in its pixels."""
        return Box(0, 0, width, height)

    def see(self, image: np.ndarray, caption: str, *, object_mask: Mask | None = None) -> Sight:
        """Explain one pair. The default says only which part of the image counts."""
        return Sight(
            views=(("image", image),),
            crop=self.crop(image.shape[1], image.shape[0]),
            prompt=caption,
            tokens=self.count_tokens(caption),
            object_inside=self.object_inside(object_mask),
        )

    def object_inside(self, object_mask: Mask | None) -> float | None:
        """Share of the object's pixels inside :meth:`crop`, in [0, 1]; None without an object."""
        if object_mask is None or object_mask.area == 0:
            return None
        box = self.crop(object_mask.width, object_mask.height)
        rows = slice(round(box.y), round(box.bottom))
        columns = slice(round(box.x), round(box.right))
        return object_mask.area_in(rows, columns) / object_mask.area

    def count_tokens(self, caption: str) -> int | None:
        """Number of tokens of the whole prompt before truncation, or None without a tokenizer."""
        return None

    def truncates(self, caption: str) -> bool:
        """Whether the text tower cuts this caption."""
        return False


def cut_captions(evaluator: Evaluator, captions: Iterable[str]) -> str:
    """A sentence on how many captions are longer than the evaluator's text tower reads; empty where none is."""
    texts = list(captions)
    cut = sum(map(evaluator.truncates, texts))
    return f"longer than the text tower reads, and cut there: {cut:,} of {len(texts):,} captions" if cut else ""


def check_lengths(images: Sequence[Any], captions: Sequence[str]) -> None:
    """Raise InvalidInput unless there are as many images as captions."""
    if len(images) != len(captions):
        raise InvalidInput(f"score needs as many images as captions, got {len(images)} and {len(captions)}")


class DualEncoder(Evaluator):
    """CLIP-like: the audit encodes every unique image and every unique caption once."""

    @abstractmethod
    def encode_images(self, images: Sequence[np.ndarray]) -> "Tensor":
        """Encode n uint8 RGB images; returns float32 [n, d] on the CPU, L2-normalised."""

    @abstractmethod
    def encode_captions(self, captions: Sequence[str]) -> "Tensor":
        """Encode m captions; returns float32 [m, d] on the CPU, L2-normalised."""

    @property
    def caption_key(self) -> str:
        """What embeddings of captions depend on: an audit embeds for evaluators of one key once."""
        return self.fingerprint.key

    @abstractmethod
    def combine(self, image_embeddings: "Tensor", caption_embeddings: "Tensor") -> np.ndarray:
        """Score row by row: two [n, d] tensors give float64 [n]."""

    def score(self, images: Sequence[np.ndarray], captions: Sequence[str]) -> np.ndarray:
        check_lengths(images, captions)
        if not images:
            return np.empty(0, dtype=np.float64)
        return self.combine(self.encode_images(images), self.encode_captions(captions))


E = TypeVar("E", bound=type[Evaluator])


def evaluator(**spec: Any) -> Callable[[E], E]:
    """Mark a class as an evaluator: ``@evaluator(name=..., title=..., ...)`` with EvaluatorSpec's fields."""
    described = EvaluatorSpec(**spec)

    def mark(cls: E) -> E:
        cls.spec = described
        return cls

    return mark


@dataclass(frozen=True, slots=True)
class Family:
    """Evaluators that are made on demand: ``prefix:argument``."""

    prefix: str
    form: str  # how such a reference is written, for messages and help
    make: Callable[[str], type[Evaluator]]  # maps the argument to an evaluator class
    whole: bool = False  # whether all that stands behind the prefix is its own, an ``@`` and a last ``:`` too


def family(prefix: str, *, form: str, whole: bool = False) -> Callable[[Callable[[str], type[Evaluator]]], Family]:
    """Mark a function that makes evaluators on demand: ``@family("open_clip", form="open_clip:MODEL/WEIGHTS")``."""
    return lambda make: Family(prefix, form, make, whole)


Told = tuple[np.ndarray, Sequence[str | None]]
"""Scores of n pairs, float64 [n], and n reasons; None where a pair was scored."""


class Joined(Evaluator):
    """S(x, c) = f(S_1(x, c), …, S_k(x, c)), with the evaluators 1 … k as its parts.
    :func:`core.evaluators.scoring.score_pairs` asks the parts with its own cache: what one of them has encoded or
    scored before, here or by itself, is not computed again. A pair that a part cannot score has no score."""

    kinds: ClassVar[tuple[type[Evaluator], ...]] = ()  # of the parts, at least one

    def __init__(self, parts: Sequence[Evaluator]) -> None:
        self.parts = tuple(parts)

    @classmethod
    def availability(cls) -> Availability:
        return next((found for kind in cls.kinds if not (found := kind.availability()).ready), Availability(True))

    @classmethod
    def load(cls, *, device: str = "cpu") -> Self:
        return cls([kind.load(device=device) for kind in cls.kinds])

    def of_parts(self, precision: str, **settings: Any) -> Fingerprint:
        """What the scores depend on: all that those of the parts do, and the settings that join them."""
        own = [part.fingerprint for part in self.parts]
        return Fingerprint(
            name=self.spec.name,
            weights="; ".join(each.weights for each in own),
            preprocessing="; ".join(dict.fromkeys(each.preprocessing for each in own)),
            precision=precision,
            versions={name: version for each in own for name, version in each.versions.items()},
            settings={"parts": {each.name: each.key for each in own}, **settings},
        )

    def crop(self, width: int, height: int) -> Box:
        return self.parts[0].crop(width, height)

    @abstractmethod
    def join(self, scores: np.ndarray) -> np.ndarray:
        """Map the parts' scores, float64 [k, n], to float64 [n]; NaN where one of them is NaN."""

    def joined(self, found: Iterable[Told]) -> tuple[np.ndarray, tuple[str | None, ...]]:
        """Join what the parts found, in their order: float64 [n], and n reasons, the first part's that has one."""
        scores, errors = zip(*found, strict=True)
        reasons = tuple(next((each for each in row if each), None) for row in zip(*errors, strict=True))
        return self.join(np.stack(scores)), reasons

    def score(self, images: Sequence[np.ndarray], captions: Sequence[str]) -> np.ndarray:
        """Score n pairs; float64 [n]. Raises PartlyScored where a part has no score, with that part's reason."""
        check_lengths(images, captions)
        if not images:
            return np.empty(0, dtype=np.float64)
        return all_scored(*self.joined(told(part, images, captions) for part in self.parts))

    def forget(self) -> None:
        for part in self.parts:
            part.forget()

    def truncates(self, caption: str) -> bool:
        return any(part.truncates(caption) for part in self.parts)


def told(part: Evaluator, images: Sequence[np.ndarray], captions: Sequence[str]) -> Told:
    """What an evaluator says of n pairs, asked directly, with a reason wherever there is no score."""
    errors: Sequence[str | None] = (None,) * len(captions)
    try:
        scores = part.score(images, captions)
    except PartlyScored as partly:
        scores, errors = partly.scores, partly.errors
    none = f"{part.spec.name} gives no score"
    return scores, [why or (None if np.isfinite(score) else none) for score, why in zip(scores, errors, strict=True)]


class Around(Evaluator):
    """An evaluator made of another one, which is shared, not copied; what it does not say itself is that one's."""

    base_kind: ClassVar[type[Evaluator]]

    def __init__(self, base: Evaluator) -> None:
        self.base = base

    @classmethod
    def availability(cls) -> Availability:
        return cls.base_kind.availability()

    @classmethod
    def needs_mb(cls, device: str) -> float:
        return cls.base_kind.needs_mb(device)

    def footprint(self) -> Footprint | None:
        return self.base.footprint()

    def forget(self) -> None:
        self.base.forget()

    def crop(self, width: int, height: int) -> Box:
        return self.base.crop(width, height)

    def count_tokens(self, caption: str) -> int | None:
        return self.base.count_tokens(caption)

    def truncates(self, caption: str) -> bool:
        return self.base.truncates(caption)
