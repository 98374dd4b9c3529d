"""How far ``evaluators get`` is, for a program that watches: each set of weights is an equal part of the whole."""

import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.jobs.progress import ProgressFile

_WHOLE = 100


class Teller:
    """Tells a file, in percent of all sets.

    Args:
        path: file that it tells in; None: nobody watches.
        sets: of weights, at least 1.
    """

    def __init__(self, path: Path | None, sets: int) -> None:
        self._path, self._sets, self._ended = path, sets, 0
        self._begun = time.monotonic()
        self._file: ProgressFile | None = None
        self._say("loading", 0.0)

    def part(self, done: int, total: int) -> None:
        """Say how far one set is; a total of 0 is one that the publisher does not say."""
        self._say("scoring", (self._ended + (min(done / total, 1.0) if total else 0.0)) / self._sets)

    def set_done(self) -> None:
        """End one set."""
        self._ended += 1
        self._say("scoring", self._ended / self._sets)

    def complete(self) -> None:
        """Say that everything is here and was checked."""
        self._say("complete", 1.0)

    def _say(self, phase: str, share: float) -> None:
        if self._path is None:
            return
        from core.audit.run import Progress
        from core.jobs.progress import ProgressFile

        self._file = self._file or ProgressFile(self._path)
        spent = time.monotonic() - self._begun
        left = spent / share * (1 - share) if share > 0 else None
        self._file(Progress(phase, int(_WHOLE * share), _WHOLE, spent, left, self._ended, self._sets))
