"""A published CLIP-like evaluator: a description, its weights, two towers and a cosine, whose scale its name tells.

Text towers that only look back: their captions are cut to their length.

Captions are padded to the tower's limit, as a rule 77 columns, and most end long before. Where every token attends to
itself and to those before it, and the text is read at one token, no column behind that token has a part in its
features: without them they are the same but for rounding (measured in docs/benchmarks.md), at a fraction of the work.

A caption gets the shortest of a few fixed lengths that holds it, by its own tokens alone, and a call of the tower is of
one length: what stands beside a caption decides neither its columns nor, beyond the rounding that the size of a batch
has anyway, its features. The order in which captions come stays the caller's.

What is not cut: SigLIP, SigLIP 2 and CLIPA attend to their padding and are read at the last column, MobileCLIP attends
both ways, CoCa reads a token behind the padding. Multilingual encoders (MCS) and those of transformers within open_clip
attend both ways too, and have masks or means of their own over what is padding.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from core.corpora.schema import Box, Mask
from core.evaluators.base import DualEncoder, Fingerprint, Sight
from core.evaluators.memory import Runner
from core.evaluators.other_packages import library_versions
from core.evaluators.references import Referenced
from core.evaluators.registry import CHECKPOINT, catalogue
from core.evaluators.towers.preprocessing import Preprocessing, Prompts
from core.evaluators.weights.catalogue import NO_PREFIX, PRECISIONS
from core.evaluators.weights.fetched import Place, Published

if TYPE_CHECKING:
    from torch import Tensor

LENGTHS = (16, 32, 48, 77)  # columns to which captions are cut, where the tower has more


def lengths(limit: int) -> tuple[int, ...]:
    """Lengths of a tower that reads ``limit`` tokens, ascending, the limit last.

    >>> lengths(77), lengths(64), lengths(16)
    ((16, 32, 48, 77), (16, 32, 48, 64), (16,))
    """
    return (*(each for each in LENGTHS if each < limit), limit)


def first_place(tokens: "Tensor", marker: int | None) -> "Tensor":
    """Where each text is read: its first ``marker``, or its first largest id; int64 [n] in [0, L).
    ``tokens``: ids, int64 [n, L]. A row without the marker is read at 0, as both libraries do.
    ``marker``: None: the largest id is CLIP's closing marker."""
    return tokens.argmax(dim=-1) if marker is None else (tokens == marker).int().argmax(dim=-1)


class CausalText(ABC):
    """How one text tower that only looks back is asked."""

    @abstractmethod
    def places(self, tokens: "Tensor") -> "Tensor":
        """Where each text is read, int64 [n], of int64 [n, L]; a cut behind that place does not move it."""

    @abstractmethod
    def embed(self, tokens: "Tensor") -> "Tensor":
        """Raw embeddings [n, d] of ids, int64 [n, L] on the tower's device; L may be less than its limit."""

    def rows(self, runner: "Runner", tokens: "Tensor") -> "Tensor":
        """Embed n ≥ 1 texts, each cut; float32 [n, d] on the CPU, unit length. ``tokens``: ids, int64 [n, limit]."""
        import torch

        parts = [(members, runner.rows(cut, _stacked(self.embed))) for members, cut in self.cut(tokens)]
        found = torch.empty(len(tokens), parts[0][1].shape[1])
        for members, part in parts:
            found[members] = part
        return found

    def cut(self, tokens: "Tensor") -> "list[tuple[list[int], list[Tensor]]]":
        """Return the indices of the texts of each length, the shortest length first, and their ids, int64 [length]."""
        import torch

        allowed = torch.tensor(lengths(tokens.shape[1]))
        chosen = allowed[torch.searchsorted(allowed, self.places(tokens) + 1)]
        found = []
        for length in chosen.unique().tolist():
            members = (chosen == length).nonzero().flatten().tolist()
            found.append((members, list(tokens[members, :length])))
        return found


