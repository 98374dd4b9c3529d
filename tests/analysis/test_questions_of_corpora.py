"""What compares corpora and places, against an independent way from the raw Parquet of two corpora and of a grid."""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from patsy import dmatrix
from scipy import stats
from statsmodels.stats.meta_analysis import combine_effects

from core.analysis.questions import Options, catalogue
from core.analysis.questions.across import MEDIAN, between
from core.analysis.reading import read_table
from core.analysis.table import ScoreTable
from core.features.calibration.questions import questions as calibration
from core.statistics.bootstrap import Interval, median_bca
from core.store.store import Store
from tests.analysis import two_sources
from tests.analysis.made_runs import raw, score, shifts, write_run
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


CULTURAL = ("American", "European", "Asian", "African", "Russian")


def told(word: str) -> dict[str, object]:
    return {
        "axis": "societal",
        "family": "cultural",
        "baseline": "identity",
        "modifier": word,
        "expectation": "invariant",
    }


def rows_of(corpus: str, seed: int, *, lift: float, words: Sequence[str] = CULTURAL, items: int = 30) -> list[dict]:
    rng = np.random.default_rng(seed)
    rows = []
    for place in range(items):
        name, clean = f"i{place:02d}", float(rng.uniform(0.4, 0.9))
        edits = {"identity": (0.0, {}), "vflip": (lift, {})} | {f"cultural:{w}": (lift / 2, told(w)) for w in words}
        for probe, (shift, about) in edits.items():
            value = clean * (1 + shift + (0.03 * rng.normal() if probe != "identity" else 0))
            rows += [
                score(name, probe, value, corpus=corpus, evaluator=who, **about)
                for who in ("e", "f")
                if not (who == "f" and corpus == "third" and about)
            ]
    return rows


def opened(folder: Path, corpora: dict[str, dict]) -> Store:
    for seed, (name, how) in enumerate(corpora.items()):
        write_run(folder / f"run-{name}", rows_of(name, seed, **how), corpus={"name": name})
    return Store.open(folder)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("across")


@pytest.fixture(scope="module")
def three(folder: Path) -> Iterator[ScoreTable]:
    corpora = {"first": {"lift": 0.05}, "second": {"lift": 0.01}, "third": {"lift": -0.02, "words": CULTURAL[:2]}}
    with opened(folder / "three", corpora) as store:
        yield read_table(store)


@pytest.fixture(scope="module")
def two(folder: Path) -> Iterator[ScoreTable]:
    with opened(folder / "two", {"first": {"lift": 0.05}, "second": {"lift": 0.01}}) as store:
        yield read_table(store)


def ask(table: ScoreTable, id_: str, **options: object) -> pd.DataFrame:
    question = next(each for each in catalogue(table) if each.id == id_)
    return question.compute(table.view(), Options(**options))  # type: ignore[arg-type]


def percents(folder: Path, corpus: str, family: str, evaluator: str = "e") -> pd.Series:
    rows = of(shifts(raw(folder / f"run-{corpus}")), family=family, evaluator=evaluator)
    return rows.groupby("item")["percent"].median().dropna()


def test_a_row_that_no_score_can_fill_is_left_out_and_named(three: ScoreTable, folder: Path) -> None:
    found = ask(three, "T10")
    assert list(zip(found["evaluator"], found["corpus"], strict=True)) == [
        ("e", "first"),
        ("e", "second"),
        ("e", "third"),
        ("f", "first"),
        ("f", "second"),
    ]
    assert found["median_percent"].notna().all()
    notes = {each.id: each.note for each in catalogue(three)}
    assert notes["T10"].endswith(" Left out, for no % change here is of it: f on third.")
    assert "Left out" not in notes["T9"]
    rows = of(shifts(raw(folder / "three" / "run-first")), family="cultural", evaluator="e")
    four = rows[rows["modifier"].isin(CULTURAL[:4])].groupby("item")["percent"].mean()
    assert found["median_percent"].iloc[0] == pytest.approx(four.median())


