"""Places, roles and brands that give way to their like, and captions that name one beside edits that change it."""

from dataclasses import replace

import numpy as np
import pytest

from core.corpora.schema import Item
from core.errors import ProbeRejected
from core.probes.base import HUMAN, TEMPLATE, Subject, Variant
from core.probes.families.named_entity import entities, forms, lines, named_entity
from core.probes.pairs import Pairs
from core.probes.registry import select
from core.probes.scene import Scene
from core.probes.words.mentions import HEIGHT, SIDE, SPOT, place_named
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
        ("A bus on a city street.", "city street", "way"),
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
        "A woman sits in church.",
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


PIXELS = np.random.default_rng(5).integers(0, 256, (60, 80, 3), dtype=np.uint8)


@pytest.mark.parametrize(
    ("language", "caption", "places", "word"),
    [
        ("en", "A dog on the Left of a bench.", (SIDE,), "Left"),
        ("en", "A dog on the left of a bench.", (HEIGHT, SPOT), ""),
        ("en", "A bright light over a cleft.", (SIDE, HEIGHT, SPOT), ""),
        ("en", "A bird at the top, in the middle.", (SPOT,), "middle"),
        ("en", "A rightmost chair.", (SIDE,), "rightmost"),
        ("en", "Text that is written backwards.", (SIDE,), "backwards"),
        ("en", "A flipped car.", (HEIGHT,), "flipped"),
        ("en", "A dog with its legs in the air.", (HEIGHT,), "legs in the air"),
        ("de", "Ein umgekipptes Auto.", (HEIGHT,), "umgekipptes"),
        ("fr", "Un chat sur le dos.", (HEIGHT,), "sur le dos"),
        ("es", "Un coche volcado.", (HEIGHT,), "volcado"),
        ("ja", "仰向けの犬", (HEIGHT,), "仰向け"),
        ("de", "Rechts steht ein Hund.", (SIDE,), "Rechts"),
        ("de", "Oben fliegt ein Vogel.", (HEIGHT,), "Oben"),
        ("de", "Ein Hund in der Mitte.", (SPOT,), "Mitte"),
        ("fr", "À gauche, un chien.", (SIDE,), "gauche"),
        ("fr", "Un chien en bas de l'image.", (HEIGHT,), "bas"),
        ("es", "A la derecha, un perro.", (SIDE,), "derecha"),
        ("es", "Un perro en el centro.", (SPOT,), "centro"),
        ("ja", "犬が、左側に写っている。", (SIDE,), "左"),
        ("ja", "木のテーブルの上のブドウの房が、中央にある。", (HEIGHT,), ""),
        ("ja", "鳥が、上のほうにいる。", (HEIGHT,), "上のほう"),
        ("xx", "left right top", (SIDE, HEIGHT), ""),
        *(("en", f"A dog {word} a car.", (SIDE,), word) for word in ("leftwards", "rightward", "counterclockwise")),
        *(
            ("en", f"A dog {word} a car.", (HEIGHT,), word)
            for word in ("upside down", "underneath", "under", "downhill")
        ),
        ("de", "Ein Mann hängt kopfüber.", (HEIGHT,), "kopfüber"),
        ("de", "Ein Rad dreht sich gegen den Uhrzeigersinn.", (SIDE,), "Uhrzeigersinn"),
        ("de", "Ein Hund läuft über die Wiese.", (SIDE, HEIGHT, SPOT), ""),
        ("fr", "Une voiture à l'envers.", (HEIGHT,), "envers"),
        ("fr", "Un chat sous une chaise.", (HEIGHT,), "sous"),
        ("es", "Un coche al revés.", (HEIGHT,), "al revés"),
        ("es", "Un gato debajo de una silla.", (HEIGHT,), "debajo"),
        ("ja", "犬が逆さまに写っている。", (HEIGHT,), "逆さ"),
        ("ja", "反時計回りに回る車。", (SIDE,), "反時計"),
        ("ja", "靴下にボタンがある。", (SIDE, HEIGHT, SPOT), ""),
    ],
)
def test_a_word_that_names_a_place_is_found_whole(
    language: str, caption: str, places: tuple[str, ...], word: str
) -> None:
    assert place_named(caption, language, places) == word


@pytest.mark.parametrize(
    ("probe", "caption", "held"),
    [
        ("hflip", "A dog on the left.", False),
        ("hflip", "A dog at the top.", True),
        ("vflip", "A dog at the top.", False),
        ("vflip", "A dog on the left.", True),
        ("rotate+10", "A dog at the top left.", True),
        ("null:jpeg95", "A dog at the top left.", True),
    ],
)
def test_an_edit_stands_beside_the_captions_that_it_leaves_true(probe: str, caption: str, held: bool) -> None:
    item = Item(id="a", corpus="c", image_path=None, width=80, height=60, label="dog", captions={"en": (caption,)})
    (chosen,) = select([probe])
    human, template = Subject(HUMAN, "en", 0, caption), Subject(TEMPLATE, "en", 0, caption)
    found = Pairs(item, PIXELS).edited(chosen, [human, template])
    assert [draft.subject for draft in found.drafts] == ([human, template] if held else [template])
    assert [reason.code for reason in found.reasons] == ([] if held else ["caption-names-place"])
    alone = Pairs(item, PIXELS).edited(chosen, [human])
    assert (alone.pixels is not None, len(alone.drafts)) == (held, int(held))


def test_moving_the_object_changes_every_place_and_other_edits_say_which() -> None:
    said = {probe.name: probe.moves for probe in select(["spatial", "null"])}
    assert said["reposition-TL"] == (SIDE, HEIGHT, SPOT)
    assert (said["hflip"], said["vflip"], said["rotate-5"], said["null:shift1"]) == ((SIDE,), (HEIGHT,), (), ())


def test_other_languages_of_one_item_are_held_where_theirs_stays_true() -> None:
    captions = {"en": ("A dog on the left.",), "de": ("Ein Hund auf einer Bank.",)}
    item = replace(Item(id="a", corpus="c", image_path=None, width=80, height=60), captions=captions)
    subjects = [Subject(HUMAN, language, 0, texts[0]) for language, texts in captions.items()]
    found = Pairs(item, PIXELS).edited(select(["hflip"])[0], subjects)
    assert [draft.subject.language for draft in found.drafts] == ["de"]
