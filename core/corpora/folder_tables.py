"""What files beside a folder of images say of each: captions with what stands in their row, and boxes.

Columns of people's own in such a table, such as ``site`` or ``camera``: which of them are slices.
"""

import math
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.corpora.caption_tables import ENDINGS, CaptionRow, CaptionTable, read_caption_table, said_text
from core.corpora.corpus_files import Findings, LeftOut, below_root, inside, pointed, read_json, read_text
from core.corpora.image_header import SUFFIXES, sniff
from core.corpora.image_places import ImageNames
from core.corpora.ordinary_paths import in_kernel, ordinary
from core.corpora.packed_pictures import PACKED, packed_files, unpacked
from core.corpora.schema import OWN, Rejection
from core.corpora.table_cells import SAID
from core.errors import BadCorpus, InvalidInput

NOT_STATED = "not stated"  # what an item tells of a column that says nothing of it
SEVERAL = "several"  # what an item tells of a column whose rows about it differ
MOST_COLUMNS = 20  # columns that are kept of a corpus
MOST_VALUES = 100  # values of a column up to which it is a slice: more are names or measurements, not kinds
MOST_CHARACTERS = 80  # of a value, and of a column's name
_MOST_LOOKED_AT = 100  # columns of a table that are looked at
_MOST_NAMED = 8  # columns that a remark names
OwnCells = tuple[tuple[str, str], ...]  # what one row states: (column, value)


class OwnColumns:
    """Takes the cells of a table row by row, and tells at the end which columns are slices. A column with too many
    values is let go of as soon as that is known, so that no table of ids is held."""

    def __init__(self) -> None:
        self._values: dict[str, dict[str, str]] = {}
        self._passed: dict[str, str] = {}
        self._rows: dict[OwnCells, OwnCells] = {}
        self._where = ""

    def take(self, cells: Iterable[tuple[str, Any]], where: str) -> OwnCells:
        """Take the cells of a row that nothing else reads; return what is kept of them."""
        self._where = self._where or where
        found = tuple((column, value) for column, cell in cells if (value := self._value(column, cell, where)))
        return self._rows.setdefault(found, found) if found else ()

    def of_pictures(self, rows: Mapping[str, Sequence[OwnCells]], findings: Findings) -> dict[str, dict[str, str]]:
        """What each picture tells by the columns that are slices; remarks those that are, and those that are none. A
        slice has at most MOST_VALUES values, and one that two pictures share. Returns picture -> OWN and the column ->
        value: NOT_STATED where no row of the picture has one, SEVERAL where its rows differ. Empty where no column is a
        slice."""
        told: dict[str, dict[str, str]] = {picture: {} for picture in rows}
        for picture, stated in rows.items():
            for column, value in (cell for row in stated for cell in row):
                told[picture][column] = value if told[picture].get(column, value) == value else SEVERAL
        counts = {column: Counter(own[column] for own in told.values() if column in own) for column in self._values}
        for column, values in counts.items():  # by the pictures that each of its values is of
            if not values:
                self._passed[column] = "no value of a picture"
            elif set(values) == {SEVERAL}:
                self._passed[column] = "the rows of each picture differ"
            elif max(values.values()) == 1:
                self._passed[column] = "another value for each picture"
        kept = [column for column in counts if column not in self._passed]
        self._passed |= dict.fromkeys(kept[MOST_COLUMNS:], f"more than {MOST_COLUMNS} columns")
        kept = kept[:MOST_COLUMNS]
        self._remark({column: counts[column] for column in kept}, len(rows), findings)
        if not kept:
            return {}
        return {
            picture: {OWN + column: own.get(column, NOT_STATED) for column in kept} for picture, own in told.items()
        }

    def _value(self, column: str, cell: object, where: str) -> str:
        """The text of a cell; empty where it states nothing, or its column is no slice."""
        if column in self._passed:
            return ""
        if column not in self._values:
            if len(column) > MOST_CHARACTERS or not column.isprintable():
                told = f"a name of {len(column):,} characters, at most {MOST_CHARACTERS} that can be printed are read"
                self._passed[column] = told
                return ""
            if len(self._values) >= _MOST_LOOKED_AT:
                self._passed[column] = f"more than {_MOST_LOOKED_AT} columns"
                return ""
        values, text = self._values.setdefault(column, {}), _text(cell)
        if text is None:
            reason = f"{where} holds a {type(cell).__name__}, no text or number"
        elif len(text) > MOST_CHARACTERS:
            reason = f"{where} holds {len(text):,} characters"
        elif text and text not in values and len(values) == MOST_VALUES:
            reason = f"more than {MOST_VALUES} different values"
        else:
            return values.setdefault(text, text) if text else ""
        del self._values[column]
        self._passed[column] = reason
        return ""

    def _remark(self, kept: Mapping[str, Counter[str]], pictures: int, findings: Findings) -> None:
        said = [
            f"{column!r} ({len(values)} values, not stated of {pictures - values.total()} pictures)"
            for column, values in kept.items()
        ]
        passed = [f"{column[:40]!r} ({reason})" for column, reason in self._passed.items()]
        for code, told in (("column-kept", said), ("column-passed-over", passed)):
            if told:
                more = f" and {len(told) - _MOST_NAMED:,} more" if len(told) > _MOST_NAMED else ""
                findings.count(code, len(told), Rejection(self._where, code, ", ".join(told[:_MOST_NAMED]) + more))


