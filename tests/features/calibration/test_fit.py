"""From the table of scores to a calibration, on the results that ship and on rows made up."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.analysis.reading import read_table
from core.analysis.scope import Scope
from core.analysis.slices import Slice
from core.analysis.table import View
from core.errors import InvalidInput
from core.features.calibration import effect
from core.features.calibration.effect import OF_ORDER, before_after
from core.features.calibration.fit import FEW, HUMAN, ORACLE, Fit, axis_sensitivity, fit, sweep_table
from core.features.calibration.readings import CHOSEN, FIXED
from core.statistics.bootstrap import LEAST_N
from core.statistics.changes import interquartile_range
from core.statistics.flip_risk import LEAST_SOURCES, intervals_of
from core.statistics.rank_agreement import rank_agreement
from core.statistics.shift_pairs import ShiftPairs
from core.store.store import Store
from tests.analysis.made_runs import raw, scores_of, write_run


@pytest.fixture(scope="module")
def spatial(store: Store) -> View:
    return read_table(store).view(Slice(axes=("spatial",)))


@pytest.fixture(scope="module")
def found(spatial: View) -> Fit:
    return fit(spatial, evaluator="conse-lite0")


@pytest.fixture(scope="module")
def images() -> pd.Series:
    """Hash of every item's pixels."""
    return raw(table="items").set_index(["corpus", "item"])["pixels_sha256"]


@pytest.mark.parametrize("named", ["item_group", "second_group"])
def test_no_cut_out_and_no_background_of_the_test_split_is_in_the_dev_split(found: Fit, named: str) -> None:
    sources = raw(table="items").set_index(["corpus", "item"])[named]
    dev, held_out = (set(sources[list(each.items)].dropna()) for each in (found.dev_scores, found.scores))
    assert len(dev) > 5 < len(held_out)
    assert not dev & held_out


def test_what_shares_a_source_with_either_split_is_left_out_and_said(found: Fit) -> None:
    items = raw(table="items").set_index(["corpus", "item"])
    left_out = items.drop([*found.dev_scores.items, *found.scores.items])
    assert 0 < len(left_out) == found.n_left_out < len(items) / 8
    dev = set(items.loc[list(found.dev_scores.items), "item_group"])
    held_out = set(items.loc[list(found.scores.items), "item_group"])
    assert set(left_out["item_group"]) <= dev | held_out
    assert found.left_out.startswith(f"{found.n_left_out} items are in neither split")


def test_the_test_split_shares_no_image_with_the_dev_split(found: Fit, images: pd.Series) -> None:
    held_out = set(images[list(found.scores.items)])
    rest = set(images.drop(list(found.scores.items)))
    assert held_out
    assert not held_out & rest
    assert found.n_dev + found.n_test + found.n_left_out == len(images)


