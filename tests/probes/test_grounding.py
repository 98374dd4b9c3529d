"""Swapped objects, colours and numbers, tails and distractors: worked by hand, with what is refused."""

from collections import Counter
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.corpora.coco import load_coco
from core.corpora.labels import load_taxonomy
from core.corpora.schema import Box, Item, SceneObject
from core.errors import ProbeRejected
from core.probes.base import HUMAN, TEMPLATE, Expectation, Subject, Variant
from core.probes.families.tails import last_noun_phrase, tail_of_length, tails, with_tail
from core.probes.pairs import Pairs, subjects_of
from core.probes.registry import catalogue, select
from core.probes.rejections import CODES
from core.probes.words.categories import absence, absent, left_open, surest, vocabulary
from core.probes.words.mentions import Mention, mentions, neighbours, replaced, target_mentions
from core.seeds import RUN_SEED
from tests.probes.painted import ground, result_or_code


def thing(label: str, *, crowd: bool = False) -> SceneObject:
    return SceneObject(label, Box(5, 5, 2, 2), crowd=crowd)


STREET = Item(
    "street",
    "test",
    None,
    9,
    8,
    captions={"en": ("A red bus standing near two dogs.", "A bus and a puppy on a street near a sofa.")},
    label="bus",
    category="vehicle",
    box=Box(1, 1, 3, 3),
    others=(thing("dog"), thing("dog"), thing("bench")),
    looked_for=frozenset(vocabulary()),
)


def made(
    name: str,
    caption: str = STREET.captions["en"][0],
    item: Item = STREET,
    language: str = "en",
    seed: int = RUN_SEED,
) -> Variant:
    subject = Subject(HUMAN if HUMAN in catalogue().get(name).subjects else TEMPLATE, language, 0, caption)
    found = Pairs(item, ground(8, 9), seed=seed).make(catalogue().get(name), subject)
    if isinstance(found, ProbeRejected):
        raise found
    return found


def code(name: str, caption: str, item: Item = STREET, language: str = "en") -> str:
    with pytest.raises(ProbeRejected) as caught:
        made(name, caption, item, language)
    return caught.value.code


@pytest.mark.parametrize(
    ("label", "open_"),
    [
        ("houseplant", {"potted plant"}),
        ("furniture", {"bench", "chair", "couch", "bed", "dining table"}),
        ("Food", {"banana", "apple", "sandwich", "orange", "broccoli", "carrot", "hot dog", "pizza", "donut", "cake"}),
        ("barge", {"boat"}),
        ("limousine", {"car"}),
        ("vehicle", {"bicycle", "car", "motorcycle", "airplane", "bus", "train", "truck", "boat"}),
        ("duck", {"bird"}),
        ("penguins", {"bird"}),
        ("mobile phone", {"cell phone"}),
        ("cat", {"cat"}),
        ("dining table", {"dining table"}),
        ("gravestone", set()),
    ],
)
def test_beside_a_kind_of_a_category_or_what_it_is_a_kind_of_nobody_knows(label: str, open_: set[str]) -> None:
    """The kinds are those of Open Images' hierarchy of 600 classes."""
    assert left_open(label) == open_
    item = replace(STREET, captions={}, others=(thing(label),))
    assert not open_ & set(absent(item))


def test_absence_is_verified_where_the_source_looked_for_the_category_and_such_are_named_first() -> None:
    item = replace(STREET, looked_for=frozenset({"television", "bus", "Cat", "vehicle"}))
    assert {label for label in absent(item) if absence(item, label)["falsity"] == "verified"} == {"tv", "cat"}
    assert surest(item, ("zebra", "cat", "cow")) == ("cat",)
    assert surest(item, ("zebra", "cow")) == ("zebra", "cow")
    swapped = made("grounding:random", item=item)
    assert (swapped.facts["by"], swapped.facts["falsity"]) == ("tv", "verified") or swapped.facts["by"] == "cat"
    unknown = replace(item, looked_for=frozenset())
    assert made("distractor", item=unknown).facts["falsity"] == "presumed"
    assert made("number-word", item=unknown).facts["falsity"] == "presumed"
    assert made("foil", item=unknown).facts["falsity"] == "presumed"


