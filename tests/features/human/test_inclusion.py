"""How likely an item is to be drawn, against strata where it can be counted and against the sampler itself."""

import numpy as np
import pandas as pd

from core.features.human.sampling import PAPER_STRATA, _draw, family_strata, inclusion, strata_named


def test_one_stratum_draws_every_item_alike() -> None:
    (found,) = inclusion([np.arange(20)], [5])
    np.testing.assert_allclose(found, 0.25)


def test_items_of_an_earlier_stratum_come_last() -> None:
    """The first takes 2 of items 0 to 3; the second wants 4 of 0 to 5: 4 and 5, and the two that were not taken."""
    first, second = inclusion([np.arange(4), np.arange(6)], [2, 4])
    np.testing.assert_allclose(first, 0.5)
    np.testing.assert_allclose(second, [0.5, 0.5, 0.5, 0.5, 1, 1])


def test_it_is_how_the_sampler_draws() -> None:
    """Drawn 600 times by the sampler of studies, each item comes about as often as said."""
    held = [np.arange(12), np.arange(6, 18), np.arange(0, 18, 2)]
    taken = [5, 6, 4]
    counts = [np.zeros(18) for _ in held]
    for seed in range(600):
        used: set[str] = set()
        for number, places in enumerate(held):
            rows = pd.DataFrame({"corpus": "c", "item": [str(place) for place in places], "probe": "p"})
            drawn = _draw(rows, taken[number], used, seed=seed, name=f"s{number}")
            used |= set(drawn["item"])
            counts[number][drawn["item"].astype(int)] += 1
    for found, places, count in zip(inclusion(held, taken), held, counts, strict=True):
        np.testing.assert_allclose(found, count[places] / 600, atol=0.08)
        assert np.isclose(found.sum(), count.sum() / 600)


def test_the_strata_of_a_study_are_known_by_their_names() -> None:
    assert strata_named([each.name for each in PAPER_STRATA]) == PAPER_STRATA
    chosen = family_strata(["rotation", "blur"], ["foil"])
    assert strata_named([each.name for each in chosen]) == chosen
