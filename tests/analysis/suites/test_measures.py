"""What is reported of a suite, its captioners and languages: against counting by hand, scipy and the stored result."""

import math
from itertools import permutations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from core.analysis.preferences import PEARSON, RHO, RHO_RATERS
from core.analysis.reading import read_table
from core.analysis.scope import narrow
from core.analysis.table import ScoreTable
from core.corpora.suites.model import ACCURACY, TAU_B, TAU_B_RATERS, TAU_C, Compared, Rated, Suite
from core.features.suites.pair_risks import pair_risks
from core.features.suites.suite_measures import (
    ALL,
    AVERAGED,
    MEAN,
    NO_STRENGTH,
    STRICT,
    decisions_of,
    otherwise,
    ranked,
    suite_table,
)
from core.features.suites.suite_result import SuiteResult, added, reached, result_of
from core.features.suites.suite_tables import language_table
from core.report.kept_results import NO_LANGUAGES, suite_tables
from core.scoring.suite_scores import SuiteScores
from core.settings import ROOT
from core.store.store import Store

NONE = np.array([])


def rated(ratings: np.ndarray, captions: list[str]) -> Suite:
    """Three captions an image, one rating each place."""
    return Suite(
        "Flickr8k-Expert",
        TAU_C,
        tuple(
            Rated(f"i{place // 6}", caption, float(rating))
            for place, (caption, rating) in enumerate(zip(captions, ratings, strict=True))
        ),
    )


def numbers(table: pd.DataFrame) -> dict[tuple[str, str], float]:
    return {(row.measure, row.group): row.value for row in table.itertuples() if not row.rater}


def test_ratings_have_both_taus_as_they_are_and_averaged() -> None:
    rng = np.random.default_rng(0)
    captions = [f"c{place // 2}" for place in range(72)]  # every caption is rated twice
    ratings = rng.integers(1, 5, 72)
    scores = np.repeat(rng.normal(size=36), 2)
    suite = rated(ratings, captions)
    table = suite_table(suite, SuiteScores(scores, NONE, NONE, ()))
    found = numbers(table)
    for name, variant in ((TAU_B, "b"), (TAU_C, "c")):
        assert found[name, ALL] == pytest.approx(100 * stats.kendalltau(scores, ratings, variant=variant).statistic)
        means = ratings.reshape(-1, 2).mean(axis=1)
        expected = 100 * stats.kendalltau(scores[::2], means, variant=variant).statistic
        assert found[AVERAGED[name], ALL] == pytest.approx(expected)
    assert table.set_index("measure").loc[[TAU_C, AVERAGED[TAU_C]], "n"].tolist() == [72, 36]
    decisions = {each.id: each for each in decisions_of(suite)}
    assert decisions["raters"].count == 36
    same = sum(one == other for place, one in enumerate(ratings) for other in ratings[place + 1 :])
    assert decisions["tau"].count == same
    assert decisions["ties"].count == table.set_index("measure").loc[ACCURACY, "n"]


