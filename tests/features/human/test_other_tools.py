"""Files as label-studio-sdk 2.1.2, potato-annotation 2.12.1, doccano 1.8.4 and crowd-kit 1.4.2 write or read them."""

import json
from pathlib import Path
from typing import Any

import pytest

from core.errors import InvalidInput
from core.features.human.exchange import Taken, import_votes
from core.features.human.studies import Study
from core.features.human.votes import vote_table
from tests.features.human.small_study import make


@pytest.fixture
def rating(tmp_path: Path) -> Study:
    return make(tmp_path, "single", kind="rating")


@pytest.fixture
def pair(tmp_path: Path) -> Study:
    return make(tmp_path)


def take(study: Study, records: Any, name: str) -> Taken:
    lines = name.endswith(".jsonl")
    data = "\n".join(map(json.dumps, records)) if lines else json.dumps(records)
    return import_votes(study, data.encode(), name=name)


def said(study: Study) -> dict[tuple[str, str], Any]:
    rows = vote_table(study, skipped=True).to_dict("records")
    return {
        (str(row["annotator"]), str(row["id"])): row["skipped"] if isinstance(row["skipped"], str) else row["variant"]
        for row in rows
    }


def annotation(id_: int, who: Any, rating: int | None, at: str = "10", **more: Any) -> dict[str, Any]:
    region = {"from_name": "stars", "to_name": "image", "type": "rating", "value": {"rating": rating}}
    when = f"2026-01-01T00:00:{at}.000000Z"
    return {
        "id": id_,
        "completed_by": who,
        "result": [] if rating is None else [region],
        "was_cancelled": rating is None,
        "created_at": when,
        "updated_at": when,
        "lead_time": 4.25,
        **more,
    }


def task(number: int, item: str, *annotations: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": number,
        "data": {"image": "x.png", "study_item": item},
        "annotations": list(annotations),
        "drafts": [],
        "predictions": [{"result": [{"value": {"rating": 1}}]}],
    }


def test_label_studio_tells_skipped_edited_and_doubled_annotations_apart(rating: Study) -> None:
    found = take(
        rating,
        [
            task(90, "0001", annotation(1, 10, 3), annotation(2, {"id": 11, "email": "a@b.c"}, None)),
            task(91, "0002", annotation(3, 10, 2, "40"), annotation(3, 10, 1, "20")),
            task(92, "0003", annotation(4, 10, 1, "10"), annotation(5, 10, 4, "20", parent_annotation=4)),
            task(93, "0004", annotation(6, 10, 4, "50"), annotation(7, 10, 1, "10")),
            task(94, "0005", annotation(8, 10, 2), annotation(9, 10, 2)),
        ],
        "export.json",
    )
    assert said(rating) == {
        ("x-10", "0001"): 3,
        ("x-11", "0001"): "skipped in label-studio",
        ("x-10", "0002"): 2,
        ("x-10", "0003"): 4,
        ("x-10", "0004"): 4,
        ("x-10", "0005"): 2,
    }
    assert found.count == 6
    assert {each.partition(" (")[0] for each in found.told} == {
        "2 votes replaced by a later version of the same annotation",
        "1 vote given twice otherwise",
        "1 vote given twice alike",
    }
    assert vote_table(rating)["seconds"].tolist() == [4.25] * 5


def test_label_studios_small_json_is_read_by_its_own_field_and_said_to_hide_skips(pair: Study) -> None:
    record = {
        "image": "x.png",
        "study_item": "0002:variant",
        "id": 77,
        "A": "fully correct",
        "B": "incorrect",
        "preference": "A is better",
        "annotator": 10,
        "annotation_id": 5,
        "lead_time": 2.5,
        "created_at": "2026-01-01T00:00:00Z",
        "updated_at": "2026-01-01T00:00:00Z",
    }
    found = take(pair, [record], "min.json")
    assert "leaves skipped annotations out" in found.told[0]
    (row,) = vote_table(pair).to_dict("records")
    assert (row["id"], row["variant"], row["original"], row["preferred"]) == ("0002", 2, 0, "variant")
    with pytest.raises(InvalidInput, match="no field 'study_item'"):
        take(pair, [{name: value for name, value in record.items() if name != "study_item"}], "min.json")


