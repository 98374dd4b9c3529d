"""COCO folders: real photographs, and everything that a download or an export can break."""

import json
import tracemalloc
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from pycocotools.coco import COCO

from core.corpora.coco import load_coco
from core.corpora.item_pictures import read_item
from core.corpora.schema import Box, Corpus, Mask
from core.errors import BadCorpus, InvalidInput
from tests.corpora.coco_folder import CocoFolder


def load(root: Path, **options: object) -> Corpus:
    return load_coco.load(root, **options)


def codes(corpus: Corpus) -> dict[str, str]:
    return {rejection.subject: rejection.code for rejection in corpus.rejected}


def remarks(corpus: Corpus) -> dict[str, int]:
    return {remark.code: remark.count for remark in corpus.remarks}


class TestRealPhotographs:
    pytestmark = pytest.mark.coco

    @pytest.mark.parametrize("split", ["train2017", "val2017"])
    def test_every_image_is_kept_or_left_out_with_a_reason(self, coco_root: Path, split: str) -> None:
        corpus = load(coco_root, split=split)
        listed = json.loads((coco_root / "annotations" / f"instances_{split}.json").read_text())["images"]
        expected = {f"{split}-{image['id']}" for image in listed}
        kept, left_out = {item.id for item in corpus.items}, set(codes(corpus))
        assert kept | left_out == expected
        assert not kept & left_out
        assert len(kept) >= 15

    def test_items_obey_the_rules_of_the_slice(self, coco_root: Path) -> None:
        corpus = load(coco_root, split="val2017")
        for item in corpus.items:
            assert item.box is not None
            assert item.category is not None
            assert all(item.box.area >= 2 * other.box.area for other in item.others)
            assert all(item.box.iou(other.box) < 0.1 for other in item.others)
            assert min(item.box.x, item.box.y, item.width - item.box.right, item.height - item.box.bottom) > 3
            assert len(item.captions["en"]) >= 5
            assert "creativecommons.org" in item.licence or "flickr.com" in item.licence
            assert item.source.startswith("http://images.cocodataset.org/")

    def test_boxes_masks_and_captions_are_those_of_cocos_own_reader(
        self, coco_root: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        annotations = coco_root / "annotations"
        instances, captions = (COCO(str(annotations / f"{kind}_val2017.json")) for kind in ("instances", "captions"))
        capsys.readouterr()
        for item in load(coco_root, split="val2017").items:
            key = int(item.id.removeprefix("val2017-"))
            theirs = max(instances.imgToAnns[key], key=lambda each: each["bbox"][2] * each["bbox"][3])
            assert item.box == Box(*theirs["bbox"])
            assert item.label == instances.cats[theirs["category_id"]]["name"]
            assert item.mask is not None
            assert item.mask.counts == instances.annToRLE(theirs)["counts"]
            assert len(item.others) == len(instances.imgToAnns[key]) - 1
            expected = sorted(captions.imgToAnns[key], key=lambda each: each["id"])
            assert item.captions["en"] == tuple(each["caption"].strip() for each in expected)

    def test_masks_fill_a_good_part_of_their_boxes(self, coco_root: Path) -> None:
        for item in load(coco_root).items:
            assert item.mask is not None
            assert item.mask.box is not None
            assert item.box is not None
            assert item.mask.box.iou(item.box) > 0.9

    def test_the_whole_split_holds_every_image_once(self, coco_root: Path) -> None:
        corpus = load(coco_root, slice="all")
        assert len(corpus) == 79
        assert corpus.rejected == ()
        assert sum(item.box is not None for item in corpus.items) >= 78

    def test_an_item_is_read_at_the_size_of_its_annotations(self, coco_root: Path) -> None:
        for item in load(coco_root, limit=3).items:
            assert read_item(item).pixels.shape == (item.height, item.width, 3)

    def test_loading_twice_gives_the_same_corpus(self, coco_root: Path) -> None:
        assert load(coco_root) == load(coco_root)


def test_an_image_becomes_an_item_with_its_licence_and_captions(coco_folder: CocoFolder) -> None:
    coco_folder.image(139)
    coco_folder.instance(139, [20, 10, 50, 40])
    coco_folder.instance(139, [80, 60, 10, 10], category_id=2)
    coco_folder.caption(139, "Second.\n", id=9)
    coco_folder.caption(139, " First.", id=3)
    (item,) = load(coco_folder.write()).items
    assert (item.id, item.corpus, item.label, item.category) == ("val2017-139", "coco", "cat", "animal")
    assert (item.width, item.height, item.box) == (100, 80, Box(20, 10, 50, 40))
    assert item.captions == {"en": ("First.", "Second.")}
    assert (item.licence, item.source) == ("Attribution License http://example.org/by", "u139")
    assert item.mask is not None
    assert item.mask.area == 2000
    assert [(other.label, other.box) for other in item.others] == [("dog", Box(80, 60, 10, 10))]


def test_items_stand_in_the_order_of_their_ids_whatever_the_file_says(coco_folder: CocoFolder) -> None:
    for key in (30, 4, 200):
        coco_folder.image(key)
        coco_folder.instance(key, [20, 10, 50, 40])
    corpus = load(coco_folder.write())
    assert [item.id for item in corpus.items] == ["val2017-4", "val2017-30", "val2017-200"]


def test_run_lengths_are_read_as_polygons_are(coco_folder: CocoFolder) -> None:
    counts = [20 * 80 + 10, *[40, 40] * 49, 40, 100 * 80 - 20 * 80 - 10 - 50 * 40 - 49 * 40]
    for key, segmentation in enumerate([None, {"size": [80, 100], "counts": counts}], 1):
        coco_folder.image(key)
        coco_folder.instance(key, [20, 10, 50, 40], segmentation=segmentation)
    first, second = load(coco_folder.write()).items
    assert first.mask == second.mask


def test_a_crowd_is_never_the_object_but_stays_an_obstacle(coco_folder: CocoFolder) -> None:
    for key in (1, 2):
        coco_folder.image(key)
        coco_folder.instance(key, [20, 10, 50, 40])
    coco_folder.instance(1, [80, 60, 10, 10], iscrowd=1)
    coco_folder.instance(2, [0, 0, 99, 79], iscrowd=1)
    root = coco_folder.write()
    corpus = load(root)
    assert [item.id for item in corpus.items] == ["val2017-1"]
    assert len(corpus.items[0].others) == 1
    assert codes(corpus) == {"val2017-2": "crowd"}
    assert [item.box for item in load(root, slice="all").items] == [Box(20, 10, 50, 40)] * 2


def test_images_that_cannot_be_used_are_left_out_one_by_one(coco_folder: CocoFolder) -> None:
    for key in range(1, 8):
        coco_folder.image(key, saved=key != 2)
        coco_folder.instance(key, [20, 10, 50, 40])
    folder = coco_folder.root / "val2017"
    (folder / f"{3:012d}.jpg").write_bytes(b"")
    (folder / f"{4:012d}.jpg").write_bytes(b"no image")
    Image.new("RGB", (80, 100)).save(folder / f"{5:012d}.jpg")
    whole = (folder / f"{7:012d}.jpg").read_bytes()
    (folder / f"{7:012d}.jpg").write_bytes(whole[:20])
    coco_folder.annotations[5]["image_id"] = 99
    corpus = load(coco_folder.write())
    assert [item.id for item in corpus.items] == ["val2017-1"]
    assert codes(corpus) == {
        "val2017-2": "missing-image",
        "val2017-3": "bad-image",
        "val2017-4": "bad-image",
        "val2017-5": "size-mismatch",
        "val2017-6": "no-object",
        "val2017-7": "bad-image",
    }
    assert remarks(corpus) == {"annotation-no-image": 1}
    details = {rejection.subject: rejection.detail for rejection in corpus.rejected}
    assert "80 × 100 px, its annotations are for 100 × 80; restore" in details["val2017-5"]
    assert "is empty (0 bytes)" in details["val2017-3"]


@pytest.mark.parametrize(
    "name",
    ["../secret.jpg", "/etc/passwd", "a/../../secret.jpg", "..\\secret.jpg", "link.jpg", "", "x" * 5000 + ".jpg"],
)
def test_no_file_name_leads_out_of_the_image_folder(coco_folder: CocoFolder, name: str) -> None:
    Image.new("RGB", (100, 80)).save(coco_folder.root / "secret.jpg")
    (coco_folder.root / "val2017" / "link.jpg").symlink_to("../secret.jpg")
    coco_folder.image(1, saved=False, file_name=None)
    coco_folder.images[0]["file_name"] = name
    coco_folder.instance(1, [20, 10, 50, 40])
    corpus = load(coco_folder.write(), slice="all")
    assert corpus.items == ()
    assert codes(corpus)["val2017-1"] == ("missing-image" if len(name) > 100 else "unsafe-path")


def test_annotations_that_cannot_be_used_are_left_out_one_by_one(coco_folder: CocoFolder) -> None:
    coco_folder.image(1)
    good = [20, 10, 50, 40]
    polygon = [[1, 1, 5, 1, 5, 5]]
    coco_folder.instance(1, good)
    coco_folder.instance(1, [200, 10, 50, 40], segmentation=polygon)
    coco_folder.instance(1, [20, 10, 0, 40], segmentation=polygon)
    coco_folder.instance(1, "box", segmentation=polygon)
    coco_folder.instance(1, [90, 70, 30, 5], segmentation=polygon)
    coco_folder.instance(1, [80, 2, 5, 5], category_id=77)
    coco_folder.instance(1, [80, 2, 5, 5], segmentation=[])
    coco_folder.instance(1, [80, 12, 5, 5], segmentation={"size": [80, 100], "counts": "zzz"})
    coco_folder.instance(1, [80, 22, 5, 5], segmentation={"size": [80, 100], "counts": [8000]})
    coco_folder.annotations += [7, {"image_id": 1}, {"id": 3, "image_id": [1], "category_id": 1}]
    corpus = load(coco_folder.write())
    (item,) = corpus.items
    assert item.box == Box(*good)
    assert [other.box for other in item.others] == [
        Box(90, 70, 10, 5),
        Box(80, 2, 5, 5),
        Box(80, 12, 5, 5),
        Box(80, 22, 5, 5),
    ]
    assert [other.mask is None for other in item.others] == [False, True, True, True]
    assert corpus.rejected == ()
    assert remarks(corpus) == {
        "annotation-box-outside": 1,
        "annotation-bad-box": 2,
        "annotation-box-clipped": 1,
        "annotation-no-category": 1,
        "annotation-empty-segmentation": 2,
        "annotation-bad-segmentation": 1,
        "annotation-bad-entry": 3,
    }


def test_an_object_without_a_mask_keeps_its_box(coco_folder: CocoFolder) -> None:
    coco_folder.image(1)
    coco_folder.instance(1, [20, 10, 50, 40], segmentation=[])
    (item,) = load(coco_folder.write()).items
    assert (item.mask, item.box) == (None, Box(20, 10, 50, 40))


def test_images_with_broken_entries_are_left_out(coco_folder: CocoFolder) -> None:
    coco_folder.image(1)
    coco_folder.image(4)
    coco_folder.image(4, file_name="again.jpg")
    coco_folder.image(2, width=0)
    coco_folder.image(3, height="80.5")
    coco_folder.images += ["image", {"id": 5}, {"id": True, "file_name": "a.jpg", "width": 9, "height": 9}]
    corpus = load(coco_folder.write(), slice="all")
    assert [item.id for item in corpus.items] == ["val2017-1"]
    assert Counter(codes(corpus).values()) == {"duplicate-id": 2, "bad-entry": 5}


def test_captions_that_cannot_be_used_are_left_out(coco_folder: CocoFolder) -> None:
    coco_folder.image(1)
    for text in ("A cat.", "", "   ", 5, "ネコ 🐈 " + "x" * 10_000):
        coco_folder.caption(1, text)
    coco_folder.caption(8, "Nobody's.")
    coco_folder.captions.append("caption")
    corpus = load(coco_folder.write(), slice="all")
    assert [len(text) for text in corpus.items[0].captions["en"]] == [6, 10_005]
    assert corpus.rejected == ()
    assert remarks(corpus) == {"caption-empty": 3, "caption-no-image": 1, "caption-bad-entry": 1}


def test_without_a_caption_file_items_have_no_captions(coco_folder: CocoFolder) -> None:
    coco_folder.image(1)
    (item,) = load(coco_folder.write(), slice="all").items
    assert item.captions == {}
    assert (item.label, item.box, item.others) == (None, None, ())


def test_a_label_without_a_category_is_counted(coco_folder: CocoFolder) -> None:
    for key in (1, 2):
        coco_folder.image(key)
        coco_folder.instance(key, [20, 10, 50, 40], category_id=3)
    corpus = load(coco_folder.write())
    assert [(item.label, item.category) for item in corpus.items] == [("gremlin", None)] * 2
    assert corpus.rejected == ()
    (remark,) = corpus.remarks
    assert (remark.subject, remark.code) == ("label gremlin", "unmapped-label")
    assert "2 items labelled" in remark.detail


def test_a_limit_stops_early_and_says_so(coco_folder: CocoFolder) -> None:
    for key in range(1, 6):
        coco_folder.image(key, saved=key != 1)
        coco_folder.instance(key, [20, 10, 50, 40])
    corpus = load(coco_folder.write(), limit="2")
    assert [item.id for item in corpus.items] == ["val2017-2", "val2017-3"]
    assert corpus.description.endswith("limited to 2 items, 3 of 5 images examined")


def test_curation_is_set_by_options_and_written_down(coco_folder: CocoFolder) -> None:
    coco_folder.image(1)
    coco_folder.instance(1, [0, 10, 50, 40])
    root = coco_folder.write()
    assert codes(load(root)) == {"val2017-1": "truncated"}
    corpus = load(root, max_touching_sides="1")
    assert len(corpus) == 1
    assert "at most 1 sides within 3 px" in corpus.description
    with pytest.raises(InvalidInput, match="belongs to slice=single-object"):
        load(root, slice="all", dominance=3)


def test_the_validation_split_is_the_default(coco_folder: CocoFolder) -> None:
    coco_folder.image(1)
    root = coco_folder.write()
    annotations = root / "annotations"
    (annotations / "instances_train2017.json").write_text("{}")
    assert load(root, slice="all").description.startswith("COCO val2017")
    assert load(root / "val2017", slice="all").items == load(root, slice="all").items
    (annotations / "instances_val2017.json").rename(annotations / "instances_zebra.json")
    (root / "val2017").rename(root / "zebra")
    assert load(root, split="zebra", slice="all").description.startswith("COCO zebra")


def test_images_may_lie_in_a_folder_of_images(coco_folder: CocoFolder) -> None:
    coco_folder.image(1)
    root = coco_folder.write()
    (root / "images").mkdir()
    (root / "val2017").rename(root / "images" / "val2017")
    assert len(load(root, slice="all")) == 1


def test_a_file_of_nothing_but_empty_lists_is_an_empty_corpus(coco_folder: CocoFolder) -> None:
    text = '{"images": [], "annotations": [], "categories": []}'
    (coco_folder.root / "annotations" / "instances_val2017.json").write_text(text)
    assert load(coco_folder.root).items == ()


def test_lists_may_stand_in_any_order_and_ids_may_be_text(coco_folder: CocoFolder) -> None:
    for key in (7, 8):
        coco_folder.image(key)
        coco_folder.instance(key, [20, 10, 50, 40], segmentation=[[20.25, 10, 70, 10.5, 70, 50.125]])
        coco_folder.caption(key, f"Cat {key}.")
    coco_folder.instance(9, [20, 10, 50, 40])
    coco_folder.instance("9", [20, 10, 50, 40])
    coco_folder.instance(8, [-5, 70, 20, 20], category_id=2, iscrowd=1)
    usual = load(coco_folder.write(), slice="all")
    path = coco_folder.root / "annotations" / "instances_val2017.json"
    content = json.loads(path.read_text())
    for order in ("annotations categories images licenses", "categories licenses images annotations"):
        path.write_text(json.dumps({name: content[name] for name in order.split()}))
        assert load(coco_folder.root, slice="all") == usual
    path.write_text(json.dumps({**content, "images": [{**each, "id": str(each["id"])} for each in content["images"]]}))
    assert load(coco_folder.root, slice="all") == usual
    assert remarks(usual) == {"annotation-no-image": 2, "annotation-box-clipped": 1}
    assert usual.remarks[0].detail == "no image has the id 9"


def test_items_are_those_of_cocos_own_reader(coco_folder: CocoFolder, capsys: pytest.CaptureFixture[str]) -> None:
    """In COCO's layout, of numbers drawn from a seed: polygons of several parts, run lengths, crowds, captions."""
    rng = np.random.default_rng(5)
    for key in rng.permutation(40).tolist():
        coco_folder.image(key + 1)
    for key in rng.integers(1, 41, size=120).tolist():
        x, y, width, height = (round(float(each), 2) for each in rng.uniform([0, 0, 2, 2], [60, 40, 40, 40]))
        parts = [[x, y, x + width, y, x + width, y + height / 2], [x, y, x + width / 3, y + height, x, y + height]]
        crowd = int(rng.random() < 0.1)
        counts = [int(x) * 80, 200, 8000 - int(x) * 80 - 200]
        coco_folder.instance(
            key,
            [x, y, width, height],
            iscrowd=crowd,
            category_id=int(rng.integers(1, 3)),
            segmentation={"size": [80, 100], "counts": counts} if crowd else parts,
        )
        coco_folder.caption(key, f" A caption {key}. ")
    annotations = coco_folder.write() / "annotations"
    theirs, captions = (COCO(str(annotations / f"{kind}_val2017.json")) for kind in ("instances", "captions"))
    capsys.readouterr()
    corpus = load(coco_folder.root, slice="all")
    assert [item.id for item in corpus.items] == [f"val2017-{key}" for key in sorted(theirs.imgs)]
    assert corpus.remarks == ()
    for item in corpus.items:
        key = int(item.id.removeprefix("val2017-"))
        own = [(other.label, other.box, other.mask, other.crowd) for other in item.others]
        own += [(item.label, item.box, item.mask, False)] if item.box else []
        expected = [
            (
                theirs.cats[each["category_id"]]["name"],
                Box(*each["bbox"]),
                Mask(80, 100, theirs.annToRLE(each)["counts"]),
                bool(each["iscrowd"]),
            )
            for each in theirs.imgToAnns[key]
        ]
        assert sorted(own, key=str) == sorted(expected, key=str)
        said = tuple(each["caption"].strip() for each in captions.imgToAnns[key])
        assert item.captions == ({"en": said} if said else {})


def test_a_number_that_is_none_costs_its_annotation_alone(coco_folder: CocoFolder) -> None:
    for key in (1, 2, 3):
        coco_folder.image(key)
        coco_folder.instance(key, [20, 10, 50, 40])
    coco_folder.annotations[0]["bbox"][0] = float("nan")
    coco_folder.annotations[1]["area"] = 10**30
    corpus = load(coco_folder.write())
    assert [item.id for item in corpus.items] == ["val2017-2", "val2017-3"]
    assert remarks(corpus) == {"annotation-bad-box": 1}
    path = coco_folder.root / "annotations" / "instances_val2017.json"
    path.write_text(path.read_text()[:-1] + ', "images": []}')
    with pytest.raises(BadCorpus, match="names a list twice"):
        load(coco_folder.root)


def test_outlines_are_never_in_memory_as_numbers(coco_folder: CocoFolder) -> None:
    rng = np.random.default_rng(3)
    coco_folder.image(1)
    for _ in range(1600):
        outline = rng.uniform(0, 80, 1000).round(2).tolist()
        coco_folder.instance(1, [20, 10, 50, 40], segmentation=[outline])
    coco_folder.image(2)
    coco_folder.instance(2, [20, 10, 50, 40])
    path = coco_folder.write() / "annotations" / "instances_val2017.json"
    tracemalloc.start()
    try:
        assert [item.id for item in load(coco_folder.root).items] == ["val2017-2"]
        assert tracemalloc.get_traced_memory()[1] < 3 * path.stat().st_size  # text, and one chunk of numbers
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"images": [', r"instances_val2017\.json is not valid JSON at line 1, column 13"),
        ("[]", "must hold one JSON object with lists, got a list"),
        ("{}", "has no list 'images'"),
        ('{"images": {}}', "has no list 'images'"),
        ('{"images": [], "categories": []}', "has no list 'annotations'"),
        ('{"images": [], "annotations": []}', "has no list 'categories'"),
    ],
)
def test_a_malformed_annotation_file_is_told(coco_folder: CocoFolder, text: str, sentence: str) -> None:
    (coco_folder.root / "annotations" / "instances_val2017.json").write_text(text)
    with pytest.raises(BadCorpus, match=sentence):
        load(coco_folder.root)


def test_a_malformed_caption_file_is_told(coco_folder: CocoFolder) -> None:
    root = coco_folder.write()
    (root / "annotations" / "captions_val2017.json").write_text("{\n}}")
    with pytest.raises(BadCorpus, match=r"captions_val2017\.json is not valid JSON at line 2, column 2"):
        load(root)


def test_a_folder_in_another_layout_is_told(tmp_path: Path, coco_folder: CocoFolder) -> None:
    with pytest.raises(BadCorpus, match=r"has no annotations/instances_<split>\.json"):
        load(tmp_path / "val2017")
    root = coco_folder.write()
    with pytest.raises(BadCorpus, match=r"no annotations/instances_\.\./x\.json; it has val2017"):
        load(root, split="../x")
    (root / "val2017").rename(root / "elsewhere")
    with pytest.raises(BadCorpus, match="no folder of images for val2017: looked for"):
        load(root)
    with pytest.raises(InvalidInput, match="slice must be one of single-object, multi-object, all, got 'some'"):
        load(root, slice="some")
