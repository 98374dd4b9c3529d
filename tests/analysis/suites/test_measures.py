"""What is reported of a suite, against counting by hand and scipy."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from core.analysis.preferences import PEARSON, RHO, RHO_RATERS
from core.corpora.suites import ACCURACY, TAU_B, TAU_B_RATERS, TAU_C, Compared, Rated, Suite
from core.features.suites.suite_measures import ALL, AVERAGED, MEAN, STRICT, decisions_of, otherwise, suite_table
from core.scoring.suite_scores import SuiteScores

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
