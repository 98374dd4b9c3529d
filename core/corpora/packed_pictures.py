"""Pictures inside other files, each such file as a folder: Parquet with pictures in a column, and webdataset's tar.

- Parquet: a column of ``{bytes, path}`` (Hugging Face), or of bytes that is called as a picture is (img2dataset's
  ``jpg``); the other columns are a caption table's.
- tar: members of one name are one sample, ``000.jpg`` with ``000.txt`` (captions, one a line) and ``000.json`` (cells
  of a caption table).

What such a file holds is unpacked into the cache, in a folder named by the file's content: the pictures, and CAPTIONS,
which :mod:`core.corpora.caption_tables` reads. No name in it is trusted: what leads out, is hidden or stands twice is
named by its number instead.

Sources: huggingface.co/docs/datasets/image_dataset; webdataset/webdataset, README; rom1504/img2dataset, README.

Pictures that come inside another file, or are cut out of one: kept as files of the cache, named by their bytes.
"""

import hashlib
import json
import os
import re
import tarfile
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from core import settings
from core.corpora.corpus_files import LeftOut, Record, decoded, inside, parse_json, shown
from core.corpora.image_header import MAX_BYTES, SUFFIXES, sniff
from core.corpora.ordinary_paths import in_kernel, ordinary
from core.corpora.table_cells import IMAGE, SAID, plain_name, roles_of
from core.errors import BadCorpus, InvalidInput, StoreError, first_line
from core.file_contents import known_sha256
from core.writing import Standing, write_folder_whole

if TYPE_CHECKING:
    import pyarrow as pa


PACKED = (".parquet", ".tar")  # endings of the files that are unpacked

CAPTIONS = "captions.jsonl"
"""File of an unpacked folder with a line for each sample: its picture, and what the file says of it."""

MOST_BYTES = 64 << 30  # most bytes that one file may unpack to
MOST_GROUP = 4 << 30  # most bytes of a Parquet file's group of rows, unpacked: one is in memory at a time
_MOST_TEXT = 10 << 20  # most bytes of a text of a sample
_TOGETHER = 16  # rows that are in memory at a time
_LONGEST = 200  # most bytes of a name that is kept; a file system takes 255
_FORM = 3  # of what is written of a file's content; another number where the same file is unpacked otherwise

_NUMBERED = re.compile(r"captions?_?\d+")
"""A column for each caption of a picture: Flickr8k's ``caption_0`` to ``caption_4`` on Hugging Face's hub."""

_CAPTIONS_OF = ("txt", "text", "caption")  # endings of a sample's captions

_Sample = tuple[dict[str, Any], str, bytes | None]
"""Cells by column, what the file calls the picture, and its bytes; None where there are none, or too many."""


def packed_files(root: Path) -> list[Path]:
    """The files of a folder, and of those below it, that hold pictures; sorted, links not followed."""
    found = [
        Path(place, name)
        for place, folders, names in os.walk(root)
        if not folders.sort()  # sorts in place
        and not any(part.startswith(".") for part in Path(place).relative_to(root).parts)
        for name in sorted(names)
        if name.lower().endswith(PACKED) and not name.startswith(".")
    ]
    return [path for path in found if in_kernel(path.resolve()) is None and _packs(root, path)]


def unpacked(path: Path, *, compared: bool = False, anew: bool = False) -> Path:
    """Return the folder of the cache that holds what a file packs; unpacked once for each content.
    ``compared``: whether the reader compares every picture with its digest; nothing is synced then.
    ``anew``: although it is there, as a picture of it was damaged or deleted.
    Raises BadCorpus if it is damaged, or larger than is read; the sentence says where. Raises StoreError if the cache
    cannot be written."""
    ordinary(path)
    try:
        digest = known_sha256(path)
    except OSError as error:
        raise BadCorpus(f"{path} cannot be read ({error.strerror or error}); restore it or correct the path") from error
    folder = settings.cache_dir() / "unpacked" / f"{digest}-{_FORM}"
    if anew or not (folder / CAPTIONS).is_file():
        samples = _of_tar(path) if path.suffix.lower() == ".tar" else _of_parquet(path)
        standing: Standing = "replaced" if folder.exists() else "refused"
        try:
            with _readable(path):
                write_folder_whole(folder, lambda new: _write(samples, new), standing=standing, sync=not compared)
        except StoreError:
            if not (folder / CAPTIONS).is_file():  # else another process was faster
                raise
    return folder


