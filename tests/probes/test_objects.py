"""Number and size of the mentioned objects: sentences by hand, shared draws, thresholds, and their crossings."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.corpora.schema import Box, Item, Mask, SceneObject
from core.errors import ProbeRejected
from core.probes.base import Axis, Expectation, Subject, Variant
from core.probes.families.objects import areas, distances
from core.probes.pairs import Pairs
from core.probes.registry import catalogue, select, with_baselines
from core.probes.words.templates import denied_objects, draw_keys, named_objects, shuffled_objects
from tests.probes.painted import ground

HEIGHT, WIDTH = 300, 400


def block(label: str, x: int, width: int, height: int, *, masked: bool = True) -> SceneObject:
    array = np.zeros((HEIGHT, WIDTH), bool)
    array[:height, x : x + width] = True
    return SceneObject(label, Box(x, 0, width, height), Mask.from_array(array) if masked else None)


TABLE = Item(
    "table",
    "test",
    None,
    WIDTH,
    HEIGHT,
    label="cup",
    category="kitchen",
    box=Box(0, 200, 50, 50),
    others=(block("dog", 100, 150, 120), block("apple", 300, 20, 10), block("apple", 350, 10, 10, masked=False)),
)
SUBJECT = Subject("template", "en", 0, "There is a cup.")


def made(name: str, item: Item = TABLE) -> Variant:
    found = Pairs(item, ground(item.height, item.width)).make(catalogue().get(name), SUBJECT)
    if isinstance(found, ProbeRejected):
        raise found
    return found


def code(name: str, item: Item) -> str:
    with pytest.raises(ProbeRejected) as caught:
        made(name, item)
    return caught.value.code


@pytest.mark.parametrize(
    ("labels", "affirmed", "denied"),
    [
        (["dog"], "There is a dog.", "There is no dog."),
        (["dog", "umbrella"], "There is a dog and an umbrella.", "There is no dog and no umbrella."),
        (["dog", "cat", "chair"], "There is a dog, a cat and a chair.", "There is no dog, no cat and no chair."),
        (["scissors", "cup"], "There are scissors and a cup.", "There are no scissors and no cup."),
        (["broccoli", "skis"], "There is broccoli and skis.", "There is no broccoli and no skis."),
    ],
)
def test_objects_are_named_and_denied(labels: list[str], affirmed: str, denied: str) -> None:
    assert named_objects(labels) == affirmed
    assert denied_objects(labels) == denied


@pytest.mark.parametrize(
    ("labels", "keys", "shuffled"),
    [
        (["dog"], (0.3, 0.2, 0.1, 0.9), "A dog is there."),
        (["dog", "cat"], (0.9, 0.8, 0.7, 0.6, 0.5, 0.1), "And a cat a dog is there."),
        (["dog", "cat", "cup"], (0.5, 0.1, 0.4, 0.3, 0.2, 0.6), "Is a cup a cat a dog, there and."),
    ],
)
def test_a_shuffle_sorts_the_words_by_their_keys(labels: list[str], keys: tuple[float, ...], shuffled: str) -> None:
    assert shuffled_objects(labels, keys) == shuffled


@given(st.integers(0, 2**32 - 1))
def test_shuffles_of_one_two_and_three_objects_are_one_permutation(seed: int) -> None:
    keys = draw_keys(np.random.default_rng(seed), 3)

    def tokens(count: int) -> list[str]:
        text = shuffled_objects(["dog", "cat", "cup"][:count], keys).lower().rstrip(".").replace(",", "")
        for noun in ("dog", "cat", "cup"):
            text = text.replace(f"a {noun}", noun)
        return text.split()

    one, two, three = tokens(1), tokens(2), tokens(3)
    assert one != ["there", "is", "dog"]
    assert [each for each in two if each in one] == one
    assert [each for each in three if each in two] == two


def test_the_objects_of_an_item_are_the_same_in_every_probe() -> None:
    named = [str(made(f"mention:{count}").facts["named"]).split(", ") for count in (1, 2, 3)]
    assert sorted(named[2]) == ["apple", "cup", "dog"]
    assert (named[0], named[1]) == (named[2][:1], named[2][:2])
    assert made("mention-order").facts["named"] == ", ".join(named[1][::-1])
    assert made("mention:3-negated").caption == denied_objects(named[2])
    assert made("mention:2-shuffled").facts["named"] == ", ".join(named[1])
    beyond = made("mention:3-absent")
    assert str(beyond.facts["named"]).split(", ") == named[1]
    assert beyond.facts["absent"] not in ("apple", "cup", "dog")
    assert code("mention:1", replace(TABLE, others=TABLE.others[:1])) == "few-objects"
    assert code("mention:1", replace(TABLE, label=None)) == "no-label"


def test_an_area_is_the_sum_of_masks_else_of_boxes() -> None:
    assert areas(TABLE) == {"cup": 2500.0, "dog": 18000.0, "apple": 300.0}


def test_a_distance_is_that_of_the_instances_centres_each_by_its_area() -> None:
    item = Item(
        id="i",
        corpus="c",
        image_path=None,
        width=WIDTH,
        height=HEIGHT,
        label="cup",
        box=Box(0, 0, 100, 100),
        others=(SceneObject("cup", Box(200, 100, 200, 200)), block("dog", 130, 180, 40)),
    )
    half = math.hypot(WIDTH, HEIGHT) / 2
    first, second = math.hypot(50 - 200, 50 - 150), math.hypot(300 - 200, 200 - 150)
    found = distances(item)
    assert found["cup"] == pytest.approx((10_000 * first + 40_000 * second) / 50_000 / half)
    dog = item.others[1]
    rows, columns = np.nonzero(dog.mask.to_array()) if dog.mask else (np.array([]), np.array([]))
    away = math.hypot(columns.mean() + 0.5 - 200, rows.mean() + 0.5 - 150) / half
    assert found["dog"] == pytest.approx(away)
    small = made("size:small").facts
    told = distances(TABLE)
    assert (small["small_centre"], small["large_centre"]) == (told[str(small["small"])], told["dog"])


def test_two_objects_differ_by_more_than_the_threshold() -> None:
    small, large = made("size:small"), made("size:large")
    assert small.facts["large"] == large.facts["said"] == "dog"
    assert large.caption == "There is a dog."
    assert small.facts["said"] in ("cup", "apple")
    assert float(small.facts["large_area"]) - float(small.facts["small_area"]) > 15_000
    assert small.facts["ratio"] == float(small.facts["large_area"]) / float(small.facts["small_area"])
    assert made("size:small-shuffled").facts["said"] == small.facts["said"]
    assert made("size:small-shuffled").caption != small.caption


@pytest.mark.parametrize(
    ("height", "px", "share"),
    [(116, "similar-size", "made"), (117, "made", "made"), (56, "similar-size", "similar-size")],
)
def test_thresholds_are_strict_and_one_is_free_of_scale(height: int, px: str, share: str) -> None:
    # 150 × 116 − 2400 = 15 000 px² exactly, and 5 % of the image is 6 000 px²: 150 × 56 − 2 400 is just that.
    item = replace(TABLE, box=Box(0, 200, 48, 50), others=(block("dog", 100, 150, height),))
    for name, expected in (("size:small", px), ("size:small-share", share)):
        found = Pairs(item, ground(HEIGHT, WIDTH)).make(catalogue().get(name), SUBJECT)
        assert (found.code if isinstance(found, ProbeRejected) else "made") == expected
    assert code("size:large", replace(TABLE, others=())) == "few-objects"


def test_what_is_true_answers_and_what_is_broken_must_drop() -> None:
    known = catalogue()
    for name in ("mention:1", "mention:2", "mention:3", "size:small", "size:large", "size:large-share"):
        assert known.get(name).expectation is Expectation.RESPONSE
    assert known.get("mention-order").expectation is Expectation.INVARIANT
    assert (known.get("mention:3").baseline, known.get("size:large").baseline) == ("mention:2", "size:small")
    assert known.get("mention:3-shuffled").baseline == "mention:3"
    assert all(probe.axis is Axis.OBJECT and not probe.default for probe in select(["object"]))
    needed = {probe.name for probe in with_baselines(select(["mention:3-negated"]))}
    assert needed == {"mention:1", "mention:2", "mention:3", "mention:3-negated"}
