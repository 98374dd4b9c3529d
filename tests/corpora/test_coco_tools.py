"""What annotation tools write in COCO's layout: turned boxes, shares, other numbers, EXIF, LVIS, captions apart."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageOps

from core.corpora.coco import load_coco, upright_box, upright_mask
from core.corpora.item_pictures import read_item
from core.corpora.schema import Box, Corpus, Item
from core.errors import InvalidInput
from core.probes.words.categories import absence, absent
from tests.corpora.coco_folder import CocoFolder

GOOD = [20, 10, 50, 40]


def load(root: Path, **options: object) -> Corpus:
    return load_coco.load(root, **options)


def only(folder: CocoFolder, **options: object) -> Item:
    (item,) = load(folder.write(), **options).items
    return item


def remarks(corpus: Corpus) -> dict[str, int]:
    return {remark.code: remark.count for remark in corpus.remarks}


@pytest.mark.parametrize("where", [{"attributes": {"occluded": False, "rotation": 30.0}}, {"rotation": "30"}])
@pytest.mark.parametrize("outline", [[], None, [[30, 35, 70, 35, 70, 45, 30, 45]]])
def test_a_turned_box_holds_what_was_turned(coco_folder: CocoFolder, where: dict[str, Any], outline: Any) -> None:
    """CVAT and datumaro 1.13.12 state the box before the turn, and degrees clockwise about its centre."""
    bar = Image.new("L", (100, 80), 0)
    ImageDraw.Draw(bar).rectangle((30, 35, 69, 44), fill=255)
    seen = np.asarray(bar.rotate(-30, center=(50, 40))) > 0  # Pillow turns counter-clockwise
    coco_folder.image(1)
    coco_folder.instance(1, [30, 35, 40, 10], segmentation=outline or [], **where)
    corpus = load(coco_folder.write())
    (item,) = corpus.items
    rows, columns = np.nonzero(seen)
    assert item.box is not None
    assert item.mask is not None
    assert (item.box.x, item.box.y) == pytest.approx((columns.min(), rows.min()), abs=1.5)
    assert (item.box.right, item.box.bottom) == pytest.approx((columns.max() + 1, rows.max() + 1), abs=1.5)
    mask = item.mask.to_array()
    assert (mask & seen).sum() / (mask | seen).sum() > 0.85
    assert remarks(corpus) == {"annotation-turned": 1}


def test_an_outline_of_its_own_stands_although_its_box_is_turned(coco_folder: CocoFolder) -> None:
    coco_folder.image(1)
    coco_folder.instance(1, [30, 35, 40, 10], segmentation=[[40, 20, 60, 20, 50, 60]], rotation=90)
    item = only(coco_folder)
    assert item.box == Box(40, 20, 20, 40)
    assert item.mask is not None
    assert item.mask.area == pytest.approx(400, abs=40)


@pytest.mark.parametrize("box", [[80, 60, 0, 10], [80, 60, math.nan, 10], [0.2, 0.2, 0.1, 0.1]])
def test_a_turned_box_that_is_no_box_costs_itself(coco_folder: CocoFolder, box: Any) -> None:
    coco_folder.image(1)
    coco_folder.instance(1, GOOD)
    coco_folder.instance(1, box, attributes={"rotation": 30})
    corpus = load(coco_folder.write())
    assert [len(item.others) for item in corpus.items] == [0]
    assert remarks(corpus) == {"annotation-bad-box": 1}


@pytest.mark.parametrize("rotation", ["left", math.nan, [3]])
def test_a_turn_that_is_no_number_costs_its_box(coco_folder: CocoFolder, rotation: Any) -> None:
    coco_folder.image(1)
    coco_folder.instance(1, GOOD)
    coco_folder.instance(1, [80, 60, 10, 10], attributes={"rotation": rotation})
    corpus = load(coco_folder.write())
    assert [len(item.others) for item in corpus.items] == [0]
    assert remarks(corpus) == {"annotation-bad-box": 1}


def test_no_turn_and_a_whole_one_change_nothing(coco_folder: CocoFolder) -> None:
    for key, rotation in enumerate((0.0, 360, None, "0"), 1):
        coco_folder.image(key)
        coco_folder.instance(key, GOOD, attributes={"rotation": rotation})
    corpus = load(coco_folder.write())
    assert {item.box for item in corpus.items} == {Box(*GOOD)}
    assert len(corpus.items) == 4
    assert corpus.remarks == ()


def test_numbers_may_be_text_or_have_a_point(coco_folder: CocoFolder) -> None:
    coco_folder.image(1)
    usual = None
    for ids in (1, 1.0, "1"):
        coco_folder.images[0] |= {"id": ids, "width": str(100), "height": 80.0}
        coco_folder.annotations, coco_folder.captions = [], []
        outline = [[str(side) for side in (20, 10, 70, 10, 70, 50, 20, 50)]]
        coco_folder.instance(1, [f"{side}.0" for side in GOOD], segmentation=outline, category_id=1.0, iscrowd="0")
        coco_folder.caption(1.0, "A cat.")
        item = only(coco_folder)
        assert (item.box, item.captions["en"]) == (Box(*GOOD), ("A cat.",))
        assert item.mask is not None
        assert item.mask.area == 2000
        usual = usual or item
        assert item == usual


@pytest.mark.parametrize(
    ("stated", "kept"), [("0", 1), ("false", 1), (False, 1), (None, 1), ("1", 0), ("True", 0), (1.0, 0)]
)
def test_a_crowd_may_be_marked_by_text(coco_folder: CocoFolder, stated: Any, kept: int) -> None:
    coco_folder.image(1)
    coco_folder.instance(1, GOOD, iscrowd=stated)
    assert len(load(coco_folder.write())) == kept


def test_a_crowd_mark_that_is_none_costs_its_annotation(coco_folder: CocoFolder) -> None:
    coco_folder.image(1)
    coco_folder.instance(1, GOOD, iscrowd="perhaps")
    corpus = load(coco_folder.write(), slice="all")
    assert [item.box for item in corpus.items] == [None]
    assert corpus.remarks[0].detail == "iscrowd must be 0 or 1, got 'perhaps'"


def test_boxes_in_shares_are_read_as_shares_only_where_every_box_is_one(coco_folder: CocoFolder) -> None:
    for key in (1, 2):
        coco_folder.image(key)
        coco_folder.instance(key, [0.2, 0.125, 0.5, 0.5], segmentation=[])
    corpus = load(coco_folder.write())
    assert [item.box for item in corpus.items] == [Box(*GOOD)] * 2
    assert remarks(corpus) == {"annotation-in-shares": 2, "annotation-empty-segmentation": 2}
    coco_folder.instance(2, GOOD)
    mixed = load(coco_folder.write())
    assert [item.id for item in mixed.items] == ["val2017-2"]
    assert remarks(mixed) == {"annotation-bad-box": 2}


@pytest.mark.parametrize("box", [None, []])
def test_an_outline_without_a_box_has_the_box_around_it(coco_folder: CocoFolder, box: Any) -> None:
    counts = [20 * 80 + 10, *[40, 40] * 49, 40, 100 * 80 - 20 * 80 - 10 - 50 * 40 - 49 * 40]
    outlines = (
        [[20, 10, 70, 10, 70, 50, 20, 50]],
        [20, 10, 70, 10, 70, 50, 20, 50],
        {"size": [80, 100], "counts": counts},
    )
    for key, outline in enumerate(outlines, 1):
        coco_folder.image(key)
        coco_folder.instance(key, box, segmentation=outline)
    corpus = load(coco_folder.write())
    assert [item.box for item in corpus.items] == [Box(*GOOD)] * 3
    assert {item.mask.area for item in corpus.items if item.mask} == {2000}


@pytest.mark.parametrize("orientation", range(1, 9))
def test_boxes_and_masks_of_a_stored_picture_are_seen_where_pillow_shows_it(orientation: int) -> None:
    stored = np.zeros((80, 100), np.uint8)
    stored[10:30, 20:70] = 255
    picture = Image.fromarray(stored)
    picture.getexif()[0x0112] = orientation
    seen = np.asarray(ImageOps.exif_transpose(picture)) > 0
    if orientation < 5:  # it keeps its sides, so that nothing tells of which picture the boxes are
        assert seen.shape == stored.shape
        return
    np.testing.assert_array_equal(upright_mask(stored > 0, orientation), seen)
    rows, columns = np.nonzero(seen)
    box = upright_box(Box(20, 10, 50, 20), 100, 80, orientation)
    assert box == Box.from_corners(columns.min(), rows.min(), columns.max() + 1, rows.max() + 1)


@pytest.mark.parametrize("orientation", [3, 6])
def test_boxes_of_a_picture_that_exif_turns_lie_on_its_object(coco_folder: CocoFolder, orientation: int) -> None:
    picture = Image.new("RGB", (100, 80), "green")
    picture.paste("red", (20, 10, 70, 50))
    exif = Image.Exif()
    exif[0x0112] = orientation
    coco_folder.image(1)
    coco_folder.instance(1, GOOD)
    picture.save(coco_folder.root / "val2017" / f"{1:012d}.jpg", exif=exif.tobytes(), quality=100)
    corpus = load(coco_folder.write())
    (item,) = corpus.items
    assert remarks(corpus) == {"annotation-exif": 1}
    if orientation == 6:
        pixels = read_item(item).pixels
        assert item.mask is not None
        red = pixels[..., 0] > 128
        assert (red == item.mask.to_array()).mean() > 0.98
        assert item.box == item.mask.box == Box(30, 20, 40, 50)
    else:
        assert "seen, for nothing tells" in corpus.remarks[0].detail


def test_a_picture_of_lvis_is_named_by_its_address_and_absence_is_what_people_refused(coco_folder: CocoFolder) -> None:
    """LVIS v1: no file_name, pictures of any COCO folder, federated classes."""
    coco_folder.image(7)
    entry = coco_folder.images[0]
    del entry["file_name"]
    entry |= {
        "coco_url": f"http://images.cocodataset.org/val2017/{7:012d}.jpg",
        "neg_category_ids": [2, 4],
        "not_exhaustive_category_ids": [3],
    }
    coco_folder.categories = [
        {"id": 1, "name": "cat", "synonyms": ["cat"]},
        {"id": 2, "name": "sofa", "synonyms": ["sofa", "couch"]},
        {"id": 3, "name": "water_bottle", "synonyms": []},
        {"id": 4, "name": "traffic_light"},
        {"id": 5, "name": "banana"},
    ]
    coco_folder.instance(7, GOOD)
    coco_folder.instance(7, [80, 60, 10, 10], category_id=3)
    root = coco_folder.write()
    (root / "annotations" / "instances_val2017.json").rename(root / "annotations" / "lvis_v1_val.json")
    (item,) = load(root).items
    assert item.image_path == root / "val2017" / f"{7:012d}.jpg"
    assert [other.label for other in item.others] == ["water bottle"]
    assert item.looked_for == {"cat", "sofa", "couch", "traffic light"}
    told = {label: absence(item, label)["falsity"] for label in absent(item)}
    assert (told["couch"], told["traffic light"], told["banana"]) == ("verified", "verified", "presumed")
    assert not {"cat", "bottle"} & told.keys()


def test_every_class_of_an_ordinary_file_was_looked_for_and_no_other(coco_folder: CocoFolder) -> None:
    coco_folder.image(1)
    coco_folder.instance(1, GOOD)
    item = only(coco_folder)
    assert absence(item, "dog") == {"basis": "annotated absent", "falsity": "verified"}
    assert absence(item, "pizza")["falsity"] == "presumed"


def test_captions_that_number_pictures_otherwise_are_joined_by_name(coco_folder: CocoFolder) -> None:
    for key in range(3):
        coco_folder.image(key)
        coco_folder.instance(key, GOOD)
        coco_folder.caption(key + 1, f"A cat of {key}.")
    root = coco_folder.write()
    path = root / "annotations" / "captions_val2017.json"
    told = json.loads(path.read_text())
    told["images"] = [{"id": key + 1, "file_name": f"images\\{key:012d}.jpg"} for key in range(3)]
    path.write_text(json.dumps(told))
    corpus = load(root)
    assert [item.captions["en"] for item in corpus.items] == [(f"A cat of {key}.",) for key in range(3)]
    assert remarks(corpus) == {"caption-by-name": 3}
    told["images"] = [{"id": key + 1, "file_name": f"other{key}.jpg"} for key in range(3)]
    path.write_text(json.dumps(told))
    lost = load(root)
    assert [item.captions for item in lost.items] == [{}] * 3
    assert remarks(lost) == {"caption-no-image": 3}


JAPANESE = ("テーブルの上に猫がいる", "白猫", "A cat on a bed.")


def test_captions_have_the_language_of_their_script_or_the_one_that_is_said(coco_folder: CocoFolder) -> None:
    """STAIR Captions and YJ Captions are Japanese in COCO's own layout."""
    coco_folder.image(1)
    coco_folder.instance(1, GOOD)
    for text in JAPANESE:
        coco_folder.caption(1, text)
    assert only(coco_folder).captions == {"ja": JAPANESE[:2], "en": JAPANESE[2:]}
    assert only(coco_folder, language="ja").captions == {"ja": JAPANESE}
    with pytest.raises(InvalidInput, match="language must be a code such as en or ja, got 'Japanese!'"):
        load(coco_folder.root, language="Japanese!")