def test_items_without_a_hash_are_split_by_their_name(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    rows = scores_of(["identity", "vflip"], 40, lambda *_: rng.uniform())
    with Store.open(write_run(tmp_path / "r", rows)) as store:
        split = fit(read_table(store).view(), evaluator="e")
        again = fit(read_table(store).view(), evaluator="e")
    assert 5 < split.n_test < 35
    assert split.scores.items == again.scores.items


def test_the_strength_is_the_best_of_the_dev_split_and_reported_of_the_other(spatial: View) -> None:
    shift = fit(spatial, evaluator="conse-lite0", reading="shift")
    at = shift.test.lambdas.index(shift.choice.strength)
    assert shift.dev.total[at] == shift.dev.total[shift.choice.allowed].min()
    assert shift.dev.total[at] < shift.dev.total[0]
    assert not np.array_equal(shift.test.total, shift.dev.total)
    assert set(shift.others) == {"conse-lite2", "grounding-judge"}


@pytest.mark.parametrize(("weights", "cap"), [("uniform", 1 / 3), ("each", 1.0)])
def test_what_holds_by_construction_is_said_to_choose_no_strength_and_how_far_it_can_go(
    store: Store, weights: str, cap: float
) -> None:
    three = read_table(store).view(Slice(families=("vertical-flip", "horizontal-flip", "rotation")))
    orbit = fit(three, evaluator="conse-lite0", reading="orbit", weights=weights)
    assert orbit.whence == FIXED
    for name, values in orbit.test.sensitivity.items():  # an identity: no score of the held-out half takes part in it
        np.testing.assert_allclose(
            values, values[0] * np.abs(1 - cap * np.array(orbit.test.lambdas)), atol=1e-15, err_msg=name
        )
    said = " ".join(orbit.caveats(orbit.choice.strength))
    assert "By construction, not measured" in said
    assert "the sweep chooses no λ" in said
    assert f"no shift falls by more than {100 * cap:.3g} %" in said
    assert fit(three, evaluator="conse-lite0", reading="quantile").whence == CHOSEN


def test_that_few_items_are_held_out_is_said_before_anything_else(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    rows = scores_of(["identity", "vflip"], 40, lambda *_: rng.uniform())
    with Store.open(write_run(tmp_path / "r", rows)) as store:
        few = fit(read_table(store).view(), evaluator="e", reading="orbit")
    assert 0 < few.n_test < FEW
    assert few.caveats(0.5)[0] == f"Only {few.n_test} items are held out: what is reported of them says little."
    assert len(few.caveats(0.5)) > 1


def test_flip_risks_before_and_after_take_items_of_one_source_together(found: Fit) -> None:
    table = before_after(found.scores, found.terms, 0.5, {}).set_index(["measure", "name", "gap"])
    family, half = found.scores.families["rotation"], interquartile_range(found.scores.clean)
    items = np.tile(np.arange(len(found.scores.items)), len(family.probes))
    (expected,) = intervals_of(ShiftPairs(family.shifts.ravel(), items, found.scores.sources), [0.007 * half])
    row = table.loc[("flip risk", "rotation", 0.007)]
    assert (row["before"], row["before_low"], row["before_high"]) == (expected.estimate, expected.low, expected.high)
    (alone,) = intervals_of(ShiftPairs(family.shifts.ravel(), items), [0.007 * half])
    assert (alone.low, alone.high) != (expected.low, expected.high)


def test_every_number_before_and_after_has_an_interval_that_holds_it(found: Fit) -> None:
    table = before_after(found.scores, found.terms, 0.5, found.others)
    few = (table["measure"] == "flip risk") & (table["n"] < LEAST_SOURCES)
    assert few.sum() < len(table) / 4
    for side in ("before", "after"):
        assert (table.loc[~few, f"{side}_low"] <= table.loc[~few, side]).all()
        assert (table.loc[~few, f"{side}_high"] >= table.loc[~few, side]).all()
        assert table.loc[few, [f"{side}_low", f"{side}_high"]].isna().all(axis=None)
    assert (table["n"] > 0).all()
    assert set(table["measure"]) == {
        "sensitivity",
        "percent",
        "axis sensitivity",
        "flip risk",
        "spearman",
        "kendall_b",
        "kendall_c",
    }


def test_a_reading_that_leaves_clean_scores_alone_has_each_agreement_worked_out_once(
    monkeypatch: pytest.MonkeyPatch, found: Fit
) -> None:
    asked: list[np.ndarray] = []
    monkeypatch.setattr(effect, "rank_agreement", lambda one, other: asked.append(one) or rank_agreement(one, other))
    assert found.terms.reading == "shift"
    table = before_after(found.scores, found.terms, 0.5, found.others).set_index(["measure", "name"])
    assert len(asked) == len(found.others)
    for name, ratings in found.others.items():
        expected = rank_agreement(found.scores.clean, ratings).kendall_b
        assert table.loc[("kendall_b", name), ["before", "after"]].tolist() == [expected, expected]


def test_bands_hold_the_correlation_that_they_belong_to(found: Fit) -> None:
    bands = found.bands()
    assert set(bands) == {"conse-lite2", "grounding-judge"}
    for name, (low, high) in bands.items():
        assert (low <= found.test.spearman[name]).all()
        assert (high >= found.test.spearman[name]).all()


def test_others_are_the_clean_scores_of_the_held_out_items(found: Fit) -> None:
    scores = raw()
    clean = scores[scores["probe"] == "identity"].set_index(["evaluator", "corpus", "item"])["score"]
    for name, values in found.others.items():
        np.testing.assert_array_equal(values, clean[name].reindex(pd.MultiIndex.from_tuples(found.scores.items)))


def test_the_sweep_as_a_table_holds_both_splits_and_bands_of_the_held_out_one(found: Fit) -> None:
    table = sweep_table(found, found.bands())
    assert set(table["split"]) == {"dev", "test"}
    assert set(table["strength"]) == set(found.test.lambdas)
    banded = table[table["low"].notna()]
    assert set(zip(banded["split"], banded["measure"], strict=True)) == {("test", "spearman")}
    axis = table[(table["measure"] == "axis sensitivity") & (table["split"] == "test")]["value"]
    families = np.array(list(found.test.sensitivity.values()))
    np.testing.assert_allclose(axis, families.mean(axis=0) / found.test.spread)
    np.testing.assert_allclose(axis_sensitivity(found, found.test)["spatial"], axis)


def rated(view: View, **changes: object) -> pd.DataFrame:
    items = view.table.items["item"]
    usual = pd.DataFrame(
        {
            "corpus": "demo",
            "item": np.repeat(items, 2),
            "probe": "identity",
            "subject": "template",
            "rating": np.tile([1.0, 3.0], len(items)),
        }
    )
    return usual.assign(**changes)


def test_people_s_ratings_are_held_to_where_there_are_any(spatial: View) -> None:
    people = fit(spatial, evaluator="conse-lite0", ratings=rated(spatial))
    assert (people.others[HUMAN] == 2.0).all()
    assert HUMAN not in fit(spatial, evaluator="conse-lite0", ratings=rated(spatial).iloc[:0]).others
    assert "no correlation with human ratings" in people.choice.note


def test_a_correlation_is_counted_by_the_items_that_both_orders_hold(spatial: View, found: Fit) -> None:
    some = rated(spatial).assign(rating=np.arange(2.0 * len(spatial.table.items)))
    dev, test = ([item for _, item in each.items] for each in (found.dev_scores, found.scores))
    wanted = {*dev[:12], *test[:LEAST_N]}
    people = fit(spatial, evaluator="conse-lite0", ratings=some[some["item"].isin(wanted)])
    rows = sweep_table(people)
    n = rows[rows["name"] == HUMAN].groupby("split")["n"].unique().to_dict()
    assert {split: each.tolist() for split, each in n.items()} == {"dev": [12], "test": [LEAST_N]}
    assert not rows.loc[rows["name"] == HUMAN, "value"].isna().any()
    assert people.people == f"People rated 12 dev items and {LEAST_N} held out: the score is held to their order too."


def test_people_who_rated_too_few_items_are_no_order_to_keep_and_that_is_said(spatial: View, found: Fit) -> None:
    some = rated(spatial).assign(rating=np.arange(2.0 * len(spatial.table.items)))
    dev, test = ([item for _, item in each.items] for each in (found.dev_scores, found.scores))
    few = some[some["item"].isin({*dev[:40], test[0]})]
    people = fit(spatial, evaluator="conse-lite0", ratings=few)
    assert HUMAN not in people.others
    assert HUMAN not in people.dev_others
    assert people.people == (
        "People rated 40 dev items and 1 held out: of fewer than 10 on either side no correlation is known, so nothing "
        "is held to them."
    )
    asked = fit(spatial, evaluator="conse-lite0", ratings=few, against=[HUMAN])
    assert asked.test.pairs[HUMAN] == 1
    assert np.isnan(asked.test.spearman[HUMAN]).all()
    rho = before_after(asked.scores, asked.terms, 0.5, asked.others, measures=OF_ORDER)
    assert rho[["before", "after"]].isna().all(axis=None)


@pytest.mark.parametrize("strange", [{"subject": "human"}, {"probe": "vflip"}, {"corpus": "elsewhere"}])
def test_ratings_of_other_pairs_are_nobodys(spatial: View, strange: dict[str, str]) -> None:
    assert HUMAN not in fit(spatial, evaluator="conse-lite0", ratings=rated(spatial, **strange)).others


def test_only_what_is_named_is_held_to(spatial: View) -> None:
    assert set(fit(spatial, evaluator="conse-lite0", against=["conse-lite2"]).others) == {"conse-lite2"}


def test_oracle_weights_say_that_they_are_an_upper_bound(spatial: View) -> None:
    assert fit(spatial, evaluator="conse-lite0", reading="orbit", weights=ORACLE).oracle
    assert not fit(spatial, evaluator="conse-lite0", weights=ORACLE, reading="shift").oracle


def test_what_cannot_be_fitted_is_refused(spatial: View, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="evaluators: conse-lite0"):
        fit(spatial, evaluator="clipscore")
    with pytest.raises(InvalidInput, match="weights"):
        fit(spatial, evaluator="conse-lite0", weights="best")
    with pytest.raises(InvalidInput, match="umic"):
        fit(spatial, evaluator="conse-lite0", against=["umic"])
    with pytest.raises(InvalidInput, match="no shift of evaluator 'conse-lite0'"):
        fit(spatial.table.view(Slice(families=("nowhere",))), evaluator="conse-lite0")
    one = write_run(tmp_path / "r", scores_of(["identity", "vflip"], 1, lambda *_: 0.5))
    with Store.open(one) as store, pytest.raises(InvalidInput, match="1 item cannot be split"):
        fit(read_table(store).view(), evaluator="e")


def test_the_clean_scores_of_the_others_are_all_that_a_fit_needs_of_them(spatial: View) -> None:
    """What the other evaluators said of the edits is nothing to the calibration of one."""
    whole = fit(spatial, evaluator="conse-lite0")
    table = spatial.table
    probes = table.probes.index != "identity"
    lost = table.scores.copy()
    lost[1:, probes] = np.nan
    blind = table.__class__(
        table.scope,
        table.evaluators,
        table.probes,
        table.items,
        lost,
        table.baselines,
        table.stored,
        table.inside,
        table.accepted,
        table.upheld,
        table.diagnostics,
    )
    lean = fit(blind.view(spatial.chosen), evaluator="conse-lite0")
    pd.testing.assert_frame_equal(sweep_table(lean, lean.bands()), sweep_table(whole, whole.bands()))
    for name, values in whole.others.items():
        np.testing.assert_array_equal(lean.others[name], values)


def test_a_calibration_is_of_one_subject_and_one_run_of_the_corpus(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)

    def rows(n: int, **told: str) -> list[dict]:
        return scores_of(["identity", "vflip"], n, lambda *_: rng.uniform(), **told)

    write_run(tmp_path / "first", rows(10, subject="human"))
    write_run(tmp_path / "second", rows(20, subject="human") + rows(30))
    with Store.open(tmp_path) as store:
        for subject, n in (("template", 30), ("human", 20)):
            split = fit(read_table(store, Scope(subject=subject)).view(), evaluator="e")
            assert split.n_dev + split.n_test == n
