"""Votes out as CSV, Parquet or JSON, and votes in that were made elsewhere, also as other annotation tools write them.

Read: label-studio (JSON, JSON-MIN), potato (user_state.json, annotated_instances.jsonl), doccano (JSONL of one
annotator), crowd-kit and toloka (task, worker, label). An item is found by its id in the study, which may say what
stood left behind a colon: ``0007:variant``. The tools number their tasks themselves, so the id is looked for in a field
of its own, ITEM; potato and crowd-kit keep ids as they were given.
"""

import io
import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import PurePath
from typing import Any

import pandas as pd

from core.corpora.corpus_files import decimal, decoded, pointed
from core.corpora.corpus_files import key as named_key
from core.corpora.table_cells import Cells
from core.errors import BadCorpus, InvalidInput
from core.features.human.kinds import Kind, Value
from core.features.human.ledger import Ledger
from core.features.human.studies import COMMENT_LIMIT, Study
from core.features.human.votes import vote_table
from core.store.text_files import exact, guarded_csv
from core.yes_no import says_nothing, yes_or_no

FORMATS = ("csv", "parquet", "json")
MOST_BYTES = 32 * 2**20
MOST_ROWS = 200_000
READ = (*FORMATS, "jsonl")  # endings of files that votes are read from
NEEDED = ("annotator", "id")
_NUMBERS = ("seconds", "client_time")

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


def export_votes(study: Study, form: str, *, withdrawn: bool = False) -> bytes:
    """Write the finished and the skipped votes of a study; JSON is one object with its definition and votes.

    Tokens and secrets are never among them; names of annotators stay with the coordinator. ``withdrawn``: with the rows
    of withdrawn annotators, marked as such. Raises InvalidInput for a format that is none of FORMATS.
    """
    table, ledger = vote_table(study, withdrawn=withdrawn, skipped=True), study.state()
    entries = [ledger.entries[key] for key in zip(table["annotator"], table["id"], strict=True)]
    for question in ledger.questions:  # answers side by side as they were given: what an import reads
        given = [None if entry.skipped is not None else entry.answers.get(question) for entry in entries]
        table[question] = pd.Series(given, index=table.index, dtype=object if question == "preference" else "Int64")
    if form == "csv":
        return guarded_csv(table).encode()
    if form == "parquet":
        buffer = io.BytesIO()
        table.to_parquet(buffer, index=False)
        return buffer.getvalue()
    if form == "json":
        votes = json.loads(table.to_json(orient="records"))
        return json.dumps({"study": study.definition.to_json(), "votes": votes}, indent=1, ensure_ascii=False).encode()
    raise InvalidInput(f"votes are written as {', '.join(FORMATS)}, got {form[:40]!r}")


@dataclass(frozen=True, slots=True)
class Taken:
    """What an import took in."""

    count: int  # votes that were new or changed
    told: tuple[str, ...]  # a sentence for each kind of row that counts otherwise than by itself


def import_votes(study: Study, data: bytes, *, name: str) -> Taken:
    """Take votes in that were made elsewhere, with the columns of an export or as another tool writes them.

    The file is checked as a whole before the first row is written: one bad row refuses it all, naming the row.
    Annotators are renamed ``x-<name>`` and kept apart from those who were invited here; only in an export of this very
    study do names mean those invited here, and there a file may not change what they said. A vote that is here already
    with the same answers is left out, so the same file twice changes nothing; other answers of an imported annotator
    are a correction. Who withdrew, here or by the file, counts no more. Raises InvalidInput saying what of the file
    cannot be used, and in which row.

    Args:
        data: CSV, Parquet, JSON or JSON lines with annotator, id (of the study's item), left (``original`` or
            ``variant``: what stood left) and one column a question (A, B, preference, or rating); seconds, comment,
            skipped, withdrawn and client_time may be there. Or a file of another tool.
        name: of the file; its ending tells the format.
    """
    ledger, told = study.state(), Counter[str]()
    votes, gone = list[dict[str, Any]](), dict[str, None]()
    for number, row in enumerate(_rows(study, data, name), start=1):
        line = row.get(LINE, number)
        try:
            who = _annotator(study, row)
            if row.get(NOTED):
                told[row[NOTED]] = 0
            if row.get(NOTED) == UNLABELLED:
                continue
            here = ledger.annotators.get(who)
            if yes_or_no(row.get("withdrawn")) or (here is not None and here.withdrawn):
                gone[who] = None
                told["{} of annotators who withdrew, left out"] += 1
            else:
                votes.append(_checked(study, row, who) | {LINE: line})
        except InvalidInput as error:
            raise InvalidInput(f"{name[:80]}: row {line} of the file cannot be used: {error}") from error
    groups: dict[tuple[str, str], dict[object, dict[str, Any]]] = {}
    for place, vote in enumerate(votes):
        own = groups.setdefault((vote["annotator"], vote["item"]), {})
        key = (place,) if vote[VERSION_OF] is None else vote[VERSION_OF]
        if key in own:
            told["{} replaced by a later version of the same annotation"] += 1
        own[key] = max(own.get(key, vote), vote, key=lambda each: each[WHEN]) if vote[WHEN] else vote
    settled = [_one_of(list(own.values()), told, name) for own in groups.values()]
    kept = [vote for vote in settled if vote["annotator"] not in gone]
    taken = 0

    def rows(ledger: Ledger) -> list[dict[str, Any]]:
        nonlocal taken
        new = [vote for vote in kept if _differs(ledger, vote)]
        taken = len(new)
        names = dict.fromkeys(vote["annotator"] for vote in new)
        made = [{"row": "import", "annotator": each, "source": name[:120]} for each in names]
        known = [ledger.annotators[each] for each in gone if each in ledger.annotators]
        made += [{"row": "withdraw", "annotator": each.id} for each in known if each.imported and not each.withdrawn]
        return made + [row for vote in new for row in _log_rows(ledger, vote)]

    study.record(rows, share=True)
    return Taken(
        taken, tuple(each.format(f"{count} {'vote' if count == 1 else 'votes'}") for each, count in told.items())
    )


