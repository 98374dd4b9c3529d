"""EMScore: how well a caption fits the frames of a video, as a whole and token by token.

With v_1 … v_J the unit embeddings of the frames, t_1 … t_L those of the caption's tokens (both markers among them, the
closing one last) and w_l the weights of the tokens::

    coarse = unit(mean_j v_j) · t_L
    P = Σ_l w_l max_j v_j · t_l / Σ_l w_l          R = mean_j max_l v_j · t_l
    F = 2 P R / (P + R),     score = (coarse + F) / 2

Against a reference caption, its tokens r_1 … r_M with weights u_m take the place of the frames::

    coarse = r_M · t_L,     P = Σ_l w_l max_m r_m · t_l / Σ_l w_l,     R = Σ_m u_m max_l r_m · t_l / Σ_m u_m

and of several references the largest coarse part and the largest F count, each for itself. Nothing is clipped at 0 and
nothing is scaled. The order of the frames has no part in it: any order of the same frames has the same score.

Each pair is worked out by itself in float64 over its own frames and tokens, so that there is no padding to be masked
and no other pair to depend on.

Source: Sarto et al., PAC-S++ (2025), equations 6 to 14, after Shi et al., EMScore (2022).

How rare a token is in a corpus of captions: a file that is built once, checked when it is read, and fingerprinted.

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
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from core.corpora.versioned_files import read_small
from core.errors import InvalidInput

MOST_BYTES = 64 << 20
MOST_WORDS = 66  # sentences with more words are left out of a corpus, as EMScore's authors do
NONE = "none: every token counts the same"  # what a fingerprint says of an evaluator without document frequencies
_Count = Annotated[int, Field(ge=1)]


class Idf(BaseModel):
    """Document frequencies of a corpus of captions."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal["invariscope-idf"] = "invariscope-idf"
    version: Literal[1] = 1
    corpus: Annotated[str, StringConstraints(min_length=1, max_length=300)]
    tokenizer: Annotated[str, StringConstraints(min_length=1, max_length=100)]
    end: Annotated[int, Field(ge=0)]  # id of the closing marker
    sentences: _Count  # N, those that were counted
    left_out: Annotated[int, Field(ge=0)] = 0  # blank ones and those of more than :data:`MOST_WORDS` words
    # token id -> number of sentences that hold it
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
    ``captions``: one sentence each; blank ones and those of more than MOST_WORDS words are left out.
    ``tokens``: maps sentences to the ids of their tokens, markers included, padding not.
    Raises InvalidInput if no sentence is left."""
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
    Raises InvalidInput if it cannot be read, is too large, or is no such file; the sentence says where."""
    anew = "make it with: python -m core video idf captions.txt -o idf.json"
    return read_small(path, Idf, most=MOST_BYTES, called="a file of document frequencies", anew=anew)


NO_FRAME = "the video has no frame"
NO_MEAN = "precision and recall sum to {sum:.4f}, which is not above 0: they have no harmonic mean"
NO_REFERENCE = "no reference caption can be compared with: {reason}"


@dataclass(frozen=True, slots=True, eq=False)
class Tokens:
    """A caption as its text tower reads it.
    ``vectors``: float [L, d], unit length, the closing marker last. ``weights``: float64 [L], each at least 0."""

    vectors: np.ndarray
    weights: np.ndarray


@dataclass(frozen=True, slots=True)
class Match:
    """What a caption gets of a video, or of a reference."""

    coarse: float  # cosine of both wholes, in [-1, 1]
    precision: float = math.nan  # P; NaN where there is none
    recall: float = math.nan  # R, in [-1, 1]; NaN where there is none
    fine: float = math.nan  # F; NaN where there is none
    error: str = ""  # why there is no F, one sentence without its full stop; empty where there is one

    @property
    def score(self) -> float:
        """Mean of the coarse part and F; NaN without F."""
        return (self.coarse + self.fine) / 2


def whole(frames: np.ndarray) -> np.ndarray:
    """Embedding of the whole video: the mean of its frames, brought to unit length; NaN where that mean is 0.
    ``frames``: [J, d], unit length. Returns float64 [d]. Raises InvalidInput if there is no frame."""
    if len(frames) == 0:
        raise InvalidInput(f"{NO_FRAME}; give at least one")
    # fsum is exact, so that no order of the frames moves the last digit
    mean = np.array([math.fsum(each) for each in np.asarray(frames, dtype=np.float64).T]) / len(frames)
    length = float(np.linalg.norm(mean))
    return np.asarray(mean / length if length > 0 else np.full_like(mean, np.nan))


def cosines(tokens: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Cosine of every token with every frame, or token of a reference.
    ``tokens``: [L, d], unit length. ``others``: [J, d], unit length. Returns float64 [L, J]."""
    # einsum adds in one order whatever the shapes; a matrix product may round differently with their size
    return np.asarray(np.einsum("ld,jd->lj", np.asarray(tokens, np.float64), np.asarray(others, np.float64)))


def video_match(frames: np.ndarray, caption: Tokens) -> Match:
    """What a caption gets of a video. ``frames``: [J, d], unit length, J at least 1. ``caption``: at least one token.
    Raises InvalidInput if there is no frame."""
    coarse = float(whole(frames) @ np.asarray(caption.vectors[-1], np.float64))
    return _matched(coarse, cosines(caption.vectors, frames), caption.weights, np.ones(len(frames)))


def reference_match(references: Sequence[Tokens], caption: Tokens) -> Match:
    """What a caption gets of the references: the largest coarse part and the largest F, each for itself. Precision and
    recall are those of the reference with the largest F. References whose F is not defined count in neither."""
    own, found = np.asarray(caption.vectors[-1], np.float64), []
    for each in references:
        coarse = float(np.asarray(each.vectors[-1], np.float64) @ own)
        found.append(_matched(coarse, cosines(caption.vectors, each.vectors), caption.weights, each.weights))
    usable = [each for each in found if not each.error]
    if not usable:
        reason = found[0].error if found else "there is none"
        return Match(math.nan, error=NO_REFERENCE.format(reason=reason))
    best = max(usable, key=lambda each: each.fine)
    return Match(max(each.coarse for each in usable), best.precision, best.recall, best.fine)


def _matched(coarse: float, similar: np.ndarray, weights: np.ndarray, other_weights: np.ndarray) -> Match:
    total, other_total = math.fsum(weights), math.fsum(other_weights)
    if math.isnan(coarse):
        return Match(coarse, error="the frames cancel each other out: their mean has no direction")
    if not (total > 0 and other_total > 0):
        why = "every token of the caption has the weight 0, so that its precision has no denominator"
        return Match(coarse, error=why)
    precision = math.fsum(weights * similar.max(axis=1)) / total
    recall = math.fsum(other_weights * similar.max(axis=0)) / other_total
    if not precision + recall > 0:
        return Match(coarse, precision, recall, error=NO_MEAN.format(sum=precision + recall))
    return Match(coarse, precision, recall, 2 * precision * recall / (precision + recall))
