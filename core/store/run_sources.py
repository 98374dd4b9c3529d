"""What a run or a check was made of, found again here: the folder of a corpus, and the files of evaluators.

What a run says of itself, anybody may write: a folder or a file that it names is read where an audit on this machine
read it, or where it lies in the folders of data.
"""

import json
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from core import settings
from core.corpora.ordinary_paths import lies_in
from core.corpora.registry import origin_here
from core.corpora.schema import Origin
from core.errors import NotAvailable, StoreError
from core.file_contents import file_sha256
from core.store.log import Log
from core.store.run_files import Run

_serving = False


def only_allowed_folders() -> None:
    """From now on this process reads no folder that a run names unless :func:`may_read` allows it, as a server."""
    global _serving  # what a process is, a server or not, is decided once
    _serving = True


def origin_of_run(run: Run) -> Origin:
    """What reads the corpus of a run here. The folder that a published file names is read only where :func:`may_read`
    allows it; that of a run folder too, in a server, and on the command line wherever it lies.
    Raises NotAvailable if the corpus is not here, or may not be read; says what to do."""
    told = run.manifest["corpus"]
    origin = origin_here(str(told.get("name")), told)
    if (_serving or not run.path.is_dir()) and not may_read(origin):
        raise NotAvailable(
            f"run {run.id} names the folder {origin.root or settings.ROOT} with options for its pictures, which lies "
            f"outside the folders of data, and no audit on this machine read it so; put the corpus at "
            f"{settings.data_dir() / 'corpora' / str(told.get('name'))}, or have INVARISCOPE_FOLDERS name its folder"
        )
    return origin


def may_read(origin: Origin) -> bool:
    """Whether what a run says of its corpus may be followed: an audit on this machine read that folder with these
    options, or the folder and every option that is a path lie in :func:`core.settings.allowed_folders`."""
    if origin.root is not None and _key(_folder(origin.root, origin.options)) in _known():
        return True
    allowed = settings.allowed_folders()
    inside = origin.root is None or lies_in(origin.root, allowed)
    return inside and all(_stays(str(value), allowed) for value in origin.options.values())


def _stays(value: str, allowed: tuple[Path, ...]) -> bool:
    """Whether an option is no path that leads out."""
    if not value.startswith(("/", "\\", "~")):
        return ".." not in Path(value).parts
    try:
        return lies_in(Path(value).expanduser(), allowed)
    except RuntimeError:  # the home of somebody who is not here
        return False


def audited_here_file() -> Path:
    """Where the list lies: a log, a row a file of code with its content, and a row a folder with its options."""
    return settings.weights_dir() / "audited-here.jsonl"