def _rows(study: Study, data: bytes, name: str) -> Sequence[Mapping[str, Any]]:
    if len(data) > MOST_BYTES:
        raise InvalidInput(f"{name[:80]} has more than {MOST_BYTES} bytes; split it")
    ending = name.rsplit(".", 1)[-1].lower()
    try:
        rows = _read(study, data, ending, name)
    except (InvalidInput, BadCorpus) as error:
        raise InvalidInput(f"{name[:80]}: {error}") from error
    except Exception as error:  # each reader has errors of its own for hostile bytes
        raise InvalidInput(f"{name[:80]} cannot be read as {ending}: {repr(error)[:200]}") from error
    if not 1 <= len(rows) <= MOST_ROWS:
        raise InvalidInput(f"{name[:80]} has {len(rows)} rows; 1 to {MOST_ROWS} are read")
    missing = [column for column in NEEDED if column not in rows[0]]
    if missing:
        raise InvalidInput(f"{name[:80]} has no column {missing[0]!r}; it needs {', '.join(NEEDED)} and the questions")
    return rows


def _read(study: Study, data: bytes, ending: str, name: str) -> Sequence[Mapping[str, Any]]:
    kind = study.definition.asked
    if ending not in READ:
        raise InvalidInput(f"votes are read from {', '.join(READ)}")
    if ending in ("csv", "parquet"):
        records: list[Any] = _table(data, ending, name).to_dict("records")
        return (rows_of_table(records, kind) if records else None) or records
    if ending == "jsonl":
        records = [_line(line, number) for number, line in enumerate(data.split(b"\n"), start=1) if line.strip()]
    else:
        told = json.loads(data)
        if isinstance(told, dict) and "instance_id_to_label_to_value" in told:
            return rows_of_potato(told, kind)
        records = told["votes"] if isinstance(told, dict) else told
    if not all(isinstance(each, dict) for each in records):
        raise InvalidInput("it should be a list of objects")
    return (rows_of_records(records, kind, name=name) if records else None) or records


def _table(data: bytes, ending: str, name: str) -> pd.DataFrame:
    if ending == "parquet":
        return pd.read_parquet(io.BytesIO(data)).rename(columns=str)
    cells = Cells(io.StringIO(decoded(data, name[:80]), newline=""), where=name[:80], known=NEEDED)
    if twice := [each for each, count in Counter(cells.header).items() if each and count > 1]:
        raise InvalidInput(f"column {twice[0][:60]!r} stands twice; keep one")
    rows = [row for _, row in islice(cells.rows(), MOST_ROWS + 1)]
    table = pd.DataFrame(rows, columns=cells.header, dtype=str).map(exact)
    numbers = [column for column in _NUMBERS if column in table]
    return table.assign(**{column: pointed(table[column].tolist(), cells.between) for column in numbers})


def _line(line: bytes, number: int) -> Any:
    try:
        return json.loads(line)
    except ValueError as error:
        raise InvalidInput(f"line {number} is no whole JSON object ({error}); write the file again") from error


def _annotator(study: Study, row: Mapping[str, Any]) -> str:
    told = _text(row, "annotator").strip()
    if f"x-{told}" not in study.state().annotators:
        told = named_key(told) or ""
    if says_nothing(told) or len(told) > 60 or not told.isprintable():
        raise InvalidInput(f"an annotator's name has 1 to 60 printable characters, got {told[:80]!r}")
    if _text(row, "study") not in ("", study.id):
        raise InvalidInput(f"it belongs to study {str(row['study'])[:60]!r}, not to {study.id!r}")
    own = _text(row, "study") == study.id and told in study.state().annotators
    return told if own or told.startswith("x-") else f"x-{told}"


