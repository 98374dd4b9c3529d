"""The contract of a probe, held by every registered one, whoever registered it."""

from copy import deepcopy
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import pytest

from core.corpora.item_pictures import read_item
from core.corpora.registry import catalogue as corpora
from core.corpora.schema import CATEGORIES, PROTOTYPE_ROLES, WRONG_PICTURE, Box, Item, Mask
from core.errors import ProbeRejected
from core.probes.base import FRAMES, HUMAN, IDENTITY, LENGTH_MATCHED, Construction, Edits, Probe, Subject, Variant
from core.probes.registry import catalogue
from core.probes.rejections import CODES
from core.probes.scene import Scene
from core.seeds import stream
from tests.probes.painted import SUBJECT, ground, neighbour, paint
from tests.probes.rivalled import folder, with_rivals

PROBES = list(catalogue())
IMAGE_PROBES = [probe for probe in PROBES if probe.edits is Edits.IMAGE]

every_probe = pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe.name)


def attempt(probe: Probe, scene: Scene) -> Variant | ProbeRejected:
    """A variant or a rejection; anything else is a broken probe and fails the test."""
    try:
        return probe.make(scene, SUBJECT, stream(2025, scene.item.id, probe.name))
    except ProbeRejected as rejection:
        return rejection


def scenes() -> list[Scene]:
    """Ordinary and awkward items: animate, crowded, empty, tiny, a line of pixels, object in a corner, no object."""
    usual, person = paint(), paint(name="person")
    tiny = Item(
        "tiny",
        "test",
        None,
        8,
        8,
        captions={"en": ("A dot.",)},
        label="cup",
        category="kitchen",
        box=Box(2, 2, 3, 3),
        mask=Mask.from_array(np.pad(np.ones((3, 3), bool), ((2, 3), (2, 3)))),
    )
    full = Mask.from_array(np.ones((20, 30), bool))
    return [
        usual,
        Scene(replace(person.item, label="person", category="person"), person.pixels),
        paint(name="crowded", others=(neighbour(Box(0, 0, 60, 50)), neighbour(Box(90, 10, 60, 30), masked=False))),
        with_rivals(paint(name="rivalled"), folder(), roles=(*PROTOTYPE_ROLES, WRONG_PICTURE)),
        paint(name="corner", centre=(0, 0), radii=(30, 20)),
        paint(name="boxed", masked=False),
        paint(name="bare", masked=False, boxed=False),
        Scene(Item("empty", "test", None, 40, 30), ground(30, 40)),
        Scene(tiny, ground(8, 8)),
        Scene(replace(tiny, id="tiny-box", mask=None), ground(8, 8)),
        Scene(Item("dot", "test", None, 1, 1, label="dog", category="animal", box=Box(0, 0, 1, 1)), ground(1, 1)),
        Scene(Item("line", "test", None, 9, 1, label="dog", category="animal", box=Box(0, 0, 3, 1)), ground(1, 9)),
        Scene(Item("full", "test", None, 30, 20, label="bed", box=Box(0, 0, 30, 20), mask=full), ground(20, 30)),
    ]


@cache
def painted() -> list[Scene]:
    """The same, of which no probe asked anything."""
    return scenes()


def fresh_scenes() -> list[Scene]:
    """The same, as if painted anew, in a tenth of the time."""
    return [Scene(deepcopy(scene.item), scene.pixels.copy()) for scene in painted()]


@cache
def kept_scenes() -> list[Scene]:
    """The same, their plates made once for all probes."""
    return scenes()


def test_the_rooms_register_their_probes() -> None:
    assert not catalogue().broken
    assert {"vflip", "reposition-BR", "null:shift1", "distance:0.0"} <= {probe.name for probe in PROBES}
    assert len(IMAGE_PROBES) >= 15


@every_probe
def test_a_probe_says_what_it_is(probe: Probe) -> None:
    assert probe.name not in ("", IDENTITY)
    assert probe.family
    assert probe.summary.endswith(".")
    assert probe.source
    assert probe.baseline in {IDENTITY, LENGTH_MATCHED, *catalogue().names()}


@every_probe
def test_a_probe_makes_a_sound_variant_of_any_item_or_rejects_it_with_a_code(probe: Probe) -> None:
    for scene in kept_scenes():
        before, item = scene.pixels.copy(), replace(scene.item)
        made = attempt(probe, scene)
        np.testing.assert_array_equal(scene.pixels, before)
        assert scene.item == item
        if isinstance(made, Variant):
            check(made, probe, scene)
        else:
            assert made.code in CODES
            assert made.detail


