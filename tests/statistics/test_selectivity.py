"""Selectivity by brute force, and what must hold of any evaluator."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from statsmodels.stats.proportion import proportion_confint

from core.errors import InvalidInput
from core.statistics.arithmetic import row_medians
from core.statistics.selectivity import UNMOVED, Duels, above_chance, item_selectivity, selectivity, told_of

NUMBERS = st.one_of(st.integers(-3, 3).map(float), st.just(math.nan))


def brute(drops: np.ndarray, harms: np.ndarray, item: int) -> float:
    pairs = [(d, h) for d in drops[:, item] for h in harms[:, item] if not (math.isnan(d) or math.isnan(h))]
    return sum((d > h) + 0.5 * (d == h) for d, h in pairs) / len(pairs) if pairs else math.nan


@given(st.integers(1, 4), st.integers(1, 4), st.integers(1, 6), st.data())
def test_every_item_is_the_share_of_its_pairs(d: int, h: int, n: int, data: st.DataObject) -> None:
    drops = data.draw(arrays(np.float64, (d, n), elements=NUMBERS))
    harms = np.abs(data.draw(arrays(np.float64, (h, n), elements=NUMBERS)))
    found = item_selectivity(drops, harms)
    np.testing.assert_allclose(found, [brute(drops, harms, item) for item in range(n)])


@given(st.integers(1, 5), st.integers(1, 5), st.integers(1, 40), st.floats(-3, 3))
def test_an_evaluator_of_one_number_has_exactly_one_half(d: int, h: int, n: int, value: float) -> None:
    scores = np.full(n, value)
    found = selectivity(np.tile(scores - scores, (d, 1)), np.abs(np.tile(scores - scores, (h, 1))), unit=0.0)
    assert found.value.estimate == 0.5
    assert found.pooled == 0.5
    assert math.isnan(found.signal.estimate)
    if n >= 10:  # no more certain than of as many votes of which half say yes
        outer, inner = (proportion_confint(n / 2, n, method=name)[0] for name in ("beta", "wilson"))
        assert outer <= found.value.low <= inner
        assert found.value.low + found.value.high == pytest.approx(1)


@given(st.integers(1, 5), st.integers(1, 5), st.integers(1, 40), st.floats(0.01, 3))
def test_an_evaluator_that_reads_only_truth_has_one(d: int, h: int, n: int, truth: float) -> None:
    found = selectivity(np.full((d, n), truth), np.zeros((h, n)))
    assert (found.value.estimate, found.pooled) == (1.0, 1.0)
    assert found.n_pairs == d * h * n
    assert found.said


def test_an_evaluator_that_moves_at_everything_alike_has_about_one_half() -> None:
    rng = np.random.default_rng(0)
    found = selectivity(np.abs(rng.normal(size=(4, 400))), np.abs(rng.normal(size=(6, 400))))
    assert found.value.low < 0.5 < found.value.high


@given(st.floats(0.01, 100))
def test_no_scale_changes_it(factor: float) -> None:
    rng = np.random.default_rng(1)
    drops, harms = rng.normal(1, 1, size=(3, 30)), np.abs(rng.normal(size=(4, 30)))
    one, other = selectivity(drops, harms), selectivity(factor * drops, factor * harms, unit=factor)
    assert one.value.estimate == pytest.approx(other.value.estimate)
    assert one.signal.estimate == pytest.approx(other.signal.estimate)
    assert one.ratio.estimate == pytest.approx(other.ratio.estimate)


def test_signal_nuisance_and_their_ratio_by_hand() -> None:
    drops = np.tile(np.array([[1.0, 3.0], [2.0, 3.0], [3.0, 9.0]]), (1, 20))
    harms = np.tile(np.array([[0.5, 1.5]]), (1, 20))
    found = selectivity(drops, harms, unit=0.5)
    # item medians 2 and 3 of the drops, 0.5 and 1.5 of the harms; medians over items 2.5 and 1
    assert (found.signal.estimate, found.nuisance.estimate) == (pytest.approx(5.0), pytest.approx(2.0))
    assert found.ratio.estimate == pytest.approx(2.5)
    assert found.said == ""
    assert found.ratio.low <= 2.5 <= found.ratio.high


def test_harmless_edits_that_move_nothing_leave_the_ratio_to_words() -> None:
    harms = np.zeros((2, 40))
    harms[:, :3] = 0.1
    found = selectivity(np.ones((1, 40)), harms)
    assert found.said == UNMOVED
    assert math.isnan(found.ratio.estimate)


def test_items_of_one_source_are_drawn_together() -> None:
    rng = np.random.default_rng(3)
    hit = np.repeat(rng.uniform(size=30) < 0.7, 10)
    drops, harms = np.where(hit, 2.0, 0.0)[None], np.ones((1, 300))
    alone, together = selectivity(drops, harms), selectivity(drops, harms, sources=np.repeat(np.arange(30), 10))
    assert together.value.estimate == pytest.approx(alone.value.estimate)
    assert together.value.high - together.value.low > 2 * (alone.value.high - alone.value.low)


def test_an_item_without_one_half_of_the_audit_is_left_out() -> None:
    drops, harms = np.array([[1.0, math.nan, 1.0]]), np.array([[0.5, 0.5, math.nan]])
    found = selectivity(drops, harms)
    assert (found.value.n, found.n_pairs) == (1, 1)


def test_items_must_be_the_same() -> None:
    with pytest.raises(InvalidInput, match="same items"):
        selectivity(np.ones((1, 3)), np.ones((1, 4)))


@pytest.mark.parametrize("shared", [False, True])
def test_several_sets_of_drops_against_the_same_harms_are_each_as_alone(shared: bool) -> None:
    rng = np.random.default_rng(8)
    harms = np.abs(rng.normal(size=(3, 60)))
    drops = [rng.normal(0.5, 1.0, size=(count, 60)) for count in (1, 2, 4)]
    harms[:, 7] = math.nan  # an item without an unedited score has no pair in any of them
    drops[0][:, ::3] = math.nan
    drops.append(np.full((2, 60), math.nan))
    sources = np.arange(60) // 2 if shared else None
    held = [Duels.of(own, harms, np.zeros(len(harms), dtype=int)) for own in drops]
    sets = [(each, np.full(own.shape, True)) for each, own in zip(held, drops, strict=True)]
    found = told_of(
        [each.counted(all_, np.arange(60)) for each, all_ in sets],
        [row_medians(own) for own in drops],
        held[0].nuisance,
        [each.pooled(all_, np.arange(60)) for each, all_ in sets],
        unit=0.7,
        sources=sources,
    )
    for several, own in zip(found, drops, strict=True):
        alone = selectivity(own, harms, unit=0.7, sources=sources)
        assert (several.n_pairs, several.said) == (alone.n_pairs, alone.said)
        for name in ("value", "nuisance", "signal", "ratio"):
            one, other = (getattr(each, name) for each in (several, alone))
            assert (one.n, one.note) == (other.n, other.note)
            ends = ("estimate", "low", "high")
            np.testing.assert_allclose(
                [getattr(one, end) for end in ends], [getattr(other, end) for end in ends], rtol=1e-12, equal_nan=True
            )
        np.testing.assert_equal(several.pooled, alone.pooled)


@pytest.mark.parametrize("noise", [np.random.Generator.standard_normal, lambda rng, size: rng.standard_t(2, size)])
def test_noise_has_selectivity_within_its_interval_of_its_own_chance(noise: Callable[..., np.ndarray]) -> None:
    rng, runs, held = np.random.default_rng(2025), 400, 0
    for _ in range(runs):
        sources = np.repeat(np.arange(60), 2)
        shared = noise(rng, (12, 60))[:, sources] + noise(rng, (12, 120))
        drops, harms = shared[5] - shared[:5], np.abs(shared[6:11] - shared[5])
        found = above_chance((item_selectivity(drops, harms) - item_selectivity(-drops, harms)) / 2, sources=sources)
        held += found.low <= 0 <= found.high
    assert 0.93 <= held / runs <= 0.97


def test_chance_is_what_exchanged_sides_have_on_average_with_ties_and_deafness() -> None:
    drops, harms = np.array([[0.0, 1.0, 3.0, -2.0] * 3]), np.array([[0.0, 1.0, 1.0, 1.0] * 3])
    found = selectivity(drops, harms)
    each = [(item_selectivity(drops, harms) + item_selectivity(-drops, harms)) / 2]
    assert found.chance == pytest.approx(np.mean(each))
    assert np.mean(each) == pytest.approx((0.5 + 0.25 + 0.5 + 0.5) / 4)
    deaf = selectivity(np.zeros((2, 20)), np.zeros((3, 20)))
    assert (deaf.value.estimate, deaf.chance, deaf.above.estimate) == (0.5, 0.5, 0.0)
    assert deaf.above.low < 0 < deaf.above.high
