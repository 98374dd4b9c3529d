"""A folder of pairs that are scored elsewhere: what lies where, what decided its pairs, and how it is read back.

- ``plan.json``: all that decides the pairs, its digest, counts, whether the folder is complete.
- ``images/ab/abcd….png``: every unique image once, lossless, named by the hash of its pixels; of a video a folder of
  that name, without ``.png``, with its frames ``00001.png``, ``00002.png``, …
- ``pairs.jsonl``, ``candidates.json``, ``references.json``: see :mod:`core.corpora.score_files`.
- ``rows/``: the tables of the run that an import makes, without an evaluator and without scores, shard by shard, and
  beside each row of its scores the pair that it is of.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from core.audit.plan import Plan
from core.audit.record import DECIDES, first_manifest
from core.audit.shards import CORPUS_REJECTIONS, Finished, RunFolder
from core.corpora.score_files import DIGITS, GivenPair
from core.errors import StoreError, first_line
from core.store.run_files import COMPLETE, RUNNING, TABLES
from core.store.schema import SCHEMAS

PLAN, IMAGES, ROWS, BY_PAIR = "plan.json", "images", "rows", "by-pair"
FORMAT = 1
RUN = "pairs"  # stands for the run in the stored rows until an import names one
_TEXTS = [(name, pa.string()) for name in ("id", "image", "caption", "language")]
GIVEN = pa.schema([*_TEXTS, ("references", pa.list_(pa.string()))])
"""The pair of each row of a shard's scores, in their order."""

_ID = f"^p[0-9a-f]{{{DIGITS}}}$"
_IMAGE = f"^{IMAGES}/[0-9a-f]{{2}}/[0-9a-f]{{64}}([.]png)?$"  # what may stand in a path
_DECIDES = (*DECIDES, "schema_version", "constants", "versions")


@dataclass(frozen=True, slots=True)
class PairFolder:
    """An export, complete or not."""

    path: Path
    told: Mapping[str, Any]

    @property
    def digest(self) -> str:
        """sha256 of all that decides the pairs."""
        return str(self.told["digest"])

    @property
    def complete(self) -> bool:
        """Whether every pair is on disk."""
        return self.told.get("status") == COMPLETE

    @property
    def manifest(self) -> Mapping[str, Any]:
        """Manifest of a run of these pairs, before anybody scored them."""
        return dict(self.told["manifest"])

    @property
    def shards(self) -> int:
        """How many shards the rows come in."""
        return int(self.told["shards"])

    @property
    def rows(self) -> RunFolder:
        """The rows as a folder of shards."""
        return RunFolder(self.path / ROWS, self.digest[:16])

    def given_path(self, index: int) -> Path:
        """Path of the pairs of a shard's rows."""
        return self.path / ROWS / "given" / f"shard-{index:05d}.parquet"

    def given(self, index: int) -> pa.Table:
        """Pairs of a shard's rows, one a row, in their order: a table of schema GIVEN.
        Raises StoreError if the shard is missing, damaged or of another export."""
        path = self.given_path(index)
        found = self._read(path, GIVEN, keyed=True)
        for name, form in (("id", _ID), ("image", _IMAGE)):
            if pc.any(pc.invert(pc.fill_null(pc.match_substring_regex(found[name], form), False))).as_py():
                raise StoreError(f"{path} holds an {name} that no export writes; export the pairs again elsewhere")
        return found

    def tables(self, index: int) -> dict[str, pa.Table]:
        """The four tables of a shard. Raises StoreError if one is missing, damaged or of another export."""
        return {
            table: self._read(self.rows.shard(table, index), SCHEMAS[table], keyed=table == "scores")
            for table in TABLES
        }

    def loader_rejections(self) -> pa.Table:
        """What the corpus's loader left out. Raises StoreError if the table is missing or damaged."""
        return self._read(self.rows.shard("rejections", CORPUS_REJECTIONS), SCHEMAS["rejections"])

    def finished(self, index: int) -> Finished | None:
        """What a finished shard says of itself; None where it must be made."""
        known = self.rows.finished(index)
        if known is None:
            return None
        try:
            self.given(index)
        except StoreError:
            return None
        return known

    def pairs(self) -> Iterator[GivenPair]:
        """Every pair once, in the order of the plan. Raises StoreError if a shard is missing or damaged."""
        seen: set[str] = set()
        for index in range(self.shards):
            for row in self.given(index).to_pylist():
                if row["id"] not in seen:
                    seen.add(row["id"])
                    yield GivenPair(row["id"], row["image"], row["caption"], row["language"], tuple(row["references"]))

    def by_image_and_caption(self) -> dict[tuple[str, str], str | None]:
        """Id of the pair of an image's name, without folder and ending, and a caption; None where several have both.
        Raises StoreError if a shard is missing or damaged."""
        found: dict[tuple[str, str], str | None] = {}
        for pair in self.pairs():
            key = Path(pair.image).stem, pair.caption
            found[key] = None if key in found else pair.id
        return found

    def _read(self, path: Path, schema: pa.Schema, *, keyed: bool = False) -> pa.Table:
        again = "export the pairs again into the same folder, which makes what is missing"
        try:
            read = pq.read_table(path, page_checksum_verification=True)
        except (OSError, pa.ArrowException) as error:
            raise StoreError(f"{path} cannot be read ({first_line(error)}); {again}") from error
        if not read.schema.equals(schema):
            raise StoreError(f"{path} has other columns than an export writes; {again}")
        if keyed and self.rows.key_of(read) != self.rows.key:
            raise StoreError(f"{path} is of another export than {self.path / PLAN}; {again}")
        return read


def describe(plan: Plan) -> dict[str, Any]:
    """What ``plan.json`` says of a plan before its first pair."""
    told = first_manifest(plan, run_id=RUN, key="", evaluators=[], device="scored elsewhere", command=None)
    shards = len(plan.shards)
    return {"format": FORMAT, "digest": _digest(told), "status": RUNNING, "shards": shards, "manifest": told}


def read_pair_folder(path: Path) -> PairFolder:
    """Read the plan of an export.
    Raises StoreError if there is none, it is broken, or it was changed since it was written."""
    file = Path(path) / PLAN
    try:
        told = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise StoreError(f"{path} holds no {PLAN}; name the folder that 'python -m core export-pairs' wrote") from error
    except (OSError, ValueError, RecursionError) as error:
        raise StoreError(f"{file} cannot be read ({error}); export the pairs again") from error
    manifest = told.get("manifest") if isinstance(told, dict) else None
    if not isinstance(manifest, dict) or not isinstance(manifest.get("corpus"), dict):
        raise StoreError(f"{file} does not describe an export; export the pairs again")
    if told.get("format") != FORMAT:
        raise StoreError(f"{file} has format {told.get('format')!r} and this Invariscope reads {FORMAT}; export again")
    shards = told.get("shards")
    if not isinstance(shards, int) or isinstance(shards, bool) or shards < 1 or told.get("digest") != _digest(manifest):
        raise StoreError(f"{file} was changed since it was written: its digest is another; export the pairs again")
    return PairFolder(Path(path), told)


def _digest(manifest: Mapping[str, Any]) -> str:
    parts = {name: manifest.get(name) for name in _DECIDES}
    corpus = {name: manifest["corpus"].get(name) for name in ("name", "fingerprint", "items")}  # not where it lies
    text = json.dumps({**parts, "corpus": corpus}, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()
