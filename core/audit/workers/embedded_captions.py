"""The first phase of an audit: every caption that a dual encoder reads, embedded once for all shards.

Captions come in one order and in fixed batches, so that an embedding is the same to the bit whichever worker made it
and whichever shard reads it. The tables lie in the run's folder of work, mapped into memory by whoever reads them.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from core.audit.plan import Plan
from core.audit.render import drafts_of_captions, references
from core.audit.rows import RowMaker
from core.audit.shards import ShardCounts
from core.evaluators.base import DualEncoder
from core.evaluators.cache import CAPTION, EmbeddingCache, caption_hash
from core.evaluators.scoring import CaptionEmbeddings, in_reading_order
from core.writing import write_whole

CAPTIONS_A_TASK = 1024
"""About how many captions a worker is given at once: what a kill of the run can cost of this phase."""

_META = b"invariscope"
_SCHEMA = pa.schema(
    [("key", pa.string()), ("double", pa.bool_()), ("shape", pa.list_(pa.int32())), ("values", pa.large_binary())]
)


@dataclass(frozen=True, slots=True)
class Prompts:
    """Captions to be embedded together.
    ``evaluator``: reference of a dual encoder. ``texts``: whole batches, but for the last task."""

    evaluator: str
    index: int
    texts: tuple[str, ...]

    @property
    def digest(self) -> str:
        """Of the texts, so that a table is taken for no other."""
        return hashlib.sha256(json.dumps(self.texts).encode()).hexdigest()[:16]


def prompts(plan: Plan, batches: Mapping[str, int]) -> list[Prompts]:
    """Divide the captions that the dual encoders of a plan read, in reading order, into tasks of whole batches.
    ``batches``: captions a batch, by the evaluator's reference."""
    kinds = {
        reference: kind
        for reference, kind in zip(plan.evaluators, plan.kinds, strict=True)
        if issubclass(kind, DualEncoder)
    }
    read: dict[str, dict[str, None]] = {reference: {} for reference in kinds}
    for item in plan.corpus.items if kinds else ():
        drafts = drafts_of_captions(plan, item)
        for reference, kind in kinds.items():
            for draft in RowMaker.readable(kind, drafts)[0]:
                told = references(draft) if kind.spec.takes_references else ()
                read[reference].update(dict.fromkeys((draft.caption, *told)))
    tasks = []
    for reference, texts in read.items():
        size = batches[reference] * max(1, CAPTIONS_A_TASK // batches[reference])
        ordered = in_reading_order(texts)
        parts = (tuple(ordered[start : start + size]) for start in range(0, len(ordered), size))
        tasks += [Prompts(reference, index, part) for index, part in enumerate(parts)]
    return tasks


def readers(tasks: Sequence[Prompts], keys: Mapping[str, str], batches: Mapping[str, int]) -> dict[str, str]:
    """For every evaluator that has tasks, the first one that embeds the very same captions to the same bits.
    ``keys``: ``caption_key`` by the evaluator's reference.
    ``batches``: captions a batch, which has a part in the last bits, likewise."""
    asked: dict[str, tuple[Prompts, ...]] = {}
    for task in tasks:
        asked[task.evaluator] = (*asked.get(task.evaluator, ()), task)
    first: dict[object, str] = {}
    return {
        reference: first.setdefault(
            (keys[reference], batches[reference], tuple(task.digest for task in own)), reference
        )
        for reference, own in asked.items()
    }


def caption_table(found: CaptionEmbeddings) -> pa.Table:
    """Embeddings as a table, by the hash of the caption; what could not be read is not in it."""
    rows = {
        "key": [caption_hash(text) for text in found.embeddings],
        "double": [value.dtype == np.float64 for value in found.embeddings.values()],
        "shape": [list(value.shape) for value in found.embeddings.values()],
        "values": [np.ascontiguousarray(value).tobytes() for value in found.embeddings.values()],
    }
    return pa.Table.from_pydict(rows, schema=_SCHEMA)


@dataclass(frozen=True, slots=True)
class CaptionFolder:
    """The tables of one run. ``key``: of the run; stands in every table."""

    path: Path
    key: str

    def file(self, task: Prompts, fingerprint: str) -> Path:
        """Where the embeddings of a task lie."""
        return self.path / f"captions-{fingerprint}-{task.index:05d}.arrow"

    def write(self, task: Prompts, fingerprint: str, table: pa.Table, counts: ShardCounts) -> None:
        """Keep the embeddings of a task. Raises StoreError if they cannot be written."""
        told = {"key": self.key, "texts": task.digest, "sum": _sum(table), "counts": counts.as_dict()}
        meant = table.replace_schema_metadata({_META: json.dumps(told).encode()})

        def fill(path: Path) -> None:
            with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, meant.schema) as writer:
                writer.write_table(meant)

        write_whole(self.file(task, fingerprint), fill)

    def counts(self, task: Prompts, fingerprint: str) -> ShardCounts | None:
        """What a task cost, where its embeddings are there and whole; None where it must be done."""
        try:
            table = read_captions(self.file(task, fingerprint))
            told = json.loads((table.schema.metadata or {})[_META])
            same = (self.key, task.digest, _sum(table)) == (told["key"], told["texts"], told["sum"])
            return ShardCounts.read(told["counts"]) if same else None
        except (OSError, pa.ArrowException, KeyError, TypeError, ValueError):
            return None


class CaptionTable:
    """Embeddings of one evaluator's captions by the hash of the caption; nothing is copied."""

    def __init__(self, tables: Iterable[pa.Table]) -> None:
        self._tables = list(tables)
        self._places = {
            key: (place, row)
            for place, table in enumerate(self._tables)
            for row, key in enumerate(table["key"].to_pylist())
        }

    def get(self, key: str) -> np.ndarray | None:
        """The embedding, read-only; None where there is none."""
        if key not in self._places:
            return None
        table, row = self._places[key]
        values, shape, double = (self._tables[table][name][row] for name in ("values", "shape", "double"))
        kind = np.float64 if double.as_py() else np.float32
        return np.frombuffer(values.as_buffer(), kind).reshape(shape.as_py())


class ShardCache(EmbeddingCache):
    """What one shard has embedded, and the captions of the whole run, which are only read.
    ``captions``: tables by the fingerprint of the evaluator."""

    def __init__(self, captions: Mapping[str, CaptionTable]) -> None:
        super().__init__(None, memory_mb=512)
        self._captions = captions

    def get_many(self, fingerprint: str, kind: str, keys: Sequence[str]) -> dict[str, np.ndarray]:
        table = self._captions.get(fingerprint) if kind == CAPTION else None
        if table is None:
            return super().get_many(fingerprint, kind, keys)
        read = {key: value for key in keys if (value := table.get(key)) is not None}
        return {**super().get_many(fingerprint, kind, [key for key in keys if key not in read]), **read}


def read_captions(path: Path) -> pa.Table:
    """The embeddings of a file, mapped into memory and not read.
    Raises OSError if it is not there; ArrowException if it is no table."""
    with pa.memory_map(str(path)) as source:
        return pa.ipc.open_file(source).read_all()


def _sum(table: pa.Table) -> str:
    digest = hashlib.sha256()
    for key, value in zip(table["key"], table["values"], strict=True):
        digest.update(key.as_buffer())
        digest.update(value.as_buffer())
    return digest.hexdigest()