def _packs(root: Path, path: Path) -> bool:
    """Whether a file in a folder holds pictures; not one that cannot be read, which is named as unread."""
    try:
        inside(root, path.relative_to(root).as_posix())
        if not path.is_file():
            return False
        with _readable(path):
            if path.suffix.lower() == ".tar":
                with tarfile.open(path, "r:") as held:
                    return any(member.name.lower().endswith(tuple(SUFFIXES)) for member in held)
            import pyarrow.parquet as pq

            return _picture_column(pq.read_schema(path)) is not None
    except (BadCorpus, InvalidInput):
        return False


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, tarfile.TarError, EOFError, ValueError, OverflowError) as error:
        reason = first_line(error)
        raise BadCorpus(f"{path} is damaged or no {path.suffix} file ({reason}); copy or make it again") from error


def _write(samples: Iterator[_Sample], folder: Path) -> None:
    held: dict[str, str] = {}
    with (folder / CAPTIONS).open("w", encoding="utf-8") as lines:
        for number, (cells, called, data) in enumerate(samples):
            name = called
            if data is not None:
                digest = hashlib.sha256(data).hexdigest()
                name = _name(called, number, data, digest, held)
                if name.casefold() not in held:
                    held[name.casefold()] = digest
                    (folder / name).parent.mkdir(parents=True, exist_ok=True)
                    (folder / name).write_bytes(data)
            if cells or data is None:
                named = {"image": name} if name else {}
                lines.write(json.dumps({**named, **cells}, default=str) + "\n")


def _name(called: str, number: int, data: bytes, digest: str, held: Mapping[str, str]) -> str:
    """Name of a picture's file: what it is called where that is safe and free, or taken by the same bytes. Folders of a
    name do not end as pictures do, so that none is ever a file, too."""
    ending = next((each for each, kind in SUFFIXES.items() if kind == sniff(data[:32])), ".bin")
    path = PurePosixPath(called.replace("\\", "/"))
    parts = path.parts[-1:] if path.is_absolute() or ":" in called else path.parts
    own = "/".join(parts) + ("" if path.suffix.lower() in SUFFIXES else ending)
    safe = parts and own.isprintable() and len(own.encode(errors="replace")) <= _LONGEST
    inward = not any(part.startswith(".") or PurePosixPath(part).suffix.lower() in SUFFIXES for part in parts[:-1])
    if safe and inward and not parts[-1].startswith(".") and held.get(own.casefold(), digest) == digest:
        return own
    own = f"{number:06d}{ending}"
    while held.get(own, digest) != digest:
        own = f"n{own}"
    return own


def _of_tar(path: Path) -> Iterator[_Sample]:
    """Samples of webdataset's tar: neighbours of one name up to its first dot."""
    with tarfile.open(path, "r:") as held:
        key, parts = "", dict[str, bytes | None]()
        for member in held:
            folder, _, last = member.name.removeprefix("./").rpartition("/")
            stem, _, ending = last.partition(".")
            if member.isdir() or not stem:  # a hidden file, as macOS adds them
                continue
            if not member.isreg() or member.issparse():
                told = f"{shown(member.name)} is a link, a device or sparse and no plain file"
                raise BadCorpus(f"{path}: {told}; pack the files themselves")
            if (whole := f"{folder}/{stem}".lstrip("/")) != key:
                yield from _sample(path, key, parts)
                key, parts = whole, {}
            parts[ending.lower()] = _member(path, held, member)
        yield from _sample(path, key, parts)


