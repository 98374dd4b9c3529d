"""What people say of right and wrong sides: votes worked by hand, evaluators on the same comparisons."""

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.proportion import proportion_confint

from core.features.human.judged_comparisons import (
    ALL,
    EVALUATORS,
    PEOPLE,
    evaluator_rows,
    in_scope,
    judged_comparisons,
    people_rows,
    score_tables,
)
from core.features.human.kinds import ACCEPTABILITY, PAIRED_RATING, SINGLE
from core.features.human.studies import Study
from core.features.human.study_outcomes import aggregates, item_outcomes
from core.features.human.votes import vote_table
from core.statistics.shares import share
from core.store.store import Store
from tests.analysis.broken_runs import compared, rows_of, write_broken
from tests.analysis.made_runs import raw
from tests.features.human.small_study import comparisons, items, make, vote, vote_versions

VOTES = {  # comparison -> (rating of the right side, of the wrong one, preferred) of three annotators
    "0001": [(4, 1, "original"), (4, 1, "original"), (3, 3, "tie")],
    "0002": [(2, 4, "variant"), (1, 3, "variant"), (3, 3, "tie")],
    "0003": [(3, 3, "tie"), (3, 3, "tie"), (4, 4, "original")],
    "0004": [(4, 3, "original"), (3, 4, "variant"), (3, 1, "tie")],
}


@pytest.fixture
def study(tmp_path: Path) -> Study:
    made = make(tmp_path, kind="preference", items=comparisons(5, attention=1))
    people = made.invite(["", "", ""])
    for item, rows in VOTES.items():
        for name, (right, wrong, preferred) in zip(people, rows, strict=True):
            vote_versions(made, name, item, original=right, variant=wrong, preferred=preferred)
    vote_versions(made, people[0], "0005", original=1, variant=4, preferred="variant")
    vote_versions(made, people[0], "0006", original=1, variant=4, preferred="variant")
    return made


def judged_of(study: Study) -> pd.DataFrame:
    return judged_comparisons(vote_table(study), study.definition.asked)[0]


def test_a_majority_of_two_thirds_says_which_side_is_preferred(study: Study) -> None:
    judged, short = judged_comparisons(vote_table(study), PAIRED_RATING)
    assert judged["preference"].tolist() == ["right", "wrong", "tie", "no majority"]
    assert judged["votes"].tolist() == [3, 3, 3, 3]
    assert short == 1  # one vote on the fifth; the sixth is an attention item
    assert judged["rated_right"].tolist() == pytest.approx([8 / 9, 1 / 3, 7 / 9, 7 / 9])
    assert judged["rated_wrong"].tolist() == pytest.approx([2 / 9, 7 / 9, 7 / 9, 5 / 9])


def test_shares_by_family_and_over_all_by_hand(study: Study) -> None:
    rows = people_rows(judged_of(study)).set_index("family")
    assert list(rows.index) == ["denied", "swapped", ALL]
    shares = rows[["n", "n_votes", "prefer", "against", "tied", "undecided", "higher", "equal"]]
    assert shares.loc["denied"].tolist() == [2, 6, 50, 0, 50, 0, 50, 50]
    assert shares.loc["swapped"].tolist() == [2, 6, 0, 50, 0, 50, 50, 0]
    assert shares.loc[ALL].tolist() == [4, 12, 25, 25, 25, 25, 50, 25]
    assert rows.loc[ALL, "mean_right"] == pytest.approx((8 / 9 + 1 / 3 + 14 / 9) / 4)
    assert rows.loc[ALL, "gap"] == pytest.approx(rows.loc[ALL, "mean_right"] - rows.loc[ALL, "mean_wrong"])


def rated(gaps: np.ndarray, sources: list[str]) -> pd.DataFrame:
    """Votes of three annotators who rate the right side of each comparison better by a gap, on 1 to 4."""
    about = {"corpus": "c", "subject": "human", "language": "en", "rank": 0, "family": "denied", "preferred": "tie"}
    about |= {"attention": False, "directional": True, "variant": 1.5, "probe": "denied"}
    rows = [
        {
            "id": f"{place:04d}",
            "item": f"i{place:02d}",
            "source": source,
            "second_source": "",
            "annotator": name,
            "original": 1.5 + gap,
            **about,
        }
        for place, (gap, source) in enumerate(zip(gaps, sources, strict=True))
        for name in "abc"
    ]
    return pd.DataFrame(rows)


