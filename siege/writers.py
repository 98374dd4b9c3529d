"""Full disks, kill -9 and more under everything that writes: the old or the new is whole, and the exit code says which.

Each writer is measured first: when it begins to write, when it ends, and the most room that it takes. Then it is given
a disk of its own with eight amounts of room between nothing and that, one that may only be read, a twin that writes the
same at the same time, and a clock that was set back; and it is killed at ten moments while it writes. After the last it
is called once more, and what the killed ones left must be gone.
"""

import http.server
import multiprocessing
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from shutil import rmtree

from core.writing import LEFTOVER
from siege.material import Material, data_folder
from siege.trials import Finding, Tally
from siege.written import SERVED, Writer, call, writers

PROCESSES = multiprocessing.get_context("forkserver")
SIZES, MOMENTS = 8, 10
SPARE = 64 << 10
"""Bytes of room more than a writer took at most: a file system has books of its own to keep."""
DISK = 64 << 20
PATIENCE_S = 120.0
QUICK = ("publish", "report", "story")


def run(tally: Tally, seed: int, *, quick: bool) -> None:
    """Fill disks and kill writers."""
    rng = random.Random(f"{seed}/writers")
    PROCESSES.set_forkserver_preload(["siege.written"])
    with data_folder() as data, _server() as address:
        disk = data.parent / "disk"
        disk.mkdir()
        mounts = _mounts(disk)
        if not mounts:
            tally.notes.append("no disk of a few MB may be mounted here, so full disks are not tried")
        for writer in writers(Material(data), address):
            if quick and writer.name not in QUICK:
                continue
            _try(tally, writer, disk if mounts else None, data.parent / "killed", rng, quick=quick)


def _try(tally: Tally, writer: Writer, disk: Path | None, home: Path, rng: random.Random, *, quick: bool) -> None:
    measured: list[_Measured] = []
    tally.attempt(f"{writer.name}: undisturbed", lambda: measured.append(_measure(writer, home, disk)), timed=False)
    if not measured:
        return
    found = measured[0]
    if disk is not None:
        for number in range(0, SIZES, 3 if quick else 1):
            free = round((found.most + SPARE) * number / (SIZES - 1))
            goes_on = number == SIZES // 2 - 1
            tally.attempt(
                f"{writer.name}: {free:,} bytes free", partial(_full, writer, disk, free, goes_on), timed=False
            )
        tally.attempt(f"{writer.name}: a disk to read alone", partial(_sealed, writer, disk), timed=False)
    tally.attempt(f"{writer.name}: two at once", partial(_two, writer, home), timed=False)
    tally.attempt(f"{writer.name}: the clock set back", partial(_set_back, writer, home), timed=False)
    moments = [
        found.begins + (found.lasts - found.begins) * (number + rng.random()) / MOMENTS
        for number in range(0, MOMENTS, 4 if quick else 1)
    ]
    for moment in moments:
        tally.attempt(
            f"{writer.name}: killed after {moment:.3f} s", partial(_killed, writer, home, moment), timed=False
        )
    tally.attempt(f"{writer.name}: called again", partial(_again, writer, home), timed=False)
    rmtree(home, ignore_errors=True)


class _Measured:
    """Seconds until a writer begins to write and until it ends, and the most bytes that it takes."""

    def __init__(self) -> None:
        self.begins, self.lasts, self.most = 0.0, 0.0, 0


def _measure(writer: Writer, home: Path, disk: Path | None) -> _Measured:
    """Call a writer undisturbed; what it writes is what it is to write ever after."""
    found = _Measured()
    with _room(disk, DISK) if disk else _folder(home) as place:
        writer.prepare(place)
        before, taken = _names(place), _taken(place)
        process, start = _begin(writer, place), time.perf_counter()
        while process.is_alive() and time.perf_counter() - start < PATIENCE_S:
            if not found.begins and _names(place) != before:
                found.begins = time.perf_counter() - start
            found.most = max(found.most, _taken(place) - taken)
            time.sleep(0.002)
        found.lasts = time.perf_counter() - start
        found.begins = found.begins or 0.9 * found.lasts  # too short to be seen
        _ended(writer, place, process)
        writer.learn(place)
    writer.prepare(home)
    return found


def _full(writer: Writer, disk: Path, free: int, goes_on: bool) -> None:
    """A writer on a disk with so much room: what it says is what is there; and with more room it goes on."""
    with _room(disk, DISK):
        writer.prepare(disk)
        ballast = disk / "ballast"
        at = os.statvfs(disk)
        ballast.write_bytes(bytes(max(0, at.f_bavail * at.f_frsize - free)))
        process = _begin(writer, disk)
        process.join(PATIENCE_S)
        code, state = process.exitcode, writer.state(disk)
        _check(code, state, _said(_log(disk)))
        ballast.unlink()
        if code and goes_on:
            _ended(writer, disk, _begin(writer, disk))
        _swept(disk)


