"""A gate in the way of an evaluator: a test decides how far an audit in another process comes before it waits."""

import time
from dataclasses import dataclass
from pathlib import Path

from core.settings import data_dir

PATIENCE_S = 300
"""How long a test waits for what a process that loads its libraries beside others will do, in seconds."""


@dataclass(frozen=True, slots=True)
class Gate:
    """Files of a data folder: ``gate`` says how many calls pass, ``held-…`` appears once one more waits for it.

    Args:
        data: the audit's data folder.
    """

    data: Path

    def shut(self, passes: int) -> None:
        """Let so many calls of an evaluator pass and hold the next one, whoever asks."""
        self.data.mkdir(parents=True, exist_ok=True)
        self._held(passes).unlink(missing_ok=True)
        fresh = self.data / "gate.new"
        fresh.write_text(str(passes), encoding="utf-8")
        fresh.replace(self.data / "gate")

    def open(self) -> None:
        """Let everything pass."""
        (self.data / "gate").unlink()

    def holds(self) -> bool:
        """Whether a call waits: all before it are done, and the audit gets no further."""
        return self._held(self._passes()).exists()

    def wait(self, calls: int) -> None:
        """Wait while the gate is shut for an evaluator that has made so many calls."""
        while (passes := self._passes()) is not None and calls >= passes:
            self._held(passes).touch()
            time.sleep(0.02)

    def _held(self, passes: int | None) -> Path:
        return self.data / f"held-{passes}"

    def _passes(self) -> int | None:
        try:
            return int((self.data / "gate").read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None


def here() -> Gate:
    """The gate of this process's data folder."""
    return Gate(data_dir())