def test_further_names_of_a_label_are_known_to_absence_and_mentions() -> None:
    """Objects365 says *Handbag/Satchel* and *Moniter/TV*; what has a second name is not absent under it either."""
    toasting = replace(STREET, synonyms={"bus": ("toaster",)})
    assert "toaster" in absent(STREET)
    assert "toaster" not in absent(toasting)
    shop = replace(
        STREET,
        label="monitor",
        category="electronics",
        others=(thing("handbag"),),
        captions={},
        synonyms={"monitor": ("TV",), "handbag": ("satchel",)},
    )
    said = "Two satchels beside a TV."
    assert [(each.label, each.many) for each in target_mentions(shop, said)] == [("handbag", True), ("tv", False)]
    assert [each.label for each in target_mentions(shop, "A satchel.")] == ["handbag"]
    with pytest.raises(ProbeRejected, match="names no annotated category"):
        target_mentions(replace(shop, synonyms={}), said)


@pytest.mark.parametrize(
    ("caption", "found"),
    [
        ("A red bus standing near two dogs.", [("bus", False), ("dog", True)]),
        ("Three stop signs beside a fire hydrant.", [("stop sign", True), ("fire hydrant", False)]),
        ("A teddy bear and a bear", [("teddy bear", False), ("bear", False)]),
        ("Some hot dogs with broccoli", [("hot dog", True), ("broccoli", True)]),
        ("People with skis and a pair of scissors", [("person", True), ("skis", True)]),
        ("A bus stop near the train tracks", []),
        ("A bowl of noodles.", []),
        ("An orange cat", [("cat", False)]),
        ("Sheep in a field", [("sheep", True)]),
        ("A sheep in the snow", [("sheep", False)]),
        ("The sheep in the snow", []),
        ("", []),
        ("A microwave oven beside an oven.", [("oven", False)]),
        ("A stuffed bear on a bench.", [("bench", False)]),
        ("A dog stands next to a car.", [("dog", False), ("car", False)]),
        ("A cats sits.", []),
        ("A woman lies in bed with a cat.", [("cat", False)]),
        ("A bear cub in a bear den.", []),
        ("A woman cutting cake.", []),
        ("A girl kicks cakes.", [("cake", True)]),
        ("Desserts from cookies to cake.", []),
        ("Cake on a bench.", [("cake", False), ("bench", False)]),
        ("Two giraffe behind a bench.", [("giraffe", True), ("bench", False)]),
    ],
)
def test_a_mention_is_a_categorys_own_name_that_ends_its_phrase(caption: str, found: list[tuple[str, bool]]) -> None:
    assert [(each.label, each.many) for each in mentions(caption)] == found


@pytest.mark.parametrize(
    ("caption", "edited"),
    [
        ("A polar bear on a rock.", "A zebra on a rock."),
        ("Two white polar bears in a zoo.", "Two white zebras in a zoo."),
        ("a blue pickup truck stopped", "a blue zebra stopped"),
        ("An office chair at a desk.", "A zebra at a desk."),
        ("a red fire hydrant on a street", "a red zebra on a street"),
        ("A man stands on a fishing boat.", "A man stands on a zebra."),
        ("A classic orange ten speed bicycle.", "A classic orange zebra."),
        ("Cutting up a giant hot dog cake.", "Cutting up a giant zebra."),
        ("A coast guard boat at dock.", "A zebra at dock."),
        ("The car drives near two large trucks.", "The car drives near two large zebras."),
        ("A fork holding some cooked pizza.", "A fork holding some cooked zebra."),
        ("A black panda bear.", "A black zebra."),
        ("A teddy bear umbrella.", "A zebra."),
    ],
)
def test_a_longer_name_gives_way_as_a_whole(caption: str, edited: str) -> None:
    assert replaced(caption, mentions(caption)[-1], "zebra") == edited


