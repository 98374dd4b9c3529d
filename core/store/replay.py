"""A log taken in row by row, and what of it does not count: one rule for every reader of a log.

A last row that was cut is what a killed process leaves: the rows before it count. Damaged rows are left out and told.
An empty log, or one with rows of a kind that this version does not know, stands for nothing: what counts would change
without a word.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from core.errors import InvalidInput, StoreError
from core.store.log import Log, Row

_NAMED = 5
"""Lines that a sentence names one by one."""


class NewerRow(InvalidInput):
    """A whole row of a kind that this version does not know."""


@dataclass(slots=True)
class Replay:
    """What was taken of a log so far.

    Args:
        log: to be read.
        take: takes a row; raises NewerRow for a kind that it does not know, and another error for what makes no sense.
        begun: whether the log begins with a row that is written with it, so that none at all is a loss.
    """

    log: Log
    take: Callable[[Row], None]
    begun: bool = True
    end: int = 0
    cut: int = 0
    _lines: int = 0
    _damaged: list[int] = field(default_factory=list)
    _strange: list[int] = field(default_factory=list)
    _newer: list[int] = field(default_factory=list)

    def refresh(self) -> None:
        """Take what was written since.

        Raises:
            StoreError: if the log cannot be read.
        """
        if self.log.size() == self.end:
            self.cut = 0
            return
        chunk = self.log.read(self.end)
        for line, row in zip(chunk.at, chunk.rows, strict=True):
            self._take(self._lines + line, row)
        self._damaged += [self._lines + line for line in chunk.damaged]
        self._lines += chunk.lines
        self.end, self.cut = chunk.end, chunk.cut

    @property
    def lost(self) -> bool:
        """Whether rows are left out that were whole once; one that was never written to its end is no loss."""
        return bool(self._damaged or self._strange)

    def told(self) -> tuple[str, ...]:
        """A sentence for each thing that does not count: file, lines, what to do."""
        path, found = self.log.path, list[str]()
        if self._gone():
            found.append(f"{path} is empty or gone, and with it all that was written; restore it from a copy.")
        if self._newer:
            found.append(
                f"{path}, {_named(self._newer)}: written by a newer Invariscope and left out; update this one."
            )
        if self.cut:
            found.append(
                f"{path}, line {self._lines + 1}: the last row was cut in the middle ({self.cut} bytes), as a "
                "killed process leaves it, and is left out; every row before it counts."
            )
        if self._damaged:
            found.append(
                f"{path}, {_named(self._damaged)}: cut or damaged, and left out; all others are used. Restore "
                "it from a copy if they matter."
            )
        if self._strange:
            found.append(f"{path}, {_named(self._strange)}: such rows do not fit here and are left out.")
        return tuple(found)

    def check(self) -> None:
        """Refuse a log that stands for nothing.

        Raises:
            StoreError: if it is empty or gone, or a newer version wrote to it.
        """
        if self._gone() or self._newer:
            raise StoreError(self.told()[0])

    def _gone(self) -> bool:
        return not (self.end or self.cut) and (self.begun or self.log.path.exists())

    def _take(self, line: int, row: Row) -> None:
        try:
            self.take(row)
        except NewerRow:
            self._newer.append(line)
        except (AttributeError, KeyError, TypeError, ValueError):
            self._strange.append(line)


def _named(lines: Sequence[int]) -> str:
    more = f" and {len(lines) - _NAMED} more" if len(lines) > _NAMED else ""
    return f"line{'s' if len(lines) > 1 else ''} {', '.join(map(str, lines[:_NAMED]))}{more}"
