"""Scores that were made elsewhere, read back into a run: the rows of an audit of the same pairs, and their origin."""

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq

from core.audit.pair_folder import PairFolder
from core.audit.record import differing, now, outcome
from core.audit.shards import CORPUS_REJECTIONS, Finished, RunFolder, only_one
from core.corpora.score_files import ScoreFile
from core.errors import InvalidInput, StoreError, first_line
from core.evaluators.imported import imported_fingerprint, imported_spec, stored_name
from core.probes.rejections import coded
from core.store.joined_shards import is_joined, write_shards
from core.store.run_files import COMPLETE, IMPORT, MANIFEST, RUNNING, Run, check_manifest, check_run_id, read_run
from core.store.schema import SCHEMA_VERSION, SCHEMAS
from core.store.text_files import write_json
from core.writing import write_folder_whole


class Beside:
    """A complete run of an export's pairs.
    Raises InvalidInput if the run is not complete, older than the tables, or of other pairs, naming what differs."""

    def __init__(self, run: Run, folder: PairFolder) -> None:
        self.run = run
        self._sealed = None if run.seal is None else run.seal.files
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

    def take_apart(self, into: Path) -> None:
        """Read the shards of a joined run from an empty folder from now on."""
        if is_joined(self.run):
            write_shards(self.run, into)
            self._folder, self._sealed = RunFolder(into, self._folder.key), None

    def finished(self, index: int) -> Finished:
        """What a shard says of itself. Raises StoreError if it is missing or damaged."""
        known = self._folder.finished(index, sealed=self._sealed)
        if known is None:
            raise StoreError(f"shard {index} of run {self.run.id} is missing or damaged; start that run again")
        return known

    def add(self, index: int, tables: dict[str, pa.Table], run: str) -> dict[str, pa.Table]:
        """Put the rows of a shard before those of a shard of imported scores.
        ``tables``: of the imported scores.
        Raises StoreError if the run's shard is missing or damaged; InvalidInput if it is of other pictures."""
        own = {name: self._read(name, index) for name in ("scores", "items", "rejections")}
        hashed = ["item", "pixels_sha256"]
        if own["items"].select(hashed).to_pydict() != tables["items"].select(hashed).to_pydict():
            raise InvalidInput(f"run {self.run.id} is of other pictures than the export; leave --beside out")
        both = [*named(own["rejections"], run).to_pylist(), *tables["rejections"].to_pylist()]
        once = [dict(row) for row in dict.fromkeys(tuple(row.items()) for row in both)]
        return {
            **tables,
            "scores": by_item([named(own["scores"], run), tables["scores"]]),
            "rejections": pa.Table.from_pylist(once, schema=SCHEMAS["rejections"]),
        }

    def _read(self, table: str, index: int) -> pa.Table:
        path = self._folder.shard(table, index)
        try:
            return pq.read_table(path, schema=SCHEMAS[table], page_checksum_verification=True)
        except (OSError, pa.ArrowException) as error:
            raise StoreError(f"{path} cannot be read ({first_line(error)}); start that run again") from error


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


@dataclass(frozen=True, slots=True)
class Imported:
    """Scores of one metric."""

    name: str  # of the metric; it is stored with the mark of imported scores behind it
    fingerprint: str  # what the scores depend on, in the reader's words: version, weights, precision
    # (low, high); high is None where there is no upper bound. Higher must mean better.
    score_range: tuple[float, float | None]
    scores: ScoreFile
    about: Mapping[str, Any] = field(default_factory=dict)  # what else the manifest says of where they are from

    @property
    def stored(self) -> str:
        """Name in the run."""
        return stored_name(self.name)

    def check(self) -> None:
        """Refuse what cannot be stored.
        Raises InvalidInput for a bad name, no fingerprint, a range that does not rise, or a score outside it."""
        self.stored  # noqa: B018 - it raises
        low, high = self.score_range
        if not self.fingerprint.strip() or not self.fingerprint.isprintable():
            raise InvalidInput(
                "a fingerprint says on one line what the scores depend on, e.g. 'v1.2, weights sha256 …, fp32', got "
                f"{self.fingerprint!r}"
            )
        if high is not None and not low < high:
            raise InvalidInput(f"the range of {self.name} must rise, got {low:g} to {high:g}")
        self.scores.check_range(low, high)


