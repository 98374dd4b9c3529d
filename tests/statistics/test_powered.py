"""Prediction-powered means against ppi-python 0.2.3, a numerical minimum, and populations that are known."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

from core.errors import InvalidInput
from core.features.human.prediction_powered import Powered, Stratum, powered_mean


def drawn(n: int = 60, rest: int = 60) -> Stratum:
    """Labels and predictions by a formula, so that another program can be given the same."""
    i, j = np.arange(n), np.arange(rest)
    labels = ((i * 7) % 10 < 6).astype(float)
    predicted = np.clip(0.15 + 0.6 * labels + 0.2 * np.sin(i), 0, 1)
    return Stratum(1.0, labels, predicted, np.clip(0.5 + 0.35 * np.sin(1.7 * j) + 0.1 * np.cos(j), 0, 1))


@pytest.mark.parametrize(
    ("tuning", "estimate", "error"),
    [
        (0.0, 0.6, 0.06324555320336757),
        (0.5, 0.5909772906413289, 0.04867973242235087),
        (1.0, 0.5819545812826578, 0.046187254764871864),
    ],
)
def test_estimate_and_error_are_those_of_ppi_python(tuning: float, estimate: float, error: float) -> None:
    """Numbers of ``ppi_mean_pointestimate`` and ``ppi_mean_ci``, which divide by n where we divide by n - 1."""
    found = powered_mean([drawn()], tuning=tuning)
    assert found.estimate == pytest.approx(estimate, rel=1e-12)
    assert found.error == pytest.approx(error * math.sqrt(60 / 59), rel=1e-9)


def test_the_tuned_weight_is_about_that_of_ppi_python() -> None:
    """It pools the predictions of both samples for their variance: λ 0.828 where we have each sample's own."""
    ours = powered_mean([drawn()])
    theirs = (0.6 - 0.5850753616238673) / (0.6 - 0.5819545812826578)
    assert ours.tuning == pytest.approx(theirs, abs=0.03)
    assert ours.estimate == pytest.approx(0.5850753616238673, abs=1e-3)
    assert ours.error == pytest.approx(0.0453582654942347 * math.sqrt(60 / 59), rel=2e-3)


def test_the_tuned_weight_is_where_the_error_is_smallest() -> None:
    strata = [made(seed=1, share=0.3, n=25, rest=200), made(seed=2, share=0.7, n=40, rest=300)]
    best = optimize.minimize_scalar(
        lambda tuning: powered_mean(strata, tuning=tuning).error, bounds=(0, 1), method="bounded"
    )
    assert powered_mean(strata).tuning == pytest.approx(best.x, abs=1e-4)
    assert 0 < best.x < 1


def made(*, seed: int, share: float = 1.0, n: int = 30, rest: int = 200, tells: float = 0.6) -> Stratum:
    rng = np.random.default_rng(seed)
    guess = rng.random(n + rest)
    label = (rng.random(n) < np.clip(0.5 + tells * (guess[:n] - 0.5) * 2, 0, 1)).astype(float)
    return Stratum(share, label, guess[:n], guess[n:])


@given(st.integers(0, 10_000), st.integers(2, 40), st.integers(0, 60))
@settings(max_examples=60, deadline=None)
def test_without_predictions_it_is_the_mean_of_the_labels_with_its_error(seed: int, n: int, rest: int) -> None:
    stratum = made(seed=seed, n=n, rest=rest)
    found = powered_mean([stratum], tuning=0.0)
    assert found.estimate == pytest.approx(stratum.labels.mean())
    if stratum.labels.std() > 0:
        assert found.error == pytest.approx(stratum.labels.std(ddof=1) / math.sqrt(n), abs=1e-12)


@given(st.integers(0, 10_000), st.floats(-3, 3), st.integers(0, 1))
@settings(max_examples=60, deadline=None)
def test_a_constant_added_to_all_predictions_and_the_order_of_strata_change_nothing(
    seed: int, added: float, first: int
) -> None:
    strata = [made(seed=seed, share=0.4), made(seed=seed + 1, share=0.6, n=20)]
    moved = [Stratum(each.share, each.labels, each.predicted + added, each.others + added) for each in strata]
    one, other = powered_mean(strata), powered_mean(moved[::-1] if first else moved)
    assert (one.estimate, one.error, one.tuning) == pytest.approx((other.estimate, other.error, other.tuning))


@given(st.integers(0, 10_000))
@settings(max_examples=60, deadline=None)
def test_predictions_never_make_the_error_larger_and_the_weight_stays_in_bounds(seed: int) -> None:
    stratum = made(seed=seed, tells=0.0)
    alone, joined = powered_mean([stratum], tuning=0.0), powered_mean([stratum])
    assert joined.error <= alone.error + 1e-12
    assert 0 <= joined.tuning <= 1


