"""Reading the runs of this machine for ``runs``, ``publish`` and ``doctor``."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core import settings
from core.errors import InvalidInput

MANIFEST = "manifest.json"


@dataclass(frozen=True, slots=True)
class FoundRun:
    """A run folder with its manifest, or with what is wrong with it."""

    path: Path
    manifest: dict[str, Any]
    problem: str = ""


def read_runs(folders: tuple[Path, ...] | None = None) -> list[FoundRun]:
    """Read the manifest of every run in the user's runs and the shipped results, by folder name."""
    roots = folders or (settings.results_dir(), settings.runs_dir())
    paths = [path for root in roots if root.is_dir() for path in sorted(root.iterdir()) if path.is_dir()]
    return [_read(path) for path in paths]


def resolve(reference: str) -> Path:
    """Return the folder of a run, given by its id or by its path.

    Raises:
        InvalidInput: where there is none.
    """
    for path in (Path(reference), settings.runs_dir() / reference, settings.results_dir() / reference):
        if (path / MANIFEST).is_file():
            return path
    known = ", ".join(run.path.name for run in read_runs()) or "none yet"
    raise InvalidInput(f"no run {reference!r}: give an id ({known}) or the path of a folder with {MANIFEST}")


def _read(path: Path) -> FoundRun:
    try:
        manifest = json.loads((path / MANIFEST).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return FoundRun(path, {}, f"{path} has no {MANIFEST}")
    except (OSError, ValueError) as error:
        return FoundRun(path, {}, f"{path / MANIFEST} cannot be read ({error})")
    return (
        FoundRun(path, manifest)
        if isinstance(manifest, dict)
        else FoundRun(path, {}, f"{path / MANIFEST} holds no object")
    )
