"""Rows of a run that is here, put beside scores of the same pairs that were made elsewhere."""

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.parquet as pq

from core.audit.pair_folder import PairFolder
from core.audit.record import differing
from core.audit.shards import Finished, RunFolder
from core.errors import InvalidInput, StoreError
from core.store.manifest import COMPLETE, Run
from core.store.schema import SCHEMA_VERSION, SCHEMAS


class Beside:
    """A complete run of an export's pairs.

    Args:
        run: whose rows are taken along.
        folder: the export.

    Raises:
        InvalidInput: if the run is not complete, older than the tables, or of other pairs, naming what differs.
    """

    def __init__(self, run: Run, folder: PairFolder) -> None:
        self.run = run
        self._folder = RunFolder(run.path, str(run.manifest.get("key")))
        if run.status != COMPLETE or run.schema_version != SCHEMA_VERSION or not run.path.is_dir():
            raise InvalidInput(
                f"run {run.id} is not complete, or older than the tables of this Invariscope; audit it "
                "again, or leave --beside out"
            )
        if differs := differing(run.manifest, folder.manifest):
            raise InvalidInput(
                f"run {run.id} is of other {', '.join(differs)} than the pairs of {folder.path}; leave --beside out"
            )

    def finished(self, index: int) -> Finished:
        """What a shard says of itself.

        Raises:
            StoreError: if it is missing or damaged.
        """
        seal = self.run.seal
        known = self._folder.finished(index, sealed=None if seal is None else seal.files)
        if known is None:
            raise StoreError(f"shard {index} of run {self.run.id} is missing or damaged; start that run again")
        return known

    def add(self, index: int, tables: dict[str, pa.Table], run: str) -> dict[str, pa.Table]:
        """Put the rows of a shard before those of a shard of imported scores.

        Args:
            tables: of the imported scores.
            run: id that the rows get.

        Raises:
            StoreError: if the run's shard is missing or damaged.
            InvalidInput: if it is of other pictures.
        """
        own = {name: self._read(name, index) for name in ("scores", "items", "rejections")}
        hashed = ["item", "pixels_sha256"]
        if own["items"].select(hashed).to_pydict() != tables["items"].select(hashed).to_pydict():
            raise InvalidInput(f"run {self.run.id} is of other pictures than the export; leave --beside out")
        return {
            **tables,
            "scores": by_item([named(own["scores"], run), tables["scores"]]),
            "rejections": _each_once([named(own["rejections"], run), tables["rejections"]]),
        }

    def _read(self, table: str, index: int) -> pa.Table:
        path = self._folder.shard(table, index)
        try:
            return pq.read_table(path, schema=SCHEMAS[table], page_checksum_verification=True)
        except (OSError, pa.ArrowException) as error:
            raise StoreError(f"{path} cannot be read ({str(error).splitlines()[0]}); start that run again") from error


def by_item(parts: Sequence[pa.Table]) -> pa.Table:
    """Join tables item by item, in the order in which the items come first; within an item in that of the tables."""
    if len(parts) == 1:
        return parts[0]
    whole = pa.concat_tables([part.replace_schema_metadata(None) for part in parts])
    first: dict[str, int] = {}
    places = [first.setdefault(item, len(first)) for item in whole["item"].to_pylist()]
    return whole.take(sorted(range(len(places)), key=places.__getitem__))  # stable


def named(rows: pa.Table, run: str) -> pa.Table:
    """Rows under another run id."""
    place = rows.schema.get_field_index("run")
    return rows.set_column(place, rows.schema.field(place), pa.array([run] * len(rows), pa.string()))


def _each_once(parts: Sequence[pa.Table]) -> pa.Table:
    whole = pa.concat_tables([part.replace_schema_metadata(None) for part in parts])
    rows = list(dict.fromkeys(tuple(row.values()) for row in whole.to_pylist()))
    records = [dict(zip(whole.schema.names, row, strict=True)) for row in rows]
    return pa.Table.from_pylist(records, schema=SCHEMAS["rejections"])
