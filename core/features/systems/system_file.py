"""Leaderboards as they are kept: one Parquet file each, its scores as rows and what was scored in its metadata."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as parquet

from core import __version__
from core.errors import InvalidInput, StoreError, first_line
from core.features.systems.board_scores import BESIDE, COLUMNS, BoardReferences, beside, by_one_source
from core.file_contents import Stamps, stamps
from core.probes.base import ENGLISH, HUMAN, IDENTITY, TEMPLATE
from core.settings import leaderboards_dir, results_dir
from core.store.run_files import Run
from core.store.store import Store
from core.writing import write_bytes

MOST_BYTES = 256 << 20  # largest file that is opened
MOST_ROWS = 20_000_000
_KEY = b"invariscope.leaderboard"
_VERSION = 1
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
_NUMBERS = ("score", "tokens", "clip_tokens", "named", "invented")
_TYPES = {"cut": pa.bool_(), "place": pa.int64()} | dict.fromkeys(_NUMBERS, pa.float64())
_SCHEMA = pa.schema([(name, _TYPES.get(name, pa.string())) for name in COLUMNS])


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """Scores of some systems, and what they are of."""

    name: str  # of its file, without the ending
    rows: pd.DataFrame  # of :data:`core.features.systems.board_scores.COLUMNS`
    corpus: str  # name of the corpus
    evaluators: Mapping[str, str]  # by name, the fingerprint that its scores depend on
    remarks: tuple[str, ...] = ()  # sentences about captions that found no place
    left_out: tuple[str, ...] = ()  # sentences about what has no score
    seed: int = 0  # of the edits and of the drawn references
    created: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))  # ISO 8601, UTC
    version: str = __version__  # of Invariscope
    # :data:`core.features.systems.board_scores.BESIDE`; empty where references were not asked for
    beside: pd.DataFrame = field(default_factory=beside)


def checked_name(name: str) -> str:
    """Return the name of a leaderboard after checking that a file can have it; raises InvalidInput otherwise."""
    if not _is_name(name):
        raise InvalidInput(
            f"a leaderboard's name holds letters, digits, '.', '_' and '-', at most 80, got {name[:90]!r}"
        )
    return name


def _is_name(name: str) -> bool:
    return _NAME.fullmatch(name) is not None and ".." not in name


def path_of(name: str, folder: Path | None = None) -> Path:
    """Where the leaderboard of a name lies."""
    return (folder or leaderboards_dir()) / f"{checked_name(name)}.parquet"


def write_leaderboard(board: Leaderboard, folder: Path | None = None, *, overwrite: bool = False) -> Path:
    """Keep a leaderboard, whole or not at all; raises InvalidInput if one of that name is there and may not be
    replaced, and StoreError if it cannot be written."""
    path = path_of(board.name, folder)
    if path.exists() and not overwrite:
        raise InvalidInput(f"a leaderboard {board.name!r} is there already, at {path}; choose another name")
    data = as_bytes(board)
    write_bytes(path, data)
    return path


def as_bytes(board: Leaderboard) -> bytes:
    """A leaderboard as its file holds it."""
    told = {
        "version": _VERSION,
        "corpus": board.corpus,
        "evaluators": dict(board.evaluators),
        "remarks": list(board.remarks),
        "left_out": list(board.left_out),
        "seed": board.seed,
        "created": board.created,
        "invariscope": board.version,
        "beside": json.loads(board.beside.to_json(orient="values", double_precision=15)),
    }
    rows = board.rows.assign(cut=board.rows["cut"].astype("boolean"))
    table = pa.Table.from_pandas(rows[list(COLUMNS)], schema=_SCHEMA, preserve_index=False)
    table = table.replace_schema_metadata({_KEY: json.dumps(told, ensure_ascii=False).encode()})
    buffer = BytesIO()
    parquet.write_table(table, buffer, compression="zstd")
    return buffer.getvalue()


def read_leaderboard(path: Path) -> Leaderboard:
    """Open a leaderboard, believing nothing before it was checked; raises StoreError that says what is wrong."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise StoreError(f"{path} has {path.stat().st_size:,} bytes and at most {MOST_BYTES:,} are opened")
        file = parquet.ParquetFile(path)
        if file.metadata.num_rows > MOST_ROWS:
            raise StoreError(f"{path} has {file.metadata.num_rows:,} rows and at most {MOST_ROWS:,} are opened")
        schema = file.schema_arrow
        told = _told(path, (schema.metadata or {}).get(_KEY))
        wrong = [
            name for name in COLUMNS if name not in schema.names or schema.field(name).type != _SCHEMA.field(name).type
        ]
        if wrong:
            raise StoreError(
                f"{path}: column {wrong[0]!r} must be of type {_SCHEMA.field(wrong[0]).type}; make the file anew"
            )
        rows = file.read(columns=list(COLUMNS)).to_pandas()
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror or error}") from error
    except pa.ArrowException as error:
        raise StoreError(
            f"{path} is no leaderboard: {first_line(error).removesuffix('.')}; "
            "take it away, or make it anew with 'leaderboard'"
        ) from error
    _check(path, rows, told)
    remarks, left_out = tuple(told["remarks"]), tuple(told["left_out"])
    about = (told["corpus"], told["evaluators"], remarks, left_out, told["seed"], told["created"], told["invariscope"])
    return Leaderboard(path.stem, rows, *about, _beside(path, told.get("beside", [])))


