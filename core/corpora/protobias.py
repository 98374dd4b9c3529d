"""Prototypicality tests from a user's folder: a text, the picture that fits it, and prototypical ones that do not.

Source: paper E, section 3. A line is one triplet (text, correct picture, adversarial picture); it may also carry the
two pictures between them, so that the effect of the prototype and that of the wrong detail can be told apart.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.corpora.corpus_files import LeftOut, Record, csv_records, inside, jsonl_records, whole_number
from core.corpora.image_header import ImageHeader
from core.corpora.image_places import auditable
from core.corpora.packed_pictures import keep_image, parquet_columns, parquet_records
from core.corpora.registry import corpus_loader
from core.corpora.schema import Corpus, Item, Rejection, Rival
from core.errors import BadCorpus, InvalidInput

PAIR_FILES = ("pairs.jsonl", "pairs.csv")
"""Looked for in the folder, in this order; else Parquet shards, there and in its folder ``data``."""

IMAGES: Mapping[str, tuple[str, ...]] = {
    "correct_image": ("correct_image", "nonproto_right"),
    "nonproto-wrong": ("nonproto_wrong",),
    "proto-right": ("proto_right",),
    "proto-wrong": ("adversarial_image", "proto_wrong"),
}
"""The item's own picture and its rivals by role -> columns that may hold it."""

NEEDED = ("correct_image", "proto-wrong")
FACTS = ("domain", "subcategory", "knob", "socio_attr", "gender")
WORDS = ("text", "correct", "adversarial", *FACTS)
"""Columns of text. Source: paper E, prompt templates of Tables 3 to 5."""


def _records(root: Path) -> Iterator[Record]:
    """The lines of a folder, in the order of its files.
    Raises BadCorpus if the folder has no such file, or one is malformed as a whole."""
    for name in PAIR_FILES:
        path = root / name
        if path.is_file():
            yield from jsonl_records(path) if path.suffix == ".jsonl" else csv_records(path, _check_columns)
            return
    shards = sorted([*root.glob("*.parquet"), *root.glob("data/*.parquet")])
    if not shards:
        raise BadCorpus(f"{root} holds none of {', '.join(PAIR_FILES)} and no *.parquet; give the folder that does")
    known = {"id", *WORDS, *(column for columns in IMAGES.values() for column in columns)}
    for shard in shards:
        names = parquet_columns(shard)
        _check_columns(shard, names)
        yield from parquet_records(shard, [each for each in names if each in known])


def _check_columns(path: Path, names: Sequence[str]) -> None:
    needed = {"id": ("id",), "text": ("text",), **{key: IMAGES[key] for key in NEEDED}}
    for columns in needed.values():
        if not set(columns) & set(names):
            raise BadCorpus(f"{path} has no column {' or '.join(columns)}; it has {', '.join(map(str, names))[:300]}")


def _cell(value: Any) -> str | bytes | None:
    """A path or the bytes of an image; the hub keeps ``{"bytes": …, "path": …}``. Everything else is no image."""
    if isinstance(value, Mapping):
        value = value.get("bytes") or value.get("path")
    if isinstance(value, str):
        return value.strip() or None
    return value if isinstance(value, bytes) and value else None


_DESCRIPTION = (
    "Prototypicality test of folder {folder}: {n} texts, each with the picture that fits it and its rivals. The "
    "stereotypes of the domain demography are few and Western ones (paper E, Limitations) and serve as instruments: "
    "a failure there says something about an evaluator, and nothing about people."
)