def test_predictions_that_are_turned_round_are_not_used() -> None:
    stratum = made(seed=3)
    turned = Stratum(1.0, stratum.labels, 1 - stratum.predicted, 1 - stratum.others)
    assert powered_mean([turned]).tuning == 0
    assert powered_mean([turned]).estimate == pytest.approx(stratum.labels.mean())


def test_strata_count_by_their_share_and_not_by_how_many_were_labelled() -> None:
    one = Stratum(0.9, np.ones(5), np.ones(5), np.ones(90))
    other = Stratum(0.1, np.zeros(50), np.zeros(50), np.zeros(5))
    assert powered_mean([one, other], tuning=0.0).estimate == pytest.approx(0.9)


def test_unequal_chances_are_made_up_for_by_weights() -> None:
    """Half of the units were ten times as likely to be drawn; weighted, both halves count alike."""
    rng = np.random.default_rng(5)
    kinds = np.repeat([0, 1], 5000)
    labels = np.where(kinds == 1, rng.random(10_000) < 0.9, rng.random(10_000) < 0.2).astype(float)
    guess = np.clip(labels + rng.normal(0, 0.4, 10_000), 0, 1)
    chance = np.where(kinds == 1, 0.2, 0.02)
    told = []
    for _ in range(200):
        taken = rng.random(10_000) < chance
        stratum = Stratum(1.0, labels[taken], guess[taken], guess[~taken], 1 / chance[taken], 1 / (1 - chance[~taken]))
        told.append([powered_mean([stratum], tuning=tuning).estimate for tuning in (0.0, 0.5, None)])
    assert np.mean(told, axis=0) == pytest.approx([labels.mean()] * 3, abs=0.01)


def test_intervals_hold_the_truth_as_often_as_they_say_and_are_shorter_with_good_predictions() -> None:
    rng = np.random.default_rng(11)
    guess = rng.random(20_000)
    labels = (rng.random(20_000) < 0.2 + 0.75 * guess).astype(float)
    truth, held, halves = labels.mean(), np.zeros(2), np.zeros(2)
    for _ in range(600):
        taken = rng.permutation(20_000)
        first, second, rest = taken[:30], taken[10_000:10_050], taken[10_050:12_000]
        strata = [
            Stratum(0.5, labels[chosen], guess[chosen], guess[others])
            for chosen, others in ((first, taken[30:2000]), (second, rest))
        ]
        for place, tuning in enumerate((0.0, None)):
            found = powered_mean(strata, tuning=tuning).interval()
            held[place] += found.low <= truth <= found.high
            halves[place] += (found.high - found.low) / 2
    assert (held / 600 > 0.925).all()
    assert (held / 600 < 0.985).all()
    assert halves[1] < 0.95 * halves[0]


def test_a_larger_sample_is_expected_to_have_the_error_that_it_then_has() -> None:
    rng = np.random.default_rng(7)
    guess = rng.random(6000)
    labels = (rng.random(6000) < guess).astype(float)

    def sampled(n: int) -> Stratum:
        taken = rng.permutation(6000)
        return Stratum(1.0, labels[taken[:n]], guess[taken[:n]], guess[taken[n:]])

    for tuning in (0.0, None):
        foreseen = np.mean([powered_mean([sampled(80)], tuning=tuning, more=2.5).error for _ in range(150)])
        seen = np.mean([powered_mean([sampled(200)], tuning=tuning).error for _ in range(150)])
        assert foreseen == pytest.approx(seen, rel=0.03)
    assert powered_mean([sampled(80)], more=2.5).n == 200


