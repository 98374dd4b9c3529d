"""Suites of pictures of one text in their publishers' layouts, tiny, and files that are none."""

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from core.corpora.rated import load_rated
from core.corpora.schema import Corpus
from core.corpora.suites.model import ACCURACY, TAU_B, Compared, Rated, Suite
from core.corpora.suites.suite_files import read_suite, read_suites
from core.errors import BadCorpus, InvalidInput
from core.scoring.suite_scores import asked_of, places_of, without_equal_pictures


def written(folder: Path, name: str, content: object) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def pair(text: str, first: str, second: str, group: str = "", *, tied: bool = False) -> Compared:
    return Compared(first, text, text, group, tied=tied, other_image=second)


def counts(suite: Suite) -> dict[str, int]:
    return {each.id: each.count for each in suite.decisions}


OWN = (
    "Text,Left,Right,Preferred,category\na  dog,a.jpg,b.jpg,left,animals\na dog,a.jpg,b.jpg,Right,animals\n"
    "a cat,a.jpg,c.jpg,tie,\na bus,a.jpg,a.jpg,left,\na car,a.jpg,b.jpg,,\n,a.jpg,b.jpg,left,\n"
)


def test_a_table_of_one_s_own_says_left_right_or_tie(tmp_path: Path) -> None:
    suite = read_suite(written(tmp_path, "my pairs.csv", OWN))
    assert suite.compared == (
        pair("a dog", "a.jpg", "b.jpg", "animals"),
        pair("a dog", "b.jpg", "a.jpg", "animals"),
        pair("a cat", "a.jpg", "c.jpg", tied=True),
    )
    assert (suite.name, suite.convention, suite.by_text, suite.left_out) == ("my pairs", ACCURACY, True, 3)
    assert counts(suite) == {"by-text": 2, "equal-pictures": 1, "undecided": 1}
    assert asked_of(suite)[:2] == [("a.jpg", "a dog", ()), ("b.jpg", "a dog", ())]
    lines = written(
        tmp_path,
        "x.jsonl",
        json.dumps({"suite": "ours", "text": "t", "left": "a.png", "right": "b.png", "preferred": "right"}),
    )
    assert (read_suite(lines).name, read_suite(lines).compared) == ("ours", (pair("t", "b.png", "a.png"),))


@pytest.mark.parametrize(
    ("row", "first"),
    [("1,0,", "a"), ("0.0,1.0,yes", "b"), ("0,0,", None), ("1,1,True", None), ("0,1,no", None), (",1,", None)],
)
def test_a_table_of_picks_says_who_is_preferred_or_nobody(tmp_path: Path, row: str, first: str | None) -> None:
    head = "caption,image_0_uid,image_1_uid,label_0,label_1,has_label\nx,c,d,1,0,\n"
    suite = read_suite(written(tmp_path, "picks.csv", f"{head}t,a,b,{row}\n"))
    assert [each.image for each in suite.compared] == ["c.jpg", *([f"{first}.jpg"] if first else [])]
    assert suite.left_out == (first is None)


MJ = {"id": "pap_0", "source": "pick_a_pic", "caption": "A cat", "image0": "a.jpg", "image1": "b.jpg", "label": 1}


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        (
            "x.csv",
            "text,left,right,preferred\nt,a,b,first\n",
            "line 2: preferred must be left, right or tie, got 'first'",
        ),
        ("x.csv", "text,left,right,preferred\n,a,b,left\n", "holds no comparison of two pictures that can be used"),
        ("tifa.csv", "text,left,right,preferred\nt,a,b,left\n", "'tifa' is the name of a published suite"),
        (
            "x.json",
            [{"caption": "t", "image0": "a", "image1": "b", "label": 2}],
            "entry 1: label must be 0 for the first",
        ),
        (
            "x.json",
            {"alignment": [{"caption": "t", "image0": "a", "image1": "b", "label": 0}, 3]},
            "entry 2 of 'alignment'",
        ),
        ("x.csv", "caption,image_0_uid,image_1_uid,label_0,label_1\nt,a,b,0.3,0.7\n", "must be 0, 0.5 or 1, got 0.3"),
    ],
)
def test_what_is_no_comparison_is_one_sentence(tmp_path: Path, name: str, content: object, sentence: str) -> None:
    with pytest.raises(BadCorpus, match=sentence):
        read_suite(written(tmp_path, name, content))


