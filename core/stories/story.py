"""Stories on disk: named collections of slides, each a folder with an append-only log and its pictures.

A slide is what was seen of one pair, figure or lab view, with the numbers beside it, frozen when it was collected: runs
go, corpora move, an evaluator gets another version, and what somebody shows to others stays what they saw.
``data/stories/<id>/``: ``story.jsonl`` and ``pictures/<digest>.<kind>``. Nothing is ever overwritten or deleted: what
is taken out can be brought back. Any number of sessions may write one story.

Tags and notes that a reader puts on pairs, kept as a study keeps its votes: ``data/tags.jsonl``, a row a change, whose
latest one counts.
"""

import hashlib
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

from core import settings
from core.errors import InvalidInput, StoreError
from core.store.log import Log, NewerRow, Replay
from core.writing import cannot_write, write_bytes

MOST_TEXT = 400  # characters of a title or of a sentence
MOST_NOTE = 4000  # characters of a reader's note
MOST_ROWS = 60  # of a slide's table
MOST_PICTURE = 4_000_000  # bytes

_BEGIN = {"jpg": b"\xff\xd8\xff", "png": b"\x89PNG\r\n\x1a\n", "svg": b"<svg"}


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture of a slide."""

    alt: str  # what it shows
    kind: str  # ``jpg``, ``png`` or ``svg``
    data: bytes  # the file; empty where it is lost or no longer what it was

    @property
    def name(self) -> str:
        """Name of its file: what it has, so that a file that changed is found out."""
        return f"{hashlib.sha256(self.data).hexdigest()[:32]}.{self.kind}"

    def checked(self) -> "Picture":
        """This picture. Raises InvalidInput if it is not of its kind, or too large."""
        if self.kind not in _BEGIN or not self.data.startswith(_BEGIN[self.kind]):
            raise InvalidInput(f"a slide's picture is a whole {', '.join(_BEGIN)} file, got {self.kind!r}")
        if len(self.data) > MOST_PICTURE:
            most = f"{MOST_PICTURE // 10**6} MB"
            raise InvalidInput(f"a slide's picture takes at most {most}, got {len(self.data) / 1e6:.1f} MB")
        return self


@dataclass(frozen=True, slots=True)
class Slide:
    """One slide."""

    title: str  # in plain words
    said: tuple[str, ...] = ()  # sentences below the pictures: the caption, what the edit changed, how to read it
    pictures: tuple[Picture, ...] = ()  # beside each other
    # heads of the table; the first column holds words, the others numbers as they are written
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()  # of the table, each as long as ``columns``
    of: str = ""  # which rows of which runs went into it, in words
    signature: str = ""  # of the numbers, to be cited; empty where they are of no stored run
    page: str = ""  # name of the view that shows it live, e.g. ``failures``; the file of a page in slides of before.
    link: Mapping[str, str] | None = None  # parameters of that view's link
    note: str = ""  # the reader's own words
    id: str = ""  # its name in the story; empty until it is in one
    at: str = ""  # when it was collected, ISO 8601, UTC

    @property
    def when(self) -> str:
        """When it was collected, in words; empty where nobody did."""
        return self.at and f"{self.at[:16].replace('T', ' ')} UTC"

    def checked(self) -> "Slide":
        """This slide. Raises InvalidInput if a text is too long, the table is not even, or a picture is not one."""
        self.checked_texts()
        for picture in self.pictures:
            picture.checked()
        return self

    def checked_texts(self) -> "Slide":
        """This slide, its pictures unseen. Raises InvalidInput if a text is too long, or the table is not even."""
        for text in (self.title, *self.said, self.of):
            _short(text, MOST_TEXT)
        _short(self.note, MOST_NOTE)
        if not self.title.strip():
            raise InvalidInput("a slide needs a title")
        if len(self.rows) > MOST_ROWS or any(len(row) != len(self.columns) for row in self.rows):
            raise InvalidInput(f"a slide's table has at most {MOST_ROWS} rows, each as long as its head")
        return self


def to_row(slide: Slide) -> dict[str, Any]:
    """The slide as a row of the story's log; its pictures by name."""
    head = {"row": "slide", "id": slide.id, "at": slide.at, "title": slide.title, "said": list(slide.said)}
    pictures = [{"alt": each.alt, "file": each.name} for each in slide.pictures]
    table = {"columns": list(slide.columns), "rows": [list(row) for row in slide.rows]}
    source = {"of": slide.of, "signature": slide.signature, "page": slide.page, "link": dict(slide.link or {})}
    return {**head, "pictures": pictures, **table, **source, "note": slide.note}


