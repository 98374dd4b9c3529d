"""Studies on disk: their definition, their log, and everything that may be done to them.

A study is a folder ``data/studies/<id>/``: ``study.json`` (fixed), ``log.jsonl`` (append-only), ``secret``. Any
number of threads and processes may hold a Study; each sees what the others wrote.
"""

import math
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core import settings
from core.errors import InvalidInput, StoreError
from core.features.human.definition import DEFINITION, Definition, StudyItem, check_study_id, read_definition
from core.features.human.entrance import (
    SECRET,
    Stage,
    digest,
    make_token,
    new_nonce,
    read_secret,
    well_formed,
    write_secret,
)
from core.features.human.kinds import Value
from core.features.human.ledger import CLOSED, OPEN, STATUSES, Annotator, Entry, Ledger
from core.features.human.sharing import left_behind, shared_queues, waiting_items
from core.store.log import Log, Replay, Writer
from core.store.text_files import write_json
from core.writing import write_folder_whole

LOG = "log.jsonl"
IDLE_HOURS = 48.0
"""After so long without an answer an annotator counts as gone when somebody else has nothing left to do."""

COMMENT_LIMIT = 1000
ANNOTATOR_LIMIT = 500


class Refused(InvalidInput):
    """Something that a study does not take now; the text is for the annotator."""


class Superseded(Refused):
    """The item changed since it was shown, in another tab or by a second press."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where an annotator is."""

    item: StudyItem | None  # what to show, or None where nothing is left
    left: str  # version that stands left (A); the only one of a single image
    entry: Entry | None  # what they said of it so far
    number: int  # 1-based place of the item among theirs
    total: int  # items that are theirs, done and planned
    done: int  # how many they are through with
    back: str | None  # the item finished before this one, or None
    revisited: bool  # whether the item was finished before and is shown again