class OpenClipText(CausalText):
    """The text tower of open_clip's CLIP, step by step: its own call takes no fewer columns than its limit.
    ``tower``: a ``CLIP`` or a ``TextTransformer``. ``marker``: see :func:`first_place`.
    Source: open_clip 3.3, ``CLIP.encode_text`` and ``TextTransformer.forward``."""

    def __init__(self, tower: Any, marker: int | None = None) -> None:
        self._tower, self._marker = tower, marker

    def places(self, tokens: "Tensor") -> "Tensor":
        return first_place(tokens, self._marker)

    def embed(self, tokens: "Tensor") -> "Tensor":
        import torch

        states = self._states(tokens)
        return self._projected(states[torch.arange(len(states)), self.places(tokens)])

    def each(self, runner: "Runner", tokens: "Tensor") -> "list[Tensor]":
        """Embed every token of texts, each text cut; n times float32 [length, d] on the CPU, of unit length."""
        import torch

        found = [torch.empty(0)] * len(tokens)
        for members, cut in self.cut(tokens):
            rows = runner.rows(cut, _stacked(lambda part: self._projected(self._states(part))))
            for index, row in zip(members, rows, strict=True):
                found[index] = row
        return found

    def _states(self, tokens: "Tensor") -> "Tensor":
        """What comes out of the last layer norm, [n, L, width]."""
        tower, columns = self._tower, tokens.shape[1]
        dtype = tower.transformer.get_cast_dtype()
        x = tower.token_embedding(tokens).to(dtype) + tower.positional_embedding[:columns].to(dtype)
        states: Tensor = tower.ln_final(tower.transformer(x, attn_mask=tower.attn_mask[:columns, :columns]))
        return states

    def _projected(self, states: "Tensor") -> "Tensor":
        projection = self._tower.text_projection
        if projection is None:
            return states
        found: Tensor = projection(states) if callable(projection) else states @ projection
        return found


def open_clip_text(network: Any) -> OpenClipText | None:
    """Find the text tower of a network that open_clip built; None where it needs its padding. It must be open_clip's
    own transformer, look back only, and be read at a token of the text."""
    import torch
    from open_clip.model import CLIP, CustomTextCLIP
    from open_clip.transformer import TextTransformer

    tower = network.text if isinstance(network, CustomTextCLIP) else network
    if isinstance(tower, CLIP):
        pool, marker = tower.text_pool_type, tower.text_eos_id
    elif isinstance(tower, TextTransformer) and tower.cls_emb is None and not tower.output_tokens:
        pool, marker = tower.pool_type, tower.eos_id
    else:
        return None
    mask = tower.attn_mask  # it is added to attention, and must hide from every token those behind it
    if pool not in ("argmax", "eos") or mask is None:
        return None
    if not mask[torch.ones_like(mask, dtype=torch.bool).triu(1)].isneginf().all():
        return None
    return OpenClipText(tower, marker if pool == "eos" else None)


def _stacked(call: "Callable[[Tensor], Tensor]") -> "Callable[[Sequence[Tensor], str], Tensor]":
    import torch

    return lambda part, device: call(torch.stack(list(part)).to(device))


CARD_THREADS = 16  # most threads that prepare pictures for a card


@dataclass(kw_only=True, eq=False)
class Towers:
    """An image tower and a text tower, loaded."""

    image: Runner
    text: Runner
    preprocessing: Preprocessing
    prompts: Prompts
    precision: str
    digest: str
    libraries: Sequence[str] = ("torch", "open_clip_torch", "pillow")  # whose versions the fingerprint records
    facts: Mapping[str, Any] = field(default_factory=dict)  # what else the embeddings depend on, for the fingerprint
    scale: float | None = None  # what a cosine is multiplied with, where the weights say it
    causal: CausalText | None = None  # how texts are cut to their length; None: the tower needs all its columns

    def __post_init__(self) -> None:
        self.versions = library_versions(*self.libraries)

    @property
    def reading(self) -> Mapping[str, Any]:
        """How texts are read, for the fingerprint."""
        limit = self.prompts.limit
        if self.causal is None:
            return {"max_tokens": limit}
        return {"max_tokens": limit, "text_columns": f"the fewest of {list(lengths(limit))} that hold the text"}

    def encode_images(self, images: Sequence[np.ndarray]) -> "Tensor":
        """Embed n uint8 RGB images; float32 [n, d] on the CPU, unit length."""

        def call(part: Sequence[np.ndarray], device: str) -> "Tensor":
            threads = 1 if device.startswith("cpu") else min(CARD_THREADS, os.cpu_count() or 1)
            return self.embed_pixels(self.preprocessing.tensor(part, device=device, threads=threads))

        return self.image.rows(images, call)

    def encode_texts(self, texts: Sequence[str]) -> "Tensor":
        """Embed n texts; float32 [n, d] on the CPU, unit length."""
        if self.causal is not None:
            return self.causal.rows(self.text, self.prompts.tokens(texts))
        return self.text.rows(texts, self.embed_texts)

    def embed_pixels(self, pixels: "Tensor") -> "Tensor":
        """Raw embeddings of float32 [n, 3, side, side] on the network's device."""
        import torch

        found: Tensor = self.image.network.encode_image(pixels.to(getattr(torch, self.precision)))
        return found

    def embed_texts(self, texts: Sequence[str], device: str) -> "Tensor":
        """Raw embeddings of n texts, for a tower that needs all its columns."""
        import torch

        found: Tensor = self.text.network.encode_text(self.prompts.tokens(texts).to(device=device, dtype=torch.long))
        return found


