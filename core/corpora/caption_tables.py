"""Captions as people keep them, in one reader for every command and page: who said what of which picture.

- JSON ``{image: caption}`` or ``{image: [captions]}`` (clipscore's candidates and references);
- JSON ``[{"image_id", "caption"}]`` (COCO's results), lists of records, and objects that hold such a list under one of
  LISTS (TextCaps, FiftyOne);
- MSR-VTT's, ``{"sentences": [{"video_id", "caption"}]}``;
- COCO's captions, ``{"images": [{"id", "file_name"}], "annotations": [{"image_id", "caption"}]}`` (NoCaps, VizWiz), and
  Karpathy's splits, ``{"images": [{"filename", "sentences": [{"raw"}]}]}``;
- JSON lines of records (CaptionEvalKit, Hugging Face's ``metadata.jsonl``);
- tables with a line of columns and ``,``, ``;``, tab or ``|`` between cells (Hugging Face's ``metadata.csv``,
  Flickr8k's ``captions.txt``, Flickr30k's ``results.csv``);
- Parquet and webdataset's tar, as :mod:`core.corpora.packed_pictures` unpacks them;
- ``name#0<TAB>caption`` (Flickr30k's ``results_20130124.token``, Flickr8k's ``Flickr8k.token.txt``).

Any of them may be packed with gzip. Sources of the layouts: cocodataset.org/#format-results; karpathy/neuraltalk2;
huggingface.co/docs/datasets/image_dataset; Young et al. (2014), readme of Flickr30k; textvqa.org/textcaps.

Files of captioners: one system a file, a column of a table, or a value of its column ``system``.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from core.corpora.corpus_files import decoded, mark, parse_json, read_text, shown, whole
from core.corpora.corpus_files import key as plain_key
from core.corpora.image_places import ImageNames
from core.corpora.ordinary_paths import ordinary
from core.corpora.packed_pictures import CAPTIONS, PACKED, unpacked
from core.corpora.table_cells import (
    IMAGE,
    KEY,
    LINES,
    MOST_BYTES,
    Cells,
    listed_texts,
    plain_name,
    roles_of,
    too_long,
    written_list,
)
from core.errors import BadCorpus
from core.yes_no import says_nothing, seen

LISTS = ("annotations", "images", "data", "samples", "predictions", "results", "sentences")
"""What an object may call its list of records."""

ENDINGS = (".json", *LINES, ".csv", ".tsv", ".txt", ".token")  # endings of the files that are read; ``.gz`` may follow

_KNOWN = (*IMAGE, *KEY)
_SHORT = 7  # characters of the longest word for a caption that is not there, with some blanks
_NUMBER = re.compile(r"\s*[+-]?[\d.,]*\d[\d.,]*(e[+-]?\d+)?\s*%?\s*", re.IGNORECASE)  # as people write one
_TOKEN = re.compile(r"([^\t\n]+?)#(\d+)\t(.*)")
_RAW = ("raw", "caption", "text", "label")
"""What an object that stands for a caption calls its text: Karpathy's sentences, FiftyOne's classifications."""

_Record = tuple[int, Mapping[str, Any]]  # a place in a file, and what stands there by its name


class CaptionRow(NamedTuple):
    """What a file says in one place."""

    number: int  # of the line, or of the entry, from 1
    key: str  # id of the row: its own, else the picture as ``image`` has it
    image: str  # the picture as the file names it; empty where only an id tells it
    captions: tuple[str, ...]  # of the picture; empty texts where the file has none
    references: tuple[str, ...]  # captions by people beside a captioner's
    rest: Mapping[str, Any]  # every other cell by its column

    @property
    def picture(self) -> str:
        """What the row calls its picture."""
        return self.image or self.key


@dataclass(slots=True)
class CaptionTable:
    """A file of captions, read row by row."""

    name: str
    text: str = field(repr=False)  # its content
    ending: str  # of its name, which tells the format
    unit: str = "entry"  # what a row is in messages, once the first one is read
    # names of the columns of a table in its own spelling, by their plain ones, once it is read
    columns: dict[str, str] = field(default_factory=dict)
    between: str = ","  # what stands between the cells of a table, once it is read

    def rows(self) -> Iterator[CaptionRow]:
        """Read the rows, once.
        Raises BadCorpus naming the first that cannot be read, or if none holds a caption by anybody."""
        if self.ending in LINES:
            self.unit = "line"
            yield from self._told(self._lines())
        elif self.ending == ".json":
            text, self.text = self.text, ""  # not held beside what it says
            held = [parse_json(text, where=self.name, unique_keys=True)]
            del text
            yield from self._json(held.pop())
        else:
            self.unit = "line"
            named = _TOKEN.match(self.text) or self.ending == ".token"
            yield from self._told(self._tokens() if named else self._cells())

    def whole_rows(self) -> Iterator[CaptionRow]:
        """Read the rows, once, where a caption that is too long is not left out. Raises BadCorpus as :meth:`rows`, and
        naming the first row with a caption of more than MOST_CAPTION characters."""
        for row in self.rows():
            for text in (*row.captions, *row.references):
                if told := too_long("a caption", text):
                    raise BadCorpus(f"{self.where(row.number)} ({row.key[:80]}): {told}; shorten it")
            yield row

    def where(self, number: int) -> str:
        """What messages call a row."""
        return f"{self.name}, {self.unit} {number}"

    def _lines(self) -> Iterator[_Record]:
        for number, line in enumerate(self.text.split("\n"), start=1):
            if line.strip():
                record = parse_json(line, where=self.where(number), unique_keys=True)
                if not isinstance(record, dict):
                    raise BadCorpus(f"{self.where(number)} must be a JSON object, got {shown(record)}")
                yield number, record

    def _tokens(self) -> Iterator[_Record]:
        for number, line in enumerate(self.text.split("\n"), start=1):
            if line.strip():
                found = _TOKEN.fullmatch(line.rstrip("\r"))
                if found is None:
                    raise BadCorpus(f"{self.where(number)} must be name#number, a tab and a caption; mend the line")
                yield number, {"image": found[1], "comment_number": found[2], "caption": found[3]}

    def _json(self, value: Any) -> Iterator[CaptionRow]:
        if isinstance(value, dict):
            lists = [name for name in LISTS if _objects(value.get(name))]
            if {"images", "annotations"} <= set(lists):
                yield from self._told(self._coco(value["images"], value["annotations"]))
                return
            if not lists:
                for number, (key, held) in enumerate(value.items(), start=1):
                    if isinstance(held, dict):
                        yield self._row((number, {"id": key, **held}))
                    else:
                        usual = type(held) is str and len(held) > _SHORT and held.isascii()
                        said = (held,) if usual else self._texts(number, held, "", of=key)
                        yield CaptionRow(number, key, "", said, (), _NO_CELLS)
                return
            value = value[lists[0]]
        if not isinstance(value, list) or not value:
            raise BadCorpus(f"{self.name} must hold {{image: caption}} or [{{image_id, caption}}], got {shown(value)}")
        yield from self._told(self._listed(value))

    def _listed(self, records: list[Any]) -> Iterator[_Record]:
        for number, record in enumerate(records, start=1):
            if not isinstance(record, dict):
                raise BadCorpus(f"{self.where(number)} must be {{image_id, caption}}, got {shown(record)}")
            yield number, record

    def _coco(self, images: list[Any], annotations: list[Any]) -> Iterator[_Record]:
        """COCO's captions, all those of a picture together, in the order of their ids."""
        names = {plain_key(each.get("id")): each.get("file_name") for each in images}
        held: dict[str, list[tuple[int, Mapping[str, Any]]]] = {}
        for number, each in enumerate(annotations, start=1):
            own = plain_key(each.get("image_id")) if isinstance(each, dict) else None
            if own is None:
                raise BadCorpus(f"{self.where(number)} must be {{image_id, caption}}, got {shown(each)}")
            if not refused(each):
                held.setdefault(own, []).append((number, each))
        for key, found in held.items():
            found.sort(key=lambda each: each[0] if (own := whole(each[1].get("id"))) is None else own)
            captions = [each.get("caption") for _, each in found]
            yield found[0][0], {"image_id": key, "image": names.get(key), "captions": captions}

    def _cells(self) -> Iterator[_Record]:
        table = Cells(
            StringIO(self.text, newline=""),
            where=self.name,
            usual="\t" if self.ending == ".tsv" else ",",
            known=_KNOWN,
            bare="|",
        )
        if not table.header:
            told = "it has no column 'image'; its first line must name the columns, e.g. image,caption"
            raise BadCorpus(f"{self.name} is empty: {told}")
        header = [plain_name(cell) for cell in table.header]
        named = [name for name in header if name]
        if len(set(named)) < len(named):
            listed = ", ".join(map(str.strip, table.header))
            raise BadCorpus(f"{self.name} has the columns {listed}; each name may stand once")
        if not any(name in header for name in _KNOWN):
            told = f"no column 'image' and no column names the image otherwise; call it one of {', '.join(_KNOWN)}"
            raise BadCorpus(f"{self.name} has {told}")
        self.columns = {name: cell.strip() for name, cell in zip(header, table.header, strict=True) if name}
        self.between = table.between
        for number, row in table.rows():
            yield number, dict(zip(header, row))  # noqa: B905  # as many

    def _told(self, records: Iterable[_Record]) -> Iterator[CaptionRow]:
        return (self._row(record) for record in records if not refused(record[1]))

    def _row(self, record: _Record) -> CaptionRow:
        number, cells = record
        roles = roles_of(tuple(cells))
        image = self._identity(number, cells[roles.image]) if roles.image else ""
        key = (plain_key(self._identity(number, cells[roles.key])) if roles.key else "") or image
        if not key:
            column, where = roles.image or roles.key, self.where(number)
            told = f"id must name the image, and there is none; call it one of {', '.join(KEY)}"
            if column is not None:
                told = f"the image is not named, column {column!r} is empty; fill it in or remove the line"
            raise BadCorpus(f"{where}: {told}")
        if roles.number:
            key = f"{key}#{cells[roles.number]}"
        said: tuple[str, ...] = ()
        if roles.said:
            text = cells[roles.said]
            usual = type(text) is str and len(text) > _SHORT and text[0] != "[" and text.isascii()
            said = (text,) if usual else self._texts(number, text, roles.said)
        people: tuple[str, ...] = ()
        if roles.people:
            told = cells[roles.people]
            people = self._texts(number, listed_texts(told) if self.columns else told, roles.people)
        rest = {plain: cells[name] for plain, name in roles.rest} if roles.rest else _NO_CELLS
        return CaptionRow(number, key, image, said, tuple(filter(str.strip, people)) if people else people, rest)

    def _identity(self, number: int, value: object) -> str:
        if isinstance(value, str):
            return value.strip()
        if value is None:
            return ""
        own = None if isinstance(value, float) and not value.is_integer() else plain_key(value)
        if own is None:
            raise BadCorpus(f"{self.where(number)}: the image must be a text or a whole number, got {shown(value)}")
        return own

    def _texts(self, number: int, value: object, name: str, *, of: str = "") -> tuple[str, ...]:
        if self.columns and isinstance(value, str) and (held := written_list(value)) is not None:
            value = held  # as Flickr30k's annotations on the hub
        if isinstance(value, str) and len(value) > _SHORT and value.isascii():
            return (value,)
        found = tuple(map(said_text, value)) if isinstance(value, list) else (said_text(value),)
        if None in found:
            name = name or f"the caption of {of!r}"
            raise BadCorpus(f"{self.where(number)}: {name} must be a text or a list of texts, got {shown(value)}")
        return found or ("",)  # type: ignore[return-value]  # None was looked for


