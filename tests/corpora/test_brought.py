"""Photographs from a stranger's archive: kept whole within limits, or refused by a sentence and nothing is left."""

import io
import os
import stat
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from core.corpora import brought
from core.corpora.brought import Given, keep_pictures, kept_sets, pictures_dir, remove_set
from core.corpora.registry import catalogue
from core.errors import BadCorpus, InvalidInput, InvariscopeError, NotAvailable

CAPTIONS = b"image,caption,label\na.png,A grey wall.,wall\nb.png,A door.,door\n"


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("INVARISCOPE_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


def png(seed: int = 0) -> bytes:
    out = io.BytesIO()
    Image.fromarray(np.random.default_rng(seed).integers(0, 255, (40, 50, 3), dtype=np.uint8)).save(out, "PNG")
    return out.getvalue()


def archive(members: dict[str, bytes], change: Callable[[zipfile.ZipInfo], None] | None = None) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in members.items():
            told = zipfile.ZipInfo(name)
            told.compress_type = zipfile.ZIP_DEFLATED
            if change is not None:
                change(told)
            made.writestr(told, content)
    return out.getvalue()


def one(content: bytes, name: str = "photos.zip") -> Given:
    return Given(name, io.BytesIO(content), len(content))


def left() -> list[Path]:
    return list(pictures_dir().rglob("*")) if pictures_dir().exists() else []


def test_an_archive_becomes_a_corpus_with_its_captions() -> None:
    members = {
        "photos/a.png": png(),
        "photos/sub/b.png": png(1),
        "photos/captions.csv": CAPTIONS,
        "__MACOSX/photos/._a.png": b"x",
        "photos/.DS_Store": b"x",
        "photos/notes.txt": b"x",
    }
    found = keep_pictures([one(archive(members))])
    assert found.pictures == 2
    assert set(found.left_out) == {"__MACOSX/photos/._a.png", "photos/.DS_Store", "photos/notes.txt"}
    corpus = catalogue().get("folder").load(found.folder)
    assert {item.id: item.captions["en"] for item in corpus.items} == {
        "a.png": ("A grey wall.",),
        "sub/b.png": ("A door.",),
    }
    assert (found.folder / "a.png").read_bytes() == png()
    assert found.folder.parent == pictures_dir()


def test_the_same_files_are_the_same_folder_and_single_files_will_do() -> None:
    files = [one(png(), "a.png"), one(png(1), "b.png"), one(CAPTIONS, "captions.csv")]
    first = keep_pictures(files)
    assert keep_pictures(files) == first
    assert [each.name for each in pictures_dir().iterdir()] == [first.folder.name]
    assert len(catalogue().get("folder").load(first.folder).items) == 2


@pytest.mark.parametrize(
    "name",
    [
        "../a.png",
        "/a.png",
        "x/../../a.png",
        "C:/a.png",
        "x\\..\\a.png",
        "a\n.png",
        f"{'x' * 300}.png",
        "\\\\server\\a.png",
    ],
)
def test_a_path_that_leads_out_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(BadCorpus, match=r"is no path inside the set|cannot be unpacked"):
        keep_pictures([one(archive({"b.png": png(), name: png(1)}))])
    assert not left()
    assert not (tmp_path / "a.png").exists()


@given(name=st.text(min_size=1, max_size=40))
def test_no_name_writes_outside(name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("INVARISCOPE_DATA", str(home / "in" / "data"))
        with suppress(InvariscopeError):
            keep_pictures([one(png(2), name), one(png(), "known.png")])
        assert all(each.is_relative_to(home / "in" / "data" / "uploads") for each in home.rglob("*") if each.is_file())


def test_a_bomb_is_refused_by_what_it_states(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INVARISCOPE_UPLOADS_MB", "2")
    packed = archive({f"{index}.bmp": b"BM" + bytes(3_000_000) for index in range(3)})
    assert len(packed) < 20_000
    with pytest.raises(NotAvailable, match=r"unpacks to 9 MB and 2 MB are left .* set INVARISCOPE_UPLOADS_MB higher"):
        keep_pictures([one(packed)])
    assert not left()


def test_a_bomb_that_lies_about_its_size_is_refused() -> None:
    packed = bytearray(archive({"a.bmp": b"BM" + bytes(3_000_000)}))
    size = (3_000_002).to_bytes(4, "little")
    assert packed.count(size) >= 1
    lied = bytes(packed).replace(size, (1000).to_bytes(4, "little"))
    with pytest.raises(BadCorpus, match=r"unpacks to more than the 1,000 bytes|cannot be unpacked"):
        keep_pictures([one(lied)])
    assert not left()


def test_one_picture_over_the_limit_is_refused() -> None:
    with pytest.raises(BadCorpus, match="at most 100,000,000 are taken"):
        keep_pictures([one(archive({"a.bmp": b"BM" + bytes(100_000_001)}))])
    assert not left()


def test_too_many_files_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(brought, "MOST_FILES", 3)
    for count in (4, 7):
        with pytest.raises(BadCorpus, match=r"at most 3 (files|are taken)"):
            keep_pictures([one(archive({f"{index}.png": png() for index in range(count)}))])
    assert not left()


def as_link(told: zipfile.ZipInfo) -> None:
    told.external_attr = (stat.S_IFLNK | 0o777) << 16


def test_a_link_in_an_archive_is_refused() -> None:
    with pytest.raises(BadCorpus, match="is a link or a device"):
        keep_pictures([one(archive({"a.png": b"/etc/passwd"}, as_link))])
    assert not left()


def encrypted(content: bytes) -> bytes:
    """The same archive with the flag of encryption in both of its headers."""
    changed = bytearray(content)
    changed[content.index(b"PK\x03\x04") + 6] |= 1
    changed[content.index(b"PK\x01\x02") + 8] |= 1
    return bytes(changed)


@pytest.mark.parametrize(
    ("content", "name", "said"),
    [
        (encrypted(archive({"a.png": png()})), "photos.zip", "encrypted or packed in a rare way"),
        (b"PK\x03\x04 not a zip", "photos.zip", "photos.zip cannot be unpacked"),
        (b"", "photos.zip", "photos.zip cannot be unpacked"),
        (archive({}), "photos.zip", "holds no JPEG"),
        (archive({"notes.txt": b"x", "captions.csv": CAPTIONS}), "photos.zip", "holds no JPEG"),
        (archive({"a.png": b"#!/bin/sh"}), "photos.zip", "is no picture, whatever its name says"),
        (b"#!/bin/sh", "a.png", "is no picture, whatever its name says"),
        (archive({"a.png": png()})[:-80], "photos.zip", "cannot be unpacked"),
    ],
)
def test_what_is_no_set_of_pictures_is_a_sentence(content: bytes, name: str, said: str) -> None:
    with pytest.raises(BadCorpus, match=said):
        keep_pictures([one(content, name)])
    assert not left()


def test_damage_inside_an_archive_is_a_sentence() -> None:
    packed = bytearray(archive({"a.bmp": b"BM" + np.random.default_rng(0).bytes(5000)}))
    packed[2000] ^= 0xFF
    with pytest.raises(BadCorpus, match="cannot be unpacked"):
        keep_pictures([one(bytes(packed))])
    assert not left()


def test_two_files_of_one_name_are_refused_and_not_lost() -> None:
    with pytest.raises(BadCorpus, match="another file of the set has that name"):
        keep_pictures([one(png(), "a.png"), one(png(1), "a.png")])
    assert not left()


def test_the_quota_counts_what_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    first = keep_pictures([one(png(), "a.png")])
    monkeypatch.setenv("INVARISCOPE_UPLOADS_MB", "0.005")
    with pytest.raises(NotAvailable, match="remove a set that no run needs"):
        keep_pictures([one(png(1), "a.png")])
    assert first.folder.is_dir()
    monkeypatch.setenv("INVARISCOPE_UPLOADS_MB", "0.01")
    with pytest.raises(NotAvailable, match="that are left for them"):
        keep_pictures([one(png(1), "a.png")])
    assert [each.name for each in pictures_dir().iterdir()] == [first.folder.name]
    monkeypatch.setenv("INVARISCOPE_UPLOADS_MB", "lots")
    with pytest.raises(InvalidInput, match="INVARISCOPE_UPLOADS_MB must be a number of MB"):
        keep_pictures([one(png(1), "a.png")])


def test_sets_are_listed_the_newest_first_and_removed_whole() -> None:
    first = keep_pictures([one(archive({"a.png": png()}))])
    second = keep_pictures([one(archive({"a.png": png(1), "b.png": png(2), "captions.csv": CAPTIONS}))])
    os.utime(first.folder, (1e9, 1e9))
    (pictures_dir() / ".unfinished.part").mkdir()
    (pictures_dir() / "elsewhere").symlink_to(first.folder)
    newest, oldest = kept_sets()
    assert (newest.folder, newest.pictures) == (second.folder, 2)
    assert (oldest.folder, oldest.pictures, oldest.since) == (first.folder, 1, 1e9)
    assert newest.size == sum(each.stat().st_size for each in second.folder.iterdir())
    remove_set(second.folder.name)
    assert [each.folder for each in kept_sets()] == [first.folder]
    assert not second.folder.exists()
    assert sorted(each.name for each in pictures_dir().iterdir()) == sorted(
        [".unfinished.part", "elsewhere", first.folder.name]
    )


@pytest.mark.parametrize("name", ["gone", "..", ".", "", "../pictures", ".unfinished.part", "elsewhere", "/"])
def test_what_is_no_set_is_not_removed(name: str) -> None:
    kept = keep_pictures([one(archive({"a.png": png()}))])
    (pictures_dir() / ".unfinished.part").mkdir()
    (pictures_dir() / "elsewhere").symlink_to(kept.folder)
    with pytest.raises(InvalidInput, match="no set of photographs is named"):
        remove_set(name)
    assert kept.folder.is_dir()
    assert (pictures_dir() / ".unfinished.part").is_dir()
    assert (pictures_dir() / "elsewhere").is_symlink()
