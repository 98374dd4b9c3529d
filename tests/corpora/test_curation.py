"""The single-object slice: which rule an image breaks, and that it keeps the rest."""

from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.corpora.coco import load_coco
from core.corpora.corpus_files import LeftOut
from core.corpora.curation import (
    CURATION_OPTIONS,
    Curation,
    Instance,
    Slice,
    balance,
    cell_of,
    largest,
    prominent,
    quotas,
    single_object,
    stratified,
    touching_sides,
)
from core.corpora.schema import Box, Corpus, Item
from core.errors import InvalidInput
from tests.corpora.coco_folder import CocoFolder

WIDTH, HEIGHT = 200, 100
RULES = Curation()


def instance(x: float, y: float, width: float, height: float, *, label: str = "cat", crowd: bool = False) -> Instance:
    return Instance(label, Box(x, y, width, height), crowd=crowd)


def verdict(*instances: Instance, curation: Curation = RULES) -> str:
    try:
        single_object(instances, width=WIDTH, height=HEIGHT, curation=curation)
    except LeftOut as reason:
        return reason.code
    return "kept"


BIG = instance(20, 20, 60, 60)


@pytest.mark.parametrize(
    ("instances", "code"),
    [
        ([], "no-object"),
        ([BIG], "kept"),
        ([BIG, instance(120, 20, 30, 60)], "kept"),  # exactly twice the area
        ([BIG, instance(120, 20, 31, 60)], "not-dominant"),
        ([BIG, instance(120, 20, 50, 60, crowd=True)], "not-dominant"),
        ([instance(20, 20, 60, 60, crowd=True), instance(120, 20, 20, 20)], "crowd"),
        ([BIG, instance(20, 20, 18, 20)], "overlap"),  # 360 of 3600: IoU is 0.1, and below it is asked for
        ([BIG, instance(20, 20, 17, 20)], "kept"),
        ([instance(3, 20, 60, 60)], "truncated"),
        ([instance(3.5, 20, 60, 60)], "kept"),
        ([instance(20, 39.5, 60, 57.5)], "truncated"),
        ([instance(20, 20, 15, 60)], "small-object"),
        ([instance(20, 20, 16, 60)], "kept"),
    ],
)
def test_the_first_broken_rule_decides(instances: list[Instance], code: str) -> None:
    assert verdict(*instances) == code


def test_each_setting_moves_its_own_rule() -> None:
    assert verdict(BIG, instance(120, 20, 50, 60), curation=Curation(dominance=1.1)) == "kept"
    assert verdict(BIG, instance(20, 20, 25, 20), curation=Curation(max_iou=0.5)) == "kept"
    assert verdict(instance(0, 20, 60, 60), curation=Curation(max_touching_sides=1)) == "kept"
    assert verdict(instance(0, 0, 60, 60), curation=Curation(max_touching_sides=1)) == "truncated"
    assert verdict(instance(5, 20, 60, 60), curation=Curation(border=5)) == "truncated"
    assert verdict(instance(20, 20, 5, 60), curation=Curation(min_box_side=5)) == "kept"


@given(st.permutations([BIG, instance(120, 20, 20, 40, label="dog"), instance(160, 60, 10, 10, label="bird")]))
def test_the_order_of_the_annotations_does_not_matter(instances: list[Instance]) -> None:
    assert single_object(instances, width=WIDTH, height=HEIGHT, curation=RULES) is BIG


def test_a_sentence_names_the_objects_and_what_is_asked_for() -> None:
    with pytest.raises(LeftOut, match=r"\(cat\) is only 1.20 × the next \(dog\); 2 × is asked for"):
        single_object([BIG, instance(120, 20, 50, 60, label="dog")], width=WIDTH, height=HEIGHT, curation=RULES)


def test_touching_sides_are_named() -> None:
    assert touching_sides(Box(0, 0, 200, 100), WIDTH, HEIGHT, border=0) == ("left", "top", "right", "bottom")
    assert touching_sides(Box(2, 2, 100, 97), WIDTH, HEIGHT, border=1) == ("bottom",)


def test_the_largest_is_never_a_crowd() -> None:
    assert largest([instance(0, 0, 90, 90, crowd=True), BIG]) is BIG
    assert largest([instance(0, 0, 90, 90, crowd=True)]) is None