def test_mj_bench_prefers_the_picture_of_its_label_and_its_category_is_the_file_s_name(tmp_path: Path) -> None:
    """The layout of alignment/benchmark/actions/actions_test.json, and the object of lists that inference.py reads."""
    one = written(tmp_path, "actions_test.json", [MJ, {**MJ, "label": 0}])
    other = written(tmp_path, "all.json", {"bias": [MJ], "safety": [{**MJ, "category": "nsfw"}]})
    suite = read_suite(one)
    assert suite.compared == (pair("A cat", "b.jpg", "a.jpg", "actions"), pair("A cat", "a.jpg", "b.jpg", "actions"))
    assert suite.name == "MJ-Bench"
    assert [each.group for each in read_suites([one, other]).compared] == ["actions", "actions", "bias", "nsfw"]


def test_every_two_ranked_pictures_of_hpdv2_are_compared(tmp_path: Path) -> None:
    test = [
        {"prompt": "p", "image_path": ["a.jpg", "b.jpg", "c.jpg"], "rank": [2, 1, 2], "raw_annotations": []},
        {"prompt": "q", "image_path": ["a.jpg"], "rank": [1, 2]},
    ]
    suite = read_suite(written(tmp_path, "test.json", test))
    assert suite.compared == (
        pair("p", "b.jpg", "a.jpg"),
        pair("p", "a.jpg", "c.jpg", tied=True),
        pair("p", "b.jpg", "c.jpg"),
    )
    assert (suite.name, suite.left_out) == ("HPDv2", 1)
    train = [{"prompt": "p", "file_path": ["a.jpg", "b.jpg"], "human_preference": [0, 1]}]
    assert read_suite(written(tmp_path, "train.json", train)).compared == (pair("p", "b.jpg", "a.jpg"),)


def _png(colour: int) -> bytes:
    held = io.BytesIO()
    Image.fromarray(np.full((20, 20, 3), colour, dtype=np.uint8)).save(held, "PNG")
    return held.getvalue()


def test_pick_a_pic_s_parquet_gives_its_pictures_and_leaves_equal_ones_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INVARISCOPE_CACHE", str(tmp_path / "cache"))
    told = {"image_0_uid": "u0", "image_1_uid": "u1", "has_label": True, "are_different": True}
    rows = [
        {"caption": "t", "jpg_0": _png(9), "jpg_1": _png(90), "label_0": 0.0, "label_1": 1.0, **told},
        {"caption": "t", "jpg_0": _png(9), "jpg_1": _png(90), "label_0": 0.5, "label_1": 0.5, **told},
        {"caption": "same", "jpg_0": _png(9), "jpg_1": _png(9), "label_0": 1.0, "label_1": 0.0, **told},
        {
            "caption": "t",
            "jpg_0": _png(9),
            "jpg_1": _png(90),
            "label_0": 1.0,
            "label_1": 0.0,
            **told,
            "has_label": False,
        },
        {
            "caption": "t",
            "jpg_0": _png(9),
            "jpg_1": _png(90),
            "label_0": 1.0,
            "label_1": 0.0,
            **told,
            "are_different": False,
        },
    ]
    path = tmp_path / "validation_unique.parquet"
    pq.write_table(pa.Table.from_pylist(rows), path)
    suite = read_suite(path)
    assert [(each.preferred, each.tied) for each in suite.compared] == [("t", False), ("t", True)]
    assert (suite.name, suite.left_out, counts(suite)["equal-pictures"]) == ("Pick-a-Pic", 3, 2)
    places = places_of(suite, [tmp_path])
    preferred = places[suite.compared[0].image]
    assert preferred is not None
    assert preferred.read_bytes() == _png(90)
    without = pa.Table.from_pylist([{key: row[key] for key in row if "jpg" not in key} for row in rows[:1]])
    pq.write_table(without, path)
    assert read_suite(path).compared == (pair("t", "u1.jpg", "u0.jpg"),)
    pq.write_table(pa.table({"img": [b"x"], "cand": ["a"]}), path)
    with pytest.raises(
        BadCorpus, match="of Parquet files Pick-a-Pic's, MJ-Bench's, GenAI-Bench's and GenAI-Arena's are read"
    ):
        read_suite(path)
    path.write_bytes(b"PAR1")
    with pytest.raises(BadCorpus, match="cannot be read as Parquet"):
        read_suite(path)


