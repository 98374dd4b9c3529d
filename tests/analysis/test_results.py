"""Effects of cells against the contrasts and tests of all rows, on the shipped run and on made-up items."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.analysis.bootstrap import median_bca
from core.analysis.contrasts import LEAST_N, MOVES, TOO_FEW
from core.analysis.results import effects, item_changes, item_scores, with_controls
from core.analysis.shift_tests import contrasts_with_tests
from core.analysis.slices import Slice
from core.audit.schema import SHIFT_FLOOR
from core.audit.store import Store
from core.errors import InvalidInput


@pytest.fixture(scope="module")
def everything(store: Store) -> pd.DataFrame:
    return store.query("select * from shifts where expectation = 'invariant'")


def items(percent: list[float], *, baseline: float = 0.5) -> pd.DataFrame:
    values = np.array(percent)
    return pd.DataFrame(
        {"evaluator": "e", "corpus": "c", "item": [f"i{place}" for place in range(len(values))], "percent": values,
         "delta": values / 100 * baseline, "baseline": baseline + np.arange(len(values)) / 100, "n_shifts": 1,
         "n_zero_baseline": 0, "n_missing": 0}
    )  # fmt: skip


def test_effects_are_the_contrasts_and_tests_of_the_same_rows(store: Store, everything: pd.DataFrame) -> None:
    chosen = Slice(families=("vertical-flip", "rotation", "cultural"))
    found = effects(item_changes(store, chosen, by=("evaluator", "family")), by=("evaluator", "family"))
    rows = everything[everything["family"].isin(chosen.families) & ~everything["control"]]
    expected = contrasts_with_tests(rows, by=("evaluator", "family"))
    assert list(found["family"].astype(str)) == list(expected["family"])
    pairs = {"value": "median_percent", "low": "low", "high": "high", "n_items": "n_items", "n_shifts": "n_shifts",
             "n_zero_baseline": "n_zero_baseline", "n_missing": "n_missing", "p": "p", "p_holm": "p_holm",
             "cliffs_delta": "cliffs_delta", "standardised": "standardised"}  # fmt: skip
    for mine, theirs in pairs.items():
        np.testing.assert_allclose(found[mine].astype(float), expected[theirs].astype(float), err_msg=mine, atol=1e-12)
    assert list(found["verdict"]) == list(expected["verdict"])
    assert list(found["test"]) == list(expected["test"])


@settings(max_examples=15, deadline=None)
@given(
    by=st.sampled_from([("evaluator", "family"), ("modifier",), ("evaluator", "category"), ("coverage_bin", "probe")]),
    controls=st.booleans(),
    evaluators=st.sampled_from([(), ("grounding-judge",)]),
)
def test_an_item_is_the_median_of_its_rows(
    store: Store, everything: pd.DataFrame, by: tuple[str, ...], controls: bool, evaluators: tuple[str, ...]
) -> None:
    found = item_changes(store, Slice(controls=controls, evaluators=evaluators), by=by)
    rows = everything if controls else everything[~everything["control"] | (everything["axis"] == "null")]
    rows = rows[rows["evaluator"].isin(evaluators)] if evaluators else rows
    keys = list(dict.fromkeys([*by, "corpus", "item"]))
    expected = rows.groupby(keys)[["percent", "delta"]].median().reset_index()
    mine = found.astype(dict.fromkeys(keys, object)).sort_values(keys).reset_index(drop=True)
    pd.testing.assert_frame_equal(mine[keys].astype(str), expected[keys].astype(str))
    np.testing.assert_allclose(mine["percent"], expected["percent"])
    np.testing.assert_allclose(mine["delta"], expected["delta"])
    assert mine["n_shifts"].sum() == rows.dropna(subset=list(by))["percent"].notna().sum()


def test_against_the_bare_caption_the_baseline_is_the_caption_without_a_word(store: Store) -> None:
    found = item_changes(store, Slice(), by=("evaluator", "modifier"), only={"family": ["cultural"]}, against="bare")
    expected = store.query(
        "select s.evaluator, s.modifier, s.corpus, s.item, s.score - b.score as delta, b.score as base from scores s "
        "join scores b on b.item = s.item and b.corpus = s.corpus and b.evaluator = s.evaluator "
        "and b.subject = s.subject and b.probe = 'base' where s.family = 'cultural' and not s.control"
    )
    keys = ["evaluator", "modifier", "corpus", "item"]
    both = found.astype(dict.fromkeys(keys, object)).merge(expected, on=keys, suffixes=("", "_expected"))
    assert len(both) == len(found) == len(expected)
    np.testing.assert_allclose(both["delta"], both["delta_expected"])
    there = both["base"].abs() >= SHIFT_FLOOR
    np.testing.assert_allclose(both["percent"][there], (100 * both["delta"] / both["base"])[there])
    assert both["percent"][~there].isna().all()


def test_below_ten_items_no_verdict_is_given() -> None:
    few = effects(items([9.0 + place / 10 for place in range(LEAST_N - 1)]), by=("evaluator",)).iloc[0]
    enough = effects(items([9.0 + place / 10 for place in range(LEAST_N)]), by=("evaluator",)).iloc[0]
    assert few["verdict"] == TOO_FEW
    assert enough["verdict"] == MOVES
    assert few["low"] > 0  # the interval itself excludes zero: the count alone withholds the word


def test_a_standardised_change_is_over_the_spread_of_the_baselines() -> None:
    table = items([1.0, 2.0, 3.0, 4.0, 10.0] * 3)
    found = effects(table, by=("evaluator",), measure="standardised").iloc[0]
    expected = median_bca(table["delta"] / table["baseline"].std(ddof=1))
    assert (found["value"], found["low"], found["high"]) == pytest.approx(
        (expected.estimate, expected.low, expected.high)
    )
    assert found["value"] == pytest.approx(found["standardised"])


def test_baselines_of_one_value_have_no_standardised_change() -> None:
    found = effects(items([1.0] * 12).assign(baseline=0.5), by=("evaluator",), measure="standardised").iloc[0]
    assert math.isnan(found["value"])
    assert found["n_items"] == 0


def test_a_wider_margin_never_takes_an_invariant_verdict_back() -> None:
    table = items(list(np.random.default_rng(3).normal(0, 2, 40)))
    words = [
        effects(table, by=("evaluator",), margin=margin).iloc[0]["verdict"].startswith("invariant")
        for margin in (0.1, 1.0, 5.0, 20.0)
    ]
    assert words == sorted(words)
    assert words[-1]


def test_scores_of_items_are_those_of_the_unedited_pairs(store: Store) -> None:
    found = item_scores(store, Slice(categories=("animal",), families=("rotation",)))
    expected = store.query(
        "select * from scores where probe = 'identity' and category = 'animal' and score is not null"
    )
    assert len(found) == len(expected)
    assert found["score"].sum() == pytest.approx(expected["score"].sum())


def test_controls_are_kept_when_asked_for() -> None:
    assert with_controls(Slice(families=("blur",))) == Slice(families=("blur",), controls=True)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: effects(items([1.0]), by=("evaluator",), measure="raw"), "percent, standardised, delta"),  # type: ignore[arg-type]
        (lambda: effects(items([1.0]), by=("evaluator",), margin=0), "positive"),
    ],
)
def test_bad_input_is_refused_with_what_is_allowed(make: object, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        make()  # type: ignore[operator]


def test_a_column_that_is_no_choice_is_refused(store: Store) -> None:
    with pytest.raises(InvalidInput, match="grouped by one of"):
        item_changes(store, Slice(), by=("score; drop table scores",))
