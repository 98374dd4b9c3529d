"""The composition-balanced bootstrap against resamples drawn one by one, and the normal theory of its mean."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from core.errors import InvalidInput
from core.statistics.factors import balanced_mean


def made(seed: int = 0, sizes: tuple[int, ...] = (80, 30, 12)) -> pd.DataFrame:
    """Strata of unlike sizes and means; in each, two values a source."""
    rng = np.random.default_rng(seed)
    rows = [
        {"value": place + spread + rng.normal(0, 0.2), "stratum": place, "source": 1000 * place + number // 2}
        for place, size in enumerate(sizes)
        for number in range(size)
        for spread in [0.5 * np.sin(1000 * place + number // 2)]
    ]
    return pd.DataFrame(rows)


def by_hand(frame: pd.DataFrame, resamples: int, seed: int) -> pd.DataFrame:
    """Plain and balanced mean of resamples, each put together source by source."""
    rng, rows = np.random.default_rng(seed), []
    groups = {
        name: [own["value"].to_numpy() for _, own in cell.groupby("source")] for name, cell in frame.groupby("stratum")
    }
    sizes = frame.groupby("stratum").size() / len(frame)
    for _ in range(resamples):
        means = {}
        for name, sources in groups.items():
            picks = rng.integers(len(sources), size=len(sources))
            means[name] = np.concatenate([sources[pick] for pick in picks]).mean()
        own = pd.Series(means)
        rows.append({"plain": (own * sizes).sum(), "balanced": own.mean()})
    found = pd.DataFrame(rows)
    return found.assign(difference=found["balanced"] - found["plain"])


def test_means_are_those_of_items_and_of_strata() -> None:
    frame = made()
    found = balanced_mean(frame["value"], frame["stratum"])
    strata = frame.groupby("stratum")["value"].mean()
    assert found.plain.estimate == pytest.approx(frame["value"].mean())
    assert found.balanced.estimate == pytest.approx(strata.mean())
    assert found.difference.estimate == pytest.approx(strata.mean() - frame["value"].mean())
    assert (found.strata, found.left_out, found.plain.n) == (3, 0, len(frame))


def test_intervals_are_those_of_resamples_drawn_one_by_one() -> None:
    frame = made(1, sizes=(240, 160, 100))  # of so many sources nothing has to be stretched
    found = balanced_mean(frame["value"], frame["stratum"], sources=frame["source"])
    drawn = by_hand(frame, 3000, 7)
    for name in ("plain", "balanced", "difference"):
        ours, spread = getattr(found, name), drawn[name].std()
        low, high = drawn[name].quantile([0.025, 0.975])  # BCa differs from percentiles by the skew, which is small
        assert ours.low == pytest.approx(low, abs=0.2 * spread)
        assert ours.high == pytest.approx(high, abs=0.2 * spread)


def test_without_sources_the_width_is_that_of_a_stratified_mean() -> None:
    frame = made(2, sizes=(120, 90, 60))
    found = balanced_mean(frame["value"], frame["stratum"]).balanced
    error = math.sqrt(sum(own.var(ddof=0) / len(own) for _, own in frame.groupby("stratum")["value"])) / 3
    assert (found.high - found.low) / (2 * stats.norm.ppf(0.975)) == pytest.approx(error, rel=0.04)


def test_values_of_one_source_are_drawn_together() -> None:
    frame = made(3, sizes=(80, 40, 30))
    together = balanced_mean(frame["value"], frame["stratum"], sources=frame["source"]).balanced
    apart = balanced_mean(frame["value"], frame["stratum"]).balanced
    assert together.estimate == pytest.approx(apart.estimate)
    assert together.high - together.low > 1.2 * (apart.high - apart.low)


def test_what_a_corpus_holds_more_of_does_not_move_the_balanced_mean() -> None:
    frame = made(4)
    more = pd.concat([frame, *[frame[frame["stratum"] == 0]] * 5], ignore_index=True)
    one, other = (balanced_mean(each["value"], each["stratum"]) for each in (frame, more))
    assert one.balanced.estimate == pytest.approx(other.balanced.estimate)
    assert other.plain.estimate < one.plain.estimate - 0.1


def test_a_stratum_of_one_source_is_left_out_and_counted() -> None:
    frame = pd.concat([made(5), pd.DataFrame({"value": [9.0, 9.5], "stratum": 3, "source": 5})], ignore_index=True)
    found = balanced_mean(frame["value"], frame["stratum"], sources=frame["source"])
    assert (found.strata, found.left_out, found.items_left_out) == (3, 1, 2)
    assert found.balanced.estimate == pytest.approx(made(5).groupby("stratum")["value"].mean().mean())


def test_one_stratum_or_no_spread_gives_no_interval_and_says_why() -> None:
    alone = balanced_mean([0.1, 0.2, 0.3], [0, 0, 0])
    assert math.isnan(alone.balanced.estimate)
    assert "fewer than two strata" in alone.balanced.note
    still = balanced_mean([0.1, 0.1, 0.2, 0.2], [0, 0, 1, 1]).balanced
    assert still.estimate == pytest.approx(0.15)
    assert np.isnan([still.low, still.high]).all()
    assert still.note == "no stratum has any spread: no interval"


def test_strata_of_few_sources_have_students_interval_or_none() -> None:
    rng = np.random.default_rng(8)
    strata = np.repeat(np.arange(20), 3)
    values = rng.normal(size=60)
    found = balanced_mean(values, strata).balanced
    cells = [values[strata == each] for each in range(20)]
    parts = np.array([cell.var(ddof=1) / 3 for cell in cells])
    freedom = parts.sum() ** 2 / (parts**2 / 2).sum()
    half = stats.t.ppf(0.975, freedom) * math.sqrt(parts.sum()) / 20
    assert (found.low, found.high) == pytest.approx((found.estimate - half, found.estimate + half), abs=0.12 * half)
    few = balanced_mean(values[:10], strata[:10] % 2)
    for each in (few.plain, few.balanced, few.difference):
        assert math.isnan(each.low)
        assert "degrees of freedom, below 9" in each.note


def test_values_without_a_number_or_a_stratum_are_left_out() -> None:
    frame = made(6)
    more = pd.concat([frame, pd.DataFrame({"value": [math.nan, 99.0], "stratum": [0, -1], "source": [0, 1]})])
    assert balanced_mean(more["value"], more["stratum"]) == balanced_mean(frame["value"], frame["stratum"])
    with pytest.raises(InvalidInput, match="equal numbers"):
        balanced_mean([1.0], [0, 1])
    with pytest.raises(InvalidInput, match="infinite"):
        balanced_mean([math.inf, 1.0], [0, 0])
