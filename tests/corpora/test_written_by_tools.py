"""COCO files as annotation tools write them, shortened: what is read, and what is left out by name."""

import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from core.commands._score_files import ImageFolder
from core.corpora.coco import load_coco
from core.corpora.corpus_files import LeftOut
from core.corpora.folder import load_folder
from core.corpora.folder_tables import NamedImages
from core.corpora.image_places import ImagePlaces, ItemNames
from core.corpora.schema import Corpus
from core.scoring.suite_scores import place_of

CATS = [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}]
SIZE = {"width": 100, "height": 80}
SQUARE = [[10.0, 10.0, 40.0, 10.0, 40.0, 30.0, 10.0, 30.0]]
HOLE = {"size": [80, 100], "counts": [3220, *[40] * 8, 10, 20, 10, 40, 10, 20, 10, *[40] * 8, 4020]}
"""A cat of 10 × 40 px with a hole of 2 × 20 px, to the number what datumaro and supervision write of it."""


def written(root: Path, images: list[Any], annotations: list[Any], categories: list[Any], *pictures: str) -> Corpus:
    (root / "annotations").mkdir(parents=True)
    content = {"images": images, "annotations": annotations, "categories": categories}
    (root / "annotations" / "instances_train.json").write_text(json.dumps(content))
    for name in pictures:
        (root / "train" / name).parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (100, 80), "green").save(root / "train" / name)
    return load_coco.load(root, split="train")


def boxes(corpus: Corpus) -> dict[str, tuple[str | None, tuple[float, ...]]]:
    return {
        item.source.rpartition("/")[2] if item.image_path is None else item.image_path.name: (
            item.label,
            (item.box.x, item.box.y, item.box.width, item.box.height),
        )
        for item in corpus.items
        if item.box is not None
    }


@pytest.mark.parametrize("tool", ["datumaro 1.13.12", "supervision 0.31.2"])
def test_one_object_with_a_hole_is_written_as_a_crowd_and_left_out_as_one(tmp_path: Path, tool: str) -> None:
    crowd = {
        "id": 1,
        "image_id": 1,
        "category_id": 1,
        "segmentation": HOLE,
        "area": 360.0,
        "bbox": [40.0, 20.0, 10.0, 40.0],
        "iscrowd": 1,
    }
    corpus = written(tmp_path, [{"id": 1, "file_name": "a.jpg", **SIZE}], [crowd], CATS, "a.jpg")
    assert corpus.rejection_counts() == {"crowd": 1}


def test_darwin_writes_several_outlines_of_one_object_as_a_crowd_without_area(tmp_path: Path) -> None:
    """darwin-py 3.6.3; ids are hashes of names, and a picture that nobody annotated is listed."""
    images = [
        {"id": 3347578859, "file_name": "a.jpg", **SIZE},
        {"id": 2150073659, "file_name": "b.jpg", **SIZE},
        {"id": 1, "file_name": "c.jpg", **SIZE},
    ]
    annotations = [
        {
            "id": 1,
            "image_id": 3347578859,
            "category_id": 2656977832,
            "segmentation": SQUARE,
            "area": 600.0,
            "bbox": [10, 10, 30, 20],
            "iscrowd": 0,
            "extra": {},
        },
        {
            "id": 2,
            "image_id": 2150073659,
            "category_id": 2656977832,
            "segmentation": HOLE,
            "area": 0,
            "bbox": [40, 20, 11, 41],
            "iscrowd": 1,
            "extra": {},
        },
    ]
    cats = [{"id": 2656977832, "name": "cat", "supercategory": "root"}]
    corpus = written(tmp_path, images, annotations, cats, "a.jpg", "b.jpg", "c.jpg")
    assert boxes(corpus) == {"a.jpg": ("cat", (10, 10, 30, 20))}
    assert corpus.rejection_counts() == {"crowd": 1, "no-object": 1}


