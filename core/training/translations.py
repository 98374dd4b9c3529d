"""How well a text encoder finds an English sentence by its translation, among the teacher's embeddings."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from core.seeds import stream
from core.training.sentences import Lesson

if TYPE_CHECKING:
    from torch import Tensor

MOST_MEASURED = 2000
"""Held-out sentences that are looked for at most: each is compared with each."""
RESAMPLES = 2000
_CHUNK = 512


@dataclass(frozen=True, slots=True)
class Found:
    """Held-out sentences, looked for by their texts.

    Args:
        found: by language, percent of the texts to whose embedding the teacher's of their own English sentence is the
            nearest by cosine, among those of all ``candidates``.
        mean_found: mean of ``found`` over the languages, in percent.
        low, high: its 95 % interval, percentile bootstrap over sources.
        cosine: by language, mean cosine with the teacher's embedding.
        error: by language, the loss: mean squared difference, over texts and dimensions.
        candidates, texts, sources: how many distinct English sentences, texts and sources.
    """

    found: Mapping[str, float]
    mean_found: float
    low: float
    high: float
    cosine: Mapping[str, float]
    error: Mapping[str, float]
    candidates: int
    texts: int
    sources: int

    def as_dict(self) -> dict[str, Any]:
        """For a file."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def look_for(
    held_out: Sequence[Lesson],
    teacher: "Mapping[str, Tensor]",
    embed: "Callable[[Sequence[str]], Tensor]",
    *,
    seed: int,
) -> Found:
    """Embed held-out texts and look for the English sentence of each.

    Args:
        teacher: embeddings of English sentences, float32 [d], by their text.
        embed: maps n texts to embeddings, float32 [n, d] on the CPU.
        seed: of the interval.
    """
    import torch

    english = list(dict.fromkeys(each.english for each in held_out))
    place = {text: index for index, text in enumerate(english)}
    targets = torch.stack([teacher[text] for text in english])
    made = embed([each.text for each in held_out])
    own = torch.tensor([place[each.english] for each in held_out])
    hit = (_nearest(made, targets) == own).numpy()
    cosines = torch.nn.functional.cosine_similarity(made.double(), targets[own].double(), dim=-1).numpy()
    errors = (made.double() - targets[own].double()).square().mean(dim=-1).numpy()
    languages = np.array([each.language for each in held_out])
    names = list(dict.fromkeys(languages.tolist()))
    sources = list(dict.fromkeys(each.source for each in held_out))
    rows = _counts(held_out, hit, names, sources)
    drawn = stream(seed, "interval").multinomial(len(sources), np.full(len(sources), 1 / len(sources)), size=RESAMPLES)
    low, high = np.nanpercentile(_mean_found(rows, drawn), [2.5, 97.5])

    def mean(values: np.ndarray) -> dict[str, float]:
        return {name: float(values[languages == name].mean()) for name in names}

    return Found(
        {name: 100 * share for name, share in mean(hit).items()},
        float(_mean_found(rows, np.ones((1, len(sources))))[0]),
        float(low),
        float(high),
        mean(cosines),
        mean(errors),
        len(english),
        len(held_out),
        len(sources),
    )


def drawn(held_out: Sequence[Lesson], *, seed: int) -> tuple[Lesson, ...]:
    """The lessons of at most MOST_MEASURED held-out English sentences, drawn by the seed, in their order."""
    english = list(dict.fromkeys(each.english for each in held_out))
    order = stream(seed, "measured").permutation(len(english))[:MOST_MEASURED]
    kept = {english[index] for index in order}
    return tuple(each for each in held_out if each.english in kept)


def _nearest(made: "Tensor", targets: "Tensor") -> "Tensor":
    import torch
    from torch.nn.functional import normalize

    unit = normalize(targets, dim=-1).T
    return torch.cat([(normalize(part, dim=-1) @ unit).argmax(dim=-1) for part in made.split(_CHUNK)])


def _counts(
    held_out: Sequence[Lesson], hit: np.ndarray, names: Sequence[str], sources: Sequence[str]
) -> list[tuple[np.ndarray, np.ndarray]]:
    """For each language how many texts of each source are found, and how many there are."""
    rank = {name: index for index, name in enumerate(sources)}
    rows = np.array([rank[each.source] for each in held_out])
    languages = np.array([each.language for each in held_out])
    return [
        (
            np.bincount(rows[languages == name], weights=hit[languages == name], minlength=len(sources)),
            np.bincount(rows[languages == name], minlength=len(sources)).astype(float),
        )
        for name in names
    ]


def _mean_found(rows: Sequence[tuple[np.ndarray, np.ndarray]], drawn: np.ndarray) -> np.ndarray:
    """Mean over the languages in percent, for each row of how often every source counts."""
    with np.errstate(divide="ignore", invalid="ignore"):
        every = [(drawn @ found) / (drawn @ of) for found, of in rows]
    mean: np.ndarray = 100 * np.nanmean(every, axis=0)
    return mean
