"""From a caption to tokens: what the text tower reads, and what it cuts off."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, slots=True)
class Reading:
    """How a tower reads a text.

    Args:
        tokens: of the whole text, markers included, before truncation.
        truncated: the words that were cut off, empty where none were.
    """

    tokens: int
    truncated: str = ""


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
    """CLIP's byte-pair tokenizer, which ships with open_clip; cut at ``limit`` with the closing marker kept.

    A literal ``<end_of_text>`` in a caption would be that marker and end it there: it is read as letters.

    Args:
        tokenizer: one of open_clip's own; None: the usual one.
    """

    def __init__(self, limit: int = 77, tokenizer: Any = None) -> None:
        self.limit = limit
        self._tokenizer = copy(_clip_tokenizer() if tokenizer is None else tokenizer)
        marks = [self._tokenizer.decoder[each] for each in self._tokenizer.all_special_ids]
        self._tokenizer.clean_fn = partial(_cleaned, self._tokenizer.clean_fn, marks)

    def read(self, text: str) -> Reading:
        """Count the tokens of a text, and find what is cut off."""
        inner = self._tokenizer.encode(encodable(text))
        kept = self.limit - 2
        cut = self._tokenizer.decode(inner[kept:]).strip() or "…" if len(inner) > kept else ""
        return Reading(len(inner) + 2, cut)

    def tokens(self, texts: Sequence[str]) -> "Tensor":
        """Token ids, int64 [n, limit], cut and padded with 0."""
        ids: Tensor = self._tokenizer([encodable(text) for text in texts], context_length=self.limit)
        return ids

    def written(self, token: int) -> str:
        """What one token stands for."""
        return str(self._tokenizer.decode([token])).strip()


class HubPrompts(Prompts):
    """A tokenizer of transformers, loaded from a folder; padded to ``limit``.

    Args:
        tokenizer: a fast tokenizer.
        clean: applied to a text first; marks of the tokenizer's own are then read as letters.
    """

    def __init__(self, tokenizer: Any, limit: int, clean: Any = str) -> None:
        self.limit = limit
        self.tokenizer = tokenizer
        self._clean = partial(_cleaned, clean, special_marks(tokenizer))

    def read(self, text: str) -> Reading:
        """Count the tokens of a text, and find what is cut off."""
        cleaned = self._clean(encodable(text))
        whole = len(self.tokenizer(cleaned, verbose=False).input_ids)
        if whole <= self.limit:
            return Reading(whole)
        offsets = self.tokenizer(
            cleaned, truncation=True, max_length=self.limit, return_offsets_mapping=True
        ).offset_mapping
        return Reading(whole, cleaned[max(end for _, end in offsets) :].strip() or "…")

    def tokens(self, texts: Sequence[str]) -> "Tensor":
        """Token ids, int64 [n, limit], cut and padded."""
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

    Example:
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
