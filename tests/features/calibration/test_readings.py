"""The readings on what can be proved about them, and by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InvalidInput
from core.features.calibration.orbits import Family, Orbits
from core.features.calibration.readings import READINGS, SENSITIVITY, corrections, learn, sensitivity
from core.features.calibration.sweep import calibrated
from core.statistics.arithmetic import map_quantiles
from tests.features.calibration.orbit_data import made

score = st.floats(0, 1)


def one_family(clean: np.ndarray, scores: np.ndarray, baselines: np.ndarray | None = None) -> Orbits:
    held = np.broadcast_to(clean, scores.shape) if baselines is None else baselines
    probes = tuple(f"p{t}" for t in range(len(scores)))
    return Orbits(
        "e", tuple(("c", str(i)) for i in range(len(clean))), clean, {"T": Family("spatial", probes, scores, held)}
    )


@given(st.lists(st.tuples(score, score), min_size=1, max_size=20), st.floats(0, 5))
def test_the_printed_formula_cancels_on_an_involution(pairs: list[tuple[float, float]], strength: float) -> None:
    clean, flipped = np.array(pairs).T
    scores = one_family(clean, flipped[None])
    after = calibrated(scores, learn(scores, reading="absolute"), strength)
    np.testing.assert_allclose(after.families["T"].shifts, scores.families["T"].shifts, atol=1e-12)


@given(st.lists(st.tuples(score, score, score, score), min_size=1, max_size=20))
def test_full_strength_over_one_orbit_is_invariance(rows: list[tuple[float, ...]]) -> None:
    clean, *variants = np.array(rows).T
    scores = one_family(clean, np.array(variants))
    after = calibrated(scores, learn(scores, reading="orbit"), 1.0)
    np.testing.assert_allclose(after.families["T"].shifts, 0, atol=1e-12)
    np.testing.assert_allclose(after.clean, np.median(np.array(rows), axis=1), atol=1e-12)


@pytest.mark.parametrize("strength", [0.0, 0.4, 1.0])
def test_the_orbit_reading_shrinks_every_shift_by_its_familys_weight(strength: float) -> None:
    scores = made()
    terms = learn(scores, reading="orbit", weights={"flip": 3, "rotation": 1})
    after = calibrated(scores, terms, strength)
    for name, weight in (("flip", 0.75), ("rotation", 0.25)):
        expected = (1 - strength * weight) * scores.families[name].shifts
        np.testing.assert_allclose(after.families[name].shifts, expected, atol=1e-12)


@pytest.mark.parametrize("reading", READINGS)
def test_strength_zero_changes_nothing(reading: str) -> None:
    scores = made()
    after = calibrated(scores, learn(scores, reading=reading), 0.0)
    np.testing.assert_array_equal(after.clean, scores.clean)
    np.testing.assert_array_equal(after.families["rotation"].scores, scores.families["rotation"].scores)


def test_the_shift_reading_subtracts_each_transforms_median() -> None:
    scores = one_family(np.array([0.1, 0.2, 0.3]), np.array([[0.2, 0.4, 0.6], [0.1, 0.2, 0.3]]))
    after = calibrated(scores, learn(scores, reading="shift"), 0.5)
    np.testing.assert_allclose(after.families["T"].shifts, [[0.0, 0.1, 0.2], [0, 0, 0]], atol=1e-12)


def test_a_systematic_shift_is_reduced_by_one_minus_the_strength() -> None:
    scores = one_family(np.linspace(0, 1, 9), np.linspace(0, 1, 9)[None] + 0.2)
    after = calibrated(scores, learn(scores, reading="shift"), 0.45)
    assert sensitivity(after.families["T"].shifts) == pytest.approx(0.2 * 0.55)


def test_the_ridge_reading_shrinks_toward_the_familys_median_by_hand() -> None:
    scores = one_family(np.zeros(3), np.array([[0.1, 0.2, 0.6], [0.1, 0.2, math.nan]]))
    # family median 0.2; estimates: 0.2 + 2/3 (0.1 - 0.2), 0.2, 0.2 + 1/2 (0.6 - 0.2)
    change = corrections(scores, learn(scores, reading="ridge")).variants["T"]
    np.testing.assert_allclose(change[0], [-0.2 + 0.2 / 3, -0.2, -0.4])


def test_the_quantile_reading_gives_the_perturbed_scores_the_clean_distribution() -> None:
    rng = np.random.default_rng(1)
    clean = rng.normal(size=2000)
    scores = one_family(clean, np.exp(rng.normal(size=2000))[None])
    after = calibrated(scores, learn(scores, reading="quantile"), 1.0)
    at = np.linspace(0.02, 0.98, 25)
    np.testing.assert_allclose(np.quantile(after.families["T"].scores[0], at), np.quantile(clean, at), atol=0.02)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=30))
def test_mapping_a_distribution_to_itself_keeps_its_scores(values: list[int]) -> None:
    curve = np.quantile(values, np.linspace(0, 1, 101))
    np.testing.assert_allclose(map_quantiles(np.array(values, float), np.array([curve, curve])), values, atol=1e-9)


def test_mapped_scores_keep_their_order() -> None:
    rng = np.random.default_rng(2)
    curves = np.sort(rng.integers(0, 9, size=(2, 101)).astype(float), axis=1)
    assert (np.diff(map_quantiles(np.linspace(-3, 12, 500), curves)) >= -1e-9).all()


def test_sensitivity_weights_follow_the_shifts_and_sum_to_one() -> None:
    clean = np.array([0.1, 0.2])
    families = {
        name: Family("s", (name,), (clean + size)[None], clean[None]) for name, size in (("a", 0.3), ("b", 0.1))
    }
    weights = learn(Orbits("e", (("c", "0"), ("c", "1")), clean, families), weights=SENSITIVITY).weights
    assert weights == pytest.approx({"a": 0.75, "b": 0.25})


def test_where_nothing_moves_the_weights_are_uniform() -> None:
    clean = np.array([0.1, 0.2])
    families = {name: Family("s", (name,), clean[None], clean[None]) for name in ("a", "b")}
    assert learn(Orbits("e", (), clean, families), weights=SENSITIVITY).weights == {"a": 0.5, "b": 0.5}


@pytest.mark.parametrize("reading", READINGS)
def test_missing_scores_stay_missing_and_spoil_nothing_else(reading: str) -> None:
    scores = made(n=12)
    clean = scores.clean.copy()
    clean[0] = math.nan
    families = {}
    for name, family in scores.families.items():
        holed = family.scores.copy()
        holed[:, 1] = math.nan
        holed[0, 2] = math.nan
        families[name] = Family(family.axis, family.probes, holed, np.broadcast_to(clean, holed.shape))
    holey = Orbits("e", scores.items, clean, families)
    after = calibrated(holey, learn(holey, reading=reading), 0.5)
    assert np.isnan(after.clean).tolist() == np.isnan(clean).tolist()
    assert after.clean[1] == clean[1]
    for name, family in after.families.items():
        np.testing.assert_array_equal(np.isnan(family.shifts), np.isnan(families[name].shifts))


@pytest.mark.parametrize("reading", READINGS)
def test_a_family_without_any_score_is_no_traceback(reading: str) -> None:
    scores = one_family(np.array([0.1, 0.2]), np.full((2, 2), math.nan))
    terms = learn(scores, reading=reading)
    np.testing.assert_array_equal(calibrated(scores, terms, 1.0).clean, [0.1, 0.2])
    assert math.isnan(sensitivity(scores.families["T"].shifts))


def test_what_was_not_learnt_cannot_be_corrected() -> None:
    with pytest.raises(InvalidInput, match="rotation"):
        corrections(made(), learn(made(families={"flip": 1})))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"reading": "median"}, "median"),
        ({"weights": "oracle"}, "oracle"),
        ({"weights": {"flip": 1.0}}, "rotation"),
        ({"weights": {"flip": 1.0, "rotation": -1.0}}, "at least 0"),
        ({"weights": {"flip": math.nan, "rotation": 1.0}}, "finite"),
    ],
)
def test_unknown_readings_and_weights_are_refused(arguments: dict, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        learn(made(n=3), **arguments)


def test_no_family_cannot_be_calibrated() -> None:
    with pytest.raises(InvalidInput, match="no family"):
        learn(made(families={}))
