"""What an annotator does before the first vote: agree to the consent, read the instructions, practise with feedback.

The instructions are words of ``assets/studies/instructions.toml``. Answers of practice are rows of their own and enter
no number.
"""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from core import settings
from core.errors import InvalidInput, StoreError
from core.features.human.definition import resolve
from core.features.human.entrance import Exercise, Practice, Stage, check_consent
from core.features.human.kinds import KINDS, Value
from core.features.human.ledger import Annotator, Ledger
from core.features.human.studies import Refused, Study, Superseded


def set_consent(study: Study, text: str) -> None:
    """Ask everybody to agree to a text before anything else; an empty one asks for nothing. Who agreed to another
    wording is asked again before their next item. Raises InvalidInput if it cannot be shown as plain text."""
    clean = check_consent(text)
    study.record(lambda _: [{"row": "consent", "text": clean}])


def agree(study: Study, annotator: str, digest: str) -> None:
    """Note that an annotator agreed to the text of that digest; the log adds the time. Raises Refused if the text is
    another one by now, and InvalidInput if there is no such annotator."""

    def rows(ledger: Ledger) -> list[dict[str, Any]]:
        check_wording(ledger, digest)
        if annotator not in ledger.annotators:
            raise InvalidInput(f"study {study.id!r} has no annotator {annotator[:40]!r}")
        return [accepted(annotator, digest)]

    study.record(rows)


def accepted(annotator: str, digest: str) -> dict[str, Any]:
    """The row of an agreement."""
    return {"row": "accept", "annotator": annotator, "text_sha256": digest}


def check_wording(ledger: Ledger, digest: str | None) -> None:
    """Refuse an agreement to a wording that is not the present one."""
    if (ledger.consent.digest if ledger.consent else None) != digest:
        raise Refused("The text was changed while you read it; please read it again.")


@dataclass(frozen=True, slots=True)
class Instructions:
    """Words for one kind of study."""

    title: str  # one line
    steps: tuple[str, ...]  # what to do, in order
    rules: tuple[str, ...]  # how to judge


def instructions(kind: str) -> Instructions:
    """Read the instructions of a kind; raises StoreError if the file is gone or broken."""
    path = settings.assets_dir() / "studies" / "instructions.toml"
    try:
        told = tomllib.loads(path.read_text(encoding="utf-8"))
        lists = {name: [tuple(map(str, told[name][part])) for part in ("steps", "rules")] for name in KINDS}
        found = {name: Instructions(str(told[name]["title"]), *lists[name]) for name in KINDS}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StoreError(f"{path} cannot be read ({error}); restore it from the checkout") from error
    return found[kind]


COLUMNS = ("annotator", "try", "item", "left", "said", "right", "practice")


@dataclass(frozen=True, slots=True)
class Lesson:
    """Where an annotator is in practice."""

    exercise: Exercise | None  # to answer now, or None where the try is through
    number: int  # 1-based place of the exercise in its try
    total: int  # exercises of a try
    attempt: int  # of this try, from 0
    answers: dict[str, Value]  # question -> what they said of this exercise so far


def set_practice(study: Study, exercises: Sequence[Exercise], *, needed: int, tries: int) -> None:
    """Set what is practised; without exercises there is no practice.

    An item that has votes cannot become one for practice, and after somebody has practised it stays as it is: so no
    vote is lost, and everybody practises alike. Raises InvalidInput if that would happen, or an exercise or a number is
    out of range.
    """
    row = {"row": "practice", **Practice(tuple(exercises), needed, tries).told()}
    Practice.read(row, study.definition)

    def rows(ledger: Ledger) -> list[dict[str, Any]]:
        practised = sum(bool(each.rounds) for each in ledger.annotators.values())
        if practised:
            raise InvalidInput(
                f"{practised} annotator(s) have practised already; practice stays as it is, so that "
                "everybody does the same"
            )
        voted = {item for _, item in ledger.entries} & {each.item for each in exercises}
        if voted:
            raise InvalidInput(f"item {min(voted)} has votes already; choose one without any for practice")
        return [row]

    study.record(rows, share=True)


def lesson(study: Study, annotator: str) -> Lesson:
    """Where an annotator is in practice; raises InvalidInput if there is no practice, or no such annotator."""
    ledger = study.state()
    if ledger.practice is None or annotator not in ledger.annotators:
        raise InvalidInput(f"study {study.id!r} has no practice for {annotator[:40]!r}")
    return _lesson(ledger, ledger.annotators[annotator])


def practise(study: Study, annotator: str, item: str, question: str, value: Value, *, attempt: int) -> None:
    """Store one answer of practice; what was answered in a try stays as it is. Raises Superseded if another exercise or
    try is due by now, Refused if the annotator does not practise now, InvalidInput for an unknown question or
    answer."""
    checked = study.definition.asked.question(question).check(value)

    def rows(ledger: Ledger) -> list[dict[str, Any]]:
        found = ledger.annotators.get(annotator)
        if found is None or not found.active or ledger.stage(found) is not Stage.PRACTICE:
            raise Refused("There is nothing to practise for you now; open your link again.")
        now = _lesson(ledger, found)
        due = now.exercise
        if due is None or (due.item, now.attempt) != (item, attempt) or question in now.answers:
            raise Superseded("This was answered in another tab or by a second press; here is where you are.")
        about = {"row": "practise", "annotator": annotator, "item": item, "try": attempt, "question": question}
        return [{**about, "answer": checked, "left": study.definition.left_version(annotator, item)}]

    study.record(rows)
    state = study.state()
    if state.passed(state.annotators[annotator]) is False:  # what was meant for them goes to others
        study.record(lambda _: [], share=True)


def said_in_practice(ledger: Ledger, annotator: Annotator, item: str, attempt: int) -> dict[str, Any]:
    """What was said of the versions of a practice item in a try; see :func:`core.features.human.definition.resolve`."""
    answered = annotator.rounds[attempt].get(item, {}) if attempt < len(annotator.rounds) else {}
    return resolve(ledger.by_id[item], ledger.definition.left_version(annotator.id, item), answered)


def practice_table(study: Study) -> pd.DataFrame:
    """Every answer of practice, COLUMNS: a row an annotator, try and item that was answered in full, with what stood
    left, what was said of the versions as text, whether all of it was right; ``practice`` is True throughout."""
    ledger, left = study.state(), study.definition.left_version
    rows = [
        (each.id, number + 1, item, left(each.id, item), _told(said), not exercise.misses(said), True)
        for each in ledger.annotators.values()
        for number, answered in enumerate(each.rounds)
        for item, exercise in ledger.exercises.items()
        if len(answered.get(item, {})) == len(ledger.practised)
        and (said := said_in_practice(ledger, each, item, number)) is not None
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _lesson(ledger: Ledger, annotator: Annotator) -> Lesson:
    exercises = ledger.exercises
    attempt = next((number for number in range(len(annotator.rounds) + 1) if ledger.hits(annotator, number) is None), 0)
    answered = annotator.rounds[attempt] if attempt < len(annotator.rounds) else {}
    for number, (item, exercise) in enumerate(exercises.items(), start=1):
        if len(answered.get(item, {})) < len(ledger.practised):
            return Lesson(exercise, number, len(exercises), attempt, dict(answered.get(item, {})))
    return Lesson(None, len(exercises), len(exercises), attempt, {})


def _told(said: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in said.items() if value is not None)
