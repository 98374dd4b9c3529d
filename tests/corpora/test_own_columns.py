"""Columns of people's own beside their captions: which become slices, with what value for each picture."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from PIL import Image

from core.audit.fingerprints import corpus_fingerprint
from core.corpora.folder import load_folder
from core.corpora.folder_tables import MOST_CHARACTERS, MOST_COLUMNS, MOST_VALUES, NOT_STATED, SEVERAL
from core.corpora.schema import Corpus, Item


def folder_of(root: Path, rows: Sequence[dict[str, object]], *, pictures: int = 4, as_json: bool = False) -> Corpus:
    """A folder of pictures 0.png, 1.png, … and a table; a row without an image is of the picture of its place."""
    root.mkdir(exist_ok=True)
    for place in range(pictures):
        Image.new("RGB", (100, 80), (place, 0, 0)).save(root / f"{place}.png")
    rows = [{"file_name": f"{place}.png", "text": f"Picture {place}."} | row for place, row in enumerate(rows)]
    if as_json:
        (root / "metadata.jsonl").write_text("\n".join(map(json.dumps, rows)))
    else:
        names = list(dict.fromkeys(name for row in rows for name in row))
        lines = [
            [name.replace(";", ",") for name in names],
            *([str(row.get(name, "")) for name in names] for row in rows),
        ]
        (root / "metadata.csv").write_text("\n".join(";".join(line) for line in lines))
    return load_folder.load(root)


def told(corpus: Corpus) -> list[dict[str, str]]:
    return [{key.removeprefix("own:"): str(value) for key, value in item.facts.items()} for item in corpus.items]


def remark(corpus: Corpus, code: str) -> tuple[int, str]:
    return next(((each.count, each.detail) for each in corpus.remarks if each.code == code), (0, ""))


@pytest.mark.parametrize("as_json", [False, True])
def test_each_picture_tells_what_its_row_says_and_what_it_does_not_say(tmp_path: Path, as_json: bool) -> None:
    sites = ["hospital", "street ", "hospital", None if as_json else "NaN"]
    rows = [{"Site": site, "camera no": 7, "Serial": f"x{place}"} for place, site in enumerate(sites)]
    corpus = folder_of(tmp_path, [*rows[:3], {"Site": sites[3]}], as_json=as_json)
    assert told(corpus) == [
        {"site": "hospital", "camera_no": "7"},
        {"site": "street", "camera_no": "7"},
        {"site": "hospital", "camera_no": "7"},
        {"site": NOT_STATED, "camera_no": NOT_STATED},
    ]
    assert remark(corpus, "column-kept") == (
        2,
        "'site' (2 values, not stated of 1 pictures), 'camera_no' (1 values, not stated of 1 pictures)",
    )
    assert remark(corpus, "column-passed-over") == (1, "'serial' (another value for each picture)")


def test_a_picture_without_a_row_states_nothing_and_one_whose_rows_differ_has_several(tmp_path: Path) -> None:
    rows = [
        {"site": "a", "file_name": name, "who": who}
        for name, who in (("0.png", "x"), ("0.png", "y"), ("1.png", "x"), ("2.png", "x"))
    ]
    rows[1]["site"] = "b"
    assert told(folder_of(tmp_path, rows)) == [
        {"site": SEVERAL, "who": SEVERAL},
        {"site": "a", "who": "x"},
        {"site": "a", "who": "x"},
        {"site": NOT_STATED, "who": NOT_STATED},
    ]


def test_a_column_of_captions_is_no_slice_of_pictures(tmp_path: Path) -> None:
    rows = [{"file_name": f"{place // 2}.png", "annotator": "xy"[place % 2]} for place in range(8)]
    corpus = folder_of(tmp_path, rows)
    assert told(corpus) == [{}] * 4
    assert remark(corpus, "column-passed-over") == (1, "'annotator' (the rows of each picture differ)")


def test_numbers_are_categories_where_they_are_few_and_none_where_they_are_many(tmp_path: Path) -> None:
    most = MOST_VALUES + 2
    rows = [
        {"ward": place % 2 + 1.0, "night": place % 2 == 0, "lux": place // 2 if place < 2 else place, "f": 0.5}
        for place in range(most)
    ]
    corpus = folder_of(tmp_path, rows, pictures=most, as_json=True)
    assert told(corpus)[0] == {"ward": "1", "night": "true", "f": "0.5"}
    assert told(corpus)[1]["ward"] == "2"
    assert remark(corpus, "column-passed-over") == (1, f"'lux' (more than {MOST_VALUES} different values)")


def test_lists_long_texts_and_hostile_names_are_named_and_cost_nothing_else(tmp_path: Path) -> None:
    hostile: dict[str, object] = {
        "objects": {"bbox": [1, 2]},
        "tags": ["a"],
        "essay": "y" * 10_000,
        "n" * 10_000: "x",
        "bell\x07": "x",
        "<b>site</b>": "<script>alert(1)</script>",
        "evaluator": "'; drop table scores; --",
        "own:own": "\u202eabc\x00",
    }
    corpus = folder_of(tmp_path, [hostile] * 4, as_json=True)
    assert told(corpus)[0] == {
        "<b>site</b>": "<script>alert(1)</script>",
        "evaluator": "'; drop table scores; --",
        "own:own": "\ufffdabc\ufffd",
    }
    count, said = remark(corpus, "column-passed-over")
    assert count == 5
    assert len(said) < 1000
    for reason in (
        "metadata.jsonl, line 1 holds a dict",
        "holds a list",
        "holds 10,000 characters",
        f"a name of 10,000 characters, at most {MOST_CHARACTERS}",
    ):
        assert reason in said


def test_of_five_thousand_columns_the_first_slices_are_kept(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [{f"c{number}": "x" for number in range(5000)}] * 4
    corpus = folder_of(tmp_path, rows, as_json=True)
    assert [list(own) for own in told(corpus)] == [[f"c{number}" for number in range(MOST_COLUMNS)]] * 4
    assert remark(corpus, "column-passed-over")[0] == 5000 - MOST_COLUMNS


def test_a_corpus_with_other_columns_is_another_and_one_without_is_what_it_was(tmp_path: Path) -> None:
    plain, north, south = (
        corpus_fingerprint(folder_of(tmp_path, [row] * 4)) for row in ({}, {"site": "north"}, {"site": "south"})
    )
    assert len({plain, north, south}) == 3
    assert plain == corpus_fingerprint(folder_of(tmp_path, [{"serial": place} for place in range(4)]))


def test_a_folder_s_table_names_both_sources_or_one_or_none(tmp_path: Path) -> None:
    for place in range(4):
        Image.new("RGB", (64, 64), (40 * place, 90, 120)).save(tmp_path / f"{place}.png")
    rows = ["0.png,a cat,7,ann", "1.png,a dog,7,ben", "2.png,a hen,,ben", "3.png,a cow,,"]
    (tmp_path / "captions.csv").write_text("\n".join(["image,caption,item_group,second_group", *rows]))
    items = load_folder.load(tmp_path).items
    found = [(item.drawn_with("own pixels"), item.second_source) for item in items]
    assert found == [("7", "ann"), ("7", "ben"), ("own pixels", "ben"), ("own pixels", None)]


def test_an_item_names_its_sources_as_a_text_or_as_two() -> None:
    def of(group: str | tuple[str, ...] | None) -> tuple[str, str | None]:
        item = Item("i", "c", None, 64, 64, group=group)
        return item.drawn_with("pixels"), item.second_source

    assert of(None) == of(()) == of(("", "")) == ("pixels", None)
    assert of("frog") == of(("frog",)) == ("frog", None)
    assert of(("frog", "sand", "more")) == ("frog", "sand")
