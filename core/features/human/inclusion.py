"""How likely each item was to be drawn for a study, by the very way in which :mod:`core.features.human.sampling` draws.

A stratum takes items at random, and items that an earlier stratum took come last. So items that earlier strata could
take are a little rarer in the later ones. Items that lie in the same earlier strata are alike; the share that is drawn
of each such class is found by drawing many times.
"""

from collections.abc import Sequence

import numpy as np

from core.seeds import RUN_SEED

MOST_DRAWS, FEWEST_DRAWS, EFFORT = 2000, 200, 2_000_000
"""Draws of the whole sample: so many that items times draws are EFFORT, within bounds."""


def inclusion(
    held: Sequence[np.ndarray], taken: Sequence[int], *, draws: int | None = None, seed: int = RUN_SEED
) -> list[np.ndarray]:
    """Probability of each item of each stratum to be drawn for it.

    Args:
        held: the places of each stratum's items among all items, int [N_h], in the order of drawing.
        taken: how many each stratum took.
        draws: how often the whole sample is drawn; None: by how many items there are.
        seed: of the draws.

    Returns:
        float64 [N_h] a stratum; exact where no earlier stratum shares an item.
    """
    count = 1 + max((int(each.max()) for each in held if len(each)), default=0)
    rng = np.random.default_rng(seed)
    draws = draws or int(np.clip(EFFORT // count, FEWEST_DRAWS, MOST_DRAWS))
    hits = [np.zeros(len(each)) for each in held]
    for _ in range(draws):
        used = np.zeros(count, dtype=bool)
        for places, wanted, hit in zip(held, taken, hits, strict=True):
            first = np.argsort(rng.random(len(places)) + used[places])[:wanted]  # keys below 1: the used come last
            hit[first] += 1
            used[places[first]] = True
    classes = _classes(held, count)
    return [_pooled(hit / draws, own) for hit, own in zip(hits, classes, strict=True)]


def _classes(held: Sequence[np.ndarray], count: int) -> list[np.ndarray]:
    """For each stratum which of its items lie in the same earlier strata, as a number a class."""
    before = np.zeros((count, 0), dtype=bool)
    found = []
    for places in held:
        found.append(np.unique(before[places], axis=0, return_inverse=True)[1].ravel())
        inside = np.zeros((count, 1), dtype=bool)
        inside[places] = True
        before = np.hstack([before, inside])
    return found


def _pooled(shares: np.ndarray, classes: np.ndarray) -> np.ndarray:
    if not len(shares):
        return shares
    return np.asarray((np.bincount(classes, shares) / np.bincount(classes))[classes])
