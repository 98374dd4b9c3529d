"""How rare a token is in a corpus of captions: a file that is built once, checked when it is read, and fingerprinted.

With N sentences, n of which hold a token, its weight is ln((N + 1) / (n + 1)); a token that no sentence holds has
ln(N + 1). The closing marker has the mean weight of all tokens of the corpus, both markers among them; the opening one,
which every sentence holds, has 0.

Source: Shi et al., EMScore (2022), section 3.2, and their code.
"""

import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from core.errors import InvalidInput

MOST_BYTES = 64 << 20
MOST_WORDS = 66
"""Sentences with more words are left out of a corpus, as EMScore's authors do."""

NONE = "none: every token counts the same"
"""What a fingerprint says of an evaluator without document frequencies."""

_Count = Annotated[int, Field(ge=1)]


class Idf(BaseModel):
    """Document frequencies of a corpus of captions.

    Args:
        corpus: what the captions are, for a reader.
        tokenizer: that made tokens of them.
        end: id of the closing marker.
        sentences: N, those that were counted.
        left_out: blank ones and those of more than :data:`MOST_WORDS` words.
        frequencies: token id -> number of sentences that hold it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal["invariscope-idf"] = "invariscope-idf"
    version: Literal[1] = 1
    corpus: Annotated[str, StringConstraints(min_length=1, max_length=300)]
    tokenizer: Annotated[str, StringConstraints(min_length=1, max_length=100)]
    end: Annotated[int, Field(ge=0)]
    sentences: _Count
    left_out: Annotated[int, Field(ge=0)] = 0
    frequencies: Annotated[dict[Annotated[int, Field(ge=0)], _Count], Field(min_length=1, max_length=1_000_000)]

    @model_validator(mode="after")
    def _possible(self) -> "Idf":
        most = max(self.frequencies.values())
        if most > self.sentences:
            raise ValueError(f"a token stands in {most} sentences, of {self.sentences} in all")
        if self.frequencies.get(self.end) != self.sentences:
            raise ValueError(f"the closing marker {self.end} must stand in all {self.sentences} sentences")
        return self

    @cached_property
    def sha256(self) -> str:
        """Hash of what the weights depend on: tokenizer, N and the frequencies, whatever the file looks like."""
        told = [self.tokenizer, self.end, self.sentences, sorted(self.frequencies.items())]
        return hashlib.sha256(json.dumps(told).encode()).hexdigest()

    @cached_property
    def mean(self) -> float:
        """Mean weight of the tokens of the corpus, both markers among them with what the frequencies give them."""
        return math.fsum(self._weight(each) for each in self.frequencies.values()) / len(self.frequencies)

    def weights(self, ids: Sequence[int]) -> np.ndarray:
        """Weight of each token, float64 [L], at least 0."""
        return np.array(
            [self.mean if each == self.end else self._weight(self.frequencies.get(each, 0)) for each in ids],
            dtype=np.float64,
        )

    def _weight(self, frequency: int) -> float:
        return math.log((self.sentences + 1) / (frequency + 1))


def build_idf(
    captions: Iterable[str],
    tokens: Callable[[Sequence[str]], Sequence[Sequence[int]]],
    *,
    corpus: str,
    tokenizer: str,
    end: int,
    batch: int = 1024,
) -> Idf:
    """Count in how many captions each token stands.

    Args:
        captions: one sentence each; blank ones and those of more than MOST_WORDS words are left out.
        tokens: maps sentences to the ids of their tokens, markers included, padding not.
        corpus: what the captions are.
        tokenizer: its name.
        end: id of the closing marker.
        batch: most sentences in one call of ``tokens``.

    Raises:
        InvalidInput: if no sentence is left.
    """
    counted: Counter[int] = Counter()
    sentences, left_out, part = 0, 0, list[str]()

    def take() -> None:
        for ids in tokens(part) if part else ():
            counted.update(set(ids))
        part.clear()

    for caption in captions:
        words = len(caption.split())
        if not 0 < words <= MOST_WORDS:
            left_out += 1
            continue
        sentences += 1
        part.append(caption)
        if len(part) == batch:
            take()
    take()
    if not sentences:
        raise InvalidInput(
            f"{corpus} holds no sentence of 1 to {MOST_WORDS} words, {left_out} were left out; "
            "give captions, one a line"
        )
    return Idf(
        corpus=corpus,
        tokenizer=tokenizer,
        end=end,
        sentences=sentences,
        left_out=left_out,
        frequencies=dict(sorted(counted.items())),
    )


def read_idf(path: Path) -> Idf:
    """Read a file of document frequencies.

    Raises:
        InvalidInput: if it cannot be read, is too large, or is no such file; the sentence says where.
    """
    try:
        if path.stat().st_size > MOST_BYTES:
            raise InvalidInput(f"{path} is larger than {MOST_BYTES >> 20} MB and no file of document frequencies")
        return Idf.model_validate_json(path.read_bytes())
    except OSError as error:
        raise InvalidInput(
            f"{path} cannot be read: {error.strerror or error}; make it with: "
            "python -m core video idf captions.txt -o idf.json"
        ) from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise InvalidInput(
            f"{path} holds no document frequencies: {where}: {first['msg']}; make it with: "
            "python -m core video idf captions.txt -o idf.json"
        ) from error
