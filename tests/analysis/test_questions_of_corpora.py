"""What compares corpora and places, against an independent way from the raw Parquet of two corpora and of a grid."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from patsy import dmatrix
from scipy import stats

from core.analysis.questions import Options, catalogue
from core.analysis.reading import read_table
from core.analysis.table import ScoreTable
from core.features.calibration.questions import questions as calibration
from core.store.store import Store
from tests.analysis import two_sources
from tests.analysis.made_runs import raw, shifts
from tests.analysis.questions_reference import assert_corrected, assert_shift, of, over_items
from tests.analysis.two_corpora import EVALUATORS, OTHER, REFERENCE, audit_distance, split_shipped

Answer = Callable[..., pd.DataFrame]
FOUR = ("American", "European", "Asian", "African")


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, pd.DataFrame]]:
    folder = tmp_path_factory.mktemp("corpora")
    return folder, split_shipped(folder)


@pytest.fixture(scope="module")
def table(stored: tuple[Path, dict[str, pd.DataFrame]]) -> Iterator[ScoreTable]:
    with Store.open(stored[0]) as store:
        yield read_table(store)


@pytest.fixture(scope="module")
def answer(table: ScoreTable) -> Answer:
    return asking(table)


def asking(table: ScoreTable) -> Answer:
    asked, view = {each.id: each for each in (*catalogue(table), *calibration(table))}, table.view()

    def answered(id_: str, **options: object) -> pd.DataFrame:
        assert not asked[id_].needs(table)
        return asked[id_].compute(view, Options(**options))  # type: ignore[arg-type]

    return answered


@pytest.fixture(scope="module")
def scores(stored: tuple[Path, dict[str, pd.DataFrame]]) -> pd.DataFrame:
    """Stored scores of the largest run of each corpus."""
    return pd.concat([stored[1]["first"], stored[1]["second"]], ignore_index=True)


@pytest.fixture(scope="module")
def rows(scores: pd.DataFrame) -> pd.DataFrame:
    found = shifts(scores)
    return found[(found["expectation"] == "invariant") & (found["family"] != "base")]


def test_of_two_runs_of_a_corpus_the_smaller_is_in_no_number(
    table: ScoreTable, stored: tuple[Path, dict[str, pd.DataFrame]]
) -> None:
    assert table.scope.runs == ((REFERENCE, "first"), (OTHER, "second"))
    assert table.reference == REFERENCE
    assert len(table.items) == sum(stored[1][run]["item"].nunique() for run in ("first", "second"))


@pytest.mark.parametrize("family", [None, "cultural", "rotation"])
def test_a_family_in_every_corpus_is_what_its_rows_there_are(
    answer: Answer, rows: pd.DataFrame, family: str | None
) -> None:
    found = answer("S20", family=family)
    assert set(found["family"]) == {family or "vertical-flip"}
    assert set(zip(found["evaluator"], found["corpus"], strict=True)) == {
        (evaluator, corpus) for evaluator in EVALUATORS for corpus in (REFERENCE, OTHER)
    }
    for _, row in found.iterrows():
        own = of(rows, evaluator=row["evaluator"], corpus=row["corpus"], family=row["family"], control=False)
        assert_shift(row, own)
    tested = found["p_holm"].notna()  # where no score moved there is no test, and nothing to correct for
    assert set(found.loc[tested, "m_tests"]) <= {3, 4, 5}  # of the axis, whichever family is asked for
    assert set(found.loc[~tested, "m_tests"]) <= {0}
    assert tested.sum() >= 2


def test_a_flip_of_every_corpus_together_has_a_row_of_its_own(answer: Answer, rows: pd.DataFrame) -> None:
    found, own = answer("T3"), of(rows, family="vertical-flip")
    assert list(found["corpus"].unique()) == [REFERENCE, OTHER, "all"]
    for _, row in found.iterrows():
        mine = of(own, evaluator=row["evaluator"])
        assert_shift(row, mine if row["corpus"] == "all" else of(mine, corpus=row["corpus"]))
        if row["corpus"] == "all":
            assert row["beta"] == pytest.approx(over_items(mine)["delta"].mean(), abs=1e-6)
    assert_corrected(answer("S1"))


@pytest.mark.parametrize(
    ("id_", "family", "words"),
    [("T9", "vertical-flip", ()), ("T10", "cultural", FOUR), ("T11", "economic", ("cheap", "expensive"))],
)
def test_subsets_are_medians_of_each_item_s_mean_corpus_by_corpus(
    answer: Answer, rows: pd.DataFrame, id_: str, family: str, words: tuple[str, ...]
) -> None:
    found = answer(id_)
    assert len(found) == len(EVALUATORS) * 2
    for _, row in found.iterrows():
        own = of(rows, evaluator=row["evaluator"], corpus=row["corpus"], family=family)
        own = own[own["category"] != "person"] if family == "economic" else own
        own = own[own["modifier"].isin(words)] if words else own
        percent = own.groupby("item")["percent"].mean().dropna()
        assert (row["n_items"], row["median_percent"]) == (len(percent), pytest.approx(percent.median()))
        if np.ptp(percent) > 0:
            assert row["low"] <= row["median_percent"] <= row["high"]
        else:  # equal values have no spread to make an interval of
            assert np.isnan(row["low"])


def bounds_over(sources: pd.Series, values: pd.Series) -> tuple[float, float, float]:
    """Scipy's BCa bounds of the mean over samples of sources, drawn whole, and its standard error."""
    members = [own.to_numpy() for _, own in values.groupby(sources)]
    sums, sizes = (np.array([each(own) for own in members]) for each in (np.sum, len))
    found = stats.bootstrap(
        (np.arange(len(members)),),
        lambda drawn, axis: sums[drawn].sum(axis=axis) / sizes[drawn].sum(axis=axis),
        n_resamples=4999,
        method="BCa",
        rng=np.random.default_rng(1),
        vectorized=True,
    )
    return *found.confidence_interval, found.standard_error