_NO_CELLS: Mapping[str, Any] = MappingProxyType({})


def refused(record: Mapping[str, Any]) -> bool:
    """Whether a record says that its caption is rejected or ready-made: VizWiz, nobody described the picture."""
    return bool(mark(record.get("is_rejected")) or mark(record.get("is_precanned")))


def _objects(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(each, dict) for each in value)


def said_text(value: object) -> str | None:
    """The text of a caption, empty where there is none; None for what is none."""
    if isinstance(value, dict):
        value = next((value[name] for name in _RAW if name in value), None)
    if isinstance(value, str):
        return "" if len(value) <= _SHORT and says_nothing(value) else seen(value)
    return "" if value is None or (isinstance(value, float) and math.isnan(value)) else None


def read_caption_table(path: Path) -> CaptionTable:
    """Open a file of captions; its ending tells the format.
    Raises BadCorpus if it cannot be read, or has another ending."""
    if path.suffix.lower() in PACKED:
        return CaptionTable(str(path), read_text(unpacked(path) / CAPTIONS), LINES[0])
    return CaptionTable(str(path), read_text(path), _ending(path.name))


def parse_caption_table(data: bytes, *, name: str) -> CaptionTable:
    """Likewise for what was uploaded under a name."""
    return CaptionTable(name, decoded(data, name), _ending(name))


