"""A reader of a long life: comes, brings pictures, looks at views, votes, starts an audit, leaves, and comes again.

Everything that a guest brings has its own mark; what a page draws may hold no mark of another guest.
"""

import random
import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import product

from bench.annotator import Annotator
from bench.visitor import PATIENCE_S, Gone, Visitor
from core.features.feature import views
from siege.crowd import LINK, Answer, Key, answered
from siege.trials import Finding

VIEWS = tuple(each.name for each in views())
AUDIT = "corpus=demo&probes=vflip&evaluators=conse-lite0&limit=8&run_id="
AUDIT_EVERY_S = 600.0
"""Seconds between two audits that guests start, whoever does: one takes a core for several seconds."""

STAYS_S = (60.0, 300.0)
AWAY_S = (5.0, 60.0)
PAUSE_S = (20.0, 60.0)
"""Least and most seconds that a guest stays, is away, and looks at what a page shows."""

LOOK_S, ITEMS_S = 2.0, 15.0
"""Seconds that a guest looks at an item of the study, and that it votes before it leaves the study."""

_KEYS = tuple(product("123", "456", "789"))
_MARK = re.compile(rb"guest(\d+)x")

Told = dict[tuple[str, str, str], str]
"""(annotator, item, question) -> answer, of what a screen told to be kept."""


@dataclass
class Life:
    """What the guests of one server have in common.

    Args:
        address: host:port of the server.
        until: when the last of them leaves, by ``time.monotonic()``.
        pictures: of all guests.
        names: of the study's annotators, one a guest, and their tokens.
        answers: what the lab gave.
        votes: answers that a screen told to be kept.
        audits: ids of the runs that were asked for.
        looks: views that were looked at without a complaint.
        visits: that began.
        found: what went wrong: who was at what, and what it was.
        here: guests who are there now.
        audited: when the last audit was asked for.
    """

    address: str
    until: float
    pictures: Mapping[Key, bytes]
    names: list[tuple[str, str]]
    answers: list[Answer] = field(default_factory=list)
    votes: Told = field(default_factory=dict)
    audits: list[str] = field(default_factory=list)
    looks: int = 0
    visits: int = 0
    found: list[tuple[str, str]] = field(default_factory=list)
    here: set[int] = field(default_factory=set)
    audited: float = 0.0
    lock: threading.Lock = field(default_factory=threading.Lock)


class Guest(threading.Thread):
    """One of them.

    Args:
        who: its number.
        life: what it shares with the others.
        seed: of what it does when.
    """

    def __init__(self, who: int, life: Life, seed: int) -> None:
        super().__init__(daemon=True)
        self._who, self._life, self._turn = who, life, 0
        self._rng = random.Random(f"{seed}/{who}")
        self._own = [key for key in life.pictures if key[0] == who]

    def run(self) -> None:
        """Come and go until the life is over."""
        time.sleep(self._rng.uniform(0, AWAY_S[1]))
        while time.monotonic() < self._life.until:
            self._life.here.add(self._who)
            try:
                self._visit()
            except Gone as error:
                self._life.found.append((f"guest {self._who} at the door", str(error)))
            self._life.here.discard(self._who)
            self._wait(AWAY_S)

    def everything(self) -> None:
        """Open every view, and use every kind of work once, without a pause: the server keeps for all what it loads.

        Raises:
            Gone: if the server goes away, or a page shows an error.
        """
        with Visitor(self._life.address, "probe_lab", LINK) as visitor:
            self._bring(visitor)
            for view in VIEWS:
                self._look(visitor, view)
            self._audit(visitor)
        self._vote()

    def _visit(self) -> None:
        self._life.visits += 1
        leaves = min(time.monotonic() + self._rng.uniform(*STAYS_S), self._life.until)
        with Visitor(self._life.address, "probe_lab", LINK) as visitor:
            while time.monotonic() < leaves:
                name, action = self._chosen(visitor)
                try:
                    action()
                    check_marks(visitor.drawn, self._who)
                except (Gone, Finding) as error:
                    self._life.found.append((f"guest {self._who}, {name}", str(error)))
                    return
                self._wait(PAUSE_S)

    def _chosen(self, visitor: Visitor) -> tuple[str, Callable[[], None]]:
        chance = self._rng.random()
        if chance < 0.35:
            return "a picture", partial(self._bring, visitor)
        if chance < 0.5:
            return "votes", self._vote
        with self._life.lock:
            if time.monotonic() - self._life.audited > AUDIT_EVERY_S:
                self._life.audited = time.monotonic()
                return "an audit", partial(self._audit, visitor)
        view = self._rng.choice(VIEWS)
        return view, partial(self._look, visitor, view)

    def _bring(self, visitor: Visitor) -> None:
        key = self._own[self._turn % len(self._own)]
        self._turn += 1
        visitor.go("probe_lab", LINK)
        self._life.answers.append(answered(visitor, key, self._life.pictures[key]))

    def _look(self, visitor: Visitor, view: str) -> None:
        visitor.go(view)
        self._life.looks += 1

    def _audit(self, visitor: Visitor) -> None:
        name = f"life-{len(self._life.audits)}-{self._who}"
        visitor.go("run_audit", AUDIT + name)
        visitor.press("run.start")
        self._life.audits.append(name)

    def _vote(self) -> None:
        name, token = self._life.names[self._who]
        one = Annotator(self._life.address, token, look=LOOK_S, keys=_KEYS[self._who % len(_KEYS)])
        one.start()
        one.stopped.wait(ITEMS_S)
        one.stopped.set()
        one.join(PATIENCE_S)
        self._life.votes |= {(name, item, question): answer for (item, question), answer in one.answers.items()}
        if one.problem:
            raise Gone(one.problem)

    def _wait(self, least_most: tuple[float, float]) -> None:
        left = self._life.until - time.monotonic()
        time.sleep(max(0.0, min(self._rng.uniform(*least_most), left)))


def check_marks(drawn: list, who: int) -> None:  # type: ignore[type-arg]
    """Find out whether a page shows a guest what another brought."""
    seen = {int(number) for each in drawn for number in _MARK.findall(each.SerializeToString())}
    if others := sorted(seen - {who}):
        raise Finding("lost", f"the page names what guest {others[0]} brought")
