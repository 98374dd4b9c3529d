"""Competence by MACE against crowd-kit 1.4.2, against simulated annotators, and what must change nothing."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from core.errors import InvalidInput
from core.features.human.mace import competences

SKILLS = (0.95, 0.8, 0.6, 0.25, 0.05)
COMPETENT = (0.8765130472148701, 0.8122695263690636, 0.4272164169365026, 0.21592935942128716, 0.008879721761611623)
"""What ``MACE(n_restarts=1, n_iter=400)`` of crowd-kit gives for ``spamming_[:, 1]``."""

FIRST = (
    (0.008715383352826468, 0.00843955368053856, 0.982845062966635),
    (0.9977653218590107, 0.0008002703891676821, 0.0014344077518216522),
    (0.8611628442652796, 0.12960943566925745, 0.009227720065462986),
    (0.0030055287656527967, 0.9914042334599167, 0.005590237774430502),
    (0.020502575837852022, 0.06342154668472234, 0.9160758774774257),
    (0.9429096166870528, 0.01996177868361983, 0.03712860462932741),
)
"""Its probabilities of the answers 0, 1, 2 of the first six units."""


def answered(seed: int = 20, *, units: int = 60, skills: tuple[float, ...] = SKILLS) -> tuple[pd.DataFrame, np.ndarray]:
    """Five annotators who know or guess, and what is true."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, units)
    rows = []
    for number, skill in enumerate(skills):
        for unit in range(units):
            if (unit + number) % 5 == 0:
                continue
            said = truth[unit] if rng.random() < skill else rng.choice(3, p=[0.2, 0.5, 0.3])
            rows.append((f"t{unit:02d}", f"w{number}", int(said)))
    return pd.DataFrame(rows, columns=["unit", "annotator", "answer"]), truth


def test_the_numbers_are_those_of_crowd_kit() -> None:
    answers, _ = answered()
    found = competences(answers, levels=[0, 1, 2])
    np.testing.assert_allclose(found.weights, COMPETENT, atol=1e-6)
    told = found.answers.iloc[:6]
    assert list(told["answer"]) == [int(np.argmax(each)) for each in FIRST]
    np.testing.assert_allclose(told["probability"], [max(each) for each in FIRST], atol=1e-6)


def test_annotators_are_told_apart_by_what_they_know_and_the_answers_are_found() -> None:
    answers, truth = answered(3, units=300)
    found = competences(answers, levels=[0, 1, 2])
    np.testing.assert_allclose(found.annotators["competence"], SKILLS, atol=0.12)
    assert (np.diff(found.annotators["competence"]) < 0).all()
    assert (found.annotators["n"] == 240).all()
    assert (found.annotators["low"] <= found.annotators["competence"]).all()
    assert (found.annotators["competence"] <= found.annotators["high"]).all()
    votes = pd.crosstab(answers["unit"], answers["answer"]).to_numpy()
    right = (found.answers["answer"].to_numpy() == truth).mean()
    assert right >= (votes.argmax(axis=1) == truth).mean()


def share_held(skills: tuple[float, ...], *, studies: int, units: int, habits: tuple[float, ...]) -> float:
    """How many of the intervals of simulated studies hold what an annotator knows; each is one that is shown.

    Args:
        skills: share of the units that each annotator knows.
        studies: simulated.
        units: of a study.
        habits: probability of each answer where an annotator guesses.
    """
    rng = np.random.default_rng(7)
    held = []
    for _ in range(studies):
        truth = rng.integers(0, len(habits), units)
        rows = [
            (
                f"t{unit:02d}",
                f"w{number}",
                int(truth[unit] if rng.random() < skill else rng.choice(len(habits), p=habits)),
            )
            for number, skill in enumerate(skills)
            for unit in range(units)
        ]
        answers = pd.DataFrame(rows, columns=["unit", "annotator", "answer"])
        found = competences(answers, levels=list(range(len(habits)))).annotators
        low, high = found["low"], found["high"]
        assert ((low <= found["competence"]) & (found["competence"] <= high)).all()
        assert (high > low).all()
        held += list((low <= np.array(skills)) & (np.array(skills) <= high))
    return float(np.mean(held))