def import_scores(
    folder: PairFolder,
    imported: Sequence[Imported],
    out: Path,
    *,
    run_id: str | None = None,
    existing: Literal["refuse", "replace"] = "refuse",
    beside: Run | None = None,
    command: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Run:
    """Make a run of scores that others gave to exported pairs.

    Its tables are those of an audit of the same plan, but that nobody knows the metric's crop and tokens: the columns
    ``object_inside`` and ``truncated`` are null, and a modified caption's neutral control is chosen by characters.
    ``folder``: the export that was scored, complete. ``run_id``: name of the run; None: corpus, time and digest.
    ``beside``: a complete run of the same pairs whose evaluators stand in the new run too.
    Raises InvalidInput if a file names other pairs or scores outside the range, two metrics have one name, or the run
    exists; StoreError if the export is damaged or the run cannot be written."""
    if not folder.complete:
        raise InvalidInput(f"the export in {folder.path} is not complete; start it again, it goes on")
    names = [each.stored for each in imported]
    if not names or len(set(names)) < len(names):
        raise InvalidInput(f"each metric can be imported once, got {', '.join(names) or 'none'}")
    for each in imported:
        each.check()
    known = {key for index in range(folder.shards) for key in folder.given(index)["id"].to_pylist()}
    for each in imported:
        each.scores.check_ids(known.__contains__, str(folder.path))
    other = None if beside is None else Beside(beside, folder)
    entries = [*(_evaluators(beside) if beside else ()), *(_entry(each, folder, known) for each in imported)]
    names = [str(entry["name"]) for entry in entries]
    if len(set(names)) < len(names):
        raise InvalidInput(f"each metric can stand in a run once, got {', '.join(names)}; leave --beside out")
    keys = [entry["fingerprint"]["key"] for entry in entries]
    key = hashlib.sha256(json.dumps([folder.digest, *keys]).encode()).hexdigest()[:16]
    corpus = folder.manifest["corpus"]["name"]
    run_id = check_run_id(run_id or f"{corpus}-{datetime.now(UTC):%Y%m%d-%H%M%S}-{key[:6]}")
    manifest = {**folder.manifest, "run": run_id, "key": key, "command": command, "created": now()}
    manifest |= {"evaluators": entries, "counts": {}, "status": RUNNING}
    path = Path(out) / run_id
    check_manifest(manifest, path / MANIFEST)
    with only_one(path), TemporaryDirectory(prefix="invariscope-") as apart:
        if existing == "refuse" and (path / MANIFEST).exists():
            raise InvalidInput(f"run {run_id} exists in {out}; choose another id or replace it")

        def fill(new: Path) -> None:
            if other is not None:
                other.take_apart(Path(apart))
            _write(folder, imported, RunFolder(new, key), manifest, other, progress=progress)

        write_folder_whole(path, fill, standing="replaced")
    return read_run(path)


def _write(
    folder: PairFolder,
    imported: Sequence[Imported],
    run: RunFolder,
    manifest: dict[str, Any],
    other: Beside | None,
    *,
    progress: Callable[[int, int], None] | None,
) -> None:
    write_json(run.path / MANIFEST, manifest)
    name = manifest["run"]
    rejections = named(folder.loader_rejections(), name)
    run.write_table(run.shard("rejections", CORPUS_REJECTIONS), rejections)
    finished = []
    for index in range(folder.shards):
        known = folder.finished(index)
        if known is None:
            raise StoreError(f"shard {index} of {folder.path} is damaged; export the pairs again into the same folder")
        tables = {table: named(rows, name) for table, rows in folder.tables(index).items()}
        ids = folder.given(index)["id"].to_pylist()
        if len(ids) != tables["scores"].num_rows:
            raise StoreError(f"shard {index} of {folder.path} has rows without a pair; export the pairs again")
        tables["scores"] = _scored(tables["scores"], ids, imported)
        if other is not None:
            tables, known = other.add(index, tables, name), other.finished(index)
        tables["scores"] = tables["scores"].replace_schema_metadata(run.metadata(known))
        run.write(index, tables)
        finished.append(known)
        if progress is not None:
            progress(index + 1, folder.shards)
    before = manifest["corpus"]["items"], len(rejections)
    manifest |= outcome(run, finished, shards=folder.shards, items=before[0], rejected_by_loader=before[1])
    manifest |= {"status": COMPLETE, "finished": now()}
    run.close(manifest, by=IMPORT, shards=folder.shards)
    run.clear_work()


def _scored(rows: pa.Table, ids: Sequence[str], imported: Sequence[Imported]) -> pa.Table:
    """Rows of a shard once for each metric, item by item, with its scores."""
    parts = []
    for each in imported:
        found = [each.scores.of(key) for key in ids]
        columns = {
            "evaluator": [each.stored] * len(ids),
            "score": [None if error else score for score, error in found],
            "error": [
                coded("no-number" if key in each.scores.scores else "not-in-file", error) if error else None
                for key, (_, error) in zip(ids, found, strict=True)
            ],
        }
        part = rows
        for name, values in columns.items():
            place = rows.schema.get_field_index(name)
            part = part.set_column(place, rows.schema.field(name), pa.array(values, rows.schema.field(name).type))
        parts.append(part)
    return by_item(parts)


def _evaluators(run: Run) -> list[dict[str, Any]]:
    listed = run.manifest.get("evaluators")
    entries = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    if not entries or not all(isinstance((each.get("fingerprint") or {}).get("key"), str) for each in entries):
        raise InvalidInput(f"run {run.id} does not say what its evaluators are; leave --beside out")
    return entries


def _entry(each: Imported, folder: PairFolder, known: set[str]) -> dict[str, Any]:
    """What the manifest says of the metric and of where its scores are from."""
    told = each.fingerprint.strip()
    fingerprint = imported_fingerprint(each.stored, told=told, sha256=each.scores.sha256, pairs=folder.digest)
    missing = sum(key not in each.scores.scores for key in known)
    without = sum(math.isnan(score) for score in each.scores.scores.values())
    file = {"file": each.scores.name, "sha256": each.scores.sha256, "column": each.scores.column}
    counts = {"pairs": len(known), "missing": missing, "without_number": without}
    origin = {**file, "fingerprint": told, "date": now(), **counts, **each.about}
    return {
        "name": each.stored,
        "reference": each.stored,
        "spec": asdict(imported_spec(each.stored, each.score_range, told=told)),
        "fingerprint": {**fingerprint.as_dict(), "key": fingerprint.key},
        "imported": origin,
    }
