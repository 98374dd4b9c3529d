"""Lines of a prototypicality test, out of a file of pairs or the hub's Parquet shards, before anything is believed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.corpora.records import csv_records, jsonl_records
from core.errors import BadCorpus

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

_BATCH = 16
_MOST_GROUP_BYTES = 4 << 30
"""Largest row group of a shard that is opened, in bytes before compression."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line, its cells still unchecked.

    Args:
        where: what messages call it.
        words: texts by column; missing and empty cells are left out.
        images: a path in the folder, or the bytes of a file, by the keys of IMAGES.
    """

    where: str
    id: str | None
    words: Mapping[str, str]
    images: Mapping[str, str | bytes]


def read_lines(root: Path) -> Iterator[Line]:
    """Read the lines of a folder, in the order of its files.

    Raises:
        BadCorpus: if the folder holds no such file, or one is malformed as a whole.
    """
    for name in PAIR_FILES:
        path = root / name
        if path.is_file():
            records = jsonl_records(path) if path.suffix == ".jsonl" else csv_records(path, _check_columns)
            return (_line(where, record) for where, record in records)
    shards = sorted([*root.glob("*.parquet"), *root.glob("data/*.parquet")])
    if not shards:
        raise BadCorpus(f"{root} holds none of {', '.join(PAIR_FILES)} and no *.parquet; give the folder that does")
    return (line for shard in shards for line in _parquet(shard))


def _parquet(path: Path) -> Iterator[Line]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    number = 0
    try:
        with pq.ParquetFile(path) as file:
            names = [str(name) for name in file.schema_arrow.names]
            _check_columns(path, names)
            groups = [file.metadata.row_group(index).total_byte_size for index in range(file.metadata.num_row_groups)]
            if groups and max(groups) > _MOST_GROUP_BYTES:
                raise BadCorpus(f"{path} has a row group of {max(groups) / 1e9:.1f} GB; write it with smaller ones")
            known = {"id", *WORDS, *(column for columns in IMAGES.values() for column in columns)}
            wanted = [name for name in names if name in known]
            for batch in file.iter_batches(batch_size=_BATCH, columns=wanted):
                for record in batch.to_pylist():
                    number += 1
                    yield _line(f"{path.name}, row {number}", record)
    except (pa.ArrowException, OSError) as error:
        told = " ".join(str(error).split())
        raise BadCorpus(f"{path} cannot be read as Parquet ({told}); download it again") from error


def _check_columns(path: Path, names: Sequence[str]) -> None:
    needed = {"id": ("id",), "text": ("text",), **{key: IMAGES[key] for key in NEEDED}}
    for columns in needed.values():
        if not set(columns) & set(names):
            raise BadCorpus(f"{path} has no column {' or '.join(columns)}; it has {', '.join(map(str, names))[:300]}")


def _line(where: str, record: Mapping[str, Any]) -> Line:
    key = record.get("id")
    plain = isinstance(key, str | int) and not isinstance(key, bool) and str(key).strip()
    words = {name: value.strip() for name in WORDS if isinstance(value := record.get(name), str) and value.strip()}
    images: dict[str, str | bytes] = {}
    for name, columns in IMAGES.items():
        for column in columns:
            cell = _cell(record.get(column))
            if cell is not None:
                images.setdefault(name, cell)
    return Line(where, str(key).strip() if plain else None, words, images)


def _cell(value: Any) -> str | bytes | None:
    """A path or the bytes of an image; the hub keeps ``{"bytes": …, "path": …}``. Everything else is no image."""
    if isinstance(value, Mapping):
        value = value.get("bytes") or value.get("path")
    if isinstance(value, str):
        return value.strip() or None
    return value if isinstance(value, bytes) and value else None
