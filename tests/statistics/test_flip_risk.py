"""Flip risk against every pair written out, and against its own bound."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike
from scipy import stats

from core.errors import InvalidInput
from core.statistics import shift_pairs
from core.statistics.bootstrap import Interval
from core.statistics.flip_risk import LEAST_SOURCES, evident_gap, excess, intervals_of
from core.statistics.shift_pairs import CURVE_ERROR, ShiftPairs

# multiples of 1/64 subtract without rounding, so that both sides compare the same numbers
shifts_st = st.lists(st.integers(-200, 200).map(lambda k: k / 64), min_size=1, max_size=40)
gap_st = st.integers(0, 128).map(lambda k: k / 64)


def flip_risk(shifts: ArrayLike, gaps: ArrayLike, *, items: ArrayLike | None = None) -> np.ndarray:
    return ShiftPairs(shifts, items).risks(np.atleast_1d(np.asarray(gaps, dtype=np.float64)))


def flip_risk_intervals(
    shifts: ArrayLike, gaps: list[float], *, items: ArrayLike | None = None, sources: np.ndarray | None = None
) -> list[Interval]:
    return intervals_of(ShiftPairs(shifts, items, sources), gaps)


def every_pair(shifts: np.ndarray, gap: float, items: np.ndarray) -> float:
    """Pr[δ′ - δ > d] over two different items and one shift of each."""
    names = sorted(set(items.tolist()))
    if len(names) < 2:
        return math.nan
    shares = [
        np.mean([late - early > gap for early in shifts[items == one] for late in shifts[items == other]])
        for one, other in itertools.permutations(names, 2)
    ]
    return float(np.mean(shares))


@given(shifts_st, gap_st)
def test_the_risk_equals_that_of_every_pair(shifts: list[float], gap: float) -> None:
    expected = every_pair(np.array(shifts), gap, np.arange(len(shifts)))
    assert flip_risk(shifts, gap)[0] == pytest.approx(expected, abs=1e-12, nan_ok=True)


@given(st.data(), gap_st)
def test_every_item_weighs_the_same_however_many_transforms_it_has(data: st.DataObject, gap: float) -> None:
    shifts = np.array(data.draw(shifts_st))
    items = np.array(data.draw(st.lists(st.integers(0, 5), min_size=len(shifts), max_size=len(shifts))))
    assert flip_risk(shifts, gap, items=items)[0] == pytest.approx(
        every_pair(shifts, gap, items), abs=1e-12, nan_ok=True
    )


@given(st.lists(st.floats(-1e6, 1e6, allow_nan=False), min_size=1, max_size=60), st.floats(0, 1e6), st.integers(1, 9))
def test_the_risk_never_exceeds_one_half(shifts: list[float], gap: float, every: int) -> None:
    items = np.arange(len(shifts)) // every
    risks = [flip_risk(shifts, gap)[0], flip_risk(shifts, gap, items=items)[0]]
    assert all(math.isnan(risk) or risk <= 0.5 + 1e-12 for risk in risks)


@given(shifts_st, gap_st, gap_st)
def test_a_wider_gap_never_flips_more(shifts: list[float], one: float, other: float) -> None:
    narrow, wide = flip_risk(shifts, sorted([one, other]))
    assert narrow >= wide or len(shifts) == 1


@given(shifts_st, gap_st, st.integers(-64, 64))
def test_moving_every_score_alike_flips_nothing(shifts: list[float], gap: float, moved: int) -> None:
    np.testing.assert_array_equal(flip_risk(np.array(shifts) + moved, gap), flip_risk(shifts, gap))


def test_missing_shifts_are_left_out() -> None:
    assert flip_risk([0.0, math.nan, 1.0], 0.5)[0] == 0.5


def test_no_shift_at_all_has_no_risk() -> None:
    assert math.isnan(flip_risk([math.nan], 0.1)[0])
    assert "no shifts" in flip_risk_intervals([], [0.1])[0].note


def test_one_item_makes_no_pair() -> None:
    interval = flip_risk_intervals([0.0, 1.0], [0.5], items=["a", "a"])[0]
    assert interval.n == 1
    assert math.isnan(interval.estimate)
    assert "one item" in interval.note


@pytest.mark.parametrize(
    ("shifts", "risk", "note"), [([0.3] * 80, 0.0, "no pair"), (np.arange(80.0), 0.5, "every pair")]
)
def test_where_no_pair_exceeds_or_every_one_the_bound_is_that_of_disjoint_pairs(
    shifts: list[float], risk: float, note: str
) -> None:
    found = flip_risk_intervals(shifts, [0.1])[0]
    bounds = stats.binomtest(round(2 * risk * 40), 40).proportion_ci(0.95, method="exact")
    assert found.estimate == risk
    assert (2 * found.low, 2 * found.high) == pytest.approx((bounds.low, bounds.high))
    assert note in found.note
    assert "exact bound" in found.note


@pytest.mark.parametrize("n", [2, 10, LEAST_SOURCES - 1])
def test_few_items_have_a_risk_and_no_interval(n: int) -> None:
    found = flip_risk_intervals(np.arange(float(n)), [0.5])[0]
    assert (found.estimate, found.n) == (0.5, n)
    assert math.isnan(found.low)
    assert math.isnan(found.high)
    assert found.note == f"no interval (n = {n}, below {LEAST_SOURCES})"


def test_an_infinite_shift_and_a_lost_item_are_refused() -> None:
    with pytest.raises(InvalidInput, match="infinite"):
        flip_risk([1.0, math.inf], 0.1)
    with pytest.raises(InvalidInput, match="2 shifts and 1 items"):
        flip_risk([1.0, 2.0], 0.1, items=["a"])


def every_gap(shifts: np.ndarray, risk: float) -> float:
    """The smallest difference between two shifts (or 0) whose risk is below a share, by trying each."""
    tried = sorted({0.0, *(abs(a - b) for a, b in itertools.combinations(shifts.tolist(), 2))})
    return next(gap for gap in tried if flip_risk(shifts, gap)[0] < risk)


@settings(deadline=None)
@given(
    st.lists(st.integers(-200, 200).map(lambda k: k / 64), min_size=2, max_size=30), st.sampled_from([0.05, 0.1, 0.3])
)
def test_the_gap_of_evidence_is_the_smallest_whose_risk_is_below(shifts: list[float], risk: float) -> None:
    assert evident_gap(ShiftPairs(shifts, None), risk=risk).estimate == every_gap(np.array(shifts), risk)


def test_the_gap_of_evidence_is_the_quantile_of_the_differences() -> None:
    rng = np.random.default_rng(5)
    found = evident_gap(ShiftPairs(rng.normal(size=20_000), None))
    assert found.estimate == pytest.approx(stats.norm.isf(0.05) * math.sqrt(2), rel=0.02)
    assert found.low < found.estimate < found.high


@pytest.mark.parametrize(("shifts", "note"), [([0.0] * 80, "no two shifts differ"), ([0.0, 1.0] * 35, "n = 70")])
def test_a_gap_that_no_shift_reaches_has_no_interval(shifts: list[float], note: str) -> None:
    found = evident_gap(ShiftPairs(shifts, None))
    assert math.isnan(found.low)
    assert note in found.note


def table_of_sources(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Shifts of three transforms an item, their items, and the source of each item."""
    sources = np.repeat(np.arange(60), rng.integers(1, 5, size=60))
    shifts = rng.normal(size=60)[sources][:, None] + 0.3 * rng.normal(size=(len(sources), 3))
    return shifts.ravel(), np.repeat(np.arange(len(sources)), 3), sources