@pytest.mark.parametrize("reference", [None, OTHER])
def test_agreement_is_the_share_of_items_that_go_the_way_of_the_reference(
    answer: Answer, rows: pd.DataFrame, reference: str | None
) -> None:
    found, held = answer("T12", reference=reference), reference or REFERENCE
    sources = raw(table="items").drop_duplicates("item").set_index("item")["item_group"]
    assert set(found["corpus"]) == {REFERENCE, OTHER} - {held}
    plain = rows[~rows["control"] & (rows["family"] != "null")]
    whole = found[found["of"] == "whole family"]
    subsets = {
        "vertical flip": ("vertical-flip", ()),
        "cultural subset": ("cultural", FOUR),
        "economic subset": ("economic", ("cheap", "expensive")),
    }
    assert set(whole["family"]) == set(plain["family"]) - {"vertical-flip"}
    assert set(found["family"]) - set(whole["family"]) == set(subsets)
    assert len(found) == found["family"].nunique() * len(EVALUATORS)
    for _, row in found.iterrows():
        family, words = subsets.get(row["family"], (row["family"], ()))
        own = of(plain, evaluator=row["evaluator"], family=family)
        own = own[own["modifier"].isin(words)] if words else own
        own = own[own["category"] != "person"] if row["family"] == "economic subset" else own
        items = own.groupby(["corpus", "item"])["delta"].median().dropna()
        expected, here = items[held].median(), items[row["corpus"]]
        assert row["reference_median"] == pytest.approx(expected)
        assert (row["median"], row["n_items"]) == (pytest.approx(here.median()), len(here))
        if expected == 0:
            assert (row["same"], row["note"]) == ("", "the reference has no direction")
            assert np.isnan(row["agreement"])
            continue
        agree = np.where(here == 0, 0.5, np.sign(here) == np.sign(expected))
        assert row["agreement"] == pytest.approx(100 * agree.mean())
        if np.ptp(agree) == 0:
            assert row["low"] <= 100 * agree.mean() <= row["high"]
            continue
        each = pd.Series(agree, index=here.index)
        low, high, error = bounds_over(sources.reindex(here.index), each)
        times = two_sources.longer(each - each.mean())
        low, high = (each.mean() + times * (end - each.mean()) for end in (low, high))
        error *= times
        # Wilson's interval on as many independent items as have the sources' variance, against a bootstrap of sources
        assert row["low"] == pytest.approx(100 * low, abs=85 * error)
        assert row["high"] == pytest.approx(100 * high, abs=85 * error)
        same = "" if here.median() == 0 else "same" if here.median() * expected > 0 else "opposite"
        assert row["same"] == same


def test_every_corpus_has_clean_scores_and_agreement_of_its_own(answer: Answer, scores: pd.DataFrame) -> None:
    clean = of(scores, probe="identity")
    levels, together = answer("T5"), answer("S11").set_index("corpus")
    for _, row in levels.iterrows():
        own = of(clean, evaluator=row["evaluator"], corpus=row["corpus"], coverage_bin=row["level"])["score"].dropna()
        assert (row["value"], row["n_items"]) == (pytest.approx(own.median()), len(own))
    for corpus, own in clean.groupby("corpus"):
        wide = own.pivot_table(index="item", columns="evaluator", values="score").dropna()
        assert together.loc[corpus, "n_items"] == len(wide)
        assert together.loc[corpus, "spearman"] == pytest.approx(stats.spearmanr(wide).statistic)


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ScoreTable, pd.DataFrame]]:
    folder = tmp_path_factory.mktemp("grid")
    scores = audit_distance(folder)
    with Store.open(folder / "runs") as store:
        yield read_table(store), scores


def test_the_curve_on_distance_is_the_least_squares_natural_spline_of_the_grid(
    grid: tuple[ScoreTable, pd.DataFrame],
) -> None:
    table, scores = grid
    found = asking(table)("S19")
    rows = of(shifts(scores), family="distance").dropna(subset=["percent"])
    x = rows["probe"].str.removeprefix("distance:").str.partition("@")[0].astype(float).to_numpy()
    assert len(np.unique(x)) >= 5
    knots = np.quantile(x, [0.25, 0.5, 0.75])
    assert len(np.unique([0.0, *knots, x.max()])) == 5
    about = {"knots": knots, "low": x.min(), "high": x.max()}
    basis = "cr(x, knots=knots, lower_bound=low, upper_bound=high) - 1"
    weights = np.linalg.lstsq(np.asarray(dmatrix(basis, {"x": x, **about})), rows["percent"], rcond=None)[0]
    drawn = np.asarray(dmatrix(basis, {"x": found["x"].to_numpy(dtype=float), **about})) @ weights
    np.testing.assert_allclose(found["value"].astype(float), drawn, atol=1e-8)
    assert set(found["n_items"]) == {len(rows)}
    # a band of five parameters takes twenty sources
    assert (found["low"] <= found["high"]).all() if rows["item"].nunique() >= 20 else found["low"].isna().all()
