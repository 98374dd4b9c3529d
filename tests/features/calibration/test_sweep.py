"""The sweep against calibrating at every strength, the choice of λ* by hand, and the report of it."""

import math

import numpy as np
import pytest
from scipy import stats

from core.errors import InvalidInput
from core.features.calibration.effect import before_after
from core.features.calibration.fit import oracle_terms
from core.features.calibration.orbits import Family, Orbits
from core.features.calibration.readings import (
    EACH,
    READINGS,
    SENSITIVITY,
    UNIFORM,
    corrections,
    learn,
    sensitivity,
    weighed,
)
from core.features.calibration.sweep import (
    LAMBDAS,
    Sweep,
    Sweeps,
    calibrated,
    ceilings_of,
    choose,
    raised,
    sweep,
)
from core.statistics.shift_pairs import ShiftPairs
from tests.features.calibration.orbit_data import made


@pytest.mark.parametrize("reading", READINGS)
def test_the_sweep_equals_calibrating_at_every_strength(reading: str) -> None:
    scores = made(n=80)
    human = np.random.default_rng(9).integers(1, 5, size=80).astype(float)
    human[:7] = math.nan
    terms = learn(scores, reading=reading)
    found = sweep(scores, terms, {"human": human})
    for at in (0, 7, 20):
        after = calibrated(scores, terms, LAMBDAS[at])
        for name, family in after.families.items():
            assert found.sensitivity[name][at] == pytest.approx(sensitivity(family.shifts))
        expected = stats.spearmanr(after.clean[7:], human[7:]).statistic
        assert found.spearman["human"][at] == pytest.approx(expected)
        assert found.spread[at] == pytest.approx(after.clean.std(ddof=1))
    both = found.sensitivity["flip"] + found.sensitivity["rotation"]
    np.testing.assert_allclose(found.total, both / found.spread)


@pytest.mark.parametrize("reading", READINGS)
def test_sweeps_of_many_weights_are_those_of_each_alone(reading: str) -> None:
    dev, test = made(n=60, seed=1), made(n=50, seed=2)
    others = {"human": np.random.default_rng(9).normal(size=50)}
    learnt, ceilings = learn(dev, reading=reading), ceilings_of(test)
    sweeps = Sweeps(test, learnt, others, ceilings=ceilings)
    for weights in (UNIFORM, SENSITIVITY, EACH, {"flip": 0.0, "rotation": 1.0}, {"flip": 1.0, "rotation": 0.0}):
        terms = learn(dev, reading=reading, weights=weights)
        assert weighed(learnt, dev, weights).weights == terms.weights
        for lambdas in (LAMBDAS, (0.0, 0.35)):
            alone, found = sweep(test, terms, others, lambdas=lambdas), sweeps.sweep(terms, lambdas=lambdas)
            np.testing.assert_array_equal(found.total, alone.total)
            np.testing.assert_array_equal(found.spread, alone.spread)
            np.testing.assert_array_equal(found.spearman["human"], alone.spearman["human"])
            for name in ("flip", "rotation"):
                np.testing.assert_array_equal(found.sensitivity[name], alone.sensitivity[name])
            assert (found.ceilings, found.n) == (alone.ceilings, alone.n)
        one, other = corrections(test, terms), sweeps.corrections(terms)
        np.testing.assert_array_equal(one.clean, other.clean)
        np.testing.assert_array_equal(one.variants["flip"], other.variants["flip"])
        np.testing.assert_array_equal(one.baselines["flip"], other.baselines["flip"])


def test_a_correction_that_shrinks_the_whole_scale_gains_nothing() -> None:
    scores = made(n=80)
    half = Orbits(
        scores.evaluator,
        scores.items,
        scores.clean / 2,
        {
            name: Family(each.axis, each.probes, each.scores / 2, each.baselines / 2)
            for name, each in scores.families.items()
        },
    )
    terms = learn(scores, reading="orbit")
    assert sweep(half, terms, {}).total[0] == pytest.approx(sweep(scores, terms, {}).total[0])


def test_a_strength_that_moves_a_family_further_than_its_interval_is_refused_and_named() -> None:
    lambdas = (0.0, 0.5, 1.0)
    found = Sweep(
        lambdas,
        {"flip": np.array([1.0, 1.2, 3.0]), "turn": np.array([9.0, 5.0, 1.0])},
        np.full(3, 2.0),
        np.array([5.0, 3.1, 2.0]),
        {"flip": 0.75, "turn": 6.0},
        {},
        {},
        9,
    )
    assert (raised(found, 0.5), raised(found, 1.0)) == ({}, {"flip": 3.0})
    chosen = choose(found)
    assert (chosen.strength, chosen.allowed.tolist()) == (0.5, [True, True, False])