def from_row(row: Mapping[str, Any], pictures: Sequence[Picture]) -> Slide:
    """The slide of a row that :func:`to_row` made."""
    return Slide(
        str(row["title"]),
        tuple(map(str, row["said"])),
        tuple(pictures),
        tuple(map(str, row["columns"])),
        tuple(tuple(map(str, each)) for each in row["rows"]),
        str(row["of"]),
        str(row["signature"]),
        str(row["page"]),
        {str(name): str(text) for name, text in row["link"].items()},
        str(row["note"]),
        str(row["id"]),
        str(row["at"]),
    )


def _short(text: str, most: int) -> str:
    if len(text) > most:
        raise InvalidInput(f"a text of {len(text)} characters is too long here; at most {most}")
    return text


LOG = "story.jsonl"
MOST_SLIDES = 200
MOST_TITLE = 120

_KINDS = frozenset(("begin", "title", "slide", "note", "move", "out", "back"))
_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,59}")
_FILE = re.compile(r"[0-9a-f]{32}\.(jpg|png|svg)")
_Pictures = Callable[[Sequence[Mapping[str, str]]], list[Picture]]  # what a slide's row says of its pictures -> these


@dataclass(frozen=True, slots=True)
class Telling:
    """What a story holds now."""

    title: str  # in the reader's words
    slides: tuple[Slide, ...]  # in order
    out: tuple[Slide, ...]  # slides that were taken out, the last one first
    problems: tuple[str, ...]  # sentences about what of the log does not count


