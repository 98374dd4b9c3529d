"""Size, category and composition of unedited scores, and words by mixed models, against statsmodels on the raw
Parquet."""

import math
import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from patsy import dmatrix
from scipy import stats

from core.analysis.questions import Options, catalogue
from core.analysis.reading import read_table
from core.analysis.table import ScoreTable
from core.store.store import Store
from tests.analysis import two_sources
from tests.analysis.made_runs import raw, shifts
from tests.analysis.questions_reference import holm, of, over_items

EVALUATOR = "conse-lite0"
MIDDLE, EVERY = "50-70", "every level together"

Answer = Callable[..., pd.DataFrame]


@pytest.fixture(scope="module")
def table(store: Store) -> ScoreTable:
    return read_table(store)


@pytest.fixture(scope="module")
def answer(table: ScoreTable) -> Answer:
    asked = {each.id: each for each in catalogue(table)}
    view = table.view()
    return lambda id_, **options: asked[id_].compute(view, Options(**options))


@pytest.fixture(scope="module")
def clean() -> pd.DataFrame:
    """Scores of the unedited pairs of one evaluator with the facts of their items."""
    scores = raw()
    own = of(scores, probe="identity", evaluator=EVALUATOR).dropna(subset=["score"])
    groups = raw(table="items").drop_duplicates("item").set_index("item")["item_group"]
    return own.assign(source=own["item"].map(groups)).reset_index(drop=True)


def dense(score: pd.Series, design: np.ndarray, frame: pd.DataFrame, *names: str):
    """statsmodels' REML with crossed intercepts of some columns; the spreads that it finds, and exact GLS at them."""
    x = pd.DataFrame(design, columns=[f"x{place}" for place in range(design.shape[1])]).astype(float)
    data = pd.concat([x, frame[list(names)].reset_index(drop=True)], axis=1).assign(score=score.to_numpy())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = sm.MixedLM.from_formula(
            f"score ~ 0 + {' + '.join(x)}",
            groups=np.ones(len(data)),
            data=data,
            vc_formula={name: f"0 + C({name})" for name in names},
        ).fit(reml=True)
    parts = dict(zip(fitted.model.exog_vc.names, fitted.vcomp, strict=True))
    whole = fitted.scale * np.eye(len(data))
    for name in names:
        whole += parts[name] * np.equal.outer(*2 * [data[name].astype(str).to_numpy()])
    covariance = np.linalg.inv(x.to_numpy().T @ np.linalg.solve(whole, x.to_numpy()))
    beta = covariance @ x.to_numpy().T @ np.linalg.solve(whole, data["score"].to_numpy())
    return beta, covariance, parts | {"left": fitted.scale}


def test_the_size_effect_is_that_of_statsmodels(answer: Answer, clean: pd.DataFrame) -> None:
    found = of(answer("S14-size"), evaluator=EVALUATOR).set_index("level")
    bins = sorted(clean["coverage_bin"].unique(), key=lambda name: int(name.split("-")[0]))
    others = [name for name in bins if name != MIDDLE]
    design = np.column_stack([np.ones(len(clean)), *[clean["coverage_bin"] == name for name in others]])
    beta, covariance, _ = dense(clean["score"], design, clean, "source", "category")
    assert list(found.index) == [*(f"{name} vs {MIDDLE}" for name in others), EVERY]
    for place, name in enumerate(others, start=1):
        row, error = found.loc[f"{name} vs {MIDDLE}"], math.sqrt(covariance[place, place])
        assert row["n_items"] == (clean["coverage_bin"] == name).sum()
        assert row["value"] == pytest.approx(beta[place], abs=2e-4)
        assert 30 < row["freedom"] < len(clean)
        quantile = stats.t.ppf(0.975, row["freedom"])
        assert (row["high"] - row["low"]) / (2 * quantile) == pytest.approx(error, rel=0.01)
        t = abs(row["value"] / error)
        assert row["p"] == pytest.approx(2 * stats.t.sf(t, row["freedom"]), rel=0.1, abs=1e-6)
    np.testing.assert_allclose(found["p_holm"][:-1].astype(float), holm(found["p"][:-1]), rtol=1e-9)
    chi = beta[1:] @ np.linalg.solve(covariance[1:, 1:], beta[1:])
    assert (found.loc[EVERY, "df"], found.loc[EVERY, "n_items"]) == (len(others), len(clean))
    assert found.loc[EVERY, "f"] == pytest.approx(chi / len(others), rel=0.02)
    assert found.loc[EVERY, "p"] == pytest.approx(
        stats.f.sf(found.loc[EVERY, "f"], len(others), found.loc[EVERY, "freedom"])
    )


