"""Thirty sessions on the Probe lab of one server for minutes, each with its own pictures: nobody gets another's.

They speak the page's own messages without a browser. Each picture is answered to a lone session first, on a server of
its own; then to all at once, on another, so that nothing is kept from before. The page's file of results, with every
score, must be the same to the byte.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from bench.server import Server
from bench.visitor import Gone, Visitor
from siege.material import data_folder
from siege.pictures import rough_png
from siege.trials import Finding, Tally

SESSIONS, SECONDS = 30, 300.0
QUICK_SESSIONS, QUICK_SECONDS = 4, 3.0

EACH = 3
"""Pictures of a session, in turn; one in the short form.

With thirty sessions that is more than the server keeps results of, so that they are computed again and again.
"""

LINK = "source=upload&evaluators=conse-lite0"

Key = tuple[int, int]
"""(session, picture)."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a session got.

    Args:
        key: of whose picture which.
        found: the page's file of results; None where there is none.
        said: what went wrong instead.
        seconds: from the picture on its way to the file.
        again: times that the file had to be asked for again.
    """

    key: Key
    found: bytes | None
    said: str
    seconds: float
    again: int = 0


def run(tally: Tally, seed: int, *, quick: bool, sessions: int | None = None, seconds: float | None = None) -> None:
    """Compare what each gets beside all others with what a lone session got."""
    count = sessions or (QUICK_SESSIONS if quick else SESSIONS)
    lasts = seconds or (QUICK_SECONDS if quick else SECONDS)
    each_has = 1 if quick else EACH
    pictures = {(who, turn): rough_png(seed + 1000 * who + turn) for who in range(count) for turn in range(each_has)}
    with data_folder() as data:
        with Server(data) as server:
            alone = {key: lone_answer(server, key, pictures[key]) for key in pictures}
        with Server(data) as server:
            lone_answer(server, (count, 0), rough_png(seed - 1))  # the models are loaded, whoever comes
            before = server.resident_mb()
            with _watched(server) as most:
                answers = _crowd(server, pictures, count, lasts)
            grown = max(0.0, most[0] - before)
    for each in answers:
        tally.attempt(f"session {each.key[0]}, picture {each.key[1]}", partial(same, each, alone), timed=False)
    tally.note_growth(grown)
    slowest = max((each.seconds for each in answers), default=0.0)
    again = sum(each.again for each in answers)
    tally.notes.append(
        f"{count} sessions at once for {lasts:.0f} s, {len(pictures)} pictures: {len(answers)} answers, the slowest "
        f"after {slowest:.1f} s; the server and its decoders grew by {grown:.0f} MB at most, from {before:.0f} MB; "
        f"{again} times a file was asked for again, since Streamlit had let go of it"
    )


def lone_answer(server: Server, key: Key, picture: bytes) -> bytes:
    """What the page's file of results holds for a session that has the server to itself."""
    with Visitor(server.address, "probe_lab", LINK) as visitor:
        found = answered(visitor, key, picture)
    if found.found is None:
        raise Finding("lost", f"a lone session has no scores: {found.said}")
    return found.found


def _crowd(server: Server, pictures: dict[Key, bytes], count: int, lasts: float) -> list[Answer]:
    """All begin at once and go on until the time is over; each ends what it began."""
    answers: list[Answer] = []
    begin, until = threading.Barrier(count), [0.0]

    def one(who: int) -> None:
        try:
            visitor = Visitor(server.address, "probe_lab", LINK)
        except Gone as error:
            answers.append(Answer((who, 0), None, str(error), 0.0))
            begin.wait()
            return
        if begin.wait() == 0:
            until[0] = time.monotonic() + lasts
        with visitor:
            turn = 0
            while turn == 0 or time.monotonic() < until[0]:
                key = who, turn % (len(pictures) // count)
                answers.append(answered(visitor, key, pictures[key]))
                turn += 1

    threads = [threading.Thread(target=one, args=(who,)) for who in range(count)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    return answers


def answered(visitor: Visitor, key: Key, picture: bytes) -> Answer:
    """Upload a picture, name its object, and take the file of results."""
    start, before, found, said = time.perf_counter(), visitor.pressed_again, None, ""
    try:
        visitor.upload("lab.file", f"guest{key[0]}x{key[1]}.png", picture)
        visitor.type("lab.label", "bicycle")
        found = visitor.download("lab.json")
    except Gone as error:
        said = str(error)
    return Answer(key, found, said, time.perf_counter() - start, visitor.pressed_again - before)


def same(answer: Answer, alone: dict[Key, bytes]) -> None:
    """Find out whether a session got what a lone one got for its picture."""
    if answer.found is None:
        raise Finding("lost", f"no scores: {answer.said}")
    if answer.found == alone[answer.key]:
        return
    others = [key for key, each in alone.items() if each == answer.found]
    whose = f"those of session {others[0][0]}" if others else f"{answer.found[:300]!r}"
    raise Finding("lost", f"scores other than a lone session has: {whose}")


@contextmanager
def _watched(server: Server) -> Iterator[list[float]]:
    """The most memory, in MB, that the server and its decoders hold meanwhile, looked at twice a second."""
    most, done = [server.resident_mb()], threading.Event()

    def look() -> None:
        while not done.wait(0.5):
            most[0] = max(most[0], server.resident_mb())

    watching = threading.Thread(target=look)
    watching.start()
    try:
        yield most
    finally:
        done.set()
        watching.join()
        most[0] = max(most[0], server.resident_mb())
