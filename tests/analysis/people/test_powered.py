"""Rates over all pairs: the same numbers from the raw shards by pandas, and what is refused."""

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.analysis.reading import read_table
from core.analysis.scope import Scope
from core.analysis.table import ScoreTable
from core.errors import InvalidInput
from core.features.human.creation import create_study
from core.features.human.entrance import Exercise
from core.features.human.first_steps import practise, set_practice
from core.features.human.powered_votes import (
    FITS,
    MORE_VOTES,
    RATED,
    RIGHT,
    UNCHANGED,
    powered_rows,
    what_more_votes_buy,
)
from core.features.human.sampling import family_strata
from core.features.human.studies import Study
from core.settings import ROOT
from core.store.store import Store
from tests.features.human.small_study import vote_versions

EVALUATOR = "conse-lite2"


@pytest.fixture(scope="module")
def demo() -> Iterator[Store]:
    with Store.open(ROOT / "data" / "results" / "demo") as store:
        yield store


@pytest.fixture(scope="module")
def table(demo: Store) -> ScoreTable:
    return read_table(demo)


def flips(demo: Store, tmp_path: Path, *, total: int = 60, kind: str = "acceptability", **changes: object) -> Study:
    """A study of vertical flips alone: one pair an item, so that every number can be made by hand."""
    return create_study(
        demo,
        "demo",
        study_id=f"flips-{kind}",
        title="t",
        kind=kind,
        total=total,
        per_item=1,
        attention_rate=0.0,
        seed=3,
        parent=tmp_path,
        **{"strata": family_strata(["vertical-flip"]), **changes},
    )


def scores() -> pd.DataFrame:
    """Score of the flipped picture and of the unedited one of each item, from the raw shards."""
    raw = pd.concat(pd.read_parquet(path) for path in (ROOT / "data/results/demo/scores").glob("*.parquet"))
    own = raw[(raw["evaluator"] == EVALUATOR) & (raw["subject"] == "template")]
    wide = own[own["probe"].isin(["vflip", "identity"])].pivot_table(index="item", columns="probe", values="score")
    return wide.dropna()


def judge(study: Study, votes: dict[str, int], *, every: int = 1) -> None:
    """Three who agree: the variant as given, the original fully correct; equally good where both are."""
    for name in study.invite(["", "", ""]):
        for item in study.definition.items[::every]:
            if item.item in votes and not item.attention:
                said = votes[item.item]
                vote_versions(study, name, item.id, original=2, variant=said, preferred="tie" if said else "original")


def test_rates_are_those_of_the_raw_shards(demo: Store, tmp_path: Path, table: ScoreTable) -> None:
    wide = scores()
    study = flips(demo, tmp_path)
    order = wide["vflip"].rank()
    rng = np.random.default_rng(0)
    judge(study, {str(item): 2 * int(rng.random() < share) for item, share in (order / len(order)).items()})
    rows = powered_rows(study, table).set_index(["question", "evaluator"])
    row = rows.loc[(FITS, EVALUATOR)]
    predicted = (wide["vflip"].rank() - 0.5) / len(wide)
    entries = study.state().entries
    said = {item.item: entries["a01", item.id].answers for item in study.definition.items if not item.attention}
    drawn = sorted(said)
    left = {
        item.item: study.definition.left_version("a01", item.id)
        for item in study.definition.items
        if not item.attention
    }
    label = np.array([float(said[each]["A" if left[each] == "variant" else "B"] >= 1) for each in drawn])
    own, others = predicted[drawn].to_numpy(), predicted.drop(drawn).to_numpy()
    n, rest = len(label), len(others)
    assert (row["n"], row["n_votes"], row["n_all"], row["n_missing"]) == (n, 3 * n, len(wide), 0)
    assert row["votes"] == pytest.approx(100 * label.mean())
    tuning = np.cov(label, own)[0, 1] / n / (own.var(ddof=1) / n + others.var(ddof=1) / rest)
    assert row["tuning"] == pytest.approx(min(tuning, 1.0))
    assert row["joined"] == pytest.approx(100 * (label.mean() + row["tuning"] * (others.mean() - own.mean())))
    error = math.sqrt(
        (label - row["tuning"] * own).var(ddof=1) / n
        + row["tuning"] ** 2 * others.var(ddof=1) / rest
        - label.var(ddof=1) / (n + rest)  # they are a part of all items
    )
    held = row["joined"] / 100
    assert error < label.std(ddof=1) / math.sqrt(n)
    size = held * (1 - held) / error**2
    middle = held + 2.0 / size
    assert row["joined_low"] < 100 * middle < row["joined_high"]
    assert row["shorter"] > 2  # these scores know something of these answers
    assert row["note"] == ""


