"""Pairs of a right and a wrong caption, in every publisher's layout, and what a stranger may have put there."""

import json
import math
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as tries
from hypothesis import strategies as st
from PIL import Image

from core.corpora.item_pictures import read_item, read_rival
from core.corpora.pair_corpus import load_pairs
from core.corpora.schema import Corpus
from core.errors import BadCorpus, InvalidInput
from core.probes.rejections import CODES


def picture(colour: str, size: tuple[int, int] = (40, 30)) -> bytes:
    buffer = BytesIO()
    Image.new("RGB", size, colour).save(buffer, "PNG")
    return buffer.getvalue()


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("INVARISCOPE_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "suite"
    (folder / "images").mkdir(parents=True)
    for name, colour in (("cat.png", "navy"), ("dog.png", "teal")):
        (folder / "images" / name).write_bytes(picture(colour))
    (folder / "images" / "wide.png").write_bytes(picture("olive", (60, 20)))
    return folder


def csv(root: Path, *lines: str, **options: Any) -> Corpus:
    (root / "pairs.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return load_pairs.load(root, **options)


def written(root: Path, name: str, content: object, **options: Any) -> Corpus:
    (root / name).write_text(json.dumps(content), encoding="utf-8")
    return load_pairs.load(root, **options)


def told(corpus: Corpus) -> list[tuple[str, str, str, str]]:
    """(id, picture, right, wrong) of every item."""
    return [
        (item.id, item.image_path.name if item.image_path else "", item.captions["en"][0], item.wrong["en"])
        for item in corpus.items
    ]


def test_a_line_becomes_an_item_with_a_right_and_a_wrong_caption(root: Path) -> None:
    corpus = csv(root, "image,right,wrong,kind,group", "cat.png,A cat.,A dog.,object,yes/no")
    (item,) = corpus.items
    assert told(corpus) == [("pairs:1", "cat.png", "A cat.", "A dog.")]
    assert item.facts == {"kind": "object", "group": "yes/no", "falsity": "stated"}
    assert (item.corpus, item.group, item.width, item.height) == ("pairs", "cat.png", 40, 30)


def test_lines_of_one_picture_are_one_source_and_those_of_a_set_too(root: Path) -> None:
    corpus = csv(root, "image,right,wrong,set", "cat,A cat.,A dog.,", "cat,A pet.,A car.,", "dog,A dog.,A cat.,7")
    assert [item.group for item in corpus.items] == ["cat", "cat", "7"]


def test_jsonl_carries_languages_ids_references_and_what_is_known(root: Path) -> None:
    lines = [
        {
            "image": "cat.png",
            "right": "Eine Katze.",
            "wrong": "Ein Hund.",
            "language": "de",
            "id": "k",
            "falsity": "verified",
            "references": ["Ein Tier.", "Eine Katze.", " ", 3],
        },
    ]
    (root / "p.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    (item,) = load_pairs.load(root).items
    assert (item.id, item.wrong) == ("k", {"de": "Ein Hund."})
    assert item.captions == {"de": ("Eine Katze.", "Ein Tier.")}
    assert item.facts == {"falsity": "verified"}
    (bare,) = load_pairs.load(root, references=0).items
    assert bare.captions == {"de": ("Eine Katze.",)}


@pytest.mark.parametrize(
    "head",
    [
        "image, right, wrong",
        "Image,Right,Wrong",
        "image;right;wrong",
        "IMAGE\tright \t wrong",
        "\ufeffimage,right,wrong",
    ],
)
@pytest.mark.parametrize("name", ["pairs.csv", "pairs.tsv"])
def test_columns_may_have_blanks_capitals_other_separators_and_a_mark(root: Path, head: str, name: str) -> None:
    between = next(sign for sign in "\t;," if sign in head)
    text = f"{head}\r\n{between.join(('cat.png', 'A cat.', 'A dog.'))}\r\n"
    (root / name).write_text(text, encoding="utf-8", newline="")
    assert told(load_pairs.load(root)) == [("pairs:1", "cat.png", "A cat.", "A dog.")]


def test_the_columns_that_are_missing_are_named(root: Path) -> None:
    with pytest.raises(BadCorpus, match=r"pairs\.csv has the columns image, right, foil and lacks wrong"):
        csv(root, "image,right,foil", "cat.png,A cat.,A dog.")


def test_an_entry_that_lacks_a_key_costs_itself_alone(root: Path) -> None:
    entry = {"image": "cat.png", "right": "A cat.", "wrong": "A dog."}
    corpus = written(root, "pairs.json", [entry, {"image": "cat.png", "right": "A pet."}])
    assert [each.code for each in corpus.rejected] == ["missing-cell"]
    assert len(corpus.items) == 1


def test_both_right_captions_of_sugarcrepe_pp_stand_against_the_wrong_one_in_one_set(root: Path) -> None:
    """Fields of Sri-Harsha/scpp, data/replace_att.json."""
    entry = {
        "id": 0,
        "filename": "cat.png",
        "caption": "A tan cat.",
        "caption2": "A cat that is tan.",
        "negative_caption": "A white cat.",
    }
    corpus = written(root, "replace_att.json", [entry])
    assert corpus.name == "sugarcrepe++"
    assert told(corpus) == [
        ("replace_att:0-1", "cat.png", "A tan cat.", "A white cat."),
        ("replace_att:0-2", "cat.png", "A cat that is tan.", "A white cat."),
    ]
    assert {item.group for item in corpus.items} == {"replace_att:0"}
    assert {item.facts["kind"] for item in corpus.items} == {"replace_att"}


@pytest.mark.parametrize("image", ["image", "image_path"])
def test_the_first_of_several_options_is_right_and_all_are_one_set(root: Path, image: str) -> None:
    """``test_cases`` of ARO's aro_datasets.py, whose order sets shuffle a caption in four ways."""
    options = ["a cat on a mat", "a mat on a cat", "on a cat a mat", "cat a on mat a", "a mat a cat on"]
    corpus = written(
        root,
        "order.json",
        [{image: "cat.png", "caption_options": options}, {image: "cat.png", "caption_options": "a cat"}],
    )
    assert corpus.name == "caption-options"
    assert [(item.captions["en"], item.wrong["en"]) for item in corpus.items] == [
        ((options[0],), each) for each in options[1:]
    ]
    assert {item.group for item in corpus.items} == {"order:1"}
    assert [item.facts["kind"] for item in corpus.items] == [
        "nouns and adjectives",
        "all but nouns and adjectives",
        "within trigrams",
        "trigrams",
    ]


def test_sugarcrepe_has_a_file_a_kind(root: Path) -> None:
    entry = {"filename": "cat.png", "caption": "A cat.", "negative_caption": "A red cat."}
    (root / "add_att.json").write_text(json.dumps({"0": entry}), encoding="utf-8")
    corpus = written(root, "swap_obj.json", {"0": entry, "1": {**entry, "filename": "dog.png"}})
    assert corpus.name == "sugarcrepe"
    assert [(item.id, item.facts["kind"]) for item in corpus.items] == [
        ("add_att:0", "add_att"),
        ("swap_obj:0", "swap_obj"),
        ("swap_obj:1", "swap_obj"),
    ]


def test_aro_shows_the_part_inside_its_box(root: Path) -> None:
    image = Image.new("RGB", (40, 30), "navy")
    image.paste("red", (10, 5, 30, 25))
    image.save(root / "images" / "both.png")
    box = {"bbox_x": 10, "bbox_y": 5, "bbox_w": 20, "bbox_h": 20}
    entry = {
        "image_path": "both.png",
        "true_caption": "the cat is on the mat",
        "relation_name": "on",
        "false_caption": "the mat is on the cat",
        **box,
    }
    corpus = written(root, "visual_genome_relation.json", [entry, {**entry, "bbox_x": 90}, {**entry, "bbox_w": "x"}])
    (item,) = corpus.items
    assert (item.width, item.height, item.facts["kind"], item.facts["group"]) == (20, 20, "relation", "on")
    pixels = read_item(item).pixels
    assert pixels.reshape(-1, 3).tolist() == [[255, 0, 0]] * 400
    assert {each.code for each in corpus.rejected} == {"annotation-box-outside", "bad-box"}


def test_winoground_is_two_comparisons_of_one_set_each_the_other_s_wrong_side(root: Path) -> None:
    entry = {
        "id": 3,
        "image_0": "cat",
        "image_1": "wide",
        "caption_0": "a cat on a mat",
        "caption_1": "a mat on a cat",
        "tag": "Noun",
        "collapsed_tag": "Object",
    }
    (root / "examples.jsonl").write_text(json.dumps(entry) + "\n", encoding="utf-8")
    corpus = load_pairs.load(root)
    assert told(corpus) == [
        ("examples:3-0", "cat.png", "a cat on a mat", "a mat on a cat"),
        ("examples:3-1", "wide.png", "a mat on a cat", "a cat on a mat"),
    ]
    first, second = corpus.items
    assert first.group == second.group == "examples:3"
    assert read_rival(first, first.rivals[0]).pixels.shape == (20, 60, 3)
    assert read_rival(second, second.rivals[0]).pixels.shape == (30, 40, 3)


def test_valse_is_used_where_two_of_three_annotators_chose_the_caption(root: Path) -> None:
    entry = {
        "image_file": "cat.png",
        "caption": "There is a cat.",
        "foil": "There is no cat.",
        "linguistic_phenomena": "existence",
        "mturk": {"caption": 2, "foil": 1, "other": 0},
    }
    held = {"a": entry, "b": {**entry, "mturk": {"caption": 1}}, "c": {**entry, "mturk": None}}
    held |= {"d": {**entry, "mturk": {"caption": "3"}}, "e": {**entry, "mturk": {"caption": "1"}}}
    corpus = written(root, "existence.json", held)
    assert [(item.id, item.facts["falsity"]) for item in corpus.items] == [
        ("existence:a", "verified"),
        ("existence:c", "stated"),
        ("existence:d", "verified"),
    ]
    assert [each.code for each in corpus.rejected] == ["not-validated"] * 2


def test_foil_brings_the_other_captions_of_the_picture_as_references(root: Path) -> None:
    notes = [
        {"id": 1, "image_id": 9, "caption": "A cat sits.", "foil": False},
        {"id": 1, "image_id": 9, "caption": "A dog sits.", "foil": True},
        {"id": 2, "image_id": 9, "caption": "A pet on a mat.", "foil": False},
        {"id": 4, "image_id": 9, "caption": "A car on a mat.", "foil": True},
    ]
    corpus = written(root, "foilv1.0_test.json", {"images": [{"id": 9, "file_name": "cat.png"}], "annotations": notes})
    (item,) = corpus.items
    assert item.captions == {"en": ("A cat sits.", "A pet on a mat.")}
    assert item.wrong == {"en": "A dog sits."}
    assert [each.code for each in corpus.rejected] == ["missing-cell"]


def test_paper_d_s_files_are_joined_by_their_ids(root: Path) -> None:
    right = [{"imgid": "cat", "caption": "A cat.", "id": 1}, {"imgid": "dog", "caption": "A dog.", "id": 2}]
    wrong = [{"imgid": "cat", "caption": "A hat.", "id": 1, "generation_mode": "plausible", "tag_name": "other"}]
    (root / "right.json").write_text(json.dumps(right), encoding="utf-8")
    corpus = written(root, "wrong.json", wrong, right="right.json", wrong="wrong.json")
    assert told(corpus) == [("wrong:1", "cat.png", "A cat.", "A hat.")]
    assert corpus.items[0].facts == {"kind": "plausible", "group": "other", "falsity": "stated"}


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("cat.png,A cat.,A cat.", "equal-sides"),
        ("cat.png,A cat., A cat. ", "equal-sides"),
        ("cat.png,A cat.,A cat\u200b.", "equal-sides"),
        ("cat.png,Un caf\u00e9.,Un  cafe\u0301.", "equal-sides"),
        ("cat.png,A cat.,\u200b\u200d", "missing-cell"),
        ("gone.png,A cat.,A dog.", "entry-no-image"),
        ("../secret.png,A cat.,A dog.", "unsafe-path"),
        ("/etc/passwd,A cat.,A dog.", "unsafe-path"),
        ("cat.png,,A dog.", "missing-cell"),
        ("cat.png,A cat.,", "missing-cell"),
        ("cat.png,A cat.,nan", "missing-cell"),
        ("cat.png,None,A dog.", "missing-cell"),
        (",A cat.,A dog.", "unsafe-path"),
        ("broken.png,A cat.,A dog.", "bad-image"),
    ],
)
def test_a_line_that_cannot_be_used_costs_itself_alone(root: Path, line: str, code: str) -> None:
    (root / "images" / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    corpus = csv(root, "image,right,wrong", line, "dog.png,A dog.,A cat.")
    assert [item.wrong["en"] for item in corpus.items] == ["A cat."]
    (rejection,) = corpus.rejected
    assert rejection.code == code
    assert rejection.code in CODES
    assert rejection.detail


def test_a_number_with_a_point_is_the_picture_of_that_number(root: Path) -> None:
    (root / "images" / "000000000042.png").write_bytes((root / "images" / "cat.png").read_bytes())
    lines = [{"image": image, "right": f"A cat{image}.", "wrong": "A dog."} for image in (42, 42.0, "42.0")]
    corpus = written(root, "pairs.json", lines)
    assert [item.image_path.name for item in corpus.items] == ["000000000042.png"] * 3
    (root / "images" / "42.0.png").write_bytes((root / "images" / "cat.png").read_bytes())
    lines = [{"image": image, "right": f"A cat{image}.", "wrong": "A dog."} for image in (42, "42.0", math.nan)]
    corpus = written(root, "pairs.json", lines)
    assert [item.image_path.name for item in corpus.items] == ["000000000042.png", "42.0.png"]
    assert [each.code for each in corpus.rejected] == ["unsafe-path"]  # as an empty name


def test_a_language_that_is_no_code_costs_its_line_alone(root: Path) -> None:
    lines = ("cat.png,A cat.,A dog.,Klingon!", "dog.png,Ein Hund.,Eine Katze.,de")
    corpus = csv(root, "image,right,wrong,language", *lines)
    assert [item.wrong for item in corpus.items] == [{"de": "Eine Katze."}]
    assert [each.code for each in corpus.rejected] == ["caption-bad-language"]


@pytest.mark.parametrize("cell", ["A pet.|A tom.", "['A pet.', 'A tom.']", '"[""A pet."", ""A tom.""]"'])
def test_a_table_of_pairs_keeps_its_references(root: Path, cell: str) -> None:
    corpus = csv(root, "image;right;wrong;references", f"cat.png;A cat.;A dog.;{cell}")
    assert corpus.items[0].captions == {"en": ("A cat.", "A pet.", "A tom.")}


def test_ids_are_unique_and_a_name_of_several_pictures_is_refused(root: Path) -> None:
    (root / "more").mkdir()
    (root / "more" / "cat.png").write_bytes(picture("red"))
    corpus = csv(root, "id,image,right,wrong", "1,dog,A dog.,A cat.", "1,dog,A pet.,A hat.", "2,cat,A cat.,A dog.")
    assert [item.id for item in corpus.items] == ["1"]
    assert [each.code for each in corpus.rejected] == ["duplicate-id", "entry-ambiguous-image"]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("notes.csv", "picture,text\na,b\n", "holds no file of pairs"),
        ("pairs.csv", "image,right,wrong\na,b\n", "another number of cells"),
        ("pairs.csv", "image,right,right,wrong\na,b,c,d\n", "each may stand once"),
        ("pairs.json", "{", "not valid JSON at line 1"),
        ("pairs.jsonl", "[1]\n", "must be a JSON object"),
        (
            "pairs.json",
            '{"a": {"filename": "x", "caption": "y", "negative_caption": "z"}, "b": 3}',
            "must be an object",
        ),
    ],
)
def test_a_file_that_is_wrong_as_a_whole_is_refused_in_a_sentence(
    root: Path, name: str, content: str, said: str
) -> None:
    (root / name).write_text(content, encoding="utf-8")
    with pytest.raises(BadCorpus, match=said):
        load_pairs.load(root)