def test_named_annotators_have_their_own_correlations_whose_mean_is_reported() -> None:
    rng = np.random.default_rng(1)
    scores, people = rng.normal(size=60), rng.integers(1, 6, (3, 60)).astype(float)
    people[0] += np.round(scores)
    suite = Suite(
        "VATEX-EVAL",
        TAU_B_RATERS,
        tuple(
            Rated(f"v{place // 2}", f"c{place}", people[one, place], rater=f"annotator {one}")
            for place in range(60)
            for one in range(3)
        ),
        videos=True,
    )
    table = suite_table(suite, SuiteScores(np.repeat(scores, 3), NONE, NONE, ()))
    found = numbers(table)
    taus = [100 * stats.kendalltau(scores, each).statistic for each in people]
    assert found[TAU_B_RATERS, ALL] == pytest.approx(np.mean(taus))
    assert found[RHO_RATERS, ALL] == pytest.approx(100 * np.mean([stats.spearmanr(scores, each)[0] for each in people]))
    pooled = 100 * stats.kendalltau(np.repeat(scores, 3), people.T.reshape(-1)).statistic
    assert found[TAU_B, ALL] == pytest.approx(pooled)
    assert abs(pooled - np.mean(taus)) > 0.01
    own = table[table["rater"] == "annotator 2"].set_index("measure")
    assert own.loc[TAU_B, "value"] == pytest.approx(taus[2])
    assert own.loc[PEARSON, "value"] == pytest.approx(100 * stats.pearsonr(scores, people[2]).statistic)
    row = table.set_index("measure").loc[TAU_B_RATERS]
    assert row["low"] < row["value"] < row["high"]
    decisions = {each.id: each.count for each in decisions_of(suite)}
    assert (decisions["annotators"], decisions["raters"]) == (3, 60)
    choices = otherwise(TAU_B_RATERS)
    assert {each for pair in choices.values() for each in pair} <= set(found)


def test_an_annotator_who_gives_one_rating_to_all_leaves_no_mean() -> None:
    suite = Suite(
        "VATEX-EVAL",
        TAU_B_RATERS,
        tuple(
            Rated(f"v{place}", "c", 3.0 if one else float(place), rater=str(one))
            for place in range(8)
            for one in (0, 1)
        ),
        videos=True,
    )
    table = suite_table(suite, SuiteScores(np.repeat(np.arange(8.0), 2), NONE, NONE, ())).set_index("measure")
    assert math.isnan(table.loc[TAU_B_RATERS, "value"])
    assert "alike" in table.loc[RHO_RATERS, "note"]
    constant = table[table["rater"] == "1"].loc[TAU_B]
    assert math.isnan(constant["value"])
    assert constant["note"] == "no correlation: every rating is 3"
    told = {each.id: each for each in decisions_of(suite)}["one-value"]
    assert (told.count, told.of) == (1, "raters")
    assert told.done.endswith("pooled numbers keep the ratings: 1")


def test_pearson_and_spearman_stand_beside_kendall_and_every_dimension_alone() -> None:
    rng = np.random.default_rng(4)
    scores = np.repeat(rng.normal(size=60), 2)
    ratings = np.where(np.arange(120) % 2, rng.integers(1, 6, 120), 6 - rng.integers(1, 6, 120)) + np.round(scores)
    suite = Suite(
        "mine",
        TAU_C,
        tuple(
            Rated(f"i{place // 4}", f"c{place // 2}", rating, dimension=("relevance", "fluency")[place % 2])
            for place, rating in enumerate(ratings.tolist())
        ),
    )
    table = suite_table(suite, SuiteScores(scores, NONE, NONE, ()))
    assert list(dict.fromkeys(table["dimension"])) == ["relevance", "fluency"]
    for place, dimension in enumerate(("relevance", "fluency")):
        one, two = scores[place::2], ratings[place::2]
        own = table[(table["dimension"] == dimension) & (table["group"] == ALL)].set_index("measure")
        for measure, found in (
            (TAU_C, stats.kendalltau(one, two, variant="c")),
            (RHO, stats.spearmanr(one, two)),
            (PEARSON, stats.pearsonr(one, two)),
        ):
            assert own.loc[measure, "value"] == pytest.approx(100 * found.statistic)
            assert own.loc[measure, "low"] < own.loc[measure, "value"] < own.loc[measure, "high"]
            assert own.loc[measure, "n"] == 60
    decisions = {each.id: each for each in decisions_of(suite)}
    assert decisions["dimensions"].done == "each is measured alone: relevance, fluency"
    assert decisions["raters"].count == 0  # a caption has one rating in each dimension
    assert decisions["ties"].count == table[table["measure"] == ACCURACY]["n"].sum()
    assert "one-value" not in decisions