def read_references(path: Path) -> dict[str, tuple[str, ...]]:
    """Read captions by people, by the picture as the file names it, and by an id that is no other picture's name.
    Raises BadCorpus as :meth:`CaptionTable.whole_rows`."""
    found: dict[str, list[str]] = {}
    by_id: dict[str, list[str]] = {}
    for row in read_caption_table(path).whole_rows():
        texts = [text for text in row.references or row.captions if text.strip()]
        found.setdefault(row.picture, []).extend(texts)
        by_id.setdefault(row.key, []).extend(texts)
    names = ImageNames(tuple(found))
    found |= {key: texts for key, texts in by_id.items() if not names.several(key)}
    return {key: tuple(dict.fromkeys(texts)) for key, texts in found.items()}


def _ending(name: str) -> str:
    path = Path(name.lower())
    ending = Path(path.stem).suffix if path.suffix == ".gz" else path.suffix
    if ending not in ENDINGS:
        told = f"captions are read from {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}; convert the file or rename it"
        raise BadCorpus(f"{name} is of no kind that is read: {told}")
    return ending


MOST_SYSTEMS = 100  # systems of one leaderboard, at most: 4 950 pairs of them

TELLERS = ("system", "captioner", "model", "method")
"""Columns that say whose caption a row holds, where a table has a row for each picture and system."""

