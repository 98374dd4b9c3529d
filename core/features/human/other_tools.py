"""Votes as other annotation tools write them, brought to the columns of an export of this one.

Read: label-studio (JSON, JSON-MIN), potato (user_state.json, annotated_instances.jsonl), doccano (JSONL of one
annotator), crowd-kit and toloka (task, worker, label). An item is found by its id in the study, which may say what
stood left behind a colon: ``0007:variant``. The tools number their tasks themselves, so the id is looked for in a field
of its own, ITEM; potato and crowd-kit keep ids as they were given.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from core.errors import InvalidInput
from core.features.human.kinds import Kind
from core.yes_no import says_nothing

Row = dict[str, Any]

ITEM = "study_item"  # field of a task's data that holds the id of the study's item

LINE, WHEN, VERSION_OF, NOTED = "line", "when", "version_of", "noted"
"""Of a row: its number in the file; when it was written, as a text that sorts; which annotation it is a version of;
what is said of the file."""

_CROWD = (
    ("task", "worker", "label"),
    ("task", "performer", "label"),
    ("taskId", "workerId", "answer"),
    (f"INPUT:{ITEM}", "ASSIGNMENT:worker_id", "OUTPUT:label"),
)
_NAMELESS = frozenset(("all", "unknown"))


def rows_of_records(records: Sequence[Mapping[str, Any]], kind: Kind, *, name: str) -> list[Row] | None:
    """Rows of a file that is a list of objects, at least one, or None where no other tool wrote it; doccano names a
    file after the annotator. Raises InvalidInput naming the record and what of it cannot be used."""
    first = records[0]
    if "annotations" in first and "data" in first:
        return list(_label_studio(records, kind))
    if "annotation_id" in first:
        return [_minimal(each, kind, number) for number, each in enumerate(records, start=1)]
    if "label_annotations" in first:
        return [row for each in records for row in _potato_line(each, kind)]
    if "label" in first and ({"text", "filename", "Comments"} & set(first)):
        return [_doccano(each, kind, number, name) for number, each in enumerate(records, start=1)]
    return rows_of_table(records, kind)


def rows_of_table(records: Sequence[Mapping[str, Any]], kind: Kind) -> list[Row] | None:
    """Rows of a table with a line an answer, as crowd-kit and toloka have it; None where it is none. Raises
    InvalidInput for label-studio's CSV, which leaves skips out, and for several questions without a column that says
    which."""
    first = records[0]
    if {"annotation_id", "lead_time"} <= set(first):
        raise InvalidInput("label-studio's CSV leaves skipped annotations out; export JSON there, and give that")
    names = next((each for each in _CROWD if set(each) <= set(first)), None)
    if names is None:
        return None
    task, worker, label = names
    if len(kind.questions) > 1 and "question" not in first:
        asked = ", ".join(each.name for each in kind.questions)
        raise InvalidInput(f"a row has one label and the study asks {asked}: say which in a column 'question'")
    found, latest = list[Row](), dict[tuple[str, str], Row]()
    for number, each in enumerate(records, start=1):
        question = str(each["question"]) if "question" in first else kind.questions[0].name
        kind.question(question)
        key = (str(each[worker]), str(each[task]))
        if key not in latest or question in latest[key]:  # a second answer to one question begins a doubled vote
            latest[key] = {"annotator": each[worker], "id": each[task], LINE: number}
            found.append(latest[key])
        latest[key][question] = each[label]
    return found


def rows_of_potato(state: Mapping[str, Any], kind: Kind) -> list[Row]:
    """Rows of potato's ``user_state.json``: what one annotator said; items that were shown alone are no rows."""
    who, found = state["user_id"], list[Row]()
    for item, labels in state["instance_id_to_label_to_value"].items():
        given: dict[str, dict[str, Any]] = {}
        for label, value in labels:
            given.setdefault(str(label["schema"]), {})[str(label["name"])] = value
        changes = (state.get("instance_id_to_behavioral_data") or {}).get(item) or {}
        record = {"user_id": who, "instance_id": item, "label_annotations": given}
        found += _potato_line({**record, "changes": changes.get("annotation_changes") or ()}, kind)
    return found


