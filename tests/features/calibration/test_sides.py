"""Sensitivities before and after, each over the spread of its own side: intervals in a world whose truth is known."""

import math

import numpy as np
import pytest

from core.features.calibration.orbits import Family, Orbits, ratio, side_of
from core.statistics.bootstrap import LEAST_N

RUNS = 200
NAMES = ["flip", "rotation"]
Drawn = tuple[np.ndarray, np.ndarray, np.ndarray]


def drawn(rng: np.random.Generator, n: int) -> Drawn:
    """Clean scores, and the shifts of two families before and after, which go together, [2, n] each."""
    before = rng.standard_t(4, size=(2, n))
    return rng.normal(size=n), before, 0.5 * before + 0.4 * rng.standard_t(4, size=(2, n))


def scored(clean: np.ndarray, shifts: np.ndarray) -> Orbits:
    base = clean[None, :]
    families = {
        name: Family("spatial", (name,), clean + own[None, :], base) for name, own in zip(NAMES, shifts, strict=True)
    }
    return Orbits("e", tuple(("c", str(place)) for place in range(len(clean))), clean, families)


@pytest.mark.parametrize("n", [10, 30, 100])
def test_sensitivities_and_their_ratio_are_where_their_intervals_say(n: int) -> None:
    _, before, after = drawn(np.random.default_rng(1), 500_000)
    one, other = (np.median(np.abs(each), axis=1) for each in (before, after))  # unedited scores have a deviation of 1
    held = np.zeros(3)
    for run in range(RUNS):
        clean, before, after = drawn(np.random.default_rng((7, run)), n)
        first, second = side_of(scored(clean, before)), side_of(scored(clean, after))
        mean, single, told = first.mean(NAMES), first.sensitivity("flip"), ratio(first, second, NAMES)
        held += [
            mean.low <= one.mean() <= mean.high,
            single.low <= one[0] <= single.high,
            told["ratio_low"] <= other.mean() / one.mean() <= told["ratio_high"],
        ]
    assert (held / RUNS >= 0.92).all(), held / RUNS
    assert (held / RUNS <= 0.985).all(), held / RUNS


def test_few_items_and_few_sources_have_a_sensitivity_and_no_interval() -> None:
    clean, before, after = drawn(np.random.default_rng(2), LEAST_N - 1)
    first, second = side_of(scored(clean, before)), side_of(scored(clean, after))
    found = first.mean(NAMES)
    assert found.estimate > 0
    assert math.isnan(found.low)
    assert found.note == f"no interval (n = {LEAST_N - 1}, below {LEAST_N})"
    told = ratio(first, second, NAMES)
    assert told["ratio"] > 0
    assert math.isnan(told["ratio_low"])
    clean, before, _ = drawn(np.random.default_rng(3), 30)
    few = scored(clean, before)
    few = Orbits(few.evaluator, few.items, few.clean, few.families, np.arange(30) % 5)
    assert "30 items of 5 sources" in side_of(few).sensitivity("flip").note