@pytest.mark.parametrize("gap", [0.3, 1.0, 2.0])
def test_items_of_one_source_are_taken_together(gap: float) -> None:
    shifts, items, sources = table_of_sources(np.random.default_rng(2))
    found = flip_risk_intervals(shifts, [gap], items=items, sources=sources)[0]
    rng, drawn = np.random.default_rng(3), []
    for _ in range(300):
        picked = rng.integers(60, size=60)
        rows = [np.flatnonzero(sources == source) for source in picked]
        again = np.concatenate([shifts.reshape(-1, 3)[each] for each in rows])
        drawn.append(flip_risk(again, gap, items=np.repeat(np.arange(len(again)), 3))[0])
    spread = float(np.std(drawn))
    assert (found.high - found.low) / 3.92 == pytest.approx(spread, rel=0.25)
    alone = flip_risk_intervals(shifts, [gap], items=items)[0]
    assert found.estimate == alone.estimate
    assert found.high - found.low > 1.2 * (alone.high - alone.low)


def test_a_source_for_each_item_changes_no_interval() -> None:
    shifts = np.random.default_rng(6).normal(size=81)
    order = np.random.default_rng(7).permutation(81)
    assert flip_risk_intervals(shifts, [0.4], items=np.arange(81), sources=order) == flip_risk_intervals(shifts, [0.4])


@pytest.mark.parametrize("paired", [True, False])
def test_the_excess_over_another_family_knows_that_the_items_are_the_same(paired: bool) -> None:
    rng = np.random.default_rng(4)
    base, gap = rng.standard_t(4, size=150), 1.0
    other = base + 0.05 * rng.normal(size=150) if paired else rng.standard_t(4, size=150)
    one, null = ShiftPairs(1.3 * base, np.arange(150)), ShiftPairs(other, np.arange(150))
    found = excess(one, null, gap)
    assert found.estimate == pytest.approx(flip_risk(1.3 * base, gap)[0] - flip_risk(other, gap)[0])
    drawn = [
        flip_risk(1.3 * base[rows], gap)[0] - flip_risk(other[rows], gap)[0]
        for rows in rng.integers(150, size=(400, 150))
    ]
    assert (found.high - found.low) / 3.95 == pytest.approx(float(np.std(drawn)), rel=0.2)


