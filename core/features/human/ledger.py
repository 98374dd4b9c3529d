"""What the rows of a study's log add up to; the latest row wins, and no row is ever forgotten."""

import math
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field
from typing import Any

from core.errors import InvalidInput
from core.features.human.definition import Definition, StudyItem, resolve
from core.features.human.entrance import Consent, Exercise, Practice, Prolific, Stage
from core.features.human.kinds import Value
from core.store.log import NewerRow

OPEN, PAUSED, CLOSED = "open", "paused", "closed"
STATUSES = (OPEN, PAUSED, CLOSED)
SKIP_REASONS = ("the picture does not show", "I cannot tell what is in the picture", "it upsets me", "another reason")


@dataclass(slots=True)
class Annotator:
    """One annotator as the log knows them."""

    id: str  # e.g. ``a01``.
    name: str = ""  # for the coordinator only
    digest: str | None = None  # sha256 of the present token; None where the link was revoked, or votes were imported
    nonce: str | None = None  # what the token is made of, with the study's secret
    begun: bool = False  # whether the instructions were read
    withdrawn: bool = False  # their rows count no more
    away: bool = False  # what they left was handed over; an answer brings them back
    imported: bool = False
    pid: str | None = None  # id by which Prolific knows them; None where they were invited or imported
    barred: bool = False  # their link was revoked
    accepted: str | None = None  # digest of the consent that they agreed to, or None
    voted: bool = False  # whether they said anything of an item that counts
    # practice, one mapping a try: item -> question -> latest answer
    rounds: list[dict[str, dict[str, Value]]] = field(default_factory=list)
    since: float | None = None  # server time of their invitation, in seconds since 1970
    last: float | None = None  # server time of their last row; None before the first
    queue: tuple[str, ...] = ()  # items still planned for them, in order; those that are done stay in it
    # items in the order in which they were first finished (answered in full or skipped)
    done: list[str] = field(default_factory=list)

    @property
    def active(self) -> bool:
        """Whether they have a way in: a personal link, or Prolific's."""
        return not (self.withdrawn or self.barred) and (self.digest is not None or self.pid is not None)


@dataclass(slots=True)
class Entry:
    """What one annotator said of one item."""

    left: str  # which version stood left (A)
    answers: dict[str, Value] = field(default_factory=dict)  # question -> latest answer
    rows: int = 0  # number of rows behind it: the version that a next row must follow
    corrections: int = 0  # answers that replaced another one
    skipped: str | None = None  # the reason, or None
    comment: str = ""
    seconds: float = math.nan  # from the showing of the item to the row that first completed it; NaN where unknown
    finished: float | None = None  # server time of that row


