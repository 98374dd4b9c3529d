"""The demo corpus as it ships, and what happens to a damaged copy."""

import hashlib
import json
import re
import shutil
from pathlib import Path

import cv2
import numpy as np
import pytest

from core import settings
from core.corpora.demo import PACK, load_demo, pictures_of
from core.corpora.item_pictures import read_item
from core.corpora.schema import CATEGORIES, COVERAGE_BINS, EXTRA_CATEGORIES, Corpus, Item, languages
from core.errors import BadCorpus
from tools.demo_corpus.write import SAMPLES, SAMPLES_FOLDER, put_samples

SHIPPED = settings.ROOT / "data" / "demo"


@pytest.fixture(scope="module")
def demo() -> Corpus:
    return load_demo.load(SHIPPED)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A build whose images lie in a folder, as they all did once."""
    folder = Path(shutil.copytree(SHIPPED, tmp_path / "demo", ignore=shutil.ignore_patterns(PACK)))
    shutil.copytree(pictures_of(SHIPPED) / "images", folder / "images")
    return folder


@pytest.fixture
def packed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The build that ships, to be unpacked into its own cache."""
    monkeypatch.setenv("INVARISCOPE_CACHE", str(tmp_path / "cache"))
    return Path(shutil.copytree(SHIPPED, tmp_path / "demo"))


