"""Progress with an estimate of what is left: a bar on a terminal, a plain line now and then elsewhere."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from core.api.progress_lines import PLAIN_EVERY_S, Clock, PlainLines

if TYPE_CHECKING:
    from core.jobs.progress import ProgressFile


class Update(Protocol):
    """Say how far it is."""

    def __call__(self, done: int, total: int, eta_s: float | None = None, doing: str = "") -> None:
        """Args: done: how many; total: of how many; eta_s: seconds left, None to have it estimated; doing: at once."""


@contextmanager
def progress(what: str, *, unit: str = "", plain_every_s: float = PLAIN_EVERY_S) -> Iterator[Update]:
    """Show on stderr how far ``what`` is, e.g. ``scoring``, in a unit, e.g. ``pairs``; a plain line now and then where
    that is no terminal."""
    clock = Clock()
    if sys.stderr.isatty():
        with _bar(what, unit, clock) as update:
            yield update
    else:
        yield PlainLines(what, unit, clock, plain_every_s)


@contextmanager
def _bar(what: str, unit: str, clock: Clock) -> Iterator[Update]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(unit, markup=False),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}", markup=False),
    )
    with Progress(*columns, console=Console(file=sys.stderr)) as bar:
        task = bar.add_task(what, total=None, left="")

        def update(done: int, total: int, eta_s: float | None = None, doing: str = "") -> None:
            clock.tick()
            left = ", ".join(filter(None, (clock.left(done, total, eta_s), doing)))
            bar.update(task, completed=done, total=total, left=left)

        yield update


class Teller:
    """Tells a file (None: nobody watches) how far a command is whose parts weigh alike, of ``total`` in all parts
    together."""

    def __init__(self, path: Path | None, total: int, *, parts: int = 1) -> None:
        self._path, self._total, self._parts, self._ended = path, total, parts, 0
        self._begun = time.monotonic()
        self._file: ProgressFile | None = None
        self._say("loading", 0.0)

    def __call__(self, done: float, total: float) -> None:
        """Say how far the present part is; a total of 0 is one that nobody knows."""
        self._say("scoring", (self._ended + (min(done / total, 1.0) if total else 0.0)) / self._parts)

    def beside(self, update: Update) -> Callable[[int, int], None]:
        """What tells both the terminal and the file of the present part."""

        def both(done: int, total: int) -> None:
            update(done, total)
            self(done, total)

        return both

    def part_done(self) -> None:
        """End the present part."""
        self._ended += 1
        self._say("scoring", self._ended / self._parts)

    def complete(self) -> None:
        """Say that the result is on the disk."""
        self._say("complete", 1.0)

    def _say(self, phase: str, share: float) -> None:
        if self._path is None:
            return
        from core.audit.run import Progress
        from core.jobs.progress import ProgressFile

        self._file = self._file or ProgressFile(self._path)
        spent = time.monotonic() - self._begun
        left = spent / share * (1 - share) if share > 0 else None
        self._file(Progress(phase, round(share * self._total), self._total, spent, left, self._ended, self._parts))
