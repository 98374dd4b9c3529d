"""From pictures and captions to what enters the towers, as the publishers' code does it, and what is cut off."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from PIL import Image

from core.corpora.images import check_rgb
from core.corpora.schema import Box

if TYPE_CHECKING:
    from torch import Tensor

Triple = tuple[float, float, float]
CLIP_MEAN: Triple = (0.48145466, 0.4578275, 0.40821073)
CLIP_STD: Triple = (0.26862954, 0.26130258, 0.27577711)


def triple(values: Iterable[Any]) -> Triple:
    """Three numbers, one a colour channel. Raises ValueError or TypeError for anything else."""
    first, second, third = map(float, values)
    return first, second, third


_RIBBON = 64  # a picture that is so many times longer than wide is not resized whole


@dataclass(frozen=True, slots=True)
class Preprocessing:
    """Resize, crop, normalise.
    Source: torchvision's Resize, CenterCrop and Normalize on Pillow images, as OpenAI's CLIP and its kin use them."""

    side: int  # of the square that enters the network, in pixels
    # ``shortest`` scales the short side to ``side`` and cuts the centre square out; ``squash`` squeezes the whole
    # picture into the square
    mode: Literal["shortest", "squash"] = "shortest"
    # what becomes of half a pixel when the centre is cut out: ``round`` (half to even, torchvision) or ``floor``
    # (transformers)
    centre: Literal["round", "floor"] = "round"
    # ``bicubic`` or ``bilinear``, antialiased as Pillow does it
    interpolation: Literal["bicubic", "bilinear"] = "bicubic"
    # mean, std: of each channel in [0, 1]
    mean: Triple = CLIP_MEAN
    std: Triple = CLIP_STD

    def crop(self, width: int, height: int) -> Box:
        """Part of a picture of that size that reaches the network, in its pixels."""
        if self.mode == "squash":
            return Box(0, 0, width, height)
        scaled_width, scaled_height = self._scaled(width, height)
        left, top = self._margin(scaled_width), self._margin(scaled_height)
        across, down = width / scaled_width, height / scaled_height
        x, y = left * across, top * down
        return Box(x, y, min(self.side * across, width - x), min(self.side * down, height - y))

    def view(self, image: np.ndarray) -> np.ndarray:
        """Return what enters the network before its numbers are normalised.
        The whole picture is resized and the centre cut out, byte for byte as torchvision does it. A ribbon that would
        become enormous in between has only its centre resized, which may differ where contrast is harsh.
        ``image``: uint8 RGB [H, W, 3], at least 1 × 1. Returns uint8 RGB [side, side, 3].
        Raises InvalidInput if the array has another shape or type."""
        check_rgb(image)
        height, width = image.shape[:2]
        kernel = Image.Resampling.BICUBIC if self.interpolation == "bicubic" else Image.Resampling.BILINEAR
        picture = Image.fromarray(np.ascontiguousarray(image))
        square = (self.side, self.side)
        if self.mode == "squash":
            return np.asarray(picture.resize(square, kernel))
        if max(width, height) > _RIBBON * min(width, height):
            box = self.crop(width, height)
            return np.asarray(picture.resize(square, kernel, box=(box.x, box.y, box.right, box.bottom)))
        scaled = self._scaled(width, height)
        left, top = self._margin(scaled[0]), self._margin(scaled[1])
        return np.asarray(picture.resize(scaled, kernel))[top : top + self.side, left : left + self.side]

    def tensor(self, images: Sequence[np.ndarray], *, device: str = "cpu", threads: int = 1) -> "Tensor":
        """Return float32 [n, 3, side, side] on a device: views in [0, 1], minus the mean, over the standard deviation.
        Views go there as bytes, a quarter of what their numbers take, to a card from memory that it reads by itself.
        ``threads``: how many make views at once; a card waits for them, a CPU has better to do."""
        pinned = device.startswith("cuda")
        views = self.views(images, threads=threads, pinned=pinned)
        return self.normalised(views.to(device, non_blocking=pinned))

    def views(self, images: Sequence[np.ndarray], *, threads: int = 1, pinned: bool = False) -> "Tensor":
        """The views, uint8 [n, side, side, 3], on the CPU. ``pinned``: in memory that the system never moves."""
        import torch

        views = torch.empty((len(images), self.side, self.side, 3), dtype=torch.uint8, pin_memory=pinned)
        rows = views.numpy()

        def fill(place: int) -> None:
            rows[place] = self.view(images[place])

        if threads > 1:
            with ThreadPoolExecutor(threads) as pool:  # Pillow resizes without holding the interpreter
                list(pool.map(fill, range(len(images))))
        else:
            for place in range(len(images)):
                fill(place)
        return views

    def normalised(self, views: "Tensor") -> "Tensor":
        """Return float32 [n, 3, side, side] of views, uint8 [n, side, side, 3], on their device."""
        import torch

        # 255 as a tensor: by a plain number a card multiplies with its inverse, which rounds otherwise than a CPU.
        given = (255.0, self.mean, self.std)
        whole, mean, std = (torch.tensor(values, device=views.device).view(-1, 1, 1) for values in given)
        return views.permute(0, 3, 1, 2).float().div_(whole).sub_(mean).div_(std)

    def __str__(self) -> str:
        """One line for the fingerprint."""
        cut = f"short side to {self.side}, centre cut ({self.centre})" if self.mode == "shortest" else "squeezed"
        return f"{self.interpolation}, {cut}, {self.side}x{self.side}, mean {list(self.mean)}, std {list(self.std)}"

    def _scaled(self, width: int, height: int) -> tuple[int, int]:
        short, long = min(width, height), max(width, height)
        longer = int(self.side * long / short)
        return (self.side, longer) if width <= height else (longer, self.side)

    def _margin(self, scaled: int) -> int:
        spare = scaled - self.side
        return spare // 2 if self.centre == "floor" else round(spare / 2.0)


def padded_square(image: np.ndarray, *, colour: Sequence[int]) -> np.ndarray:
    """Return the image in the middle of a square of one colour, as LLaVA pads it; nothing is cut off."""
    height, width = image.shape[:2]
    side = max(height, width)
    square = np.empty((side, side, 3), dtype=np.uint8)
    square[:] = colour
    top, left = (side - height) // 2, (side - width) // 2
    square[top : top + height, left : left + width] = image
    return square


@dataclass(frozen=True, slots=True)
class Reading:
    """How a tower reads a text."""

    tokens: int  # of the whole text, markers included, before truncation
    truncated: str = ""  # the words that were cut off, empty where none were


class Prompts(ABC):
    """A tokenizer with its limit."""

    limit: int

    @abstractmethod
    def read(self, text: str) -> Reading:
        """Count the tokens of a text, and find what is cut off."""

    @abstractmethod
    def tokens(self, texts: Sequence[str]) -> "Tensor":
        """Token ids, int64 [n, limit], cut and padded."""


class ClipPrompts(Prompts):
    """CLIP's byte-pair tokenizer, which ships with open_clip; cut at ``limit`` with the closing marker kept. A literal
    ``<end_of_text>`` in a caption would be that marker and end it there: it is read as letters.
    ``tokenizer``: one of open_clip's own; None: the usual one."""

    def __init__(self, limit: int = 77, tokenizer: Any = None) -> None:
        self.limit = limit
        self._tokenizer = copy(_clip_tokenizer() if tokenizer is None else tokenizer)
        marks = [self._tokenizer.decoder[each] for each in self._tokenizer.all_special_ids]
        self._tokenizer.clean_fn = partial(_cleaned, self._tokenizer.clean_fn, marks)

    def read(self, text: str) -> Reading:
        inner = self._tokenizer.encode(encodable(text))
        kept = self.limit - 2
        cut = self._tokenizer.decode(inner[kept:]).strip() or "…" if len(inner) > kept else ""
        return Reading(len(inner) + 2, cut)

    def tokens(self, texts: Sequence[str]) -> "Tensor":
        ids: Tensor = self._tokenizer([encodable(text) for text in texts], context_length=self.limit)
        return ids