def list_leaderboards(folder: Path | None = None) -> tuple[str, ...]:
    """Names of the leaderboards that are kept, the latest first."""
    place = folder or leaderboards_dir()
    if not place.is_dir():
        return ()
    paths = [path for path in place.glob("*.parquet") if _is_name(path.stem) and path.is_file()]
    return tuple(path.stem for path in sorted(paths, key=lambda path: (-path.stat().st_mtime, path.stem)))


def free_name(wanted: str, folder: Path | None = None) -> str:
    """A name made of some words that no leaderboard has yet."""
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", wanted).strip("-._")[:60] or "leaderboard"
    known = set(list_leaderboards(folder))
    return next(
        name
        for number in range(1, len(known) + 2)
        if (name := stem if number == 1 else f"{stem}-{number}") not in known
    )


_FIELDS: Mapping[str, type | tuple[type, ...]] = {
    "corpus": str,
    "evaluators": dict,
    "remarks": list,
    "left_out": list,
    "seed": int,
    "created": str,
    "invariscope": str,
}


def _told(path: Path, raw: bytes | None) -> dict[str, Any]:
    if raw is None:
        raise StoreError(f"{path} is no leaderboard: it does not say what was scored; make it with 'leaderboard'")
    try:
        told = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise StoreError(f"{path}: what it says of itself is no JSON ({error}); make the file anew") from error
    if not isinstance(told, dict) or told.get("version") != _VERSION:
        raise StoreError(f"{path} is of a version that is not read here; update Invariscope or make the file anew")
    for name, kind in _FIELDS.items():
        value = told.get(name)
        held = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
        if not isinstance(value, kind) or not all(isinstance(each, str) for each in held):
            raise StoreError(f"{path}: {name} is {str(value)[:60]!r}; make the file anew")
    return told


_BESIDE_KINDS = (str, str, float, float, float, int, str)


def _beside(path: Path, records: object) -> pd.DataFrame:
    """The table beside the standings; files that were made without it have none."""
    if not isinstance(records, list) or not all(
        isinstance(record, list)
        and len(record) == len(BESIDE)
        and all(_is_of(value, kind) for value, kind in zip(record, _BESIDE_KINDS, strict=True))
        for record in records
    ):
        raise StoreError(f"{path}: what stands beside its standings is no table of {', '.join(BESIDE)}; make it anew")
    return beside(records)


def _is_of(value: object, kind: type) -> bool:
    if kind is float:
        return value is None or (isinstance(value, int | float) and not isinstance(value, bool))
    return isinstance(value, kind) and not isinstance(value, bool)


def _check(path: Path, rows: pd.DataFrame, told: Mapping[str, Any]) -> None:
    """Refuse what no leaderboard holds: nothing, missing names, infinite scores, a caption scored twice."""
    texts = [name for name in COLUMNS if name not in _TYPES]
    if rows.empty or rows[texts].isna().any().any():
        raise StoreError(f"{path} holds {'no row' if rows.empty else 'a row without a name'}; make the file anew")
    if np.isinf(rows["score"]).any():
        raise StoreError(f"{path} holds an infinite score; make the file anew")
    if rows.duplicated(["item", "system", "place", "evaluator", "probe"]).any():
        raise StoreError(f"{path} holds two scores of one caption; make the file anew")
    strangers = sorted(set(rows["evaluator"]) - set(told["evaluators"]))
    if strangers:
        raise StoreError(f"{path} has scores by {strangers[0]!r}, of which it says nothing; make the file anew")