def test_captions_that_hardly_read_as_english_are_remarked(coco_folder: CocoFolder) -> None:
    coco_folder.image(1)
    coco_folder.instance(1, GOOD)
    for number in range(20):
        coco_folder.caption(1, f"Eine Katze liegt auf einem Bett, Bild {number}.")
    assert remarks(load(coco_folder.write())) == {"caption-language": 1}
    assert remarks(load(coco_folder.write(), language="de")) == {}


def test_an_id_of_two_pictures_names_neither_and_two_ids_of_one_are_remarked(coco_folder: CocoFolder) -> None:
    coco_folder.image(1)
    coco_folder.image(2)
    coco_folder.image(2, file_name="other.jpg")
    coco_folder.image(3, file_name=f"{1:012d}.jpg")
    for key in (1, 2, 3):
        coco_folder.instance(key, GOOD)
    corpus = load(coco_folder.write())
    assert [item.id for item in corpus.items] == ["val2017-1", "val2017-3"]
    assert {each.code for each in corpus.rejected} == {"duplicate-id"}
    assert remarks(corpus) == {"annotation-no-image": 1, "picture-twice": 1}


def test_a_category_id_of_two_names_labels_no_box(coco_folder: CocoFolder) -> None:
    coco_folder.image(1)
    coco_folder.instance(1, GOOD)
    coco_folder.instance(1, [80, 60, 10, 10], category_id=0)
    coco_folder.categories += [{"id": 0, "name": "Traffic_Light"}, {"id": 1, "name": "dog"}, {"id": 2, "name": "dog"}]
    corpus = load(coco_folder.write(), slice="all")
    assert [item.label for item in corpus.items] == ["traffic light"]
    assert remarks(corpus) == {"category-twice": 1, "annotation-no-category": 1}