def test_one_rating_a_caption_has_no_second_choice_of_raters() -> None:
    suite = rated(np.arange(12) % 4, [f"c{place}" for place in range(12)])
    assert not {each for each, _ in numbers(suite_table(suite, SuiteScores(np.arange(12.0), NONE, NONE, ())))} & {
        *AVERAGED.values()
    }
    assert next(each.count for each in decisions_of(suite) if each.id == "raters") == 0


def test_corpora_of_one_suite_are_pooled_and_stand_alone_and_languages_only_alone() -> None:
    entries = [Rated(f"{i}", f"c{j}", i % 2 + j, "coco" if i < 6 else "flickr8k") for i in range(12) for j in range(3)]
    scores = SuiteScores(np.array([j + 0.1 * i for i in range(12) for j in range(3)]), NONE, NONE, ())
    groups = {group for _, group in numbers(suite_table(Suite("Composite", TAU_C, tuple(entries)), scores))}
    assert groups == {ALL, "coco", "flickr8k"}
    two = [
        Rated(each.image, each.caption, each.rating, code, code)
        for each, code in zip(entries, ["en", "de"] * 18, strict=True)
    ]
    groups = {group for _, group in numbers(suite_table(Suite("M-CapEval1k", TAU_C, tuple(two)), scores))}
    assert groups == {"en", "de"}


def test_pairs_have_their_groups_the_mean_over_them_and_ties_in_two_ways() -> None:
    pairs = tuple(Compared(f"{i}", "x", "y", "HC" if i < 30 else "MM") for i in range(40))
    preferred = np.array([1.0] * 24 + [0.5] * 6 + [0.5] * 2 + [0.0] * 8)
    table = suite_table(Suite("Pascal-50S", ACCURACY, (), pairs), SuiteScores(NONE, preferred, np.full(40, 0.5), ()))
    found = numbers(table)
    assert found[ACCURACY, ALL] == pytest.approx(100 * (24 + 4) / 40)
    assert found[STRICT, ALL] == pytest.approx(100 * 24 / 40)
    assert found[ACCURACY, "HC"] == pytest.approx(90)
    assert found[ACCURACY, "MM"] == pytest.approx(10)
    assert found[ACCURACY, MEAN] == pytest.approx(50)
    assert found[STRICT, MEAN] == pytest.approx((80 + 0) / 2)
    assert table[table["group"] == ALL]["ties"].tolist() == [8, 8]


