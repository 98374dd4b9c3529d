"""Files of code and folders of pictures that audits on this machine read: what a run says of itself, anybody may write.

The list lies outside the data folder, beside the weights: a folder that somebody hands over does not bring it along.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from core import settings
from core.errors import StoreError
from core.store.log import Log


def audited_here_file() -> Path:
    """Where the list lies: a log, a row a file of code with its content, and a row a folder with its options."""
    return settings.weights_dir() / "audited-here.jsonl"


def note_audited(manifest: Mapping[str, Any]) -> None:
    """Note what an audit that runs here reads: its evaluators by path, and the folder of its corpus.

    A list that cannot be written stops no audit: pages then do not ask these files, and say so.

    Args:
        manifest: of the audit's run.
    """
    known = _known()
    rows = [json.loads(each) for each in dict.fromkeys(map(_key, _rows(manifest))) if each not in known]
    if not rows:
        return
    path = audited_here_file()
    with suppress(StoreError, OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with Log(path).writing() as log:
            log.append(rows)


def is_audited_code(path: Path, sha256: str) -> bool:
    """Whether an audit on this machine scored with this file as it was then."""
    return _key(_code(path, sha256)) in _known()


def is_audited_folder(folder: Path, options: Mapping[str, str]) -> bool:
    """Whether an audit on this machine read this folder with these options."""
    return _key(_folder(folder, options)) in _known()


def _rows(manifest: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for each in manifest.get("evaluators") or ():
        if isinstance(each.get("file"), dict):
            yield _code(settings.ROOT / each["reference"].rpartition(":")[0], each["file"]["sha256"])
    corpus = manifest.get("corpus") or {}
    if corpus.get("folder") is not None:
        yield _folder(settings.ROOT / corpus["folder"], corpus["options"])


def _code(path: Path, sha256: str) -> dict[str, Any]:
    return {"path": str(path), "sha256": sha256}


def _folder(folder: Path, options: Mapping[str, str]) -> dict[str, Any]:
    return {"folder": str(folder), "options": dict(options)}


def _key(row: Mapping[str, Any]) -> str:
    return json.dumps(row, sort_keys=True)


def _known() -> frozenset[str]:
    file = audited_here_file()
    try:
        told = file.stat()
    except OSError:
        return frozenset()
    return _read(file, told.st_mtime_ns, told.st_size)


@lru_cache(maxsize=2)
def _read(file: Path, _changed: int, _size: int) -> frozenset[str]:
    try:
        rows = Log(file).read().rows
    except StoreError:
        return frozenset()
    return frozenset(_key({name: value for name, value in row.items() if name != "crc"}) for row in rows)