def test_words_that_nobody_audited_are_named_too(folder: Path) -> None:
    with opened(folder / "few", {name: {"lift": 0.01, "words": CULTURAL[:2]} for name in ("first", "second")}) as store:
        table = read_table(store)
        note = next(each.note for each in catalogue(table) if each.id == "T10")
    assert note.endswith(" Not audited, and in no mean: cultural:Asian, cultural:African.")


def test_the_median_over_corpora_is_that_of_the_agreements_beside_the_reference(
    three: ScoreTable, folder: Path
) -> None:
    found = ask(three, "T12", reference="first")
    assert set(found["family"]) == {"vertical flip", "cultural subset", "cultural"}
    assert found["of"].tolist()[:3] == ["paper’s subset"] * 3
    flips = of(found, evaluator="e", family="vertical flip")
    assert flips["corpus"].tolist() == ["second", "third", MEDIAN]
    shares = []
    for corpus in ("second", "third"):
        own = percents(folder / "three", corpus, "vertical-flip")
        shares.append(100 * ((own > 0).mean() + (own == 0).mean() / 2))
    assert flips["agreement"].tolist() == pytest.approx([*shares, np.median(shares)])
    assert flips["same"].tolist() == ["same", "opposite", "mixed"]
    assert np.isnan(flips["low"].iloc[-1])
    lonely = of(found, evaluator="f", family="cultural subset")  # on the third corpus nobody scored it
    assert lonely["corpus"].tolist() == ["second"]
    assert "first − second" in lonely["between"].item()


def test_three_corpora_are_held_together_by_cochran_s_q(three: ScoreTable, folder: Path) -> None:
    row = of(ask(three, "T12"), evaluator="e", family="vertical flip", corpus=MEDIAN).iloc[0]
    medians = [median_bca(percents(folder / "three", name, "vertical-flip")) for name in ("first", "second", "third")]
    errors = np.array([(each.high - each.low) / (2 * 1.959964) for each in medians])
    expected = combine_effects(np.array([each.estimate for each in medians]), errors**2)
    said = re.fullmatch(r"Q = ([\d.]+), p < 0.001, I² = (\d+) % of 3 corpora: they differ", row["between"])
    assert said is not None
    assert float(said.group(1)) == pytest.approx(expected.q, abs=0.06)
    assert float(said.group(2)) == pytest.approx(100 * expected.i2, abs=0.6)


def test_two_corpora_have_a_difference_and_no_median_over_one(two: ScoreTable, folder: Path) -> None:
    found = ask(two, "T12")
    assert MEDIAN not in set(found["corpus"])
    row = of(found, evaluator="e", family="vertical flip").iloc[0]
    medians = [percents(folder / "two", name, "vertical-flip").median() for name in ("first", "second")]
    said = re.fullmatch(r"first − second: \+([\d.]+) \[\+([\d.]+), \+([\d.]+)\] points, they differ", row["between"])
    assert said is not None
    assert float(said.group(1)) == pytest.approx(medians[0] - medians[1], abs=0.006)


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        ([(1.0, 0.0, 2.0)], "fewer than two corpora with an interval"),
        ([(1.0, 0.0, 2.0), (1.0, 1.0, 1.0)], "fewer than two corpora with an interval"),
        (
            [(1.0, 0.0, 2.0), (1.5, 0.0, 3.0)],
            "c0 − c1: −0.50 [−2.30, +1.30] points, no difference shown (a difference from 2.6 points on would have "
            "shown in four of five such runs)",
        ),
        (
            [(1.0, 0.0, 2.0)] * 3,
            "Q = 0.0, p = 1.000, I² = 0 % of 3 corpora: no difference shown (a spread from 0.9 points on would have "
            "shown)",
        ),
    ],
)
def test_what_is_said_between_corpora_follows_their_intervals(bounds: list, words: str) -> None:
    medians = {f"c{place}": Interval(*each, 20, 0.95) for place, each in enumerate(bounds)}
    assert between(medians) == words