def test_the_difference_of_mean_ratings_has_an_interval_over_sources() -> None:
    """Thirty comparisons of fifteen cut-outs: both of one have much the same gap, so they are no thirty."""
    gaps = np.repeat(np.linspace(-0.2, 0.5, 15), 2) + np.tile([0.0, 0.01], 15)
    widths = {}
    for of, sources in (("cut-outs", [f"s{place // 2}" for place in range(30)]), ("each", [""] * 30)):
        judged, _ = judged_comparisons(rated(3 * gaps, sources), PAIRED_RATING)
        row = people_rows(judged).set_index("family").loc["denied"]
        widths[of] = row["gap_high"] - row["gap_low"]
        assert row["gap"] == pytest.approx(gaps.mean())
        assert row["annotators"] == 3
    assert widths["cut-outs"] > 1.2 * widths["each"]


def test_comparisons_of_one_source_are_taken_together(study: Study) -> None:
    votes = vote_table(study)
    copies = [
        votes.assign(
            id=votes["id"] + f"-{copy}", item=votes["item"] + f"-{copy}", source=votes["source"] + f"-{copy // 2}"
        )
        for copy in range(20)
    ]
    many = pd.concat(copies)
    rows = people_rows(judged_comparisons(many, PAIRED_RATING)[0]).set_index("family")
    # of every eight comparisons four are of one cut-out, as the first two of four are, and four of another
    cuts = np.repeat(np.arange(20), 4)
    said = ([True, False] * 2 + [False] * 4) * 10
    together = share(said, groups=cuts)
    assert rows.loc[ALL, "prefer_low"] <= 100 * together.low + 1e-9
    assert rows.loc[ALL, "prefer_high"] >= 100 * together.high - 1e-9
    for name in ("against", "tied", "undecided"):
        other = share(said, groups=cuts)
        assert rows.loc[ALL, name] == 25
        assert 0 < rows.loc[ALL, f"{name}_low"] < 25 < rows.loc[ALL, f"{name}_high"]
        assert rows.loc[ALL, f"{name}_high"] >= 100 * other.high - 1e-9
    for name, count in (("against", 0), ("equal", 10), ("prefer", 10)):  # of a family two of a source say the same
        low, high = (100 * each for each in proportion_confint(count, 20, method="wilson"))
        assert rows.loc["denied", f"{name}_low"] <= low < high <= rows.loc["denied", f"{name}_high"]


def test_the_order_of_annotators_rows_and_sides_changes_nothing(study: Study) -> None:
    votes, judged = vote_table(study), judged_of(study)
    rng = np.random.default_rng(0)
    for _ in range(5):
        mixed = votes.iloc[rng.permutation(len(votes))]
        names = dict(
            zip(sorted(set(votes["annotator"])), rng.permutation(sorted(set(votes["annotator"]))), strict=True)
        )
        turned = mixed.assign(
            annotator=mixed["annotator"].map(names), left=rng.choice(["original", "variant"], len(mixed))
        )
        again, _ = judged_comparisons(turned, PAIRED_RATING)
        pd.testing.assert_frame_equal(again.drop(columns="exchanged"), judged.drop(columns="exchanged"))
        pd.testing.assert_frame_equal(people_rows(again), people_rows(judged))


def test_the_same_votes_from_other_sides_say_the_same(tmp_path: Path) -> None:
    """Two annotators for whom the sides stand differently, and who prefer the right side wherever it stands."""
    study = make(tmp_path, kind="preference", items=comparisons(8))
    ada, bo = study.invite(["", ""])
    for name in (ada, bo):
        for item in study.definition.items:
            vote_versions(study, name, item.id, original=4, variant=2, preferred="original")
    votes = vote_table(study)
    assert set(votes["left"]) == {"original", "variant"}
    assert set(judged_of(study)["preference"]) == {"right"}