def note_audited(manifest: Mapping[str, Any]) -> None:
    """Note what an audit or a check that runs here reads: its evaluators by path, and the folder of its corpus. A list
    that cannot be written stops no audit: pages then do not ask these files, and say so.
    ``manifest``: of the audit's run; of a check its evaluator alone."""
    known, read = _known(), list[dict[str, Any]]()
    for each in manifest.get("evaluators") or ():
        if isinstance(each.get("file"), dict):
            read.append(_code(settings.ROOT / each["reference"].rpartition(":")[0], each["file"]["sha256"]))
    corpus = manifest.get("corpus") or {}
    if corpus.get("folder") is not None:
        read.append(_folder(settings.ROOT / corpus["folder"], corpus["options"]))
    rows = [json.loads(each) for each in dict.fromkeys(map(_key, read)) if each not in known]
    if not rows:
        return
    path = audited_here_file()
    with suppress(StoreError, OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with Log(path).writing() as log:
            log.append(rows)


def is_audited_code(path: Path, sha256: str) -> bool:
    """Whether an audit or a check on this machine scored with this file as it was then."""
    return _key(_code(path, sha256)) in _known()


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


MOST_BYTES = 4 << 20  # Of a file of code that is read to be compared; no metric is larger

_CLASS = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class OwnMetric:
    """One evaluator of a file, as a manifest tells it, or the report of a check."""

    name: str  # under which its scores are stored
    run: str  # id of the run, or of the check
    path: Path  # of the file, absolute
    kind: str  # name of the class in it
    sha256: str | None  # of the file when it scored; None in runs that did not keep it
    text_encoder: bool | None  # whether it embeds captions; None where the run does not say
    checked: bool = False

    @property
    def reference(self) -> str:
        """How commands and evaluators name it: ``path/to/file.py:Name``."""
        return f"{self.path}:{self.kind}"

    @property
    def problem(self) -> str:
        """Why it cannot be asked any more, with what to do, without full stop; empty where it can."""
        by = f"check {self.run}" if self.checked else f"run {self.run}"
        again = "check it again" if self.checked else "audit the corpus again"
        try:
            found = code_sha256(self.path)
        except OSError:
            now = "cannot be read as a file of code any more" if self.path.exists() else "is gone"
            lies = f"put the file back, or {again} with the file where it lies now"
            return f"{by} was given it by path, and {self.path} {now}; {lies}"
        if self.sha256 is not None and found != self.sha256:
            back = f"put the old file back, or {again} with the new one"
            return f"{self.path} was changed since {by} was made with it; {back}"
        if not is_audited_code(self.path, found):
            none = "no audit or check on this machine was made with that file as it is"
            return f"{by} names {self.path}, and {none}; read it, and {again} here"
        return ""


def own_metrics(runs: Iterable[Run]) -> dict[str, OwnMetric]:
    """Evaluators by path of some runs, by name; of runs that share a name the one made last. What a manifest says is
    checked: an entry that names no ordinary ``.py`` file and class is left out."""
    told = sorted(runs, key=lambda run: str(run.manifest.get("created", "")))
    return {found.name: found for run in told for found in of_run(run)}


def checked_metrics(folder: Path) -> dict[str, OwnMetric]:
    """Evaluators by path that were checked here, by name; of checks that share a name the last; ``folder``: of the
    reports; one that cannot be read, or names no file, is left out."""
    reports = sorted(folder.glob("*.json"), key=lambda each: (each.stat().st_mtime_ns, each.name))
    found: dict[str, OwnMetric] = {}
    for report in reports:
        with suppress(OSError, ValueError, RecursionError):
            told = json.loads(report.read_bytes()) if report.stat().st_size <= MOST_BYTES else {}
            source = told.get("source") if isinstance(told, dict) else None
            metric = _metric(report.stem, source, checked=True) if isinstance(source, dict) else None
            found |= {metric.name: metric} if metric else {}
    return found


def of_run(run: Run) -> tuple[OwnMetric, ...]:
    """Evaluators by path of one run."""
    listed = run.manifest.get("evaluators")
    entries = (each for each in listed if isinstance(each, dict)) if isinstance(listed, list) else ()
    return tuple(found for each in entries if (found := _metric(run.id, each)) is not None)


def code_sha256(path: Path) -> str:
    """Digest of a file of code.
    Raises OSError if it cannot be read, is no ordinary file, or is larger than MOST_BYTES."""
    if not path.is_file() or path.stat().st_size > MOST_BYTES:
        raise OSError(f"{path} is no file of code")
    return file_sha256(path)


def _metric(run: str, entry: Mapping[str, Any], *, checked: bool = False) -> OwnMetric | None:
    name, reference, file = entry.get("name"), entry.get("reference"), entry.get("file")
    if not isinstance(name, str) or not isinstance(reference, str) or "\0" in reference:
        return None
    path, _, kind = reference.rpartition(":")
    if not path.endswith(".py") or not _CLASS.fullmatch(kind):
        return None
    told = file if isinstance(file, dict) else {}
    digest, encodes = told.get("sha256"), told.get("text_encoder")
    digest, encodes = digest if isinstance(digest, str) else None, encodes if isinstance(encodes, bool) else None
    return OwnMetric(name, run, settings.ROOT / path, kind, digest, encodes, checked)
