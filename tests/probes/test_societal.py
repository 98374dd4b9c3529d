"""The societal probes as the audit sees them."""

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from skimage import data
from skimage.metrics import structural_similarity

from core.corpora.schema import Item
from core.errors import ProbeRejected
from core.probes.base import BASE_CAPTION, IDENTITY, LENGTH_MATCHED, Axis, Edits, Expectation, Probe
from core.probes.families.societal import SOCIETAL
from core.probes.pixels import edits as image_edits
from core.probes.registry import catalogue, select
from core.probes.scene import Scene
from core.probes.words.screening import families
from core.probes.words.templates import length_matched
from core.seeds import stream
from core.settings import assets_dir
from tests.probes.painted import SUBJECT, paint


def scene(label: str | None = "dog", category: str | None = "animal") -> Scene:
    pixels = np.arange(300, dtype=np.uint8).reshape(10, 10, 3)
    return Scene(Item("one", "test", None, 10, 10, label=label, category=category), pixels)


def named(name: str) -> Probe:
    return catalogue().get(name)


def test_every_word_of_the_lexicon_is_a_registered_probe() -> None:
    words = {f"{each.name}:{word.word}" for each in families().values() for word in each.words}
    assert words == {probe.name for probe in SOCIETAL} <= set(catalogue().names())
    assert len(words) == 44


@pytest.mark.parametrize("probe", SOCIETAL, ids=lambda probe: probe.name)
def test_a_societal_probe_describes_itself(probe: Probe) -> None:
    assert probe.edits is Edits.CAPTION
    assert probe.expectation is Expectation.INVARIANT
    assert probe.name == f"{probe.family}:{probe.modifier}"
    assert probe.baseline == (BASE_CAPTION if probe.control else LENGTH_MATCHED)
    assert probe.default == (probe.family not in ("occupational", "gender-colloquial"))
    assert probe.source
    assert probe.summary.endswith(".")


def test_a_modifier_changes_the_caption_and_nothing_else() -> None:
    variant = named("cultural:African").make(
        scene("bed", "furniture"), SUBJECT, stream(2025, "one", "cultural:African")
    )
    assert variant.caption == "There is an African bed."
    assert variant.pixels is None
    assert variant.object_box is None


def test_the_stream_does_not_matter() -> None:
    made = {named("emotion:sad").make(scene(), SUBJECT, stream(seed, "one")).caption for seed in range(5)}
    assert made == {"There is a sad dog."}


def test_a_rejected_pair_says_why() -> None:
    with pytest.raises(ProbeRejected) as caught:
        named("emotion:angry").make(scene("chair", "furniture"), SUBJECT, stream(1))
    assert caught.value.code == "animacy"
    assert "angry chair" in caught.value.detail


@pytest.mark.parametrize("probe", SOCIETAL, ids=lambda probe: probe.name)
def test_an_item_without_a_label_is_rejected_by_every_probe(probe: Probe) -> None:
    with pytest.raises(ProbeRejected) as caught:
        probe.make(scene(None), SUBJECT, stream(1))
    assert caught.value.code == "no-label"


@pytest.mark.parametrize(
    ("label", "category"), [("person", "person"), ("dog", "animal"), ("donut", "food"), ("skis", "sports")]
)
def test_a_modified_caption_always_finds_its_baseline_among_the_captions_made(label: str, category: str) -> None:
    captions = {}
    for probe in SOCIETAL:
        try:
            captions[probe.name] = probe.make(scene(label, category), SUBJECT, stream(1)).caption
        except ProbeRejected:
            continue
    modified = [probe for probe in SOCIETAL if probe.name in captions and not probe.control]
    assert modified
    for probe in modified:
        assert length_matched(probe.family, captions[probe.name] or "", label) in captions


@pytest.mark.parametrize("family", ["economic", "gender", "emotion"])
def test_controls_apply_only_where_the_family_does(family: str) -> None:
    outside = scene("person", "person") if family == "economic" else scene("chair", "furniture")
    for control in families()[family].controls:
        with pytest.raises(ProbeRejected):
            named(control.probe).make(outside, SUBJECT, stream(1))


