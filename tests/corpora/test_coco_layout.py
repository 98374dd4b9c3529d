"""Where the files of a split lie: captions alone, Roboflow's and FiftyOne's exports."""

import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from core.corpora.coco import load_coco
from core.corpora.schema import Box
from core.errors import BadCorpus, InvalidInput

CATEGORIES = [
    {"id": 0, "name": "pets", "supercategory": "none"},
    {"id": 1, "name": "cat", "supercategory": "pets"},
    {"id": 2, "name": "dog", "supercategory": "pets"},
]
"""As Roboflow's export writes them: the first is a heading that no box has."""


def photograph(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (100, 80), "navy").save(path)


def dump(path: Path, **lists: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(lists), encoding="utf-8")


def captioned(root: Path, name: str, **said: Any) -> Path:
    """A file of one caption, of a picture whose size it does not state, as VizWiz' does not."""
    photograph(root / "val" / "a.jpg")
    note = {"id": 1, "image_id": 7, "caption": "A toy.", **said}
    dump(root / "annotations" / name, images=[{"id": 7, "file_name": "a.jpg"}], annotations=[note])
    return root


def boxed(path: Path, picture: Path) -> None:
    photograph(picture)
    image = {"id": 7, "file_name": picture.name, "width": 100, "height": 80}
    box = {"id": 1, "image_id": 7, "category_id": 1, "bbox": [20, 10, 50, 40], "iscrowd": 0, "segmentation": []}
    dump(path, images=[image], annotations=[box], categories=CATEGORIES)


@pytest.mark.parametrize("name", ["captions_val.json", "nocaps_val_captions.json", "val.json"])
def test_captions_alone_are_a_corpus_of_every_picture(tmp_path: Path, name: str) -> None:
    """COCO's, NoCaps' and VizWiz' names of that file; with no box no picture is of one object."""
    root = captioned(tmp_path, name)
    corpus = load_coco.load(root)
    (item,) = corpus.items
    assert (item.id, item.width, item.height, item.captions) == ("val-7", 100, 80, {"en": ("A toy.",)})
    assert (item.label, item.box, item.others, item.looked_for) == (None, None, (), frozenset())
    assert (corpus.rejected, corpus.remarks) == ((), ())
    with pytest.raises(InvalidInput, match=r"slice=single-object needs boxes, and .* captions alone; use slice=all"):
        load_coco.load(root, slice="single-object")


def test_a_file_without_a_caption_is_none_of_captions(tmp_path: Path) -> None:
    for said in ({"is_rejected": True}, {"is_precanned": True}, {"caption": " "}):
        with pytest.raises(BadCorpus, match=r"val\.json holds no caption of its images"):
            load_coco.load(captioned(tmp_path, "val.json", **said))


def test_a_split_with_boxes_comes_before_captions_alone(tmp_path: Path) -> None:
    captioned(tmp_path, "captions_val.json")
    boxed(tmp_path / "annotations" / "instances_train.json", tmp_path / "train" / "b.jpg")
    assert [item.id for item in load_coco.load(tmp_path).items] == ["train-7"]
    assert [item.id for item in load_coco.load(tmp_path, split="val").items] == ["val-7"]


@pytest.mark.parametrize(("name", "below"), [("_annotations.coco.json", ""), ("labels.json", "data")])
def test_annotations_lie_in_the_folder_of_their_split(tmp_path: Path, name: str, below: str) -> None:
    """Roboflow's and FiftyOne's exports; the folder of one split will do too."""
    for split in ("train", "valid"):
        boxed(tmp_path / split / name, tmp_path / split / below / "a.jpg")
    given: list[tuple[Path, str | None, str]] = [
        (tmp_path, None, "valid-7"),
        (tmp_path, "train", "train-7"),
        (tmp_path / "train", None, "train-7"),
    ]
    for root, chosen, key in given:
        (item,) = load_coco.load(root, split=chosen).items
        assert (item.id, item.label, item.box) == (key, "cat", Box(20, 10, 50, 40))
        assert item.image_path == tmp_path / key.removesuffix("-7") / below / "a.jpg"
        assert item.looked_for == {"cat", "dog"}, "of the heading alone nobody marks a thing"
    with pytest.raises(BadCorpus, match="it has train, valid"):
        load_coco.load(tmp_path, split="test")
