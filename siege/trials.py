"""One trial and what came of it, and the sums that the campaign prints."""

import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from core.errors import InvariscopeError
from siege.memory import Peak

Result = Literal["survived", "refused", "lost", "doubled", "silent", "traceback", "slow", "large"]

FAILURES: tuple[Result, ...] = ("lost", "doubled", "silent", "traceback", "slow", "large")
"""What may not happen once."""

MOST_S = 15.0
"""Seconds that a single trial may take."""

MOST_MB = 500.0
"""Memory beyond what was held at its start that a single trial may take, its decoding process included; a kind may
have its own limit."""

LONGEST = 1200
"""Characters that a sentence to a reader may have."""


class Finding(Exception):
    """What a trial found out that may not be.

    Args:
        result: one of FAILURES.
        said: what was found.
    """

    def __init__(self, result: Result, said: str) -> None:
        super().__init__(said)
        self.result: Result = result


@dataclass(slots=True)
class Tally:
    """Sums of one kind of trial.

    Args:
        kind: of trial, e.g. ``uploads``.
        limit_mb: memory that a trial of this kind may take.
        counts: trials by their result.
        seconds: of the slowest trial that is held to MOST_S.
        most_mb: of the trial that took most memory.
        wall_s: of all.
        found: a sentence for each trial that may not end as it did.
        notes: what a reader of the table should know.
        course: of a server that lives long: (seconds since 1970, who is there, MB that it holds).
    """

    kind: str
    limit_mb: float = MOST_MB
    counts: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    most_mb: float = 0.0
    wall_s: float = 0.0
    found: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    course: list[tuple[int, int, float]] = field(default_factory=list)

    @property
    def tried(self) -> int:
        """Number of trials."""
        return sum(self.counts.values())

    @property
    def failed(self) -> int:
        """Number of those that ended as none may."""
        return sum(self.counts[each] for each in FAILURES)

    def attempt(self, name: str, action: Callable[[], object], *, timed: bool = True) -> None:
        """Try one thing.

        Args:
            name: of the trial, for the list of what was found.
            action: returns where the input was taken or the damage was mended; raises an error of Invariscope with
                one sentence where it was refused or said; raises :class:`Finding` where a check failed.
            timed: whether the limits hold; not for what is killed and begun again.
        """
        peak, start = Peak(), time.perf_counter()
        result, said = _result(action)
        seconds, most = time.perf_counter() - start, peak.most_mb()
        if timed:
            self.seconds, self.most_mb = max(self.seconds, seconds), max(self.most_mb, most)
            if result not in FAILURES and seconds > MOST_S:
                result, said = "slow", f"took {seconds:.1f} s"
            elif result not in FAILURES and most > self.limit_mb:
                result, said = "large", f"took {most:.0f} MB"
        self.wall_s += time.perf_counter() - start
        self.counts[result] += 1
        if result in FAILURES:
            self.found.append(f"{self.kind}: {name}: {result}: {said}")

    def note_growth(self, grown: float) -> None:
        """Hold what a server that lives through many trials grew by, in MB, to the limit of the kind."""

        def small() -> None:
            if grown > self.limit_mb:
                raise Finding("large", f"the server grew by {grown:.0f} MB")

        self.attempt("memory of the server", small, timed=False)
        self.most_mb = max(self.most_mb, grown)

    def as_dict(self) -> dict[str, Any]:
        """Plain dictionary, for JSON."""
        return {**asdict(self), "counts": dict(self.counts), "tried": self.tried, "failed": self.failed}


def _result(action: Callable[[], object]) -> tuple[Result, str]:
    try:
        action()
    except Finding as found:
        return found.result, str(found)
    except InvariscopeError as error:
        said = str(error)
        good = said.strip() and "\n" not in said.strip() and len(said) <= LONGEST
        return ("refused", said) if good else ("traceback", f"no sentence for a reader: {said[:300]!r}")
    except Exception:
        return "traceback", traceback.format_exc(limit=-6)
    return "survived", ""