def relist(folder: Path, change: dict[str, object]) -> None:
    """Change fields of the first item and record the new list, as someone who edits on purpose would."""
    first, *others = (folder / "items.jsonl").read_text(encoding="utf-8").splitlines()
    lines = [json.dumps(json.loads(first) | change), *others]
    (folder / "items.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    digest = hashlib.sha256((folder / "items.jsonl").read_bytes()).hexdigest()
    sums = (folder / "SHA256SUMS").read_text(encoding="utf-8")
    (folder / "SHA256SUMS").write_text(re.sub(r"\w{64}  items\.jsonl", f"{digest}  items.jsonl", sums))


def test_the_pictures_that_lie_as_files_too_are_those_that_the_builder_leaves(tmp_path: Path) -> None:
    put_samples(pictures_of(SHIPPED) / "images", tmp_path)
    built, shipped = (
        {path.name: path.read_bytes() for path in folder.iterdir()} for folder in (tmp_path, SHIPPED / SAMPLES_FOLDER)
    )
    assert built == shipped
    assert len(built) == SAMPLES


def test_it_holds_about_240_items_in_every_bin_and_category(demo: Corpus) -> None:
    assert 220 <= len(demo) <= 260
    assert demo.rejected == ()
    per_bin = [sum(item.coverage_bin == name for item in demo.items) for name in COVERAGE_BINS]
    assert min(per_bin) >= 25
    assert {item.category for item in demo.items} == {*CATEGORIES, *EXTRA_CATEGORIES}


def test_all_that_ships_stays_under_twenty_megabytes() -> None:
    assert sum(path.stat().st_size for path in SHIPPED.rglob("*") if path.is_file()) < 20_000_000


def test_the_checksums_cover_every_file() -> None:
    lines = (SHIPPED / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    recorded = dict(reversed(line.split("  ", 1)) for line in lines)
    files = {path.relative_to(SHIPPED).as_posix(): path for path in SHIPPED.rglob("*") if path.is_file()}
    files.pop("SHA256SUMS")
    assert PACK in recorded
    assert recorded == {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in files.items()}


def test_every_image_decodes_to_the_recorded_pixels(demo: Corpus) -> None:
    for item in demo.items:
        assert read_item(item).pixels_sha256 == item.pixels_sha256


def test_every_item_has_captions_in_five_languages(demo: Corpus) -> None:
    assert languages(demo.items) == ("de", "en", "es", "fr", "ja")
    assert all(set(item.captions) == {"de", "en", "es", "fr", "ja"} for item in demo.items)


def test_labels_are_singular_nouns_without_article(demo: Corpus) -> None:
    for item in demo.items:
        assert item.label is not None
        assert re.fullmatch(r"[A-Za-z]+( [a-z]+)*", item.label)
        assert not re.match(r"(a|an|the|some) ", item.label)


def test_every_image_has_a_licence_and_a_source_in_the_attribution(demo: Corpus) -> None:
    text = (SHIPPED / "ATTRIBUTION.md").read_text(encoding="utf-8")
    for item in demo.items:
        assert item.image_path is not None
        assert f"| {item.image_path.name} | {item.licence} | {item.source} |" in text
    assert "Version 2, June 1991" in (SHIPPED / "GPL-2.txt").read_text(encoding="utf-8")


def test_drawings_are_named_as_such_and_few(demo: Corpus) -> None:
    drawn = [item for item in demo.items if "(drawing)" in item.source]
    assert 0 < len(drawn) < len(demo) / 10
    assert {item.category for item in drawn} <= {"kitchen", "electronics", "appliance", "accessory"}


def composed(demo: Corpus) -> list[Item]:
    return [item for item in demo.items if item.source.startswith("tuxpaint-stamps")]


def test_objects_below_seventy_percent_stay_whole_when_the_image_turns(demo: Corpus) -> None:
    for item in composed(demo):
        if item.coverage_bin in COVERAGE_BINS[:5]:
            assert item.mask is not None
            mask = np.pad(item.mask.to_array().astype(np.uint8), 300)
            height, width = mask.shape
            for degrees in (-10, 10):
                about = cv2.getRotationMatrix2D(((width - 1) / 2, (height - 1) / 2), degrees, 1)
                turned = cv2.warpAffine(mask, about, (width, height), flags=cv2.INTER_NEAREST)
                assert turned.sum() == turned[300:-300, 300:-300].sum(), item.id


def test_objects_are_found_all_over_the_frame(demo: Corpus) -> None:
    small = [item for item in composed(demo) if item.coverage_bin in COVERAGE_BINS[:2]]
    quadrants = set()
    for item in small:
        assert item.box is not None
        x, y = item.box.centre
        quadrants.add((x > item.width / 2, y > item.height / 2))
    assert len(quadrants) == 4
    assert len({(item.width > item.height, item.width < item.height) for item in demo.items}) == 3


def test_a_missing_image_is_left_out_and_said(copy: Path) -> None:
    (copy / "images" / "rocket.jpg").unlink()
    corpus = load_demo.load(copy)
    assert [(each.subject, each.code) for each in corpus.rejected] == [("rocket", "missing-image")]
    assert "rocket" not in {item.id for item in corpus.items}


def test_a_changed_image_is_left_out_and_said(copy: Path) -> None:
    path = copy / "images" / "cat.jpg"
    path.write_bytes(path.read_bytes()[:-10])
    corpus = load_demo.load(copy)
    assert [(each.subject, each.code) for each in corpus.rejected] == [("cat", "changed-image")]
    assert "another hash" in corpus.rejected[0].detail


def test_images_are_unpacked_once_and_again_where_the_cache_lost_or_changed_one(packed: Path, tmp_path: Path) -> None:
    assert not (tmp_path / "cache").exists()
    first = load_demo.load(packed)
    folder = pictures_of(packed)
    assert (len(first), first.rejected) == (252, ())
    assert folder.is_relative_to(tmp_path / "cache")
    kept = folder.stat().st_ino
    assert load_demo.load(packed).items[0].image_path == first.items[0].image_path
    assert folder.stat().st_ino == kept
    (folder / "images" / "rocket.jpg").unlink()
    (folder / "images" / "cat.jpg").write_bytes(b"")
    again = load_demo.load(packed)
    assert (len(again), again.rejected) == (252, ())


def test_an_image_that_is_damaged_in_the_pack_is_left_out_and_said(packed: Path) -> None:
    image = (pictures_of(SHIPPED) / "images" / "cat.jpg").read_bytes()
    pack = (packed / PACK).read_bytes()
    assert pack.count(image) == 1
    (packed / PACK).write_bytes(pack.replace(image, image[:-1] + b"?"))
    corpus = load_demo.load(packed)
    assert [(each.subject, each.code) for each in corpus.rejected] == [("cat", "changed-image")]


def test_a_pack_that_is_cut_off_is_named(packed: Path) -> None:
    (packed / PACK).write_bytes((packed / PACK).read_bytes()[:3_000_000])
    with pytest.raises(BadCorpus, match=r"images\.tar is (cut off|damaged)"):
        load_demo.load(packed)


@pytest.mark.parametrize("name", ["items.jsonl", "SHA256SUMS"])
def test_without_its_lists_it_says_how_to_get_them_back(copy: Path, name: str) -> None:
    (copy / name).unlink()
    with pytest.raises(BadCorpus, match=r"is no demo corpus .*rebuild it: make demo"):
        load_demo.load(copy)


def test_a_list_that_was_edited_is_refused(copy: Path) -> None:
    with (copy / "items.jsonl").open("a") as file:
        file.write("{}\n")
    with pytest.raises(BadCorpus, match="is not the file that SHA256SUMS records"):
        load_demo.load(copy)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"file": "../../etc/passwd"}, "must name a file in images/"),
        ({"file": "images/.."}, "must name a file in images/"),
        ({"file": "/images/a.jpg"}, "must name a file in images/"),
        ({"category": "ghost"}, "unknown category 'ghost'"),
        ({"mask": ""}, "its mask is empty"),
        ({"width": "wide"}, "cannot be used"),
        ({"captions": None}, "cannot be used"),
    ],
)
def test_a_line_of_another_shape_is_named(copy: Path, change: dict[str, object], message: str) -> None:
    relist(copy, change)
    with pytest.raises(BadCorpus, match=rf"items\.jsonl, line 1 cannot be used: .*{re.escape(message)}|{message}"):
        load_demo.load(copy)


def test_a_users_own_build_comes_first(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INVARISCOPE_DATA", str(copy.parent))
    assert load_demo.load().items[0].image_path == copy / "images" / load_demo.load().items[0].image_path.name
    monkeypatch.setenv("INVARISCOPE_DATA", str(copy.parent / "elsewhere"))
    assert load_demo.load().items[0].image_path.is_relative_to(pictures_of(SHIPPED))