def test_label_studios_csv_is_refused_for_what_it_hides(rating: Study) -> None:
    with pytest.raises(InvalidInput, match="CSV leaves skipped annotations out; export JSON"):
        import_votes(rating, b"study_item,id,stars,annotator,annotation_id,lead_time\n1,1,3,10,1,2\n", name="l.csv")


def test_potatos_state_of_an_annotator_is_read_and_the_last_press_counts(rating: Study) -> None:
    def label(name: str) -> list[Any]:
        return [{"schema": "match", "name": name}, name]

    press = [{"schema_name": "match", "label_name": name, "action": "select"} for name in ("4", "2")]
    state = {
        "user_id": "ada",
        "instance_id_ordering": ["0001", "0002", "0003"],
        "instance_id_to_label_to_value": {"0001": [label("3")], "0002": [label("2"), label("4")], "0003": []},
        "instance_id_to_behavioral_data": {"0002": {"annotation_changes": press}},
    }
    assert take(rating, state, "user_state.json").count == 2
    assert said(rating) == {("x-ada", "0001"): 3, ("x-ada", "0002"): 2}
    state["instance_id_to_behavioral_data"] = {}
    with pytest.raises(InvalidInput, match="several answers to 'rating' and does not say which is the last"):
        take(rating, state, "user_state.json")


def test_potatos_lines_of_instances_are_read_with_the_side_in_the_id(pair: Study) -> None:
    labels = {"A": {"fully correct": "3"}, "B": {"incorrect": "1"}, "preference": {"A": "A"}}
    line = {"user_id": "bo", "instance_id": "0001:original", "displayed_text": "", "label_annotations": labels}
    assert take(pair, [line], "annotated_instances.jsonl").count == 1
    (row,) = vote_table(pair).to_dict("records")
    assert (row["original"], row["variant"], row["preferred"]) == (2, 0, "original")
    with pytest.raises(InvalidInput, match="an id may say it: 0001:original"):
        take(pair, [{**line, "instance_id": "0001"}], "annotated_instances.jsonl")


def test_doccanos_file_of_an_annotator_is_read_by_its_name(rating: Study) -> None:
    lines = [
        {"id": 41, "filename": "a.png", "study_item": "0001", "label": ["3"], "Comments": ["dark"]},
        {"id": 42, "filename": "b.png", "study_item": "0002", "label": [], "Comments": []},
    ]
    found = take(rating, lines, "ada.jsonl")
    assert (found.count, "without a label" in found.told[0]) == (1, True)
    assert said(rating) == {("x-ada", "0001"): 3}
    with pytest.raises(InvalidInput, match="labels of everybody together"):
        take(rating, lines, "all.jsonl")
    with pytest.raises(InvalidInput, match="several labels for 'rating'"):
        take(rating, [{**lines[0], "label": ["3", "4"]}], "ada.jsonl")
    with pytest.raises(InvalidInput, match="line 2 is no whole JSON object"):
        import_votes(rating, b'{"label": []}\n{"label"', name="ada.jsonl")


@pytest.mark.parametrize(
    "head",
    [
        "task,worker,label",
        "task,performer,label",
        "taskId,workerId,answer",
        "INPUT:study_item,ASSIGNMENT:worker_id,OUTPUT:label",
    ],
)
def test_crowd_kits_table_is_read_and_a_doubled_label_counts_once(rating: Study, head: str) -> None:
    found = import_votes(rating, f"{head}\n1,w,4\n2,w,perfect match\n1,w,4\n".encode(), name="c.csv")
    assert (found.count, said(rating)) == (2, {("x-w", "0001"): 4, ("x-w", "0002"): 4})
    assert "1 vote given twice alike" in found.told[0]
    before = rating.log_path.read_bytes()
    with pytest.raises(InvalidInput, match="rows 1 and 3 of the file are both of 'x-v' on item 0001"):
        import_votes(rating, f"{head}\n1,v,4\n2,v,1\n1,v,3\n".encode(), name="c.csv")
    assert rating.log_path.read_bytes() == before


def test_a_table_of_labels_says_which_question_each_is_of(pair: Study) -> None:
    told = b"task,worker,question,label\n1:original,w,A,2\n1:original,w,B,0\n1:original,w,preference,A\n"
    assert import_votes(pair, told, name="c.csv").count == 1
    with pytest.raises(InvalidInput, match="say which in a column 'question'"):
        import_votes(pair, b"task,worker,label\n1:original,w,2\n", name="c.csv")