def test_files_of_several_layouts_are_read_one_at_a_time(root: Path) -> None:
    (root / "pairs.csv").write_text("image,right,wrong\ncat,A cat.,A dog.\n", encoding="utf-8")
    entry = {"filename": "cat.png", "caption": "A cat.", "negative_caption": "A red cat."}
    (root / "add_att.json").write_text(json.dumps({"0": entry}), encoding="utf-8")
    with pytest.raises(BadCorpus, match=r"several layouts: add_att.json \(sugarcrepe\), pairs.csv \(pairs\)"):
        load_pairs.load(root)
    assert load_pairs.load(root, file="add_att.json").name == "sugarcrepe"
    assert load_pairs.load(root, file="pairs.csv", name="mine").name == "mine"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"language": "German"}, "language must be a code"),
        ({"falsity": "true"}, "falsity must be one of"),
        ({"right": "a.json"}, "give both or neither"),
        ({"limit": 0}, "limit must be a whole number"),
        ({"images": "gone"}, "no folder"),
        ({"file": "../x.csv"}, "climbs out"),
        ({"references": -1}, "references"),
    ],
)
def test_an_option_that_will_not_do_is_refused(root: Path, options: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        csv(root, "image,right,wrong", "cat,A cat.,A dog.", **options)


def test_pictures_may_lie_in_a_folder_elsewhere(root: Path, tmp_path: Path) -> None:
    (tmp_path / "val2017").mkdir()
    (tmp_path / "val2017" / "far.png").write_bytes(picture("red"))
    corpus = csv(root, "image,right,wrong", "far,A cat.,A dog.", images=str(tmp_path / "val2017"), falsity="verified")
    assert [(item.image_path, item.facts["falsity"]) for item in corpus.items] == [
        (tmp_path / "val2017" / "far.png", "verified")
    ]


@tries(max_examples=60, deadline=None)
@given(cells=st.lists(st.text(max_size=30), min_size=3, max_size=3))
def test_whatever_stands_in_a_cell_is_an_item_or_a_rejection(
    tmp_path_factory: pytest.TempPathFactory, cells: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("any")
    (folder / "cat.png").write_bytes(picture("navy"))
    record = dict(zip(("image", "right", "wrong"), cells, strict=True))
    lines = [record, {"image": "cat.png", "right": "A cat.", "wrong": "A dog."}]
    (folder / "pairs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    corpus = load_pairs.load(folder)
    assert len(corpus.items) + len(corpus.rejected) == 2
    assert corpus.items[-1].wrong == {"en": "A dog."}


def vqa(root: Path, questions: object, annotations: object) -> Corpus:
    (root / "q.json").write_text(json.dumps({"info": {}, "questions": questions, "data_subtype": "val2014"}))
    (root / "a.json").write_text(json.dumps({"license": {}, "annotations": annotations}))
    return load_pairs.load(root, questions="q.json", answers="a.json")


def of(number: int, answer: str, *answers: str, kind: str = "is the", **told: object) -> dict[str, object]:
    given = [{"answer": each, "answer_id": 1} for each in answers]
    usual = {"question_id": number, "image_id": 42, "question_type": kind, "answer_type": "yes/no", "answers": given}
    return {**usual, "multiple_choice_answer": answer, **told}


QUESTIONS = [
    {"image_id": 42, "question": "Is the cat asleep?", "question_id": 420001},
    {"image_id": 42, "question": "Are there dogs? ", "question_id": 420002},
    {"image_id": 42, "question": "What colour is the cat?", "question_id": 420003},
]


def test_a_yes_no_question_of_vqa_stands_with_its_answer_against_the_opposite_one(root: Path) -> None:
    (root / "images" / "COCO_val2014_000000000042.png").write_bytes(picture("gray"))
    held = [
        of(420001, "no", *["no"] * 9, "yes"),
        of(420002, "yes", *["yes"] * 8, "no", "maybe", kind="are there"),
        of(420003, "plaid", "plaid", answer_type="other"),
        of(420004, "yes", "yes"),
        of(420002, "maybe", "maybe"),
    ]
    corpus = vqa(root, QUESTIONS, held)
    assert corpus.name == "vqa"
    assert told(corpus) == [
        ("vqa:420001", "COCO_val2014_000000000042.png", "Is the cat asleep? No.", "Is the cat asleep? Yes."),
        ("vqa:420002", "COCO_val2014_000000000042.png", "Are there dogs? Yes.", "Are there dogs? No."),
    ]
    assert [dict(item.facts) for item in corpus.items] == [
        {"kind": "is the", "group": "no", "falsity": "verified"},
        {"kind": "are there", "group": "yes", "falsity": "stated"},
    ]
    assert len({item.group for item in corpus.items}) == 1
    (gone,) = corpus.rejected
    assert gone.code == "missing-cell"
    assert "question 420004: the file of questions has no question" in gone.detail
    (passed,) = corpus.remarks
    assert (passed.code, passed.count) == ("answer-no-template", 2)
    assert "'plaid' makes no caption of 'What colour is the cat?'" in passed.detail


OPEN = [
    ("What color is the cat on the left?", "black", "The cat on the left is black."),
    ("What colour are the man's shoes?", "grey", "The man's shoes are grey."),
    ("How many dogs are there?", "3", "There are three dogs."),
    ("How many people are wearing hats?", "2", "Two people are wearing hats."),
    ("How many birds are in this picture?", "40", "40 birds are in this picture."),
    ("What animal is this?", "elephant", "The animal is an elephant."),
    ("What kind of animal is on the bed?", "cat", "The animal on the bed is a cat."),
    ("Is this a dog or a cat?", "cat", "This is a cat."),
    ("Are the giraffes old or young?", "young", "The giraffes are young."),
]
NO_KIND = ("Why is he sad?", "What color is the man wearing?", "Is this photo taken indoors or outdoors?")
NO_ANSWER = [("How many dogs are there?", "1"), ("What animal is this?", "pikachu"), ("Is it day or night?", "dusk")]


def test_open_questions_of_four_kinds_become_captions_and_the_rest_is_counted(root: Path) -> None:
    (root / "images" / "42.png").write_bytes(picture("gray"))
    every = [*OPEN, *((question, "x", "") for question in NO_KIND), *((*each, "") for each in NO_ANSWER)]
    questions = [{"image_id": 42, "question": each, "question_id": place} for place, (each, _, _) in enumerate(every)]
    held = [of(place, answer, *[answer] * 10, answer_type="other") for place, (_, answer, _) in enumerate(every)]
    corpus = vqa(root, questions, held)
    assert [right for _, _, right, _ in told(corpus)] == [right for _, _, right in OPEN]
    wrong = [each for *_, each in told(corpus)]
    assert wrong[2] in ("There are two dogs.", "There are four dogs.")
    assert wrong[3] == "Three people are wearing hats."  # one would change its noun
    assert wrong[7:] == ["This is a dog.", "The giraffes are old."]
    assert wrong[0].startswith("The cat on the left is ")
    assert "gray" not in wrong[1]  # it is grey by another spelling
    assert {(item.facts["group"], item.facts["falsity"]) for item in corpus.items} == {
        (each, "verified") for each in ("colour", "count", "animal", "either")
    }
    assert {each.code: each.count for each in corpus.remarks} == {"no-template": 3, "answer-no-template": 3}


def test_a_wrong_answer_that_somebody_gave_is_presumed_or_left_out(root: Path) -> None:
    (root / "images" / "42.png").write_bytes(picture("gray"))
    asked = ["Is the cat old or young?", "How many dogs are there?", "How many dogs are there?", "What animal is this?"]
    questions = [{"image_id": 42, "question": each, "question_id": place} for place, each in enumerate(asked)]
    given = [
        ("young", ["young"] * 9 + ["old"]),
        ("3", ["3"] * 8 + ["2", "4"]),
        ("3", ["3"] * 9 + ["2"]),
        ("cat", ["cat"] * 5 + ["dog"] * 5),
    ]
    held = [of(place, right, *people, answer_type="other") for place, (right, people) in enumerate(given)]
    corpus = vqa(root, questions, held)
    wrong = [each for *_, each in told(corpus)]
    assert wrong[:2] == ["The cat is old.", "There are four dogs."]
    assert "dog" not in wrong[2]
    assert [item.facts["falsity"] for item in corpus.items] == ["presumed", "verified", "presumed"]
    (passed,) = corpus.remarks
    assert (passed.code, passed.count) == ("answer-no-template", 1)


@pytest.mark.parametrize("name", ["COCO_train2014_000000000042.png", "000000000042.png", "42.png"])
def test_a_picture_of_vqa_is_found_by_any_of_cocos_names(root: Path, name: str) -> None:
    (root / "images" / name).write_bytes(picture("gray"))
    assert [each[1] for each in told(vqa(root, QUESTIONS, [of(420001, "yes", "yes")]))] == [name]


@pytest.mark.parametrize(
    ("questions", "annotations", "message"),
    [
        ([], [of(1, "yes")], "the list 'questions' of .*q.json is empty"),
        (QUESTIONS, [], "the list 'annotations' of .*a.json is empty"),
        ([{"question_id": 1}], [of(1, "yes")], "an entry of 'questions' has no question"),
        (QUESTIONS, ["yes"], "an entry of 'annotations' has no multiple_choice_answer"),
        (QUESTIONS, [of(420003, "plaid", answer_type="other")], "holds no question that becomes a pair of captions"),
    ],
)
def test_other_files_than_vqas_are_told(root: Path, questions: object, annotations: object, message: str) -> None:
    with pytest.raises(BadCorpus, match=message):
        vqa(root, questions, annotations)


def test_questions_without_answers_ask_for_both_files(root: Path) -> None:
    (root / "q.json").write_text("{}")
    with pytest.raises(InvalidInput, match="questions and answers name two files that are joined; give both"):
        load_pairs.load(root, questions="q.json")