def test_labelformat_writes_neither_ids_nor_outlines_nor_crowds(tmp_path: Path) -> None:
    """labelformat 0.1.17: the dog was a crowd, which its file no longer says; each is read by its box."""
    images = [{"id": 7, "file_name": "a.jpg", **SIZE}, {"id": 12, "file_name": "b.jpg", **SIZE}]
    annotations = [
        {"image_id": 7, "category_id": 1, "bbox": [10.0, 10.0, 30.0, 20.0]},
        {"image_id": 12, "category_id": 2, "bbox": [40.0, 10.0, 20.0, 20.0]},
    ]
    corpus = written(tmp_path, images, annotations, CATS, "a.jpg", "b.jpg")
    assert boxes(corpus) == {"a.jpg": ("cat", (10, 10, 30, 20)), "b.jpg": ("dog", (40, 10, 20, 20))}
    assert [item.mask for item in corpus.items] == [None, None]


def test_label_studio_names_pictures_by_its_server_and_writes_upright_boxes(tmp_path: Path) -> None:
    """label-studio-sdk 2.1.2; the dog of 20 × 20 px was turned by 30°. A task without annotation has no size."""
    images = [
        {**SIZE, "id": 0, "file_name": "/data/local-files/?d=images/a.jpg"},
        {"width": None, "height": None, "id": 1, "file_name": "/data/local-files/?d=images/b.jpg"},
    ]
    annotations = [
        {
            "id": 1,
            "image_id": 0,
            "category_id": 1,
            "segmentation": [],
            "ignore": 0,
            "iscrowd": 0,
            "bbox": [37.50000000000001, 39.99999999999999, 29.82050807568877, 25.32050807568878],
            "area": 755.07041555162,
        }
    ]
    cats = [{"id": 0, "name": "cat"}, {"id": 1, "name": "dog"}]
    corpus = written(tmp_path, images, annotations, cats, "images/a.jpg", "images/b.jpg")
    found = boxes(corpus)
    assert list(found) == ["a.jpg"]
    assert found["a.jpg"][1] == pytest.approx((37.5, 40, 29.8205, 25.3205), abs=1e-3)
    assert corpus.rejection_counts() == {"bad-entry": 1}


def test_a_name_of_a_server_leads_out_of_no_folder(tmp_path: Path) -> None:
    images = [{**SIZE, "id": 0, "file_name": "/data/local-files/?d=../../secret.jpg"}]
    annotations = [{"id": 1, "image_id": 0, "category_id": 1, "segmentation": SQUARE, "bbox": [10, 10, 30, 20]}]
    assert written(tmp_path, images, annotations, CATS, "a.jpg").rejection_counts() == {"unsafe-path": 1}


@pytest.mark.parametrize("stated", ["my%20cat.JPG", "C:\\data\\my cat.jpg", "/data/x/train/my cat.jpg", "MY CAT.jpg"])
def test_a_picture_is_found_whatever_another_machine_calls_it(tmp_path: Path, stated: str) -> None:
    """Addresses with escapes (cloud storage), paths of Windows and of a cluster, capitals of a camera's card."""
    images = [{**SIZE, "id": 0, "file_name": stated}, {**SIZE, "id": 1, "file_name": "b.jpg"}]
    notes = [
        {"id": each, "image_id": each, "category_id": 1, "segmentation": SQUARE, "bbox": [10, 10, 30, 20]}
        for each in (0, 1)
    ]
    found = boxes(written(tmp_path, images, notes, CATS, "my cat.jpg", "b.jpg"))
    assert found == dict.fromkeys(("my cat.jpg", "b.jpg"), ("cat", (10, 10, 30, 20)))


@pytest.mark.parametrize("stated", ["C:\\x\\my cat.jpg", "/data/x/my cat.jpg", "MY CAT.jpg", "my%20cat.jpg"])
def test_suites_pairs_and_scores_find_it_too(tmp_path: Path, stated: str) -> None:
    path = tmp_path / "my cat.jpg"
    Image.new("RGB", (40, 30)).save(path)
    assert place_of([ImagePlaces(tmp_path, ("",))], stated) == path
    assert NamedImages(tmp_path).find(stated, "pairs.csv, line 2") == path
    assert ImageFolder(tmp_path).find("0", stated) == path
    with pytest.raises(LeftOut, match="no relative path"):
        NamedImages(tmp_path).find("/etc/passwd", "pairs.csv, line 2")


