"""Labels to categories, by tables that a person edits and therefore mistypes."""

import itertools
from pathlib import Path

import pytest

from core.corpora.labels import TaxonomyEntry, load_labels, load_taxonomy, read_taxonomy, taxonomy_names
from core.corpora.schema import CATEGORIES, EXTRA_CATEGORIES
from core.errors import InvalidInput
from core.probes.words.natural_captions import category_of

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


PUBLISHED = {"openimages": 601, "objects365": 365}
"""Boxable classes of Open Images V7, and classes of Objects365, as their publishers count them."""


@pytest.mark.parametrize("source", PUBLISHED)
def test_every_class_of_a_published_source_has_a_category(source: str) -> None:
    taxonomy = load_taxonomy(source)
    assert len(taxonomy.entries) == PUBLISHED[source]
    assert {entry.category for entry in taxonomy.entries.values()} == {*CATEGORIES, *EXTRA_CATEGORIES}
    assert taxonomy.unmapped(entry.label for entry in taxonomy.entries.values()) == ()
    assert all(entry.tie != entry.category for entry in taxonomy.entries.values())
    assert len(taxonomy.ties()) > 30


def test_a_word_has_one_category_in_all_sources_unless_a_tie_says_so() -> None:
    said: dict[str, list[TaxonomyEntry]] = {}
    for source in taxonomy_names():
        labels = load_labels(source)
        for entry in labels.taxonomy.entries.values():
            said.setdefault(labels.noun(entry.label).casefold(), []).append(entry)
    for word, entries in said.items():
        for first, second in itertools.combinations(entries, 2):
            tied = {first.tie, second.tie}
            assert first.category == second.category or {first.category, second.category} & tied, word
    assert sum(len(entries) > 1 for entries in said.values()) > 150


@pytest.mark.parametrize("source", PUBLISHED)
def test_every_line_of_nouns_is_of_a_label_that_the_map_has(source: str) -> None:
    labels = load_labels(source)
    known = {entry.label.casefold() for entry in labels.taxonomy.entries.values()}
    assert set(labels.nouns) <= known
    assert {label.casefold() for label in labels.older.values()} <= known
    assert not set(labels.older) & known


@pytest.mark.parametrize(
    ("source", "label", "noun", "category"),
    [
        ("objects365", "Cabinet/shelf", "cabinet", "furniture"),
        ("objects365", "SUV", "SUV", "vehicle"),
        ("objects365", "Bakset", "basket", "kitchen"),
        ("objects365", "Basket", "basket", "kitchen"),
        ("objects365", "Cigar/Cigarette ", "cigar", "indoor"),
        ("openimages", "Bat (Animal)", "bat", "animal"),
        ("openimages", "Kitchen & dining room table", "dining table", "furniture"),
        ("openimages", "Christmas tree", "Christmas tree", "indoor"),
        ("openimages", "Quasar", "quasar", None),
    ],
)
def test_a_label_is_said_as_a_noun(source: str, label: str, noun: str, category: str | None) -> None:
    labels = load_labels(source)
    assert (labels.noun(label), labels.category(label)) == (noun, category)


OLDER = {
    "Asparagus": ("garden asparagus", "food"),
    "Bat": ("bat", "animal"),
    "Dairy": ("dairy product", "food"),
    "Drill": ("drill", "indoor"),
    "Egg": ("egg", "food"),
    "Horn": ("French horn", "indoor"),
    "Jaguar": ("jaguar", "animal"),
    "Lavender": ("lavender plant", "outdoor"),
    "Lifejacket": ("personal flotation device", "sports"),
    "Nail": ("nail", "indoor"),
    "Organ": ("organ", "indoor"),
    "Pitcher": ("pitcher", "kitchen"),
    "Ratchet": ("ratchet", "indoor"),
    "Squash": ("squash", "food"),
    "Sunflower": ("common sunflower", "outdoor"),
    "Volleyball": ("volleyball", "sports"),
}
"""Names that only the class file of V4 and V5 has, and what each is said as and belongs to."""


@pytest.mark.parametrize("label", OLDER)
def test_a_name_of_the_older_edition_has_its_noun_and_category(label: str) -> None:
    labels = load_labels("openimages")
    assert (labels.noun(label), labels.category(label)) == OLDER[label]
    assert set(labels.older) == {each.casefold() for each in OLDER}


def test_a_word_of_a_caption_is_no_name_of_an_older_edition() -> None:
    assert (category_of("bat"), category_of("nail")) == (None, None)
    assert (category_of("snail"), category_of("baseball bat")) == ("animal", "sports")


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


def test_a_slip_in_a_file_of_nouns_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "taxonomy"
    (folder / "nouns").mkdir(parents=True)
    (folder / "mine.csv").write_text(HEADER + "Cat/kitten,animal,,\n")
    monkeypatch.setattr("core.corpora.labels.assets_dir", lambda: tmp_path)
    for text, sentence in (
        ("label\nx\n", "must begin with the header label,noun"),
        ("label,noun\nCat/kitten,\n", "line 2: a cell is empty"),
        ("label,noun\nCat/kitten,cat\ncat/Kitten,cat\n", "line 3: .*stands twice"),
    ):
        (folder / "nouns" / "mine.csv").write_text(text)
        load_labels.cache_clear()
        with pytest.raises(InvalidInput, match=sentence):
            load_labels("mine")
    load_labels.cache_clear()
