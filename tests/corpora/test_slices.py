"""The multi-object slice: two to four prominent boxes, by hand and on COCO folders."""

import pytest

from core.corpora.coco import load_coco
from core.corpora.corpus_files import LeftOut
from core.corpora.curation import Instance, Slice, prominent
from core.corpora.schema import Box
from core.errors import InvalidInput
from tests.corpora.coco_folder import CocoFolder

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
