"""Mixed models of any fixed effects against statsmodels' dense REML, and what cannot be fitted."""

import math
import warnings

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import optimize, stats

from core.errors import InvalidInput
from core.statistics.crossed_model import Problem, crossed_model


def scored(seed: int, *, n: int = 180, sources: int = 70, labels: int = 9) -> pd.DataFrame:
    """Scores by a factor of three levels and a covariate, sources and labels at random."""
    rng = np.random.default_rng(seed)
    source, label = rng.integers(sources, size=n), rng.integers(labels, size=n)
    level, x = rng.integers(3, size=n), rng.uniform(size=n)
    score = (
        0.4
        + 0.05 * (level == 1)
        - 0.03 * (level == 2)
        + 0.1 * x
        + rng.normal(0, 0.06, sources)[source]
        + rng.normal(0, 0.08, labels)[label]
        + rng.normal(0, 0.05, n)
    )
    return pd.DataFrame({"score": score, "level": level, "x": x, "source": source, "label": label})


def dense(formula: str, frame: pd.DataFrame, **parts: str):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = sm.MixedLM.from_formula(formula, groups=np.ones(len(frame)), vc_formula=parts, data=frame)
        return model.fit(reml=True)


def design(frame: pd.DataFrame) -> np.ndarray:
    return np.column_stack([np.ones(len(frame)), frame["level"] == 1, frame["level"] == 2, frame["x"]]).astype(float)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_effects_errors_and_variance_components_are_those_of_statsmodels(seed: int) -> None:
    frame = scored(seed)
    ours = crossed_model(frame["score"], design(frame), frame["source"], frame["label"])
    theirs = dense("score ~ C(level) + x", frame, source="0 + C(source)", label="0 + C(label)")
    np.testing.assert_allclose(ours.effects, theirs.fe_params, atol=2e-5)
    variances = dict(zip(theirs.model.exog_vc.names, theirs.vcomp, strict=True))
    x, parts = design(frame), [np.equal.outer(*2 * [frame[name].to_numpy()]) * variances[name] for name in variances]
    whole = sum(parts) + theirs.scale * np.eye(len(frame))
    np.testing.assert_allclose(ours.covariance, np.linalg.inv(x.T @ np.linalg.solve(whole, x)), rtol=5e-3, atol=1e-8)
    np.testing.assert_allclose(np.sqrt(np.diag(ours.covariance)), theirs.bse_fe, rtol=0.02)  # theirs: a rough Hessian
    assert ours.deviations == pytest.approx([math.sqrt(variances[name]) for name in ("source", "label")], rel=0.02)
    assert ours.residual == pytest.approx(math.sqrt(theirs.scale), rel=5e-3)
    joint = ours.joint(np.eye(4)[1:3])
    both = theirs.fe_params.to_numpy()[1:3]
    expected = both @ np.linalg.solve(np.linalg.inv(x.T @ np.linalg.solve(whole, x))[1:3, 1:3], both)
    assert (2 * joint.f, joint.df) == (pytest.approx(expected, rel=0.01), 2)
    assert joint.p == pytest.approx(stats.f.sf(joint.f, 2, joint.freedom))


def test_a_combination_of_effects_has_its_own_error() -> None:
    frame = scored(3)
    ours = crossed_model(frame["score"], design(frame), frame["source"], frame["label"])
    found = ours.estimate([0, 1, -1, 0])
    error = math.sqrt(ours.covariance[1, 1] + ours.covariance[2, 2] - 2 * ours.covariance[1, 2])
    assert found.value == pytest.approx(ours.effects[1] - ours.effects[2])
    assert found.high - found.low == pytest.approx(2 * stats.t.ppf(0.975, found.freedom) * error)
    assert found.p == pytest.approx(2 * stats.t.sf(abs(found.value) / error, found.freedom))