def test_pictures_of_one_text_are_compared_with_each_other_and_texts_are_the_units() -> None:
    rng = np.random.default_rng(5)
    ratings, scores = rng.integers(1, 6, 90).astype(float), rng.normal(size=90)
    pictures = Suite(
        "TIFA",
        TAU_B,
        tuple(Rated(f"i{place}", f"t{place // 3}", rating) for place, rating in enumerate(ratings.tolist())),
        by_text=True,
    )
    table = suite_table(pictures, SuiteScores(scores, NONE, NONE, ())).set_index("measure")
    pairs = [(a, b) for a in range(90) for b in range(90) if a // 3 == b // 3 and ratings[a] > ratings[b]]
    assert table.loc[ACCURACY, "n"] == len(pairs) > 60
    assert table.loc[ACCURACY, "value"] == pytest.approx(100 * np.mean([scores[a] > scores[b] for a, b in pairs]))
    assert table.loc[TAU_B, "value"] == pytest.approx(100 * stats.kendalltau(scores, ratings).statistic)
    assert table.loc[TAU_B, "low"] < table.loc[TAU_B, "value"]
    two = tuple(Compared(f"{i}", "one text", "one text", other_image=f"o{i}") for i in range(12))
    table = suite_table(
        Suite("mine", ACCURACY, (), two, by_text=True), SuiteScores(NONE, np.ones(12), np.zeros(12), ())
    )
    assert set(table["note"]) == {"one image, or text, has no interval"}  # not the twelve images


def test_battles_that_people_call_a_tie_count_in_no_accuracy() -> None:
    pairs = tuple(Compared(f"{i}", "x", "y", systems=("A", "B"), tied=i % 2 == 0) for i in range(20))
    preferred = np.array([0.0, 1.0] * 10)
    table = suite_table(Suite("CapArena", ACCURACY, (), pairs), SuiteScores(NONE, preferred, np.full(20, 0.5), ()))
    assert numbers(table) == {(ACCURACY, ALL): 100.0, (STRICT, ALL): 100.0}
    assert set(table["n"]) == {10}


def test_a_caption_without_a_score_in_one_draw_is_in_none() -> None:
    pairs = tuple(Compared(f"{i}", "x", "y") for i in range(20))
    preferred, other = np.ones((2, 20)), np.zeros((2, 20))
    preferred[1, 3] = math.nan
    table = suite_table(Suite("FOIL", ACCURACY, (), pairs), SuiteScores(NONE, preferred, other, ()))
    assert set(table["n"]) == {19}


LANGUAGES = ("en", "de", "fr")


def _held(folder: Path, languages: tuple[str, ...] = LANGUAGES) -> tuple[SuiteResult, np.ndarray, list[Rated]]:
    """A stored result of evaluator ``e`` on 24 images with three rated captions in each language."""
    rng = np.random.default_rng(3)
    rated = [
        Rated(f"{image}", f"{code} {place}", float(rng.integers(1, 5)), code, code)
        for code in languages
        for image in range(24)
        for place in range(3)
    ]
    scores = rng.normal(size=len(rated)) + np.array([each.rating for each in rated])
    file = folder / "ratings.json"
    folder.mkdir(exist_ok=True)
    file.write_text("[]")
    suite = Suite("M-CapEval1k", TAU_C, tuple(rated))
    entry = reached(suite, SuiteScores(scores, NONE, NONE, ()), evaluator="e", made_with="f")
    return added(result_of(suite, [file]), entry), scores, rated


def test_the_mean_of_the_others_gives_each_language_the_same_weight(tmp_path: Path) -> None:
    result, scores, rated = _held(tmp_path)
    (row,) = language_table([result]).to_dict("records")
    ratings, codes = np.array([each.rating for each in rated]), np.array([each.language for each in rated])
    taus = {
        code: 100 * stats.kendalltau(scores[codes == code], ratings[codes == code], variant="c").statistic
        for code in LANGUAGES
    }
    assert row["english"] == pytest.approx(taus["en"])
    assert row["english_low"] < row["english"] < row["english_high"]
    assert row["others"] == pytest.approx((taus["de"] + taus["fr"]) / 2)
    rs = {code: 100 * stats.pearsonr(scores[codes == code], ratings[codes == code]).statistic for code in LANGUAGES}
    assert (row["english_r"], row["others_r"]) == pytest.approx((rs["en"], (rs["de"] + rs["fr"]) / 2))
    assert row["n"] == 72
    assert row["languages"] == f"de {taus['de']:.1f}, fr {taus['fr']:.1f}"


def test_without_english_the_others_stand_alone_and_one_language_has_no_row(tmp_path: Path) -> None:
    result, _, _ = _held(tmp_path, ("de", "fr"))
    (row,) = language_table([result]).to_dict("records")
    assert math.isnan(row["english"])
    assert not math.isnan(row["others"])
    assert language_table([_held(tmp_path, ("en",))[0]]).empty


def test_the_report_holds_the_table_where_a_result_has_languages_and_says_else_what_is_lacking(tmp_path: Path) -> None:
    several, one = _held(tmp_path / "several")[0], _held(tmp_path / "one", ("en",))[0]
    found = suite_tables([several, one], {"e"})
    table = next(each for each in found.tables if each.id == "C4")
    assert (table.paper, len(table.frame)) == ("B, Tables 3, 4 and 6", 1)
    assert "C4" not in {each.id for each in found.missing}
    lacking = {each.id: each.reason for each in suite_tables([one], {"e"}).missing}
    assert lacking["C4"] == NO_LANGUAGES


NAMES = ("A", "B", "C", "D")


def drawn(count: int, seed: int) -> tuple[list[tuple[str, str]], np.ndarray]:
    rng = np.random.default_rng(seed)
    truth = np.array([1.5, 0.5, 0.0, -1.0])
    pairs, won = [], []
    for _ in range(count):
        one, other = rng.choice(4, size=2, replace=False)
        pairs.append((NAMES[one], NAMES[other]))
        won.append(rng.choice([0.5, float(rng.random() < 1 / (1 + math.exp(truth[other] - truth[one])))], p=[0.1, 0.9]))
    return pairs, np.array(won)


def suite_of(pairs: list[tuple[str, str]], won: np.ndarray) -> Suite:
    sides = [pair if first >= 0.5 else pair[::-1] for pair, first in zip(pairs, won, strict=True)]
    battles = [
        Compared(f"{place % 50}", f"{place} one", f"{place} two", systems=side, tied=first == 0.5)
        for place, (side, first) in enumerate(zip(sides, won, strict=True))
    ]
    return Suite("CapArena", ACCURACY, (), tuple(battles))


def test_an_evaluator_that_judges_as_people_do_has_their_order_and_the_opposite_one_its_reverse() -> None:
    pairs, won = drawn(300, 1)
    suite = suite_of(pairs, won)
    agrees = np.array([0.5 if each.tied else 1.0 for each in suite.compared])
    same = ranked(suite, SuiteScores(np.array([]), agrees, 1 - agrees, ()))
    turned = ranked(suite, SuiteScores(np.array([]), 1 - agrees, agrees, ()))
    assert same is not None
    assert turned is not None
    orders = (same.spearman, same.kendall, turned.spearman, turned.kendall)
    assert [each.estimate for each in orders] == [1.0, 1.0, -1.0, -1.0]
    # one judge twice agrees with itself in every sample of images: no interval, and why
    assert all(math.isnan(each.low) and math.isnan(each.high) for each in orders)
    assert same.note == "no interval: every sample of images agrees as much"
    assert (same.battles, same.spearman.n) == (300, 50)
    assert same.table["people_strength"].to_numpy() == pytest.approx(same.table["metric_strength"].to_numpy())
    assert same.table["people"].to_numpy() == pytest.approx(100 - turned.table["metric"].to_numpy())
    assert same.table["n"].sum() == 600
    assert same.table["people_rank"].tolist() == [1, 2, 3, 4]
    assert (same.table["people_low"] < same.table["people"]).all()


def test_without_finite_strengths_win_rates_rank_and_it_is_said() -> None:
    pairs = [("A", "B"), ("A", "C"), ("B", "C")] * 5
    suite = suite_of(pairs, np.ones(15))
    found = ranked(suite, SuiteScores(np.array([]), np.ones(15), np.zeros(15), ()))
    assert found is not None
    assert found.note == f"{NO_STRENGTH}; no interval (n = 15, below 20)"
    assert found.table["system"].tolist() == ["A", "B", "C"]
    assert found.table["people_strength"].isna().all()
    assert found.table["people"].tolist() == [100.0, 50.0, 0.0]


def test_a_battle_without_a_score_and_a_suite_without_captioners_are_left_out() -> None:
    pairs, won = drawn(40, 2)
    suite = suite_of(pairs, won)
    scores = np.ones(40)
    scores[0] = math.nan
    found = ranked(suite, SuiteScores(np.array([]), scores, np.zeros(40), ()))
    assert found is not None
    assert found.table["n"].sum() == 78
    plain = Suite("FOIL", ACCURACY, (), (Compared("a", "x", "y"),))
    assert ranked(plain, SuiteScores(np.array([]), np.ones(1), np.zeros(1), ())) is None


def test_ranks_and_agreement_of_another_judge_have_intervals_over_images() -> None:
    pairs, won = drawn(100, 3)
    suite = suite_of(pairs, won)
    noise = np.random.default_rng(4).normal(size=100)
    agrees = np.array([0.5 if each.tied else 1.0 for each in suite.compared]) + 0.8 * noise
    found = ranked(suite, SuiteScores(np.array([]), agrees, np.full(100, 0.5), ()))
    assert found is not None
    for side in ("people", "metric"):
        rank, low, high = (found.table[f"{side}_rank{end}"] for end in ("", "_low", "_high"))
        assert (low <= rank).all()
        assert (rank <= high).all()
        assert ((high - low) > 0).any()
    assert found.spearman.low < found.spearman.estimate <= found.spearman.high <= 1
    assert found.kendall.low < found.kendall.estimate <= found.kendall.high <= 1


def test_two_captioners_have_no_agreement_of_orders_and_it_is_said() -> None:
    suite = suite_of([("A", "B")] * 40, np.tile([1.0, 1.0, 0.0, 0.5], 10))
    found = ranked(suite, SuiteScores(np.array([]), np.ones(40), np.tile([0.0, 2.0], 20), ()))
    assert found is not None
    assert math.isnan(found.spearman.estimate)
    assert "2 captioners, below 3" in found.note


EVALUATOR = "conse-lite0"


@pytest.fixture(scope="module")
def table() -> ScoreTable:
    with Store.open([ROOT / "data" / "results" / "demo"]) as store:
        return read_table(store, narrow(store).only())


def suite(count: int, *, tied: int = 0) -> Suite:
    pairs = tuple(
        Compared(f"a{place}", f"t{place}", f"t{place}", other_image=f"b{place}", tied=place < tied)
        for place in range(count)
    )
    return Suite("mine", ACCURACY, (), pairs, by_text=True)


def test_the_risk_is_the_mean_over_comparisons_of_how_often_two_pictures_shifts_exceed_their_gap(
    table: ScoreTable,
) -> None:
    delta, _ = table.view().shifts(EVALUATOR, ("vflip",))
    shifts = delta[0][~np.isnan(delta[0])]
    gaps = np.quantile(np.abs(shifts), [0.1, 0.5, 0.9]).tolist()
    preferred = np.array([math.nan, 9.0, *gaps[:2], 0.0])
    other = np.array([0.0, 0.0, 0.0, 0.0, gaps[2]])  # a wrong order has a gap, too
    scores = SuiteScores(np.array([]), preferred, other, ())
    found = pair_risks(suite(5, tied=2), scores, table, EVALUATOR).set_index("family")
    row = found.loc["vertical-flip"]
    exceeding = [np.mean([two - one > gap for one, two in permutations(shifts, 2)]) for gap in gaps]
    assert row["risk"] == pytest.approx(100 * np.mean(exceeding))
    assert (row["n"], row["n_items"]) == (3, len(shifts))
    assert row["gap"] == pytest.approx(gaps[1])
    assert row["near"] == pytest.approx(100 * np.mean([gap < row["evident"] for gap in gaps]))
    assert row["risk_low"] <= row["risk"] <= row["risk_high"] <= 50
    assert "null" in found.index
    assert "cultural" not in found.index  # an edit of the text is of both sides at once
    assert found.loc["null", "risk"] < row["risk"]


def test_an_evaluator_that_the_run_does_not_know_and_comparisons_without_scores_have_none(table: ScoreTable) -> None:
    known, none = np.ones(2), np.full(2, math.nan)
    assert pair_risks(suite(2), SuiteScores(np.array([]), known, none, ()), table, EVALUATOR).empty
    assert pair_risks(suite(2), SuiteScores(np.array([]), known, known, ()), table, "nobody").empty