def _text(cell: object) -> str | None:
    """A cell as a category, empty where it states nothing; None for a list or an object."""
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float):
        cell = None if math.isnan(cell) else int(cell) if cell.is_integer() else cell
    if isinstance(cell, int | float):
        return str(cell)
    text = None if isinstance(cell, dict) else said_text(cell)
    if text is None:
        return None
    return "".join(each if each.isprintable() else "\ufffd" for each in " ".join(text.split()))


CAPTION_FILES = ("candidates.json", "predictions.jsonl", "captions.csv", "captions.jsonl", "FineCapEval.csv")
"""Looked for in the folder, where no option names a file; of several, the owner says which."""

_METADATA = ("metadata.csv", "metadata.jsonl", "metadata.parquet")
_CAPTIONS = ("captions.txt", "captions.json", "captions.tsv", "captions.token")
_RESULTS = ("results_20130124.token", "results.csv", "Flickr8k.token.txt", "results.json")
MORE_FILES = (*_METADATA, *_CAPTIONS, *_RESULTS)
"""Looked for after those; the first that is there counts."""

BOX_FILES = ("boxes.csv", "boxes.json")

_BOX_COLUMNS = ("x", "y", "width", "height")
_TURN = ("rotation", "attributes", "angle", "theta")  # what may say that a box is turned
_FINE = ("critical_objects", "backgrounds", "relationships")
"""What M-FineCap lists beside a caption; the critical objects are what a substitution lets change places."""
_FINECAPEVAL = "object"
"""FineCapEval's name of the first. Source: j-min/CLIP-Caption-Reward, tools/eval_finecapeval.py; Cho et al. 2022."""
_BETWEEN = re.compile(r"\\?;")  # between two phrases of a cell: ``;``, or FineCapEval's backslash before it
SOURCES = ("item_group", "second_group")
"""Columns that name what pictures share, as stored items do; see :class:`core.corpora.schema.Item`."""
_PLACED = (*_BOX_COLUMNS, "rotation", "angle", "theta")
_READ = (*SOURCES, "language", "label", "category", "box", *_FINE, _FINECAPEVAL, "background", "relation", *_PLACED)
_NUMBERS = re.compile(r"[\d\s.,+eE-]*")
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")


@dataclass(frozen=True, slots=True)
class Note:
    """What one line says about one image; everything but the image may be missing."""

    where: str
    image: str  # the image as the file names it: a path in the folder, a file name or its stem
    caption: str | None = None
    language: str | None = None  # ISO 639-1 code, None where the file states none
    label: str | None = None
    category: str | None = None
    box: Any = None  # x, y, width, height in px, still unchecked
    # what the file says of how the box is turned, still unchecked
    turn: Mapping[str, Any] = field(default_factory=dict)
    named: tuple[str, ...] = ()  # critical objects of the caption, as the file lists them
    own: OwnCells = ()  # what the line states in columns that nothing reads
    group: tuple[str, ...] = ()  # what the picture shares with others, and a second such thing; empty: nothing


