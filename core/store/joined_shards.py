"""The shards of a finished run as one file a table, and as shards again: thousands of small files are slow to copy.

A joined file holds the rows of its shards in their order, and in its metadata how many each had and what each said.
"""

import json
import re
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from core.errors import InvalidInput, StoreError
from core.store.run_files import COMPLETE, INTERRUPTED, MANIFEST, TABLES, Run, read_again, read_run, with_seal
from core.store.text_files import write_json
from core.store.whole import WHOLE, sealed_files, shard_files, verify
from core.writing import write_folder_whole

MOST_ROWS = 1_000_000  # Rows after which a joined file ends: whoever checks a file holds all of it

_NAME = "joined-"
_PIECES = b"invariscope-shards"
_SHARD = re.compile(r"corpus|shard-\d{5,9}")


def is_joined(run: Run) -> bool:
    """Whether a run folder holds joined files."""
    return any(path.name.startswith(_NAME) for path in shard_files(run.path, run.schema_version).values())


def join(folder: Path) -> Run:
    """Join the shards of a run that is whole; one that is joined stays as it is. Its seal says since when as before.
    Raises InvalidInput if the run is not complete or has no seal; StoreError if it is not whole, or cannot be written.
    """
    (verdict,) = verify(folder)
    if verdict.problems:
        raise StoreError(verdict.problems[0])
    if verdict.state != WHOLE:
        raise InvalidInput(f"run {verdict.run} is {verdict.state}; only a run that is complete and sealed is joined")
    run = read_run(folder)

    def fill(new: Path) -> None:
        for table in TABLES:
            (new / table).mkdir()
            paths = [path for name, path in shard_files(folder, run.schema_version).items() if name.startswith(table)]
            for place, part in enumerate(_parts(paths)):
                _write_joined(part, new / table / f"{_NAME}{place:05d}.parquet")
        _close(run, new, COMPLETE)

    if not is_joined(run):
        write_folder_whole(folder, fill, standing="replaced")
    return read_run(folder)


def take_apart(run: Run) -> Run:
    """Give a joined run its shards again, as of a run that was interrupted: those of a damaged file are missing."""

    def fill(new: Path) -> None:
        write_shards(run, new)
        _close(run, new, INTERRUPTED)

    write_folder_whole(run.path, fill, standing="replaced")
    return read_run(run.path)


def write_shards(run: Run, into: Path) -> None:
    """Write the shards of a joined run into another folder; those of a file that is not what it was are left out."""
    sealed = run.sealed
    for name, path in shard_files(run.path, run.schema_version).items():
        if read_again(run, name, path, sealed.get(name)) is not None:
            continue
        whole, start, folder = pq.read_table(path), 0, into / name.partition("/")[0]
        folder.mkdir(exist_ok=True)
        try:  # name, rows and metadata of each shard
            told = json.loads(whole.schema.metadata[_PIECES])
            pieces = [(str(shard), int(rows), dict(each) or None) for shard, rows, each in told]
        except (KeyError, TypeError, ValueError) as error:
            raise StoreError(f"{path} does not say which shards it holds; put it back from a copy") from error
        if not all(_SHARD.fullmatch(shard) for shard, _, _ in pieces) or sum(each[1] for each in pieces) != len(whole):
            raise StoreError(f"{path} names other shards than it can hold; put it back from a copy")
        for shard, rows, each in pieces:
            piece = whole.slice(start, rows).replace_schema_metadata(each)
            pq.write_table(piece, folder / f"{shard}.parquet", compression="zstd", write_page_checksum=True)
            start += rows


def _parts(paths: list[Path]) -> list[list[Path]]:
    """Shards that lie in one joined file."""
    parts, rows = list[list[Path]]([[]]), 0
    for path in paths:
        more = pq.read_metadata(path).num_rows
        if parts[-1] and rows + more > MOST_ROWS:
            parts.append([])
            rows = 0
        parts[-1].append(path)
        rows += more
    return parts


def _write_joined(paths: list[Path], joined: Path) -> None:
    tables = [pq.read_table(path) for path in paths]
    pieces = [
        (path.stem, len(table), {key.decode(): value.decode() for key, value in (table.schema.metadata or {}).items()})
        for path, table in zip(paths, tables, strict=True)
    ]
    whole = pa.concat_tables([table.replace_schema_metadata(None) for table in tables])
    # Without pyarrow's own copy of the schema, which would repeat the metadata.
    options = {"compression": "zstd", "write_page_checksum": True, "store_schema": False}
    with pq.ParquetWriter(joined, whole.schema, **options) as writer:
        writer.write_table(whole)
        writer.add_key_value_metadata({_PIECES.decode(): json.dumps(pieces)})


def _close(run: Run, new: Path, status: str) -> None:
    """Give a folder of the run's rows what else lies beside them, and the manifest with a seal of its files."""
    for each in run.path.iterdir():
        if each.name in (*TABLES, MANIFEST) or each.name.startswith("."):
            continue
        if each.is_dir():
            shutil.copytree(each, new / each.name)
        else:
            shutil.copy2(each, new / each.name)
    manifest = {**run.manifest, "status": status}
    if run.seal is not None:
        files = sealed_files(new, run.schema_version)
        manifest = with_seal(manifest, by=run.seal.by, files=files, sealed=run.seal.sealed)
    write_json(new / MANIFEST, manifest)
