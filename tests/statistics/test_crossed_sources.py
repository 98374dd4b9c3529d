"""Intervals and tests of values that name two sources: they hold the truth, and one source is as ever."""

from collections.abc import Callable

import numpy as np
import pytest

from core.features.human.crossed_votes import exchange, rate
from core.statistics.agreement import agreement, weighted_kappa
from core.statistics.bootstrap import Interval, median_bca
from core.statistics.crossed_sources import LEAST_SECOND, numbered, unreckoned, widening
from core.statistics.flip_risk import CaptionPairs, ShiftPairs, intervals_of
from core.statistics.rank_agreement import rank_agreement
from core.statistics.ratios import mean_bca, means_bca, median_ratios_bca
from core.statistics.shares import mean_changes, share, share_of_fractions
from core.statistics.shift_tests import median_differences, paired_test

CUT_OUTS, BACKGROUNDS = 197, 22
SIZES = np.array([36, 35, 26, 21, 18, 13, 12, 11, 10, 8, 7, 7, 6, 6, 5, 4, 4, 4, 4, 3, 3, 1])
"""Items of each background of the demo corpus."""


def sources_of(rng: np.random.Generator, n: int = 250) -> np.ndarray:
    """Cut-out and background of each item, as unequal as the demo corpus has them."""
    more = rng.integers(CUT_OUTS, size=n - CUT_OUTS)
    first = np.concatenate([np.arange(CUT_OUTS), more])
    return np.stack([first, rng.choice(BACKGROUNDS, p=SIZES / SIZES.sum(), size=n)], axis=1)


def drawn(rng: np.random.Generator, groups: np.ndarray, heavy: bool, each: float = 0.15) -> np.ndarray:
    """Values of which each source has a share of the variance, with median and mean 0; heavy tails are t₂'s."""
    first, second = (rng.standard_normal(groups[:, side].max() + 1)[groups[:, side]] for side in (0, 1))
    rest = rng.standard_t(2, len(groups)) if heavy else rng.standard_normal(len(groups))
    return np.sqrt(each) * (first + second) + np.sqrt(1 - 2 * each) * rest


def apart(values: np.ndarray, groups: np.ndarray) -> Interval:
    one = np.asarray(groups.reshape(len(groups), -1)[:, -1] % 2 == 0)
    sides = (groups[one], groups[~one])
    return median_differences(values[one], values[~one], levels=(0.95,), groups=sides, resamples=1000)[0]


INTERVALS: dict[str, tuple[Callable[[np.ndarray, np.ndarray], Interval], float, bool]] = {
    "median": (lambda values, groups: median_bca(values, groups=groups, resamples=1000), 0.0, True),
    "mean": (lambda values, groups: mean_bca(values, groups=groups, resamples=1000), 0.0, False),
    "share": (lambda values, groups: share(values > 0, groups=groups), 0.5, True),
    "difference of medians": (apart, 0.0, True),
}


@pytest.mark.whole
@pytest.mark.parametrize("heavy", [False, True], ids=["normal", "t2"])
@pytest.mark.parametrize("name", INTERVALS)
def test_intervals_hold_the_truth_under_two_crossed_sources(name: str, heavy: bool) -> None:
    made, truth, steady = INTERVALS[name]
    if heavy and not steady:
        pytest.skip("a mean of t₂ has no variance")
    rng, held, tried = np.random.default_rng(11), 0, 1000
    for _ in range(tried):
        groups = sources_of(rng)
        found = made(drawn(rng, groups, heavy), groups)
        held += found.low <= truth <= found.high
    assert 0.92 < held / tried < 0.98


def test_an_interval_by_the_first_source_alone_would_hold_far_too_rarely() -> None:
    rng, held = np.random.default_rng(5), np.zeros(2)
    for _ in range(200):
        groups = sources_of(rng)
        values = drawn(rng, groups, heavy=False)
        for place, of in enumerate((groups[:, 0], groups)):
            found = median_bca(values, groups=of, resamples=500)
            held[place] += found.low <= 0 <= found.high
    assert held[0] / 200 < 0.85
    assert held[1] / 200 > 0.9


@pytest.mark.whole
def test_tests_raise_no_more_false_alarms_than_they_say_and_agree_with_the_interval() -> None:
    rng, alarms, unlike, tried = np.random.default_rng(7), 0, 0, 1000
    for _ in range(tried):
        groups = sources_of(rng)
        values = drawn(rng, groups, heavy=False)
        p = paired_test(np.zeros(len(values)), values, groups=groups).p
        found = mean_changes(values, np.ones(len(values)), levels=(0.95,), groups=groups)[0]
        alarms += p < 0.05
        unlike += (p < 0.05) != found.excludes_zero()
    assert alarms / tried < 0.08
    assert unlike / tried < 0.05


