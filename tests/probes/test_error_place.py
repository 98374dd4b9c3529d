"""An error at four places of a long caption: one sentence differs, at its place, and all others are true."""

import numpy as np
import pytest

from core.corpora.demo import SCENES
from core.corpora.registry import catalogue
from core.corpora.schema import Item
from core.probes.base import HUMAN, Subject, Variant
from core.probes.families.error_place import BEHIND, PLACED, PLACES, SHORT, relations_of
from core.probes.families.relation import WAYS, related
from core.probes.scene import Scene
from core.probes.words.templates import base_caption
from core.seeds import stream
from tests.probes.painted import SUBJECT, paint, result_or_code

ITEMS = catalogue().get(SCENES).load().items
BY_NAME = {probe.name: probe for probe in PLACED}


def made(item: Item, name: str, language: str = "en") -> Variant:
    scene = Scene(item, np.zeros((item.height, item.width, 3), dtype=np.uint8))
    subject = Subject(HUMAN, language, 0, item.captions[language][0])
    return BY_NAME[name].make(scene, subject, stream(2025, item.id, BY_NAME[name].draws, subject.caption))


def sentences(variant: Variant) -> list[str]:
    assert variant.caption is not None
    return [f"{each}." for each in variant.caption.removesuffix(".").split(". ")]


@pytest.mark.parametrize("place", PLACES)
def test_one_sentence_differs_at_its_place_and_all_others_are_true(place: str) -> None:
    for item in ITEMS:
        right, wrong = made(item, f"error-place:{place}-true"), made(item, f"error-place:{place}")
        one, other = sentences(right), sentences(wrong)
        apart = [at for at, (true, false) in enumerate(zip(one, other, strict=True)) if true != false]
        assert len(apart) == 1
        at = apart[0]
        assert one[at] == base_caption(str(right.facts["present"]))
        absent = str(wrong.facts["absent"])
        assert other[at] == base_caption(absent)
        assert absent not in {item.label, *(each.label for each in item.others)}
        assert wrong.facts["falsity"] == "verified"
        for text in one[:at] + one[at + 1 :]:
            denied = text.startswith(("There is no ", "There are no "))
            assert denied or text in relations_of(item) or text == item.captions["en"][0]
            if denied:
                assert text.split(" no ")[1].rstrip(".") not in {absent, item.label, *(e.label for e in item.others)}
        before = sum(len(text.split()) for text in one[:at])
        assert wrong.facts["words_before"] == before
        assert {
            "start": at == 0,
            "middle": 0 < at < len(one) - 1,
            "end": at == len(one) - 1,
            "behind": at == len(one) - 1 and before >= BEHIND,
        }[place]
        if place != "behind":
            assert sum(len(text.split()) for text in one) <= SHORT


def test_the_first_three_places_share_their_text_and_their_error() -> None:
    for item in ITEMS[:12]:
        texts = [made(item, f"error-place:{place}") for place in ("start", "middle", "end")]
        assert len({tuple(sorted(sentences(each))) for each in texts}) == 1
        assert len({each.facts["absent"] for each in texts}) == 1


def test_every_relation_is_said_both_ways() -> None:
    for item in ITEMS[:12]:
        count = 0
        for kind in WAYS:
            found = result_or_code(lambda item=item, kind=kind: related(item, kind))
            count += 0 if isinstance(found, str) else 2 * len(found)
        assert len(relations_of(item)) == len(set(relations_of(item))) == count


def test_other_pictures_and_languages_are_left_out_with_their_reason() -> None:
    probe = BY_NAME["error-place:end"]
    assert result_or_code(lambda: probe.make(paint(), SUBJECT, stream(1, "a"))) == "not-composed"
    assert isinstance(result_or_code(lambda: made(ITEMS[0], "error-place:end", "de")), str)
