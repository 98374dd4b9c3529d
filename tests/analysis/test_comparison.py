"""Two sides held against each other: scipy's bootstrap and the items' own differences are the references."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from core.analysis.bootstrap import median_bca
from core.analysis.comparison import (
    ALIKE,
    ALL,
    COLUMNS,
    DIFFER,
    INDEPENDENT,
    PAIRED,
    can_pair,
    compare,
    manifest_differences,
    median_difference,
)
from core.analysis.contrasts import TOO_FEW
from core.analysis.slices import Slice
from core.audit.manifest import Run
from core.audit.store import Store
from core.errors import InvalidInput

ONE, OTHER = Slice(evaluators=("conse-lite0",)), Slice(evaluators=("conse-lite2",))


@pytest.mark.parametrize(("n", "m"), [(40, 61), (61, 40), (25, 25)])
def test_the_interval_of_a_difference_is_that_of_scipys_two_sample_bca(n: int, m: int) -> None:
    rng = np.random.default_rng(n)
    one, other = rng.gamma(2, 1, n), rng.normal(3, 2, m)
    expected = stats.bootstrap(
        (one, other), lambda a, b, axis: np.median(a, axis=axis) - np.median(b, axis=axis), n_resamples=9999,
        method="BCa", rng=np.random.default_rng(1),
    ).confidence_interval  # fmt: skip
    found = median_difference(one, other)
    assert found.estimate == pytest.approx(np.median(one) - np.median(other))
    width = expected.high - expected.low
    assert found.low == pytest.approx(expected.low, abs=0.1 * width)
    assert found.high == pytest.approx(expected.high, abs=0.1 * width)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.floats(-50, 50), min_size=2, max_size=40), st.lists(st.floats(-50, 50), min_size=2, max_size=40),
    st.floats(-10, 10),
)  # fmt: skip
def test_moving_one_side_moves_the_difference_and_its_interval(one: list[float], other: list[float], by: float) -> None:
    still = median_difference(one, other, resamples=500)
    moved = median_difference(np.array(one) + by, other, resamples=500)
    assert moved.estimate == pytest.approx(still.estimate + by, abs=1e-9)
    assert still.low <= still.high


@pytest.mark.parametrize(("one", "other", "note"), [([], [1.0], "without values"), ([1.0], [1.0, 2.0], "one value")])
def test_too_little_has_no_bounds_and_says_why(one: list[float], other: list[float], note: str) -> None:
    found = median_difference(one, other)
    assert np.isnan(found.low)
    assert note in found.note


def test_two_evaluators_are_paired_by_item(store: Store) -> None:
    table = compare(store, ONE, OTHER).set_index("label")
    rows = store.query(
        "select a.percent - b.percent as d from shifts a join shifts b using (item, corpus, probe, subject) "
        "where a.evaluator = 'conse-lite0' and b.evaluator = 'conse-lite2' and a.probe = 'vflip'"
    )["d"].dropna()
    expected = median_bca(rows)
    found = table.loc["vertical-flip"]
    assert found["how"] == PAIRED
    assert (found["difference"], found["low"], found["high"]) == pytest.approx(
        (expected.estimate, expected.low, expected.high)
    )
    assert found["n_items"] == found["shared"] == len(rows)


def test_swapping_the_sides_turns_the_differences_round(store: Store) -> None:
    one, other = compare(store, ONE, OTHER), compare(store, OTHER, ONE)
    np.testing.assert_allclose(one["difference"], -other["difference"], atol=1e-12)
    np.testing.assert_allclose(one["p"], other["p"])
    assert list(one["a_n"]) == list(other["b_n"])


def test_two_kinds_of_items_are_independent(store: Store) -> None:
    animals = Slice(evaluators=("conse-lite0",), categories=("animal",))
    food = Slice(evaluators=("conse-lite0",), categories=("food",))
    found = compare(store, animals, food).set_index("label").loc["vertical-flip"]
    values = {
        name: store.query(
            "select percent from shifts where evaluator = 'conse-lite0' and probe = 'vflip' and category = $name",
            {"name": name},
        )["percent"].dropna()
        for name in ("animal", "food")
    }
    assert found["how"] == INDEPENDENT
    assert found["difference"] == pytest.approx(values["animal"].median() - values["food"].median())
    assert found["p"] == pytest.approx(stats.mannwhitneyu(values["animal"], values["food"]).pvalue)


def test_a_part_of_the_same_shifts_is_not_paired_with_itself(store: Store) -> None:
    part = Slice(evaluators=("conse-lite0",), categories=("animal",))
    assert not can_pair(ONE, part)
    found = compare(store, ONE, part).set_index("label").loc["vertical-flip"]
    assert found["how"] == INDEPENDENT
    assert found["shared"] == found["b_n"]
    assert found["difference"] != 0


def test_two_words_are_compared_all_together(store: Store) -> None:
    african, american = (
        Slice(evaluators=("conse-lite0",), modifiers=(word,), families=("cultural",))
        for word in ("African", "American")
    )
    table = compare(store, african, american, by="modifier")
    assert list(table["label"]) == [ALL]
    assert table.iloc[0]["how"] == PAIRED
    assert table.iloc[0]["verdict"] in (DIFFER, ALIKE, "undecided")


def test_null_edits_are_left_out_of_all_together_unless_they_are_asked_for(store: Store) -> None:
    table = compare(store, ONE, OTHER).set_index("label")
    without = store.query(
        "select median(m) as m from (select median(percent) as m from shifts where evaluator = 'conse-lite0' "
        "and expectation = 'invariant' and not control group by item)"
    )["m"][0]
    assert table.loc[ALL, "a_value"] == pytest.approx(without)
    null = compare(store, Slice(evaluators=ONE.evaluators, axes=("null",)), Slice(
        evaluators=OTHER.evaluators, axes=("null",))).set_index("label")  # fmt: skip
    assert null.loc[ALL, "a_value"] == pytest.approx(null.loc["null", "a_value"])


def test_few_items_on_a_side_have_no_verdict(store: Store) -> None:
    few = Slice(evaluators=("conse-lite0",), categories=("furniture",))
    found = compare(store, few, Slice(evaluators=("conse-lite0",), categories=("animal",)))
    assert set(found["verdict"]) == {TOO_FEW}


def test_standardised_sides_are_never_called_alike_by_a_margin_in_percent(store: Store) -> None:
    table = compare(store, ONE, OTHER, measure="standardised")
    assert not table["verdict"].str.contains("margin").any()


def test_an_empty_side_gives_an_empty_table(store: Store) -> None:
    table = compare(store, ONE, Slice(evaluators=("conse-lite2",), families=("nowhere",)))
    assert table.empty
    assert list(table.columns) == list(COLUMNS)


def test_a_side_of_several_evaluators_is_refused(store: Store) -> None:
    with pytest.raises(InvalidInput, match="side A has 3 evaluators"):
        compare(store, Slice(), ONE)


def test_raw_scales_are_refused(store: Store) -> None:
    with pytest.raises(InvalidInput, match="percent, standardised"):
        compare(store, ONE, OTHER, measure="delta")  # type: ignore[arg-type]


def test_what_two_runs_were_made_with_is_told_by_name(tmp_path: Path) -> None:
    made = {
        "run": "a", "seed": 2025, "created": "monday", "corpus": {"name": "demo", "root": "/one"},
        "evaluators": [{"name": "e", "fingerprint": {"weights": "11", "precision": "float32"}}],
        "versions": {"torch": "2.15.0"},
    }  # fmt: skip
    other = made | {
        "run": "b", "created": "tuesday", "corpus": {"name": "demo", "root": "/other"},
        "evaluators": [{"name": "e", "fingerprint": {"weights": "22", "precision": "float32"}}, {"name": "f"}],
    }  # fmt: skip
    table = manifest_differences(Run(tmp_path, made), Run(tmp_path, other)).set_index("what")
    assert set(table.index) == {"evaluators.e.fingerprint.weights", "evaluators.f.name"}
    assert list(table.loc["evaluators.e.fingerprint.weights"]) == ["11", "22"]
    assert list(table.loc["evaluators.f.name"]) == ["", "present"]
    assert manifest_differences(Run(tmp_path, made), Run(tmp_path, made)).empty