def _member(path: Path, held: tarfile.TarFile, member: tarfile.TarInfo) -> bytes | None:
    """Bytes of a picture or a text; None where they are too many, or neither."""
    ending = PurePosixPath(member.name).suffix.lower()
    if ending in SUFFIXES:
        most = MAX_BYTES
    elif ending[1:] in (*_CAPTIONS_OF, "json"):
        most = _MOST_TEXT
    else:
        return None
    file = held.extractfile(member) if member.size <= most else None
    data = file.read() if file else None
    if data is not None and len(data) < member.size:
        raise BadCorpus(f"{path} is cut off in {shown(member.name)}; copy or make it again")
    return data


def _sample(path: Path, key: str, parts: Mapping[str, bytes | None]) -> Iterator[_Sample]:
    """The sample of some members, with as many lines as it has pictures. What a dot in the name of a picture has beside
    it is said of that picture first: of ``a.1.jpg`` ``a.1.txt`` before ``a.txt``."""
    shared = _cells(path, key, parts, "")
    pictures = [ending for ending in parts if f".{ending.rpartition('.')[2]}" in SUFFIXES]
    for ending in pictures:
        before = ending[: ending.rfind(".") + 1]
        own = dict[str, Any]()
        with suppress(BadCorpus):  # what is no description of a picture is another field of the sample
            own = _cells(path, key, parts, before) if before else {}
        said = any(cell for name, cell in own.items() if plain_name(name) in SAID)
        told = {**_unsaid(shared), **own} if said else {**shared, **_unsaid(own)}
        yield told, f"{key}.{ending}", parts[ending]
    if shared and not pictures:
        yield shared, key, None


def _unsaid(cells: Mapping[str, Any]) -> dict[str, Any]:
    return {name: cell for name, cell in cells.items() if plain_name(name) not in SAID}


def _cells(path: Path, key: str, parts: Mapping[str, bytes | None], before: str) -> dict[str, Any]:
    """What the members with an ending after ``before`` say."""
    cells: dict[str, Any] = {}
    where = f"{path}, {shown(key)}"
    if told := parts.get(f"{before}json"):
        held = parse_json(decoded(told, where), where=where)
        named = held.items() if isinstance(held, dict) else ()
        cells = {name: cell for name, cell in named if plain_name(name) not in IMAGE}
    for ending in _CAPTIONS_OF:
        if text := parts.get(f"{before}{ending}"):
            cells = _unsaid(cells)
            cells["caption"] = [line for line in re.split(r"[\r\n]+", decoded(text, where)) if line.strip()]
            break
    return cells


def _of_parquet(path: Path) -> Iterator[_Sample]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        schema, about = file.schema_arrow, file.metadata
        sizes = [about.row_group(place).total_byte_size for place in range(about.num_row_groups)]
        if max(sizes, default=0) > MOST_GROUP or sum(sizes) > MOST_BYTES:
            told = f"{sum(sizes):,} bytes, {max(sizes):,} of them in one group of rows"
            most = f"at most {MOST_BYTES:,} and {MOST_GROUP:,} are read"
            raise BadCorpus(f"{path} unpacks to {told}, and {most}; write it in parts")
        picture = _picture_column(schema)
        read = [each.name for each in schema if each.name == picture or not _holds_bytes(each.type)]
        classes = _classes(schema)
        batches = file.iter_batches(batch_size=_TOGETHER, columns=read)
        for number, cells in enumerate(cells for batch in batches for cells in batch.to_pylist()):
            for name, words in classes.items():
                place = cells.get(name)
                cells[name] = words[place] if isinstance(place, int) and 0 <= place < len(words) else place
            if numbered := [name for name in cells if _NUMBERED.fullmatch(plain_name(name))]:
                cells.setdefault("captions", [cells.pop(name) for name in numbered])
            if not picture:
                yield cells, "", None
                continue
            held = cells.pop(picture)
            data, path_of = (held.get("bytes"), held.get("path")) if isinstance(held, dict) else (held, None)
            roles = roles_of(tuple(cells))
            stated = cells.pop(roles.image) if roles.image else None
            # called by a column of names, else by its path, its id or its number
            names = (stated, path_of, cells[roles.key] if roles.key else None)
            called = next((str(each) for each in names if each not in (None, "")), f"{number:06d}")
            yield cells, called, None if data is not None and len(data) > MAX_BYTES else data


