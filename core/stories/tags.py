"""Tags and notes that a reader puts on pairs, kept as a study keeps its votes: appended, never changed or deleted.

``data/tags.jsonl``: a row a change, whose latest one counts. Any number of sessions may write it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from core import settings
from core.errors import InvalidInput, StoreError
from core.store.log import Log, NewerRow, Replay
from core.stories.slide import check_note
from core.writing import cannot_write

MOST_TAG = 40
"""Characters of a tag."""

MOST_TAGS = 12
"""Tags of a pair."""


class Pair(NamedTuple):
    """A variant beside its baseline, as the store names it; ``rank`` is which of the item's captions."""

    run: str
    item: str
    subject: str
    probe: str
    language: str
    rank: int


@dataclass(frozen=True, slots=True)
class Tagged:
    """What stands at a pair now.

    Args:
        tags: in the reader's order, each once.
        note: in the reader's words; may be empty.
        at: when that was written, UTC.
    """

    tags: tuple[str, ...] = ()
    note: str = ""
    at: str = ""

    @property
    def empty(self) -> bool:
        """Whether everything was taken off again."""
        return not (self.tags or self.note)


@dataclass(frozen=True, slots=True)
class Held:
    """What the log comes to.

    Args:
        pairs: with a tag or a note, in the order in which they were first tagged.
        problems: sentences about what of the log does not count.
    """

    pairs: Mapping[Pair, Tagged]
    problems: tuple[str, ...] = ()

    def of(self, pair: Pair) -> Tagged:
        """What stands at a pair; nothing where nobody wrote."""
        return self.pairs.get(pair, Tagged())

    @property
    def names(self) -> tuple[str, ...]:
        """Every tag that stands somewhere, by its letters."""
        return tuple(sorted({tag for each in self.pairs.values() for tag in each.tags}, key=str.casefold))


class Tags:
    """The tags of this machine's reader.

    Args:
        path: the log; ``data/tags.jsonl`` by default.
        now: the time, for the rows' dates.
    """

    def __init__(self, path: Path | None = None, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self.path = settings.tags_file() if path is None else Path(path)
        self._log = Log(self.path)
        self._now = now

    def size(self) -> int:
        """Bytes of the log: it only grows, so this tells whether anything was written since."""
        return self._log.size()

    def read(self) -> Held:
        """What stands where.

        Raises:
            StoreError: if the log cannot be read.
        """
        found: dict[Pair, Tagged] = {}
        replay = Replay(self._log, lambda row: found.update([_from_row(row)]), begun=False)
        replay.refresh()
        return Held({pair: told for pair, told in found.items() if not told.empty}, replay.told())

    def put(self, pair: Pair, tags: Sequence[str], note: str = "") -> Tagged:
        """Set what stands at a pair, in place of what stood there; what stood there stays in the log.

        Raises:
            InvalidInput: for a tag or a note that is none, or too many.
            StoreError: if it cannot be written.
        """
        at = self._now().astimezone(UTC).isoformat(timespec="seconds")
        told = Tagged(checked(tags), check_note(note.strip()), at)
        row = {"row": "tag", **pair._asdict(), "tags": list(told.tags), "note": told.note, "at": at}
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(cannot_write(self.path.parent, error)) from error
        with self._log.writing() as writer:
            writer.append([row])
        return told


def checked(tags: Sequence[str]) -> tuple[str, ...]:
    """Tags with their spaces in order, each once.

    Raises:
        InvalidInput: if one is empty, too long, holds a comma or a sign that cannot be printed; or they are too many.
    """
    found = tuple(dict.fromkeys(" ".join(each.split()) for each in tags))
    for each in found:
        if not 0 < len(each) <= MOST_TAG or "," in each or not each.isprintable():
            raise InvalidInput(f"a tag has 1 to {MOST_TAG} characters and no comma, got {each[:60]!r}")
    if len(found) > MOST_TAGS:
        raise InvalidInput(f"a pair takes at most {MOST_TAGS} tags, got {len(found)}")
    return found


def _from_row(row: Mapping[str, Any]) -> tuple[Pair, Tagged]:
    if row.get("row") != "tag":
        raise NewerRow(f"no row of kind {str(row.get('row'))[:40]!r} is known")
    names = {name: str(row[name]) for name in Pair._fields if name != "rank"}
    told = Tagged(checked([str(each) for each in row["tags"]]), check_note(str(row["note"])), str(row.get("at", "")))
    return Pair(**names, rank=int(row["rank"])), told