_METADATA = """
    split subset set fold category categories supercategory class classes label labels tag tags domain topic genre style
    type source origin dataset corpus url image_url coco_url flickr_url link license licence lang language locale
    country site width height size format date time timestamp author annotator annotator_id worker_id photographer
    prompt question instruction md5 sha256 hash note notes remark remarks
"""
METADATA = frozenset((*_METADATA.split(), *TELLERS))
"""Plain names of columns that stand beside captions and are no captioner's."""

LEAST, HANDFUL = 4, 12  # pictures from which a column is known by its values, and the most that are a handful


@dataclass(frozen=True, slots=True)
class System:
    """The captions of one captioner.
    ``captions``: by the image as the file names it; the first is the system's, the others are further samples."""

    name: str  # unique on its leaderboard
    captions: Mapping[str, tuple[str, ...]]
    remark: str = ""  # which columns of its file were not taken as systems; empty: none


def read_systems(path: Path, *, name: str = "") -> tuple[System, ...]:
    """Read the systems of one file; see :func:`parse_systems`.
    ``name``: of its system; empty: the file's own without its ending. Of a table that names several, the one to take.
    Raises BadCorpus if the file cannot be read, or not as captions."""
    try:
        packed = path.suffix.lower() in PACKED
        if not packed and ordinary(path).stat().st_size > MOST_BYTES:
            raise BadCorpus(f"{path} has {path.stat().st_size:,} bytes and at most {MOST_BYTES:,} are taken; split it")
        table = read_caption_table(path) if packed else parse_caption_table(path.read_bytes(), name=path.name)
    except OSError as error:
        raise BadCorpus(f"{path} cannot be read ({error.strerror or error}); give a file of captions") from error
    return _systems(table, path.name, name)


def parse_systems(data: bytes, *, name: str) -> tuple[System, ...]:
    """Read the systems of one file from an upload.
    ``data``: what was uploaded, at most MOST_BYTES. ``name``: of the file; its ending says how it is read.
    Raises BadCorpus, in one sentence that names the file and the first entry that is wrong."""
    if len(data) > MOST_BYTES:
        raise BadCorpus(f"{name} has {len(data):,} bytes and at most {MOST_BYTES:,} are taken; split it")
    return _systems(parse_caption_table(data, name=name), name, "")


