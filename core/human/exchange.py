"""Votes out as CSV, Parquet or JSON, and votes in that were made elsewhere."""

import io
import json
import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from core.corpora.csv_header import LONGEST, check_columns
from core.errors import InvalidInput
from core.human.kinds import Value
from core.human.ledger import Ledger
from core.human.studies import COMMENT_LIMIT, Study
from core.human.votes import vote_table
from core.store.spreadsheets import exact, guarded_csv

FORMATS = ("csv", "parquet", "json")
MOST_BYTES = 32 * 2**20
MOST_ROWS = 200_000
NEEDED = ("annotator", "id", "left")


def export_votes(study: Study, form: str, *, withdrawn: bool = False) -> bytes:
    """Write the finished and the skipped votes of a study.

    Tokens and secrets are never among them; names of annotators stay with the coordinator.

    Args:
        form: one of FORMATS. JSON is one object with the study's definition and its votes.
        withdrawn: with the rows of withdrawn annotators, marked as such.

    Raises:
        InvalidInput: for another format.
    """
    table = _raw(study, vote_table(study, withdrawn=withdrawn, skipped=True))
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


def import_votes(study: Study, data: bytes, *, name: str) -> int:
    """Take votes in that were made elsewhere, with the columns of an export.

    The file is checked as a whole before the first row is written: one bad row refuses it all, naming the row.
    Annotators are renamed ``x-<name>`` and kept apart from those who were invited here; only in an export of this
    very study do names mean those invited here, and there a file may not change what they said. A vote that is here
    already with the same answers is left out, so the same file twice changes nothing; other answers of an imported
    annotator are a correction.

    Args:
        data: CSV, Parquet or JSON with annotator, id (of the study's item), left (``original`` or ``variant``: what
            stood left) and one column a question (A, B, preference, or rating); seconds, comment, skipped and
            client_time may be there.
        name: of the file; its ending tells the format.

    Returns:
        How many votes were new or changed.

    Raises:
        InvalidInput: saying what of the file cannot be used, and in which row.
    """
    votes = [_checked(study, row, number) for number, row in enumerate(_rows(data, name), start=1)]
    _refuse_twins(votes)
    taken = 0

    def rows(ledger: Ledger) -> list[dict[str, Any]]:
        nonlocal taken
        new = [vote for vote in votes if _differs(ledger, vote)]
        taken = len(new)
        names = dict.fromkeys(vote["annotator"] for vote in new)
        told = [{"row": "import", "annotator": each, "source": name[:120]} for each in names]
        return told + [row for vote in new for row in _log_rows(ledger, vote)]

    study.record(rows, share=True)
    return taken


def _rows(data: bytes, name: str) -> list[Mapping[str, Any]]:
    if len(data) > MOST_BYTES:
        raise InvalidInput(f"{name[:80]} has {len(data)} bytes; at most {MOST_BYTES} are read: split it")
    ending = name.rsplit(".", 1)[-1].lower()
    try:
        if ending == "csv":
            check_columns(data[: LONGEST + 1].decode("utf-8", "replace"), where=name[:80])
            table = pd.read_csv(io.BytesIO(data), dtype=str, keep_default_na=False, nrows=MOST_ROWS + 1).map(exact)
        elif ending == "parquet":
            table = pd.read_parquet(io.BytesIO(data))
        elif ending == "json":
            told = json.loads(data)
            table = pd.DataFrame(told["votes"] if isinstance(told, dict) else told)
        else:
            raise InvalidInput(f"votes are read from {', '.join(FORMATS)}, got {name[:80]!r}")
    except InvalidInput:
        raise
    except Exception as error:  # each reader has errors of its own for hostile bytes
        raise InvalidInput(f"{name[:80]} cannot be read as {ending}: {str(error)[:200]}") from error
    missing = [column for column in NEEDED if column not in table.columns]
    if missing:
        raise InvalidInput(f"{name[:80]} has no column {missing[0]!r}; it needs {', '.join(NEEDED)} and the questions")
    if not 1 <= len(table) <= MOST_ROWS:
        raise InvalidInput(f"{name[:80]} has {len(table)} rows; 1 to {MOST_ROWS} are read")
    return [{str(key): value for key, value in row.items()} for row in table.to_dict("records")]


