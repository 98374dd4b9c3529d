"""Rates of votes over populations of people and items that are known."""

import math

import numpy as np
import pytest
from scipy.special import expit

from core.features.human.crossed_votes import (
    Exchange,
    Parts,
    Rate,
    at_every_look,
    exchange,
    parts_of,
    rate,
    what_halves,
    whom_it_is_about,
)
from core.statistics.shares import share, wilson

MEAN, MAJORITY = "mean", "majority"


def tell(sums: np.ndarray) -> np.ndarray:
    """Mean of the votes, and whether two thirds of them are yes."""
    part = sums[:, 0] / sums[:, 1]
    return np.column_stack([part, part >= 2 / 3 - 1e-9])


def voted(answers: np.ndarray) -> Exchange:
    """Units from answers [items, annotators], NaN where there is none."""
    units, people = np.nonzero(~np.isnan(answers))
    votes = np.column_stack([answers[units, people], np.ones(len(units))])
    return exchange(votes, units, people, tell)


def answers(
    rng: np.random.Generator, items: int, people: int, *, each: int, leniency: float, base: float = 0.4
) -> np.ndarray:
    """Yes and no of people who differ in leniency, of items that differ by as much as SD 1; ``each`` votes an item."""
    p = expit(base + rng.normal(0, 1, (items, 1)) + rng.normal(0, leniency, (1, people)))
    given = (rng.random(p.shape) < p).astype(float)
    given[np.argsort(rng.random(p.shape), axis=1) >= each] = math.nan
    return given


def truth(each: int, leniency: float, base: float) -> np.ndarray:
    """Mean vote, and share of majorities of so many people, over all people and items."""
    rng = np.random.default_rng(9)
    p = expit(base + rng.normal(0, 1, (200_000, 1)) + rng.normal(0, leniency, (200_000, each)))
    yes = (rng.random(p.shape) < p).sum(axis=1)
    return tell(np.column_stack([yes, np.full(len(yes), each)])).mean(axis=0)


@pytest.mark.parametrize("leniency", [0.5, 1.0])
def test_intervals_hold_what_people_in_general_say(leniency: float) -> None:
    """Of 3, 5 and 10 annotators, means and majorities; intervals over items alone hold it in .5 to .9 of samples."""
    rng, samples, held, alone = np.random.default_rng(5), 120, [], 0
    for base in (0.4, 1.5):
        for people, each, items in ((3, 3, 60), (5, 5, 40), (5, 3, 60), (10, 10, 30)):
            aimed, own = truth(each, leniency, base), np.zeros(2)
            for _ in range(samples):
                found = voted(answers(rng, items, people, each=each, leniency=leniency, base=base))
                for column in range(2):
                    interval = rate(found, column, groups=np.arange(items)).interval()
                    own[column] += interval.low <= aimed[column] <= interval.high
                before = share(found.told[:, 1])
                alone += before.low <= aimed[1] <= before.high
            held.append(own / samples)
    assert 0.93 <= np.mean(held) <= 0.975
    assert np.min(held) >= 0.9  # two standard errors of so many samples below
    assert alone / samples / 8 < 0.9


def test_people_who_do_not_differ_cost_little_and_the_items_alone_are_never_undercut() -> None:
    rng, held, samples = np.random.default_rng(6), 0, 400
    (aimed, _) = truth(3, 0.0, 0.4)
    for _ in range(samples):
        given = answers(rng, 60, 4, each=3, leniency=0.0)
        found = rate(voted(given), 0, groups=np.arange(60)).interval()
        held += found.low <= aimed <= found.high
        spread = np.nanmean(given, axis=1).var(ddof=1) / 60
        low, high = wilson(found.estimate, found.estimate * (1 - found.estimate) / spread)
        assert found.high - found.low >= high - low
    assert held / samples >= 0.95


def test_whoever_looks_every_ten_votes_seldom_sees_a_true_half_excluded() -> None:
    """By intervals that hold for one look, 3 in 10 do."""
    samples, looks = 1000, np.arange(10, 401, 10)
    sums = np.cumsum(np.random.default_rng(7).random((samples, 400)) < 0.5, axis=1)[:, looks - 1]
    wrong = {True: 0, False: 0}
    for live in wrong:
        for row in sums:
            out = False
            for n, yes in zip(looks, row, strict=True):
                parts = Parts(yes / n * (1 - yes / n) / n, 0.0, 0.0, n, 3)
                found = Rate(yes / n, n, 3, parts, live=live).interval()
                out |= not found.low <= 0.5 <= found.high
            wrong[live] += out
    assert wrong[True] <= 0.05 * samples
    assert wrong[False] >= 0.2 * samples


def test_looking_while_people_who_differ_vote_on_one_item_after_the_other() -> None:
    rng, wrong, samples = np.random.default_rng(8), 0, 120
    for _ in range(samples):
        given = answers(rng, 120, 3, each=3, leniency=0.5, base=0.0)
        wrong += any(
            not found.low <= 0.5 <= found.high
            for n in range(10, 121, 10)
            for found in [rate(voted(given[:n]), 0, groups=np.arange(n), live=True).interval()]
        )
    assert wrong <= 0.05 * samples


def test_at_every_look_is_wider_than_at_one_and_about_three_errors() -> None:
    reaches = [at_every_look(n) for n in (10, 30, 100, 300, 1000)]
    assert all(2.9 < each < 4 for each in reaches)


