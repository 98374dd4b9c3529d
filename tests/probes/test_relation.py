"""Relations of two things: against the pixels of their masks, in five languages, and what is left out."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from core.corpora.demo import SCENES
from core.corpora.demo_plan import LANGUAGES
from core.corpora.registry import catalogue
from core.corpora.schema import Box, Item, SceneObject
from core.errors import ProbeRejected
from core.probes.base import HUMAN, Subject, Variant
from core.probes.families.relation import RELATIONS, WAYS, patterns, related, sentence
from core.probes.scene import Scene
from core.seeds import stream
from tests.probes.painted import result_or_code

ITEMS = catalogue().get(SCENES).load().items
BY_NAME = {probe.name: probe for probe in RELATIONS}
OPPOSITE = {"left": "right", "above": "below", "front": "behind"}


def made(item: Item, name: str, language: str = "en", rank: int = 0) -> Variant:
    scene = Scene(item, np.zeros((item.height, item.width, 3), dtype=np.uint8))
    subject = Subject(HUMAN, language, rank, item.captions[language][rank])
    probe = BY_NAME[name]
    return probe.make(scene, subject, stream(2025, item.id, probe.draws, subject.caption))


def pixels(item: Item) -> dict[str, np.ndarray]:
    """Every thing's pixels, all copies together, from the masks alone."""
    found: dict[str, np.ndarray] = {}
    for label, mask in ((item.label, item.mask), *((each.label, each.mask) for each in item.others)):
        assert label is not None
        assert mask is not None
        found[label] = found.get(label, np.zeros((item.height, item.width), dtype=bool)) | mask.to_array()
    return found


def holds(relation: str, first: np.ndarray, second: np.ndarray) -> bool:
    """Whether a relation holds of pixels: of every pixel of the one beside every pixel of the other."""
    (down, across), (below, beside) = np.nonzero(first), np.nonzero(second)
    return {
        "left": across.max() < beside.min(),
        "right": across.min() > beside.max(),
        "above": down.max() < below.min(),
        "below": down.min() > below.max(),
        "front": down.max() > below.max(),
        "behind": down.max() < below.max(),
    }[relation]


@pytest.mark.parametrize("kind", WAYS)
def test_the_baseline_is_true_of_the_pixels_and_its_opposite_false(kind: str) -> None:
    told = []
    for item in ITEMS:
        right = result_or_code(lambda item=item: made(item, f"relation:{kind}-true"))
        wrong = result_or_code(lambda item=item: made(item, f"relation:{kind}"))
        if isinstance(right, str) or isinstance(wrong, str):
            assert right == wrong == "no-relation"
            continue
        seen = pixels(item)
        sides = [seen[str(right.facts[which])] for which in ("first", "second")]
        assert holds(str(right.facts["relation"]), *sides)
        assert not holds(str(wrong.facts["relation"]), *sides)
        assert [wrong.facts[which] for which in ("first", "second")] == [
            right.facts[which] for which in ("first", "second")
        ]
        assert wrong.facts["falsity"] == "verified"
        assert "falsity" not in right.facts
        told.append(right.facts["relation"])
    assert len(told) >= {"side": 60, "height": 10, "depth": 10}[kind]
    assert set(told) == set(WAYS[kind])


def test_both_sentences_differ_by_the_relation_alone() -> None:
    for language in LANGUAGES:
        right, wrong = (made(ITEMS[0], name, language).caption for name in ("relation:side-true", "relation:side"))
        assert right is not None
        assert wrong is not None
        assert right != wrong
        assert abs(len(right) - len(wrong)) <= 8


def test_the_sentences_of_five_languages() -> None:
    said = {language: sentence("left", ("dog", "hen"), language) for language in LANGUAGES}
    assert said == {
        "en": "A dog to the left of a hen.",
        "de": "Ein Hund weiter links als eine Henne.",
        "fr": "Un chien à gauche d'une poule.",
        "es": "Un perro a la izquierda de una gallina.",
        "ja": "めんどりより左に犬が写っている。",
    }


def test_every_french_noun_takes_the_elision_that_the_patterns_have() -> None:
    elided = [row for row in patterns().values() if "'{second}" in row["fr"]]
    assert elided
    for item in ITEMS:
        for label in {item.label, *(each.label for each in item.others)}:
            assert label is not None
            assert sentence("left", (label, label), "fr").split("d'")[1].startswith("un")


def test_a_line_and_its_opposite_point_at_each_other() -> None:
    opposites = {name: row["opposite"] for name, row in patterns().items()}
    assert {one: other for one, other in opposites.items() if one in OPPOSITE} == OPPOSITE
    assert all(opposites[other] == one for one, other in opposites.items())


def scene_of(boxes: Mapping[str, list[Box]], *, place: str = "pasture", corpus: str = SCENES) -> Item:
    (label, (box, *more)), *rest = boxes.items()
    others = [SceneObject(label, each) for each in more]
    others += [SceneObject(name, each) for name, own in rest for each in own]
    return Item(
        "made",
        corpus,
        None,
        200,
        100,
        label=label,
        category="animal",
        box=box,
        others=tuple(others),
        group=("x", place),
    )


def code_of(item: Item, kind: str) -> str:
    with pytest.raises(ProbeRejected) as caught:
        related(item, kind)
    return caught.value.code


def test_a_thing_on_both_sides_of_the_other_is_left_out() -> None:
    both = {"dog": [Box(90, 40, 20, 20)], "hen": [Box(10, 40, 20, 20), Box(160, 40, 20, 20)]}
    assert code_of(scene_of(both), "side") == "no-relation"
    assert related(scene_of({**both, "hen": both["hen"][1:]}), "side") == (("dog", "hen"),)


def test_things_that_share_a_column_have_no_side_and_those_that_share_a_row_no_height() -> None:
    overlapping = {"dog": [Box(10, 10, 50, 20)], "hen": [Box(40, 40, 50, 20)]}
    assert code_of(scene_of(overlapping), "side") == "no-relation"
    assert related(scene_of(overlapping), "height") == (("dog", "hen"),)
    level = {"dog": [Box(10, 10, 20, 50)], "hen": [Box(40, 40, 50, 20)]}
    assert code_of(scene_of(level), "height") == "no-relation"


def test_depth_needs_feet_apart_on_a_ground_with_a_horizon_and_things_that_stand() -> None:
    near, hardly = ({"dog": [Box(10, 20, 20, depth)], "hen": [Box(60, 20, 20, 40)]} for depth in (50, 43))
    assert related(scene_of(near), "depth") == (("dog", "hen"),)
    assert code_of(scene_of(hardly), "depth") == "no-relation"
    assert code_of(scene_of(near, place="table"), "depth") == "no-relation"
    lying = {"lemon": near["dog"], "hen": near["hen"]}
    assert code_of(scene_of(lying), "depth") == "no-relation"


def test_other_pictures_are_left_out_with_their_reason() -> None:
    boxes = {"dog": [Box(10, 10, 20, 20)], "hen": [Box(90, 10, 20, 20)]}
    assert code_of(scene_of(boxes, corpus="coco"), "side") == "not-composed"
    item = scene_of(boxes)
    assert code_of(replace(item, box=None), "side") == "not-composed"
    assert code_of(replace(item, others=(SceneObject("hen", None),)), "side") == "not-composed"


def test_it_is_written_once_a_language() -> None:
    item = ITEMS[0]
    assert result_or_code(lambda: made(item, "relation:side", rank=1)) == "repeated-template"
