"""Files of scores in every shape that is read, and what is refused in them."""

import gzip
import json
import math
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as some
from hypothesis import strategies as st

from core.corpora import score_files
from core.corpora.caption_tables import MOST_SYSTEMS, System, parse_systems, read_systems, unlike
from core.corpora.score_files import read_scores
from core.errors import BadCorpus, InvalidInput

SCORES = {"pa": 0.25, "pb": -1e-3, "pc": 2.0}


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def shapes(folder: Path) -> list[Path]:
    rows = list(SCORES.items())
    pq.write_table(
        pa.table({"score": [s for _, s in rows], "x": ["", "", ""], "id": [k for k, _ in rows]}), folder / "g.parquet"
    )
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
        ("a.csv", "id,score\npa,1_0\n", "line 2.*no number"),
        ("a.csv", 'id,score\npa,"0,5"\n', "line 2.*no number"),
        ("a.csv", "id,score\npa,1,2\n", "line 2.*3 cells"),
        ("a.csv", "id,score\npa,NaN\n", "no number for any"),
        ("a.csv", "pair,score\npa,1\n", "one must be 'id'"),
        ("a.csv", "", "one must be 'id'"),
        ("a.csv", "id,one,two\npa,1,2\n", "which column"),
        ("a.csv", "id,id\npa,1\n", "each once"),
        ("a.csv", 'id,score\npa,"1\n', "line"),
        ("a.jsonl", '{"id": "pa", "score": "0,5"}', "line 1.*no number, got '0,5'"),
        ("a.jsonl", '{"id": "pa", "score": true}', "no number"),
        ("a.jsonl", '{"id": [7], "score": 1}', "whole number"),
        ("a.csv", "id;score\npa;1.000,5\n", "line 2.*no number, got '1.000,5'"),
        ("a.csv.gz", "id,score\npa,1\n", "cannot be unpacked"),
        ("a.parquet.gz", "PAR1", "ends in none of"),
        ("a.jsonl", "[1]", "line 1 must be a JSON object"),
        ("a.jsonl", "{", "line 1 is not valid JSON"),
        ("a.json", '{"pa": 1, "pa": 2}', "'pa' twice"),
        ("a.json", "[1]", "entry 1 must be an object"),
        ("a.json", "1", "one object"),
        ("a.json", '{"pa": {"A": 1, "B": 2}}', "--column"),
        ("a.json", "[" * 100_000, "not valid JSON"),
        ("a.parquet", "PAR1", "no Parquet file"),
        ("a.xlsx", "x", "ends in none of"),
    ],
)
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
    pq.write_table(pa.table({"id": ["pa"], "score": ["high"]}), tmp_path / "a.parquet")
    with pytest.raises(InvalidInput, match="row 1: the score of 'pa' is no number"):
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


def test_scores_are_read_as_other_programs_write_numbers_and_ids(tmp_path: Path) -> None:
    """Whole-number ids, numbers as texts, a German spreadsheet's commas, UTF-16, and files packed with gzip."""
    rows = "id;score\n007;0,5\n9007199254740993;-1,25e-2\n3;\n"
    wanted = {"007": 0.5, "9007199254740993": -0.0125}
    for name, text in {
        "a.csv": rows,
        "b.tsv": rows.replace(";", "\t"),
        "c.jsonl": '{"id": "007", "score": "0.5"}\n{"id": 9007199254740993, "score": "-1.25e-2"}\n{"id": 3}\n',
        "d.json": '{"007": "0.5", "9007199254740993": -0.0125, "3": "nan"}',
    }.items():
        packed = tmp_path / f"{name}.gz"
        packed.write_bytes(gzip.compress(text.encode()))
        wide = tmp_path / f"wide-{name}"
        wide.write_text(text, "utf-16")
        for path in (write(tmp_path, name, text), packed, wide):
            found = read_scores(path)
            assert {key: score for key, score in found.scores.items() if key != "3"} == wanted, path
            assert math.isnan(found.of("3")[0]), path
    pq.write_table(pa.table({"id": [7, 8], "score": ["0.5", ""]}), tmp_path / "e.parquet")
    assert read_scores(tmp_path / "e.parquet").of("7") == (0.5, None)


@given(st.dictionaries(st.text("abcdef0123", min_size=1), st.floats(allow_infinity=False), min_size=1))
def test_any_numbers_come_back_whatever_their_order(tmp_path_factory: pytest.TempPathFactory, made: dict) -> None:
    made["one"] = 1.0
    path = tmp_path_factory.getbasetemp() / "any.csv"
    path.write_text("id,score\n" + "".join(f"{key},{made[key]!r}\n" for key in sorted(made, reverse=True)))
    found = read_scores(path).scores
    assert found.keys() == made.keys()
    assert all(found[key] == made[key] or (math.isnan(found[key]) and math.isnan(made[key])) for key in made)


def records(*lines: dict) -> str:
    return "".join(json.dumps(line) + "\n" for line in lines)


FAILED = {"id": "pa", "seconds": 0.02, "error": "no picture"}
SCORED = {"id": "pb", "score": 0.8, "seconds": 0.01}


