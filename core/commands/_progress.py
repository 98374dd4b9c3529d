"""Progress with an estimate of what is left: a bar on a terminal, a plain line now and then elsewhere."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from core.api.progress_lines import PLAIN_EVERY_S, Clock, PlainLines


class Update(Protocol):
    """Say how far it is."""

    def __call__(self, done: int, total: int, eta_s: float | None = None, doing: str = "") -> None:
        """Args: done: how many; total: of how many; eta_s: seconds left, None to have it estimated; doing: at once."""


@contextmanager
def progress(what: str, *, unit: str = "", plain_every_s: float = PLAIN_EVERY_S) -> Iterator[Update]:
    """Show how far something is, on stderr.

    Args:
        what: what is being done, e.g. ``scoring``.
        unit: what is counted, e.g. ``pairs``.
        plain_every_s: seconds between plain lines where stderr is not a terminal.
    """
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