def _classes(schema: "pa.Schema") -> dict[str, list[str]]:
    """Words of the columns that hold numbers of classes, as Hugging Face's datasets state them beside the schema."""
    told = (schema.metadata or {}).get(b"huggingface")
    try:
        features = json.loads(told)["info"]["features"] if told else {}
        found = {
            name: each["names"]
            for name, each in features.items()
            if isinstance(each, dict) and each.get("_type") == "ClassLabel"
        }
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):  # another's metadata says nothing
        return {}
    return {name: words for name, words in found.items() if isinstance(words, list) and name in schema.names}


def _picture_column(schema: "pa.Schema") -> str | None:
    """The column of a Parquet file that holds pictures, by its type, one called ``image`` first; None where none."""
    import pyarrow as pa

    def rank(field: "pa.Field") -> int:
        name = plain_name(field.name)
        if pa.types.is_struct(field.type) and {"bytes", "path"} <= {each.name for each in field.type}:
            return 1 if name in IMAGE else 2
        return 3 if _holds_bytes(field.type) and (name in IMAGE or f".{name}" in SUFFIXES) else 0

    found = [field for field in schema if rank(field)]
    return min(found, key=rank).name if found else None


def _holds_bytes(kind: "pa.DataType") -> bool:
    import pyarrow as pa

    if pa.types.is_struct(kind):
        return any(_holds_bytes(each.type) for each in kind)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return _holds_bytes(kind.value_type)
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind))


def parquet_columns(path: Path) -> list[str]:
    """Names of the columns of a Parquet file. Raises BadCorpus if it is damaged."""
    import pyarrow.parquet as pq

    with _as_parquet(path):
        return [str(name) for name in pq.read_schema(path).names]


def parquet_records(path: Path, columns: Sequence[str] | None = None) -> Iterator[Record]:
    """Yield the rows of a Parquet file, pictures inside as bytes, a few in memory at a time.
    ``columns``: that are read; None: all.
    Raises BadCorpus if it is damaged, or a group of its rows too large."""
    import pyarrow.parquet as pq

    with _as_parquet(path), pq.ParquetFile(path) as file:
        groups = [file.metadata.row_group(index).total_byte_size for index in range(file.metadata.num_row_groups)]
        if groups and max(groups) > MOST_GROUP:
            raise BadCorpus(f"{path} has a row group of {max(groups) / 1e9:.1f} GB; write it with smaller ones")
        batches = file.iter_batches(batch_size=_TOGETHER, columns=columns)
        rows = (row for batch in batches for row in batch.to_pylist())
        yield from ((f"{path.name}, row {number}", row) for number, row in enumerate(rows, start=1))


@contextmanager
def _as_parquet(path: Path) -> Iterator[None]:
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError) as error:
        told = " ".join(str(error).split())
        raise BadCorpus(f"{path} cannot be read as Parquet ({told}); download it again") from error


def keep_image(data: bytes, *, folder: str, where: str) -> tuple[Path, str]:
    """Keep the bytes of an image as a file of the cache; return its path and the sha256 of the bytes.
    ``where``: what messages call the picture.
    Raises LeftOut ``bad-image`` where they are no image, or too many; StoreError if the cache cannot be written."""
    kind = sniff(data[:32])
    suffix = next((suffix for suffix, name in SUFFIXES.items() if name == kind), None)
    if suffix is None or len(data) > MAX_BYTES:
        raise LeftOut("bad-image", f"{where}: {len(data):,} bytes that are no image or too many; leave the line out")
    digest = hashlib.sha256(data).hexdigest()
    path = settings.cache_dir() / folder / digest[:2] / f"{digest}{suffix}"
    if path.is_file() and path.stat().st_size == len(data):
        return path, digest
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, scratch = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(scratch).replace(path)
    except OSError as error:
        raise StoreError(f"the pictures cannot be kept in {path.parent} ({error}); free some disk") from error
    return path, digest