@pytest.mark.whole
def test_what_more_votes_would_buy_is_what_a_larger_study_then_has(
    demo: Store, tmp_path: Path, table: ScoreTable
) -> None:
    wide = scores()
    votes = {str(item): 2 * int(place % 3 > 0) for place, item in enumerate(wide.sort_values("vflip").index)}
    small, large = flips(demo, tmp_path / "small", total=80), flips(demo, tmp_path / "large", total=113)
    judge(small, votes)
    judge(large, votes)
    foreseen, seen = (powered_rows(each, table).iloc[0] for each in (small, large))
    assert foreseen["more_items"] == round(MORE_VOTES / 3)
    assert foreseen["more_votes_half"] == pytest.approx((seen["votes_high"] - seen["votes_low"]) / 2, rel=0.1)
    told = what_more_votes_buy(foreseen.to_dict())
    assert "100 more votes, at 3.0 an item as now, would label 33 more items" in told
    assert f"±{foreseen['more_votes_half']:.1f} points" in told
    assert seen["more_items"] == round(MORE_VOTES / 3)
    whole = flips(demo, tmp_path / "whole", total=252)
    judge(whole, votes)
    row = powered_rows(whole, table).iloc[0]
    assert (row["tuning"], row["note"]) == (0, "every item has votes, so there is nothing to predict")
    assert "label no new one" in what_more_votes_buy(row.to_dict())


def test_scores_that_know_nothing_are_said_to_buy_nothing(demo: Store, tmp_path: Path, table: ScoreTable) -> None:
    study = flips(demo, tmp_path, total=120)
    judge(study, {item.item: 2 * (place % 2) for place, item in enumerate(study.definition.items)})
    rows = powered_rows(study, table)
    blank = replace(table, scores=np.full_like(table.scores, np.nan))
    empty = powered_rows(study, blank)
    assert (empty["tuning"] == 0).all()
    assert (empty["n_missing"] == empty["n_all"]).all()
    assert empty["note"].str.contains("buy nothing").all()
    np.testing.assert_allclose(empty["joined"], rows["votes"])


def test_strata_count_by_their_items_however_many_were_drawn_of_each(
    demo: Store, tmp_path: Path, table: ScoreTable
) -> None:
    study = create_study(
        demo,
        "demo",
        study_id="paper",
        title="t",
        kind="acceptability",
        total=60,
        per_item=1,
        attention_rate=0.0,
        seed=4,
        parent=tmp_path,
    )
    (ada,) = study.invite([""])
    good = {"vertical flip", "gender"}
    for item in study.definition.items:
        if not item.attention:
            fits = item.stratum in good
            vote_versions(study, ada, item.id, original=2, variant=2 * fits, preferred="tie" if fits else "original")
    sizes = {name: available for name, _, available, _ in study.definition.strata}
    rate = sum(sizes[name] for name in good) / sum(sizes.values())
    rows = powered_rows(study, table)
    assert set(rows["question"]) == {FITS, UNCHANGED}
    np.testing.assert_allclose(rows["votes"], 100 * rate)


def test_strata_that_the_run_has_no_pair_for_take_nothing_from_the_others(tmp_path: Path) -> None:
    """Flipping alone and the paper's strata give the same rate where all but flips and turns are empty."""
    with Store.open(ROOT / "data" / "results") as store:
        study = create_study(
            store,
            "demo-captions",
            study_id="lean",
            title="t",
            kind="acceptability",
            total=60,
            per_item=1,
            attention_rate=0.0,
            seed=4,
            parent=tmp_path,
        )
        asked = study.definition.items[0]
        scores = read_table(store, Scope(runs=("demo-captions",), subject=asked.subject, language=asked.language))
    sizes = {name: available for name, _, available, _ in study.definition.strata}
    assert sorted(set(sizes.values())) == [0, 252]
    (ada,) = study.invite([""])
    for item in study.definition.items:
        if not item.attention:
            fits = item.stratum == "vertical flip"
            vote_versions(study, ada, item.id, original=2, variant=2 * fits, preferred="tie" if fits else "original")
    rows = powered_rows(study, scores)
    np.testing.assert_allclose(rows["votes"], 50)  # 252 of 504, however many were drawn of each