def _sealed(writer: Writer, disk: Path) -> None:
    """A writer on a disk that may only be read: it says so, and the old is there."""
    with _room(disk, DISK):
        writer.prepare(disk)
        before = writer.state(disk)
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True, capture_output=True)
        process = _begin(writer, disk)
        process.join(PATIENCE_S)
        _check(process.exitcode, writer.state(disk), _said(_log(disk)))
        if process.exitcode == 0 or writer.state(disk) != before:
            raise Finding("silent", f"it ended with {process.exitcode} on a disk that nothing can be written to")


def _two(writer: Writer, home: Path) -> None:
    """Two of one writer at once: one at least writes the new, and who does not says so."""
    writer.prepare(home)
    both = [_begin(writer, home, log=home.parent / f"said-{name}.txt") for name in ("one", "two")]
    for process in both:
        process.join(PATIENCE_S)
    state = writer.state(home)
    codes = [process.exitcode for process in both]
    for name, code in zip(("one", "two"), codes, strict=True):
        _check_end(code, _said(home.parent / f"said-{name}.txt"))
    if 0 not in codes or state != "new":
        raise Finding("lost", f"they ended with {codes}, and {state} is there")
    _swept(home)
    writer.prepare(home)


def _set_back(writer: Writer, home: Path) -> None:
    """A writer whose folder is of next year, as it looks where the clock was set back since."""
    writer.prepare(home)
    ahead = time.time() + 366 * 86400
    for path in (home, *home.rglob("*")):
        if not path.is_symlink():
            os.utime(path, (ahead, ahead))
    _ended(writer, home, _begin(writer, home))
    _swept(home)
    writer.prepare(home)


def _check(code: int | None, state: str, said: str) -> None:
    """Compare what a writer ended with and said with what is there."""
    if code == 0 and state != "new":
        raise Finding("silent", f"it ended with 0 and {state} is there")
    if code != 0 and state == "new":
        raise Finding("silent", f"it ended with {code} and the new is there: {said}")
    _check_end(code, said)


def _check_end(code: int | None, said: str) -> None:
    """Compare what a writer ended with with what it said."""
    if code not in (0, 2) or (code and "error: " not in said):
        raise Finding("traceback", f"it ended with {code}: {said[-600:]}")


def _killed(writer: Writer, home: Path, moment: float) -> None:
    process = _begin(writer, home)
    process.join(moment)
    process.kill()
    process.join()
    state = writer.state(home)
    if process.exitcode == 0 and state != "new":
        raise Finding("silent", f"it ended with 0 and {state} is there")
    writer.prepare(home)


def _again(writer: Writer, home: Path) -> None:
    _ended(writer, home, _begin(writer, home))
    _swept(home)


def _ended(writer: Writer, home: Path, process: multiprocessing.process.BaseProcess) -> None:
    """Wait for a writer that has all that it needs."""
    process.join(PATIENCE_S)
    if process.exitcode != 0:
        process.kill()
        raise Finding("lost", f"it ended with {process.exitcode}: {_said(_log(home))[-600:]}")
    if (state := writer.state(home)) != "new":
        raise Finding("lost", f"it ended with 0 and {state} is there")


def _swept(home: Path) -> None:
    if left := list(home.rglob(f".*{LEFTOVER}")):
        raise Finding("silent", f"{left} were left behind")


def _begin(writer: Writer, home: Path, *, log: Path | None = None) -> multiprocessing.process.BaseProcess:
    process = PROCESSES.Process(target=call, args=(writer.words, writer.settings, home, log or _log(home)))
    process.start()
    return process


def _log(home: Path) -> Path:
    return home.parent / "said.txt"


def _said(log: Path) -> str:
    return log.read_text(encoding="utf-8", errors="replace").strip()


def _names(home: Path) -> set[str]:
    return {str(path) for path in home.rglob("*")}


def _taken(home: Path) -> int:
    at = os.statvfs(home)
    return (at.f_blocks - at.f_bfree) * at.f_frsize


@contextmanager
def _folder(home: Path) -> Iterator[Path]:
    home.mkdir(parents=True, exist_ok=True)
    yield home


@contextmanager
def _room(disk: Path, size: int) -> Iterator[Path]:
    """A disk of so many bytes, empty, as long as this lasts."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(disk)], check=True, capture_output=True)
    try:
        yield disk
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True, capture_output=True)


def _mounts(disk: Path) -> bool:
    if sys.platform != "linux":
        return False
    try:
        with _room(disk, DISK):
            return True
    except (OSError, subprocess.CalledProcessError):
        return False


@contextmanager
def _server() -> Iterator[str]:
    """A publisher of weights on this machine; yields their address."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Publisher) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/weights.bin"
        server.shutdown()


class _Publisher(http.server.BaseHTTPRequestHandler):
    """Sends one file, its rest where that is asked for, in pieces that take a while."""

    def do_GET(self) -> None:  # the name is of the library
        asked = self.headers.get("Range", "bytes=0-")
        start = int(asked.removeprefix("bytes=").rstrip("-"))
        rest = SERVED[start:]
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(rest)))
        self.end_headers()
        with suppress(ConnectionError):  # who fetched it was killed
            for begin in range(0, len(rest), 1 << 18):
                self.wfile.write(rest[begin : begin + (1 << 18)])
                time.sleep(0.01)

    def log_message(self, *_: object) -> None:
        """Say nothing."""
