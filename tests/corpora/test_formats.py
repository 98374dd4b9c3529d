"""Captioners' files are read as their own tools write them, and a slip is told with its place."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.corpora.formats import Prediction, read_candidates, read_predictions_jsonl, read_references
from core.errors import BadCorpus

TEXTS = st.text(st.characters(exclude_categories=("Cs",)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("formats")


@given(candidates=st.dictionaries(TEXTS, TEXTS))
def test_candidates_come_back_as_written_in_their_order(folder: Path, candidates: dict[str, str]) -> None:
    path = folder / "candidates.json"
    path.write_text(json.dumps(candidates), encoding="utf-8")
    assert list(read_candidates(path).items()) == list(candidates.items())


@given(references=st.dictionaries(TEXTS, st.lists(TEXTS, min_size=1)))
def test_both_shapes_of_references_say_the_same(folder: Path, references: dict[str, list[str]]) -> None:
    whole, lines = folder / "references.json", folder / "references.jsonl"
    whole.write_text(json.dumps(references), encoding="utf-8")
    lines.write_text(
        "\n".join(
            json.dumps({"id": key, "references": texts}, ensure_ascii=False) for key, texts in references.items()
        ),
        encoding="utf-8",
    )
    assert read_references(whole) == read_references(lines) == {key: tuple(texts) for key, texts in references.items()}


def test_a_single_reference_may_stand_without_its_list(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text('{"a": "a cat"}')
    assert read_references(tmp_path / "r.json") == {"a": ("a cat",)}


def test_predictions_take_either_name_of_a_field(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    path.write_bytes(
        b'\xef\xbb\xbf{"id": "a", "caption": "A dog.", "image": "a.jpg"}\r\n\r\n'
        b'{"id": 7, "prediction": "A cat.", "image_path": "b.jpg"}\n{"id": "c", "caption": "A cow."}'
    )
    assert read_predictions_jsonl(path) == (
        Prediction("a", "A dog.", "a.jpg"), Prediction("7", "A cat.", "b.jpg"), Prediction("c", "A cow."),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("c.json", "[]", "must hold one JSON object"),
        ("c.json", '{"a": 3}', "the caption of 'a' must be a text, got 3"),
        ("c.json", '{"a": "x", "a": "y"}', "holds 'a' twice"),
        ("c.json", '{"a": "x"', "is not JSON"),
        ("c.json", "[" * 100_000, "is not JSON"),
        ("c.json", "", "is not JSON"),
        ("p.jsonl", '{"id": "a", "caption": "x"}\n{"caption": "y"}', "line 2: id must be"),
        ("p.jsonl", '{"id": true, "caption": "x"}', "line 1: id must be"),
        ("p.jsonl", '{"id": "a"}', "line 1: caption or prediction must be a text, got None"),
        ("p.jsonl", '{"id": "a", "caption": "x", "image": 3}', "line 1: image must be a path, got 3"),
        ("p.jsonl", '{"id": 1, "caption": "x"}\n{"id": "1", "caption": "y"}', "line 2: id '1' was there before"),
        ("p.jsonl", '{"id": "a", "caption": "x"} trailing', "line 1 is not JSON"),
        ("p.jsonl", "3", "line 1 must be a JSON object"),
    ],
)
def test_a_slip_is_told_with_its_place(tmp_path: Path, name: str, text: str, said: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(BadCorpus, match=".*" + said.replace("(", r"\(")):
        (read_candidates if name == "c.json" else read_predictions_jsonl)(path)


@pytest.mark.parametrize("value", ["[]", "[3]", "{}", "null"])
def test_references_must_be_texts(tmp_path: Path, value: str) -> None:
    (tmp_path / "r.json").write_text(f'{{"a": {value}}}')
    with pytest.raises(BadCorpus, match="the references of 'a' must be a list of texts"):
        read_references(tmp_path / "r.json")


def test_a_file_that_is_missing_or_no_text_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadCorpus, match=r"absent\.json cannot be read \(No such file"):
        read_candidates(tmp_path / "absent.json")
    (tmp_path / "photo.json").write_bytes(b"\xff\xd8\xff\xe0")
    with pytest.raises(BadCorpus, match="is not UTF-8 text"):
        read_candidates(tmp_path / "photo.json")
