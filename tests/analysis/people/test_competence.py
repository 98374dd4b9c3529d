"""Competence of a study's annotators: who guesses is found, beside counts by hand; what is unclear is said."""

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from core.features.human.kinds import ACCEPTABILITY, CORRECTNESS
from core.features.human.mace import WIDEST, study_competence
from core.features.human.people_figures import FEW, competence_dots, kappa_map
from core.features.human.studies import Study
from core.features.human.study_outcomes import study_kappas
from core.features.human.votes import vote_table
from core.statistics.agreement import weighted_kappa
from core.statistics.bootstrap import LEAST_N
from tests.features.human.small_study import items, make, vote_versions


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """Three who see that every second variant is wrong and one who answers by lot; one of them on three items alone."""
    made = make(tmp_path, items=items(24, attention=2), per_item=4)
    rng = np.random.default_rng(0)
    names = made.invite(["", "", "", "", ""])
    for number, name in enumerate(names):
        for place, item in enumerate(made.definition.items):
            if number == 4 and place >= 3:
                continue
            said = 2 * (place % 2) if number != 3 else int(rng.integers(3))
            vote_versions(made, name, item.id, original=2, variant=said, preferred="tie" if said == 2 else "original")
    return made


def test_who_answers_by_lot_is_found_and_the_counts_are_those_by_hand(study: Study) -> None:
    votes = vote_table(study)
    found = study_competence(votes, ACCEPTABILITY)
    people = found.people[found.people["question"] == "acceptability"].set_index("annotator")
    assert people.loc["a04", "competence"] < people.loc[["a01", "a02", "a03"], "competence"].min()
    assert list(people["n"]) == [48, 48, 48, 48, 6]  # both versions of 24 and 3 items; attention items aside
    plain = votes[~votes["attention"]].set_index(["id", "annotator"])
    hits = [
        plain.loc[(item, "a04"), side] == plain.loc[(item, "a01"), side]
        for item in sorted(set(plain.index.get_level_values(0)))
        for side in ("original", "variant")
    ]
    assert people.loc["a04", "with_others"] == pytest.approx(100 * np.mean(hits))
    assert people.loc["a04", "n_others"] == 48
    assert people.loc["a05", "note"] == "no interval (n = 6, below 10)"
    assert math.isnan(people.loc["a05", "low"])
    answers = found.answers.set_index("question").loc["acceptability"]
    assert (answers["n"], answers["same"], answers["other"], answers["tied"]) == (48, 48, 0, 0)
    assert set(found.people["question"]) == {"acceptability", "preference"}
    figure = competence_dots(found.people)
    told = found.people.dropna(subset=["competence"])
    assert len(figure.frame) == len(told)
    assert told.loc[told["n"] >= LEAST_N, ["low", "high"]].notna().all(axis=None)
    assert list(figure.frame["hollow"]) == [n < FEW for n in told["n"]]


def test_answers_that_are_nearly_all_alike_carry_a_warning(tmp_path: Path) -> None:
    skewed = make(tmp_path, items=items(20))
    for number, name in enumerate(skewed.invite(["", "", ""])):
        for place, item in enumerate(skewed.definition.items):
            vote_versions(skewed, name, item.id, original=2, variant=0 if place == number else 2, preferred="tie")
    found = study_competence(vote_table(skewed), ACCEPTABILITY)
    rated = found.people[found.people["question"] == "acceptability"]
    assert rated["note"].str.contains("98 % of the answers are one and the same").all()
    assert found.answers.set_index("question").loc["acceptability", "note"] == rated["note"].iloc[0]
    assert rated["low"].notna().all()


def test_what_cannot_be_told_is_said_and_no_number(tmp_path: Path) -> None:
    two = make(tmp_path, "two", items=items(12))
    for number, name in enumerate(two.invite(["", ""])):
        for place, item in enumerate(two.definition.items):
            vote_versions(two, name, item.id, original=2, variant=(place + number) % 2, preferred="tie")
    found = study_competence(vote_table(two), ACCEPTABILITY)
    assert found.people["competence"].isna().all()
    assert found.people["note"].str.contains("3 annotators are needed").all()
    same = make(tmp_path, "same", items=items(12))
    for name in same.invite(["", "", ""]):
        for item in same.definition.items:
            vote_versions(same, name, item.id, original=2, variant=2, preferred="tie")
    found = study_competence(vote_table(same), ACCEPTABILITY)
    assert found.people["competence"].isna().all()
    assert found.people["note"].str.contains("every vote is the same answer").all()
    assert (found.people["with_others"] == 100).all()
    empty = study_competence(vote_table(make(tmp_path, "empty")), ACCEPTABILITY)
    assert empty.people.empty
    assert empty.answers.empty