def check(variant: Variant, probe: Probe, scene: Scene) -> None:
    """What every variant must be."""
    assert variant.probe == probe.name
    height, width = scene.pixels.shape[:2]
    if probe.edits is Edits.CAPTION:
        assert variant.pixels is None
        assert variant.caption
        return
    assert variant.caption is None
    assert variant.pixels is not None
    if "resampler" in variant.facts:  # what was shrunk says so; everything else keeps its size
        height, width = (int(variant.facts[side]) for side in ("height", "width"))
    assert (variant.pixels.shape, variant.pixels.dtype) == ((height, width, 3), np.uint8)
    assert variant.pixels.flags.c_contiguous
    assert not np.shares_memory(variant.pixels, scene.pixels)
    if variant.object_mask is not None:
        assert (variant.object_mask.height, variant.object_mask.width) == (height, width)
        assert variant.object_mask.area > 0
    if variant.object_box is not None:
        inside = variant.object_box.inside(width, height)
        assert inside is not None
        assert inside.area == pytest.approx(variant.object_box.area)
    assert all(isinstance(value, float) for value in variant.diagnostics.values())


@cache
def used_scenes() -> list[Scene]:
    """The same, after many probes."""
    used = scenes()
    for scene in used:
        for other in IMAGE_PROBES[::5]:
            attempt(other, scene)
    return used


@every_probe
def test_the_same_stream_gives_the_same_variant_whatever_ran_before(probe: Probe) -> None:
    for fresh, used in zip(fresh_scenes(), used_scenes(), strict=True):
        first, second = attempt(probe, fresh), attempt(probe, used)
        if isinstance(first, ProbeRejected) or isinstance(second, ProbeRejected):
            assert isinstance(first, ProbeRejected)
            assert isinstance(second, ProbeRejected)
            assert (first.code, first.detail) == (second.code, second.detail)
            continue
        if first.pixels is None:
            assert second.pixels is None
        else:
            np.testing.assert_array_equal(first.pixels, second.pixels)
        assert (first.caption, first.object_box, first.object_mask, first.notes) == (
            second.caption,
            second.object_box,
            second.object_mask,
            second.notes,
        )
        assert str(dict(first.diagnostics)) == str(dict(second.diagnostics))  # NaN is equal to itself here


def composed() -> Scene:
    """A picture of which it is known what is behind its object."""
    item = corpora().get("demo").load().get("frog-1-10-20")
    return Scene(item, read_item(item).pixels)


@cache
def filmed() -> Scene:
    """Eight frames of a video that ships."""
    item = corpora().get("demo-videos").load().get("dog-right")
    return Scene(item, read_item(item).pixels)


@cache
def beside_rivals(**size: int) -> Scene:
    """A painted scene that has other pictures beside it, for reading alone."""
    own = Path(mkdtemp(dir=folder()))  # every painted item has one name
    return with_rivals(paint(**size), own, roles=(*PROTOTYPE_ROLES, WRONG_PICTURE))


@pytest.mark.parametrize(
    "probe", [probe for probe in IMAGE_PROBES if probe.name != "typographic:right"], ids=lambda probe: probe.name
)
def test_an_image_probe_does_not_read_label_category_or_captions(probe: Probe) -> None:
    large = {"width": 820, "height": 600} if probe.family == "resampling" else {}
    scene = {"backdrop": composed, FRAMES: filmed}.get(probe.needs, lambda: beside_rivals(**large))()
    renamed = replace(scene.item, label="dog", category=CATEGORIES[1], captions={})
    first, second = attempt(probe, scene), attempt(probe, Scene(renamed, scene.pixels))
    assert isinstance(first, Variant)
    assert isinstance(second, Variant)
    np.testing.assert_array_equal(first.pixels, second.pixels)


@pytest.mark.parametrize("name", ["reposition-TL", "reposition-hard-BR", "distance:0.4@045"])
def test_what_needs_an_object_is_rejected_without_one(name: str) -> None:
    rejection = attempt(catalogue().get(name), paint(masked=False, boxed=False))
    assert isinstance(rejection, ProbeRejected)
    assert rejection.code == "no-mask"


REWRITES = [probe for probe in PROBES if probe.construction is Construction.CAPTION and HUMAN in probe.subjects]
SHOUTED = "THERE ARE TWO DOGS IN A KITCHEN BESIDE A RED CUP"


def test_many_edits_rewrite_a_human_caption() -> None:
    families = {probe.family for probe in REWRITES}
    assert {"order", "negation", "named-entity", "colour-word", "hollow-tail", "verbosity", "caption-form"} <= families


@pytest.mark.parametrize("probe", REWRITES, ids=lambda probe: probe.name)
def test_no_small_letter_comes_into_a_caption_in_capitals(probe: Probe) -> None:
    """One in eighty of COCO's captions is all capitals; a change of case beside the edit would be a second change."""
    usual = paint()
    scene = Scene(replace(usual.item, captions={"en": (SHOUTED,)}), usual.pixels)
    try:
        made = probe.make(scene, Subject(HUMAN, "en", 0, SHOUTED), stream(1, probe.name))
    except ProbeRejected:
        return
    assert made.caption
    assert made.caption.upper() == made.caption