def read_caption_notes(path: Path, own: OwnColumns, *, below: str = "") -> Iterator[Note]:
    """Read a file of captions in any layout of :mod:`core.corpora.caption_tables`. A row may also state a language, a
    label, a category, its sources (item_group, second_group), critical_objects (a list, ``;`` between them in a table;
    a column ``object`` in FineCapEval's) and a box, x, y, width, height.
    ``below``: the folder that the file names pictures from, where it is not the folder of the pictures, with ``/``.
    Raises BadCorpus if the file is malformed, or holds no caption."""
    table = read_caption_table(path)
    captions = 0
    for row in table.rows():
        said = row.captions or row.references
        captions += len(said)
        if not any(said) and any(row.rest.get(name) for name in ("label", "box", "x")):
            said = ()  # a row of a label or a box alone
        yield from _notes(table, row, said or (None,), own, below)
    if not captions and path.suffix.lower() not in PACKED:  # whose pictures are there all the same
        raise BadCorpus(f"{path} holds no caption; call its column or key {', '.join(SAID[:-1])} or {SAID[-1]}")


def read_caption_beside(image: str, path: Path) -> Iterator[Note]:
    """Read the captions of one picture from the text file of its name, one a line; numbers alone are none.
    Raises BadCorpus if it is no text."""
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if line.strip() and not _NUMBERS.fullmatch(line):  # as YOLO keeps boxes
            yield Note(f"{path.name}, line {number}", image, line)


def read_box_notes(path: Path, own: OwnColumns) -> Iterator[Note]:
    """Read boxes: a table with columns image, x, y, width, height [, label, category, rotation], or JSON. The JSON form
    is ``{image: {"box": [x, y, width, height], "label": …, "category": …}}``, or a list of such objects for an image
    with several. Raises BadCorpus if the file is malformed as a whole."""
    if path.suffix.lower() != ".json":
        table = read_caption_table(path)
        for row in table.rows():
            if missing := [column for column in _BOX_COLUMNS if column not in row.rest]:
                told = f"{path} has no column {missing[0]!r}; its first line must name image, {', '.join(_BOX_COLUMNS)}"
                raise BadCorpus(told)
            yield from _notes(table, row, (None,), own, "")
        return
    content = read_json(path)
    if not isinstance(content, dict):
        raise BadCorpus(f"{path} must hold one JSON object {{image: {{box, label}}}}, got {type(content).__name__}")
    boxes = ((image, value if isinstance(value, list) else [value]) for image, value in content.items())
    for image, number, entry in ((image, *each) for image, listed in boxes for each in enumerate(listed)):
        if not isinstance(entry, dict) or "box" not in entry:
            raise BadCorpus(f"{path}: the entry of {image!r} needs a box [x, y, width, height], got {str(entry)[:60]}")
        words: dict[str, Any] = {
            name: str(entry[name]).strip() or None for name in ("label", "category") if entry.get(name)
        }
        yield Note(f"{path.name} {image}[{number}]", image, **words, box=entry["box"], turn=_turn(entry))


def language_code(text: str) -> str | None:
    """Return a language code in the form that captions are kept by, or None where the text is none."""
    language, dash, region = text.strip().replace("_", "-").partition("-")
    code = language.lower() + dash + region
    return code if _LANGUAGE.fullmatch(code) else None


def _turn(cells: Mapping[str, Any]) -> dict[str, Any]:
    return {name: cells[name] for name in _TURN if cells.get(name) not in (None, "")}


def _notes(
    table: CaptionTable, row: CaptionRow, captions: Iterable[str | None], own: OwnColumns, below: str
) -> Iterator[Note]:
    where, cells = table.where(row.number), row.rest
    if not cells:
        for caption in captions:
            yield Note(where, below + row.picture, caption)
        return
    words = {name: _word(cells.get(name), name, where) for name in ("language", "label", "category")}
    if placed := [name for name in _PLACED if name in cells]:
        cells = {**cells, **dict(zip(placed, pointed([cells[name] for name in placed], table.between), strict=True))}
    box = [cells.get(column) for column in _BOX_COLUMNS] if {"x", "y"} & cells.keys() else []
    named = _named(cells, where, divided=bool(table.columns))
    group = tuple("" if cells.get(name) is None else str(cells[name]).strip() for name in SOURCES)
    others = own.take(((column, cell) for column, cell in cells.items() if column not in _READ), where)
    for caption in captions:
        yield Note(
            where,
            below + row.picture,
            caption,
            box=box if any(box) else cells.get("box"),
            turn=_turn(cells),
            named=named,
            own=others,
            group=group if any(group) else (),
            **words,
        )