def test_categories_are_held_at_one_coverage_as_statsmodels_does(answer: Answer, clean: pd.DataFrame) -> None:
    found = of(answer("S14-category"), evaluator=EVALUATOR).set_index("level")
    names = sorted(clean["category"].unique())
    few = {
        str(name): f"no interval (n = {len(own)}, below 10)"
        if len(own) < 10
        else f"no interval ({len(own)} items of {own['source'].nunique()} sources, below 10)"
        for name, own in clean.groupby("category")
        if own["source"].nunique() < 10
    }
    assert few
    cells = np.column_stack([clean["category"] == name for name in names]).astype(float)
    x = clean["coverage"].to_numpy()
    basis = "cr(x, knots=knots, lower_bound=low, upper_bound=high) - 1"
    about = {"knots": np.quantile(x, [0.25, 0.5, 0.75]), "low": x.min(), "high": x.max()}
    spline = np.asarray(dmatrix(basis, {"x": x, **about}))
    bent = (spline - spline.mean(axis=0))[:, 1:]
    for design, stem in ((cells, "value"), (np.column_stack([cells, bent]), "adjusted")):
        # a label's cut-outs differ by less than statsmodels can tell from 0: its label intercept is the model's
        beta, covariance, parts = dense(clean["score"], design, clean, "label")
        assert parts["label"] > 0
        ends = ("low", "high") if stem == "value" else ("adjusted_low", "adjusted_high")
        for place, name in enumerate(names):
            row = found.loc[name]
            assert row[stem] == pytest.approx(beta[place], abs=2e-3)
            if name in few:
                assert row[[*ends, "freedom"]].isna().all()
                assert row["note"] == few[name]
                continue
            freedom = row["freedom" if stem == "value" else "adjusted_freedom"]
            assert 1 <= freedom < len(clean)
            width = (row[ends[1]] - row[ends[0]]) / (2 * stats.t.ppf(0.975, freedom))
            assert width == pytest.approx(math.sqrt(covariance[place, place]), rel=0.02)
        apart = np.eye(len(beta))[1 : len(names)] - np.eye(len(beta))[0]
        values = apart @ beta
        chi = values @ np.linalg.solve(apart @ covariance @ apart.T, values)
        row = found.loc[EVERY]
        assert row["f" if stem == "value" else "adjusted_f"] == pytest.approx(chi / len(apart), rel=0.03)
    assert row["df"] == len(names) - 1
    assert found["n_items"][:-1].to_dict() == clean["category"].value_counts().to_dict()


def clustered_half(delta: pd.Series) -> float:
    """Half of the 95 % interval of a mean of items' shifts by cut-outs, by statsmodels' errors, and backgrounds."""
    groups = pd.factorize(raw(table="items").set_index("item")["item_group"][delta.index])[0]
    fit = sm.OLS(delta.to_numpy(), np.ones(len(delta))).fit(cov_type="cluster", cov_kwds={"groups": groups})
    return float(stats.t.ppf(0.975, groups.max()) * fit.bse[0] * two_sources.longer(delta - delta.mean()))


@pytest.mark.parametrize("word", ["female", "male"])
def test_a_word_s_mean_shift_and_spreads_are_those_of_statsmodels(answer: Answer, word: str) -> None:
    row = of(answer("S14-gender"), evaluator=EVALUATOR, label=word).iloc[0]
    scores = raw()
    rows = of(shifts(scores), evaluator=EVALUATOR, probe=f"gender:{word}").dropna(subset=["delta"])
    long = pd.concat([rows.assign(score=rows["baseline_score"], edited=0), rows.assign(edited=1)], ignore_index=True)
    design = np.column_stack([np.ones(len(long)), long["edited"]])
    beta, _, parts = dense(long["score"], design, long, "item", "category")
    assert row["n_items"] == len(rows)
    assert row["beta"] == pytest.approx(beta[1], abs=1e-5)
    assert row["beta"] == pytest.approx(over_items(rows)["delta"].mean())
    assert (row["beta_high"] - row["beta_low"]) / 2 == pytest.approx(
        clustered_half(over_items(rows)["delta"]), rel=0.02
    )
    assert "interval and p by source" in row["beta_note"]
    assert row["item_sd"] == pytest.approx(math.sqrt(parts["item"]), rel=0.02)
    assert row["category_sd"] == pytest.approx(math.sqrt(parts["category"]), rel=0.05)
    assert row["residual_sd"] == pytest.approx(math.sqrt(parts["left"]), rel=0.01)


@pytest.mark.parametrize("family", ["cultural", "economic", "gender", "emotion"])
def test_every_word_has_its_mixed_model_corrected_within_the_family(answer: Answer, family: str) -> None:
    found, rows = answer(f"S14-{family}"), shifts(raw())
    plain = of(rows, family=family, control=False)
    assert len(found) == len(plain.groupby(["evaluator", "modifier"]))
    for _, own in found.groupby("evaluator"):
        tested = own.dropna(subset=["p"])  # a word that moves every item alike has no test, and says so
        np.testing.assert_allclose(tested["p_holm"].astype(float), holm(tested["p"]), rtol=1e-9)
        assert set(tested["m_tests"]) <= {len(tested)}
        few = own["n_items"] < 10
        assert own.loc[few, "beta_note"].str.fullmatch(r"no interval \(n = \d, below 10\), and no test").all()
        assert own.loc[few, ["p", "beta_low", "beta_high", "item_sd", "residual_sd"]].isna().all(axis=None)
        assert own.loc[own["p"].isna() & ~few, "beta_note"].eq("every image moves by the same amount").all()
    for _, row in found.iterrows():
        own = of(plain, evaluator=row["evaluator"], modifier=row["label"])
        own = own[own["category"] != "person"] if family == "economic" else own
        items = over_items(own)["delta"].dropna()
        expected = items.mean() if len(items) > 1 else math.nan  # one item has no model
        assert row["beta"] == pytest.approx(expected, abs=1e-6, nan_ok=True)