def test_ratings_are_means_and_comparisons_ask_for_the_right_side(
    demo: Store, tmp_path: Path, table: ScoreTable
) -> None:
    study = flips(demo, tmp_path, total=30, kind="rating")
    (ada,) = study.invite([""])
    for item in study.definition.items:
        if not item.attention:
            study.answer(ada, item.id, "rating", 3 if item.shows == "variant" else 4, seen=0)
    rows = powered_rows(study, table)
    assert set(rows["question"]) == {RATED}
    np.testing.assert_allclose(rows["votes"], 100 * 2 / 3)
    with Store.open(ROOT / "data" / "results") as store:
        sides = create_study(
            store,
            "demo-scenes",
            study_id="sides",
            title="t",
            kind="preference",
            total=24,
            per_item=1,
            attention_rate=0.0,
            seed=1,
            parent=tmp_path,
            strata=family_strata(directional=["foil", "order"]),
        )
        asked = sides.definition.items[0]
        scenes = read_table(store, Scope(runs=("demo-scenes",), subject=asked.subject, language=asked.language))
    (bo,) = sides.invite([""])
    for place, item in enumerate(each for each in sides.definition.items if not each.attention):
        vote_versions(sides, bo, item.id, original=4, variant=1, preferred="variant" if place == 0 else "original")
    rows = powered_rows(sides, scenes)
    assert set(rows["question"]) == {RIGHT}
    assert (rows["votes"] < 100).all()
    assert (rows["votes"] > 85).all()


def test_a_practice_item_is_of_no_pair_that_is_estimated(demo: Store, tmp_path: Path, table: ScoreTable) -> None:
    study = flips(demo, tmp_path, total=30)
    first = study.definition.items[0]
    set_practice(study, [Exercise(first.id, {"variant": (0,)}, "")], needed=0, tries=1)
    (ada,) = study.invite([""])
    study.begin(ada)
    left = study.definition.left_version(ada, first.id)
    for question, value in (
        ("A", 0 if left == "variant" else 2),
        ("B", 2 if left == "variant" else 0),
        ("preference", "B" if left == "variant" else "A"),
    ):
        practise(study, ada, first.id, question, value, attempt=0)
    for item in study.definition.items[1:]:
        if not item.attention:
            vote_versions(study, ada, item.id, original=2, variant=2, preferred="tie")
    rows = powered_rows(study, table)
    assert (rows["n_all"] == 251).all()
    assert (rows["n"] == 29).all()


def test_what_cannot_be_carried_over_is_refused_in_a_sentence(demo: Store, tmp_path: Path, table: ScoreTable) -> None:
    study = flips(demo, tmp_path)
    assert powered_rows(study, table).empty
    judge(study, {study.definition.items[0].item: 2})
    with pytest.raises(InvalidInput, match="has 1 item with votes; 2 in every stratum"):
        powered_rows(study, table)
    fewer = replace(table, stored=np.where(np.arange(len(table.items)) < 5, False, table.stored))
    with pytest.raises(InvalidInput, match="no sample of these pairs"):
        powered_rows(study, fewer)
    other = replace(table, scope=replace(table.scope, subject="human"))
    with pytest.raises(InvalidInput, match="another caption"):
        powered_rows(study, other)


def test_of_one_or_two_annotators_no_rate_has_an_interval(demo: Store, tmp_path: Path, table: ScoreTable) -> None:
    study = flips(demo, tmp_path)
    for name in study.invite(["", ""]):
        for place, item in enumerate(each for each in study.definition.items if not each.attention):
            vote_versions(study, name, item.id, original=2, variant=2 * (place % 3 > 0), preferred="tie")
    row = powered_rows(study, table).iloc[0]
    assert math.isnan(row["votes_low"])
    assert row["note"] == "2 annotators cannot tell how far people differ, 3 can"
    assert row["note"] in what_more_votes_buy(row.to_dict())


def test_people_who_differ_widen_a_rate_and_a_closed_study_narrows_it(
    demo: Store, tmp_path: Path, table: ScoreTable
) -> None:
    alike, apart = flips(demo, tmp_path / "alike"), flips(demo, tmp_path / "apart")
    for study, yes in ((alike, (0.7, 0.7, 0.7)), (apart, (0.6, 0.7, 0.8))):
        for name, share in zip(study.invite(["", "", ""]), yes, strict=True):
            for place, item in enumerate(each for each in study.definition.items if not each.attention):
                said = 2 * int(0.618 * place % 1 < share)
                vote_versions(study, name, item.id, original=2, variant=said, preferred="tie")

    def half(study: Study) -> float:
        row = powered_rows(study, table).iloc[0]
        return float(row["votes_high"] - row["votes_low"]) / 2

    live = half(apart)
    assert live > 1.5 * half(alike)
    apart.set_status("closed")
    assert half(apart) < live