def _checked(study: Study, row: Mapping[str, Any], annotator: str) -> dict[str, Any]:
    item_id, _, beside = _text(row, "id").partition(":")
    item_id = named_key(item_id) or ""
    item = study.definition.item(item_id.zfill(4) if item_id.isdigit() else item_id)
    left = beside or _text(row, "left") or ("" if item.shows == "pair" else item.shows)
    if left not in (("original", "variant") if item.shows == "pair" else (item.shows,)):
        raise InvalidInput(
            f"left is what stood left, original or variant, got {left[:40]!r}; an id may say it: {item.id}:original"
        )
    kind = study.definition.asked
    answers = {each.name: _answer(row, each.name, study) for each in kind.questions}
    answers = {name: answers[name] for name in kind.due(answers)}
    skipped = _skipped(row, answered=None not in answers.values())
    if skipped is None and None in answers.values():
        missing = next(name for name, value in answers.items() if value is None)
        raise InvalidInput(f"question {missing!r} has no answer; give one, or a reason in the column 'skipped'")
    said = {} if skipped else answers
    told = {"annotator": annotator, "item": item.id, "left": left, "skipped": skipped, "answers": said}
    here = study.state().annotators.get(annotator)
    if here is not None and not here.imported and _differs(study.state(), told):
        raise InvalidInput(f"{annotator} was invited here and said something else of item {item.id} here")
    numbers = {name: _number(row, name) for name in _NUMBERS}
    own = {"comment": _text(row, "comment")[:COMMENT_LIMIT], WHEN: row.get(WHEN) or "", VERSION_OF: row.get(VERSION_OF)}
    return told | numbers | own


def _skipped(row: Mapping[str, Any], *, answered: bool) -> str | None:
    """Why an item was skipped; None where it was not: the cell may say yes or no, or hold the reason."""
    cell = row.get("skipped")
    try:
        return "skipped elsewhere" if yes_or_no(cell) else None
    except InvalidInput as error:
        if answered:
            raise InvalidInput(f"every question has an answer, and skipped is {str(cell)[:60]!r}: {error}") from error
        return str(cell)


def _answer(row: Mapping[str, Any], question: str, study: Study) -> Value | None:
    raw = row.get(question)
    if says_nothing(raw):
        return None
    asked, said = study.definition.asked.question(question), str(raw).strip().casefold()
    for answer in asked.answers:
        if said in (str(answer.value).casefold(), f"{answer.value}.0", answer.label.casefold()):
            return answer.value
    return asked.check(str(raw))  # raises, naming what it takes


def _one_of(doubled: list[dict[str, Any]], told: Counter[str], name: str) -> dict[str, Any]:
    first, *more = doubled
    if all(_said(each) == _said(first) for each in more):
        if more:
            told["{} given twice alike (same annotator and item), counted once"] += len(more)
        return first
    if not all(each[WHEN] for each in doubled):
        rows = " and ".join(str(each[LINE]) for each in doubled[:2])
        raise InvalidInput(
            f"{name[:80]}: rows {rows} of the file are both of {first['annotator']!r} on item "
            f"{first['item']} and say different things; keep one of them"
        )
    told["{} given twice otherwise (same annotator and item, another annotation): the later one counts"] += len(more)
    return max(doubled, key=lambda each: str(each[WHEN]))


def _said(vote: Mapping[str, Any]) -> tuple[Any, ...]:
    return vote["answers"], vote["skipped"], vote["left"]


def _differs(ledger: Ledger, vote: Mapping[str, Any]) -> bool:
    entry = ledger.entries.get((vote["annotator"], vote["item"]))
    if entry is None:
        return True
    return (entry.answers if entry.skipped is None else {}, entry.skipped, entry.left) != _said(vote)


def _log_rows(ledger: Ledger, vote: Mapping[str, Any]) -> list[dict[str, Any]]:
    entry = ledger.entries.get((vote["annotator"], vote["item"]))
    version = entry.rows if entry else 0
    about = {name: vote[name] for name in ("annotator", "item", "left", "seconds", "client_time")}
    made: list[dict[str, Any]] = []
    if vote["comment"]:
        made.append({**about, "row": "comment", "comment": vote["comment"]})
    if vote["skipped"]:
        made.append({**about, "row": "skip", "reason": vote["skipped"][:200]})
    made += [{**about, "row": "answer", "question": name, "answer": value} for name, value in vote["answers"].items()]
    return [{**row, "version": version + index} for index, row in enumerate(made, start=1)]


def _text(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    return "" if value is None or value is pd.NA or value != value else str(value)


def _number(row: Mapping[str, Any], name: str) -> float | None:
    try:
        value = decimal(row.get(name) or math.nan)
    except (TypeError, ValueError, OverflowError):
        return None
    return value if math.isfinite(value) and value >= 0 else None


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
