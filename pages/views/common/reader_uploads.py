"""What readers brought: in memory, each session with its own quota; on the disk for a day, if a server starts again.

Nobody's upload makes another's vanish, and after a day nobody has it. When readers left, the server lets go of what was
theirs and gives what it freed back to the system: Python finds what a session held in circles when it looks for them,
DuckDB keeps what its queries took until a database is closed, and the C library keeps what lies in pieces; without
readers none of them does by itself.
"""

import re
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock, RLock, Timer
from typing import Generic, TypeVar
from uuid import uuid4

import streamlit as st
from streamlit import runtime
from streamlit.runtime import RuntimeState

from core.corpora.decoding_apart import end_processes
from core.errors import NotAvailable, StoreError
from core.evaluators.memory import give_back
from core.store.store import give_back_buffers
from core.writing import sweep, write_bytes

V = TypeVar("V")
_MB = 1 << 20
IDLE_S = 3600.0  # seconds after which an upload that nobody looked at may make room for a new one
AWAY_S = 150.0  # seconds that a browser may be away: Streamlit lets its session go after two minutes


def session() -> str:
    """Return the name of this session among the owners of uploads; a reload of the page is another session."""
    return str(st.session_state.setdefault("uploads.owner", uuid4().hex))


def let_go(names: tuple[str, ...], *, most: int, most_mb: int) -> str:
    """Return the sentence about a session's own uploads that it lost to a new one; empty where it lost none."""
    held = f"A session has {most} uploads, at most {most_mb} MB"
    return f"{held}: {', '.join(names)} made room for the new one." if names else ""


@dataclass(slots=True)
class _Held(Generic[V]):
    value: V
    name: str
    size: int
    seen: dict[str, float] = field(default_factory=dict)  # owner -> when it last looked
    given: bool = False  # whether it was given to whoever presents


class Uploads(Generic[V]):
    """Values by key, each of the sessions that brought it or opened its link; safe between threads. ``each``: most that
    one session holds; it loses its own oldest. ``each_mb``: most that one session holds, in MB of 2**20 bytes;
    likewise. ``total_mb``: most that all hold together; a newcomer is refused where only what is in use could make
    room. ``idle_s``: seconds after which what nobody looked at is no longer in use. ``clock``: seconds that never go
    back. ``forget``: told of each value that is let go of, for what was made of it."""

    def __init__(
        self,
        *,
        each: int,
        each_mb: float,
        total_mb: float,
        idle_s: float = IDLE_S,
        clock: Callable[[], float] = time.monotonic,
        forget: Callable[[V], object] | None = None,
    ) -> None:
        self._each, self._each_bytes, self._total_bytes = each, int(each_mb * _MB), int(total_mb * _MB)
        self._idle_s, self._clock, self._forget = idle_s, clock, forget
        self._held: dict[str, _Held[V]] = {}
        self._left: dict[str, float] = {}
        self._lock = RLock()

    def put(self, key: str, value: V, *, name: str, size: int, owner: str) -> tuple[str, ...]:
        """Keep an upload; returns the names of the owner's own that it replaced, the oldest first. ``key``: what links
        call it; the same picture has the same key whoever brings it. ``size``: in bytes. ``owner``: the session; see
        :func:`session`. Raises NotAvailable where it does not fit beside what others use; nothing is changed then."""
        with self._lock:
            self.forget_who_left()
            if key in self._held:
                return self._adopt(key, owner)
            leaving = self._too_many(owner, size)
            freed = {each for each in leaving if set(self._held[each].seen) == {owner}}
            # at which nobody looked for long, the longest first
            last = {each: max(held.seen.values()) for each, held in self._held.items() if each not in freed}
            spare = sorted((each for each in last if last[each] < self._clock() - self._idle_s), key=last.__getitem__)
            needed = self.taken - sum(self._held[each].size for each in freed) + size - self._total_bytes
            while needed > 0 and spare:
                freed.add(idle := spare.pop(0))
                needed -= self._held[idle].size
            if needed > 0:
                raise NotAvailable(
                    f"other readers' uploads take {self.taken / _MB:.0f} MB of the server's "
                    f"{self._total_bytes / _MB:.0f} MB; try {name} again later: what nobody looks at for "
                    f"{self._idle_s / 60:.0f} minutes makes room"
                )
            names = tuple(self._held[each].name for each in leaving)
            for each in leaving:
                self._held[each].seen.pop(owner)
            for each in freed:
                self._remove(each)
            self._held[key] = _Held(value, name, size, {owner: self._clock()})
            return names

    def get(self, key: str, *, owner: str) -> V | None:
        """Return an upload, which the owner then holds as its own; None where it is not (or no longer) there."""
        with self._lock:
            self.forget_who_left()
            if key not in self._held:
                return None
            self._adopt(key, owner)
            return self._held[key].value

    def leave(self, owner: str) -> None:
        """Note that an owner's browser went away: what it alone holds goes unless it comes back, or it was given."""
        with self._lock:
            self._left[owner] = self._clock()

    def forget_who_left(self) -> None:
        """Let go of what they alone held, once they are away for AWAY_S."""
        with self._lock:
            gone = {owner: left for owner, left in self._left.items() if left < self._clock() - AWAY_S}
            for owner, left in gone.items():
                del self._left[owner]
                for key in [key for key, held in self._held.items() if not held.given and owner in held.seen]:
                    seen = self._held[key].seen
                    if seen[owner] <= left:
                        del seen[owner]
                    if not seen:
                        self._remove(key)

    def give(self, key: str, *, given: bool = True) -> None:
        """Mark an upload as given to whoever presents, or take the mark away; nothing where it is gone."""
        with self._lock:
            if key in self._held:
                self._held[key].given = given

    def given(self) -> tuple[tuple[str, str, V], ...]:
        """(key, name, value) of what was given, in the order in which it came; looking makes it nobody's."""
        with self._lock:
            return tuple((key, held.name, held.value) for key, held in self._held.items() if held.given)

    @property
    def taken(self) -> int:
        """Bytes that all uploads take together."""
        return sum(each.size for each in self._held.values())

    def _remove(self, key: str) -> None:
        value = self._held.pop(key).value
        if self._forget is not None:
            self._forget(value)

    def _adopt(self, key: str, owner: str) -> tuple[str, ...]:
        held = self._held[key]
        leaving = () if owner in held.seen else self._too_many(owner, held.size)
        held.seen[owner] = self._clock()
        for each in leaving:
            self._held[each].seen.pop(owner)
        names = tuple(self._held[each].name for each in leaving)
        for each in leaving:
            if not self._held[each].seen:
                self._remove(each)
        return names

    def _too_many(self, owner: str, size: int) -> tuple[str, ...]:
        """Keys that an owner must let go to hold so many bytes more, the oldest first."""
        seen = {key: held.seen[owner] for key, held in self._held.items() if owner in held.seen}
        own = sorted(seen, key=seen.__getitem__)
        leaving = 0
        kept = sum(self._held[each].size for each in own)
        while leaving < len(own) and (len(own) - leaving >= self._each or kept + size > self._each_bytes):
            kept -= self._held[own[leaving]].size
            leaving += 1
        return tuple(own[:leaving])