@pytest.mark.parametrize(
    ("caption", "place", "label", "edited"),
    [
        ("A bus drives.", (1, 1, False), "airplane", "An airplane drives."),
        ("An elephant, alone.", (1, 1, False), "dog", "A dog, alone."),
        ("He sees an apple.", (3, 3, False), "knife", "He sees a knife."),
        ("Two dogs play.", (1, 1, True), "sheep", "Two sheep play."),
        ("Buses wait.", (0, 0, True), "bench", "Benches wait."),
        ("Three wine glasses (empty).", (1, 2, True), "knife", "Three knives (empty)."),
        ("some dogs", (1, 1, True), "scissors", "some scissors"),
    ],
)
def test_number_article_and_capital_are_refitted(
    caption: str, place: tuple[int, int, bool], label: str, edited: str
) -> None:
    first, last, many = place
    assert replaced(caption, Mention(first, last, "dog", many), label) == edited


def test_the_three_kinds_replace_one_mention() -> None:
    kinds = {kind: made(f"grounding:{kind}") for kind in ("plausible", "object", "random")}
    facts = {kind: each.facts for kind, each in kinds.items()}
    assert len({each["replaced"] for each in facts.values()}) == 1
    assert facts["object"]["by"] in ("bench", "dog", "bus")
    assert (facts["object"]["falsity"], facts["plausible"]["falsity"]) == ("grounded", "verified")
    taxonomy = load_taxonomy("coco")
    said = str(facts["plausible"]["replaced"])
    assert taxonomy.category(str(facts["plausible"]["by"])) == taxonomy.category(said)
    assert taxonomy.category(str(facts["random"]["by"])) != taxonomy.category(said)
    there = {"bus", "dog", "bench", "couch"}  # a caption says "sofa"
    assert there.isdisjoint({facts["plausible"]["by"], facts["random"]["by"]})


@pytest.mark.parametrize(
    ("caption", "others", "by"),
    [
        ("A bus on the left.", ("hen", "gas cylinder"), {"hen", "gas cylinder"}),
        ("A bus on the left, near two hens.", ("hen", "gas cylinder"), {"gas cylinder"}),
        ("A bus on the left and a corn cob.", ("ear of corn", "hen"), {"hen"}),
        ("A bus on the left.", ("hen", "dog"), {"hen", "dog"}),
        ("A bus on the left.", ("tongs",), set()),
    ],
)
def test_an_object_that_only_the_source_has_a_label_for_may_stand_in_anothers_place(
    caption: str, others: tuple[str, ...], by: set[str]
) -> None:
    item = replace(STREET, others=tuple(map(thing, others)), captions={"en": (caption,)})
    (mention,) = target_mentions(item, caption)[:1]
    assert set(neighbours(item, mention, caption)) == by
    if by:
        edited = made("grounding:object", caption, item)
        assert edited.caption == caption.replace("bus", str(edited.facts["by"]), 1)


@pytest.mark.parametrize(
    ("caption", "by"),
    [
        ("A bus stops.", {"hen"}),  # a car may stop, too
        ("A bus on the left.", {"hen", "car"}),
        ("A man with a bus.", set()),
        ("A man next to a red bus.", set()),
        ("A man, a bus and a tree.", set()),
        ("A bus, and a man.", set()),
        ("A bus and a man.", set()),
        ("A man on the bus.", {"hen"}),
    ],
)
def test_another_object_of_the_picture_stands_where_the_caption_is_not_true_of_it_as_well(
    caption: str, by: set[str]
) -> None:
    item = replace(STREET, others=(thing("hen"), thing("car")), captions={"en": (caption,)})
    results = [result_or_code(partial(made, "grounding:object", caption, item, seed=seed)) for seed in range(12)]
    found = {each if isinstance(each, str) else each.facts["by"] for each in results}
    assert found == (by or {"no-replacement"})


def test_foils_are_siblings_each_once() -> None:
    item = replace(STREET, others=())
    found = [made("foil" if place == 1 else f"foil:{place}", item=item) for place in range(1, 8)]
    by = [str(each.facts["by"]) for each in found]
    assert sorted(by) == ["airplane", "bicycle", "boat", "car", "motorcycle", "train", "truck"]
    assert all(each.facts["among"] == 7.0 for each in found)
    assert code("foil:8", STREET.captions["en"][0], item) == "no-replacement"
    assert [probe.name for probe in select(["foil"])] == ["foil"]
    assert len(select(["foil-siblings"])) == 8


