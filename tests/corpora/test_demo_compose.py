"""Backgrounds, and one stamp on one background."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.corpora.demo_backgrounds import PLACES, make_background
from core.corpora.demo_plan import POSES
from core.corpora.schema import COVERAGE_BINS, Mask, coverage_bin
from core.errors import BadCorpus, InvalidInput
from core.seeds import stream
from tests.corpora.stamp_folder import ellipse
from tools.demo_corpus.composed import MAX_SCALE, Composition, compose, scale_range

FREE_OF_CONDITIONS = {
    "astronaut.png",
    "camera.png",
    "chelsea.png",
    "coffee.png",
    "grass.png",
    "gravel.png",
    "brick.png",
}
"""CC0 or in the public domain, each by its own documentation in ``skimage.data``."""


def made(bin_name: str, *, pose: str = "stand", background: str = "meadow", part: str = "x") -> Composition:
    stamp = ellipse(240, 200, border=0)
    return compose(
        stamp, bin_name=bin_name, background=background, pose=pose, size=(384, 320), rng=stream(1, part, bin_name)
    )


@pytest.mark.parametrize("name", PLACES)
def test_a_background_fills_its_frame_and_repeats(name: str) -> None:
    first, again = (make_background(name, 200, 150, stream(3, name)) for _ in range(2))
    assert first.image.size == (200, 150)
    assert first.image.tobytes() == again.image.tobytes()
    assert first.image.tobytes() != make_background(name, 200, 150, stream(4, name)).image.tobytes()
    assert 0 <= first.horizon < 150
    assert (first.horizon > 0) == (PLACES[name].far is not None)


def test_backgrounds_use_photographs_free_of_conditions_only() -> None:
    used = {surface.photograph for place in PLACES.values() for surface in (place.near, place.far) if surface}
    assert used <= FREE_OF_CONDITIONS


def test_an_unknown_background_lists_the_known_ones() -> None:
    with pytest.raises(InvalidInput, match="no background is named 'sea'; known: field, meadow"):
        make_background("sea", 100, 100, stream(0))


@settings(max_examples=40, deadline=None)
@given(
    width=st.integers(90, 320),
    height=st.integers(90, 320),
    bin_name=st.sampled_from(COVERAGE_BINS),
    pose=st.sampled_from(POSES),
    seed=st.integers(0, 10**6),
)
def test_a_stamp_lands_in_its_bin_or_is_refused(width: int, height: int, bin_name: str, pose: str, seed: int) -> None:
    stamp, size = ellipse(width, height, border=0), (360, 270)
    low, high = scale_range(stamp, bin_name, size)
    frame = {"background": "wall", "pose": pose, "size": size, "rng": stream(seed)}
    if low > high:
        with pytest.raises(BadCorpus, match="cannot cover"):
            compose(stamp, bin_name=bin_name, **frame)
        return
    result = compose(stamp, bin_name=bin_name, **frame)
    box = Mask.from_array(result.mask).box
    assert box is not None
    assert coverage_bin(box.coverage(*size)) == bin_name
    assert result.scale <= MAX_SCALE
    assert result.pixels.shape == (270, 360, 3)
    assert result.pixels.dtype == np.uint8


def test_the_same_seed_gives_the_same_picture() -> None:
    first, again, other = made("20-35"), made("20-35"), made("20-35", part="y")
    assert np.array_equal(first.pixels, again.pixels)
    assert np.array_equal(first.mask, again.mask)
    assert not np.array_equal(first.pixels, other.pixels)


def test_a_floating_object_changes_nothing_but_itself() -> None:
    result = made("20-35", pose="float", background="sky")
    plain = np.asarray(make_background("sky", 384, 320, stream(1, "x", "20-35")).image)
    changed = (result.pixels != plain).any(axis=2)
    assert not (changed & ~_grown(result.mask, 3)).any()
    assert changed[result.mask].mean() > 0.99


@pytest.mark.parametrize("pose", ["stand", "lie"])
def test_a_shadow_only_darkens_the_ground(pose: str) -> None:
    result = made("20-35", pose=pose, background="lawn")
    plain = np.asarray(make_background("lawn", 384, 320, stream(1, "x", "20-35")).image).astype(int)
    outside = ~_grown(result.mask, 3)
    difference = result.pixels.astype(int)[outside] - plain[outside]
    assert difference.max() <= 16  # black itself takes the shade of the shadow
    assert difference.min() < -20


def test_feet_stand_on_the_ground_and_not_in_the_sky() -> None:
    for number in range(20):
        result = made("0-10", part=f"part {number}")
        horizon = make_background("meadow", 384, 320, stream(1, f"part {number}", "0-10")).horizon
        assert np.flatnonzero(result.mask.any(axis=1))[-1] > horizon


def test_a_stamp_too_small_for_its_bin_says_what_to_choose() -> None:
    with pytest.raises(BadCorpus, match=r"a stamp of 20 × 20 px cannot cover 50-70 % of 384 × 320 px .*smaller bin"):
        compose(
            ellipse(20, 20, border=0), bin_name="50-70", background="sky", pose="float", size=(384, 320), rng=stream(0)
        )


def _grown(mask: np.ndarray, by: int) -> np.ndarray:
    grown = np.zeros_like(mask)
    for down in range(-by, by + 1):
        for across in range(-by, by + 1):
            grown |= np.roll(mask, (down, across), axis=(0, 1))
    return grown