class Study:
    """One study; ``clock`` tells seconds since 1970, and order never depends on it. Raises StoreError if the folder has
    no study that can be read."""

    def __init__(self, folder: Path, *, clock: Callable[[], float] = time.time) -> None:
        self.folder = Path(folder)
        self.definition = read_definition(self.folder)
        self._clock = clock
        self._log = Log(self.folder / LOG)
        self._lock = threading.RLock()
        self._read: tuple[int, Ledger]  # how much of the log, and what it adds up to, as state() returns it
        self._begin()

    @classmethod
    def create(cls, parent: Path, definition: Definition, *, clock: Callable[[], float] = time.time) -> "Study":
        """Write a new study and open it; raises InvalidInput if there is one of that id, or a number is out of range,
        and StoreError if it cannot be written."""
        check_study_id(definition.id)
        if not 1 <= definition.per_item <= 50:
            raise InvalidInput(f"an item takes 1 to 50 annotators, got {definition.per_item}")
        if not 0 <= definition.attention_rate <= 0.5:
            raise InvalidInput(f"the rate of attention items lies in [0, 0.5], got {definition.attention_rate}")
        folder = Path(parent) / definition.id
        if folder.exists():
            raise InvalidInput(f"there is a study {definition.id!r} already; choose another name")

        def fill(new: Path) -> None:
            write_secret(new)
            write_json(new / DEFINITION, definition.to_json())
            cls(new, clock=clock).set_status(OPEN)

        write_folder_whole(folder, fill, standing="refused")
        return cls(folder, clock=clock)

    # Reading

    @property
    def id(self) -> str:
        """Name of the study's folder."""
        return self.definition.id

    @property
    def live(self) -> bool:
        """Whether votes may still come in, so that what is said of them has to hold at every look."""
        return self.state().status != CLOSED

    @property
    def log_path(self) -> Path:
        """The log file: what a cached table depends on."""
        return self._log.path

    def state(self) -> Ledger:
        """The present state, with what other processes wrote; not to be changed. What is written later, by whomever,
        changes none of its mappings: a session may go through them while others vote."""
        with self._lock:
            self._refresh()
            if self._read[0] != self._replay.end:
                self._read = self._replay.end, self._ledger.as_it_stands()
            return self._read[1]

    def problems(self) -> tuple[str, ...]:
        """Sentences about what of the log could not be used."""
        with self._lock:
            self._refresh()
            return self._replay.told()

    def check(self) -> bool:
        """Whether every vote of the log could be read; one that was never written to its end is none. Raises StoreError
        if nothing can be said of the votes: the log is empty or gone, or a newer version wrote to it."""
        with self._lock:
            self._refresh()
            self._replay.check()
            return not self._replay.lost

    def annotator_of(self, token: object) -> str:
        """Return whose token it is; raises Refused if it is nobody's (any more)."""
        if well_formed(token):
            with self._lock:
                self._refresh()
                annotator = self._ledger.tokens.get(digest(str(token)))
            if annotator is not None:
                return annotator
        raise Refused("This link is not valid, or not any more; ask the person who sent it to you for a new one.")

    def token(self, annotator: str) -> str | None:
        """The annotator's present token, to show it to the coordinator; None where it cannot be shown."""
        found = self._annotator(annotator)
        secret = read_secret(self.folder)
        if found.nonce is None or secret is None:
            return None
        token = make_token(secret, annotator, found.nonce)
        return token if digest(token) == found.digest else None

    def place(self, annotator: str, *, at: str | None = None) -> Place:
        """Where an annotator goes on; with ``at``, an item of theirs that they went back to.

        Work that somebody left behind is handed over here, once the annotator has nothing else to do.
        """
        with self._lock:
            self._refresh()
            found = self._annotator(annotator)
            waiting = waiting_items(self._ledger, found)
            if (
                not waiting
                and at is None
                and found.pid is None
                and self._ledger.status == OPEN
                and left_behind(self._ledger, found, silent_since=self._silent_since())
            ):
                self._hand_over(found)
                waiting = waiting_items(self._ledger, found)
            done = found.done
            total = len(done) + len(waiting)
            if at in done:
                index = done.index(at)
                return self._place(found, at, index + 1, total, done[index - 1] if index else None, revisited=True)
            item = waiting[0] if waiting else None
            return self._place(found, item, len(done) + 1, total, done[-1] if done else None, revisited=False)

    def has_nothing_for(self, annotator: str) -> bool:
        """Whether somebody who was invited came too late: nothing is theirs, and nobody left anything behind."""
        with self._lock:
            self._refresh()
            found = self._annotator(annotator)
            late = found.active and found.pid is None and not found.done and not found.queue
            return late and not left_behind(self._ledger, found, silent_since=self._silent_since())

    def next_items(self, annotator: str, count: int) -> tuple[StudyItem, ...]:
        """The next items of an annotator, so that their pictures can be made ahead."""
        with self._lock:
            self._refresh()
            return tuple(
                self._ledger.by_id[item] for item in waiting_items(self._ledger, self._annotator(annotator))[:count]
            )

    # The coordinator

    def set_status(self, status: str) -> None:
        """Open, pause or close the study; raises InvalidInput for another word."""
        if status not in STATUSES:
            raise InvalidInput(f"a study is {', '.join(STATUSES)}, got {status!r}")
        self._write(lambda: [{"row": "status", "status": status}])

    def set_attention_rate(self, rate: float) -> None:
        """Change how often attention items come, for what is still to be shown; raises InvalidInput if the rate is not
        in [0, 0.5]."""
        if not 0 <= rate <= 0.5:
            raise InvalidInput(f"the rate of attention items lies in [0, 0.5], got {rate}")
        self.record(lambda _: [{"row": "settings", "attention_rate": rate}], share=True)

    def invite(self, names: Sequence[str]) -> tuple[str, ...]:
        """Invite annotators by names, for the coordinator only and maybe empty, and share the work among all; return
        their ids, whose links :meth:`token` gives."""
        secret = self.secret()
        made: list[str] = []

        def rows(ledger: Ledger) -> list[dict[str, Any]]:
            taken = len(ledger.annotators)
            if taken + len(names) > ANNOTATOR_LIMIT:
                raise InvalidInput(f"a study takes at most {ANNOTATOR_LIMIT} annotators, got {taken + len(names)}")
            made[:] = free_ids(ledger, len(names))
            return [_invitation(secret, made[index], name[:120]) for index, name in enumerate(names)]

        self.record(rows, share=True)
        return tuple(made)

    def renew(self, annotator: str) -> str:
        """Give an annotator a new link; the old one stops working. Returns the token."""
        secret = self.secret()
        if self._annotator(annotator).withdrawn:
            raise InvalidInput(f"annotator {annotator} was withdrawn; invite a new one")
        self._write(lambda: [_invitation(secret, annotator, self._annotator(annotator).name)])
        token = self.token(annotator)
        assert token is not None
        return token

    def revoke(self, annotator: str) -> None:
        """Stop a link; the votes stay and count."""
        self._of_annotator("revoke", annotator)

    def withdraw(self, annotator: str) -> None:
        """Take an annotator's rows out of every count; the log keeps them under a tombstone."""
        self._of_annotator("withdraw", annotator)

    def mark_away(self, annotator: str) -> None:
        """Hand what an annotator left to the others; an answer brings the annotator back."""
        self._of_annotator("away", annotator)

    # The annotator

    def begin(self, annotator: str) -> None:
        """Note that the instructions were read."""
        self._write(lambda: [{"row": "begin", "annotator": self._consenting(annotator).id}])

    def answer(
        self,
        annotator: str,
        item: str,
        question: str,
        value: Value,
        *,
        seen: int,
        seconds: float = math.nan,
        client_time: float | None = None,
    ) -> None:
        """Store one answer; it is on the disk when this returns. A later answer corrects it.

        ``seen``: rows of this entry when it was shown (``entry.rows``, 0 for none); ``seconds`` since the item was
        shown, by a clock that does not jump; ``client_time``: the annotator's clock, seconds since 1970, or None.
        Raises Superseded if the entry has changed since, nothing is written; Refused if the study is not open or the
        annotator may not vote; InvalidInput for an unknown item, question or answer.
        """
        checked = self.definition.asked.question(question).check(value)

        fields = {"row": "answer", "question": question, "answer": checked}
        self._write(lambda: [self._about(annotator, item, seconds, client_time, seen=seen) | fields])

    def skip(
        self,
        annotator: str,
        item: str,
        reason: str,
        *,
        seen: int,
        seconds: float = math.nan,
        client_time: float | None = None,
    ) -> None:
        """Skip an item, saying why; see :meth:`answer`. An answer to it later takes the skip back."""

        def rows() -> list[dict[str, Any]]:
            about = self._about(annotator, item, seconds, client_time, seen=seen)
            if not reason.strip():
                raise InvalidInput("a skip needs a reason; choose or write one")
            return [about | {"row": "skip", "reason": reason[:200]}]

        self._write(rows)

    def comment(self, annotator: str, item: str, text: str) -> None:
        """Store a comment on an item; a later one replaces it."""
        self._write(lambda: [self._about(annotator, item) | {"row": "comment", "comment": text[:COMMENT_LIMIT]}])

    # Other modules of this room

    def record(self, rows: Callable[[Ledger], list[dict[str, Any]]], *, share: bool = False) -> None:
        """Append rows that are made of the state as it is then, while nobody else can write; what the maker raises is
        passed on, and nothing is written. ``share``: share anew afterwards what is still needed."""
        self._write(lambda: rows(self._ledger))
        if share:
            self._assign()

    def secret(self) -> str:
        """What tokens are made of; for this room alone. Raises StoreError if it is gone."""
        secret = read_secret(self.folder)
        if secret is None:
            raise StoreError(f"{self.folder / SECRET} is gone; restore it from a copy: new links need it")
        return secret

    def now(self) -> float:
        """The study's clock, in seconds since 1970."""
        return self._clock()

    # Inside

    def _write(self, rows: Callable[[], list[dict[str, Any]]]) -> None:
        with self._lock, self._log.writing() as writer:
            self._refresh()
            self._append(writer, rows())

    def _append(self, writer: Writer, rows: Sequence[dict[str, Any]]) -> None:
        stamp = {"study": self.id, "server_time": round(self._clock(), 3)}
        writer.append([{**row, **stamp} for row in rows])
        self._refresh()

    def _begin(self) -> None:
        self._ledger = Ledger(self.definition)
        self._replay = Replay(self._log, self._ledger.apply)
        self._read = -1, self._ledger

    def _refresh(self) -> None:
        if self._log.size() < self._replay.end:  # restored from a copy
            self._begin()
        self._replay.refresh()

    def _annotator(self, annotator: str) -> Annotator:
        with self._lock:
            self._refresh()
            found = self._ledger.annotators.get(annotator)
        if found is None:
            raise InvalidInput(f"study {self.id!r} has no annotator {annotator[:40]!r}")
        return found

    def _consenting(self, annotator: str) -> Annotator:
        """An annotator who works now and agreed, where consent is asked."""
        found = self._annotator(annotator)
        if not found.active:
            raise Refused("Your link does not work any more; ask the person who sent it to you.")
        if self._ledger.status != OPEN:
            raise Refused(f"The study is {self._ledger.status} now; what you answered before is kept.")
        if self._ledger.stage(found) is Stage.CONSENT:
            raise Refused("The study asks for your consent first; open your link again and read it.")
        return found

    def _about(
        self,
        annotator: str,
        item: str,
        seconds: float = math.nan,
        client_time: float | None = None,
        *,
        seen: int | None = None,
    ) -> dict[str, Any]:
        """What a row says of one item, for an annotator who works now, agreed, and whom practice let pass; Superseded
        where its entry has another number of rows than were seen."""
        if self._ledger.passed(self._consenting(annotator)) is not True:
            raise Refused("The study asks you to practise first; open your link again.")
        if item not in self._ledger.by_id or item in self._ledger.exercises:
            raise InvalidInput(f"study {self.id!r} has no item {item[:40]!r}")
        entry = self._ledger.entries.get((annotator, item))
        rows = entry.rows if entry else 0
        if seen not in (None, rows):
            raise Superseded("This item was answered in another tab or by a second press; here is where you are.")
        return {
            "annotator": annotator,
            "item": item,
            "version": rows + 1,
            "left": self.definition.left_version(annotator, item),
            "seconds": round(seconds, 3) if math.isfinite(seconds) and seconds >= 0 else None,
            "client_time": client_time if client_time is not None and math.isfinite(client_time) else None,
        }

    def _place(
        self, found: Annotator, item: str | None, number: int, total: int, back: str | None, *, revisited: bool
    ) -> Place:
        if item is None:
            return Place(None, "", None, number, total, len(found.done), back, False)
        entry = self._ledger.entries.get((found.id, item))
        left = self.definition.left_version(found.id, item)
        return Place(self._ledger.by_id[item], left, entry, number, total, len(found.done), back, revisited)

    def _silent_since(self) -> float:
        return self._clock() - IDLE_HOURS * 3600

    def _hand_over(self, asking: Annotator) -> None:
        with self._log.writing() as writer:
            self._refresh()
            rows = [
                {"row": "away", "annotator": name}
                for name in left_behind(self._ledger, asking, silent_since=self._silent_since())
            ]
            if rows:
                self._append(writer, rows)
        if rows:
            self._assign()

    def _of_annotator(self, row: str, annotator: str) -> None:
        self.record(lambda _: [{"row": row, "annotator": self._annotator(annotator).id}], share=True)

    def _assign(self) -> None:
        self._write(lambda: [{"row": "assign", "queues": shared_queues(self._ledger)}])


def studies_dir() -> Path:
    """Folder of all studies."""
    return settings.data_dir() / "studies"


def list_studies(parent: Path | None = None) -> tuple[list[Study], list[str]]:
    """Open every study of a folder: the studies by name, and a sentence for each that cannot be used, or whose log has
    rows that do not count."""
    folder = studies_dir() if parent is None else Path(parent)
    found, problems = [], []
    for path in sorted(folder.iterdir()) if folder.is_dir() else []:
        if (path / DEFINITION).is_file():
            try:
                study = Study(path)
                study.check()
            except StoreError as error:
                problems.append(f"Study {path.name} is left out: {error}")
            else:
                found.append(study)
                problems += study.problems()
    return found, problems


def free_ids(ledger: Ledger, count: int) -> list[str]:
    """Ids for so many new annotators."""
    ids = (f"a{number:02d}" for number in range(1, len(ledger.annotators) + count + 1))
    return [each for each in ids if each not in ledger.annotators][:count]


def _invitation(secret: str, annotator: str, name: str) -> dict[str, Any]:
    nonce = new_nonce()
    token = make_token(secret, annotator, nonce)
    return {"row": "invite", "annotator": annotator, "name": name, "nonce": nonce, "token_sha256": digest(token)}
