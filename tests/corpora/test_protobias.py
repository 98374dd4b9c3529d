"""Paper E's triplets from a user's folder, and everything that a stranger may have put there."""

import csv
import json
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import settings as tries
from hypothesis import strategies as st
from PIL import Image

from core import settings
from core.audit.run import run_audit
from core.corpora.item_pictures import read_item, read_rival
from core.corpora.protobias import load_protobias
from core.corpora.schema import Corpus
from core.errors import BadCorpus, BadImage, InvalidInput
from core.evaluators.pool import Pool
from core.probes.rejections import CODES
from core.store.store import Store
from tests.plans import make_plan

ROW = {
    "id": "b-1",
    "text": "A bird is next to two stones.",
    "correct_image": "right.png",
    "adversarial_image": "wrong.png",
    "domain": "animal",
    "subcategory": "bird",
    "knob": "count",
    "correct": "A penguin is next to two stones.",
}


def picture(colour: str, size: tuple[int, int] = (40, 30)) -> bytes:
    buffer = BytesIO()
    Image.new("RGB", size, colour).save(buffer, "PNG")
    return buffer.getvalue()


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("INVARISCOPE_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "protobias"
    folder.mkdir()
    for name, colour in (("right.png", "navy"), ("wrong.png", "teal"), ("between.png", "olive"), ("other.png", "red")):
        (folder / name).write_bytes(picture(colour))
    return folder


def jsonl(root: Path, *rows: dict[str, Any]) -> Corpus:
    (root / "pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return load_protobias.load(root)


def shard(root: Path, *rows: dict[str, Any], name: str = "test-0.parquet") -> None:
    (root / "data").mkdir(exist_ok=True)
    pq.write_table(pa.Table.from_pylist(list(rows)), root / "data" / name)


def test_a_triplet_becomes_an_item_with_its_adversary(root: Path) -> None:
    corpus = jsonl(root, ROW)
    (item,) = corpus.items
    assert (item.id, item.corpus, item.width, item.height) == ("b-1", "protobias", 40, 30)
    assert item.captions == {"en": ("A bird is next to two stones.", "A penguin is next to two stones.")}
    assert item.facts == {"domain": "animal", "subcategory": "bird", "knob": "count"}
    assert [rival.role for rival in item.rivals] == ["proto-wrong"]
    assert read_item(item).pixels[0, 0].tolist() == [0, 0, 128]
    assert read_rival(item, item.rivals[0]).pixels[0, 0].tolist() == [0, 128, 128]
    assert "stereotypes" in corpus.description


def test_csv_and_jsonl_give_the_same_items(root: Path) -> None:
    first = jsonl(root, ROW).items
    (root / "pairs.jsonl").unlink()
    with (root / "pairs.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ROW)
        writer.writeheader()
        writer.writerow(ROW)
    second = load_protobias.load(root).items
    assert [(item.id, item.captions, item.rivals, item.facts) for item in first] == [
        (item.id, item.captions, item.rivals, item.facts) for item in second
    ]


def test_the_two_pictures_between_are_rivals_too(root: Path) -> None:
    names = {"nonproto_right": "right.png", "nonproto_wrong": "between.png", "proto_right": "other.png"}
    row = {"id": "q", "text": "A bird.", **names, "proto_wrong": "wrong.png"}
    (item,) = jsonl(root, row).items
    assert {rival.role: rival.path.name for rival in item.rivals} == {
        "nonproto-wrong": "between.png",
        "proto-right": "other.png",
        "proto-wrong": "wrong.png",
    }


def test_the_hubs_shards_are_read_in_order_and_their_pictures_kept_in_the_cache(root: Path) -> None:
    rows = [
        {
            "id": f"r{number}",
            "text": f"A bird, number {number}.",
            "domain": "object" if number % 2 else "animal",
            "correct_image": {"bytes": picture("navy"), "path": "../../a.png"},
            "adversarial_image": {"bytes": picture("teal"), "path": None},
            "unknown": [1, 2],
        }
        for number in range(40)
    ]
    shard(root, *rows[:30], name="test-0.parquet")
    shard(root, *rows[30:], name="test-1.parquet")
    corpus = load_protobias.load(root)
    assert [item.id for item in corpus.items] == [row["id"] for row in rows]
    assert corpus.rejected == ()
    item = corpus.items[3]
    assert item.image_path is not None
    assert item.image_path.is_relative_to(settings.cache_dir())
    np.testing.assert_array_equal(read_item(item).pixels[5, 5], (0, 0, 128))
    assert len([path for path in settings.cache_dir().rglob("*") if path.is_file()]) == 2
    assert load_protobias.load(root) == corpus
    item.image_path.write_bytes(picture("black"))
    with pytest.raises(BadImage, match="another hash"):
        read_item(item)
    assert len(load_protobias.load(root, domain="object")) == 20
    assert len(load_protobias.load(root, limit="7")) == 7


def test_many_adversaries_of_one_text_are_items_of_one_group(root: Path) -> None:
    corpus = jsonl(root, ROW, {**ROW, "adversarial_image": "other.png"}, {**ROW, "text": "Another text."})
    assert [(item.id, item.group, item.rivals[0].path.name) for item in corpus.items] == [
        ("b-1", "b-1", "wrong.png"),
        ("b-1#2", "b-1", "other.png"),
    ]
    assert [(each.subject, each.code) for each in corpus.rejected] == [("b-1", "duplicate-id")]


def test_pictures_of_one_text_may_have_sizes_of_their_own(root: Path, tmp_path: Path) -> None:
    (root / "wide.png").write_bytes(picture("teal", (61, 30)))
    corpus = jsonl(root, {**ROW, "adversarial_image": "wide.png"}, {**ROW, "id": "alike"})
    assert corpus.rejected == ()
    assert [item.rivals[0].size for item in corpus.items] == [(61, 30), None]
    assert read_rival(corpus.items[0], corpus.items[0].rivals[0]).pixels.shape == (30, 61, 3)
    plan = make_plan(corpus, evaluators=["conse-lite0"], probes=["prototype"], subjects=["human"])
    run_audit(plan, tmp_path / "runs", run_id="sizes", pool=Pool())
    with Store.open([tmp_path / "runs" / "sizes"]) as store:
        scored = store.query("select item, score from scores where probe = 'prototype:adversary'")
    assert set(scored["item"]) == {"b-1", "alike"}
    assert scored["score"].notna().all()


@pytest.mark.parametrize(
    ("change", "code", "told"),
    [
        ({"text": "  "}, "missing-cell", "line 1 has no text"),
        ({"id": None}, "missing-cell", "line 1 has no id"),
        ({"id": True}, "missing-cell", "line 1 has no id"),
        ({"correct_image": ""}, "missing-cell", "no picture in correct_image or nonproto_right"),
        ({"adversarial_image": None}, "missing-cell", "no picture in adversarial_image or proto_wrong"),
        ({"adversarial_image": ["wrong.png"]}, "missing-cell", "no picture in adversarial_image"),
        ({"correct_image": "gone.png"}, "missing-image", "there is no file 'gone.png'"),
        ({"correct_image": "../secret.png"}, "unsafe-path", "climbs out of"),
        ({"adversarial_image": "/etc/passwd"}, "unsafe-path", "is no relative path"),
        ({"adversarial_image": "link.png"}, "unsafe-path", "is a link that leaves"),
        ({"adversarial_image": "words.png"}, "bad-image", "not a JPEG, PNG"),
        ({"adversarial_image": "bomb.png"}, "bad-image", "pixels are over the limit"),
        ({"correct_image": "dot.png"}, "bad-image", "too small to audit"),
    ],
)
def test_what_cannot_be_used_is_left_out_with_its_reason(
    root: Path, change: dict[str, Any], code: str, told: str
) -> None:
    (root.parent / "secret.png").write_bytes(picture("black"))
    (root / "link.png").symlink_to(root.parent / "secret.png")
    (root / "words.png").write_text("no image at all")
    (root / "dot.png").write_bytes(picture("teal", (2, 2)))
    Image.new("1", (20_000, 20_000)).save(root / "bomb.png")
    corpus = jsonl(root, {**ROW, **change}, {**ROW, "id": "fine"})
    assert [item.id for item in corpus.items] == ["fine"]
    assert [each.code for each in corpus.rejected] == [code]
    assert code in CODES
    assert told in corpus.rejected[0].detail


def test_bytes_in_a_shard_that_are_no_image_are_left_out(root: Path) -> None:
    good = {"bytes": picture("navy"), "path": None}
    rows = [
        {"id": "a", "text": "A bird.", "correct_image": good, "adversarial_image": {"bytes": b"MZ" * 40, "path": None}},
        {"id": "b", "text": "A bird.", "correct_image": good, "adversarial_image": {"bytes": None, "path": None}},
        {"id": "c", "text": "A bird.", "correct_image": good, "adversarial_image": {"bytes": None, "path": "../x.png"}},
        {"id": "d", "text": "A bird.", "correct_image": good, "adversarial_image": good},
    ]
    shard(root, *rows)
    corpus = load_protobias.load(root)
    assert [item.id for item in corpus.items] == ["d"]
    assert [each.code for each in corpus.rejected] == ["bad-image", "missing-cell", "unsafe-path"]


def test_a_bomb_inside_a_shard_is_left_out_with_a_sentence_before_it_is_decoded(root: Path) -> None:
    """400 million pixels in 50 kB: the header alone is read, and the other rows stay."""
    good, small = {"bytes": picture("navy"), "path": None}, BytesIO()
    Image.new("1", (20_000, 20_000)).save(small, "PNG")
    bomb = {"bytes": small.getvalue(), "path": None}
    assert len(bomb["bytes"]) < 100_000
    rows = [
        {"id": "a", "text": "A bird.", "correct_image": good, "adversarial_image": bomb},
        {"id": "b", "text": "A bird.", "correct_image": good, "adversarial_image": good},
    ]
    shard(root, *rows)
    corpus = load_protobias.load(root)
    assert [item.id for item in corpus.items] == ["b"]
    (left_out,) = corpus.rejected
    assert left_out.code == "bad-image"
    assert "pixels are over the limit" in left_out.detail


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("pairs.jsonl", "{", "is not valid JSON at line 1"),
        ("pairs.jsonl", "[1]", "must be a JSON object, got list"),
        ("pairs.csv", "id,text,correct_image\na,b,c\n", "has no column adversarial_image or proto_wrong"),
        ("pairs.csv", "id,text,correct_image,adversarial_image\na,b\n", "another number of cells"),
        ("test.parquet", "PAR1 not really PAR1", "cannot be read as Parquet"),
    ],
)
def test_a_file_that_is_malformed_as_a_whole_is_refused(root: Path, name: str, text: str, told: str) -> None:
    (root / name).write_text(text, encoding="utf-8")
    with pytest.raises(BadCorpus, match=told) as error:
        load_protobias.load(root)
    assert str(root) in str(error.value)


def test_a_shard_without_the_columns_says_which_it_has(root: Path) -> None:
    shard(root, {"id": "a", "caption": "A bird."})
    with pytest.raises(BadCorpus, match=r"has no column text; it has id, caption"):
        load_protobias.load(root)


def test_a_folder_without_pairs_says_what_is_looked_for(root: Path) -> None:
    with pytest.raises(BadCorpus, match=r"holds none of pairs\.jsonl, pairs\.csv and no \*\.parquet"):
        load_protobias.load(root)
    with pytest.raises(InvalidInput, match="limit must be a whole number"):
        load_protobias.load(root, limit="none")


cells = st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=8), st.lists(st.integers(), max_size=2))


@tries(max_examples=60, deadline=None)
@given(row=st.dictionaries(st.sampled_from(sorted(ROW)), cells))
def test_any_line_becomes_an_item_or_a_reason(tmp_path_factory: pytest.TempPathFactory, row: dict[str, Any]) -> None:
    folder = tmp_path_factory.mktemp("any")
    for name in ("right.png", "wrong.png"):
        (folder / name).write_bytes(picture("navy"))
    corpus = jsonl(folder, {**ROW, **row})
    assert len(corpus.items) + len(corpus.rejected) == 1
    assert all(each.code in CODES for each in corpus.rejected)
