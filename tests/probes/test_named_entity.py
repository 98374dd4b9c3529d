"""Places, roles and brands give way to their like, and nothing else of a caption changes."""

from dataclasses import replace

import pytest

from core.errors import ProbeRejected
from core.probes.base import HUMAN, Subject, Variant
from core.probes.families.named_entity import entities, forms, lines, named_entity
from core.probes.scene import Scene
from core.seeds import stream
from tests.probes.painted import paint, result_or_code


def made(caption: str, *others: str, seed: int = 1) -> Variant:
    usual = paint()
    scene = Scene(replace(usual.item, captions={"en": (caption, *others)}), usual.pixels)
    return named_entity.make(scene, Subject(HUMAN, "en", 0, caption), stream(seed, caption))


@pytest.mark.parametrize(
    ("caption", "before", "kind"),
    [
        ("A man cooks in a kitchen.", "kitchen", "room"),
        ("Two chefs stand beside a stove.", "chefs", "role"),
        ("A red bus drives through London at night.", "London", "city"),
        ("A can of Coca-Cola stands on a table.", "Coca-Cola", "drink"),
        ("A tennis player hits a ball.", "tennis player", "player"),
    ],
)
def test_one_word_gives_way_to_its_like_and_the_rest_stays(caption: str, before: str, kind: str) -> None:
    seen = set()
    for seed in range(12):
        variant = made(caption, seed=seed)
        assert variant.caption is not None
        head, tail = caption.split(before)
        assert variant.caption.startswith(head.removesuffix("A ").removesuffix("a ").removesuffix("an "))
        assert variant.caption.endswith(tail)
        assert variant.caption != caption
        assert (variant.facts["kind"], variant.facts["falsity"]) == (kind, "presumed")
        assert variant.facts["by"] in lines()[kind]
        seen.add(variant.caption)
    assert len(seen) > 1


def test_number_and_article_are_refitted() -> None:
    told = {made("There is a harbor by a lake.", seed=seed).caption for seed in range(30)}
    assert "There is an airport by a lake." in told
    assert "There is a parking lot by a lake." in told
    plurals = {made("Two chefs eat.", seed=seed).caption for seed in range(60)}
    assert {"Two nurses eat.", "Two police officers eat."} <= plurals


def test_a_word_that_another_caption_says_is_never_put_in() -> None:
    others = [f"There is a {name}." for name in lines()["room"] if name not in ("kitchen", "garage")]
    assert {made("A man in a kitchen.", *others, seed=seed).facts["by"] for seed in range(8)} == {"garage"}
    with pytest.raises(ProbeRejected) as caught:
        made("A man in a kitchen.", *others, "A garage.")
    assert caught.value.code == "no-replacement"


@pytest.mark.parametrize(
    "caption",
    [
        "A dog on a lawn.",
        "A kitchen table with a lamp.",
        "A man rows a boat.",
        "A ripe apple on a plate.",
        "A bus on a city street.",
    ],
)
def test_what_is_no_entity_is_left_alone(caption: str) -> None:
    assert result_or_code(lambda: made(caption)) == "no-entity"


def test_the_longest_name_counts() -> None:
    found = entities("A police officer in New York.")
    assert [(mention.label, kind) for mention, kind in found] == [("police officer", "role"), ("New York", "city")]


def test_no_name_is_of_two_kinds() -> None:
    names = [name for own in lines().values() for name in own]
    assert len(names) == len(set(names))
    assert all(len(form) <= 3 for form in forms())