class OnTowers(Published):
    """A published evaluator on an image tower and a text tower, which reads a prefix before each caption."""

    def __init__(self, towers: Towers) -> None:
        self._towers = towers
        self._prefix = str(self.entry.settings.get("prefix", ""))

    def runners(self) -> Sequence[Runner]:
        return self._towers.image, self._towers.text

    @property
    def fingerprint(self) -> Fingerprint:
        it = self._towers
        settings = {**self.entry.settings, **it.reading, **it.facts}
        return Fingerprint(self.spec.name, it.digest, str(it.preprocessing), it.precision, it.versions, settings)

    def crop(self, width: int, height: int) -> Box:
        return self._towers.preprocessing.crop(width, height)

    def count_tokens(self, caption: str) -> int:
        return self._towers.prompts.read(self._prefix + caption).tokens

    def truncates(self, caption: str) -> bool:
        return bool(self._towers.prompts.read(self._prefix + caption).truncated)

    def see(self, image: np.ndarray, caption: str, *, object_mask: Mask | None = None) -> Sight:
        text, side = self._prefix + caption, self._towers.preprocessing.side
        views = ((f"{side} × {side} px into the network", self._towers.preprocessing.view(image)),)
        cut, seen = self._towers.prompts.read(text).truncated, super().see(image, caption, object_mask=object_mask)
        return replace(seen, views=views, prompt=text, truncated=cut, notes=(self._note(),))

    def _note(self) -> str:
        squashed = self._towers.preprocessing.mode == "squash"
        how = "the whole picture squeezed into a square" if squashed else "the centre square"
        return f"{self.entry.backbone} sees {how} and reads {self._towers.prompts.limit} tokens at most."


class PublishedEncoder(OnTowers, DualEncoder):
    """Score = scale · max(cos(image, prefix + caption), 0), with the constants of its description. A subclass says how
    its weights become :class:`Towers`."""

    @classmethod
    @abstractmethod
    def open(cls, found: Sequence[Place], device: str) -> Towers:
        """Load the towers from places where nothing is missing."""

    @classmethod
    def load(cls, *, device: str = "cpu") -> Self:
        return cls(cls.open(cls.places(), device))

    @classmethod
    def scale(cls) -> float | None:
        """What max(cos, 0) is multiplied with, w of the papers; None where the score is of another form."""
        plain = cls.combine is PublishedEncoder.combine and not issubclass(cls, Referenced)
        return cls.entry.number("scale", 1.0) if plain else None

    def encode_images(self, images: Sequence[np.ndarray]) -> "Tensor":
        return self._towers.encode_images(images)

    def encode_captions(self, captions: Sequence[str]) -> "Tensor":
        """Embed m captions behind the prefix; float32 [m, d], L2-normalised, NaN where a caption is blank."""
        import torch

        written = [index for index, caption in enumerate(captions) if caption.strip()]
        prompts = [self._prefix + captions[index] for index in written]
        rows = self._towers.encode_texts(prompts or ["a"])  # where all are blank, only the width is wanted
        embeddings = torch.full((len(captions), rows.shape[1]), float("nan"))
        if written:
            embeddings[written] = rows
        return embeddings

    def combine(self, image_embeddings: "Tensor", caption_embeddings: "Tensor") -> np.ndarray:
        """Return scale · max(cos, 0) row by row, float64 [n]; NaN where a caption is blank."""
        cosines = (image_embeddings.double() * caption_embeddings.double()).sum(dim=-1).numpy()
        return np.asarray(self.entry.number("scale", 1.0) * np.clip(cosines, 0.0, 1.0))


def scale_of(name: str) -> float | None:
    """Return w where the evaluator's score is w · max(cos, 0), whatever its precision, prefix or checkpoint.
    ``name``: of an evaluator; it may come from a file, so it is looked up and never opened.
    Returns None where no evaluator of that name is known, or its score is of another form.

    >>> scale_of("clipscore"), scale_of("clipscore:bf16"), scale_of("refclipscore")
    (2.5, 2.5, None)
    """
    base, *ways = name.partition(CHECKPOINT)[0].split(":")
    kind = catalogue().entries.get(base) if all(way in (*PRECISIONS, NO_PREFIX) for way in ways) else None
    return kind.scale() if kind is not None and issubclass(kind, PublishedEncoder) else None