@pytest.mark.parametrize(
    ("name", "caption", "reason"),
    [
        ("foil", "A puppy on a street.", "no-mention"),
        ("foil", "A zebra.", "no-mention"),
        ("grounding:object", "A bus, dogs and a bench.", "no-replacement"),
        ("colour-word", "A bus.", "no-colour-word"),
        ("colour-word", "A bus that is red.", "no-colour-word"),
        ("number-word", "Three dogs.", "no-number-word"),
        ("number-word", "A bus.", "no-number-word"),
        ("number-word", "Two cats.", "no-number-word"),
        ("hollow-tail", " . ", "unchanged"),
        ("hollow-tail:repeat", "It is red.", "few-nouns"),
    ],
)
def test_what_cannot_be_swapped_is_refused_with_its_reason(name: str, caption: str, reason: str) -> None:
    assert code(name, caption) == reason


@pytest.mark.parametrize("name", ["foil", "grounding:random", "colour-word", "number-word", "hollow-tail"])
def test_other_languages_are_refused(name: str) -> None:
    assert code(name, "Ein roter Bus.", language="de") == "language-not-edited"


def test_a_person_has_no_sibling() -> None:
    item = replace(STREET, label="person", category="person", others=(), captions={"en": ("A person.",)})
    assert code("foil", "A person.", item) == "no-replacement"
    assert made("grounding:random", "A person.", item).facts["replaced"] == "person"


def test_a_colour_gives_way_to_one_that_no_caption_names() -> None:
    edited = made("colour-word")
    assert (edited.facts["replaced"], edited.facts["falsity"]) == ("red", "presumed")
    colour = str(edited.facts["by"])
    assert colour not in ("red", "grey")
    assert edited.caption == f"A{'n' * (colour == 'orange')} {colour} bus standing near two dogs."


def test_a_colour_gives_way_to_an_object_of_the_picture_in_the_same_place() -> None:
    two = "A red bus near two white dogs."
    edited = made("colour-word:object", two)
    assert (edited.facts["by"], edited.facts["kind"], edited.facts["falsity"]) == ("bench", "object", "grounded")
    assert edited.facts["replaced"] == made("colour-word", two).facts["replaced"]
    assert edited.caption in ("A bench bus near two white dogs.", "A red bus near two bench dogs.")
    assert made("colour-word:object", "An orange bus.", replace(STREET, others=(thing("dog"),))).caption == "A dog bus."


@pytest.mark.parametrize(
    ("caption", "others", "reason"),
    [
        ("A bus.", ("dog",), "no-colour-word"),
        ("A red bus.", (), "no-replacement"),
        ("A red bus near a dog.", ("dog",), "no-replacement"),
        ("A red bus.", ("scissors",), "no-replacement"),
        ("A green tree.", ("orange", "bus"), "no-replacement"),
        ("A white poodle beside a bus.", ("dog",), "no-replacement"),
        ("White kitchen cabinets above a bus.", ("sink", "oven"), "no-replacement"),
        ("A red bus.", ("truck",), "no-replacement"),
    ],
)
def test_a_colour_that_no_object_can_stand_for_stays(caption: str, others: tuple[str, ...], reason: str) -> None:
    assert code("colour-word:object", caption, replace(STREET, others=tuple(map(thing, others)))) == reason


def test_what_a_caption_may_be_of_under_another_name_stands_for_no_colour() -> None:
    """*a field glass against pale pair of binoculars* is no wrong caption: it names the very thing."""
    glass = replace(STREET, label="pair of binoculars", others=(), captions={"en": ("A field glass on a red table.",)})
    assert code("colour-word:object", "A field glass on a red table.", glass) == "no-replacement"
    beside = replace(glass, others=(thing("bus"),))
    assert made("colour-word:object", "A red bus.", beside).caption == "A pair of binoculars bus."


def test_both_swaps_of_a_colour_are_one_family() -> None:
    assert [probe.name for probe in select(["colour-word"])] == ["colour-word", "colour-word:object"]


