"""Where a run lies that somebody names."""

from pathlib import Path

from core import settings
from core.errors import InvalidInput


def place(reference: str) -> Path:
    """Where a run lies that was given by id or by path.

    Raises:
        InvalidInput: where there is none.
    """
    from core.corpora.ordinary_paths import ordinary
    from core.store.manifest import list_runs, run_folders

    if ordinary(Path(reference)).exists():
        return Path(reference)
    for folder in (settings.runs_dir(), settings.results_dir()):
        for path in run_folders(folder):
            if path.name == reference:
                return path
    known = ", ".join(run.id for run in list_runs()) or "none yet"
    raise InvalidInput(f"no run {reference!r} here; there are: {known}")
