"""How far a run is, told from one process to another through a small file."""

import json
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from core.audit.run import Progress
from core.errors import StoreError
from core.store.text_files import write_text

EVERY_S = 0.5
"""Seconds between two writings; a change of phase, or the next model that is loaded, is written at once."""

_PHASES = ("loading", "captions", "scoring", "complete")


@dataclass(frozen=True, slots=True)
class Told(Progress):
    """What a progress file says: how far it is, at a time."""

    at: float = field(kw_only=True)  # when it was written, in seconds since 1970; the seconds left are counted from it

    @property
    def share(self) -> float:
        """Part that is done, in [0, 1]."""
        return min(self.done / self.total, 1.0) if self.total else 0.0

    def left_s(self, now: float) -> float | None:
        """Seconds left at a time in seconds since 1970; None where nothing was measured yet."""
        return None if self.eta_s is None else max(self.eta_s - max(now - self.at, 0.0), 0.0)


class ProgressFile:
    """Writes progress aside and renames it; a disk that refuses costs the file and never the audit."""

    def __init__(self, path: Path, *, every_s: float = EVERY_S) -> None:
        self._path, self._every_s = path, every_s
        self._last = ("", 0.0)

    def __call__(self, progress: Progress) -> None:
        """Tell how far it is."""
        before, when = self._last
        step = f"{progress.phase} {progress.evaluator if progress.phase == 'loading' else ''}"
        if step == before and time.monotonic() - when < self._every_s:
            return
        self._last = (step, time.monotonic())
        text = json.dumps({**asdict(progress), "at": time.time()})
        with suppress(StoreError):
            write_text(self._path, text)


def read_progress(path: Path) -> Told | None:
    """Read a progress file; None where there is none, or it says nothing that makes sense."""
    try:
        told = Told(**json.loads(path.read_text(encoding="utf-8")))
        numbers = (
            told.done,
            told.total,
            told.elapsed_s,
            told.shard,
            told.shards,
            told.at,
            told.eta_s or 0.0,
            told.place,
            told.evaluators,
        )
        sound = (
            told.phase in _PHASES and isinstance(told.evaluator, str) and all(0 <= number < 1e15 for number in numbers)
        )
    except (OSError, ValueError, TypeError, RecursionError):
        return None
    return told if sound else None