@pytest.mark.whole
def test_of_three_who_know_alike_none_is_said_to_know_more_than_the_votes_tell(tmp_path: Path) -> None:
    """Each of the three could be the one who knows: each explanation is in the interval."""
    equal = make(tmp_path, items=items(40))
    rng = np.random.default_rng(1)
    right = rng.integers(0, 3, (2, 40))
    for name in equal.invite(["", "", ""]):
        said = np.where(rng.random((2, 40)) < 0.2, right, rng.integers(0, 3, (2, 40)))
        for place, item in enumerate(equal.definition.items):
            vote_versions(
                equal, name, item.id, original=int(said[0, place]), variant=int(said[1, place]), preferred="tie"
            )
    found = study_competence(vote_table(equal), ACCEPTABILITY)
    people = found.people[found.people["question"] == "acceptability"]
    wide = people["high"] - people["low"] > WIDEST
    assert wide.any()
    assert people["competence"].notna().all(), "to name the narrow ones alone would pick those that miss"
    assert people.loc[wide, "note"].str.startswith("these votes do not tell: anything from").all()
    assert ((people["low"] <= 20) & (people["high"] >= 20)).all()


@pytest.mark.whole
@pytest.mark.parametrize(("units", "least"), [(12, 0.97), (30, 0.93), (60, 0.93)])
def test_what_is_printed_of_three_equal_annotators_holds_what_they_know(units: int, least: float) -> None:
    """1.00, .98 and .95 of the 180 intervals of 60 studies. Named below a width of 50 points alone: .78 at 30 items."""
    rng, held, knows = np.random.default_rng(7), list[bool](), 0.6
    for _ in range(60):
        truth = rng.integers(0, 2, units)
        said = np.array(
            [[value if rng.random() < knows else rng.integers(2) for value in truth] for _ in range(3)], dtype=float
        )
        votes = pd.DataFrame(
            {
                "annotator": np.repeat(["a", "b", "c"], units),
                "id": np.tile([f"t{place:02d}" for place in range(units)], 3),
                "attention": False,
                "original": said.ravel(),
                "variant": math.nan,
                "preferred": None,
            }
        )
        people = study_competence(votes, CORRECTNESS).people
        printed = people.dropna(subset=["competence", "low", "high"])
        assert len(printed) == 3
        held += list((printed["low"] <= 100 * knows) & (100 * knows <= printed["high"]))
    assert np.mean(held) >= least


def test_the_matrix_counts_shared_items_and_draws_few_of_them_hollow(study: Study) -> None:
    pairs = study_kappas(vote_table(study), ACCEPTABILITY)
    shared = pairs.set_index(["one", "other"])["n_items"]
    assert shared["a01", "a02"] == 24
    assert shared["a01", "a05"] == 3
    figure = kappa_map(pairs)
    few = figure.frame[(figure.frame["label"] == "a05") | (figure.frame["series"] == "a05")]
    assert few["hollow"].all()
    assert not figure.frame.drop(few.index)["hollow"].any()
    assert few["text"].str.endswith("n 3").all()


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=40))
@settings(max_examples=60, deadline=None)
def test_kappa_is_symmetric_and_that_of_scikit_learn(said: list[tuple[int, int]]) -> None:
    one, other = map(list, zip(*said, strict=True))
    found = weighted_kappa(one, other, answers=4, resamples=10)
    turned = weighted_kappa(other, one, answers=4, resamples=10)
    assert found.estimate == pytest.approx(turned.estimate, nan_ok=True)
    if len({*one, *other}) > 1 and not math.isnan(found.estimate):
        theirs = cohen_kappa_score(one, other, labels=[0, 1, 2, 3], weights="quadratic")
        assert found.estimate == pytest.approx(theirs)


def test_the_order_of_annotators_changes_no_competence(study: Study) -> None:
    votes = vote_table(study)
    turned = votes.assign(annotator=votes["annotator"].map({f"a0{each}": f"a0{6 - each}" for each in range(1, 6)}))
    one, other = (study_competence(each, ACCEPTABILITY).people for each in (votes, turned))
    told = other.assign(annotator=other["annotator"].map({f"a0{each}": f"a0{6 - each}" for each in range(1, 6)}))
    told = told.sort_values(["question", "annotator"], ignore_index=True)
    pd.testing.assert_frame_equal(one.sort_values(["question", "annotator"], ignore_index=True), told, atol=1e-4)