EVEN, LEANING = (0.25, 0.25, 0.25, 0.25), (0.55, 0.25, 0.15, 0.05)
"""Habits of those who guess."""


@pytest.mark.parametrize("skills", [(0.9, 0.8, 0.7), (0.8,) * 5])
def test_intervals_of_three_and_of_five_annotators_hold_what_they_know(skills: tuple[float, ...]) -> None:
    """The usual cut of the likelihood holds 0.8 of five in .81 to .88 of them: who says all alike seems to know all."""
    assert share_held(skills, studies=8, units=12, habits=EVEN) >= 0.9


@pytest.mark.whole
@pytest.mark.parametrize(("units", "habits"), [(12, EVEN), (12, LEANING), (40, LEANING)])
@pytest.mark.parametrize("skills", [(0.9, 0.8, 0.7), (0.3, 0.3, 0.3), SKILLS, (0.8,) * 5])
def test_an_interval_of_95_percent_holds_what_an_annotator_knows(
    skills: tuple[float, ...], units: int, habits: tuple[float, ...]
) -> None:
    """Under the model's own assumptions: .93 to .99 in 20 to 100 studies each (the posterior's: .25 to .88)."""
    assert share_held(skills, studies=12, units=units, habits=habits) >= 0.9


@given(st.integers(0, 1000))
@settings(max_examples=2, deadline=None)
def test_neither_the_order_of_rows_nor_names_change_what_is_found(seed: int) -> None:
    answers, _ = answered(seed, units=20)
    rng = np.random.default_rng(seed)
    first = competences(answers, levels=[0, 1, 2])
    mixed = competences(answers.iloc[rng.permutation(len(answers))], levels=[0, 1, 2])
    pd.testing.assert_frame_equal(first.annotators, mixed.annotators)
    pd.testing.assert_frame_equal(first.answers, mixed.answers)


@given(st.integers(0, 1000))
@example(280)  # comes to rest slowly
@settings(max_examples=1, deadline=None)
def test_annotators_in_another_order_are_the_same_annotators(seed: int) -> None:
    answers, _ = answered(seed, units=60, skills=(0.9, 0.8, 0.7, 0.1))
    turned = answers.assign(annotator=answers["annotator"].map({f"w{each}": f"v{9 - each}" for each in range(4)}))
    one = competences(answers, levels=[0, 1, 2]).annotators["competence"].to_numpy()
    other = competences(turned, levels=[0, 1, 2]).annotators["competence"].to_numpy()[::-1]
    np.testing.assert_allclose(one, other, atol=1e-5)


def test_nobody_and_one_annotator_are_no_error() -> None:
    nothing = competences(pd.DataFrame(columns=["unit", "annotator", "answer"]), levels=[0, 1])
    assert nothing.annotators.empty
    assert nothing.answers.empty
    alone = competences(pd.DataFrame({"unit": ["a", "b"], "annotator": "x", "answer": [0, 1]}), levels=[0, 1])
    assert len(alone.annotators) == 1


@pytest.mark.parametrize(
    ("rows", "levels", "why"),
    [
        ([("a", "x", 0)], [0], "two answers"),
        ([("a", "x", 5)], [0, 1], "got '5'"),
        ([("a", "x", 0), ("a", "x", 1)], [0, 1], "once"),
    ],
)
def test_what_cannot_be_fitted_is_refused(rows: list[tuple[str, str, int]], levels: list[int], why: str) -> None:
    with pytest.raises(InvalidInput, match=why):
        competences(pd.DataFrame(rows, columns=["unit", "annotator", "answer"]), levels=levels)
