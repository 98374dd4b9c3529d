"""Pictures inside Parquet and webdataset's tar, against files as datasets, img2dataset and webdataset lay them out."""

import io
import json
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from core.commands._score_files import read_job
from core.corpora.caption_tables import read_references, read_systems
from core.corpora.images import read_image
from core.corpora.registry import find
from core.corpora.schema import Corpus
from core.errors import BadCorpus

PICTURE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
"""Hugging Face datasets 4's Image feature as it is written to Parquet."""


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("INVARISCOPE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def picture(shade: int, kind: str = "PNG") -> bytes:
    held = io.BytesIO()
    Image.fromarray(np.full((12, 16, 3), shade, np.uint8)).save(held, kind)
    return held.getvalue()


def tar(path: Path, members: Sequence[tuple[str, bytes]], *more: tarfile.TarInfo) -> Path:
    path.parent.mkdir(exist_ok=True, parents=True)
    with tarfile.open(path, "w") as held:
        for name, data in members:
            member = tarfile.TarInfo(name)
            member.size = len(data)
            held.addfile(member, io.BytesIO(data))
        for each in more:
            held.addfile(each)
    return path


def parquet(path: Path, rows: Sequence[Mapping[str, Any]], **kinds: pa.DataType) -> Path:
    path.parent.mkdir(exist_ok=True, parents=True)
    names = list(dict.fromkeys(name for row in rows for name in row))
    pq.write_table(pa.table({n: pa.array([row.get(n) for row in rows], kinds.get(n)) for n in names}), path)
    return path


def load(root: Path, **options: Any) -> Corpus:
    return find("folder").load(root, **options)


def read(root: Path, **options: Any) -> dict[str, tuple[int, tuple[str, ...]]]:
    """Shade of each picture of a folder, and its captions, by its id."""
    found = load(root, **options).items
    return {item.id: (int(read_image(item.image_path).pixels[0, 0, 0]), item.captions.get("en", ())) for item in found}


def test_rows_of_parquet_shards_are_pictures_with_their_captions(tmp_path: Path) -> None:
    for shard in range(2):
        rows = [
            {"image": {"bytes": picture(10 * shard + n), "path": f"{shard}{n}.png"}, "caption": [f"a dog {n}", "a pet"]}
            for n in range(2)
        ]
        parquet(tmp_path / "hf" / "data" / f"train-0000{shard}-of-00002.parquet", rows, image=PICTURE)
    assert len(read(tmp_path / "hf", limit=1)) == 1
    assert len(list((tmp_path / "cache").glob("unpacked/*"))) == 1, "a further file is not unpacked in vain"
    first, second = (f"data/train-0000{shard}-of-00002.parquet" for shard in range(2))
    assert read(tmp_path / "hf") == {
        f"{first}/00.png": (0, ("a dog 0", "a pet")),
        f"{first}/01.png": (1, ("a dog 1", "a pet")),
        f"{second}/10.png": (10, ("a dog 0", "a pet")),
        f"{second}/11.png": (11, ("a dog 1", "a pet")),
    }


def test_a_picture_of_a_row_is_called_by_its_column_of_names_its_path_its_id_or_its_number(tmp_path: Path) -> None:
    held = {"bytes": picture(1), "path": "image.png"}
    names = {
        "COCO_val2014_000000391895.jpg": {"image": held, "filename": "COCO_val2014_000000391895.jpg", "caption": "a"},
        "image.png": {"image": held, "caption": "a"},
        "391895.png": {"image": {**held, "path": None}, "cocoid": 391895, "caption": "a"},
        "000000.png": {"jpg": picture(1), "caption": "a"},
    }
    for place, (name, row) in enumerate(names.items()):
        parquet(tmp_path / str(place) / "x.parquet", [row], image=PICTURE)
        assert read(tmp_path / str(place)) == {f"x.parquet/{name}": (1, ("a",))}, name


def test_columns_of_numbered_captions_and_classes_are_read_as_the_hub_states_them(tmp_path: Path) -> None:
    """jxie/flickr8k's columns, and a ClassLabel as datasets 4 writes it beside the schema."""
    row = {"image": {"bytes": picture(1), "path": "a.png"}, "label": 1, "caption_0": "a dog", "caption_1": "a pet"}
    path = parquet(tmp_path / "x" / "x.parquet", [row], image=PICTURE)
    told = {"info": {"features": {"label": {"names": ["cat", "dog"], "_type": "ClassLabel"}}}}
    for metadata in (told, {"info": []}, {"info": {"features": {"label": {"names": 3, "_type": "ClassLabel"}}}}):
        table = pq.read_table(path).replace_schema_metadata({b"huggingface": json.dumps(metadata).encode()})
        pq.write_table(table, path)
        (item,) = load(path.parent).items
        assert item.captions == {"en": ("a dog", "a pet")}
        assert (item.label == "dog") is (metadata is told)


def test_two_pictures_of_one_name_are_two_and_one_picture_in_two_rows_is_one(tmp_path: Path) -> None:
    rows = [
        {"image": {"bytes": picture(shade), "path": "a.png"}, "caption": text}
        for shade, text in ((1, "one"), (2, "two"), (1, "three"))
    ]
    parquet(tmp_path / "x" / "x.parquet", rows, image=PICTURE)
    assert read(tmp_path / "x") == {"x.parquet/a.png": (1, ("one", "three")), "x.parquet/000001.png": (2, ("two",))}


def test_samples_of_a_tar_are_pictures_with_the_captions_of_their_texts_and_records(tmp_path: Path) -> None:
    members = [
        ("./000.jpg", picture(1, "JPEG")),
        ("./000.txt", b"a horse\na brown horse\n"),
        ("._000.jpg", b"mac"),
        ("000.json", json.dumps({"caption": "not this", "key": "000", "width": 16}).encode()),
        ("sub/001.png", picture(2)),
        ("sub/001.json", b'{"caption": "a cow"}'),
        ("sub/001.seg.npy", b"x"),
        ("002.png", picture(3)),
        ("002.cls", b"7"),
        *((f"a.{one}.{ending}", data) for one in "12" for ending, data in (("png", picture(4)), ("txt", one.encode()))),
        ("b.png", picture(5)),
        ("b.json", b'{"caption": "a pig"}'),
        ("b.2.PNG", picture(6)),
        ("b.2.json", b'{"caption": "a hen"}'),
        ("b.far.png", picture(7)),
        ("b.far.json", b'{"camera": 2}'),
        ("b.cut.png", picture(8)),
        ("b.cut.json", b"{"),
        ("b.cut.txt", b"\n"),
    ]
    tar(tmp_path / "wd" / "00000.tar", members)
    assert read(tmp_path / "wd") == {
        "00000.tar/000.jpg": (1, ("a horse", "a brown horse")),
        "00000.tar/002.png": (3, ()),
        "00000.tar/a.1.png": (4, ("1",)),
        "00000.tar/a.2.png": (4, ("2",)),
        "00000.tar/b.png": (5, ("a pig",)),
        "00000.tar/b.2.png": (6, ("a hen",)),
        "00000.tar/b.far.png": (7, ("a pig",)),
        "00000.tar/b.cut.png": (8, ("a pig",)),
        "00000.tar/sub/001.png": (2, ("a cow",)),
    }


def test_every_command_reads_pictures_and_captions_out_of_packed_files(tmp_path: Path) -> None:
    shard = tar(tmp_path / "wd" / "0.tar", [("000.png", picture(1)), ("000.txt", b"a horse"), ("001.png", picture(2))])
    said = parquet(tmp_path / "said.parquet", [{"image_id": "000", "caption": "a mule"}])
    assert read_references(shard) == {"000.png": ("a horse",)}
    assert [system.captions for system in read_systems(said)] == [{"000": ("a mule",)}]
    job = read_job(said, tmp_path / "wd", shard)
    assert [(line.caption, line.references, read_image(line.image).pixels[0, 0, 0]) for line in job.lines] == [
        ("a mule", ("a horse",), 1)
    ]
    assert job.left_over == ("0.tar/001.png",)


def test_a_table_of_captions_in_parquet_beside_pictures_is_read_as_a_csv_is(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "a.png").write_bytes(picture(5))
    parquet(tmp_path / "own" / "metadata.parquet", [{"file_name": "a.png", "text": "a cat", "site": "zoo"}])
    assert read(tmp_path / "own") == {"a.png": (5, ("a cat",))}


def test_no_name_in_a_packed_file_leads_out_of_its_folder(tmp_path: Path, own_cache: Path) -> None:
    outside = tmp_path / "out.png"
    names = [
        "../../../../out.png",
        str(outside),
        "a/../../b.png",
        "a\\..\\..\\c.png",
        ".d.png",
        "x" * 300 + ".png",
        "e.png/f.png",
        "e.png",
        "C:\\g.png",
        "h\0.png",
        "i\n.png",
    ]
    rows = [{"image": {"bytes": picture(n), "path": name}} for n, name in enumerate(names)]
    parquet(tmp_path / "p" / "x.parquet", rows, image=PICTURE)
    tar(tmp_path / "t" / "x.tar", [(name.replace("\0", "0"), picture(n)) for n, name in enumerate(names)])
    assert sorted(shade for shade, _ in read(tmp_path / "p").values()) == list(range(len(names)))
    assert len(read(tmp_path / "t")) >= 10
    assert not outside.exists()
    made = {path.relative_to(tmp_path).parts[0] for path in tmp_path.rglob("*") if path.is_file()}
    assert made == {"p", "t", own_cache.name}


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE])
def test_a_tar_with_a_link_or_a_device_is_refused_and_nothing_is_unpacked(
    tmp_path: Path, own_cache: Path, kind: bytes
) -> None:
    link = tarfile.TarInfo("001.png")
    link.type, link.linkname = kind, "/etc/passwd"
    tar(tmp_path / "wd" / "x.tar", [("000.png", picture(1))], link)
    with pytest.raises(BadCorpus, match=r"x\.tar: '001\.png' is a link, a device or sparse"):
        load(tmp_path / "wd")
    assert not list(own_cache.glob("unpacked/[0-9a-f]*"))


