"""Probes on a video: the same edit of every frame, edits of the frames themselves, and a reason for everything else."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from core.corpora.item_pictures import read_item
from core.corpora.registry import catalogue as corpora
from core.errors import ProbeRejected
from core.probes.base import FRAMES, HUMAN, Edits, Expectation, Probe, Subject, Variant
from core.probes.pairs import Pairs, subject_of
from core.probes.pixels import edits
from core.probes.registry import catalogue
from core.probes.rejections import CODES
from core.probes.scene import Scene


@cache
def pairs() -> Pairs:
    """Six frames of a video that ships."""
    item = corpora().get("demo-videos").load(frames=6).get("dog-right")
    return Pairs(item, read_item(item).pixels)


def subject() -> Subject:
    return subject_of(pairs().item, "There is a dog in a pasture.")


def made(name: str) -> Variant:
    found = pairs().make(catalogue().get(name), subject())
    assert isinstance(found, Variant)
    return found


@pytest.mark.parametrize("probe", list(catalogue()), ids=lambda probe: probe.name)
def test_every_probe_makes_a_sound_variant_of_a_video_or_says_why_not(probe: Probe) -> None:
    before = pairs().pixels.copy()
    found = pairs().make(probe, subject())
    np.testing.assert_array_equal(pairs().pixels, before)
    if isinstance(found, ProbeRejected):
        assert found.code in CODES
        assert found.code != "probe-failed", found.detail
        return
    assert found.probe == probe.name
    if probe.edits is Edits.CAPTION:
        assert found.pixels is None
        return
    assert found.caption is None
    assert found.pixels is not None
    assert probe.framewise or probe.needs == FRAMES
    assert (found.pixels.ndim, found.pixels.dtype) == (4, np.uint8)
    assert found.pixels.flags.c_contiguous
    assert not np.shares_memory(found.pixels, pairs().pixels)


@pytest.mark.parametrize(
    ("name", "edit"), [("hflip", edits.flip_horizontal), ("vflip", edits.flip_vertical), ("null:jpeg95", edits.jpeg)]
)
def test_an_edit_of_the_picture_is_one_of_every_frame(name: str, edit: Callable[[np.ndarray], np.ndarray]) -> None:
    expected = np.stack([edit(frame) for frame in pairs().pixels])
    np.testing.assert_array_equal(made(name).pixels, expected)


def test_edits_of_the_frames_are_the_frames_that_they_say() -> None:
    np.testing.assert_array_equal(made("frames:half").pixels, pairs().pixels[::2])
    np.testing.assert_array_equal(made("frames:backwards").pixels, pairs().pixels[::-1])
    other = corpora().get("demo-videos").load(frames=6).get("firetruck-left")
    found = made("frames:other-video")
    assert found.facts == {"video": "firetruck-left"}
    np.testing.assert_array_equal(found.pixels, read_item(other).pixels)


def test_backwards_is_marked_and_what_it_claims_is_a_drop() -> None:
    reordering = [probe for probe in catalogue() if probe.reorders]
    assert [probe.name for probe in reordering] == ["frames:backwards"]
    assert reordering[0].expectation is Expectation.DIRECTIONAL
    assert not reordering[0].default


@pytest.mark.parametrize("name", ["frames:half", "frames:backwards"])
def test_one_frame_has_no_half_and_no_order(name: str) -> None:
    item = replace(pairs().item, frames=(0,))
    found = Pairs(item, np.array(pairs().pixels[:1])).make(catalogue().get(name), subject())
    assert isinstance(found, ProbeRejected)
    assert found.code == "few-frames"


def test_a_lone_video_has_no_other_and_a_changed_one_is_said() -> None:
    other = catalogue().get("frames:other-video")
    lone = Pairs(replace(pairs().item, rivals=()), np.array(pairs().pixels)).make(other, subject())
    assert isinstance(lone, ProbeRejected)
    assert lone.code == "no-rival"
    (rival,) = pairs().item.rivals
    stale = replace(pairs().item, rivals=(replace(rival, bytes_sha256="0" * 64),))
    changed = Pairs(stale, np.array(pairs().pixels)).make(other, subject())
    assert isinstance(changed, ProbeRejected)
    assert changed.code == "bad-rival"


def test_a_picture_has_no_frames() -> None:
    frame = np.array(pairs().pixels[0])
    picture = replace(pairs().item, frames=())
    with pytest.raises(ProbeRejected, match="is a picture and no video"):
        catalogue().get("frames:half").make(Scene(picture, frame), subject(), np.random.default_rng(0))
    assert subject().name == HUMAN
