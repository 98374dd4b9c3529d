"""A human caption that names a place stands beside no edit that changes the place."""

from dataclasses import replace

import numpy as np
import pytest

from core.corpora.schema import Item
from core.probes.base import HUMAN, TEMPLATE, Subject
from core.probes.pairs import Pairs
from core.probes.registry import select
from core.probes.words.mentions import HEIGHT, SIDE, SPOT, place_named

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