DAY_S = 24 * 3600.0  # seconds after which a file is deleted, whoever looked at it meanwhile
_KEY = re.compile(r"[0-9a-f]{32}")


class DayFolder:
    """Files by the digest of what they hold, which only who has it or its link can name; safe between threads.
    ``folder``: of these files alone; only this user can read it. ``most_mb``: most that they take together, in MB of
    2**20 bytes; the oldest goes first. ``most``: files at most; likewise. ``clock``: seconds since 1970."""

    def __init__(
        self, folder: Path, *, most_mb: float, most: int = 1000, clock: Callable[[], float] = time.time
    ) -> None:
        self._folder, self._most_bytes, self._most = folder, int(most_mb * 2**20), most
        self._clock, self._lock = clock, Lock()

    def put(self, key: str, data: bytes) -> None:
        """Keep a file from now on for a day; nothing where it is larger than all may be, or the disk refuses."""
        if not _KEY.fullmatch(key) or len(data) > self._most_bytes:
            return
        with self._lock, suppress(StoreError, OSError):
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._sweep(most_bytes=self._most_bytes - len(data), most=self._most - 1)
            write_bytes(self._folder / key, data)
            (self._folder / key).chmod(0o600)

    def get(self, key: str) -> bytes | None:
        """Return a file of the last day; None where it is not there any more."""
        if not _KEY.fullmatch(key):
            return None
        with self._lock, suppress(OSError):
            self._sweep(most_bytes=self._most_bytes, most=self._most)
            return (self._folder / key).read_bytes()
        return None

    def _sweep(self, *, most_bytes: int, most: int) -> None:
        """Delete what is older than a day, then the oldest until the rest is within the bounds."""
        sweep(self._folder)
        found = [(each.stat(), each) for each in self._folder.glob("*") if _KEY.fullmatch(each.name)]
        found.sort(key=lambda each: each[0].st_mtime)
        size, many = sum(told.st_size for told, _ in found), len(found)
        for told, path in found:
            if told.st_mtime > self._clock() - DAY_S and size <= most_bytes and many <= most:
                break
            path.unlink(missing_ok=True)
            size, many = size - told.st_size, many - 1


EVERY_S = 60.0
"""Seconds from one time to the next, while readers leave and until the sessions of those who left have expired."""

Later = Callable[[float, Callable[[], None]], object]  # has something done in so many seconds


def _in_a_thread(seconds: float, what: Callable[[], None]) -> None:
    timer = Timer(seconds, what)
    timer.daemon = True
    timer.start()


def _nobody() -> bool:
    return runtime.exists() and runtime.get_instance().state is RuntimeState.NO_SESSIONS_CONNECTED


class Leaving:
    """Tidies up while readers leave, and after; safe between threads. ``clock``: seconds that never go back."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        later: Later = _in_a_thread,
        nobody: Callable[[], bool] = _nobody,
    ) -> None:
        self._clock, self._later, self._nobody = clock, later, nobody
        self._left_last, self._waits = 0.0, False
        self._lock = RLock()  # a session may end wherever Python collects garbage, here too
        self._forget: list[Callable[[bool], object]] = []

    def also(self, forget: Callable[[bool], object]) -> None:
        """Have that let go of what it may, each time; it is told whether nobody is there."""
        self._forget.append(forget)

    def left(self) -> None:
        """Note that somebody left."""
        with self._lock:
            self._left_last = self._clock()
            waits, self._waits = self._waits, True
        if not waits:
            self._later(EVERY_S, self.tidy)

    def tidy(self) -> None:
        """Let go, give back, and do so again while readers leave."""
        nobody = self._nobody()
        try:
            for forget in self._forget:
                forget(nobody)
            if nobody:
                end_processes()
            give_back_buffers()
            give_back()
        finally:
            with self._lock:
                self._waits = self._clock() - self._left_last < AWAY_S + EVERY_S
            if self._waits:
                self._later(EVERY_S, self.tidy)


LEAVING = Leaving()  # of this server


@st.cache_resource(scope="session", show_spinner=False, on_release=lambda _: LEAVING.left())
def expect_to_leave() -> bool:
    """Have it noted when this session ends, in each run of ``app.py``."""
    return True
