"""Objects365 folders: the publisher's layout, its marks, and what a download can break."""

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from core.corpora.coco import load_coco
from core.corpora.corpus_files import MOST_DEPTH, entries
from core.corpora.curation import cell_of, stratified
from core.corpora.labels import load_labels
from core.corpora.objects365 import load_objects365
from core.corpora.schema import Box, Corpus
from core.errors import BadCorpus, InvalidInput
from core.probes.words.categories import absence
from tests.corpora.objects365_folder import Objects365Folder

GOOD = [20, 10, 50, 40]


@pytest.fixture
def made(tmp_path: Path) -> Objects365Folder:
    return Objects365Folder(tmp_path)


def load(root: Path, **options: object) -> Corpus:
    return load_objects365.load(root, **options)


def codes(corpus: Corpus) -> dict[str, str]:
    return {each.subject: each.code for each in corpus.rejected}


def remarks(corpus: Corpus) -> dict[str, int]:
    return {each.code: each.count for each in corpus.remarks}


def test_an_image_becomes_an_item_with_the_noun_of_its_label(made: Objects365Folder) -> None:
    made.image(420917)
    made.instance(420917, [20.5, 10.25, 50, 40], 2)
    made.instance(420917, [80, 60, 10, 10], 4)
    (item,) = load(made.write()).items
    assert (item.id, item.corpus, item.label, item.category) == ("val-420917", "objects365", "cabinet", "furniture")
    assert (item.box, item.mask) == (Box(20.5, 10.25, 50, 40), None)
    assert [(each.label, each.box) for each in item.others] == [("basket", Box(80, 60, 10, 10))]
    assert item.source == "images/v1/patch8/objects365_v1_00420917.jpg"


def test_the_multi_object_slice_and_a_sample_of_it(made: Objects365Folder) -> None:
    for key, label in ((1, 2), (2, 2), (3, 2), (4, 4)):
        made.image(key)
        made.instance(key, [5, 10, 35, 50], label)
        made.instance(key, [55, 15, 30, 40], label)
    made.image(5)
    made.instance(5, GOOD, 2)
    corpus = load(made.write(), slice="multi-object")
    assert [len(item.others) for item in corpus.items] == [1, 1, 1, 1]
    assert codes(corpus) == {"val-5": "not-multi-object"}
    drawn = stratified(corpus, 2)
    assert {cell_of(item)[0] for item in drawn.items} == {"furniture", "kitchen"}
    assert {item.id for item in drawn.items} <= {item.id for item in corpus.items}
    assert stratified(corpus, 2).items == drawn.items


@pytest.mark.parametrize("order", list(itertools.permutations(("images", "annotations", "categories"))))
def test_the_lists_may_stand_in_any_order(made: Objects365Folder, order: tuple[str, ...]) -> None:
    for key in (7, 3):
        made.image(key)
        made.instance(key, GOOD)
    assert [item.id for item in load(made.write(order=order)).items] == ["val-7", "val-3"]


@pytest.mark.parametrize(
    "place",
    [
        "",
        "val",
        "images/val/objects365_v1_00000001.jpg",
        "val/patch8/objects365_v1_00000001.jpg",
        "images/objects365_v1_00000001.jpg",
    ],
)
def test_pictures_are_found_however_the_patches_were_unpacked(made: Objects365Folder, place: str) -> None:
    made.image(1, saved=place)
    made.instance(1, GOOD)
    (item,) = load(made.write()).items
    assert item.image_path is not None
    assert item.image_path.is_file()


@pytest.mark.parametrize(
    ("mark", "code"), [("iscrowd", "crowd"), ("isfake", "depiction"), ("isreflected", "reflected")]
)
def test_a_marked_object_is_no_object_to_audit_but_stands_among_the_others(
    made: Objects365Folder, mark: str, code: str
) -> None:
    made.image(1)
    made.instance(1, GOOD, **{mark: 1})
    made.image(2)
    made.instance(2, GOOD)
    made.instance(2, [80, 60, 10, 10], **{mark: 1})
    corpus = load(made.write())
    assert codes(corpus) == {"val-1": code}
    assert [(each.box, each.crowd) for each in corpus.items[0].others] == [(Box(80, 60, 10, 10), mark == "iscrowd")]


def test_boxes_that_leave_their_image_are_clipped_and_counted(made: Objects365Folder) -> None:
    made.image(1)
    made.instance(1, GOOD)
    made.instance(1, [-7.5, -2, 12, 10])
    made.instance(1, [95, 70, 30, 30])
    made.instance(1, [120, 10, 5, 5])
    corpus = load(made.write())
    assert [each.box for each in corpus.items[0].others] == [Box(0, 0, 4.5, 8), Box(95, 70, 5, 10)]
    assert corpus.rejected == ()
    assert remarks(corpus) == {"annotation-box-clipped": 2, "annotation-box-outside": 1}
    assert "left it by 8 px" in corpus.remarks[0].detail