def every(values: np.ndarray, groups: np.ndarray) -> list[object]:
    """What each estimator says of some values and their sources."""
    n = len(values)
    items = np.arange(n)
    yes = np.clip(np.round(2 + 2 * values), 0, 4)
    said = agreement(np.stack([yes, 4 - yes], axis=1), groups=groups)
    graded = np.digitize(values, (-0.5, 0.5, 1.5))
    voted = exchange(
        np.tile(values > 0.5, 3)[:, None] * 1.0, np.tile(items, 3), np.repeat(np.arange(3), n), lambda sums: sums / 3
    )
    return [
        median_bca(values, groups=groups),
        mean_bca(values, groups=groups),
        *means_bca(np.stack([values, values**2]), groups=groups),
        median_ratios_bca([values], np.abs(values) + 1, groups=groups)[0],
        share(values > 0, groups=groups),
        share_of_fractions(np.clip(np.abs(values), 0, 1), groups=groups),
        *mean_changes(values, np.ones(n), levels=(0.95, 0.9), groups=groups),
        paired_test(np.zeros(n), values, groups=groups),
        *(said.percent, said.fleiss, said.randolph, said.gwet, said.alpha),
        weighted_kappa(graded, np.maximum(graded - items % 2, 0), answers=4, groups=groups),
        rate(voted, 0, groups=groups).interval(),
        rank_agreement(values, values**3 + np.cos(items), groups=groups),
        intervals_of(ShiftPairs(values, items, groups), (0.5,))[0],
        CaptionPairs(values, values + np.sin(items), items, groups).risk(0.3),
    ]


def test_a_second_source_that_is_the_first_changes_nothing() -> None:
    rng = np.random.default_rng(3)
    first = sources_of(rng)[:, 0]
    values = drawn(rng, np.stack([first, first], axis=1), heavy=True)
    for one, other in zip(every(values, first), every(values, np.stack([first, 1000 - first], axis=1)), strict=True):
        assert str(one) == str(other)
    assert numbered(first, first).ndim == 1


def test_a_second_source_makes_every_interval_longer_and_every_p_larger_where_it_matters() -> None:
    rng = np.random.default_rng(4)
    groups = sources_of(rng)
    values = drawn(rng, groups, heavy=False, each=0.4) + 0.5
    for one, other in zip(every(values, groups[:, 0]), every(values, groups), strict=True):
        if isinstance(one, Interval) and isinstance(other, Interval):
            assert one.estimate == other.estimate
            assert other.high - other.low > (one.high - one.low) * 1.05
        else:
            name = "p" if hasattr(one, "p") else "kendall_p"
            assert getattr(other, name) > getattr(one, name)


@pytest.mark.parametrize(
    ("second", "note"),
    [
        (np.zeros(60, dtype=int), "by the first source alone: all are of one second source"),
        (
            np.arange(60) % 3,
            f"by the first source alone: the second ones are as uneven as 3.0 equal ones, below {LEAST_SECOND:g}",
        ),
        (np.arange(60) % 6, ""),
    ],
)
def test_what_cannot_be_told_is_said(second: np.ndarray, note: str) -> None:
    groups = np.stack([np.arange(60) // 2, second], axis=1)
    values = np.random.default_rng(1).standard_normal(60)
    assert unreckoned(groups) == note
    for found in (median_bca(values, groups=groups), share(values > 0, groups=groups)):
        assert found.note == note
    assert paired_test(np.zeros(60), values, groups=groups).note.endswith(note)
    if note:
        assert widening(values, groups) == 1
        alone = median_bca(values, groups=groups[:, 0])
        assert (alone.low, alone.high) == (
            median_bca(values, groups=groups).low,
            median_bca(values, groups=groups).high,
        )


def test_a_source_that_says_nothing_more_is_no_second_one() -> None:
    assert numbered(["a", "b", "b"], ["x", "x", "x"]).tolist() == [0, 1, 1]
    assert numbered(["a", "b", "c"], ["x", "y", "z"]).tolist() == [0, 1, 2]
    assert numbered(["a", "b", "c"], ["x", "x", "z"]).tolist() == [[0, 0], [1, 0], [2, 1]]
