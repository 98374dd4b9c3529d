"""Multi30k: line by line in several languages, plain and compressed, and what may be wrong with its files."""

import gzip
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

from core.corpora.multi30k import load_multi30k
from core.errors import BadCorpus, InvalidInput
from core.probes.rejections import CODES

NAMES = ["1000.jpg", "1001.jpg", "1002.jpg#0"]
TEXTS = {"en": ["A dog runs.", "", "Two men."], "de": ["Ein Hund rennt.", "Eine Frau.", "Zwei Männer."]}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "raw").mkdir()
    (tmp_path / "image_splits").mkdir()
    (tmp_path / "photos").mkdir()
    for name in NAMES:
        buffer = BytesIO()
        Image.new("RGB", (30, 20), "navy").save(buffer, "JPEG")
        (tmp_path / "photos" / name.partition("#")[0]).write_bytes(buffer.getvalue())
    (tmp_path / "image_splits" / "test_2016_flickr.txt").write_text("\n".join(NAMES) + "\n", encoding="utf-8")
    (tmp_path / "raw" / "test_2016_flickr.en").write_text("\n".join(TEXTS["en"]) + "\n", encoding="utf-8")
    with gzip.open(tmp_path / "raw" / "test_2016_flickr.de.gz", "wb") as file:
        file.write(("\n".join(TEXTS["de"]) + "\n").encode())
    return tmp_path


def test_a_photograph_has_its_line_in_every_language(root: Path) -> None:
    corpus = load_multi30k.load(root, images="photos")
    assert [(item.id, dict(item.captions)) for item in corpus.items] == [
        ("1000.jpg", {"en": ("A dog runs.",), "de": ("Ein Hund rennt.",)}),
        ("1001.jpg", {"de": ("Eine Frau.",)}),
        ("1002.jpg", {"en": ("Two men.",), "de": ("Zwei Männer.",)}),
    ]
    assert corpus.description == "Multi30k, test_2016_flickr, en, de"
    assert [item.id for item in load_multi30k.load(root, limit="1").items] == ["1000.jpg"]


def test_a_photograph_that_is_gone_broken_or_twice_costs_itself_alone(root: Path) -> None:
    (root / "photos" / "1001.jpg").unlink()
    (root / "photos" / "1002.jpg").write_bytes(b"\xff\xd8\xff\xe0")
    for name in ("image_splits/test_2016_flickr.txt", "raw/test_2016_flickr.en"):
        path = root / name
        lines = path.read_text(encoding="utf-8").split("\n")
        path.write_text("\n".join([*lines[:3], lines[0], ""]), encoding="utf-8")
    (root / "raw" / "test_2016_flickr.de.gz").unlink()
    corpus = load_multi30k.load(root)
    assert [item.id for item in corpus.items] == ["1000.jpg"]
    codes = [each.code for each in corpus.rejected]
    assert codes == ["entry-no-image", "bad-image", "duplicate-id"]
    assert set(codes) <= set(CODES)


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("image_splits/test_2016_flickr.txt", b"1000.jpg\n", "has 3 lines and test_2016_flickr.txt 1"),
        ("raw/test_2016_flickr.de.gz", b"no archive", "cannot be read"),
        ("raw/test_2016_flickr.de.gz", gzip.compress(b"\xff\xfe", mtime=0), "cannot be read"),
        ("raw/test_2016_flickr.en", b"\xff\xfa", "not UTF-8"),
    ],
    ids=["fewer-names", "no-archive", "no-text-inside", "no-text"],
)
def test_a_file_that_is_wrong_as_a_whole_is_refused(root: Path, name: str, data: bytes, said: str) -> None:
    (root / name).write_bytes(data)
    with pytest.raises(BadCorpus, match=said):
        load_multi30k.load(root)


def test_a_bomb_is_not_unpacked(root: Path) -> None:
    (root / "raw" / "test_2016_flickr.de.gz").write_bytes(gzip.compress(b"\n" * (65 << 20)))
    with pytest.raises(BadCorpus, match="more than 64 MB"):
        load_multi30k.load(root)


def test_what_is_missing_is_named(root: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    with pytest.raises(BadCorpus, match=r"holds no train\.txt"):
        load_multi30k.load(root, split="train")
    with pytest.raises(InvalidInput, match="split must be the stem"):
        load_multi30k.load(root, split="../raw/test")
    bare = tmp_path_factory.mktemp("bare")
    (bare / "train.txt").write_text("1000.jpg\n", encoding="utf-8")
    with pytest.raises(BadCorpus, match=r"none of train\.en, train\.de"):
        load_multi30k.load(bare, split="train")
