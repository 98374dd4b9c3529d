"""The long life of one server: thirty guests who come and go, and the memory and the files that stay when they left.

What guests bring, look at, vote and start is in :mod:`siege.guest`. One comes before the others, opens every view and
uses every kind of work once: what that makes the server load it keeps for everybody. Each picture is answered to a
lone session, too, on a server of its own, and every answer is compared with that. Memory is looked at twice a minute,
and compared once the sessions of those who left have expired.
"""

import os
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from bench.human import prepare
from bench.server import Server
from bench.visitor import PATIENCE_S, Visitor
from core.errors import StoreError
from core.jobs.job_queue import ACTIVE, list_jobs
from core.store.run_files import COMPLETE, read_run
from core.writing import LEFTOVER
from pages.views.common.reader_uploads import EVERY_S
from siege.crowd import LINK, Key, lone_answer, same
from siege.guest import Guest, Life
from siege.material import data_folder
from siege.people import kept
from siege.pictures import rough_png
from siege.trials import Finding, Tally

SESSIONS, SECONDS = 30, 7200.0
EACH = 3
"""Pictures of a guest, in turn."""

EXPIRED_S = 150.0
"""Seconds after which the server has let go of the session of a browser that left; Streamlit takes two minutes."""

SAMPLE_S = 30.0
MOST_SHARE = 1.1
"""Memory that a server may hold when all have left, as a share of what it held when one had been there before them."""


def run(tally: Tally, seed: int, *, quick: bool, sessions: int | None = None, seconds: float | None = None) -> None:
    """Let guests come and go, and look at what is left."""
    count, lasts = sessions or SESSIONS, seconds or SECONDS
    pictures = {
        (who, turn): rough_png(seed + 1000 * who + turn)
        for who in range(count + 1)
        for turn in range(2 if quick else EACH)
    }
    with data_folder() as data, _temporary(data.parent / "tmp") as temporary:
        study, tokens = prepare(data, count + 1)
        names = list(zip(sorted(study.state().annotators), tokens, strict=True))
        with ThreadPoolExecutor(1) as beside, Server(data) as server:
            life = Life(server.address, 0.0, pictures, names)
            _note(tally, server, 0)
            idle = server.resident_mb()
            Guest(count, life, seed).everything()
            _audits_end()
            before = _left(server, tally)
            answers = beside.submit(_lone, data, pictures)
            _live(tally, life, server, count, lasts, seed)
            _audits_end()
            after = _left(server, tally)
            lone = answers.result()
        for answer in life.answers:
            tally.attempt(f"guest {answer.key[0]}, picture {answer.key[1]}", partial(same, answer, lone), timed=False)
        for name, said in life.found:
            tally.attempt(name, partial(_complain, said), timed=False)
        for each in life.audits:
            tally.attempt(f"audit {each}", partial(check_audit, data / "runs" / each), timed=False)
        tally.attempt("votes", partial(kept, study.folder, life.votes), timed=False)
        tally.attempt("files", partial(check_files, temporary, data.parent), timed=False)
        tally.attempt("memory of the server", partial(check_memory, before, after), timed=False)
        stay = Counter(path.relative_to(data.parent).parts[:2] for path in data.parent.rglob("*") if path.is_file())
    tally.most_mb = max(mb for _, _, mb in tally.course) - before
    tally.notes.append(
        f"{count} guests, {life.visits} visits in {lasts / 60:.0f} minutes: {len(life.answers)} pictures scored, "
        f"{life.looks} views, {len(life.votes)} answers in a study, {len(life.audits)} audits; the server held "
        f"{idle:.0f} MB when nobody had come, {before:.0f} MB when one had done everything once and left, and "
        f"{after:.0f} MB when all had left ({after / before - 1:+.1%}); files: "
        + ", ".join(f"{'/'.join(where)} {number}" for where, number in sorted(stay.items()))
    )


def _lone(data: Path, pictures: dict[Key, bytes]) -> dict[Key, bytes]:
    with Server(data) as server:
        return {key: lone_answer(server, key, pictures[key]) for key in pictures}


def _live(tally: Tally, life: Life, server: Server, count: int, lasts: float, seed: int) -> None:
    begun = time.monotonic()
    life.until = begun + lasts
    guests = [Guest(who, life, seed) for who in range(count)]
    for each in guests:
        each.start()
    while any(each.is_alive() for each in guests):
        _note(tally, server, len(life.here))
        time.sleep(min(SAMPLE_S, max(1.0, life.until - time.monotonic())))


def _note(tally: Tally, server: Server, here: int) -> None:
    tally.course.append((round(time.time()), here, round(server.resident_mb(), 1)))
    print(*tally.course[-1], flush=True)


def _left(server: Server, tally: Tally) -> float:
    """Memory in MB once the sessions of all who left have expired.

    The next who comes makes Streamlit let go of them; a minute after that one left, the server gives back what it can.
    """
    time.sleep(EXPIRED_S)
    with Visitor(server.address, "probe_lab", LINK):
        pass
    time.sleep(EVERY_S + SAMPLE_S)
    _note(tally, server, 0)
    return server.resident_mb()


def _audits_end() -> None:
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until and any(job.status in ACTIVE for job in list_jobs()[0]):
        time.sleep(1.0)


def _complain(said: str) -> None:
    raise Finding("lost", said)


def check_audit(folder: Path) -> None:
    """Find out whether a run that was asked for is complete."""
    try:
        status = read_run(folder).status
    except StoreError as error:
        raise Finding("lost", str(error)) from error
    if status != COMPLETE:
        raise Finding("lost", f"{folder.name} is {status}")


def check_files(temporary: Path, folder: Path) -> None:
    """Find out whether a temporary file is left, or one that is half written."""
    left = [each for each in temporary.rglob("*") if each.is_file()]
    left += folder.rglob(f".*{LEFTOVER}")
    if left:
        raise Finding("lost", f"{len(left)} files are left, e.g. {left[0]}")


def check_memory(before: float, after: float) -> None:
    """Find out whether a server holds much more, in MB, than before its guests came."""
    if after > MOST_SHARE * before:
        raise Finding("large", f"the server held {before:.0f} MB before the guests came and {after:.0f} MB after")


@contextmanager
def _temporary(folder: Path) -> Iterator[Path]:
    """A folder for temporary files of the processes that are started meanwhile."""
    folder.mkdir()
    earlier = os.environ.get("TMPDIR")
    os.environ["TMPDIR"] = str(folder)
    try:
        yield folder
    finally:
        os.environ.pop("TMPDIR")
        if earlier is not None:
            os.environ["TMPDIR"] = earlier
