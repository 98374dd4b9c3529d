"""Progress with an estimate of what is left: a bar on a terminal, a plain line now and then elsewhere."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

import typer

PLAIN_EVERY_S = 10.0
"""Seconds between two plain lines; the first and the last one always come."""


class Update(Protocol):
    """Say how far it is."""

    def __call__(self, done: int, total: int, eta_s: float | None = None) -> None:
        """Args: done: how many; total: of how many; eta_s: seconds left, None to have it estimated."""


@contextmanager
def progress(what: str, *, unit: str = "", plain_every_s: float = PLAIN_EVERY_S) -> Iterator[Update]:
    """Show how far something is, on stderr.

    Args:
        what: what is being done, e.g. ``scoring``.
        unit: what is counted, e.g. ``pairs``.
        plain_every_s: seconds between plain lines where stderr is not a terminal.
    """
    clock = _Clock()
    if sys.stderr.isatty():
        with _bar(what, unit, clock) as update:
            yield update
    else:
        yield _PlainLines(what, unit, clock, plain_every_s)


def duration(seconds: float) -> str:
    """Return seconds as a person says them, e.g. ``duration(3725) == "1 h 02 min"``."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"


class _Clock:
    """What has passed and what is left, as words."""

    def __init__(self) -> None:
        self.started = time.monotonic()
        self.now = self.started

    def tick(self) -> float:
        self.now = time.monotonic()
        return self.now

    @property
    def passed(self) -> str:
        return duration(self.now - self.started)

    def left(self, done: int, total: int, eta_s: float | None) -> str:
        if not 0 < done < total:
            return ""
        rest = (self.now - self.started) / done * (total - done) if eta_s is None else eta_s
        return f"about {duration(rest)} left"


@contextmanager
def _bar(what: str, unit: str, clock: _Clock) -> Iterator[Update]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(),
        TextColumn(unit, markup=False), TimeElapsedColumn(), TextColumn("{task.fields[left]}", markup=False),
    )  # fmt: skip
    with Progress(*columns, console=Console(file=sys.stderr)) as bar:
        task = bar.add_task(what, total=None, left="")

        def update(done: int, total: int, eta_s: float | None = None) -> None:
            clock.tick()
            bar.update(task, completed=done, total=total, left=clock.left(done, total, eta_s))

        yield update


class _PlainLines:
    """A line at the start, at the end, and every few seconds between."""

    def __init__(self, what: str, unit: str, clock: _Clock, every_s: float) -> None:
        self.what, self.unit, self.clock, self.every_s = what, unit, clock, every_s
        self.shown: float | None = None
        self.ended = False

    def __call__(self, done: int, total: int, eta_s: float | None = None) -> None:
        now = self.clock.tick()
        last = done >= total
        if self.ended or (self.shown is not None and not last and now - self.shown < self.every_s):
            return
        self.shown, self.ended = now, last
        words = [f"{done:,} of {total:,} {self.unit}", self.clock.passed, self.clock.left(done, total, eta_s)]
        typer.echo(f"{self.what}: {', '.join(word for word in words if word)}", err=True)