def test_entries_of_other_types_lose_nothing_else(made: Objects365Folder) -> None:
    made.image(1)
    made.image(2)
    made.image(2, patch="again")
    made.image(3, width="100.5")
    made.images += [None, 7, [], {"id": True}]
    made.instance(1, GOOD)
    made.instance(1, GOOD)
    made.instance(1, ["a", 1, 2, 3])
    made.instance(1, [1, 2, 3])
    made.instance(1, [1, 2, 0, 4])
    made.instance(1, GOOD, 99)
    made.instance(77, GOOD)
    made.instance(77, GOOD)
    made.annotations += [None, {"image_id": 1}]
    made.categories += ["x", {"id": 9}]
    corpus = load(made.write())
    assert [item.id for item in corpus.items] == ["val-1"]
    assert sorted(codes(corpus).values()) == ["bad-entry"] * 5 + ["duplicate-id"] * 2
    assert remarks(corpus) == {
        "annotation-bad-entry": 4,
        "annotation-bad-box": 3,
        "annotation-no-image": 2,
        "annotation-no-category": 1,
        "annotation-twice": 1,
    }


def test_pictures_that_cannot_be_used_are_left_out_once(made: Objects365Folder) -> None:
    made.image(1, saved=None)
    made.image(2, file_name="../outside.jpg")
    made.image(3, width=101)
    made.image(4)
    (made.root / made.images[3]["file_name"]).write_bytes(b"")
    for key in (1, 2, 3, 4):
        made.instance(key, GOOD)
        made.instance(key, [95, 70, 30, 30])
    corpus = load(made.write())
    assert corpus.items == ()
    assert codes(corpus) == {
        "val-1": "missing-image",
        "val-2": "unsafe-path",
        "val-3": "size-mismatch",
        "val-4": "bad-image",
    }


def test_a_label_without_a_category_is_told_and_its_item_stays(made: Objects365Folder) -> None:
    made.image(1)
    made.instance(1, GOOD, 5)
    corpus = load(made.write())
    assert [(item.label, item.category) for item in corpus.items] == [("gremlin", None)]
    assert remarks(corpus) == {"unmapped-label": 1}


def test_a_split_can_be_chosen_and_a_wrong_one_is_told(made: Objects365Folder) -> None:
    made.image(1)
    made.instance(1, GOOD)
    made.write()
    root = made.write(split="train")
    assert load(root).items[0].id == "val-1"
    assert load(root, split="train").items[0].id == "train-1"
    with pytest.raises(BadCorpus, match=r"no zhiyuan_objv2_test\.json; it has the splits train, val"):
        load(root, split="test")
    with pytest.raises(InvalidInput, match="slice must be one of"):
        load(root, slice="some")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "is not valid JSON"),
        ('{"images": [1', "is not valid JSON"),
        ('{"images": []} x', "is not valid JSON"),
        ('{"images": [NaN]}', "has no list 'annotations'; give"),
        ('{"images": [NaN', "is not valid JSON at line 1, column 16"),
        ("[]", "must hold one JSON object"),
        ("{}", "has no list 'images'; give"),
        ('{"images": {"id": 1}}', "has no list 'images'; give"),
        ('{"images": [1], "annotations": []}', "the list 'annotations' of .* is empty"),
        ('{"images": [], "annotations": []}', "the list 'images' of .* is empty"),
        ('{"images": [1]}', "has no list 'annotations'; give"),
        ('{"images": [' + "[" * 100_000, f"nested more than {MOST_DEPTH} deep"),
    ],
)
def test_a_file_that_is_wrong_as_a_whole_is_told_in_a_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "zhiyuan_objv2_val.json").write_text(text)
    with pytest.raises(BadCorpus, match=sentence):
        load(tmp_path)


def test_streamed_entries_are_those_of_json(tmp_path: Path) -> None:
    content = {
        "a": [1, "x", None, True, {"k": [1.5, {"z": []}], "u": "é"}, [[], {}]],
        "b": {"c": [1]},
        "d": [2.25],
        "e": 3,
        "f": [],
    }
    path = tmp_path / "x.json"
    path.write_text("\ufeff" + json.dumps(content))
    counts: dict[str, int] = {}
    found = list(entries(path, counts))
    assert found == [("a", each) for each in content["a"]] + [("d", 2.25)]  # type: ignore[union-attr]
    assert counts == {"a": 6, "d": 1, "f": 0}


def test_the_second_names_of_a_label_are_kept_beside_the_first(tmp_path: Path) -> None:
    made = Objects365Folder(tmp_path)
    made.image(1)
    made.instance(1, [10, 10, 60, 50], 2)
    item = load_objects365.load(made.write()).items[0]
    assert (item.label, dict(item.synonyms)) == ("cabinet", {"cabinet": ("shelf",)})
    labels = load_labels("objects365")
    assert labels.others("Cutting/chopping Board") == ("chopping board",)
    assert labels.others("Tape Measur/ Ruler") == ("ruler",)
    assert labels.others("Dog") == ()


def test_marks_and_numbers_may_be_text_and_every_class_was_looked_for(made: Objects365Folder) -> None:
    for key, crowd in enumerate(("0", "1", "perhaps"), 1):
        made.image(key, width="100")
        made.instance(float(key), [str(side) for side in (20, 10, 50, 40)], iscrowd=crowd)
    made.categories += [{"id": 98, "name": "Moniter/TV"}]
    corpus = load(made.write())
    assert [item.id for item in corpus.items] == ["val-1"]
    assert codes(corpus) == {"val-2": "crowd", "val-3": "no-object"}
    assert remarks(corpus) == {"annotation-bad-entry": 1}
    (item,) = corpus.items
    assert (absence(item, "tv")["falsity"], absence(item, "zebra")["falsity"]) == ("verified", "presumed")


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