def with_references(board: Leaderboard, found: BoardReferences) -> Leaderboard:
    """The leaderboard with what references say of its systems, the RANKED metrics among its evaluators."""
    return replace(
        board,
        rows=joined([board.rows, found.rows]) if len(found.rows) else board.rows,
        evaluators={**board.evaluators, **found.prints},
        beside=found.beside,
    )


def joined(parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Rows of several evaluators as one table."""
    return pd.concat(list(parts), ignore_index=True) if parts else pd.DataFrame(columns=list(COLUMNS))


@dataclass(frozen=True, slots=True)
class Kept:
    """Leaderboards of the data folder."""

    boards: Sequence[Leaderboard] = ()  # that could be opened, by name
    unread: Mapping[str, str] = field(default_factory=dict)  # name of each that could not -> why, in one sentence


def kept(files: Stamps | None = None) -> Kept:
    """Open every leaderboard of the data folder, or the :func:`changed` ones."""
    boards, unread = list[Leaderboard](), dict[str, str]()
    for path in (Path(each) for each, *_ in (changed() if files is None else files)):
        try:
            boards.append(read_leaderboard(path))
        except StoreError as error:
            unread[path.stem] = str(error)
    return Kept(tuple(boards), unread)


def changed() -> Stamps:
    """The leaderboards of the data folder as they are now; one that changes is another."""
    return stamps(map(path_of, sorted(list_leaderboards())))


# A leaderboard that a stored run holds already: its audit scored captions of several kinds on the same pictures.
KINDS = {
    "Human caption": (HUMAN, IDENTITY),
    "Template caption": (TEMPLATE, IDENTITY),
    "Human caption, padded": (HUMAN, "hollow-tail"),
    "Template caption, negated": (TEMPLATE, "negation"),
}
"""System -> whose caption it has of every picture, and the probe that edited that caption; IDENTITY: none did."""

_ROWS = """
    select s.item, coalesce(i.item_group, i.pixels_sha256) as source, i.second_group, s.subject, s.caption,
           s.evaluator, s.family, s.probe, s.score
    from scores s join items i using (run, corpus, item)
    where s.run = $run and s.language = $language and s.rank = 0
          and (s.expectation = 'invariant' or list_contains($kinds, s.probe))
    order by s.item, s.evaluator, s.probe
"""


def example_run(runs: Iterable[Run]) -> Run | None:
    """The complete run of those that ship whose audit holds captions by people and by template, of most pictures."""
    fitting = [
        run
        for run in runs
        if run.path.parent == results_dir()
        and run.status == "complete"
        and {HUMAN, TEMPLATE} <= {str(each) for each in run.manifest.get("subjects") or ()}
    ]
    return max(fitting, key=lambda run: (int(run.manifest["counts"].get("items_kept") or 0), run.id), default=None)


def board_of_run(store: Store, run: Run) -> Leaderboard:
    """Enter the KINDS of captions that a run of one corpus scored as systems, with the edits of the picture that left
    them as is.

    Only unedited captions were scored on edited pictures. Tokens and named objects are in no run, so they are missing.
    """
    held = store.query(
        _ROWS, {"run": run.id, "language": ENGLISH, "kinds": sorted({probe for _, probe in KINDS.values()})}
    )
    parts = []
    for system, (subject, probe) in KINDS.items():
        own = held[held["subject"] == subject]
        unedited = own[own["probe"] == probe].assign(family="", probe="")
        parts.append(unedited.assign(system=system))
        if probe == IDENTITY:
            said = unedited.drop_duplicates("item").set_index("item")["caption"]
            edited = own[~own["probe"].isin({each for _, each in KINDS.values()})]
            parts.append(edited[edited["caption"] == edited["item"].map(said)].assign(system=system))
    rows = pd.concat(parts, ignore_index=True).assign(place=0, cut=None)
    rows[["tokens", "clip_tokens", "named", "invented"]] = np.nan
    told, pictures = run.manifest, rows.drop_duplicates("item")
    there = set(rows["evaluator"])
    prints = {
        str(each["name"]): str((each.get("fingerprint") or {}).get("key", ""))
        for each in told.get("evaluators") or ()
        if each.get("name") in there
    }
    return Leaderboard(
        run.id,
        rows[list(COLUMNS)],
        str(told["corpus"].get("name", "")),
        prints,
        by_one_source(list(pictures["source"]), list(pictures["second_group"].fillna(pictures["source"]))),
        seed=int(told.get("seed") or 0),
        created=str(told.get("created", "")),
        version=str(told.get("invariscope", "")),
    )