@corpus_loader(
    name="protobias",
    summary="paper E's triplets, a text with right and wrong pictures: pairs.jsonl, pairs.csv or the hub's Parquet",
    options={
        "domain": "only lines of this domain: animal, object or demography as the file names it",
        "limit": "at most so many items, in the order of the file",
    },
)
def load_protobias(root: Path | None, *, domain: str | None = None, limit: Any = None) -> Corpus:
    """Read triplets or quadruples. Pictures inside Parquet are checked and kept as files in the cache. Columns: ``id``,
    ``text``, ``correct_image`` (or ``nonproto_right``), ``adversarial_image`` (or ``proto_wrong``), and where there are
    any ``nonproto_wrong``, ``proto_right``, ``domain``, ``subcategory``, ``knob``, ``socio_attr``, ``gender``, and
    ``correct``: the longer description, which becomes a second caption. Lines of one id and one text are items of one
    group, each with its own adversary.
    ``root``: the folder; paths of pictures are relative to it and stay inside.
    Raises BadCorpus if the folder has no such file, or one is malformed as a whole; InvalidInput if an option is wrong.
    """
    assert root is not None
    most = None if limit is None else whole_number(limit, name="limit")
    reader = _Reader(root)
    items: list[Item] = []
    for where, record in _records(root):
        if len(items) == most:
            break
        words = {name: value.strip() for name in WORDS if isinstance(value := record.get(name), str) and value.strip()}
        if domain is not None and words.get("domain") != domain:
            continue
        key = record.get("id")
        own = str(key).strip() if isinstance(key, str | int) and not isinstance(key, bool) else ""
        try:
            items.append(reader.item(where, own, words, record))
        except LeftOut as reason:
            reader.rejected.append(reason.rejection(own or where))
    description = _DESCRIPTION.format(folder=root.name, n=len(items))
    return Corpus("protobias", tuple(items), tuple(reader.rejected), description)


@dataclass(slots=True)
class _Reader:
    root: Path
    rejected: list[Rejection] = field(default_factory=list)
    seen: dict[str, list[str]] = field(default_factory=dict)  # texts by their id

    def item(self, where: str, own: str, words: Mapping[str, str], record: Mapping[str, Any]) -> Item:
        if not own or "text" not in words:
            raise LeftOut("missing-cell", f"{where} has no {'text' if own else 'id'}; fill it in")
        images: dict[str, str | bytes] = {}
        for name, columns in IMAGES.items():
            cell = next((cell for column in columns if (cell := _cell(record.get(column)))), None)
            if cell is not None:
                images[name] = cell
        lacking = [name for name in NEEDED if name not in images]
        if lacking:
            named = " or ".join(IMAGES[lacking[0]])
            raise LeftOut("missing-cell", f"{where} has no picture in {named}; fill it in")
        text, before = words["text"], self.seen.get(own, [])
        if any(other != text for other in before):
            told = f"id {own!r} was there before with another text; rename one"
            raise LeftOut("duplicate-id", f"{where}: {told}")
        files = {name: self._file(cell, f"{where}, {name}") for name, cell in images.items()}
        path, header, digest = files.pop("correct_image")
        self.seen[own] = [*before, text]
        rivals = []
        for name, (beside, its, hashed) in ((name, files[name]) for name in IMAGES if name in files):
            alike = (its.width, its.height) == (header.width, header.height)
            rivals.append(Rival(name, beside, {}, hashed, size=None if alike else (its.width, its.height)))
        return Item(
            id=f"{own}#{len(before) + 1}" if before else own,
            corpus="protobias",
            image_path=path,
            width=header.width,
            height=header.height,
            captions={"en": (text, *([words["correct"]] if "correct" in words else []))},
            source=where,
            group=own,
            bytes_sha256=digest,
            rivals=tuple(rivals),
            facts={name: words[name] for name in FACTS if name in words},
        )

    def _file(self, cell: str | bytes, where: str) -> tuple[Path, ImageHeader, str | None]:
        """Path, header, and the hash that a file of the cache must have."""
        if isinstance(cell, bytes):
            path, digest = keep_image(cell, folder="protobias", where=where)
            return path, auditable(path, where=where), digest
        try:
            path = inside(self.root, cell)
        except InvalidInput as error:
            raise LeftOut("unsafe-path", f"{where}: {error}") from error
        if not path.is_file():
            raise LeftOut("missing-image", f"{where}: there is no file {cell!r} in {self.root}; put it there")
        return path, auditable(path, where=where), None