def test_the_order_of_lines_says_nothing_about_which_column_is_the_score(tmp_path: Path) -> None:
    for lines in ((FAILED, SCORED), (SCORED, FAILED)):
        found = read_scores(write(tmp_path, "a.jsonl", records(*lines)))
        assert (found.column, found.of("pb")) == ("score", (0.8, None))
        assert found.of("pa")[1] == "a.jsonl gives no number"


def test_of_two_columns_of_numbers_none_is_taken_and_of_one_beside_texts_that_one(tmp_path: Path) -> None:
    two = records({"id": "pa", "seconds": 1}, {"id": "pb", "clip": 0.5, "seconds": 1})
    with pytest.raises(InvalidInput, match="which column is the score; name one of seconds, clip with --column"):
        read_scores(write(tmp_path, "a.jsonl", two))
    one = records({"id": "pa", "error": "no picture"}, {"id": "pb", "clip": 0.5, "caption": "A cat."})
    assert read_scores(write(tmp_path, "b.jsonl", one)).column == "clip"
    table = "ID ; Caption ; CLIP\npa;A cat.;0.5\npb;A dog.;\n"
    found = read_scores(write(tmp_path, "c.csv", table))
    assert (found.column, found.of("pa")[0], math.isnan(found.of("pb")[0])) == ("CLIP", 0.5, True)


@pytest.mark.parametrize("of", [lambda rows: rows, lambda rows: {row["image_id"]: row for row in rows}])
def test_scores_of_pycocoevalcap_go_by_the_image(tmp_path: Path, of: Callable[[list[dict]], object]) -> None:
    """``evalImgs`` and ``imgToEval`` of its COCOEvalCap: the number of the image is no score."""
    path = write(tmp_path, "a.json", json.dumps(of([{"image_id": 9, "CIDEr": 0.5}, {"image_id": 4, "CIDEr": 1.5}])))
    found = read_scores(path)
    assert (found.column, found.scores) == ("CIDEr", {"9": 0.5, "4": 1.5})


def test_both_shapes_of_the_kit_are_read(tmp_path: Path) -> None:
    """As CaptionEvalKit writes CLIPScore, and every other metric."""
    other = {"PAC-S": {"score": 0.5, "per_item": SCORES}, "RefPAC-S": {"score": 0.5, "per_item": {"pa": 0.75}}}
    path = write(tmp_path, "pacscore.json", json.dumps(other))
    with pytest.raises(InvalidInput, match="name one of PAC-S, RefPAC-S"):
        read_scores(path)
    assert read_scores(path, column="PAC-S").scores == SCORES
    assert read_scores(path, column="refpac-s").of("pa") == (0.75, None)
    one = write(tmp_path, "polos.json", json.dumps({"Polos": other["PAC-S"]}))
    assert read_scores(one).scores == SCORES


def test_samples_of_inspect_ai_and_lmms_eval_are_pairs(tmp_path: Path) -> None:
    """Shapes as inspect_ai 0.3.285 writes ``.json`` and ``.eval``, and as lmms-eval saves its samples."""
    samples = [
        {"id": key, "epoch": 1, "input": "", "scores": {"align": {"value": score, "explanation": "so"}}}
        for key, score in SCORES.items()
    ] + [{"id": "pd", "epoch": 1, "scores": {}, "error": {"message": "no picture"}}]
    log = write(tmp_path, "log.json", json.dumps({"version": 2, "status": "success", "eval": {}, "samples": samples}))
    with zipfile.ZipFile(tmp_path / "log.eval", "w", zipfile.ZIP_DEFLATED) as held:
        held.writestr("header.json", "{}")
        for each in samples:
            held.writestr(f"samples/{each['id']}_epoch_1.json", json.dumps(each))
    saved = [
        {"doc_id": place, "doc": {"id": key, "caption": "A cat."}, "target": "", "filtered_resps": ["x"], "clip": score}
        for place, (key, score) in enumerate(SCORES.items())
    ]
    for path in (log, tmp_path / "log.eval", write(tmp_path, "samples_t.jsonl", records(*saved))):
        found = read_scores(path)
        assert {key: score for key, score in found.scores.items() if key != "pd"} == SCORES, path
    assert read_scores(log).of("pd")[1] == "log.json gives no number"


def test_a_table_without_ids_is_joined_by_image_and_caption_where_these_are_one_pairs_alone(tmp_path: Path) -> None:
    """Columns as img2dataset and LAION name them."""
    known = {("ab12", "A cat."): "pa", ("cd34", "A dog."): "pb", ("cd34", "A cat."): None}
    for names in (("url", "caption", "similarity"), ("URL", "TEXT", "similarity")):
        rows = [["https://a.b/images/ab/ab12.png?x=1", "images/cd/cd34.png"], ["A cat.", "A dog."], [0.25, None]]
        path = tmp_path / "laion.parquet"
        pq.write_table(pa.table({**dict(zip(names, rows, strict=True)), "width": [1, 2]}), path)
        found = read_scores(path, pairs=lambda: known)
        assert (found.column, found.of("pa"), found.of("pb")[1]) == (
            "similarity",
            (0.25, None),
            "laion.parquet gives no number",
        )
    for caption, why in (("A fox.", "no pair that was given out"), ("A cat.", "several pairs; give ids")):
        path = write(tmp_path, "b.csv", f"image,caption,score\ncd34.png,{caption},1\n")
        with pytest.raises(InvalidInput, match=f"line 2.*{why}"):
            read_scores(path, pairs=lambda: known)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["id", "score", "samples", "scores", "value", "per_item", "pa", ""]), inner, max_size=3
            )
        ),
        max_leaves=8,
    )
)
def test_whatever_a_json_file_holds_it_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, held: object
) -> None:
    for ending in ("json", "jsonl"):
        path = tmp_path_factory.getbasetemp() / f"strange.{ending}"
        path.write_text(json.dumps(held), encoding="utf-8")
        with suppress(InvalidInput):
            read_scores(path, pairs=dict)


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