def _checked(study: Study, row: Mapping[str, Any], number: int) -> dict[str, Any]:
    """One vote of known shape, or a sentence that names the row."""
    try:
        annotator, item_id = _text(row, "annotator").strip(), _text(row, "id")
        if not annotator or len(annotator) > 60 or not annotator.isprintable():
            raise InvalidInput(f"an annotator's name has 1 to 60 printable characters, got {annotator[:80]!r}")
        if row.get("study") not in (None, "", study.id) and not _empty(row["study"]):
            raise InvalidInput(f"it belongs to study {str(row['study'])[:60]!r}, not to {study.id!r}")
        item = study.definition.item(item_id.zfill(4) if item_id.isdigit() else item_id)
        left = _text(row, "left")
        if left not in (("original", "variant") if item.shows == "pair" else (item.shows,)):
            raise InvalidInput(f"left is what stood left, original or variant, got {left[:40]!r}")
        answers = {each.name: _answer(row, each.name, study) for each in study.definition.asked.questions}
        skipped = _text(row, "skipped") or None
        if skipped is None and None in answers.values():
            missing = next(name for name, value in answers.items() if value is None)
            raise InvalidInput(f"question {missing!r} has no answer; give one, or a reason in the column 'skipped'")
        own = _text(row, "study") == study.id and annotator in study.state().annotators
        told = {"annotator": annotator, "item": item.id, "left": left, "skipped": skipped}
        invited = own and not study.state().annotators[annotator].imported
        if invited and _differs(study.state(), {**told, "answers": {} if skipped else answers}):
            raise InvalidInput(f"{annotator} was invited here and said something else of item {item.id} here")
    except InvalidInput as error:
        raise InvalidInput(f"row {number} of the file cannot be used: {error}") from error
    return {
        "annotator": annotator if own or annotator.startswith("x-") else f"x-{annotator}",
        "item": item.id,
        "left": left,
        "answers": {} if skipped else answers,
        "skipped": skipped,
        "seconds": _number(row, "seconds"),
        "client_time": _number(row, "client_time"),
        "comment": _text(row, "comment")[:COMMENT_LIMIT],
    }


def _answer(row: Mapping[str, Any], question: str, study: Study) -> Value | None:
    raw = row.get(question)
    if _empty(raw):
        return None
    asked = study.definition.asked.question(question)
    for answer in asked.answers:
        if str(raw) in (str(answer.value), f"{answer.value}.0"):
            return answer.value
    return asked.check(str(raw))  # raises, naming what it takes


def _refuse_twins(votes: list[dict[str, Any]]) -> None:
    seen: dict[tuple[str, str], int] = {}
    for number, vote in enumerate(votes, start=1):
        key = (vote["annotator"], vote["item"])
        if key in seen:
            raise InvalidInput(
                f"rows {seen[key]} and {number} of the file are both of {key[0]!r} on item {key[1]}; keep one of them"
            )
        seen[key] = number


def _differs(ledger: Ledger, vote: Mapping[str, Any]) -> bool:
    entry = ledger.entries.get((vote["annotator"], vote["item"]))
    if entry is None:
        return True
    now = (entry.answers if entry.skipped is None else {}, entry.skipped, entry.left)
    return now != (vote["answers"], vote["skipped"], vote["left"])


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


def _raw(study: Study, table: pd.DataFrame) -> pd.DataFrame:
    """The table with the answers as they were given, side by side: what an import reads."""
    ledger = study.state()
    entries = [ledger.entries[key] for key in zip(table["annotator"], table["id"], strict=True)]
    for question in ledger.questions:
        given = [None if entry.skipped is not None else entry.answers.get(question) for entry in entries]
        table[question] = pd.Series(given, index=table.index, dtype=object if question == "preference" else "Int64")
    return table


def _text(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    return "" if _empty(value) else str(value)


def _number(row: Mapping[str, Any], name: str) -> float | None:
    try:
        value = float(row.get(name) or math.nan)
    except (TypeError, ValueError):
        return None
    return value if math.isfinite(value) and value >= 0 else None


def _empty(value: object) -> bool:
    return value is None or value == "" or value is pd.NA or (isinstance(value, float) and math.isnan(value))


__all__ = ["FORMATS", "export_votes", "import_votes"]
