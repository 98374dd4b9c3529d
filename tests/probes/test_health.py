"""Caption health, worked out by hand."""

from dataclasses import replace

import pytest

from core.corpora.schema import Box, Item, SceneObject
from core.probes.words.categories import vocabulary
from core.probes.words.health import (
    distinct,
    ends_hollow,
    ends_wrongly,
    known_instances,
    objects_named,
    objects_there,
    repeated,
)


@pytest.mark.parametrize(
    ("caption", "counts"),
    [
        ("A dog runs.", [0, 0, 0, 0]),
        ("A man and a man on a bench", [3, 1, 0, 0]),
        ("area area area area", [3, 2, 1, 0]),
        ("the cat, the cat, the cat", [4, 3, 2, 1]),
        ("", [0, 0, 0, 0]),
    ],
)
def test_rep_n_counts_what_was_there_before(caption: str, counts: list[int]) -> None:
    assert [repeated(caption, n) for n in (1, 2, 3, 4)] == counts


def test_distinct_n_is_over_all_captions() -> None:
    assert distinct(["a dog", "a dog runs"], 1) == (3, 5)
    assert distinct(["a dog", "a dog runs"], 2) == (2, 3)
    assert distinct([], 1) == (0, 0)


@pytest.mark.parametrize(
    ("caption", "wrong"),
    [
        ("A man sits on a", True),
        ("A man with the.", True),
        ("A dog and", True),
        ("A bowl OF", True),
        ("A man looks up.", False),
        ("A plane takes off.", False),
        ("A cat looks behind", False),
        ("", False),
        ("...", False),
    ],
)
def test_an_ending_is_wrong_where_the_sentence_broke_off(caption: str, wrong: bool) -> None:
    assert ends_wrongly(caption) is wrong


@pytest.mark.parametrize(
    ("caption", "hollow"),
    [
        ("A cat in the background of setting.", True),
        ("A cat in the background of setting area area", True),
        ("A cat with a background of a scene scene", True),
        ("A cat area area area", True),
        ("A red red", True),
        ("A cat on a on a", True),
        ("A cat in the background.", False),
        ("A setting area for a cat", False),
        ("cat", False),
        ("", False),
    ],
)
def test_an_ending_is_hollow_where_it_is_a_known_tail_or_says_its_words_again(caption: str, hollow: bool) -> None:
    assert ends_hollow(caption) is hollow


def scene(name: str, label: str, *others: str) -> Item:
    things = tuple(SceneObject(each, Box(0, 0, 1, 1)) for each in others)
    return Item(name, "c", None, 9, 9, label=label, box=Box(0, 0, 5, 5), others=things)


def test_objects_are_counted_by_their_longest_names() -> None:
    bat = objects_named("A man with a baseball bat and two dogs.")
    assert bat == (frozenset({"person"}), frozenset({"baseball bat"}), frozenset({"dog"}))
    assert objects_named("Nothing at all.") == ()


def test_what_is_there_is_annotated_or_named_by_people() -> None:
    item = scene("a", "dog", "person")
    assert objects_there(item, ["A dog beside a car."]) >= {"dog", "person", "car"}
    assert "car" not in objects_there(item, [])


def test_instances_are_known_where_several_things_are_annotated_with_cocos_names() -> None:
    every = frozenset(vocabulary())
    several, one, strange = (
        replace(each, looked_for=every)
        for each in (scene("a", "dog", "person"), scene("b", "cat"), scene("c", "quasar"))
    )
    assert known_instances([several, one, strange]) == {"a", "b"}
    assert known_instances([one]) == frozenset()
    assert known_instances([replace(several, looked_for=every - {"chair"}), one]) == {"b"}