def test_a_file_that_is_cut_off_is_named_and_nothing_is_kept_of_it(tmp_path: Path, own_cache: Path) -> None:
    whole = tar(tmp_path / "wd" / "x.tar", [("000.png", picture(1)), ("001.png", bytes(5000))]).read_bytes()
    (tmp_path / "wd" / "x.tar").write_bytes(whole[:3000])
    with pytest.raises(BadCorpus, match=r"x\.tar is (cut off|damaged)"):
        load(tmp_path / "wd")
    (tmp_path / "wd" / "x.tar").unlink()
    (tmp_path / "wd" / "x.parquet").write_bytes(b"PAR1 nothing PAR1")
    with pytest.raises(BadCorpus, match="no Parquet or tar that packs"):
        load(tmp_path / "wd")
    with pytest.raises(BadCorpus, match=r"x\.parquet is damaged or no \.parquet file"):
        read_references(tmp_path / "wd" / "x.parquet")
    assert not list(own_cache.glob("unpacked/[0-9a-f]*"))


def test_a_sample_whose_picture_is_missing_is_counted(tmp_path: Path) -> None:
    rows = [{"image": {"bytes": picture(1), "path": "a.png"}, "caption": "a"}, {"image": None, "caption": "b"}]
    parquet(tmp_path / "p" / "x.parquet", rows, image=PICTURE)
    corpus = load(tmp_path / "p")
    assert [item.id for item in corpus.items] == ["x.parquet/a.png"]
    assert corpus.rejection_counts() == {"entry-no-image": 1}