class Ledger:
    """The present state of a study, fed with rows in the order of the log."""

    def __init__(self, definition: Definition) -> None:
        self.definition = definition
        self.by_id: dict[str, StudyItem] = {item.id: item for item in definition.items}
        self.questions = tuple(question.name for question in definition.asked.questions)
        self.practised = definition.asked.always
        self.status = OPEN
        self.attention_rate = definition.attention_rate
        self.annotators: dict[str, Annotator] = {}
        self.tokens: dict[str, str] = {}
        self.entries: dict[tuple[str, str], Entry] = {}
        self.consent: Consent | None = None
        self.practice: Practice | None = None
        self.prolific: Prolific | None = None
        self.by_pid: dict[str, str] = {}

    def apply(self, row: Mapping[str, Any]) -> None:
        """Take one row in; raises NewerRow for a kind that this version does not know, and Exception for a row that
        makes no sense here; nothing of it counts."""
        if row.get("study") != self.definition.id:
            raise InvalidInput("a row of another study")
        if (kind := row["row"]) not in _KINDS:
            raise NewerRow(f"no row of kind {str(kind)[:40]!r} is known")
        getattr(self, f"_on_{kind}")(row)

    def as_it_stands(self) -> "Ledger":
        """The state now, whose mappings rows that come later do not change."""
        now = copy(self)
        now.annotators, now.tokens, now.by_pid = dict(self.annotators), dict(self.tokens), dict(self.by_pid)
        now.entries = dict(self.entries)
        return now

    def complete(self, entry: Entry | None) -> bool:
        """Whether every question that the answers call for has an answer."""
        if entry is None or entry.skipped is not None:
            return False
        return all(name in entry.answers for name in self.definition.asked.due(entry.answers))

    def finished(self, annotator: str, item: str) -> bool:
        """Whether an annotator is through with an item: answered in full, or skipped."""
        entry = self.entries.get((annotator, item))
        return entry is not None and (entry.skipped is not None or self.complete(entry))

    @property
    def exercises(self) -> dict[str, Exercise]:
        """Practice items by id; none of them is asked about, and no answer to one counts."""
        return {each.item: each for each in self.practice.exercises} if self.practice else {}

    def hits(self, annotator: Annotator, number: int) -> int | None:
        """How many practice items an annotator answered rightly in a try, from 0; None before it is through."""
        answered = annotator.rounds[number] if number < len(annotator.rounds) else {}
        exercises = self.exercises
        if any(len(answered.get(item, {})) < len(self.practised) for item in exercises):
            return None
        return sum(
            not each.misses(resolve(self.by_id[item], self.definition.left_version(annotator.id, item), answered[item]))
            for item, each in exercises.items()
        )

    def passed(self, annotator: Annotator) -> bool | None:
        """Whether practice lets an annotator vote; None while they are at it.

        Whoever voted before there was a practice is not sent back to it.
        """
        if self.practice is None or annotator.voted:
            return True
        tries = [self.hits(annotator, number) for number in range(self.practice.tries)]
        if any(hits is not None and hits >= self.practice.needed for hits in tries):
            return True
        return None if None in tries else False

    def stage(self, annotator: Annotator) -> Stage:
        """What an annotator does next."""
        if self.consent is not None and annotator.accepted != self.consent.digest:
            return Stage.CONSENT
        if not annotator.begun:
            return Stage.INSTRUCTIONS
        return {True: Stage.VOTES, None: Stage.PRACTICE, False: Stage.SCREENED}[self.passed(annotator)]

    def counts(self, annotator: str) -> bool:
        """Whether an annotator's rows count: not withdrawn."""
        found = self.annotators.get(annotator)
        return found is not None and not found.withdrawn

    def votes(self) -> dict[str, int]:
        """Complete votes that count, by item; attention items included."""
        found = dict.fromkeys(self.by_id, 0)
        for (annotator, item), entry in self.entries.items():
            if self.counts(annotator) and self.complete(entry):
                found[item] += 1
        return found

    def _on_status(self, row: Mapping[str, Any]) -> None:
        if row["status"] not in STATUSES:
            raise InvalidInput("no such status")
        self.status = row["status"]

    def _on_settings(self, row: Mapping[str, Any]) -> None:
        self.attention_rate = min(max(float(row["attention_rate"]), 0.0), 0.5)

    def _on_invite(self, row: Mapping[str, Any]) -> None:
        annotator = self.annotators.setdefault(str(row["annotator"]), Annotator(str(row["annotator"])))
        self._forget_token(annotator)
        annotator.name = str(row.get("name", annotator.name))
        annotator.since = _time(row)
        annotator.digest, annotator.nonce = str(row["token_sha256"]), str(row["nonce"])
        annotator.barred = False
        self.tokens[annotator.digest] = annotator.id

    def _on_revoke(self, row: Mapping[str, Any]) -> None:
        annotator = self.annotators[row["annotator"]]
        self._forget_token(annotator)
        annotator.digest = annotator.nonce = None
        annotator.barred = True

    def _on_withdraw(self, row: Mapping[str, Any]) -> None:
        annotator = self.annotators[row["annotator"]]
        self._forget_token(annotator)
        annotator.withdrawn, annotator.digest, annotator.nonce, annotator.queue = True, None, None, ()

    def _on_away(self, row: Mapping[str, Any]) -> None:
        self.annotators[row["annotator"]].away = True

    def _on_begin(self, row: Mapping[str, Any]) -> None:
        annotator = self.annotators[row["annotator"]]
        annotator.begun = True
        _seen(annotator, row)

    def _on_consent(self, row: Mapping[str, Any]) -> None:
        self.consent = Consent.read(row)

    def _on_practice(self, row: Mapping[str, Any]) -> None:
        self.practice = Practice.read(row, self.definition)

    def _on_prolific(self, row: Mapping[str, Any]) -> None:
        self.prolific = Prolific.read(row)

    def _on_join(self, row: Mapping[str, Any]) -> None:
        name, pid = str(row["annotator"]), str(row["pid"])
        if pid in self.by_pid:
            raise InvalidInput("this participant joined before")
        queue = tuple(item for item in row["queue"] if item in self.by_id)
        self.annotators[name] = Annotator(name, pid=pid, since=_time(row), last=_time(row), queue=queue)
        self.by_pid[pid] = name

    def _on_accept(self, row: Mapping[str, Any]) -> None:
        annotator = self.annotators[row["annotator"]]
        annotator.accepted = str(row["text_sha256"])
        _seen(annotator, row)

    def _on_practise(self, row: Mapping[str, Any]) -> None:
        value = self.definition.asked.question(row["question"]).check(row["answer"])
        annotator, item, number = self.annotators[row["annotator"]], self.by_id[row["item"]], int(row["try"])
        if number not in (len(annotator.rounds) - 1, len(annotator.rounds)):
            raise InvalidInput("no such try")
        if number == len(annotator.rounds):
            annotator.rounds.append({})
        annotator.rounds[number].setdefault(item.id, {})[row["question"]] = value
        _seen(annotator, row)

    def _on_assign(self, row: Mapping[str, Any]) -> None:
        for name, queue in row["queues"].items():
            self.annotators[name].queue = tuple(item for item in queue if item in self.by_id)

    def _on_import(self, row: Mapping[str, Any]) -> None:
        self.annotators.setdefault(str(row["annotator"]), Annotator(str(row["annotator"]), imported=True))

    def _on_answer(self, row: Mapping[str, Any]) -> None:
        question = self.definition.asked.question(row["question"])
        value = question.check(row["answer"])
        annotator, entry = self._entry(row)
        before = entry.answers.get(question.name)
        entry.corrections += before is not None and before != value
        entry.answers = entry.answers | {question.name: value}  # whoever goes through the former ones goes on
        entry.skipped = None
        self._finish(annotator, entry, row)

    def _on_skip(self, row: Mapping[str, Any]) -> None:
        annotator, entry = self._entry(row)
        entry.skipped = str(row["reason"])
        self._finish(annotator, entry, row)

    def _on_comment(self, row: Mapping[str, Any]) -> None:
        _, entry = self._entry(row)
        entry.comment = str(row["comment"])

    def _entry(self, row: Mapping[str, Any]) -> tuple[Annotator, Entry]:
        annotator, item = self.annotators[row["annotator"]], self.by_id[row["item"]]
        if row["left"] not in ("original", "variant"):
            raise InvalidInput("no such version")
        entry = self.entries.setdefault((annotator.id, item.id), Entry(row["left"]))
        entry.rows += 1
        entry.left = row["left"]
        annotator.away, annotator.voted = False, True
        _seen(annotator, row)
        return annotator, entry

    def _finish(self, annotator: Annotator, entry: Entry, row: Mapping[str, Any]) -> None:
        item = row["item"]
        if not self.finished(annotator.id, item):
            return
        if item not in annotator.done:
            annotator.done.append(item)
        if entry.finished is None:
            entry.finished = annotator.last
            seconds = row.get("seconds")
            entry.seconds = float(seconds) if isinstance(seconds, int | float) and 0 <= seconds < 1e7 else math.nan

    def _forget_token(self, annotator: Annotator) -> None:
        if annotator.digest is not None:
            self.tokens.pop(annotator.digest, None)


_KINDS = frozenset(name.removeprefix("_on_") for name in vars(Ledger) if name.startswith("_on_"))


def _seen(annotator: Annotator, row: Mapping[str, Any]) -> None:
    when = _time(row)
    annotator.last = annotator.last if when is None else when


def _time(row: Mapping[str, Any]) -> float | None:
    when = row.get("server_time")
    return float(when) if isinstance(when, int | float) and math.isfinite(when) else None
