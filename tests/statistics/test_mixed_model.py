"""REML with crossed intercepts against statsmodels' dense one, and on what cannot be fitted."""

import math
import warnings

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import stats

from core.errors import InvalidInput
from core.statistics.mixed_model import _checked, _shifts, mixed_effect


def simulated(
    seed: int, *, images: int = 40, categories: int = 5, repeats: int = 2, crossed: bool = False, shift: float = 0.03
) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    image = np.repeat(np.arange(images), repeats)
    of_image = rng.integers(categories, size=images)
    category = rng.integers(categories, size=len(image)) if crossed else of_image[image]
    perturbed = np.tile(np.arange(repeats) % 2, images)
    score = (
        0.5
        + shift * perturbed
        + rng.normal(0, 0.1, images)[image]
        + rng.normal(0, 0.08, categories)[category]
        + rng.normal(0, 0.05, len(image))
    )
    return pd.DataFrame({"score": score, "perturbed": perturbed, "image": image, "category": category})


def reference(frame: pd.DataFrame):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = sm.MixedLM.from_formula(
            "score ~ perturbed",
            groups=np.ones(len(frame)),
            vc_formula={"image": "0 + C(image)", "category": "0 + C(category)"},
            data=frame,
        )
        return model.fit(reml=True)


@pytest.mark.parametrize(("seed", "crossed"), [(0, False), (1, False), (2, True), (3, True)])
def test_the_fit_equals_statsmodels(seed: int, crossed: bool) -> None:
    frame = simulated(seed, crossed=crossed, repeats=3)
    ours, theirs = mixed_effect(*frame.to_numpy().T), reference(frame)
    assert ours.effect == pytest.approx(theirs.params["perturbed"], abs=1e-6)
    wide = frame.pivot_table(index="image", columns="perturbed", values="score")
    spread = float((wide[1] - wide[0]).std()) / math.sqrt(len(wide))
    assert (ours.high - ours.low) / 2 == pytest.approx(stats.t.ppf(0.975, len(wide) - 1) * spread)
    variances = dict(zip(theirs.model.exog_vc.names, theirs.vcomp, strict=True))
    assert ours.image_sd == pytest.approx(math.sqrt(variances["image"]), rel=0.01)
    assert ours.category_sd == pytest.approx(math.sqrt(variances["category"]), rel=0.01)
    assert ours.residual_sd == pytest.approx(math.sqrt(theirs.scale), rel=1e-3)


def test_shifts_of_images_are_those_of_a_table_of_sources_and_images() -> None:
    rng = np.random.default_rng(8)
    frame = pd.DataFrame(
        {
            "image": rng.integers(30, size=90),
            "perturbed": rng.integers(2, size=90).astype(float),
            "score": rng.normal(size=90),
        }
    )
    frame["source"] = np.array(["b", "c", "a"])[frame["image"] % 3]
    columns = (frame[name] for name in ("score", "perturbed", "image", "image", "source"))
    shifts, ranks = _shifts(_checked(*columns))
    wide = frame.pivot_table(index=["source", "image"], columns="perturbed", values="score").dropna()
    assert 10 < len(wide) < 30
    np.testing.assert_allclose(shifts, wide[1.0] - wide[0.0], rtol=0, atol=1e-15)
    assert np.array(["a", "b", "c"])[ranks].tolist() == wide.index.get_level_values("source").tolist()


def test_the_spread_of_a_single_image_that_has_a_baseline_is_nobodys_guess() -> None:
    ours = mixed_effect([0.1, 0.2, 0.2, 0.2], [0, 1, 1, 1], list("aabb"), list("xxxx"))
    assert (ours.effect, ours.n, ours.images) == (pytest.approx(0.1), 4, 2)
    assert math.isnan(ours.image_sd)
    assert ours.note == "every image moves by the same amount"


