"""The research questions' tables on the shipped run, each against a plain query of the same rows."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from core.analysis import questions
from core.analysis.bootstrap import median_bca
from core.analysis.results import item_changes, item_scores
from core.analysis.slices import Slice
from core.audit.store import Store
from core.errors import InvalidInput

LITE = "conse-lite0"


def test_space_shows_the_edits_beside_the_blur_and_the_null_edits(store: Store) -> None:
    table = questions.spatial_effects(store, Slice())
    assert set(table["label"]) == {*questions.FLIPS, "reposition", "rotation", "blur", "null"}
    row = table[(table["evaluator"] == LITE) & (table["label"] == "vertical-flip")].iloc[0]
    plain = store.query("select percent from shifts where probe = 'vflip' and evaluator = $e", {"e": LITE})["percent"]
    expected = median_bca(plain)
    assert (row["value"], row["low"], row["high"]) == (expected.estimate, expected.low, expected.high)


def test_filters_drive_every_table(store: Store) -> None:
    animals = Slice(categories=("animal",), evaluators=(LITE,))
    for table in (questions.spatial_effects(store, animals), questions.place_effects(store, animals),
                  questions.modifier_effects(store, animals, family="cultural"),
                  questions.level_effects(store, animals, factor="coverage_bin", family="vertical-flip")):  # fmt: skip
        assert set(table["evaluator"]) == {LITE}
        assert table["n_items"].max() <= 69  # animals of the demo corpus
    assert questions.spatial_effects(store, Slice(families=("cultural",))).empty
    assert set(questions.spatial_effects(store, Slice(families=("rotation", "blur")))["label"]) == {"rotation", "blur"}


def test_words_stand_beside_the_neutral_words(store: Store) -> None:
    table = questions.modifier_effects(store, Slice(evaluators=(LITE,)), family="cultural")
    assert {"African", "American", "typical", "plain", "ordinary"} <= set(table["label"])
    bare = questions.modifier_effects(store, Slice(evaluators=(LITE,)), family="cultural", against="bare")
    both = table.merge(bare, on="label", suffixes=("", "_bare")).set_index("label")
    neutral = both.loc[["typical", "plain", "ordinary"]]
    np.testing.assert_allclose(neutral["value"].astype(float), neutral["value_bare"].astype(float))
    assert (both.loc[["African", "American"], "value"] != both.loc[["African", "American"], "value_bare"]).all()


def test_levels_are_tested_over_the_same_values_that_are_drawn(store: Store) -> None:
    found = questions.levels_differ(store, Slice(), label="probe", family="reposition", evaluator=LITE)
    rows = store.query("select probe, percent from shifts where family = 'reposition' and evaluator = $e", {"e": LITE})
    groups = [part.dropna() for _, part in rows.groupby("probe")["percent"]]
    assert found.kruskal.p == pytest.approx(stats.kruskal(*groups).pvalue)
    assert found.friedman.levels == 4
    assert len(found.pairs) == 6


def test_standardised_and_absolute_shifts_rank_alike(store: Store) -> None:
    how = {"label": "modifier", "family": "gender", "evaluator": LITE}
    one, other = (questions.levels_differ(store, Slice(), measure=name, **how) for name in ("standardised", "delta"))
    assert one.kruskal == other.kruskal


def test_scores_by_bin_are_those_of_unedited_items(store: Store) -> None:
    scores = item_scores(store, Slice())
    table = questions.score_levels(scores, by=("evaluator", "corpus", "coverage_bin"))
    row = table[(table["evaluator"] == LITE) & (table["coverage_bin"] == "0-10")].iloc[0]
    sql = "select score from scores where probe = 'identity' and evaluator = $e and coverage_bin = '0-10'"
    plain = store.query(sql, {"e": LITE})["score"]
    assert row["value"] == pytest.approx(plain.median())
    assert row["n_items"] == len(plain)
    found = questions.scores_differ(scores, factor="coverage_bin", evaluator=LITE)
    assert found.kruskal.levels == 7
    assert set(found.pairs["test"]) == {"Mann-Whitney"}  # an item has one bin
    curve = questions.coverage_curve(scores, evaluator=LITE)
    assert curve["n"].iloc[0] == (scores["evaluator"] == LITE).sum()


def test_words_cross_with_what_is_shown(store: Store) -> None:
    people = questions.crossed_effects(store, Slice(), family="cultural", evaluator=LITE)
    assert set(people["group"]) == {questions.PERSON, questions.NOT_PERSON}
    kinds = questions.crossed_effects(store, Slice(), family="economic", evaluator=LITE)
    assert "person" not in set(kinds["group"])  # economic words are for things
    assert {"food", "vehicle"} <= set(kinds["group"])


def test_the_move_between_corners_is_compared_whatever_corner_the_filters_name(store: Store) -> None:
    table = questions.filtered_moves(store, Slice(evaluators=(LITE,)))
    assert set(table["filter"]) == {"none", "seam", "background", "either"}
    assert questions.filtered_moves(store, Slice(probes=("vflip",))).empty
    assert questions.filtered_moves(store, Slice(families=("cultural",))).empty


def test_mixed_effects_agree_with_the_mean_shift_in_sign_and_size(store: Store) -> None:
    table = questions.mixed_effects(store, Slice(evaluators=(LITE,))).set_index("label")
    items = item_changes(store, Slice(evaluators=(LITE,)), by=("family",))
    for family in questions.FLIPS:
        mean = items.loc[items["family"] == family, "delta"].mean()
        assert table.loc[family, "effect"] == pytest.approx(mean, abs=1e-6)  # balanced: β₁ is the mean shift


def test_without_a_distance_grid_there_is_no_curve(store: Store) -> None:
    assert questions.distance_curve(store, Slice(), evaluator=LITE).empty


def test_other_corpora_are_held_against_the_reference(store: Store) -> None:
    found = questions.replication(store, Slice(), families=("vertical-flip",), reference="demo")
    assert set(found.effects["corpus"]) == {"demo"}
    assert found.agreement.empty
    with pytest.raises(InvalidInput, match="no shift is of the reference corpus 'coco'"):
        questions.replication(store, Slice(), families=("vertical-flip",), reference="coco")


def test_bins_go_from_small_to_large() -> None:
    assert questions.in_order(["90-100", "0-10", "20-35", "?"], "coverage_bin") == ["0-10", "20-35", "90-100", "?"]
    assert questions.in_order(["b", "a"], "category") == ["a", "b"]


def test_equal_names_in_two_corpora_are_two_items() -> None:
    rows = pd.DataFrame({"corpus": ["a", "b", "a"], "item": ["1", "1", "1"]})
    assert list(questions.item_codes(rows)) == [0, 1, 0]


def test_a_slice_of_other_families_leaves_none() -> None:
    assert questions.chosen_families(replace(Slice(), families=("blur",)), ("rotation", "blur")) == ("blur",)