def test_a_right_number_gives_way_to_a_larger_one_since_of_four_dogs_two_dogs_are_there_too() -> None:
    item = replace(STREET, others=(thing("dog"),) * 4)
    assert {made("number-word", "Four dogs.", item, seed=seed).facts["said"] for seed in range(8)} == {5.0, 6.0}
    assert code("number-word", "Ten dogs.", replace(STREET, others=(thing("dog"),) * 10)) == "no-replacement"


def test_a_crowd_is_not_counted() -> None:
    edited = made("number-word")
    assert edited.caption in ("A red bus standing near three dogs.", "A red bus standing near four dogs.")
    assert (edited.facts["count"], edited.facts["falsity"]) == (2.0, "verified")
    crowded = replace(STREET, others=(thing("dog"), thing("dog", crowd=True)))
    assert code("number-word", "Two dogs.", crowded) == "no-number-word"


@pytest.mark.parametrize(
    ("caption", "edited"),
    [
        ("A man on a bench.", "A man on a bench area area."),
        ("A man on a bench", "A man on a bench area area"),
        ("A man ...", "A man area area."),
    ],
)
def test_a_tail_stands_before_the_stop(caption: str, edited: str) -> None:
    assert with_tail(caption, "area area") == edited


def test_tails_of_every_length_are_nested_and_come_from_the_table() -> None:
    assert tail_of_length("in the view", "view", 2) == "in the"
    assert tail_of_length("in the view", "view", 5) == "in the view view view"
    texts = [made(f"hollow-tail:len{length}").facts["tail"] for length in range(1, 9)]
    assert [len(str(each).split()) for each in texts] == list(range(1, 9))
    assert all(str(longer).startswith(f"{shorter} ") for shorter, longer in pairwise(texts))
    assert made("hollow-tail").facts["tail"] in [tail for tail, _ in tails("hollow")]
    assert str(made("hollow-tail:dangling").caption).endswith("dogs on a.")
    assert str(made("hollow-tail:repeat").caption) == "A red bus standing near two dogs two dogs."
    assert last_noun_phrase("A man, on the old bench.") == "bench"


def test_a_distractor_is_the_absent_category_of_the_two_by_two() -> None:
    edited = made("distractor")
    chosen = str(edited.facts["absent"])
    assert chosen == made("negation:absent").facts["absent"]
    assert str(edited.caption).startswith("There is a bus and ")
    assert load_taxonomy("coco").category(chosen) not in ("vehicle", "animal", "outdoor", "person")


@given(st.text(max_size=80))
def test_any_text_has_mentions_inside_it(caption: str) -> None:
    for each in mentions(caption):
        assert 0 <= each.first <= each.last < len(caption.split())


@pytest.mark.coco
def test_every_directional_probe_on_coco_makes_a_variant_or_gives_a_known_reason(coco_root: Path) -> None:
    items = load_coco.load(coco_root, split="val2017", slice="all").items
    told: dict[str, Counter[str]] = {}
    for item in items:
        pairs = Pairs(item, np.zeros((item.height, item.width, 3), np.uint8))
        subjects = [each for name in (TEMPLATE, HUMAN) for each in subjects_of(item, name)[0]]
        for probe in select(["directional", "mention-order", "foil-siblings", "tail-sweep", "lexical-sweep"]):
            edited = pairs.edited(probe, [each for each in subjects if each.name in probe.subjects])
            counts = told.setdefault(probe.name, Counter())
            counts["made"] += len(edited.drafts)
            counts.update(each.code for each in edited.reasons)
            if probe.expectation is Expectation.DIRECTIONAL:
                assert all(draft.caption != draft.subject.caption for draft in edited.drafts)
    assert {code for counts in told.values() for code in counts} - {"made"} <= CODES.keys()
    assert not any(counts["probe-failed"] for counts in told.values())
    labels = [{*(other.label for other in item.others), item.label} - {None} for item in items]
    three = sum(len(each) >= 3 for each in labels)
    for name in ("mention:1", "mention:3", "mention-order", "mention:2-shuffled", "mention:3-negated"):
        assert told[name]["made"] == three
    assert told["size:small"] == told["size:large"]
    assert told["size:small"]["few-objects"] == sum(len(each) < 2 for each in labels)
    assert told["foil"]["made"] > told["foil:9"]["made"]