def test_names_are_found_as_other_systems_write_them(coco_folder: CocoFolder) -> None:
    for key, (stated, lies) in enumerate([("images\\a.jpg", "a.jpg"), ("cafe\u0301.jpg", "caf\u00e9.jpg")], 1):
        coco_folder.image(key, file_name=lies)
        coco_folder.images[-1]["file_name"] = stated
        coco_folder.instance(key, GOOD)
    coco_folder.image(3, file_name="b.jpg")
    coco_folder.images[-1]["file_name"] = "x/b.jpg"
    coco_folder.images.append({**coco_folder.images[-1], "id": 4, "file_name": "y/b.jpg"})
    corpus = load(coco_folder.write(), slice="all")
    assert [item.id for item in corpus.items] == ["val2017-1", "val2017-2"]  # which b.jpg it is, nobody knows
    assert [each.code for each in corpus.rejected] == ["missing-image"] * 2


def test_what_contradicts_itself_is_remarked(coco_folder: CocoFolder) -> None:
    """Boxes as two corners beside an outline, one object twice, a box of zeros beside an outline."""
    for key in (1, 2, 3):
        coco_folder.image(key)
    outline = [[30, 25, 70, 25, 70, 50, 30, 50]]
    coco_folder.instance(1, [30, 25, 70, 50], segmentation=outline)
    coco_folder.instance(2, GOOD)
    coco_folder.instance(2, GOOD)
    coco_folder.instance(3, [0, 0, 0, 0], segmentation=outline)
    corpus = load(coco_folder.write(), slice="all")
    first, second, third = corpus.items
    assert (first.mask, second.others, third.box) == (None, (), Box(30, 25, 40, 25))
    assert remarks(corpus) == {"annotation-unlike-box": 1, "annotation-twice": 1}


def test_exif_is_no_remark_where_the_size_says_that_the_boxes_are_of_what_is_seen(coco_folder: CocoFolder) -> None:
    exif = Image.Exif()
    exif[0x0112] = 8
    coco_folder.image(1)
    coco_folder.instance(1, GOOD)
    Image.new("RGB", (80, 100)).save(coco_folder.root / "val2017" / f"{1:012d}.jpg", exif=exif.tobytes())
    corpus = load(coco_folder.write())
    assert ([item.box for item in corpus.items], corpus.remarks) == ([Box(*GOOD)], ())