def test_the_excess_over_nothing_has_no_number_and_of_few_items_no_interval() -> None:
    shifts = ShiftPairs(np.random.default_rng(1).normal(size=80), np.arange(80))
    assert math.isnan(excess(shifts, ShiftPairs([], None), 0.1).estimate)
    few = excess(shifts, ShiftPairs(np.arange(12.0), np.arange(12)), 0.1)
    assert few.estimate < 0
    assert math.isnan(few.low)
    assert "n = 12" in few.note


@settings(deadline=None)
@given(
    st.lists(st.integers(-40, 40).map(lambda k: k / 64), min_size=LEAST_SOURCES, max_size=90), gap_st, st.integers(1, 3)
)
def test_an_interval_holds_its_risk_and_keeps_the_bound(shifts: list[float], gap: float, k: int) -> None:
    found = flip_risk_intervals(shifts * k, [gap], items=np.tile(np.arange(len(shifts)), k))[0]
    assert 0 <= found.low <= found.high <= 0.5
    assert found.low - 1e-9 <= found.estimate <= found.high + 1e-9
    assert found.low < found.high


@settings(deadline=None, max_examples=40)
@given(
    st.integers(0, 99),
    st.integers(1, 4),
    st.sampled_from(["normal", "heavy", "whole", "few"]),
    st.lists(st.floats(0, 4), min_size=1, max_size=6),
)
def test_a_curve_keeps_to_its_bound_of_error(seed: int, transforms: int, shape: str, gaps: list[float]) -> None:
    rng = np.random.default_rng(seed)
    size = 2500 * transforms
    made = {
        "normal": rng.normal(size=size),
        "heavy": rng.standard_cauchy(size=size),
        "whole": np.round(3 * rng.normal(size=size)),
        "few": rng.choice([0.0, 1e-3, 7.0], size=size),
    }[shape]
    made[rng.random(size) < 0.1] = math.nan
    pairs = ShiftPairs(made, np.arange(size) % 2500)
    wanted = np.array([*gaps, 0.0, 1e-3, 1.0, 1e9])
    np.testing.assert_allclose(pairs.curve(wanted), pairs.risks(wanted), atol=CURVE_ERROR)


def test_curves_of_smooth_shifts_are_far_closer_than_their_bound() -> None:
    rng = np.random.default_rng(5)
    pairs = ShiftPairs(rng.normal(size=40_000), np.arange(40_000) // 4)
    gaps = np.array([0.001, 0.01, 0.1, 1.0])
    np.testing.assert_allclose(pairs.curve(gaps), pairs.risks(gaps), atol=CURVE_ERROR / 50)


@pytest.mark.parametrize(("items", "edits"), [(300, 1), (400, 3)])
def test_a_gap_of_evidence_counts_the_pairs_at_no_gap_twice_running(
    monkeypatch: pytest.MonkeyPatch, items: int, edits: int
) -> None:
    counted, apart, within = [], [], ShiftPairs._own
    places = shift_pairs._apart

    def spied(self: ShiftPairs, gap: float) -> np.ndarray:
        counted.append(gap)
        return within(self, gap)

    def looked(shares: np.ndarray, below: np.ndarray, lag: int) -> float:
        apart.append(lag)
        return places(shares, below, lag)

    monkeypatch.setattr(ShiftPairs, "_own", spied)
    monkeypatch.setattr(shift_pairs, "_apart", looked)
    shifts = np.random.default_rng(items).standard_t(4, size=(edits, items))
    pairs = ShiftPairs(shifts, np.broadcast_to(np.arange(items), shifts.shape))
    found = evident_gap(pairs)
    assert all(one != other for one, other in itertools.pairwise(counted))
    assert len(apart) == len(set(apart))
    again = ShiftPairs(shifts, np.broadcast_to(np.arange(items), shifts.shape))
    gaps = np.array([found.low, found.estimate, found.high])
    assert pairs.risks(gaps).tolist() == again.risks(gaps).tolist()


def test_the_interval_of_a_risk_counts_no_pair_again(monkeypatch: pytest.MonkeyPatch) -> None:
    counted, within = [], ShiftPairs._own
    monkeypatch.setattr(ShiftPairs, "_own", lambda pairs, gap: counted.append(gap) or within(pairs, gap))
    shifts, gaps = np.random.default_rng(3).normal(size=400), [0.5, 1.0, 1.5]
    found = flip_risk_intervals(shifts, gaps)
    assert counted == gaps
    assert [each.estimate for each in found] == flip_risk(shifts, gaps).tolist()