def nested(per_label: int = 5) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores, category and label of six labels in two categories, as many rows each."""
    rng, label = np.random.default_rng(8), np.repeat(np.arange(6), per_label)
    return rng.normal(size=6)[label] + rng.normal(0, 0.5, len(label)), label // 3, label


def test_in_balanced_designs_the_degrees_of_freedom_are_the_exact_ones() -> None:
    score, category, label = nested()
    n = len(score)
    cells = np.column_stack([category == 0, category == 1]).astype(float)
    found = crossed_model(score, cells, np.arange(n), label)
    of_labels = pd.Series(score).groupby(label).mean().to_numpy()
    theirs = stats.ttest_ind(of_labels[:3], of_labels[3:])
    apart = found.estimate([1, -1])
    assert apart.freedom == pytest.approx(4, rel=1e-3)
    assert (apart.low, apart.high) == pytest.approx(tuple(theirs.confidence_interval()), rel=1e-3)
    assert apart.p == pytest.approx(theirs.pvalue, rel=1e-3)
    joint = found.joint([[1, -1]])
    assert (joint.df, joint.freedom, joint.p) == (1, pytest.approx(apart.freedom), pytest.approx(apart.p))
    assert crossed_model(score, np.ones((n, 1)), np.arange(n), label).estimate([1]).freedom == pytest.approx(
        5, rel=1e-3
    )


def test_a_joint_test_of_balanced_groups_is_that_of_the_analysis_of_variance_of_their_labels() -> None:
    rng, label = np.random.default_rng(9), np.repeat(np.arange(12), 4)
    score = rng.normal(size=12)[label] + rng.normal(0, 0.3, len(label))
    found = crossed_model(score, np.eye(3)[label // 4], np.arange(len(score)), label)
    theirs = stats.f_oneway(*pd.Series(score).groupby(label).mean().to_numpy().reshape(3, 4))
    joint = found.joint([[-1, 1, 0], [-1, 0, 1]])
    assert (joint.f, joint.df, joint.p) == (
        pytest.approx(theirs.statistic, rel=1e-3),
        2,
        pytest.approx(theirs.pvalue, rel=5e-3),
    )
    assert joint.freedom == pytest.approx(9, rel=1e-2)


def test_means_of_cells_without_a_constant_are_those_with_one() -> None:
    frame = scored(4)
    cells = np.column_stack([frame["level"] == level for level in range(3)] + [frame["x"]]).astype(float)
    with_one = crossed_model(frame["score"], design(frame), frame["source"], frame["label"])
    without = crossed_model(frame["score"], cells, frame["source"], frame["label"])
    assert without.effects[0] == pytest.approx(with_one.effects[0], abs=1e-6)
    assert without.effects[2] == pytest.approx(with_one.effects[0] + with_one.effects[2], abs=1e-6)


def test_without_repeated_groups_it_is_least_squares() -> None:
    frame = scored(5)
    ours = crossed_model(frame["score"], design(frame), np.arange(len(frame)), np.zeros(len(frame)))
    theirs = sm.OLS(frame["score"], design(frame)).fit()
    np.testing.assert_allclose(ours.effects, theirs.params, atol=1e-9)
    np.testing.assert_allclose(ours.covariance, theirs.cov_params(), rtol=1e-6)
    own = ours.estimate([0, 1, 0, 0])
    assert (own.low, own.high) == pytest.approx(tuple(np.asarray(theirs.conf_int())[1]), rel=1e-6)
    assert own.p == pytest.approx(np.asarray(theirs.pvalues)[1], rel=1e-6)
    assert ours.note == "one row of each image: the intercept is the residual; one category: no intercept for it"
    assert all(map(math.isnan, ours.deviations))


def test_one_intercept_alone_is_statsmodels_random_intercept() -> None:
    frame = scored(6)
    ours = crossed_model(frame["score"], design(frame), np.arange(len(frame)), frame["label"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = sm.MixedLM(frame["score"], design(frame), groups=frame["label"]).fit(reml=True)
    np.testing.assert_allclose(ours.effects, theirs.fe_params, atol=1e-5)
    assert ours.deviations[1] == pytest.approx(math.sqrt(float(np.asarray(theirs.cov_re)[0, 0])), rel=0.01)


def dense_deviance(y: np.ndarray, x: np.ndarray, groups: list[np.ndarray], ratios: np.ndarray) -> float:
    """The profiled REML deviance by the whole covariance matrix, up to the constant that ours leaves out."""
    whole = np.eye(len(y)) + sum(
        ratio * np.equal.outer(group, group) for ratio, group in zip(ratios, groups, strict=True)
    )
    inverse = np.linalg.inv(whole)
    information = x.T @ inverse @ x
    left = y - x @ np.linalg.solve(information, x.T @ inverse @ y)
    rest = len(y) - x.shape[1]
    return float(
        np.linalg.slogdet(whole)[1] + np.linalg.slogdet(information)[1] + rest * math.log(left @ inverse @ left)
    )


@pytest.mark.parametrize("kind", ["crossed", "nested", "first alone", "second alone"])
@pytest.mark.parametrize("ratios", [(0.4, 2.5), (0.0, 0.0), (9.0, 0.01)])
def test_the_deviance_and_its_slopes_are_those_of_the_whole_covariance(kind: str, ratios: tuple[float, float]) -> None:
    frame = scored(11, n=90, sources=25, labels=5)
    source = frame["source"].to_numpy()
    label = source % 5 if kind == "nested" else frame["label"].to_numpy()
    first, second = (None if kind == "second alone" else source), (None if kind == "first alone" else label)
    y, x = frame["score"].to_numpy(), design(frame)
    problem = Problem(y, x, None if first is None else np.unique(first, return_inverse=True)[1], second)
    assert problem.nested == (kind != "crossed")
    at = np.array([each for each, group in zip(ratios, (first, second), strict=True) if group is not None])
    groups = [each for each in (first, second) if each is not None]

    def dense_at(place: np.ndarray) -> float:
        return dense_deviance((y - y.mean()) / y.std(), x, groups, place)

    value, slopes = problem.deviance(at)
    assert value == pytest.approx(dense_at(at), rel=1e-10)
    steps = 1e-5 * np.eye(len(at))
    if at.all():
        expected = [(dense_at(at + step) - dense_at(at - step)) / 2e-5 for step in steps]
    else:  # on the boundary: from within, by the parabola through three points
        expected = [(4 * dense_at(at + step) - dense_at(at + 2 * step) - 3 * value) / 2e-5 for step in steps]
    assert slopes == pytest.approx(expected, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("seed", range(12))
def test_nothing_near_or_far_is_below_the_minimum_that_is_found(seed: int) -> None:
    """Also where groups do not differ, and the minimum lies at a ratio of 0."""
    rng = np.random.default_rng(seed)
    frame = scored(seed, n=120, sources=50, labels=6)
    y = rng.normal(size=len(frame)) if seed % 3 == 0 else frame["score"].to_numpy()
    first, second = (np.unique(frame[name], return_inverse=True)[1] for name in ("source", "label"))
    problem = Problem(y, design(frame), first, second)
    least = problem.deviance(problem.minimise() ** 2)[0]
    for start in ((0.0, 0.0), (0.01, 1.0), (1.0, 0.01), (30.0, 30.0)):
        found = optimize.minimize(
            lambda ratios: problem.deviance(ratios)[0],
            start,
            method="Nelder-Mead",
            bounds=[(0, 1e12)] * 2,
            options={"xatol": 1e-9, "fatol": 1e-10},
        )
        assert least <= found.fun + 1e-7


@pytest.mark.parametrize(
    ("change", "note"),
    [
        (lambda frame: (frame["score"][:3], design(frame)[:3], frame["source"][:3], frame["label"][:3]), "3 rows"),
        (lambda frame: (frame["score"], np.ones((len(frame), 2)), frame["source"], frame["label"]), "told apart"),
        (lambda frame: (frame["x"], design(frame), frame["source"], frame["label"]), "nothing remains"),
        (lambda frame: (1e200 * frame["score"], design(frame), frame["source"], frame["label"]), "no square"),
    ],
)
def test_what_cannot_be_fitted_has_no_effect_and_says_why(change: object, note: str) -> None:
    ours = crossed_model(*change(scored(7)))  # type: ignore[operator]
    assert note in ours.note
    assert np.isnan(ours.effects).all()
    assert math.isnan(ours.estimate(np.eye(len(ours.effects))[0]).value)
    assert math.isnan(ours.joint(np.eye(len(ours.effects))[:1]).p)


def test_columns_of_other_lengths_or_without_a_number_are_refused() -> None:
    frame = scored(8)
    with pytest.raises(InvalidInput, match="equal numbers"):
        crossed_model(frame["score"][1:], design(frame), frame["source"], frame["label"])
    with pytest.raises(InvalidInput, match="finite"):
        crossed_model(frame["score"].where(frame.index > 0), design(frame), frame["source"], frame["label"])