def test_genai_bench_and_tifa_are_ratings_of_pictures_by_category(tmp_path: Path) -> None:
    held = {
        "00007": {"prompt": "a  dog", "models": {"DALLE_3": [4, 5], "SDXL_Base": [1, None]}},
        "00008": {"prompt": "x"},
    }
    path = written(tmp_path, "genai_image.json", held)
    written(tmp_path, "genai_skills.json", {"basic": [7, 8], "counting": [7], "advanced": [7]})
    suite = read_suite(path)
    assert suite.rated == (
        Rated("DALLE_3/00007.jpeg", "a dog", 4.0, "advanced"),
        Rated("DALLE_3/00007.jpeg", "a dog", 5.0, "advanced"),
        Rated("SDXL_Base/00007.jpeg", "a dog", 1.0, "advanced"),
    )
    assert (suite.name, suite.convention, suite.by_text, suite.left_out) == ("GenAI-Bench", TAU_B, True, 2)
    entry = {"text_id": "coco_301091", "image_path": "a.jpg", "text": "t", "human_scores": [5, 3], "human_avg": 4.0}
    tifa = read_suite(written(tmp_path, "human_annotations.json", {"coco_301091_x": entry}))
    assert tifa.rated == (Rated("a.jpg", "t", 5.0, "coco"), Rated("a.jpg", "t", 3.0, "coco"))
    assert (tifa.name, tifa.by_text) == ("TIFA", True)


def test_genai_bench_of_parquet_holds_pictures_and_ratings_of_every_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The features of the publisher's card: a row a prompt, a column of pictures and a list of ratings a model."""
    monkeypatch.setenv("INVARISCOPE_CACHE", str(tmp_path / "cache"))
    row = {
        "Index": 7,
        "Prompt": "a  dog",
        "Tags": {"advanced": [], "basic": ["Scene"]},
        "HumanRatings": {"DALLE_3": [4, 5], "SDXL_Base": [1, None]},
        "DALLE_3": {"bytes": _png(9), "path": "7.png"},
        "SDXL_Base": {"bytes": _png(90), "path": "7.png"},
    }
    bare = {**row, "Tags": {"advanced": ["Negation"], "basic": ["Scene"]}, "HumanRatings": None}
    pq.write_table(
        pa.Table.from_pylist([row, {**row, "Prompt": "a cat", "Tags": bare["Tags"]}, bare]), tmp_path / "a.parquet"
    )
    suite = read_suite(tmp_path / "a.parquet")
    assert [(each.caption, each.rating, each.group) for each in suite.rated] == [
        ("a dog", 4.0, "basic"),
        ("a dog", 5.0, "basic"),
        ("a dog", 1.0, "basic"),
        ("a cat", 4.0, "advanced"),
        ("a cat", 5.0, "advanced"),
        ("a cat", 1.0, "advanced"),
    ]
    assert (suite.name, suite.convention, suite.by_text, suite.left_out) == ("GenAI-Bench", TAU_B, True, 3)
    place = places_of(suite, [tmp_path])[suite.rated[2].image]
    assert place is not None
    assert place.read_bytes() == _png(90)


def test_votes_of_genai_arena_prefer_a_picture_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INVARISCOPE_CACHE", str(tmp_path / "cache"))
    sides = {"left_image": {"bytes": _png(9)}, "right_image": {"bytes": _png(90)}, "left_model": "m"}
    votes = ("leftvote", "rightvote", "tievote", "bothbad_vote", None)
    path = tmp_path / "test_v1.parquet"
    pq.write_table(pa.Table.from_pylist([{"prompt": "t", **sides, "vote_type": vote} for vote in votes]), path)
    suite = read_suite(path)
    left, right = suite.compared[0].image, suite.compared[1].image
    assert suite.compared == (
        pair("t", left, right),
        pair("t", right, left),
        pair("t", left, right, tied=True),
        pair("t", left, right, tied=True),
    )
    assert (suite.name, suite.convention, suite.left_out) == ("GenAI-Arena", ACCURACY, 1)
    place = places_of(suite, [tmp_path])[right]
    assert place is not None
    assert place.read_bytes() == _png(90)
    pq.write_table(pa.Table.from_pylist([{"prompt": "t", **sides, "vote_type": "left"}]), path)
    with pytest.raises(BadCorpus, match="leftvote, rightvote, tievote or bothbad_vote"):
        read_suite(path)


def test_files_of_equal_bytes_are_equal_pictures_whatever_they_are_called(tmp_path: Path) -> None:
    for name, colour in (("a.png", 9), ("copy.png", 9), ("b.png", 90)):
        (tmp_path / name).write_bytes(_png(colour))
    text = "text,left,right,preferred\nt,a.png,copy.png,left\nt,a.png,b.png,left\nt,a.png,gone.png,left\n"
    suite = without_equal_pictures(read_suite(written(tmp_path, "mine.csv", text)), [tmp_path])
    assert [each.other_image for each in suite.compared] == ["b.png", "gone.png"]
    assert (suite.left_out, counts(suite)["equal-pictures"]) == (1, 1)


