"""Stamps of the demo corpus, and one stamp on one background."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.corpora.demo_backgrounds import PLACES, make_background
from core.corpora.demo_plan import POSES
from core.corpora.schema import COVERAGE_BINS, Mask, coverage_bin
from core.errors import BadCorpus, InvalidInput, NotAvailable
from core.seeds import stream
from tests.corpora.stamp_folder import ellipse, stamp
from tools.demo_corpus.composed import MAX_SCALE, Composition, compose, scale_range
from tools.demo_corpus.stamps import find_stamps, read_captions, read_stamp

needs_dpkg = pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="needs dpkg-deb, as Debian has it")


def package(tmp_path: Path) -> Path:
    """A Debian package with one stamp in it."""
    tree = tmp_path / "tree"
    stamp(tree / "usr/share/tuxpaint/stamps", "animals/owl.png")
    (tree / "DEBIAN").mkdir()
    (tree / "DEBIAN/control").write_text(
        "Package: tuxpaint-stamps-default\nVersion: 1\nArchitecture: all\n"
        "Maintainer: n <n@example.org>\nDescription: n\n"
    )
    deb = tmp_path / "tuxpaint-stamps-default_1_all.deb"
    subprocess.run(["dpkg-deb", "--build", str(tree), str(deb)], check=True, capture_output=True)
    return deb


def test_a_given_folder_is_used_as_it_is(tmp_path: Path) -> None:
    folder = stamp(tmp_path / "stamps", "animals/owl.png")
    assert find_stamps(tmp_path / "cache", stamps=folder) == folder
    assert not (tmp_path / "cache").exists()


def test_a_folder_without_stamps_says_what_to_give(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"holds no stamps .*give --stamps FOLDER"):
        find_stamps(tmp_path, stamps=tmp_path / "nothing")


def test_a_missing_package_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"no file .*absent\.deb"):
        find_stamps(tmp_path, deb=tmp_path / "absent.deb")


@needs_dpkg
def test_a_package_is_unpacked_once_and_found_again(tmp_path: Path) -> None:
    deb, cache = package(tmp_path), tmp_path / "cache"
    folder = find_stamps(cache, deb=deb)
    assert read_stamp(folder, "animals/owl.png").size == (200, 150)
    deb.unlink()
    assert find_stamps(cache) == folder
    assert [path.name for path in cache.iterdir()] == [deb.stem]


@needs_dpkg
def test_a_file_that_is_no_package_leaves_the_cache_empty(tmp_path: Path) -> None:
    (tmp_path / "broken.deb").write_bytes(b"!<arch>\nnothing")
    with pytest.raises(NotAvailable, match=r"dpkg-deb -x failed"):
        find_stamps(tmp_path / "cache", deb=tmp_path / "broken.deb")
    assert list((tmp_path / "cache").iterdir()) == []


def test_a_machine_without_apt_is_told_in_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotAvailable, match=r"apt-get and dpkg-deb are not on this machine.*--stamps.*--deb"):
        find_stamps(tmp_path / "cache")


def test_a_download_that_fails_gives_its_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, script in (("apt-get", "echo 'E: no network' >&2; exit 100"), ("dpkg-deb", "exit 0")):
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotAvailable, match=r"apt-get download failed \(E: no network\)"):
        find_stamps(tmp_path / "cache")


def test_a_stamp_is_cut_to_what_is_opaque(tmp_path: Path) -> None:
    folder = stamp(tmp_path, "animals/owl.png", (120, 80))
    read = read_stamp(folder, "animals/owl.png")
    assert read.mode == "RGBA"
    assert np.array_equal(np.asarray(read), np.asarray(ellipse(120, 80, border=0)))


def test_stamps_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    stamp(tmp_path, "animals/owl.png")
    ellipse(5, 5).resize((40, 40)).point(lambda value: 0).save(tmp_path / "animals/ghost.png")
    (tmp_path / "animals/torn.png").write_bytes((tmp_path / "animals/owl.png").read_bytes()[:300])
    (tmp_path / "animals/odd.svg").write_text("<svg")
    for name, reason in (
        ("absent.png", "no stamp"),
        ("ghost.png", "transparent everywhere"),
        ("torn.png", "cannot be read"),
        ("odd.svg", "cannot be rendered"),
        ("../../outside.png", "no stamp"),
    ):
        with pytest.raises(BadCorpus, match=reason):
            read_stamp(tmp_path, f"animals/{name}")


def test_a_drawing_is_rendered_with_its_transparency(tmp_path: Path) -> None:
    square = '<rect x="10" width="20" height="20" fill="#f00"/>'
    (tmp_path / "box.svg").write_text(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 20">{square}</svg>')
    drawn = read_stamp(tmp_path, "box.svg")
    assert drawn.size == (320, 320)
    assert drawn.getpixel((160, 160)) == (255, 0, 0, 255)


def test_captions_are_taken_word_for_word(tmp_path: Path) -> None:
    stamp(tmp_path, "animals/owl.png", text="An owl!\nde.utf8=Eine Eule.\nfr.utf8=Un hibou.\n# note\n")
    assert read_captions(tmp_path, "animals/owl.png", ("en", "de")) == {"en": ("An owl!",), "de": ("Eine Eule.",)}


def test_a_missing_language_or_text_is_named(tmp_path: Path) -> None:
    stamp(tmp_path, "animals/owl.png", text="An owl.\nde.utf8=Eine Eule.\nja.utf8=\n")
    with pytest.raises(BadCorpus, match="has no caption in fr, ja"):
        read_captions(tmp_path, "animals/owl.png", ("en", "de", "fr", "ja"))
    (tmp_path / "animals/owl.txt").unlink()
    with pytest.raises(BadCorpus, match=r"no text owl\.txt beside it"):
        read_captions(tmp_path, "animals/owl.png", ("en",))


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