def _word(value: object, name: str, where: str) -> str | None:
    if value is not None and not isinstance(value, str):
        if name != "language":  # the number of a class, as Hugging Face's folders state it
            return None
        raise BadCorpus(f"{where}: {name} must be a code such as de, got {str(value)[:40]!r}")
    return (value or "").strip() or None


def _named(cells: Mapping[str, Any], where: str, *, divided: bool) -> tuple[str, ...]:
    column = next((name for name in (_FINE[0], _FINECAPEVAL) if cells.get(name)), None)
    if column is None:
        return ()
    listed = _BETWEEN.split(cells[column]) if divided else cells[column]
    if not isinstance(listed, list) or not all(isinstance(each, str) for each in listed):
        raise BadCorpus(f"{where}: {column} must be a list of texts, got {str(listed)[:40]!r}")
    return tuple(text for each in listed if (text := each.strip()))


_NO_IMAGES = (*ENDINGS, ".gz", ".tar", ".parquet", ".md", ".html", ".xml", ".yaml", ".yml", ".py", ".zip")


def choose_file(root: Path, given: str | None, names: tuple[str, ...], *, option: str) -> Path | None:
    """Return the file that an option names, else the only one of some names that the folder holds, else None.
    Raises BadCorpus if the folder has several; InvalidInput if the option names no file, or one that a relative path
    may not reach."""
    if given is not None:
        path = ordinary(Path(given) if Path(given).is_absolute() else inside(root, given))
        if not path.is_file():
            raise InvalidInput(f"no file {path}; name one in {root}, or give an absolute path")
        return path
    found = [root / name for name in names if (root / name).is_file()]
    if len(found) > 1:
        listed = " and ".join(path.name for path in found)
        raise BadCorpus(f"{root} holds {listed}; say which to read, e.g. --option {option}={found[0].name}")
    return inside(root, found[0].name) if found else None


def caption_files(root: Path, given: str | None, paths: Iterable[str]) -> list[tuple[Path, str]]:
    """The files of captions of a folder, each with the folder below it that it is for, ``""`` or ``train/``.
    ``given``: by the option; None: the only one of CAPTION_FILES, else the first of MORE_FILES, else those that lie
    beside pictures in the folders below.
    Raises BadCorpus, InvalidInput as :func:`choose_file`."""
    if chosen := choose_file(root, given, CAPTION_FILES, option="captions"):
        return [(chosen, "")]
    found: list[tuple[Path, str]] = []
    folders = dict.fromkeys(["", *(folder + "/" for path in paths if (folder := path.rpartition("/")[0]))])
    for folder in folders:
        there = [name for name in (*CAPTION_FILES, *MORE_FILES) if (root / folder / name).is_file()]
        if there and not folder:
            return [(inside(root, there[0]), "")]
        found += [(inside(root, folder + name), folder) for name in there[:1]]
    return found


def unread_files(root: Path, read: Iterable[Path]) -> list[str]:
    """Names of files in a folder that may hold captions and are not read."""
    known, found = {path.resolve() for path in read}, []
    for path in root.iterdir():
        name = path.name.lower().removesuffix(".gz")
        called = name.endswith((*ENDINGS, ".parquet", ".tar")) and (not name.endswith(".txt") or "caption" in name)
        hidden = path.name.startswith(".") or in_kernel(path.absolute())
        if called and not hidden and path.is_file() and path.resolve() not in known:
            found.append(path.name)
    return sorted(found)


def find_images(root: Path, findings: Findings, packed: Mapping[str, Path]) -> dict[str, Path]:
    """Return the images by their path in the folder, sorted, and those packed in files of it; notes what is refused.
    Raises BadCorpus if there is none."""
    found = {**dict(_images(root, findings)), **packed}
    if not found:
        told = "no JPEG, PNG, WebP, GIF, TIFF or BMP image, and no Parquet or tar that packs some"
        raise BadCorpus(f"{root} holds {told}; give a folder that does")
    return found