def test_against_the_bare_caption_the_mixed_model_is_of_it(answer: Answer) -> None:
    row = of(answer("S14-gender", bare=True), evaluator=EVALUATOR, label="male").iloc[0]
    wide = of(raw(), evaluator=EVALUATOR).pivot_table(index="item", columns="probe", values="score")
    assert row["beta"] == pytest.approx((wide["gender:male"] - wide["base"]).mean())


COLUMNS = {"category": ["category"], "coverage": ["coverage_bin"], "category × coverage": ["category", "coverage_bin"]}


@pytest.mark.parametrize("over", COLUMNS)
def test_the_balanced_mean_is_that_of_the_strata_with_resampled_sources(
    answer: Answer, clean: pd.DataFrame, over: str
) -> None:
    row = of(answer("S3-balanced"), evaluator=EVALUATOR, over=over).iloc[0]
    strata = clean.groupby(COLUMNS[over])
    kept = [own for _, own in strata if len(set(own["source"])) > 1]
    items = pd.concat(kept)
    means = np.array([own["score"].mean() for own in kept])
    assert (row["strata"], row["left_out"]) == (len(kept), len(strata) - len(kept))
    assert (row["n_items"], row["items_left_out"]) == (len(items), len(clean) - len(items))
    assert row["plain"] == pytest.approx(items["score"].mean())
    assert row["balanced"] == pytest.approx(means.mean())
    assert row["value"] == pytest.approx(means.mean() - items["score"].mean())
    rng, drawn = np.random.default_rng(5), []
    groups = [[each["score"].to_numpy() for _, each in own.groupby("source")] for own in kept]
    weights = np.array([len(own) for own in kept]) / len(items)
    even = np.full(len(kept), 1 / len(kept))
    estimates = (weights @ means, means.mean(), means.mean() - weights @ means)
    stretch = np.array([math.sqrt(len(own) / (len(own) - 1)) for own in groups])
    for _ in range(3000):
        each = np.array(
            [np.concatenate([own[pick] for pick in rng.integers(len(own), size=len(own))]).mean() for own in groups]
        )
        each = means + stretch * (each - means)
        drawn.append((weights @ each, each.mean(), each.mean() - weights @ each))
    for place, ends in enumerate((("plain_low", "plain_high"), ("balanced_low", "balanced_high"), ("low", "high"))):
        own = np.array(drawn)[:, place]
        if over == "category" and place:  # two categories of two or three cut-outs each decide the spread
            assert np.isnan(row[list(ends)].astype(float)).all()
            assert "degrees of freedom, below 9" in row["note"]
            continue
        low, high = np.quantile(own, bca_shares(own, estimates[place], groups, (weights, even, even - weights)[place]))
        parts = [
            weight * (each.set_index("item")["score"] - each["score"].mean()) / len(each)
            for weight, each in zip((weights, even, even - weights)[place], kept, strict=True)
        ]
        times, value = two_sources.longer(pd.concat(parts)), estimates[place]
        low, high = value - times * (value - low), value + times * (high - value)
        assert row[ends[0]] == pytest.approx(low, abs=0.4 * own.std())
        assert row[ends[1]] == pytest.approx(high, abs=0.4 * own.std())


def bca_shares(drawn: np.ndarray, estimate: float, groups: list, weights: np.ndarray) -> np.ndarray:
    """Shares of the draws at which the bounds lie, by Davison and Hinkley (1997), 5.3.2, for several samples."""
    cubes = squares = 0.0
    parts = []
    for weight, sources in zip(weights, groups, strict=True):
        n = len(sources)
        without = np.array([np.concatenate([*sources[:k], *sources[k + 1 :]]).mean() for k in range(n)])
        influence = weight * (n - 1) * (without.mean() - without)
        cubes, squares = cubes + (influence**3).sum() / n**3, squares + (influence**2).sum() / n**2
        parts.append(((influence**2).sum() / (n * (n - 1)), n - 1))
    a, z0 = cubes / (6 * squares**1.5), stats.norm.ppf((drawn < estimate).mean())
    freedom = sum(each for each, _ in parts) ** 2 / sum(each**2 / df for each, df in parts)
    z = stats.t.ppf([0.025, 0.975], freedom)
    return np.asarray(stats.norm.cdf(z0 + (z0 + z) / (1 - a * (z0 + z))))