def test_settings_come_from_the_text_of_a_command_line() -> None:
    assert Curation.from_options({"dominance": "1.5", "max_touching_sides": "4"}) == Curation(1.5, max_touching_sides=4)
    assert set(CURATION_OPTIONS) == set(Curation.__dataclass_fields__)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"dominance": "much"}, "dominance must be a number, got 'much'"),
        ({"dominance": "0.5"}, "dominance must be at least 1"),
        ({"dominance": "nan"}, "dominance must be at least 1"),
        ({"max_iou": 0}, "max_iou must lie in"),
        ({"border": -1}, "border must be at least 0"),
        ({"max_touching_sides": 5}, "max_touching_sides must lie in 0..4"),
        ({"min_box_side": 0}, "min_box_side must be at least 1"),
    ],
)
def test_a_setting_that_breaks_its_rule_is_refused(options: dict[str, object], sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        Curation.from_options(options)


MULTI = Slice.from_options("multi-object", {})


def boxes(*sides: tuple[float, float, float, float], **marks: object) -> list[Instance]:
    return [Instance(f"thing {n}", Box(*each), **marks) for n, each in enumerate(sides)]  # type: ignore[arg-type]


def chosen(instances: list[Instance]) -> str:
    found = MULTI.choose(instances, width=100, height=100)
    assert found is not None
    return found.label


def test_the_largest_of_two_to_four_prominent_objects_is_the_item() -> None:
    two = boxes((5, 5, 25, 20), (40, 40, 30, 30))
    assert chosen(two) == "thing 1"
    small = boxes((90, 90, 5, 5)) * 3  # below a twentieth of the image, so they do not count
    assert chosen([*two, *small]) == "thing 1"
    assert chosen(boxes(*[(5 + 23 * n, 5, 22, 25 + n) for n in range(4)])) == "thing 3"


@pytest.mark.parametrize("sides", [[(5, 5, 25, 20)], [(5 + 18 * n, 5, 17, 30) for n in range(5)], []])
def test_one_and_five_are_not_a_few(sides: list[tuple[float, float, float, float]]) -> None:
    with pytest.raises(LeftOut) as told:
        chosen(boxes(*sides))
    assert told.value.code == "not-multi-object"


def test_a_box_of_exactly_a_twentieth_counts_and_one_below_does_not() -> None:
    exact, below = boxes((5, 5, 25, 20), (40, 40, 25, 19.9))
    assert prominent([exact, below], width=100, height=100, border=3) == [exact]


def test_crowds_flaws_and_two_sided_cuts_do_not_count() -> None:
    crowd = boxes((40, 40, 30, 30), crowd=True)
    flawed = boxes((40, 40, 30, 30), flaws=("occluded",))
    corner, edge = boxes((0, 0, 30, 30), (0, 40, 30, 30))
    assert prominent([*crowd, *flawed, corner, edge], width=100, height=100, border=3) == [edge]


def test_prominent_objects_must_not_overlap_by_half() -> None:
    with pytest.raises(LeftOut) as told:
        chosen(boxes((10, 10, 40, 40), (15, 10, 40, 40)))  # IoU 35 / 45
    assert told.value.code == "overlap"
    assert chosen(boxes((10, 10, 40, 40), (25, 10, 40, 41))) == "thing 1"  # IoU 1000 / 2240


def test_coco_gives_the_slice_with_its_other_objects(coco_folder: CocoFolder) -> None:
    coco_folder.image(1)
    coco_folder.instance(1, [10, 10, 40, 40])
    coco_folder.instance(1, [60, 10, 30, 40], category_id=2)
    coco_folder.image(2)
    coco_folder.instance(2, [10, 10, 40, 40])
    corpus = load_coco.load(coco_folder.write(), slice="multi-object")
    assert [(item.id, item.label, [each.label for each in item.others]) for item in corpus.items] == [
        ("val2017-1", "cat", ["dog"])
    ]
    assert [each.code for each in corpus.rejected] == ["not-multi-object"]
    assert "multi-object: 2 to 4 boxes of at least 5% of the image" in corpus.description


def test_settings_of_another_slice_are_refused() -> None:
    with pytest.raises(InvalidInput, match="dominance belongs to slice=single-object"):
        Slice.from_options("multi-object", {"dominance": 3})
    assert Slice.from_options("multi-object", {"border": "5"}).curation is not None


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
