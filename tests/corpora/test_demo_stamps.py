"""Fetching, unpacking and reading stamps."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from core.errors import BadCorpus, InvalidInput, NotAvailable
from tests.corpora.stamp_folder import ellipse, stamp
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
