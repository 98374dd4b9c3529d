"""Labels to categories, by tables that a person edits and therefore mistypes."""

from pathlib import Path

import pytest

from core.corpora.schema import CATEGORIES, EXTRA_CATEGORIES
from core.corpora.taxonomy import load_taxonomy, read_taxonomy, taxonomy_names
from core.errors import InvalidInput

HEADER = "label,category,tie,note\n"


def test_all_eighty_coco_labels_have_a_category() -> None:
    taxonomy = load_taxonomy("coco")
    assert len(taxonomy.entries) == 80
    assert {entry.category for entry in taxonomy.entries.values()} == {*CATEGORIES, *EXTRA_CATEGORIES}


def test_the_map_follows_the_supercategories_of_real_coco(coco_root: Path) -> None:
    import json

    content = json.loads((coco_root / "annotations" / "instances_val2017.json").read_text())
    taxonomy = load_taxonomy("coco")
    for each in content["categories"]:
        assert taxonomy.category(each["name"]) == each["supercategory"].replace("electronic", "electronics")


@pytest.mark.parametrize("label", ["dining table", "Dining Table", " dining_table ", "dining  table"])
def test_case_blanks_and_underscores_do_not_matter(label: str) -> None:
    assert load_taxonomy("coco").category(label) == "furniture"


def test_a_tie_names_another_category_than_its_own() -> None:
    ties = load_taxonomy("coco").ties()
    assert "bench" in [entry.label for entry in ties]
    assert all(entry.tie != entry.category for entry in ties)


def test_an_unknown_label_has_no_category_and_is_counted() -> None:
    taxonomy = load_taxonomy("coco")
    assert taxonomy.category("gremlin") is None
    (rejection,) = taxonomy.unmapped(["cat", "gremlin", "gremlin"])
    assert rejection.code == "unmapped-label"
    assert "2 items labelled 'gremlin'" in rejection.detail


def test_an_unknown_map_lists_those_there_are() -> None:
    with pytest.raises(InvalidInput, match=r"no taxonomy map is named '\.\./coco'; there are"):
        load_taxonomy("../coco")
    assert "coco" in taxonomy_names()


def test_notes_and_empty_lines_are_for_the_reader(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("# mine\n\n" + HEADER + '# pets\ncat,animal,,\n\nsofa bed,furniture,indoor,"a seat, or a bed"\n')
    taxonomy = read_taxonomy(path)
    assert taxonomy.category("sofa bed") == "furniture"
    assert taxonomy.entries["sofa bed"].note == "a seat, or a bed"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "must begin with the header"),
        ("label,category\ncat,animal\n", "must begin with the header"),
        (HEADER + "cat,beast,,\n", "line 2: 'beast' is no category; write one of person"),
        (HEADER + "cat,animal,beast,\n", "line 2: 'beast' is no category"),
        (HEADER + "cat,,,\n", "line 2: 'cat' has no category"),
        (HEADER + ",animal,,\n", "line 2: the label is empty"),
        (HEADER + "cat,animal,,\n# note\nCat,animal,,\n", "line 4: 'Cat' is given twice"),
        (HEADER + "cat,animal,,a,b\n", "line 2: 5 cells instead of 4"),
        (HEADER + 'cat,animal,,"open\n', "line 2: .*must end on its own line"),
    ],
)
def test_a_slip_is_told_with_its_line(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "mine.csv"
    path.write_text(text)
    with pytest.raises(InvalidInput, match=sentence):
        read_taxonomy(path)


def test_a_map_that_is_no_text_is_told(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidInput, match="cannot be read as UTF-8"):
        read_taxonomy(path)
    with pytest.raises(InvalidInput, match="cannot be read as UTF-8"):
        read_taxonomy(tmp_path / "absent.csv")