def test_a_family_and_the_axis_select_their_probes() -> None:
    assert len(select(["cultural"])) == 10
    assert {BASE_CAPTION, *families()} <= {probe.family for probe in select(["societal"])}
    assert {probe.axis for probe in select(["societal"])} == {Axis.SOCIETAL}


BROKEN = """
import sys, pathlib
from core.probes import tables
tables.assets_dir = lambda: pathlib.Path(sys.argv[1])
from core.probes.registry import catalogue
found = catalogue()
print(sorted(each.where for each in found.broken), *(each.error for each in found.broken))
print("base" in found)
"""


def test_a_broken_lexicon_is_told_by_name_and_takes_nothing_else_down(tmp_path: Path) -> None:
    for folder in ("lexicons", "surface"):
        shutil.copytree(assets_dir() / folder, tmp_path / folder)
    with (tmp_path / "lexicons" / "compatibility.csv").open("a", encoding="utf-8") as table:
        table.write("reject,emotion,jolly,*,dog,implausible,why\n")
    done = subprocess.run([sys.executable, "-c", BROKEN, str(tmp_path)], capture_output=True, text=True, check=True)
    first, second = done.stdout.splitlines()
    assert first.startswith("['core.probes.families.societal']")
    assert "modifier 'jolly' is not known" in first
    assert second == "True"


RNG = stream(1, "a", "b")

WHOLE_IMAGE = {
    "vflip": image_edits.flip_vertical,
    "hflip": image_edits.flip_horizontal,
    "rotate-10": lambda pixels: image_edits.rotate(pixels, -10),
    "rotate-5": lambda pixels: image_edits.rotate(pixels, -5),
    "rotate+5": lambda pixels: image_edits.rotate(pixels, 5),
    "rotate+10": lambda pixels: image_edits.rotate(pixels, 10),
    "blur-1": lambda pixels: image_edits.blur(pixels, 1.0),
    "blur-2": lambda pixels: image_edits.blur(pixels, 2.0),
    "null:jpeg95": lambda pixels: image_edits.jpeg(pixels, quality=95),
    "null:shift1": lambda pixels: image_edits.translate(pixels, right=1),
    "null:resize": image_edits.resize_and_back,
}


@pytest.mark.parametrize("name", WHOLE_IMAGE)
def test_a_probe_of_the_whole_image_is_its_edit(name: str) -> None:
    probe, scene = catalogue().get(name), paint()
    np.testing.assert_array_equal(probe.make(scene, SUBJECT, RNG).pixels, WHOLE_IMAGE[name](scene.pixels))
    assert probe.edits is Edits.IMAGE
    assert probe.expectation is Expectation.INVARIANT
    assert probe.baseline == IDENTITY
    assert probe.default
    assert probe.control == name.startswith(("blur", "null"))
    assert probe.source
    assert probe.summary.endswith(".")


def test_the_null_axis_is_the_null_family() -> None:
    assert [probe.name for probe in select(["null"])] == ["null:jpeg95", "null:shift1", "null:resize"]
    assert {probe.family for probe in catalogue() if probe.axis is Axis.NULL} == {"null"}


@pytest.mark.parametrize("name", ["null:jpeg95", "null:shift1", "null:resize"])
def test_a_null_edit_is_next_to_invisible(name: str) -> None:
    pixels = data.chelsea()
    made = catalogue().get(name).make(Scene(Item("cat", "test", None, 451, 300), pixels), SUBJECT, RNG).pixels
    assert made is not None
    assert (made != pixels).any()
    aligned = (pixels[:, :-1], made[:, 1:]) if name == "null:shift1" else (pixels, made)
    assert structural_similarity(*aligned, channel_axis=2) > 0.97


@pytest.mark.parametrize(("name", "moves"), [("null:shift1", True), ("null:jpeg95", False), ("blur-2", False)])
def test_the_object_is_followed_where_it_moves(name: str, moves: bool) -> None:
    scene = paint()
    variant = catalogue().get(name).make(scene, SUBJECT, RNG)
    assert (variant.object_mask != scene.item.mask) == moves
    assert (variant.object_box != scene.item.box) == moves