def test_exchange_of_a_mean_is_the_variance_by_annotators() -> None:
    """In a full table the people's part and the rest are the variance of the annotators' means over their number."""
    given = answers(np.random.default_rng(1), 30, 5, each=5, leniency=1.0)
    parts = rate(voted(given), 0, groups=np.arange(30)).parts
    assert parts is not None
    assert parts.people + parts.rest == pytest.approx(given.mean(axis=0).var(ddof=1) / 5)
    assert parts.items + parts.rest == pytest.approx(max(given.mean(axis=1).var(ddof=1) / 30, parts.rest))
    halved = parts.grown(annotators=2)
    assert (halved.items, halved.people, halved.rest) == (parts.items, parts.people / 2, parts.rest / 2)


def test_the_order_of_items_and_the_names_of_people_change_nothing() -> None:
    rng = np.random.default_rng(2)
    given = answers(rng, 25, 6, each=3, leniency=0.7)
    one = rate(voted(given), 1, groups=np.arange(25)).interval()
    other = rate(voted(given[rng.permutation(25)][:, rng.permutation(6)]), 1, groups=np.arange(25)).interval()
    assert (one.low, one.estimate, one.high) == pytest.approx((other.low, other.estimate, other.high))


@pytest.mark.parametrize("said", [0.0, 1.0])
@pytest.mark.parametrize("items", [10, 40])
def test_votes_that_are_all_alike_have_an_interval_of_some_width(said: float, items: int) -> None:
    found = rate(voted(np.full((items, 3), said)), 0, groups=np.arange(items))
    interval = found.interval()
    assert interval.estimate == said
    assert interval.high - interval.low > 1 / (items + 10)
    assert "more items" in what_halves(found)
    assert interval.high - interval.low >= share(np.full(items, said)).high - share(np.full(items, said)).low - 1e-9


def test_constant_ratings_have_some_width_and_a_constant_difference_none_that_is_named() -> None:
    even = rate(voted(np.full((20, 3), 0.5)), 0, groups=np.arange(20)).interval()
    assert even.low < 0.5 < even.high
    apart = rate(voted(np.full((20, 3), 0.5)), 0, groups=np.arange(20), bounded=False).interval()
    assert math.isnan(apart.low)
    assert "equal" in apart.note


@pytest.mark.parametrize("people", [1, 2])
def test_one_or_two_annotators_have_no_interval_and_it_is_said_why(people: int) -> None:
    found = rate(
        voted(answers(np.random.default_rng(3), 30, people, each=people, leniency=0.5)), 0, groups=np.arange(30)
    )
    interval = found.interval()
    assert math.isnan(interval.low)
    assert "cannot tell how far people differ" in interval.note
    more = "2 more annotators" if people == 1 else "1 more annotator"
    assert what_halves(found).endswith(f" 3 can: {more} would give an interval.")
    assert "takes 3 annotators" in whom_it_is_about(people, live=False)


def test_few_items_one_source_and_nothing_at_all_have_no_interval() -> None:
    given = answers(np.random.default_rng(3), 12, 3, each=3, leniency=0.5)
    assert rate(voted(given), 0, groups=np.zeros(12)).note
    assert math.isnan(rate(voted(given), 0, groups=np.zeros(12)).interval().low)
    few = rate(voted(np.ones((2, 3))), 0, groups=np.arange(2))
    assert few.note == "no interval (n = 2, below 10)"
    assert math.isnan(few.interval().low)
    assert what_halves(few) == "No interval (n = 2, below 10): 8 more items would give an interval."
    alone = rate(voted(np.ones((2, 1))), 0, groups=np.arange(2))
    assert what_halves(alone).endswith(": 2 more annotators and 8 more items would give an interval.")
    one_source = rate(voted(given), 0, groups=np.zeros(12))
    assert what_halves(one_source).endswith(": 9 more items, each of another source, would give an interval.")
    enough = rate(voted(np.ones((10, 3))), 0, groups=np.arange(10))
    assert "halve" in what_halves(enough)
    assert rate(voted(given), 0, bottom=0, groups=np.arange(12)).n >= 0
    none = voted(np.full((0, 3), 0.5))
    assert math.isnan(rate(none, 0, groups=np.arange(0)).estimate)


def test_the_sentence_says_which_of_the_two_would_help() -> None:
    crowd = Rate(0.6, 100, 3, Parts(1e-5, 4e-3, 1e-5, 100, 3))
    assert "no number of items alone would" in what_halves(crowd)
    assert what_halves(crowd).startswith("2 more annotators would") or "3 more annotators" in what_halves(crowd)
    pictures = Rate(0.6, 20, 40, Parts(1e-2, 1e-5, 1e-5, 20, 40))
    assert "no number of annotators alone would" in what_halves(pictures)
    single = Rate(0.6, 20, 20, Parts(1e-5, 1e-5, 5e-3, 20, 20))
    assert "more annotators, or " in what_halves(single)
    even = Rate(0.6, 60, 6, Parts(2e-3, 2e-3, 1e-4, 60, 6))
    assert " with " in what_halves(even)
    now, steps = even.half(), 60
    assert even.half(annotators=3, items=3) < 0.65 * now
    assert even.half(items=steps) > now / 2


def test_of_a_finite_number_of_items_those_with_votes_are_known() -> None:
    rng = np.random.default_rng(4)
    people, influence = np.tile(np.arange(3), 40), rng.normal(0, 0.002, 120)
    few, all_there = (parts_of(4e-3, influence, people, sources=40, left=left) for left in (1.0, 0.0))
    assert all_there.items >= few.items  # what is left of the spread is told by its caller
    assert few.people == all_there.people
