"""Files of scores in every shape that is read, and what is refused in them."""

import json
import math
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.corpora import score_files
from core.corpora.score_files import read_scores
from core.errors import InvalidInput

SCORES = {"pa": 0.25, "pb": -1e-3, "pc": 2.0}


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def shapes(folder: Path) -> list[Path]:
    rows = list(SCORES.items())
    pq.write_table(pa.table({"score": [s for _, s in rows], "x": ["", "", ""], "id": [k for k, _ in rows]}),
                   folder / "g.parquet")  # fmt: skip
    per_item = {key: {"CLIPScore": score} for key, score in rows}
    return [
        write(folder, "a.csv", "\ufeffid,score\r\n" + "".join(f"{k},{s!r}\r\n" for k, s in rows)),
        write(folder, "b.tsv", "mine\tid\n" + "".join(f"{s!r}\t{k}\n" for k, s in rows)),
        write(folder, "c.jsonl", "\n".join(json.dumps({"id": k, "caption": "A cat.", "score": s}) for k, s in rows)),
        write(folder, "d.json", json.dumps(per_item)),
        write(folder, "e.json", json.dumps({"CLIPScore": 0.7, "per_item": per_item})),
        write(folder, "f.json", json.dumps(SCORES)),
        folder / "g.parquet",
    ]


def test_every_shape_gives_the_same_scores(tmp_path: Path) -> None:
    for path in shapes(tmp_path):
        found = read_scores(path)
        assert found.scores == SCORES, path
        assert found.name == path.name


def test_what_is_no_number_is_told_from_what_is_not_there(tmp_path: Path) -> None:
    for text in ("", "NaN", "null", "inf"):
        found = read_scores(write(tmp_path, "a.csv", f"id,score\npa,1\npb,{text}\n"))
        assert found.of("pb")[1] == "a.csv gives no number"
        assert found.of("pc")[1] == "not in a.csv"
        assert found.of("pa") == (1.0, None)
    found = read_scores(
        write(tmp_path, "b.jsonl", '{"id": "pa", "score": 1}\n{"id": "pb", "score": NaN}\n{"id": "pc"}')
    )
    assert [found.of(key)[1] for key in ("pb", "pc")] == ["b.jsonl gives no number"] * 2


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("a.csv", "id,score\npa,1\n\npa,2\n", "line 4: the id 'pa' was there before"),
        ("a.csv", "id,score\npa,high\n", "line 2: the score of 'pa' is no number, got 'high'"),
        ("a.csv", "id,score\npa,1_0\n", "line 2.*no number"), ("a.csv", "id,score\npa,\"0,5\"\n", "line 2.*no number"),
        ("a.csv", "id,score\npa,1,2\n", "line 2: 3 cells"), ("a.csv", "id,score\npa,NaN\n", "no number for any"),
        ("a.csv", "pair,score\npa,1\n", "one must be 'id'"), ("a.csv", "", "one must be 'id'"),
        ("a.csv", "id,one,two\npa,1,2\n", "which column"), ("a.csv", "id,id\npa,1\n", "each once"),
        ("a.csv", 'id,score\npa,"1\n', "line"),
        ("a.jsonl", '{"id": "pa", "score": "0.5"}', "line 1.*no number, got '0.5'"),
        ("a.jsonl", '{"id": "pa", "score": true}', "no number"), ("a.jsonl", '{"id": 7, "score": 1}', "must be a text"),
        ("a.jsonl", "[1]", "line 1 must be a JSON object"), ("a.jsonl", "{", "line 1 is not JSON"),
        ("a.json", '{"pa": 1, "pa": 2}', "'pa' was there before"), ("a.json", "[1]", "one object"),
        ("a.json", '{"pa": {"A": 1, "B": 2}}', "--column"), ("a.json", "[" * 100_000, "not JSON"),
        ("a.parquet", "PAR1", "no Parquet file"), ("a.xlsx", "x", "ends in none of"),
    ],
)  # fmt: skip
def test_what_cannot_be_a_score_is_refused_with_its_place(tmp_path: Path, name: str, text: str, why: str) -> None:
    with pytest.raises(InvalidInput, match=why):
        read_scores(write(tmp_path, name, text))


def test_a_column_is_chosen_by_name(tmp_path: Path) -> None:
    path = write(tmp_path, "a.json", '{"pa": {"CLIPScore": 0.5, "RefCLIPScore": 0.75}, "pb": {"CLIPScore": 0.25}}')
    assert read_scores(path, column="RefCLIPScore").of("pa") == (0.75, None)
    with pytest.raises(InvalidInput, match="no column 'PAC-S'"):
        read_scores(path, column="PAC-S")


def test_texts_in_parquet_and_files_that_are_too_large_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pq.write_table(pa.table({"id": ["pa"], "score": ["0.5"]}), tmp_path / "a.parquet")
    with pytest.raises(InvalidInput, match="no numbers"):
        read_scores(tmp_path / "a.parquet")
    path = write(tmp_path, "a.csv", "id,score\npa,1\npb,2\n")
    monkeypatch.setattr(score_files, "MOST_SCORES", 1)
    with pytest.raises(InvalidInput, match="more than 1 scores"):
        read_scores(path)
    monkeypatch.setattr(score_files, "MOST_BYTES", 4)
    with pytest.raises(InvalidInput, match="at most 4"):
        read_scores(path)
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_scores(tmp_path / "none.csv")


@given(st.dictionaries(st.text("abcdef0123", min_size=1), st.floats(allow_infinity=False), min_size=1))
def test_any_numbers_come_back_whatever_their_order(tmp_path_factory: pytest.TempPathFactory, made: dict) -> None:
    made["one"] = 1.0
    path = tmp_path_factory.getbasetemp() / "any.csv"
    path.write_text("id,score\n" + "".join(f"{key},{made[key]!r}\n" for key in sorted(made, reverse=True)))
    found = read_scores(path).scores
    assert found.keys() == made.keys()
    assert all(found[key] == made[key] or (math.isnan(found[key]) and math.isnan(made[key])) for key in made)
