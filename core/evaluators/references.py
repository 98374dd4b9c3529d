"""Evaluators that compare a caption with reference captions by people."""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from core.errors import InvalidInput
from core.evaluators.base import DualEncoder, Evaluator, PartlyScored, all_scored, check_lengths

if TYPE_CHECKING:
    from torch import Tensor

NO_REFERENCE = (
    "{name} compares with reference captions and this item has no other caption; give some "
    "(more captions in the corpus, or --references)"
)

BY_WORDS = ("bleu-4", "meteor", "rouge-l", "cider-d")
"""Metrics that compare a caption with references by their words alone, as commands and pages call them; they see no
image and are no evaluators. :mod:`core.scoring.reference_metrics` computes them."""


def references_of(
    captions: Mapping[str, Sequence[str]], subject: str, *, language: str | None = None
) -> tuple[str, ...]:
    """Return an item's captions that serve as references while ``subject`` is scored.

    The subject itself is left out, and nothing else: every variant of an item is compared with the same references as
    its baseline.
    ``subject``: the caption that is scored, before any probe edits it.
    ``language``: of the references; None: the one that holds the subject, English where none does.
    Returns captions in the corpus' order, each once; empty where there are none.

    >>> references_of({"en": ["A cat.", "A pet on a sofa."]}, "A cat.")
    ('A pet on a sofa.',)
    """
    language = language or next((name for name, texts in captions.items() if subject in texts), "en")
    texts = [text for text in captions.get(language, ()) if text != subject and text.strip()]
    return tuple(dict.fromkeys(texts))


def harmonic_mean(score: float, likeness: float) -> float:
    """2ab / (a + b) of two non-negative numbers; 0 where both are 0.
    Source: Hessel et al., *CLIPScore* (2021), section 3 (RefCLIPScore)."""
    both = score + likeness
    return 2 * score * likeness / both if both > 0 else 0.0


def with_closest(score: float, cosines: np.ndarray) -> float:
    """The harmonic mean of a score and max(max of the cosines with references, 0); NaN where either is missing."""
    known = cosines[np.isfinite(cosines)]
    return harmonic_mean(score, max(float(known.max()), 0.0)) if len(known) and np.isfinite(score) else np.nan


class Referenced(Evaluator):
    """Scores pairs against references: S(x, c, R). Its spec says ``takes_references``."""

    @abstractmethod
    def score(
        self, images: Sequence[np.ndarray], captions: Sequence[str], references: Sequence[Sequence[str]] | None = None
    ) -> np.ndarray:
        """Score n pairs against n lists of references; float64 [n], NaN where a list is empty.
        Raises InvalidInput if there are no references at all, or not one list a pair."""


class ReferencedDualEncoder(DualEncoder, Referenced):
    """A dual encoder's score and the closest reference, in one number.

    With S the dual encoder's own score and t, t_r the unit embeddings of caption and references::

        likeness = max(max_r t · t_r, 0),     score = 2 · S · likeness / (S + likeness)

    Source: Hessel et al., *CLIPScore* (2021), section 3 (RefCLIPScore); PAC-S uses the same form."""

    def combine_with_references(
        self, image_embeddings: "Tensor", caption_embeddings: "Tensor", references: "Sequence[Tensor]"
    ) -> np.ndarray:
        """Score row by row: two [n, d] tensors and n tensors [r, d] give float64 [n]; NaN where r is 0."""
        own = self.combine(image_embeddings, caption_embeddings)
        scores = np.full(len(own), np.nan)
        for row, (caption, others) in enumerate(zip(caption_embeddings, references, strict=True)):
            scores[row] = with_closest(float(own[row]), (others.double() @ caption.double()).numpy())
        return scores

    def score(
        self, images: Sequence[np.ndarray], captions: Sequence[str], references: Sequence[Sequence[str]] | None = None
    ) -> np.ndarray:
        import torch

        check_lengths(images, captions)
        checked = check_references(self.spec.name, references, len(captions))
        if not images:
            return np.empty(0, dtype=np.float64)
        flat = self.encode_captions([text for texts in checked for text in texts])
        groups = torch.split(flat, [len(texts) for texts in checked])
        return self.combine_with_references(self.encode_images(images), self.encode_captions(captions), groups)


def among_referenced(
    name: str, references: Sequence[Sequence[str]], ask: Callable[[list[int]], np.ndarray]
) -> np.ndarray:
    """Score the pairs that have references; float64 [n].
    ``ask``: scores of the pairs at some places; it may raise PartlyScored.
    Raises PartlyScored where there is no reference, or ``ask`` gave no score."""
    there = [place for place, texts in enumerate(references) if texts]
    scores = np.full(len(references), np.nan)
    errors = [None if texts else NO_REFERENCE.format(name=name) for texts in references]
    if there:
        try:
            scores[there] = ask(there)
        except PartlyScored as partly:
            scores[there] = partly.scores
            for place, error in zip(there, partly.errors, strict=True):
                errors[place] = error
    return all_scored(scores, errors)


def check_references(name: str, references: Sequence[Sequence[str]] | None, pairs: int) -> Sequence[Sequence[str]]:
    """Return the references after checking that there is one list a pair. Raises InvalidInput otherwise."""
    if references is None:
        raise InvalidInput(f"{name} compares with reference captions; give a list of them for every pair")
    if len(references) != pairs:
        raise InvalidInput(f"{name} needs one list of references a pair, got {len(references)} for {pairs} pairs")
    return references
