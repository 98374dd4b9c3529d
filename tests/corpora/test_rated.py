"""Rated suites as corpora: every layout, the best caption of a picture, and what a folder can lack."""

import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from core.corpora.rated import load_rated
from core.corpora.schema import Corpus
from core.errors import BadCorpus, InvalidInput


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