def load(root: Path, **options: Any) -> Corpus:
    return load_rated.load(root, **options)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("1.jpg", "2.jpg"):
        Image.new("RGB", (60, 40), "navy").save(tmp_path / name)
    return tmp_path


def flickr(root: Path, judged: list[tuple[str, str, Any]], name: str = "flickr8k.json") -> None:
    judgements = [{"image_path": image, "caption": text, "rating": rating} for image, text, rating in judged]
    held = {"1": {"image_path": "1.jpg", "ground_truth": ["A pet."], "human_judgement": judgements}}
    (root / name).write_text(json.dumps(held))


def told(corpus: Corpus) -> dict[str, str]:
    return {item.id: item.captions["en"][0] for item in corpus.items}


def test_the_best_rated_caption_of_each_picture_is_its_caption(root: Path) -> None:
    rated = [
        ("1.jpg", "A cat.", 2),
        ("1.jpg", "A dog.", 3),
        ("1.jpg", "A cat.", 3),
        ("1.jpg", "A dog.", 4),
        ("2.jpg", "A bird.", 1),
    ]
    flickr(root, rated)
    corpus = load(root)
    assert corpus.name == "flickr8k-expert"
    assert told(corpus) == {"1.jpg": "A dog.", "2.jpg": "A bird."}
    assert [item.facts["rating"] for item in corpus.items] == [3.5, 1.0]
    every = load(root, take="every")
    assert told(every) == {"1.jpg-1": "A cat.", "1.jpg-2": "A dog.", "2.jpg-1": "A bird."}
    assert [item.group for item in every.items] == ["1.jpg", "1.jpg", "2.jpg"]


def test_a_crowd_sourced_file_has_its_own_name(root: Path) -> None:
    flickr(root, [("1.jpg", "A cat.", 0.5)], "flickr8k_cf.json")
    assert load(root).name == "flickr8k-cf"


def test_of_pascal_and_foil_the_right_caption_counts(root: Path) -> None:
    held = {"HC": [{"image": "1.jpg", "captions": ["A dog.", "A cat."], "label": 1, "references": ["A kitten."]}]}
    (root / "pascal50s.json").write_text(json.dumps(held))
    assert told(load(root)) == {"1.jpg": "A cat."}
    foil = {
        "images": [{"id": 7, "file_name": "2.jpg"}],
        "annotations": [
            {"id": 3, "image_id": 7, "caption": "A dog runs.", "foil": False},
            {"id": 3, "image_id": 7, "caption": "A cat runs.", "foil": True},
        ],
    }
    (root / "foilv1.0_test_2017.json").write_text(json.dumps(foil))
    with pytest.raises(BadCorpus, match="say which to read"):
        load(root)
    corpus = load(root, file="foilv1.0_test_2017.json")
    assert (corpus.name, told(corpus)) == ("foil", {"2.jpg": "A dog runs."})


def test_composite_is_read(root: Path) -> None:
    held = {
        "coco": [
            {"image": "1.jpg", "caption": "A cat.", "human": 2},
            {"image": "1.jpg", "caption": "A dog.", "human": 5},
        ]
    }
    (root / "composite.json").write_text(json.dumps(held))
    assert told(load(root)) == {"1.jpg": "A dog."}


def test_what_cannot_be_used_is_told_apart(root: Path) -> None:
    (root / "2.jpg").write_bytes(b"")
    flickr(root, [("1.jpg", "A cat.", 2), ("1.jpg", "None.", None), ("2.jpg", "A.", 1), ("3.jpg", "A.", 1)])
    corpus = load(root)
    assert list(told(corpus)) == ["1.jpg"]
    assert {each.subject: each.code for each in corpus.rejected} == {"2.jpg": "bad-image", "3.jpg": "entry-no-image"}
    assert [(each.code, each.count) for each in corpus.remarks] == [("missing-cell", 1)]


def test_a_folder_without_a_suite_and_a_wrong_option_are_told(root: Path) -> None:
    with pytest.raises(BadCorpus, match="name the suite's file with --option file=NAME"):
        load(root)
    flickr(root, [("1.jpg", "A cat.", 2)])
    with pytest.raises(InvalidInput, match="take must be one of best, every, got 'worst'"):
        load(root, take="worst")