class Story:
    """One story. Raises StoreError if the folder has no story that can be read."""

    def __init__(self, folder: Path, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self.folder = Path(folder)
        self._now = now
        self._log = Log(self.folder / LOG)
        if not (self.folder / LOG).is_file():
            raise StoreError(f"{self.folder} holds no story ({LOG} is not there)")

    @classmethod
    def create(cls, title: str, *, parent: Path | None = None) -> "Story":
        """Begin a story of that title; one of an equal name gets a number.
        Raises InvalidInput if the title is empty or too long. Raises StoreError if it cannot be written."""
        said = _title(title)
        parent = settings.stories_dir() if parent is None else parent
        for number in range(1, 1000):
            folder = parent / (_slug(said) + (f"-{number}" if number > 1 else ""))
            try:
                folder.mkdir(parents=True)
            except FileExistsError:
                continue
            except OSError as error:
                raise StoreError(cannot_write(folder, error)) from error
            with Log(folder / LOG).writing() as writer:
                writer.append([{"row": "begin", "title": said}])
            return cls(folder)
        raise StoreError(f"there are a thousand stories named {said!r}; choose another title")

    @property
    def id(self) -> str:
        """Name of its folder."""
        return self.folder.name

    def read(self) -> Telling:
        """What the story holds now. Raises StoreError if the log cannot be read."""
        return self._read(lambda told: [self._picture(str(each["alt"]), str(each["file"])) for each in told])

    def outline(self) -> Telling:
        """The same without a picture, for whoever asks for titles and counts.
        Raises StoreError if the log cannot be read."""
        return self._read(lambda _: [])

    def check(self) -> bool:
        """Whether every row of the log could be read; one that was never written to its end is none.
        Raises StoreError if the log is empty or gone, or a newer version wrote to it."""
        replay = Replay(self._log, _Held(lambda _: []).take)
        replay.refresh()
        replay.check()
        return not replay.lost

    def _read(self, pictures: _Pictures) -> Telling:
        held = _Held(pictures)
        replay = Replay(self._log, held.take)
        replay.refresh()
        return Telling(held.title, tuple(held.slides.values()), tuple(held.out.values()), replay.told())

    def add(self, slide: Slide) -> Slide:
        """Put a slide at the end; returns it as it is kept.
        Raises InvalidInput if the slide is not one, or the story is full. Raises StoreError if it cannot be written."""
        at = self._now().astimezone(UTC).isoformat(timespec="seconds")
        kept = replace(slide, id=uuid4().hex[:12], at=at).checked()
        if len(self.outline().slides) >= MOST_SLIDES:
            raise InvalidInput(f"a story has at most {MOST_SLIDES} slides; begin another one")
        for picture in kept.pictures:
            path = self.folder / "pictures" / picture.name
            if not path.exists():
                write_bytes(path, picture.data)
        self._append(to_row(kept))
        return kept

    def note(self, slide: str, text: str) -> None:
        """Set a slide's note. Raises InvalidInput if it is too long, or there is no such slide."""
        self._of(slide)
        self._append({"row": "note", "id": slide, "note": _short(text, MOST_NOTE)})

    def move(self, slide: str, to: int) -> None:
        """Move a slide to a place, counted from 0; one beyond the ends is the end.
        Raises InvalidInput if there is no such slide."""
        self._of(slide)
        self._append({"row": "move", "id": slide, "to": int(to)})

    def take_out(self, slide: str) -> None:
        """Take a slide out; it can be brought back. Raises InvalidInput if there is no such slide."""
        self._of(slide)
        self._append({"row": "out", "id": slide})

    def bring_back(self, slide: str) -> None:
        """Put a slide that was taken out at the end again. Raises InvalidInput if it was not taken out."""
        if all(each.id != slide for each in self.outline().out):
            raise InvalidInput(f"no slide {slide!r} was taken out of story {self.id}")
        self._append({"row": "back", "id": slide})

    def rename(self, title: str) -> None:
        """Give the story another title; its folder keeps its name.
        Raises InvalidInput if the title is empty or too long."""
        self._append({"row": "title", "title": _title(title)})

    def _of(self, slide: str) -> None:
        if slide not in {each.id for each in self.outline().slides}:
            raise InvalidInput(f"there is no slide {slide!r} in story {self.id}")

    def _append(self, row: Mapping[str, Any]) -> None:
        with self._log.writing() as writer:
            writer.append([row])

    def _picture(self, alt: str, name: str) -> Picture:
        kind = name.rpartition(".")[2]
        if not _FILE.fullmatch(name):
            return Picture(alt, kind, b"")
        try:
            found = Picture(alt, kind, (self.folder / "pictures" / name).read_bytes())
        except OSError:
            return Picture(alt, kind, b"")
        return found if found.name == name else Picture(alt, kind, b"")


class _Held:
    """What the rows of a log come to, one after the other."""

    def __init__(self, pictures: _Pictures) -> None:
        self._pictures = pictures
        self.title = ""
        self.slides: dict[str, Slide] = {}
        self.out: dict[str, Slide] = {}

    def take(self, row: Mapping[str, Any]) -> None:
        """Take a row; one that is not as this version writes it raises and changes nothing."""
        kind, own = row.get("row"), str(row.get("id", ""))
        if kind in ("begin", "title"):
            self.title = str(row.get("title", ""))
        elif kind == "slide":
            self.slides[own] = from_row(row, self._pictures(row["pictures"])).checked_texts()
        elif kind == "note" and own in self.slides:
            self.slides[own] = replace(self.slides[own], note=str(row["note"]))
        elif kind == "move" and own in self.slides:
            order = [each for each in self.slides if each != own]
            order.insert(max(int(row["to"]), 0), own)
            self.slides = {each: self.slides[each] for each in order}
        elif kind == "out" and own in self.slides:
            self.out = {own: self.slides.pop(own), **self.out}
        elif kind == "back" and own in self.out:
            self.slides[own] = self.out.pop(own)
        elif kind not in _KINDS:
            raise NewerRow(f"no row of kind {str(kind)[:40]!r} is known")


def stories(parent: Path | None = None) -> list[Story]:
    """Every story of a folder, by name; ``data/stories`` unless another is given."""
    parent = settings.stories_dir() if parent is None else parent
    folders = sorted(parent.iterdir()) if parent.is_dir() else []
    return [Story(each) for each in folders if _ID.fullmatch(each.name) and (each / LOG).is_file()]


def open_story(story_id: str, *, parent: Path | None = None) -> Story:
    """One story by its id. Raises InvalidInput if there is none of that id."""
    for each in stories(parent):
        if each.id == story_id:
            return each
    raise InvalidInput(f"there is no story {story_id[:80]!r}; `stories list` names those that are here")


def _title(text: str) -> str:
    said = " ".join(text.split())
    if not said:
        raise InvalidInput("give the story a title")
    if len(said) > MOST_TITLE:
        raise InvalidInput(f"a story's title has at most {MOST_TITLE} characters, got {len(said)}")
    return said


def _slug(title: str) -> str:
    """A folder's name of a title in any language.

    >>> _slug("Où ça casse: 3 cas"), _slug("反転")
    ('ou-ca-casse-3-cas', 'story')
    """
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:50].strip("-") or "story"


