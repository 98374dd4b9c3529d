"""Prototype probes: the rival's own pixels beside the human caption, or a reason."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from core.corpora.demo import load_demo_prototypes
from core.corpora.images import read_image
from core.corpora.item_pictures import read_item
from core.corpora.schema import Rival
from core.errors import ProbeRejected
from core.probes.base import HUMAN, IDENTITY, TEMPLATE, Edits, Expectation, Subject, Variant
from core.probes.pairs import Pairs, subjects_of
from core.probes.registry import catalogue
from core.probes.scene import Scene
from core.settings import ROOT
from tests.audit.squares import HISTOGRAM
from tests.plans import make_plan
from tests.probes.painted import SUBJECT, paint
from tests.probes.rivalled import with_rivals

ROLES = {
    "prototype:knob-wrong": ("nonproto-wrong", Expectation.DIRECTIONAL),
    "prototype:prototype": ("proto-right", Expectation.INVARIANT),
    "prototype:adversary": ("proto-wrong", Expectation.DIRECTIONAL),
}


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return with_rivals(paint(), tmp_path)


def made(name: str, scene: Scene) -> Variant | ProbeRejected:
    return Pairs(scene.item, np.array(scene.pixels)).make(catalogue().get(name), SUBJECT)


def test_the_family_has_three_probes_on_request() -> None:
    found = [probe for probe in catalogue() if probe.family == "prototype"]
    assert {probe.name: probe.expectation for probe in found} == {name: role[1] for name, role in ROLES.items()}
    for probe in found:
        assert (probe.axis.value, probe.edits, probe.baseline) == ("semantic", Edits.IMAGE, IDENTITY)
        assert (probe.default, probe.control, probe.held) == (False, False, (HUMAN,))


@pytest.mark.parametrize("name", ROLES)
def test_the_variant_is_the_rivals_picture_and_tells_its_facts(scene: Scene, name: str) -> None:
    variant = made(name, scene)
    assert isinstance(variant, Variant)
    rival = scene.item.rival(ROLES[name][0])
    assert rival is not None
    np.testing.assert_array_equal(variant.pixels, np.asarray(Image.open(rival.path).convert("RGB")))
    assert variant.caption is None
    assert dict(variant.facts) == {
        "knob": "count",
        "domain": "animal",
        "subcategory": "bird",
        "role": ROLES[name][0],
        "falsity": "verified",
        "shown": "penguin" if name == "prototype:knob-wrong" else "lark",
        "value": 2.0,
    }


def test_a_picture_that_nobody_verified_to_be_wrong_is_presumed_to_be(scene: Scene) -> None:
    item = replace(scene.item, facts={"domain": "animal"})
    variant = made("prototype:adversary", Scene(item, np.array(scene.pixels)))
    assert isinstance(variant, Variant)
    assert (variant.facts["falsity"], "knob" in variant.facts) == ("presumed", False)


@pytest.mark.parametrize("name", ROLES)
def test_an_item_without_the_rival_is_rejected_with_a_reason(tmp_path: Path, name: str) -> None:
    bare = made(name, paint())
    assert isinstance(bare, ProbeRejected)
    assert (bare.code, bare.detail.endswith("it has none")) == ("no-rival", True)
    other = made(name, with_rivals(paint(), tmp_path, roles=("something-else",)))
    assert isinstance(other, ProbeRejected)
    assert other.detail.endswith("it has something-else")


def broken(scene: Scene, data: bytes | None) -> Scene:
    """The scene, its adversary's file replaced, or gone."""
    rival = scene.item.rival("proto-wrong")
    assert rival is not None
    if data is None:
        rival.path.unlink()
    else:
        rival.path.write_bytes(data)
    return scene


def png(width: int, height: int, folder: Path) -> bytes:
    Image.new("RGB", (width, height), "teal").save(folder / "other.png")
    return (folder / "other.png").read_bytes()


def test_a_picture_that_is_gone_broken_changed_or_of_another_size_is_rejected(scene: Scene, tmp_path: Path) -> None:
    width, height = scene.item.width, scene.item.height
    for data, told in (
        (None, "there is no such file"),
        (b"GIF89a or not", "proto-wrong"),
        (png(width, height, tmp_path), "another hash"),
        (png(width + 1, height, tmp_path), f"it is {width + 1} × {height} px instead of"),
    ):
        result = made("prototype:adversary", broken(scene, data))
        if data is None:
            with_rivals(paint(), tmp_path)
        assert isinstance(result, ProbeRejected)
        assert result.code == "bad-rival"
        assert told in result.detail


def test_a_picture_of_far_too_many_pixels_is_refused_before_it_is_decoded(scene: Scene, tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.png"
    Image.new("1", (30_000, 30_000)).save(bomb)
    item = replace(scene.item, rivals=(Rival("proto-wrong", bomb),))
    result = made("prototype:adversary", Scene(item, np.array(scene.pixels)))
    assert isinstance(result, ProbeRejected)
    assert result.code == "bad-rival"


def test_the_edited_image_stands_beside_the_human_caption_alone(scene: Scene) -> None:
    pairs = Pairs(scene.item, np.array(scene.pixels))
    template, human = (subjects_of(scene.item, name)[0][0] for name in (TEMPLATE, HUMAN))
    probe = catalogue().get("prototype:adversary")
    both = pairs.edited(probe, [template, human])
    assert [draft.subject for draft in both.drafts] == [human]
    assert pairs.baseline(both.drafts[0]) == (IDENTITY, human.caption)
    alone = pairs.edited(probe, [template])
    assert (alone.pixels, alone.drafts) == (None, ())
    assert [reason.code for reason in alone.reasons] == ["other-subject"]
    everywhere = pairs.edited(catalogue().get("vflip"), [template, human])
    assert [draft.subject for draft in everywhere.drafts] == [template, human]


def test_an_audit_asks_for_the_human_caption_even_where_the_template_alone_was_asked_for() -> None:
    corpus = load_demo_prototypes.load(ROOT / "data" / "demo")
    few = replace(corpus, items=corpus.items[:2])
    plan = make_plan(few, evaluators=[HISTOGRAM], probes=list(ROLES), subjects=(TEMPLATE,))
    assert {plan.subjects_of(probe) for probe in plan.probes} == {(HUMAN,)}
    assert plan.identity_subjects == (TEMPLATE, HUMAN)
    cost = plan.cost()
    assert (cost.items, cost.images) == (2, 8)


@pytest.mark.parametrize("name", ROLES)
def test_every_item_of_the_shipped_corpus_has_all_variants(name: str) -> None:
    corpus = load_demo_prototypes.load(ROOT / "data" / "demo")
    for item in corpus.items[::7]:
        pixels = read_item(item).pixels
        variant = Pairs(item, pixels).make(catalogue().get(name), Subject(HUMAN, "en", 0, item.captions["en"][0]))
        assert isinstance(variant, Variant)
        rival = item.rival(ROLES[name][0])
        assert rival is not None
        np.testing.assert_array_equal(variant.pixels, read_image(rival.path).pixels)
        assert (variant.pixels != pixels).any()
        assert variant.facts["knob"] == item.facts["knob"]
        assert variant.facts["falsity"] == "verified"
