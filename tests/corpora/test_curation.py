"""The single-object slice: which rule an image breaks, and that it keeps the rest."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.corpora.corpus_files import LeftOut
from core.corpora.curation import CURATION_OPTIONS, Curation, Instance, largest, single_object, touching_sides
from core.corpora.schema import Box
from core.errors import InvalidInput

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