@pytest.mark.parametrize("value", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("tuning", [0.0, None])
def test_labels_that_are_all_alike_give_the_same_interval_whatever_their_weights_add_up_to(
    value: float, tuning: float | None
) -> None:
    """1/n added n times is 1 less a rounding for half of all n: that is no spread, and no millions of labels."""
    rng = np.random.default_rng(1)
    for n in range(10, 200):
        found = powered_mean([Stratum(1.0, np.full(n, value), rng.random(n), rng.random(100))], tuning=tuning)
        interval = found.interval()
        assert interval.estimate == value
        assert found._size(value, found.error**2) == pytest.approx(n)
        assert interval.high - interval.low > 1 / n


def exact_coverage(n: int, truth: float) -> float:
    """How often the interval holds the truth, over every number of right answers by its binomial probability."""
    held = 0.0
    for right in range(n + 1):
        labels = np.repeat([1.0, 0.0], [right, n - right])
        found = powered_mean([Stratum(1.0, labels, np.zeros(n), np.zeros(40))]).interval()
        held += float(stats.binom.pmf(right, n, truth)) * (found.low <= truth <= found.high)
    return held


@pytest.mark.parametrize("n", [10, 20, 30, 40, 98])
@pytest.mark.parametrize("truth", [0.5, 0.9, 0.95, 0.99])
def test_unanimous_and_nearly_unanimous_samples_hold_the_truth(n: int, truth: float) -> None:
    assert exact_coverage(n, truth) >= 0.945


def test_a_stratum_whose_labels_are_all_alike_adds_what_so_few_can_hide() -> None:
    """Two strata, one of them nearly always unanimous: the interval holds the truth as often as it says."""
    rng, held = np.random.default_rng(4), 0
    for _ in range(1000):
        one, other = (rng.random(10) < 0.97).astype(float), (rng.random(20) < 0.6).astype(float)
        strata = [Stratum(0.8, one, np.zeros(10), np.zeros(40)), Stratum(0.2, other, np.zeros(20), np.zeros(40))]
        found = powered_mean(strata).interval()
        held += found.low <= 0.8 * 0.97 + 0.2 * 0.6 <= found.high
    assert held >= 930


def test_labels_that_are_all_alike_give_an_interval_of_some_width_and_few_none() -> None:
    same = powered_mean([Stratum(1.0, np.ones(40), np.linspace(0, 1, 40), np.linspace(0, 1, 90))])
    found = same.interval()
    assert (found.estimate, found.high) == (1.0, 1.0)
    assert 0.85 < found.low < 0.95
    assert "below 10" in powered_mean([made(seed=1, n=9)]).interval().note


def test_an_estimate_beyond_the_scale_is_held_on_it() -> None:
    assert Powered(1.02, 0.03, 0.8, 40, 39, 0.98).interval().estimate == 1.0
    assert Powered(-0.02, 0.03, 0.8, 40, 39, 0.02).interval().low == 0.0


def test_where_nothing_is_left_unlabelled_the_predictions_have_no_say() -> None:
    found = powered_mean([Stratum(1.0, np.array([0.0, 1.0, 1.0]), np.array([0.0, 1.0, 1.0]), np.array([]))])
    assert (found.tuning, found.estimate) == (0.0, pytest.approx(2 / 3))


@pytest.mark.parametrize(
    ("strata", "options", "why"),
    [
        ([], {}, "add up to 1"),
        ([Stratum(0.5, np.ones(3), np.ones(3), np.ones(3))], {}, "add up to 1"),
        ([Stratum(1.0, np.ones(1), np.ones(1), np.ones(3))], {}, "2 labels or more"),
        ([Stratum(1.0, np.ones(3), np.ones(2), np.ones(3))], {}, "its prediction"),
        ([Stratum(1.0, np.ones(3), np.ones(3), np.ones(3), np.zeros(3))], {}, "above 0"),
        ([Stratum(1.0, np.ones(3), np.ones(3), np.ones(3))], {"tuning": 1.5}, "lies in"),
        ([Stratum(1.0, np.ones(3), np.ones(3), np.ones(3))], {"more": 0.5}, "1 or more"),
    ],
)
def test_what_cannot_be_estimated_is_refused(strata: list[Stratum], options: dict[str, float], why: str) -> None:
    with pytest.raises(InvalidInput, match=why):
        powered_mean(strata, **options)


def test_where_most_of_a_finite_number_are_labelled_intervals_hold_the_mean_of_these() -> None:
    """40 of 60: without the correction they hold it in .998 of the samples."""
    rng, held, samples = np.random.default_rng(12), np.zeros(3), 1500
    for _ in range(samples):
        guess = rng.random(60)
        labels = (rng.random(60) < 0.2 + 0.6 * guess).astype(float)
        one = [Stratum(1.0, labels[:40], guess[:40], guess[40:])]
        for place, found in enumerate(
            (powered_mean(one, tuning=0.0, finite=True), powered_mean(one, finite=True), powered_mean(one))
        ):
            interval = found.interval()
            held[place] += interval.low <= labels.mean() <= interval.high
    assert (held[:2] / samples >= 0.93).all()
    assert (held[:2] / samples <= 0.97).all()
    assert held[2] / samples > 0.99


def test_unanimous_labels_of_a_finite_number_hold_its_mean() -> None:
    """Over every number of right answers among the labelled, and among the 40 others."""
    for n in (10, 20, 30):
        for truth in (0.5, 0.9, 0.95, 0.99):
            held = 0.0
            for right in range(n + 1):
                labels = np.repeat([1.0, 0.0], [right, n - right])
                found = powered_mean([Stratum(1.0, labels, np.zeros(n), np.zeros(40))], finite=True).interval()
                of_all = (right + np.arange(41)) / (n + 40)
                inside = (of_all >= found.low - 1e-12) & (of_all <= found.high + 1e-12)
                held += float(
                    stats.binom.pmf(right, n, truth) * stats.binom.pmf(np.arange(41), 40, truth)[inside].sum()
                )
            assert held >= 0.93, (n, truth)
