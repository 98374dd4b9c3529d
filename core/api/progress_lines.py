"""How far something is, in plain lines: for a notebook, a pipe, a log."""

import sys
import time

PLAIN_EVERY_S = 10.0  # seconds between two plain lines; the first and the last one always come


def duration(seconds: float) -> str:
    """Return seconds as a person says them, e.g. ``duration(3725) == "1 h 02 min"``."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"


class Clock:
    """What has passed and what is left, as words."""

    def __init__(self) -> None:
        self.started = time.monotonic()
        self.now = self.started

    def tick(self) -> float:
        """Look at the time; returns it, in seconds."""
        self.now = time.monotonic()
        return self.now

    @property
    def passed(self) -> str:
        """What had passed at the last look."""
        return duration(self.now - self.started)

    def left(self, done: int, total: int, eta_s: float | None) -> str:
        """What is left: estimated from what has passed where nobody says it; empty where there is nothing to say."""
        if not 0 < done < total:
            return ""
        rest = (self.now - self.started) / done * (total - done) if eta_s is None else eta_s
        return f"about {duration(rest)} left"


class PlainLines:
    """A line on stderr at the start, at the end, and every few seconds between.
    ``what``: what is being done, e.g. ``scoring``. ``unit``: what is counted, e.g. ``pairs``.
    ``every_s``: seconds between two lines."""

    def __init__(self, what: str, unit: str, clock: Clock | None = None, every_s: float = PLAIN_EVERY_S) -> None:
        self.what, self.unit, self.every_s = what, unit, every_s
        self.clock = Clock() if clock is None else clock
        self.shown: float | None = None
        self.ended = False

    def __call__(self, done: int, total: int, eta_s: float | None = None, doing: str = "") -> None:
        """Say how far it is.
        ``eta_s``: seconds left; None: to be estimated. ``doing``: what is being done at the moment, in a few words."""
        now = self.clock.tick()
        last = done >= total
        if self.ended or (self.shown is not None and not last and now - self.shown < self.every_s):
            return
        self.shown, self.ended = now, last
        words = [f"{done:,} of {total:,} {self.unit}", self.clock.passed, self.clock.left(done, total, eta_s), doing]
        sys.stderr.write(f"{self.what}: {', '.join(word for word in words if word)}\n")
        sys.stderr.flush()
