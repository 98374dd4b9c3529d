"""A sample that is even over category and coverage."""

from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.corpora.curation import balance, cell_of, quotas, stratified
from core.corpora.schema import Box, Corpus, Item
from core.errors import InvalidInput

SIDES = (20, 40, 60, 80, 100)
KINDS = ("animal", "food", None)


def corpus(cells: list[tuple[int, int]]) -> Corpus:
    """Items of 100 × 100 px by (place of the category, place of the box's side)."""
    items = [
        Item(f"i{n:03d}", "made", None, 100, 100, category=KINDS[kind], box=Box(0, 0, SIDES[side], SIDES[side]))
        for n, (kind, side) in enumerate(cells)
    ]
    return Corpus("made", tuple(items))


CELLS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 4)), min_size=1, max_size=60)


@given(CELLS, st.integers(1, 80), st.integers(0, 5))
def test_a_sample_is_as_even_as_its_cells_allow(cells: list[tuple[int, int]], count: int, seed: int) -> None:
    whole = corpus(cells)
    drawn = stratified(whole, count, seed=seed)
    assert len(drawn) == min(count, len(whole))
    sizes, got = Counter(map(cell_of, whole.items)), Counter(map(cell_of, drawn.items))
    unfinished = [got[cell] for cell in sizes if got[cell] < sizes[cell]]
    if unfinished:  # no cell that has items left gave two fewer than any other gave
        assert max(got.values()) - min(unfinished) <= 1


@given(CELLS, st.integers(1, 30), st.integers(0, 30))
def test_a_smaller_sample_is_part_of_a_larger_one(cells: list[tuple[int, int]], count: int, more: int) -> None:
    whole = corpus(cells)
    small, large = (stratified(whole, each) for each in (count, count + more))
    assert {item.id for item in small.items} <= {item.id for item in large.items}


@given(CELLS, st.integers(1, 30))
def test_the_order_of_the_items_does_not_matter(cells: list[tuple[int, int]], count: int) -> None:
    whole = corpus(cells)
    mixed = list(whole.items)
    Random(1).shuffle(mixed)
    other = stratified(Corpus("made", tuple(mixed)), count)
    drawn = stratified(whole, count)
    assert {item.id for item in drawn.items} == {item.id for item in other.items}
    assert [item.id for item in drawn.items] == sorted(item.id for item in drawn.items)


def test_fewer_items_than_cells_come_from_cells_all_over() -> None:
    whole = corpus([(kind, side) for kind in range(3) for side in range(5)])
    found = Counter(item.category for seed in range(60) for item in stratified(whole, 3, seed=seed).items)
    assert all(30 < found[kind] < 90 for kind in KINDS)  # 60 expected of each


def test_another_seed_draws_others() -> None:
    whole = corpus([(0, 0)] * 60)
    drawn = {tuple(item.id for item in stratified(whole, 10, seed=seed).items) for seed in range(5)}
    assert len(drawn) == 5


def test_every_item_of_a_cell_is_drawn_about_as_often() -> None:
    whole = corpus([(0, 0)] * 10)
    times = Counter(item.id for seed in range(400) for item in stratified(whole, 3, seed=seed).items)
    assert all(80 < times[item.id] < 160 for item in whole.items)  # 120 expected, sd about 9


def test_quotas_are_shared_by_hand() -> None:
    sizes = {("a", "x"): 1, ("b", "x"): 5, ("c", "x"): 9}
    assert quotas(sizes, 8) == {("a", "x"): 1, ("b", "x"): 4, ("c", "x"): 3}
    assert quotas(sizes, 100) == sizes


def test_no_sample_of_nothing() -> None:
    with pytest.raises(InvalidInput, match="sample must be at least 1, got 0"):
        stratified(corpus([(0, 0)]), 0)


def test_the_balance_counts_every_cell() -> None:
    whole = corpus([(0, 0), (0, 0), (0, 4), (1, 1), (2, 4)])
    bins, rows = balance(whole.items)
    assert bins == ("0-10", "10-20", "90-100")
    assert rows == [("animal", (2, 0, 1)), ("food", (0, 1, 0)), ("none", (0, 0, 1))]