def swept(total: list[float], **spearman: list[float]) -> Sweep:
    lambdas = tuple(index / 2 for index in range(len(total)))
    correlations = {name: np.array(rho) for name, rho in spearman.items()}
    return Sweep(lambdas, {}, np.ones(len(total)), np.array(total), {}, correlations, dict.fromkeys(correlations, 9), 9)


def test_the_smallest_strength_of_the_least_sensitivity_is_chosen() -> None:
    assert choose(swept([3.0, 1.0, 1.0])).strength == 0.5


def test_every_correlation_must_be_kept() -> None:
    found = choose(swept([3.0, 2.0, 1.0], a=[0.5, 0.495, 0.495], b=[0.5, 0.495, 0.48]))
    assert (found.strength, found.allowed.tolist()) == (0.5, [True, True, False])
    assert choose(swept([3.0, 2.0, 1.0], b=[0.5, 0.495, 0.48]), epsilon=0.02).strength == 1.0


def test_a_correlation_that_becomes_undefined_is_not_kept() -> None:
    assert choose(swept([3.0, 2.0], a=[0.5, math.nan])).strength == 0.0


def test_what_has_no_correlation_constrains_nothing_and_is_named() -> None:
    found = choose(swept([3.0, 2.0], judge=[math.nan, math.nan]))
    assert found.strength == 0.5
    assert "judge" in found.note


def test_nothing_gained_is_said() -> None:
    assert "no strength lowers" in choose(swept([2.0, 2.0 - 1e-13])).note
    assert "no family" in choose(swept([math.nan, math.nan])).note


def test_the_printed_formula_moves_no_shift_of_an_involution() -> None:
    scores = made(families={"vflip": 1, "hflip": 1})
    found = sweep(scores, learn(scores, reading="absolute"), {})
    for values in found.sensitivity.values():
        np.testing.assert_allclose(values, values[0])


def test_ratings_of_no_shared_item_have_no_correlation_instead_of_zero() -> None:
    scores = made(n=40)
    ratings = np.full(40, math.nan)
    found = sweep(scores, learn(scores), {"people": ratings, "two of them": np.where(np.arange(40) < 2, 1.0, ratings)})
    assert all(np.isnan(values).all() for values in found.spearman.values())
    assert "no correlation with people to keep" in choose(found).note


def test_arguments_out_of_range_are_refused() -> None:
    with pytest.raises(InvalidInput, match="epsilon"):
        choose(swept([1.0]), epsilon=-1)
    with pytest.raises(InvalidInput, match="start at 0"):
        choose(Sweep((0.5,), {}, np.ones(1), np.array([1.0]), {}, {}, {}, 1))
    with pytest.raises(InvalidInput, match="3 scores for 200"):
        sweep(made(), learn(made()), {"h": np.zeros(3)})


@pytest.mark.parametrize("reading", ["orbit", "absolute"])
def test_the_oracle_is_at_least_as_good_as_any_other_weights(reading: str) -> None:
    dev, test = made(0), made(1, bias=0.05)
    others = {"h": np.random.default_rng(0).normal(size=200)}

    def reached(terms) -> float:
        found = sweep(test, terms, others)
        return found.total[found.lambdas.index(choose(found).strength)]

    oracle = reached(oracle_terms(dev, test, others, reading=reading))
    assert all(oracle <= reached(learn(dev, reading=reading, weights=w)) for w in ("uniform", "sensitivity"))


def test_before_and_after_are_those_of_the_split() -> None:
    dev, test = made(0), made(1)
    terms, human = learn(dev, reading="shift"), np.random.default_rng(3).normal(size=200)
    table = before_after(test, terms, 1.0, {"human": human}, gaps=(0.01,)).set_index(["measure", "name"])
    flip = test.families["flip"].shifts
    after = calibrated(test, terms, 1.0)
    spread, middle = after.clean.std(ddof=1), np.subtract(*np.quantile(after.clean, [0.75, 0.25]))
    assert spread == pytest.approx(test.clean.std(ddof=1))  # shift leaves unedited scores alone
    assert table.loc[("sensitivity", "flip"), "before"] == pytest.approx(np.median(np.abs(flip)) / spread)
    assert table.loc[("sensitivity", "flip"), "after"] < table.loc[("sensitivity", "flip"), "before"]
    assert table.loc[("flip risk", "flip"), "after"] == pytest.approx(
        ShiftPairs(after.families["flip"].shifts[0], None).risks(np.array([0.01 * middle]))[0]
    )
    assert table.loc[("percent", "flip"), "before"] == pytest.approx(np.median(np.abs(100 * flip / test.clean)))
    assert table.loc[("spearman", "human"), "before"] == pytest.approx(stats.spearmanr(test.clean, human).statistic)
    axis = table.loc[("axis sensitivity", "spatial")]
    assert axis["before"] == pytest.approx(table.loc["sensitivity", "before"].mean())
    assert (axis["axis"], axis["n"]) == ("spatial", 200)