class HubPrompts(Prompts):
    """A tokenizer of transformers, loaded from a folder; padded to ``limit``. ``tokenizer``: a fast tokenizer.
    ``clean``: applied to a text first; marks of the tokenizer's own are then read as letters."""

    def __init__(self, tokenizer: Any, limit: int, clean: Any = str) -> None:
        self.limit, self.tokenizer = limit, tokenizer
        self._clean = partial(_cleaned, clean, special_marks(tokenizer))

    def read(self, text: str) -> Reading:
        cleaned = self._clean(encodable(text))
        whole = len(self.tokenizer(cleaned, verbose=False).input_ids)
        if whole <= self.limit:
            return Reading(whole)
        offsets = self.tokenizer(
            cleaned, truncation=True, max_length=self.limit, return_offsets_mapping=True
        ).offset_mapping
        return Reading(whole, cleaned[max(end for _, end in offsets) :].strip() or "…")

    def tokens(self, texts: Sequence[str]) -> "Tensor":
        ids: Tensor = self.tokenizer(
            [self._clean(encodable(text)) for text in texts],
            truncation=True,
            max_length=self.limit,
            padding="max_length",
            return_tensors="pt",
        ).input_ids
        return ids


def special_marks(tokenizer: Any) -> list[str]:
    """Marks of a tokenizer of transformers, such as ``</s>``, that it would not read as letters."""
    return [each.content for each in tokenizer.added_tokens_decoder.values() if each.special]


def as_letters(text: str, marks: Iterable[str]) -> str:
    """Break a model's own marks in a text by a space: a caption is only read.

    >>> as_letters("a cat <end_of_text> on a mat", ["<end_of_text>"])
    'a cat < end_of_text> on a mat'
    """
    for mark in sorted(marks, key=len, reverse=True):
        text = text.replace(mark, f"{mark[:1]} {mark[1:]}")
    return text


def _cleaned(clean: Callable[[str], str], marks: Iterable[str], text: str) -> str:
    """Clean first: a mark may be written as ``&lt;end_of_text&gt;``, or in capitals."""
    return as_letters(clean(text), marks)


def encodable(text: str) -> str:
    """Replace lone surrogates, which no encoder takes; one character stays one character."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


@cache
def _clip_tokenizer() -> Any:
    from open_clip.tokenizer import SimpleTokenizer

    return SimpleTokenizer()
