"""Evaluators that runs were given by the path of a file: where it lies, and whether it is still the one that scored."""

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core import settings
from core.store.audited_here import is_audited_code
from core.store.manifest import Run

MOST_BYTES = 4 << 20
"""Of a file of code that is read to be compared; no metric is larger."""

_CLASS = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class OwnMetric:
    """One evaluator of a file, as a manifest tells it.

    Args:
        name: under which its scores are stored.
        run: id of the run.
        path: of the file, absolute.
        kind: name of the class in it.
        sha256: of the file when it scored; None in runs that did not keep it.
        text_encoder: whether it embeds captions; None where the run does not say.
    """

    name: str
    run: str
    path: Path
    kind: str
    sha256: str | None
    text_encoder: bool | None

    @property
    def reference(self) -> str:
        """How commands and evaluators name it: ``path/to/file.py:Name``."""
        return f"{self.path}:{self.kind}"

    @property
    def problem(self) -> str:
        """Why it cannot be asked any more, with what to do, without full stop; empty where it can."""
        try:
            found = file_sha256(self.path)
        except OSError:
            now = "cannot be read as a file of code any more" if self.path.exists() else "is gone"
            return (
                f"run {self.run} was given it by path, and {self.path} {now}; put the file back, or audit the "
                "corpus again with the file where it lies now"
            )
        if self.sha256 is not None and found != self.sha256:
            return (
                f"{self.path} was changed since run {self.run} was made with it; put the old file back, or audit "
                "the corpus again with the new one"
            )
        if not is_audited_code(self.path, found):
            return (
                f"run {self.run} names {self.path}, and no audit on this machine was made with that file as it is; "
                "read it, and audit the corpus with it here"
            )
        return ""


def own_metrics(runs: Iterable[Run]) -> dict[str, OwnMetric]:
    """Evaluators by path of some runs, by name; of runs that share a name the one made last.

    What a manifest says is checked: an entry that names no ordinary ``.py`` file and class is left out.
    """
    told = sorted(runs, key=lambda run: str(run.manifest.get("created", "")))
    return {found.name: found for run in told for found in of_run(run)}


def of_run(run: Run) -> tuple[OwnMetric, ...]:
    """Evaluators by path of one run."""
    listed = run.manifest.get("evaluators")
    entries = listed if isinstance(listed, list) else []
    found = (_metric(run.id, each) for each in entries if isinstance(each, dict))
    return tuple(each for each in found if each is not None)


def file_sha256(path: Path) -> str:
    """Digest of a file of code.

    Raises:
        OSError: if it cannot be read, is no ordinary file, or is larger than MOST_BYTES.
    """
    if not path.is_file() or path.stat().st_size > MOST_BYTES:
        raise OSError(f"{path} is no file of code")
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _metric(run: str, entry: Mapping[str, Any]) -> OwnMetric | None:
    name, reference, file = entry.get("name"), entry.get("reference"), entry.get("file")
    if not isinstance(name, str) or not isinstance(reference, str) or "\0" in reference:
        return None
    path, _, kind = reference.rpartition(":")
    if not path.endswith(".py") or not _CLASS.fullmatch(kind):
        return None
    told = file if isinstance(file, dict) else {}
    digest, encodes = told.get("sha256"), told.get("text_encoder")
    return OwnMetric(
        name,
        run,
        settings.ROOT / path,
        kind,
        digest if isinstance(digest, str) else None,
        encodes if isinstance(encodes, bool) else None,
    )