def test_a_leaderboard_finds_it_by_a_path_of_another_machine_or_its_own(tmp_path: Path) -> None:
    for folder in ("photos", "photos/more"):
        (tmp_path / folder).mkdir()
        Image.new("RGB", (40, 30)).save(tmp_path / folder / f"{folder[-4:]}.jpg")
    names = ItemNames(load_folder.load(tmp_path / "photos").items)
    stated = ("C:\\x\\otos.jpg", "/data/x/otos.jpg", str(tmp_path / "photos" / "otos.jpg"), "otos")
    assert [names.several(each) for each in stated] == [["otos.jpg"]] * 4
    assert names.several("/data/more/more.jpg") == ["more/more.jpg"]
    assert names.several("/data/x/more.jpg") == []


def test_a_point_beside_a_shape_costs_no_outline(tmp_path: Path) -> None:
    """As tools leave them where somebody clicked once; an outline of a point alone is none."""
    images = [{**SIZE, "id": each, "file_name": f"{each}.jpg"} for each in (0, 1)]
    notes = [
        {"id": each, "image_id": each, "category_id": 1, "segmentation": shape, "bbox": [10, 10, 30, 20]}
        for each, shape in enumerate(([*SQUARE, [5, 5, 5, 5]], [[5, 5, 5, 5]]))
    ]
    corpus = written(tmp_path, images, notes, CATS, "0.jpg", "1.jpg")
    assert [None if item.mask is None else int(item.mask.to_array().sum()) for item in corpus.items] == [600, None]


def test_of_two_names_that_differ_in_capitals_neither_is_taken_for_a_third(tmp_path: Path) -> None:
    images = [{**SIZE, "id": 0, "file_name": "A.jpg"}]
    notes = [{"id": 0, "image_id": 0, "category_id": 1, "segmentation": SQUARE, "bbox": [10, 10, 30, 20]}]
    assert written(tmp_path, images, notes, CATS, "a.jpg", "a.JPG").rejection_counts() == {"missing-image": 1}


def test_captions_of_a_split_are_in_the_order_of_their_ids_and_nan_is_none(tmp_path: Path) -> None:
    written(tmp_path, [{**SIZE, "id": 1, "file_name": "a.jpg"}], [], CATS, "a.jpg")
    told = [(1, "One."), (0, "Zero."), ("3", "nan"), (4, None)]
    notes = [{"id": own, "image_id": 1, "caption": text} for own, text in told]
    (tmp_path / "annotations" / "captions_train.json").write_text(json.dumps({"annotations": notes}))
    corpus = load_coco.load(tmp_path, split="train", slice="all")
    assert [item.captions for item in corpus.items] == [{"en": ("Zero.", "One.")}]
    assert {each.code: each.count for each in corpus.remarks}["caption-empty"] == 2


def test_objects_keep_their_names_though_category_and_picture_ids_were_given_anew(tmp_path: Path) -> None:
    """datumaro 1.13.12 (categories 3 and 9 become 1 and 2, the last picture stands first)."""
    images = [
        {"id": 12, "file_name": "b.jpg", "license": 0, "coco_url": "", "flickr_url": "", **SIZE},
        {"id": 7, "file_name": "a.jpg", "license": 0, "coco_url": "", "flickr_url": "", **SIZE},
    ]
    annotations = [
        {
            "id": 103,
            "image_id": 12,
            "category_id": 2,
            "segmentation": [],
            "area": 400.0,
            "iscrowd": 0,
            "bbox": [20.0, 10.0, 30.0, 40.0],
        },
        {
            "id": 101,
            "image_id": 7,
            "category_id": 1,
            "segmentation": SQUARE,
            "area": 600.0,
            "bbox": [10.0, 10.0, 30.0, 20.0],
            "iscrowd": 0,
        },
    ]
    corpus = written(tmp_path, images, annotations, CATS, "a.jpg", "b.jpg")
    assert boxes(corpus) == {"a.jpg": ("cat", (10, 10, 30, 20)), "b.jpg": ("dog", (20, 10, 30, 40))}
