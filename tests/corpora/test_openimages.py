"""Open Images folders: both editions of each table, the hierarchy, outlines, and what a download can break."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.corpora.curation import cell_of, stratified
from core.corpora.openimages import load_openimages
from core.corpora.schema import Box, Corpus, Item
from core.errors import BadCorpus
from core.probes.words.categories import absence, absent
from tests.corpora.openimages_folder import CLICKS, COLUMNS, IMAGE_COLUMNS, OpenImagesFolder


@pytest.fixture
def made(tmp_path: Path) -> OpenImagesFolder:
    return OpenImagesFolder(tmp_path)


def load(root: Path, **options: object) -> Corpus:
    return load_openimages.load(root, **options)


def codes(corpus: Corpus) -> dict[str, str]:
    return {each.subject: each.code for each in corpus.rejected}


def remarks(corpus: Corpus) -> dict[str, int]:
    return {each.code: each.count for each in corpus.remarks}


@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("clicks", ["", ",0.5" * 8])
def test_every_edition_of_the_tables_gives_the_same_item(made: OpenImagesFolder, header: bool, clicks: str) -> None:
    made.header, made.columns = header, COLUMNS + (CLICKS if clicks else "")
    made.image("0a7fb7e0a2d6ce5b")
    made.box("0a7fb7e0a2d6ce5b", "Cat", clicks=clicks)
    made.box("0a7fb7e0a2d6ce5b", "Table", (0.8, 0.9, 0.8, 0.9), clicks=clicks)
    (item,) = load(made.write()).items
    assert (item.id, item.corpus, item.label, item.category) == (
        "validation-0a7fb7e0a2d6ce5b",
        "openimages",
        "cat",
        "animal",
    )
    assert item.box is not None
    assert (item.box.x, item.box.y, item.box.width, item.box.height) == pytest.approx((20, 8, 50, 40))
    assert [each.label for each in item.others] == ["table"]


def test_a_class_file_of_the_older_edition_leaves_no_label_without_a_category(made: OpenImagesFolder) -> None:
    made.header = False
    made.image("a")
    made.box("a", "Lifejacket")
    corpus = load(made.write())
    assert [(item.label, item.category) for item in corpus.items] == [("personal flotation device", "sports")]
    assert corpus.remarks == ()


def test_the_multi_object_slice_and_a_sample_of_it(made: OpenImagesFolder) -> None:
    for key, name in (("a", "Cat"), ("b", "Cat"), ("c", "Cat"), ("d", "Man")):
        made.image(key)
        made.box(key, name, (0.1, 0.45, 0.1, 0.6))
        made.box(key, "Table", (0.55, 0.9, 0.2, 0.7))
    made.image("e")
    made.box("e", "Cat")
    corpus = load(made.write(), slice="multi-object")
    assert [len(item.others) for item in corpus.items] == [1, 1, 1, 1]
    assert codes(corpus) == {"validation-e": "not-multi-object"}
    drawn = stratified(corpus, 2)
    assert {cell_of(item)[0] for item in drawn.items} == {"animal", "person"}
    assert {item.id for item in drawn.items} <= {item.id for item in corpus.items}
    assert stratified(corpus, 2).items == drawn.items


def test_parts_and_general_names_of_one_object_are_no_further_objects(made: OpenImagesFolder) -> None:
    made.image("a")
    made.box("a", "Person", (0.21, 0.71, 0.1, 0.6))
    made.box("a", "Man")
    made.box("a", "Human face", (0.3, 0.6, 0.1, 0.3))
    root = made.write()
    corpus = load(root)
    assert [(item.label, item.others) for item in corpus.items] == [("man", ())]
    assert remarks(corpus) == {"annotation-duplicate": 1, "annotation-part": 1}
    (root / "bbox_labels_600_hierarchy.json").unlink()
    without = load(root)
    assert codes(without) == {"validation-a": "not-dominant"}
    assert "without the hierarchy" in without.description


def test_a_part_elsewhere_and_another_person_stay(made: OpenImagesFolder) -> None:
    made.image("a")
    made.box("a", "Man")
    made.box("a", "Human face", (0.75, 0.85, 0.7, 0.8))
    made.box("a", "Person", (0.75, 0.95, 0.65, 0.9))
    made.box("a", "Man", (0.75, 0.95, 0.1, 0.2))
    (item,) = load(made.write()).items
    assert [each.label for each in item.others] == ["person", "man"]


@pytest.mark.parametrize(
    ("marks", "code"),
    [
        ("1,0,0,0,0", "occluded"),
        ("0,1,0,0,0", "truncated"),
        ("0,0,1,0,0", "crowd"),
        ("0,0,0,1,0", "depiction"),
        ("0,0,0,0,1", "inside-view"),
    ],
)
def test_a_marked_object_is_no_object_to_audit(made: OpenImagesFolder, marks: str, code: str) -> None:
    made.image("a")
    made.box("a", "Cat", marks=marks)
    assert codes(load(made.write())) == {"validation-a": code}


def test_an_unknown_mark_is_read_as_no_and_counted(made: OpenImagesFolder) -> None:
    made.image("a")
    made.box("a", "Cat", marks="-1,-1,-1,-1,-1")
    corpus = load(made.write())
    assert len(corpus) == 1
    assert remarks(corpus) == {"annotation-unknown-mark": 5}


@pytest.mark.parametrize(("height", "width"), [(80, 100), (160, 200), (40, 50)])
def test_an_outline_of_another_size_is_fitted_to_its_image(made: OpenImagesFolder, height: int, width: int) -> None:
    rows, columns = np.mgrid[0:height, 0:width]
    mask = (columns / width >= 0.2) & (columns / width < 0.7) & (rows / height >= 0.1) & (rows / height < 0.6)
    made.image("a")
    made.box("a", "Cat")
    made.outline("a", "Cat", mask)
    (item,) = load(made.write()).items
    assert item.mask is not None
    assert (item.mask.height, item.mask.width) == (80, 100)
    assert item.mask.box == Box(20, 8, 50, 40)


@pytest.mark.parametrize(
    "mask", [None, np.zeros((80, 100), bool), np.ones((100, 80), bool), np.eye(80, 100) * (np.arange(100) > 75) > 0]
)
def test_an_outline_that_cannot_be_used_leaves_the_box(made: OpenImagesFolder, mask: np.ndarray | None) -> None:
    made.image("a")
    made.box("a", "Cat")
    made.outline("a", "Cat", mask)
    corpus = load(made.write())
    assert [item.mask for item in corpus.items] == [None]
    assert remarks(corpus) == {"annotation-bad-mask": 1}


def test_lines_that_cannot_be_used_lose_nothing_else(made: OpenImagesFolder) -> None:
    made.image("a")
    made.box("a", "Cat")
    made.box("a", "Cat")
    made.box("a", "Cat", "x,0.5,0.1,0.2")
    made.box("a", "Cat", "nan,0.5,0.1,0.2")
    made.box("a", "Cat", (0.9, 0.8, 0.1, 0.2))
    made.box("a", "Cat", (1.2, 1.4, 0.1, 0.2))
    made.box("a", "Cat", (0.9, 1.2, 0.7, 0.9))
    made.box("a", "/m/unknown")
    made.box("", "Cat")
    made.lines += ["a,xclick", ""]
    made.box("gone", "Cat")
    made.box("../up", "Cat")
    corpus = load(made.write())
    assert [item.id for item in corpus.items] == ["validation-a"]
    assert len(corpus.items[0].others) == 1
    assert codes(corpus) == {"validation-gone": "missing-image", "validation-../up": "unsafe-path"}
    assert remarks(corpus) == {
        "annotation-bad-box": 3,
        "annotation-bad-entry": 2,
        "annotation-box-clipped": 1,
        "annotation-box-outside": 1,
        "annotation-no-category": 1,
        "annotation-twice": 1,
    }


def test_licences_come_from_the_list_of_images(made: OpenImagesFolder) -> None:
    made.image("a")
    made.box("a", "Cat")
    root = made.write()
    line = "a,validation,http://o,http://page,https://creativecommons.org/licenses/by/2.0/,p,Karen,T,1,m,t,0.0"
    (root / "validation-images-with-rotation.csv").write_text(f"{IMAGE_COLUMNS}\n{line}\n")
    (item,) = load(root).items
    assert (item.licence, item.source) == ("https://creativecommons.org/licenses/by/2.0/", "http://page")


def test_a_label_without_a_category_is_told_and_its_item_stays(made: OpenImagesFolder) -> None:
    made.image("a")
    made.box("a", "Gremlin")
    corpus = load(made.write())
    assert [(item.label, item.category) for item in corpus.items] == [("gremlin", None)]
    assert remarks(corpus) == {"unmapped-label": 1}


CYCLE = {
    "LabelName": "top",
    "Subcategory": [
        {"LabelName": "a", "Subcategory": [{"LabelName": "b"}]},
        {"LabelName": "b", "Subcategory": [{"LabelName": "a"}]},
    ],
}


@pytest.mark.parametrize(
    ("tree", "sentence"),
    [
        (CYCLE, "has a cycle: .* is above"),
        ({"LabelName": "top", "Subcategory": [{"LabelName": "a", "Subcategory": [{"LabelName": "a"}]}]}, "has a cycle"),
        ([], "must hold an object with LabelName"),
        ({"LabelName": "top", "Part": 3}, "Part of 'top' must be a list, got int"),
        ({"LabelName": "top", "Subcategory": ["a"]}, "an entry below 'top' has no LabelName"),
    ],
)
def test_a_hierarchy_that_is_none_is_refused(made: OpenImagesFolder, tree: Any, sentence: str) -> None:
    made.tree = tree
    made.image("a")
    made.box("a", "Cat")
    with pytest.raises(BadCorpus, match=sentence):
        load(made.write())


@pytest.mark.parametrize(
    ("file", "text", "sentence"),
    [
        ("validation-annotations-bbox.csv", "", "has no column ImageID; the file is empty"),
        ("validation-annotations-bbox.csv", COLUMNS.replace(",XMax", "") + "\n", "has no column XMax; it has ImageID"),
        ("validation-annotations-bbox.csv", 'a,"b', "is no CSV file|has no column"),
        ("class-descriptions-boxable.csv", "", "names no class"),
        ("class-descriptions-boxable.csv", "/m/1,Cat,more\n", "line 1 must be a code and a name"),
        ("class-descriptions-boxable.csv", "/m/1,Cat\n/m/1,Dog\n", "line 2: /m/1 is 'Cat' already"),
        ("class-descriptions-boxable.csv", None, "has no names of classes: looked for"),
    ],
)
def test_a_table_that_is_wrong_as_a_whole_is_told(
    made: OpenImagesFolder, file: str, text: str | None, sentence: str
) -> None:
    made.image("a")
    made.box("a", "Cat")
    root = made.write()
    (root / file).unlink() if text is None else (root / file).write_text(text)
    with pytest.raises(BadCorpus, match=sentence):
        load(root)
    with pytest.raises(BadCorpus, match="no boxes of split 'test'; it has validation"):
        load(root, split="test")


def absences(item: Item) -> dict[str, str]:
    return {label: absence(item, label)["falsity"] for label in absent(item)}


def test_a_class_is_verified_to_be_absent_where_people_refused_it(made: OpenImagesFolder) -> None:
    """Open Images V7, human-imagelabels: Confidence 1 was confirmed, 0 refused; some 13 of 600 classes a picture."""
    made.image("a")
    made.box("a", "Cat")
    root = made.write()
    lines = [
        "a,verification,/m/01yrx,1",
        "a,verification,/m/04bcr3,1",
        "a,verification,/m/01g317,0",
        "b,x,/m/01yrx,0",
        "a,verification,/m/01yrx,0.4",
    ]
    path = root / "validation-annotations-human-imagelabels-boxable.csv"
    path.write_text("\n".join(["ImageID,Source,LabelName,Confidence", *lines]) + "\n")
    corpus = load(root)
    (item,) = corpus.items
    assert item.looked_for == {"cat", "person", "man"}  # a man is a person by the hierarchy
    assert item.also_there == ("table",)  # confirmed, and without a box
    told = absences(item)
    assert (told["person"], told["dog"]) == ("verified", "presumed")
    assert not {"dining table", "cat"} & told.keys()
    assert remarks(corpus) == {"annotation-bad-entry": 1}


def test_without_what_people_refused_absence_is_presumed(made: OpenImagesFolder) -> None:
    made.image("a")
    made.box("a", "Cat")
    (item,) = load(made.write()).items
    assert set(absences(item).values()) == {"presumed"}


def test_a_picture_that_does_not_stand_upright_is_left_out(made: OpenImagesFolder) -> None:
    for key in "abcde":
        made.image(key)
        made.box(key, "Cat")
    root = made.write()
    turns = zip("abcd", ("0.0", "90.0", "", "nan"), strict=True)
    lines = [f"{key},validation,u,page,licence,p,Ada,t,1,m,t,{turn}" for key, turn in turns]
    (root / "validation-images-with-rotation.csv").write_text("\n".join([IMAGE_COLUMNS, *lines]) + "\n")
    corpus = load(root)
    assert [item.id for item in corpus.items] == [f"validation-{key}" for key in "acde"]
    assert codes(corpus) == {"validation-b": "turned-image"}


def test_marks_may_have_a_point(made: OpenImagesFolder) -> None:
    made.image("a")
    made.box("a", "Cat", marks="0.0,0.0,1.0,0.0,0.0")
    made.box("a", "Table", (0.8, 0.9, 0.8, 0.9), marks="0.0,0.0,0.0,0.0,-1.0")
    corpus = load(made.write(), slice="all")
    assert [(each.label, each.crowd) for each in corpus.items[0].others] == [("cat", True)]
    assert remarks(corpus) == {"annotation-unknown-mark": 1}