def test_balanced_pairs_give_the_mean_difference_and_its_paired_error() -> None:
    frame = simulated(4)
    ours = mixed_effect(*frame.to_numpy().T)
    differences = frame["score"][1::2].to_numpy() - frame["score"][::2].to_numpy()
    assert ours.effect == pytest.approx(differences.mean())
    theirs = stats.ttest_1samp(differences, 0.0)
    assert (ours.low, ours.high) == pytest.approx(tuple(theirs.confidence_interval()))
    assert ours.p == pytest.approx(theirs.pvalue)


def test_the_unit_of_the_scores_does_not_matter() -> None:
    frame = simulated(5)
    small, large = (
        mixed_effect(*frame.to_numpy().T),
        mixed_effect(*frame.assign(score=frame["score"] * 1e6).to_numpy().T),
    )
    assert large.effect == pytest.approx(1e6 * small.effect)
    assert large.p == pytest.approx(small.p, rel=1e-4)


@pytest.mark.parametrize("power", [-900, 665])
def test_scores_of_any_size_have_the_same_fit_and_no_overflow(power: int) -> None:
    frame = simulated(5)
    usual = mixed_effect(*frame.to_numpy().T)
    found = mixed_effect(*frame.assign(score=np.ldexp(frame["score"], power)).to_numpy().T)
    assert (found.p, found.note) == (usual.p, usual.note)
    for name in ("effect", "low", "high", "image_sd", "category_sd", "residual_sd"):
        assert getattr(found, name) == np.ldexp(getattr(usual, name), power), name


@pytest.mark.parametrize("images", [10, 30])
def test_coverage_of_the_interval_by_simulation(images: int) -> None:
    fits = [mixed_effect(*simulated(seed, images=images).to_numpy().T) for seed in range(1000, 1120)]
    hits = sum(fit.low <= 0.03 <= fit.high for fit in fits)
    assert stats.binomtest(hits, 120, 0.95).pvalue > 0.05


def test_one_category_leaves_its_intercept_out_and_says_so() -> None:
    frame = simulated(6, categories=1)
    ours = mixed_effect(*frame.to_numpy().T)
    assert "one category" in ours.note
    assert math.isnan(ours.category_sd)
    assert math.isfinite(ours.effect)


def test_a_spread_of_zero_is_said() -> None:
    frame = simulated(7).assign(score=np.random.default_rng(0).permutation(80) % 7)
    assert "no spread between" in mixed_effect(*frame.to_numpy().T).note


def test_images_that_all_move_alike_have_an_effect_without_a_test() -> None:
    ours = mixed_effect([0.1, 0.3, 0.5, 0.7], [0, 1, 0, 1], ["a", "a", "b", "b"], ["x", "x", "y", "y"])
    assert ours.effect == pytest.approx(0.2)
    assert "same amount" in ours.note
    assert math.isnan(ours.p)


@pytest.mark.parametrize(
    ("columns", "note"),
    [
        (([], [], [], []), "no row"),
        (([0.1, 0.2], [0, 0], ["a", "b"], ["x", "y"]), "none of the edit"),
        (([0.1, 0.2], [0, 1], ["a", "a"], ["x", "x"]), "fewer than two images"),
        (([0.1, 0.2], [0, 1], ["a", "b"], ["x", "x"]), "no image has two rows"),
        (([0.1, 0.2, 0.3, 0.1], [0, 0, 1, 1], ["a", "a", "b", "b"], list("xxyy")), "row of the baseline and one"),
        (([0.1, math.nan, 0.3, 0.1], [0, 1, 0, 0], ["a", "a", "b", "b"], list("xxyy")), "none of the edit"),
    ],
)
def test_what_cannot_be_fitted_has_no_effect_and_says_why(columns: tuple[list, ...], note: str) -> None:
    ours = mixed_effect(*columns)
    assert note in ours.note
    assert math.isnan(ours.effect)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (([0.1], [0, 1], ["a"], ["x"]), "equal numbers"),
        (([0.1, 0.2], [0, 2], ["a", "a"], ["x", "x"]), "perturbed"),
        (([0.1, math.inf], [0, 1], ["a", "a"], ["x", "x"]), "infinite"),
    ],
)
def test_bad_columns_are_refused(columns: tuple[list, ...], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        mixed_effect(*columns)
