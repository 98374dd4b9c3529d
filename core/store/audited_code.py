"""Files of code that audits on this machine scored with: what a run says of itself is what whoever wrote it says.

The list lies outside the data folder, beside the weights: a folder that somebody hands over does not bring it along.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from core import settings
from core.errors import StoreError
from core.store.log import Log


def audited_code_file() -> Path:
    """Where the list lies: a log, a row a file and content."""
    return settings.weights_dir() / "audited-code.jsonl"


def note_audited(evaluators: Iterable[Mapping[str, Any]]) -> None:
    """Note the files of code among the evaluators of an audit that runs here.

    A list that cannot be written stops no audit: pages then do not ask these files, and say so.

    Args:
        evaluators: as the manifest tells them.
    """
    told = [each for each in evaluators if isinstance(each.get("file"), dict)]
    files = [(settings.ROOT / each["reference"].rpartition(":")[0], each["file"]["sha256"]) for each in told]
    rows = [
        {"path": str(path), "sha256": digest} for path, digest in dict.fromkeys(files) if not is_audited(path, digest)
    ]
    if not rows:
        return
    path = audited_code_file()
    with suppress(StoreError, OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with Log(path).writing() as log:
            log.append(rows)


def is_audited(path: Path, sha256: str) -> bool:
    """Whether an audit on this machine scored with this file as it was then."""
    file = audited_code_file()
    try:
        told = file.stat()
    except OSError:
        return False
    return (str(path), sha256) in _read(file, told.st_mtime_ns, told.st_size)


@lru_cache(maxsize=2)
def _read(file: Path, _changed: int, _size: int) -> frozenset[tuple[str, str]]:
    try:
        rows = Log(file).read().rows
    except StoreError:
        return frozenset()
    return frozenset((str(row.get("path")), str(row.get("sha256"))) for row in rows)
