"""Which items look most like one: the cosine of image embeddings that an evaluator has left in a cache.

Nothing is encoded here. Two pictures are alike by an evaluator's own eye, which is what its failures come from.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.evaluators.cache import IMAGE, EmbeddingCache


@dataclass(frozen=True, slots=True)
class Alike:
    """The items most like one.

    Args:
        evaluator: whose embeddings.
        items: with their cosines in [-1, 1], the item itself first, then the nearest; of equal ones the first by name.
        known: items of the run whose embedding is kept, the item itself among them.
    """

    evaluator: str
    items: tuple[tuple[str, float], ...]
    known: int


def alike(
    item: str, pixels: Mapping[str, str], fingerprints: Mapping[str, Sequence[str]], cache: EmbeddingCache, *, most: int
) -> Alike | None:
    """Return the items most like one, by the evaluator that has kept most embeddings; of equal ones the first.

    Args:
        item: its name.
        pixels: hash of the unedited picture of every item, by name.
        fingerprints: keys of every evaluator, by name.
        cache: where embeddings are kept.
        most: items returned beside the item itself.

    Returns:
        None where no evaluator has kept the item's embedding and another one's.
    """
    found = [(name, kept) for name, keys in fingerprints.items() for key in keys
             if len(kept := _kept(pixels, key, cache)) > 1 and item in kept]  # fmt: skip
    if not found:
        return None
    evaluator, kept = max(found, key=lambda each: len(each[1]))
    near = {name: float(kept[item] @ row) for name, row in kept.items() if name != item}
    first = sorted(near.items(), key=lambda each: (-each[1], each[0]))[:most]
    return Alike(evaluator, ((item, 1.0), *first), len(kept))


def _kept(pixels: Mapping[str, str], fingerprint: str, cache: EmbeddingCache) -> dict[str, np.ndarray]:
    """Unit vectors that are kept, by item; embeddings of several rows, or without a length, are left out."""
    rows = cache.get_many(fingerprint, IMAGE, list(dict.fromkeys(pixels.values())))
    found = {name: rows[key].astype(np.float64) for name, key in pixels.items() if key in rows and rows[key].ndim == 1}
    return {name: row / length for name, row in found.items() if (length := np.linalg.norm(row)) > 0}