def packed_images(root: Path, *, most: int | None = None) -> dict[Path, dict[str, Path]]:
    """Return the images in each packed file of a folder, by the file's path and their own below it.
    ``most``: images after which no further file is unpacked.
    Raises BadCorpus as :func:`core.corpora.packed_pictures.unpacked`."""
    found: dict[Path, dict[str, Path]] = {}
    for path in packed_files(root):
        if most is not None and sum(map(len, found.values())) >= most:
            break
        below = path.relative_to(root).as_posix()
        found[path] = {f"{below}/{key}": image for key, image in _images(unpacked(path), Findings())}
    return found


def _images(root: Path, findings: Findings) -> Iterator[tuple[str, Path]]:
    for key, path in sorted(_files(root, findings)):
        try:
            inside(root, key)
        except InvalidInput as error:
            findings.leave_out(Rejection(key, "unsafe-path", str(error)))
            continue
        if path.suffix.lower() in SUFFIXES or _is_image(path):
            yield key, path


def _files(root: Path, findings: Findings) -> Iterator[tuple[str, Path]]:
    for folder, folders, names in os.walk(root):
        kept = (each for each in folders if not each.startswith("."))
        folders[:] = sorted(each for each in kept if in_kernel(Path(folder, each).absolute()) is None)
        for each in folders:
            path = Path(folder) / each
            if path.is_symlink():
                detail = f"{path} is a link to a folder; links are not followed, put the folder itself there"
                findings.leave_out(Rejection(path.relative_to(root).as_posix(), "linked-folder", detail))
        for each in names:
            path = Path(folder) / each
            if not each.startswith(".") and path.suffix.lower() not in _NO_IMAGES:
                yield path.relative_to(root).as_posix(), path


def _is_image(path: Path) -> bool:
    try:
        if not path.is_file():  # a pipe would wait for ever
            return False
        with path.open("rb") as file:
            return sniff(file.read(32)) is not None
    except OSError:
        return False


def assign(notes: Iterable[Note], paths: Mapping[str, Path], findings: Findings) -> dict[str, list[Note]]:
    """Sort the notes by the image that they name. An image that is not there is left out, once however many notes name
    it; a note that may mean several is remarked."""
    names = ImageNames(paths)
    assigned: dict[str, list[Note]] = {}
    for note in notes:
        try:
            assigned.setdefault(names.meant(note.image), []).append(note)
        except LeftOut as reason:
            if reason.code == "entry-no-image":
                findings.leave_out(reason.rejection(note.image))
            else:
                findings.remark(reason.rejection(note.where))
    return assigned


class NamedImages:
    """Images of a folder by the names that another file gives them: the path, the file name, or its stem. The folder is
    walked once, when the first name is no path of it.
    ``root``: the folder; links out of it are not followed."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._paths: dict[str, Path] = {}
        self._names: ImageNames | None = None

    @classmethod
    def of(cls, root: Path, images: str | None) -> "NamedImages":
        """Those of a corpus whose option ``images`` may name another folder, in its own or by an absolute path.
        Raises InvalidInput if there is no such folder, or a relative path leads out."""
        folder = root if images is None else Path(images) if Path(images).is_absolute() else inside(root, images)
        if not ordinary(folder).is_dir():
            raise InvalidInput(f"no folder {folder} for the pictures; give images=PATH, in {root} or absolute")
        return cls(folder)

    def holds(self, name: str) -> bool:
        """Whether there is one image of a name."""
        try:
            self.find(name, name)
        except LeftOut:
            return False
        return True

    def find(self, name: str, where: str) -> Path:
        """Return the image of a name.
        Raises LeftOut if there is none, there are several, or the name leads out of the folder."""
        try:
            path = inside(self.root, name)
        except InvalidInput as error:
            if (last := below_root(name)) != name and self.holds(last):
                return self.find(last, where)
            raise LeftOut("unsafe-path", f"{where}: {error}") from error
        if path.is_file():
            return path
        if self._names is None:
            self._paths = dict(_images(self.root, Findings()))
            for packed in packed_images(self.root).values():
                self._paths |= packed
            self._names = ImageNames(self._paths)
        return self._paths[self._names.meant(name)]
