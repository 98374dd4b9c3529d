"""Files of captioners: every shape that is read, and one sentence for every slip."""

import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from core.corpora.system_files import MOST_SYSTEMS, System, parse_systems, read_systems, unlike
from core.errors import BadCorpus


def test_json_of_one_caption_or_several(tmp_path: Path) -> None:
    path = tmp_path / "blip.json"
    path.write_text(json.dumps({"a": "A cat.", "b": ["A dog.", "Two dogs."]}), "utf-8")
    (system,) = read_systems(path)
    assert (system.name, dict(system.captions)) == ("blip", {"a": ("A cat.",), "b": ("A dog.", "Two dogs.")})
    assert read_systems(path, name="ours")[0].name == "ours"


def test_cocos_results_and_capevalkits_lines() -> None:
    results = [{"image_id": 139, "caption": "A room."}, {"image_id": 285, "caption": "A bear."}]
    (coco,) = parse_systems(json.dumps(results).encode(), name="results.json")
    assert coco.captions == {"139": ("A room.",), "285": ("A bear.",)}
    lines = b'{"id": "x", "prediction": "A bus."}\n\n{"id": "y", "caption": "A car."}\n'
    (kit,) = parse_systems(lines, name="predictions.jsonl")
    assert kit.captions == {"x": ("A bus.",), "y": ("A car.",)}


def test_a_table_has_a_system_a_column_and_an_empty_cell_no_caption() -> None:
    text = '\ufeffimage,A,B\n1.jpg,"A cat, asleep.",A cat.\n2.jpg,,A dog.\n'.encode()
    a, b = parse_systems(text, name="all.csv")
    assert (a.name, a.captions) == ("A", {"1.jpg": ("A cat, asleep.",)})
    assert b.captions == {"1.jpg": ("A cat.",), "2.jpg": ("A dog.",)}
    assert parse_systems(b"id\tA\n1\tA cat.\n", name="all.tsv")[0].captions == {"1": ("A cat.",)}


@pytest.mark.parametrize(
    ("name", "data", "named"),
    [
        ("a.json", b"{", "is not valid JSON"),
        ("a.json", b"3", "must hold"),
        ("a.json", b'{"x": 3}', "caption of 'x'"),
        ("a.json", b'{"x": []}', "holds no caption"),
        ("a.json", b'{"x": ["a", 3]}', "caption of 'x'"),
        ("a.json", b'{"x": "a", "x": "b"}', "'x' twice"),
        ("a.json", b'[{"image_id": 1, "caption": "a"}, {"image_id": 1, "caption": "b"}]', "'1' was there before"),
        ("a.json", b'[{"image_id": true, "caption": "a"}]', "entry 1"),
        ("a.json", b"[3]", "entry 1"),
        ("a.json", b"\xff", "not UTF-8"),
        ("a.json", b"[" * 100_000, "is not valid JSON"),
        ("a.jsonl", b'{"id": 1}', "holds no caption"),
        ("a.jsonl", b"[]", "line 1"),
        ("a.jsonl", b'{"id": 1, "caption": "a"}\n{"id": "1", "caption": "b"}', "line 2"),
        ("a.csv", b"", "is empty"),
        ("a.csv", b"picture,A\n", "no column names the image"),
        ("a.csv", b"image\n1\n", "no column of captions"),
        ("a.csv", b"image,A,A\n", "may stand once"),
        ("a.csv", b"image,A\n1,x,y\n", "3 cells under 2 columns"),
        ("a.csv", b"image,A\n1,x\n1,y\n", "line 3: '1' was there before"),
        ("a.csv", b"image,A\n,x\n", "line 2"),
        ("a.csv", b"image,A\n1,0.71\n2,1e-3\n", "holds numbers such as '0.71'"),
        ("a.csv", b'image,A\n1,"x\n', "line"),
        ("a.doc", b"", "is of no kind"),
    ],
)
def test_a_slip_is_one_sentence_that_names_it(name: str, data: bytes, named: str) -> None:
    with pytest.raises(BadCorpus) as raised:
        parse_systems(data, name=name)
    assert name in str(raised.value)
    assert named in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_missing_file_and_a_named_table_are_told(tmp_path: Path) -> None:
    with pytest.raises(BadCorpus, match="cannot be read"):
        read_systems(tmp_path / "none.json")
    with pytest.raises(BadCorpus, match="columns name its systems"):
        parse_systems(b"image,A\n1,x\n", name="a.csv", called="ours")


def test_systems_have_names_of_their_own_and_a_limit() -> None:
    one = System("A", {"x": ("a",)})
    assert unlike([one]) == (one,)
    for systems, named in (
        ([], "no system"),
        ([one, one], "two systems are called 'A'"),
        ([System(str(n), {}) for n in range(MOST_SYSTEMS + 1)], "at most"),
    ):
        with pytest.raises(BadCorpus, match=named):
            unlike(systems)


@given(some.binary(max_size=80), some.sampled_from(["a.json", "a.jsonl", "a.csv", "a.tsv"]))
def test_whatever_comes_is_read_or_refused_in_words(data: bytes, name: str) -> None:
    with suppress(BadCorpus):
        found = parse_systems(data, name=name)
        assert all(texts for system in found for texts in system.captions.values())