def test_columns_of_metadata_are_no_systems_and_named(tmp_path: Path) -> None:
    rows = [f"{n}.jpg,{'val' if n % 2 else 'test'},{'ab'[n % 2]},A cat {n}.,A dog {n % 3}." for n in range(6)]
    path = tmp_path / "all.csv"
    path.write_text("\n".join(["image,Split,shop,blip,git", *rows]), "utf-8")
    only = read_systems(path)
    assert [each.name for each in only] == ["blip"]
    assert only[0].remark == (
        "all.csv: not taken as systems: 'Split' (by its name), 'shop' (2 values for 6 pictures), "
        "'git' (3 values for 6 pictures); NAME=all.csv takes the column NAME alone"
    )
    (named,) = read_systems(path, name="git")
    assert (named.name, named.captions["0.jpg"], named.remark) == ("git", ("A dog 0.",), "")
    with pytest.raises(BadCorpus, match=r"holds no caption.*'split' \(by its name\)"):
        parse_systems(b"image,split\n1,val\n", name="all.csv")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("all.csv", "image,model,caption\n1,blip,A cat.\n1,git,A pet.\n2,blip,A dog.\n"),
        (
            "all.jsonl",
            '{"id": 1, "system": "blip", "caption": "A cat."}\n{"id": 1, "system": "git", "caption": "A pet."}\n'
            '{"id": 2, "system": "blip", "caption": "A dog."}\n',
        ),
    ],
)
def test_a_long_table_has_a_row_for_each_picture_and_system(name: str, text: str) -> None:
    found = parse_systems(text.encode(), name=name)
    assert {each.name: each.captions for each in found} == {
        "blip": {"1": ("A cat.",), "2": ("A dog.",)},
        "git": {"1": ("A pet.",)},
    }
    with pytest.raises(BadCorpus, match="'1' was there before"):
        parse_systems((text + text.splitlines()[-3 if name == "all.jsonl" else 1]).encode(), name=name)


def test_a_file_of_one_captioner_is_called_as_the_file_whatever_its_rows_say(tmp_path: Path) -> None:
    path = tmp_path / "beam5.jsonl"
    path.write_text('{"id": 1, "model": "blip", "caption": "A cat."}\n', "utf-8")
    assert [read_systems(path, name=name)[0].name for name in ("", "ours")] == ["beam5", "ours"]


@pytest.mark.parametrize("nothing", ["nan", "None", "NULL", " NA "])
def test_a_column_that_says_nothing_of_a_picture_is_no_caption_of_a_system(nothing: str) -> None:
    (only,) = parse_systems(f"image,A\n1,{nothing}\n2,A dog.\n".encode(), name="all.csv")
    assert only.captions == {"2": ("A dog.",)}


def test_a_picture_is_told_by_its_own_number_and_not_by_that_of_the_caption() -> None:
    held = [{"id": 5, "image_id": 1, "caption": "A toy."}, {"id": 1, "image_id": 5, "caption": "An apple."}]
    (only,) = parse_systems(json.dumps(held).encode(), name="results.json")
    assert only.captions == {"1": ("A toy.",), "5": ("An apple.",)}


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
        ("a.csv", b"image;A;B\n1;a dog;0,71\n2;a cat;0,512\n", "column 'B' holds numbers such as '0,71'"),
        ("a.csv", b"image,A,B\n1,a dog,71 %\n2,a cat,51 %\n", "column 'B' holds numbers such as '71 %'"),
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


@pytest.mark.parametrize("said", ["🐶🎾", "...", "12:30", "3 + 4 = 7", "\u2813\u2811"])
def test_what_has_no_letter_may_be_a_caption_all_the_same(said: str) -> None:
    (system,) = parse_systems(f"image,A\n1,{said}\n".encode(), name="a.csv")
    assert system.captions == {"1": (said,)}


def test_a_missing_file_and_a_named_table_are_told(tmp_path: Path) -> None:
    with pytest.raises(BadCorpus, match="cannot be read"):
        read_systems(tmp_path / "none.json")
    (tmp_path / "a.csv").write_bytes(b"image,A\n1,x\n")
    with pytest.raises(BadCorpus, match="names its systems itself, A; leave"):
        read_systems(tmp_path / "a.csv", name="ours")


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