def _label_studio(tasks: Sequence[Mapping[str, Any]], kind: Kind) -> Iterator[Row]:
    for number, task in enumerate(tasks, start=1):
        for each in task["annotations"]:
            if not isinstance(each, Mapping):
                raise InvalidInput(f"task {number} holds numbers of annotations only; export JSON, not a list of tasks")
            skipped = bool(each.get("was_cancelled"))
            given = {} if skipped else {region["from_name"]: _value(region["value"]) for region in each["result"]}
            answers = {} if skipped else _answers(given, kind)
            parent = each.get("parent_annotation")
            yield {
                **_item(task["data"], f"task {number}"),
                **answers,
                "annotator": _who(each.get("completed_by")),
                "skipped": "skipped in label-studio" if skipped else "",
                "seconds": each.get("lead_time"),
                WHEN: str(each.get("updated_at") or each.get("created_at") or ""),
                VERSION_OF: each.get("id") if parent is None else parent,
                LINE: number,
            }


def _minimal(record: Mapping[str, Any], kind: Kind, number: int) -> Row:
    given = {name: _value(value) for name, value in record.items() if name in {each.name for each in kind.questions}}
    return {
        **_item(record, f"record {number}"),
        **given,
        "annotator": _who(record.get("annotator")),
        "seconds": record.get("lead_time"),
        WHEN: str(record.get("updated_at") or record.get("created_at") or ""),
        VERSION_OF: record["annotation_id"],
        NOTED: "JSON-MIN leaves skipped annotations out; label-studio's JSON has them",
    }


def _potato_line(record: Mapping[str, Any], kind: Kind) -> list[Row]:
    given = {}
    for question, labels in _answers(record["label_annotations"], kind).items():
        chosen = [(name, value) for name, value in labels.items() if not says_nothing(value) and value is not False]
        if len(chosen) > 1:  # older versions keep every option that was ever pressed: the last press counts
            pressed = [
                str(each.get("label_name"))
                for each in record.get("changes", ())
                if each.get("action") == "select" and record["label_annotations"].get(each.get("schema_name")) is labels
            ]
            chosen = [each for each in chosen if pressed and each[0] == pressed[-1]]
            if not chosen:
                raise InvalidInput(
                    f"item {record['instance_id']!r} of {record['user_id']!r} has several answers to "
                    f"{question!r} and does not say which is the last; keep one"
                )
        for name, value in chosen:
            given[question] = value if name in ("text_box", "slider", "scale") else name
    return [{"annotator": record["user_id"], "id": record["instance_id"], **given}] if given else []


def _doccano(record: Mapping[str, Any], kind: Kind, number: int, name: str) -> Row:
    who = record.get("annotator") or record.get("username") or PurePath(name).stem
    if str(who).lower() in _NAMELESS:
        raise InvalidInput(
            f"{name} holds the labels of everybody together and not whose they are; let doccano's "
            "project keep each annotator's own, and give each one's file"
        )
    told, several = record["label"], len(kind.questions) > 1
    labels = list(told) if isinstance(told, list) else [told]
    comment = " ".join(map(str, record.get("Comments") or ()))
    row = {**_item(record, f"line {number}"), "annotator": who, "comment": comment}
    for label in labels:
        question, _, answer = str(label).partition(":") if several else (kind.questions[0].name, "", str(label))
        if question in row:
            raise InvalidInput(f"line {number} has several labels for {question!r}: {str(labels)[:80]}; keep one")
        kind.question(question)
        row[question] = answer.strip()
    return row if labels else {**row, NOTED: UNLABELLED}


UNLABELLED = "lines without a label are no votes, and are left out"


def _item(data: Mapping[str, Any], where: str) -> Row:
    if says_nothing(data.get(ITEM)):
        raise InvalidInput(f"{where} has no field {ITEM!r} that holds the id of the study's item; give the tool one")
    return {"id": data[ITEM], **({"left": data["left"]} if "left" in data else {})}


def _answers(given: Mapping[str, Any], kind: Kind) -> dict[str, Any]:
    """What was given by question: by its name; a study of one question takes whatever the only field is called."""
    names = [each.name for each in kind.questions]
    if len(names) == len(given) == 1:
        return dict.fromkeys(names, next(iter(given.values())))
    return {name: given[name] for name in names if name in given}


def _value(value: Any) -> Any:
    """The one thing that a control of label-studio holds."""
    while isinstance(value, list | Mapping) and len(value) == 1:
        value = value[0] if isinstance(value, list) else next(iter(value.values()))
    if isinstance(value, Mapping):
        value = next((_value(value[name]) for name in ("choices", "rating", "number", "text") if name in value), value)
    return value


def _who(told: Any) -> Any:
    return (told.get("id") or told.get("email")) if isinstance(told, Mapping) else told