MOST_TAG = 40  # characters of a tag
MOST_TAGS = 12  # of a pair


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
    """What stands at a pair now."""

    tags: tuple[str, ...] = ()  # in the reader's order, each once
    note: str = ""  # in the reader's words; may be empty
    at: str = ""  # when that was written, UTC

    @property
    def empty(self) -> bool:
        """Whether everything was taken off again."""
        return not (self.tags or self.note)


@dataclass(frozen=True, slots=True)
class Held:
    """What the log comes to."""

    pairs: Mapping[Pair, Tagged]  # with a tag or a note, in the order in which they were first tagged
    problems: tuple[str, ...] = ()  # sentences about what of the log does not count

    def of(self, pair: Pair) -> Tagged:
        """What stands at a pair; nothing where nobody wrote."""
        return self.pairs.get(pair, Tagged())

    @property
    def names(self) -> tuple[str, ...]:
        """Every tag that stands somewhere, by its letters."""
        return tuple(sorted({tag for each in self.pairs.values() for tag in each.tags}, key=str.casefold))


class Tags:
    """The tags of this machine's reader. ``path``: the log; ``data/tags.jsonl`` by default."""

    def __init__(self, path: Path | None = None, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self.path = settings.tags_file() if path is None else Path(path)
        self._log = Log(self.path)
        self._now = now

    def size(self) -> int:
        """Bytes of the log: it only grows, so this tells whether anything was written since."""
        return self._log.size()

    def read(self) -> Held:
        """What stands where. Raises StoreError if the log cannot be read."""
        found: dict[Pair, Tagged] = {}
        replay = Replay(self._log, lambda row: found.update([_from_row(row)]), begun=False)
        replay.refresh()
        return Held({pair: told for pair, told in found.items() if not told.empty}, replay.told())

    def put(self, pair: Pair, tags: Sequence[str], note: str = "") -> Tagged:
        """Set what stands at a pair, in place of what stood there; what stood there stays in the log.
        Raises InvalidInput for a tag or a note that is none, or too many. Raises StoreError if it cannot be written."""
        at = self._now().astimezone(UTC).isoformat(timespec="seconds")
        told = Tagged(checked(tags), _short(note.strip(), MOST_NOTE), at)
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
    Raises InvalidInput if they are too many, or one is empty, too long, or holds a comma or what cannot be printed."""
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
    told = Tagged(
        checked([str(each) for each in row["tags"]]), _short(str(row["note"]), MOST_NOTE), str(row.get("at", ""))
    )
    return Pair(**names, rank=int(row["rank"])), told