def test_single_images_are_brought_together_by_what_they_are_of(tmp_path: Path) -> None:
    study = make(tmp_path, kind="rating", items=comparisons(3, sides=1))
    people = study.invite(["", ""])
    given = {"0001": (4, 3), "0002": (1, 2), "0003": (2, 2), "0004": (2, 2), "0005": (1, 1)}
    for item, ratings in given.items():
        for name, rating in zip(people, ratings, strict=True):
            vote(study, name, item, rating=rating)
    judged, short = judged_comparisons(vote_table(study), SINGLE)
    assert judged["item"].tolist() == ["i000", "i001"]
    assert judged["rated_right"].tolist() == pytest.approx([2.5 / 3, 1 / 3])
    assert judged["rated_wrong"].tolist() == pytest.approx([0.5 / 3, 1 / 3])
    assert short == 1  # of the third nobody rated the wrong side
    row = people_rows(judged).set_index("family").loc[ALL]
    assert (row["higher"], row["equal"]) == (50, 50)
    assert math.isnan(row["prefer"])
    assert judged["preference"].isna().all()


def test_outcomes_of_edits_that_should_not_matter_know_nothing_of_comparisons(tmp_path: Path) -> None:
    study = make(tmp_path, items=(*items(2), *[each for each in comparisons(4) if each.id in ("0003", "0004")]))
    for name in study.invite(["", ""]):
        vote_versions(study, name, "0001", original=2, variant=2, preferred="tie")
        vote_versions(study, name, "0003", original=2, variant=0, preferred="original")
    votes = vote_table(study)
    assert item_outcomes(votes)["id"].tolist() == ["0001"]
    assert aggregates(votes).n_items == 1
    assert judged_comparisons(votes, ACCEPTABILITY)[0]["preference"].tolist() == ["right"]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    folder = write_broken(tmp_path / "runs" / "broken", rows_of(("e", "flat", "truth")), pairs=2)
    with Store.open(folder) as opened:
        yield opened


def test_evaluators_fail_on_exactly_the_comparisons_that_people_judged(
    study: Study, store: Store, tmp_path: Path
) -> None:
    judged = judged_of(study)
    found = evaluator_rows(judged, score_tables(store, "broken", judged)).set_index(["family", "evaluator"])
    scores = raw(tmp_path / "runs" / "broken")
    for family, probe in (("denied", "denied"), ("swapped", "swapped:near")):
        own = compared(scores, [probe])
        own = own[own["item"].isin(judged.loc[judged["family"] == family, "item"])]
        assert found.loc[(family, "e"), "n"] == len(own) == 2
        assert found.loc[(family, "e"), "failure"] == pytest.approx(100 * (own["wrong"] >= own["right"]).mean())
    assert found.loc[(ALL, "flat"), ["failure", "ties"]].tolist() == [100, 100]
    assert found.loc[(ALL, "truth"), ["n", "n_missing", "failure"]].tolist() == [4, 0, 0]
    together = share([1, 1, 1, 1], groups=judged["source"])
    assert found.loc[(ALL, "flat"), "failure_low"] == pytest.approx(100 * together.low)


def test_a_comparison_without_a_score_is_counted_and_a_run_that_is_gone_leaves_people_alone(
    study: Study, store: Store
) -> None:
    judged = judged_of(study)
    strange = judged.assign(item=["i000", "nobody", "i002", "i003"])
    tables = score_tables(store, "broken", strange)
    found = evaluator_rows(strange, tables).set_index(["family", "evaluator"])
    assert found.loc[(ALL, "truth"), ["n", "n_missing"]].tolist() == [3, 1]
    assert score_tables(store, "gone", judged) == []
    assert list(evaluator_rows(judged, []).columns) == list(EVALUATORS)
    other = judged.assign(language="de")
    assert in_scope(other, tables[0]).empty
    assert evaluator_rows(other, tables)["n"].eq(0).all()


def test_a_study_without_votes_has_the_columns_and_no_row(tmp_path: Path) -> None:
    judged, short = judged_comparisons(vote_table(make(tmp_path)), ACCEPTABILITY)
    assert (len(judged), short) == (0, 0)
    assert list(people_rows(judged).columns) == list(PEOPLE)
    assert people_rows(judged).empty
    assert evaluator_rows(judged, []).empty