def _systems(table: CaptionTable, name: str, called: str) -> tuple[System, ...]:
    own = called.strip() or Path(name.removesuffix(".gz")).stem
    held, wide = _said(table, own)
    told = {column: why for column, texts in held.items() if wide and (why := _no_captions(column, texts))}
    if called and held:
        if own not in held:
            listed = f"{', '.join(held)[:200]}; leave the name {called!r} out or give one of these"
            raise BadCorpus(f"{name} names its systems itself, {listed}")
        told, held = {}, {own: held[own]}
    remark = f"{name}: not taken as systems: {', '.join(told.values())}; NAME={name} takes the column NAME alone"
    held = {column: texts for column, texts in held.items() if column not in told}
    if (held or wide) and not any(text.strip() for each in held.values() for texts in each.values() for text in texts):
        raise BadCorpus(
            f"{name} holds no caption: there is no column of captions beside the image; add one for each "
            f"system, or name it caption or prediction{f'. {remark}' if told else ''}"
        )
    for column, captions in held.items():  # one of scores is a slip that every later number would hide
        if captions and all(is_number(text) for texts in captions.values() for text in texts):
            first = next(iter(captions.values()))[0]
            raise BadCorpus(f"{name}: column {column!r} holds numbers such as {first!r} and no captions; leave it out")
    return tuple(System(column, captions, remark if told else "") for column, captions in held.items())


def _said(table: CaptionTable, own: str) -> tuple[dict[str, dict[str, tuple[str, ...]]], bool]:
    """Captions by system and picture, and whether the systems are columns; rows of one captioner are those of ``own``.
    Raises BadCorpus naming the first row of a picture that its system has captioned before."""
    held: dict[str, dict[str, tuple[str, ...]]] = {}
    known, wide = set[tuple[str, str]](), False
    for row in table.whole_rows():
        picture, wide = row.image or row.key, bool(table.columns) and not row.captions
        teller = next((str(row.rest[each] or "").strip() for each in TELLERS if each in row.rest), "")
        system = (not wide and teller) or own
        if (system, picture) in known:
            raise BadCorpus(f"{table.where(row.number)}: {picture!r} was there before; keep one")
        known.add((system, picture))
        if not wide:
            held.setdefault(system, {})
            held[system] |= {picture: row.captions} if row.captions else {}
        for column, cell in row.rest.items() if wide else ():
            texts = held.setdefault(table.columns[column], {})
            if (text := said_text(cell) or "").strip():
                texts[picture] = (text,)
    return ({own: held.popitem()[1]} if len(held) == 1 and not wide else held), wide


def _no_captions(column: str, held: Mapping[str, tuple[str, ...]]) -> str:
    """The column in words, where by its name or its few values it says what a picture is and not what it shows."""
    different = len(set(held.values()))
    if plain_name(column) in METADATA:
        return f"{column!r} (by its name)"
    few = len(held) >= LEAST and different <= min(HANDFUL, len(held) // 2)
    return f"{column!r} ({different} value{'s'[: different != 1]} for {len(held):,} pictures)" if few else ""


def unlike(systems: Sequence[System]) -> tuple[System, ...]:
    """Return the systems after checking that no two share a name and that they are not too many.
    Raises BadCorpus otherwise, or if there is none."""
    if not systems:
        raise BadCorpus("there is no system; give at least one file of captions")
    if len(systems) > MOST_SYSTEMS:
        raise BadCorpus(f"at most {MOST_SYSTEMS} systems stand on one leaderboard, got {len(systems)}; leave some out")
    names = [each.name for each in systems]
    twice = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if twice is not None:
        raise BadCorpus(f"two systems are called {twice!r}; rename one, as in NAME=path/to/candidates.json")
    return tuple(systems)


def is_number(text: str) -> bool:
    """Whether a cell is a number: ``0.512``, ``0,512``, ``1e-3``, ``51 %``, ``nan``."""
    try:
        float(text)
    except ValueError:
        return _NUMBER.fullmatch(text) is not None
    return True
